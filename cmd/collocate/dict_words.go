package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/dict"
	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/internal/textfile"
)

// wordLists are the flags for reading lists of words: one word per line, or vocabularies.
type wordLists struct{ vocab bool }

func (l *wordLists) register(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&l.vocab, "vocab", false,
		"the files are vocabularies: lines of a word and its count, which is ignored")
}

// read reads files with one word per line. Without --vocab or --vocab=false it refuses a file that
// looks like a vocabulary, whose counts would become part of the words.
func (l *wordLists) read(cmd *cobra.Command, a *app, paths []string) (*dict.Words, error) {
	var all []io.Reader
	newline := func() io.Reader { return bytes.NewReader([]byte("\n")) } // a file may end without one
	for _, p := range paths {
		var in *bufio.Reader
		if p == "-" {
			in = bufio.NewReaderSize(a.stdin, textfile.HeadSize)
			textfile.SkipMark(in)
		} else {
			f, err := textfile.Open(p)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			in = f.Reader
		}
		if !cmd.Flags().Changed("vocab") {
			head, _ := in.Peek(textfile.HeadSize) // reading on returns the error again
			if line, ok := looksCounted(head); ok {
				return nil, usagef("%s: every line is a word and a number, such as %q: use --vocab to read the words alone, or --vocab=false to read whole lines", p, line)
			}
		}
		var words io.Reader = in
		if l.vocab {
			words = &countedWords{in: in, path: p}
		}
		all = append(all, words, newline())
	}
	return dict.ReadWords(io.MultiReader(all...))
}

// looksCounted reports whether every line of head, the beginning of a file, is a word, a blank or
// tab, and a number; the last line may be cut off. It returns the first line.
func looksCounted(head []byte) (first []byte, ok bool) {
	n := 0
	for len(head) > 0 {
		line, rest, ended := bytes.Cut(head, []byte("\n"))
		if !ended && n > 0 {
			break
		}
		word, ok := beforeCount(line)
		if !ok || bytes.ContainsAny(word, " \t") {
			return nil, false
		}
		if n == 0 {
			first = line
		}
		n++
		head = rest
	}
	return first, n > 0
}

// beforeCount returns a line without the number at its end.
func beforeCount(line []byte) ([]byte, bool) {
	line = bytes.TrimSuffix(line, []byte("\r"))
	word := bytes.TrimRight(line, "0123456789")
	if n := len(word); n > 1 && n < len(line) && (word[n-1] == ' ' || word[n-1] == '\t') {
		return word[:n-1], true
	}
	return nil, false
}

// countedWords reads a vocabulary as its words, one per line.
type countedWords struct {
	in   *bufio.Reader
	path string
	line int
	left []byte
	err  error
}

func (c *countedWords) Read(p []byte) (int, error) {
	for len(c.left) == 0 {
		if c.err != nil {
			return 0, c.err
		}
		var line []byte
		line, c.err = c.in.ReadBytes('\n')
		c.line++
		if line = bytes.TrimRight(line, "\r\n"); len(line) == 0 {
			continue
		}
		word, ok := beforeCount(line)
		if !ok {
			return 0, fmt.Errorf("%s: line %d: %.40q: want a word, a blank and its count", c.path, c.line, line)
		}
		c.left = append(append(c.left[:0], word...), '\n')
	}
	n := copy(p, c.left)
	c.left = c.left[n:]
	return n, nil
}

// largeTable is the size from which tellTable prints the size of a table.
const largeTable = 64 << 20

// tellTable prints the size of a large transition table before it is built.
func (a *app) tellTable(ctx context.Context, words *dict.Words) error {
	size, err := dict.TableBytes(ctx, words)
	if err == nil && size > largeTable {
		a.summary("stt: the table of %s takes %v; the other kinds take a small fraction of that",
			counted(words.Len(), "word"), bytesize.Size(size))
	}
	return err
}
