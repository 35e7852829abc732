package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/dict"
	"github.com/collocate/collocate/weigh"
)

func newDictCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "dict",
		Short:   "Map words to numbers: build, query, describe and compare dictionaries",
		GroupID: groupTools,
		Example: `  collocate dict build words.txt --out words.dict
  collocate dict lookup words.dict house tree
  collocate dict bench words.txt`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newDictBuildCmd(a), newDictLookupCmd(a), newDictStatsCmd(a), newDictCheckCmd(a), newDictBenchCmd(a))
	return cmd
}

func newDictBuildCmd(a *app) *cobra.Command {
	var (
		out    string
		kind   dict.Kind
		corpus bool
		lists  wordLists
		flags  corpusFlags
	)
	cmd := &cobra.Command{
		Use:   "build WORDS... --out FILE",
		Short: "Make a dictionary from a list of words",
		Long: `Make a dictionary from files with one word per line, in any order ("-" for standard input), or
with --corpus from all words of documents. The kinds:

  xbw        succinct trie in compressed bit vectors: small for few characters, and on a GPU
  xbw-plain  the same in plain bit vectors: larger, faster
  xbw-paper  xbw over the whole trie, as published
  stt        trie as a table of next nodes: for small vocabularies, very large
  hash       hash table beside the words: the fastest
  double     double-array trie
  front      front-coded words in Huffman codes: the smallest, several times slower

'collocate dict bench' compares them on your words. A file of lines 'word count', as 'collocate
vocab' writes, is read with --vocab.`,
		Example: `  collocate dict build words.txt --out words.dict
  collocate dict build --corpus news.jsonl --analyzer ascii --kind hash --out news.dict`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				return usagef("--out is missing: the file for the dictionary")
			}
			if err := canWrite(out); err != nil {
				return err
			}
			var words *dict.Words
			var err error
			if corpus && lists.vocab {
				return usagef("--vocab and --corpus: give only one of them; files are either lists of words or documents")
			}
			if corpus {
				words, err = corpusWords(cmd, a, &flags, args, out)
			} else {
				for _, name := range []string{"analyzer", "fields", "format", "id-field", "skip-bad"} {
					if cmd.Flags().Changed(name) {
						return usagef("--%s needs --corpus", name)
					}
				}
				words, err = lists.read(cmd, a, args)
			}
			if err != nil {
				return err
			}
			if kind == dict.STT {
				if err := a.tellTable(cmd.Context(), words); err != nil {
					return err
				}
			}
			o := dict.Options{Kind: kind, Threads: a.threads, Memory: int64(a.memory)}
			if err := dict.BuildFile(cmd.Context(), words, o, out); err != nil {
				return err
			}
			d, err := dict.Open(out)
			if err != nil {
				return err
			}
			defer d.Close()
			if a.json {
				return a.printJSON(d.Stats())
			}
			s := d.Stats()
			a.summary("%s, %d bytes, %.1f bits a word (%s)", counted(s.Words, "word"), s.Bytes, s.BitsPerKey, s.Kind)
			return nil
		},
	}
	flags.register(cmd)
	f := cmd.Flags()
	f.StringVarP(&out, "out", "o", "", "file for the dictionary")
	f.Var(textFlag{&kind, "kind"}, "kind", strings.Join(dict.Kinds(), ", "))
	lists.register(cmd)
	f.BoolVar(&corpus, "corpus", false, "the files are documents; take all their words")
	choices(cmd, map[string][]string{"kind": dict.Kinds()})
	return cmd
}

// openDict opens a dictionary. The error for a file of another kind says how to make one.
func openDict(path string) (*dict.File, error) {
	d, err := dict.Open(path)
	return d, wanting(err, "a dictionary that 'collocate dict build' wrote")
}

// corpusWords collects the words of documents.
func corpusWords(cmd *cobra.Command, a *app, flags *corpusFlags, args []string, out string) (*dict.Words, error) {
	an, err := flags.analyzer()
	if err != nil {
		return nil, err
	}
	flags.hint(cmd, a, args)
	v, err := weigh.Invert(cmd.Context(), flags.corpus(a, args, out), weigh.InvertOptions{
		Analyzer: an, Threads: a.threads, Memory: int64(a.memory),
	})
	if err != nil {
		return nil, err
	}
	defer v.Close()
	words := &dict.Words{}
	left := 0
	for t, err := range v.Terms(cmd.Context()) {
		if err != nil {
			return nil, err
		}
		if left == 0 {
			left = t.DF
			if err := words.Add(t.Word); err != nil {
				return nil, err
			}
		}
		left -= len(t.Docs)
	}
	return words, nil
}

func newDictStatsCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "stats FILE",
		Short:   "Describe a dictionary",
		Example: `  collocate dict stats words.dict`,
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := openDict(args[0])
			if err != nil {
				return err
			}
			defer d.Close()
			s := d.Stats()
			if a.json {
				return a.printJSON(s)
			}
			fmt.Fprintf(a.stdout, "kind        %s\nwords       %d\ncharacters  %d\nlongest     %d\nalphabet    %d\n",
				s.Kind, s.Words, s.Characters, s.Longest, s.Alphabet)
			if s.Nodes > 0 {
				fmt.Fprintf(a.stdout, "nodes       %d of %d\n", s.Nodes, s.TrieNodes)
			}
			fmt.Fprintf(a.stdout, "bytes       %d\nbits a word %.1f\n", s.Bytes, s.BitsPerKey)
			for _, i := range s.Sections {
				fmt.Fprintf(a.stdout, "  %-12s %d\n", i.Name, i.Bytes)
			}
			return nil
		},
	}
}
