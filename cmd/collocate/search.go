package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/encoder"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/vecfile"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/trec"
)

// searchFlags are the flags of `collocate search`: those of the question, and those of topics and
// of several cores.
type searchFlags struct {
	ask                    api.Search
	set                    func(flag string) bool
	language               bool
	topics, run, tag       string
	encoding, topicIDs     string
	topicFields            []string
	highlight, unhighlight string
	parallel               parallelFlags
	tokenFile              string
	vectorOf               string
	sparseOf               string      // file of topics with weighted tokens
	vectors                [][]float32 // of vectorOf, or of topics
	encoder                encoderFlags
	coder                  *encoder.Encoder // while it is open
	reranking              rerankerFlags
	reranker               *encoder.Reranker // while it is open
	encodeTopic            string            // --encode, for topics
	warned                 bool              // operators without effect were noted
	all                    bool
}

func newSearchCmd(a *app) *cobra.Command {
	var f searchFlags
	cmd := &cobra.Command{
		Use:         "search DIR [QUERY...]",
		Short:       "Find the best documents for a query, exactly",
		GroupID:     groupSearch,
		Annotations: hasGPU,
		Long: `Print the documents of the index in DIR that match the query best, best first. A query is a list
of words, of which a document must have at least one (with --mode and: all). It may also use:

  +solar -lunar eclipse         must have solar, must not have lunar
  (solar OR lunar) AND eclipse  AND, OR and NOT in capitals, or && || !, and groups
  solar OR NOT lunar            solar without lunar, as NOT excludes; solar OR (* NOT lunar) also
                                finds all that is not lunar
  "solar eclipse"~2             a phrase with up to 2 words between, or two swapped; needs positions
  solar NEAR/5 eclipse          at most 5 words apart; BEFORE/5 in this order
  eclips* ecl?pse *ipse         prefixes, patterns with wildcards, suffixes; they match words as
                                the index has them: stems, if its analyzer makes these
  eclipes~1                     fuzzy: words at an edit distance of at most 1
  eclipse^2 id:(d1 d2) #solar   a weight; documents by ID; a filter, which does not score
  title:eclipse lang:en year:[2020 TO 2024] place:[52,13 TO 53,14]
                                fields of the index: words, a value, a range, a box of degrees
  eclipse lang:en^2             adds 2 to the score of documents with that value
  year:* NOT title:*            documents with a value, or a word, in a field (also _exists_:year);
                                * alone is all documents

Plain words need no quotes; --plain treats all operators as text.

More:
DIR may also be the URL of a 'collocate serve', such as http://localhost:8080, or of one of its
indexes, such as http://localhost:8080/v1/indexes/news, or the address of an index in a bucket,
s3://BUCKET/NAME (docs/bucket.md). Flags that it does not support are an error. If it asks shards,
the answer says how many of them it covers. Package search/query has the grammar of queries. All
algorithms give the same documents, order and scores; they differ in speed.

Without a query it reads queries from standard input, one per line, and prints "# QUERY" before
the answers of each; on a terminal there is a prompt with arrow keys and a history instead. With
--topics it answers a file of topics (TREC, TSV, CSV, id:text, SMART or JSON) and writes a run
for 'collocate eval' or trec_eval. These sort a run by its scores; therefore, of equal scores,
each is written as the next smaller float32, so that the order is kept. There --stats measures
the energy of processors and GPUs, where the system lets one read it.

With --engine auto, CPU cores answer. Beyond 1,000 topics it times the first 1,000 and moves the
rest to a GPU, if there is one and that should at least halve the remaining time. With --engine
gpu the GPU answers everything: by tiles, or by wand or maxscore over partitions, as in the
thesis that 'collocate bench thesis' is about.`,
		Args: cobra.MinimumNArgs(1),
		Example: `  collocate search news.index solar eclipse
  collocate search news.index solar eclipse -k 100 --mode and
  collocate search news.index '"solar eclipse" -lunar' --count --from 10
  collocate search news.index solar eclipse --explain --stats
  collocate search fields.index solar eclipse --show title,url --snippets
  collocate search fields.index eclipse --sort published:desc --facet lang:5 --facet published/month --count
  collocate search news.index solar eclipse --all --json > hits.jsonl
  collocate search news.index --topics topics.txt --run run.txt -k 1000
  collocate search news.index solar eclipse --expand rm3 --explain
  collocate search news.index fast car --synonyms synonyms.txt
  collocate search news.index --topics topics.txt --engine gpu --run run.txt
  collocate search http://localhost:8080 solar eclipse`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 && strings.TrimSpace(strings.Join(args[1:], "")) == "" {
				return usagef("the query is empty")
			}
			words := strings.Join(args[1:], " ")
			if err := f.checkAll(words); err != nil {
				return err
			}
			if file := f.ask.Synonyms; file != "" && file != api.NoSynonyms {
				rules, err := api.ReadSynonyms(file)
				if err != nil {
					return err
				}
				if err := cmd.Flags().Set("synonyms", rules.String()); err != nil {
					return err
				}
			}
			if err := f.readVectors(a, cmd); err != nil {
				return err
			}
			if isServer(args[0]) {
				return a.searchRemote(cmd.Context(), args[0], words, &f, cmd.Flags())
			}
			if f.tokenFile != "" {
				return usagef("--token-file needs the URL of a server, not an index")
			}
			return a.search(cmd.Context(), args[0], words, &f)
		},
	}
	f.register(a, cmd)
	a.inBuckets(cmd, false)
	return cmd
}

// register adds the flags to the verb.
func (f *searchFlags) register(a *app, cmd *cobra.Command) {
	fl := cmd.Flags()
	f.set = fl.Changed
	addFlags(cmd, api.SearchQuestion, &f.ask)
	fl.BoolVar(&f.all, "all", false, "print all matching documents, page by page; with --json one per line")
	fl.StringVar(&f.topics, "topics", "", "answer the topics in this file")
	fl.StringVar(&f.run, "run", "-", "file for the run; - means standard output")
	fl.StringVar(&f.tag, "tag", "collocate", "name of the run")
	fl.BoolVar(&f.language, "query-language", false,
		"parse topics as queries with operators, phrases and fields")
	fl.StringSliceVar(&f.topicFields, "topic-field", nil, "fields of topics that make up the query, in this order: title, desc, narr, or other names (default title)")
	fl.StringVar(&f.topicIDs, "topic-ids", "auto",
		"IDs of SMART topics: position, number (the one after .I), or auto if these agree")
	fl.StringVar(&f.encoding, "encoding", "",
		"encoding of the topics: utf-8, latin1, windows-1252, utf-16 or another name of the WHATWG standard, "+
			"or bytes for no conversion (default utf-8; bytes if the index's analyzer is whitespace or ascii)")
	fl.StringVar(&f.vectorOf, "vector-of", "", "`FILE` with the vector of the query, or - for standard input: a JSON array, .npy or .fvecs; with --topics it has one for each, in their order")
	fl.StringVar(&f.sparseOf, "sparse-of", "", "`FILE` of topics with weighted tokens, which have the IDs of those of --topics")
	group(cmd, "Vectors", "vector-of", "sparse-of")
	f.encoder.register(cmd, "queries", &f.encoder.o.Query)
	f.reranking.register(cmd)
	group(cmd, "Topics", "topics", "run", "tag", "query-language", "topic-field", "topic-ids", "encoding")
	fl.StringVar(&f.tokenFile, "token-file", "", "`FILE` with the token of the server, if DIR is the address of one")
	f.parallel.register(cmd)
	a.registerMoreDevices(cmd)
	choices(cmd, map[string][]string{"encoding": encodingNames, "topic-ids": trec.TopicIDNames()})
}

// queryFlags have no effect with --topics, as those of the group Answer.
var queryFlags = []string{"count", "from", "after", "plain", "sparse"}

func (a *app) search(ctx context.Context, dir, words string, f *searchFlags) error {
	if f.topics != "" && words != "" {
		return usagef("a query and --topics: give only one of them")
	}
	for _, p := range api.SearchQuestion.At(api.Command) {
		ofHits := p.Group == "Answer" && p.Name != "stats" || slices.Contains(queryFlags, p.Flag)
		if f.topics != "" && ofHits && f.set(p.Flag) {
			return usagef("--%s needs a query; leave it out with --topics", p.Flag)
		}
	}
	if f.topics != "" && f.ask.K == 0 {
		return usagef("-k 0 needs a query: a run has the documents of each topic")
	}
	if f.ask.Algorithm == search.Tiles && a.engine != engine.GPU {
		return usagef("--algorithm %v needs --engine gpu", f.ask.Algorithm)
	}
	for _, name := range []string{"encoding", "topic-ids", "topic-field", "query-language", "sparse-of"} {
		if f.topics == "" && f.set(name) {
			return usagef("--%s needs --topics", name)
		}
	}
	if f.topics == "" && f.set("run") {
		return usagef("--run needs --topics")
	}
	if f.topics != "" && f.run == "-" {
		if err := a.rawOutput("a run has a format of its own; with --run FILE, --json prints a summary"); err != nil {
			return err
		}
	}
	if err := canWrite(f.run); err != nil {
		return err
	}
	parallel, err := f.parallel.parallel(a, f)
	if err != nil {
		return err
	}
	if words, err = f.encode(ctx, words); err != nil {
		return err
	}
	defer f.coder.Close()
	if f.reranker, err = f.reranking.open(); err != nil {
		return err
	}
	defer f.reranker.Close()
	switch {
	case f.ask.Rerank > 0 && f.reranker == nil:
		return usagef("--rerank needs --reranker")
	case f.ask.Rerank == 0 && f.reranker != nil:
		return usagef("--reranker needs --rerank: how many of the best documents it scores")
	}
	s, err := search.Open(dir)
	if err != nil {
		return err
	}
	defer s.Close()
	if f.sparseOf != "" {
		f.ask.Sparse = noTokens // until each topic has its own
	}
	var r search.Request
	var details api.Details
	if f.encodeTopic == "" { // encodeTopics does it once there are vectors
		if r, details, err = f.ask.Prepare(api.AboutIndex(s)); err != nil {
			return asFlags(api.SearchQuestion, err)
		}
	}
	r.Parallel, r.Trace = parallel, f.ask.Stats
	details.Reranker = f.reranker
	start := time.Now()
	if err := a.onGPU(ctx, s); err != nil {
		return err
	}
	if f.ask.Stats {
		a.printOpening(s, time.Since(start))
	}
	if r.Expand != nil && !s.Index().HasText() {
		a.note(dir + " stores no text, so --expand reads the postings of all words: --store-text makes it fast")
	}
	a.useHighlights(f)
	switch {
	case f.topics != "":
		return a.searchTopics(ctx, s, r, f)
	case f.all:
		return a.searchAll(ctx, s, r, details, words, f)
	case words != "" || r.Nearest != nil || f.ask.Sparse != "":
		return a.searchOne(ctx, s, r, details, words, f)
	}
	return a.searchLines(ctx, s, r, details, f)
}

// noTokens are weighted tokens without any.
const noTokens = "{}"

// readVectors reads the vectors of --vector-of. The first becomes that of the question.
func (f *searchFlags) readVectors(a *app, cmd *cobra.Command) (err error) {
	switch {
	case f.vectorOf == "":
		return nil
	case f.set("vector"):
		return usagef("--vector and --vector-of: give only one of them")
	}
	if f.vectors, err = vecfile.Open(f.vectorOf, a.stdin); err != nil {
		return err
	}
	if len(f.vectors) > 1 && f.topics == "" {
		return fmt.Errorf("%s has %d vectors: want one, or --topics", f.vectorOf, len(f.vectors))
	}
	list := make([]string, len(f.vectors[0]))
	for i, x := range f.vectors[0] {
		list[i] = strconv.FormatFloat(float64(x), 'g', -1, 32)
	}
	return cmd.Flags().Set("vector", strings.Join(list, ","))
}

// useHighlights chooses the marks around query words in snippets: bold on a terminal, else stars.
func (a *app) useHighlights(f *searchFlags) {
	if a.onTerminal() {
		f.highlight, f.unhighlight = boldOn, boldOff
	} else {
		f.highlight, f.unhighlight = "*", "*"
	}
}

// searchLines answers the queries on standard input, one per line. If they are piped in, it prints
// each query before its answers; JSON answers contain their query.
func (a *app) searchLines(ctx context.Context, s *search.Searcher, r search.Request,
	details api.Details, f *searchFlags) error {
	typed := isTerminal(a.stdin)
	var lines queryLines = newPipedLines(a.stdin)
	if typed {
		fmt.Fprintf(a.stderr, "%d documents, %d words; an empty line or Ctrl-D ends\n",
			s.Index().Docs(), s.Index().Terms())
		lines = newTypedLines(ctx, int(a.stdin.(*input).f.Fd()), a.stdin, a.stderr)
	}
	for {
		query, err := lines.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if !typed && !a.json {
			if _, err := fmt.Fprintf(a.stdout, "# %s\n", query); err != nil {
				return err
			}
		}
		if err := a.searchOne(ctx, s, r, details, query, f); err != nil {
			return err
		}
	}
}

func (a *app) searchOne(ctx context.Context, s *search.Searcher, r search.Request,
	details api.Details, words string, f *searchFlags) error {
	about := api.AboutIndex(s)
	err := f.ask.Ask(about, &r, words)
	if err == nil {
		err = f.ask.Resume(about, &r, &details)
	}
	if err != nil {
		return asFlags(api.SearchQuestion, err)
	}
	if a.json && r.K != search.NoHits && r.K < search.MaxK && r.Parallel.Exact() {
		details.More = true
		r.K++ // one more tells whether there are further hits
	}
	start := time.Now()
	found, err := s.Search(ctx, r)
	if err != nil {
		return err
	}
	took := time.Since(start)
	answer, err := api.Describe(ctx, s, r, found, details)
	if err != nil {
		return err
	}
	for _, note := range answer.Notes {
		a.note(note)
	}
	recall, err := f.parallel.recallOf(ctx, s, r, found)
	if err != nil {
		return err
	}
	if a.json {
		if f.ask.Stats {
			answer.Micros = took.Microseconds()
		}
		return a.printJSON(searchJSON{answer, !exact(found), recall})
	}
	if f.ask.Explain && r.Query != nil {
		fmt.Fprintf(a.stdout, "query\t%v\n", r.Query)
	}
	if f.ask.Explain {
		printExpanded(a.stdout, answer)
	}
	for _, h := range answer.Hits {
		printHit(a.stdout, &h, f)
	}
	if r.Count {
		fmt.Fprintf(a.stdout, "%s\n", counted(found.Total, "document"))
	}
	printFacets(a.stdout, found.Facets)
	if f.ask.Stats {
		printStats(a.stdout, &found.Stats, took)
	}
	a.printRecall(recall, found)
	if len(answer.Hits) == 0 && found.Total == 0 {
		a.summary("nothing found")
	}
	return nil
}
