package words

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/text"
)

// CorpusOptions are the options of CollocationsOf. The zero value means the defaults of `collocate
// collocations`.
type CorpusOptions struct {
	Options
	// Of keeps only pairs with this word, which goes through the analyzer; empty keeps all.
	Of       string
	Analyzer text.Analyzer // divides documents into words; nil means unicode
	// Window is the number of words on each side, up to cooccur.MaxWindow-1; 0 means 5.
	Window int
	// Side is where Word2 of a pair stands; the zero value means on either side of Word1.
	Side cooccur.Side
	// MinDocs is the least number of documents or parts that a pair must occur in; 0 means 3 for a
	// corpus of 10 documents or more, and otherwise 1.
	MinDocs int
	Parts   Parts         // what dispersion is measured over; the zero value means documents
	Memory  int64         // bound on working memory in bytes; 0 means 2 GB
	TempDir string        // for the matrix of pairs and its sorted runs; empty means os.TempDir
	Engine  engine.Kind   // what counts words and pairs; it has no effect on the result
	Device  engine.Device // the GPU, if one is used
	// Progress, unless it is nil, is called while pairs are counted, after the corpus was read.
	// done and total are bytes of working data.
	Progress func(stage string, done, total int64)
}

// CorpusStats describes the corpus that was read.
type CorpusStats struct {
	cooccur.Stats
	MinDocs int         // the given or default minimum
	Engine  engine.Kind // the one that counted pairs, never engine.Auto
}

// CollocationsOf returns the most strongly associated pairs of words of a corpus, each with its
// dispersion. It reads the corpus several times: for words, for pairs, and once or more for the
// documents of the candidate pairs.
func CollocationsOf(ctx context.Context, corpus *text.Corpus, o CorpusOptions) (list *Associations,
	stats CorpusStats, err error) {
	if err := given.Context(ctx); err != nil {
		return nil, CorpusStats{}, err
	}
	if o.Analyzer == nil {
		o.Analyzer, _ = text.ParseAnalyzer("unicode")
	}
	if err := text.NeedsText(o.Analyzer); err != nil {
		return nil, CorpusStats{}, err
	}
	if o.Window == 0 {
		o.Window = 5
	}
	if o.Top <= 0 {
		o.Top = defaultCollocations
	}
	if o.MinCount == 0 {
		o.MinCount = 5
	}
	dir, err := os.MkdirTemp(o.TempDir, "collocate-words-*")
	if err != nil {
		return nil, stats, err
	}
	defer os.RemoveAll(dir)
	r, counted, err := makeMatrix(ctx, corpus, filepath.Join(dir, "m.cooc"), o)
	stats.Stats, stats.Engine = counted, counted.Engine
	if err != nil {
		return nil, stats, err
	}
	defer r.Close()
	of := -1
	if o.Of != "" {
		if of, err = Find(r, o.Of); err != nil {
			return nil, stats, err
		}
	}
	stats.MinDocs = o.MinDocs
	if stats.MinDocs == 0 {
		stats.MinDocs = 1
		if stats.Documents >= 10 {
			stats.MinDocs = 3
		}
	}
	// Each attempt reads the corpus once more, to find the documents of the ranked pairs. So more
	// pairs are ranked than are wanted, and many times as many if too few of them are in at least
	// MinDocs documents.
	for wanted := o.Top; ; {
		some := o.Options
		some.Top = 4*wanted + 100
		if of >= 0 {
			list, err = Neighbours(r, of, some)
		} else {
			list, err = Collocations(ctx, r, some)
		}
		if err != nil {
			return nil, stats, err
		}
		all := len(list.Pairs) < some.Top
		if err := Spread(ctx, r, corpus, list.Pairs,
			SpreadOptions{Analyzer: o.Analyzer, Parts: o.Parts, Threads: o.Threads}); err != nil {
			return nil, stats, err
		}
		kept := list.Pairs[:0]
		for _, a := range list.Pairs {
			if a.Spread.Range >= stats.MinDocs {
				kept = append(kept, a)
			}
		}
		list.Pairs = kept
		if all || len(kept) >= o.Top {
			list.Pairs = kept[:min(len(kept), o.Top)]
			return list, stats, nil
		}
		wanted *= 8
	}
}

// makeMatrix writes the matrix of a corpus, without the cells that are too small to be listed, and
// opens it.
func makeMatrix(ctx context.Context, corpus *text.Corpus, path string,
	o CorpusOptions) (*cooccur.Reader, cooccur.Stats, error) {
	opt := cooccur.Options{Window: o.Window, Side: o.Side, Weighting: cooccur.Count, Analyzer: o.Analyzer,
		Threads: o.Threads, Memory: o.Memory, TempDir: o.TempDir, Engine: o.Engine, Device: o.Device, Progress: o.Progress}
	var file *cooccur.File
	_, stats, err := cooccur.Make(ctx, corpus,
		cooccur.VocabularyOptions{Analyzer: o.Analyzer, KeepUnk: true, Threads: o.Threads,
			Memory: o.Memory},
		opt, func(v *cooccur.Vocabulary) (_ cooccur.Sink, err error) {
			if file, err = cooccur.Create(path, cooccur.CSR, v, opt); err != nil {
				return nil, err
			}
			return &frequentCells{to: file, least: o.MinCount}, nil
		})
	if file != nil {
		defer file.Abort()
	}
	if err != nil {
		return nil, stats, err
	}
	if stats.Words == 0 {
		return nil, stats, errors.New("the corpus has no words")
	}
	file.Describe(stats)
	if err := file.Commit(); err != nil {
		return nil, stats, err
	}
	r, err := cooccur.Open(path)
	return r, stats, err
}

// frequentCells passes on the cells whose value is at least least.
type frequentCells struct {
	to    cooccur.Sink
	least float64
	rows  cooccur.Rows
}

func (f *frequentCells) Rows(r *cooccur.Rows) error {
	out := &f.rows
	out.First, out.Ends, out.Cols, out.Values = r.First, out.Ends[:0], out.Cols[:0], out.Values[:0]
	for i := range r.Ends {
		cols, values := r.Row(i)
		for k, c := range cols {
			if values[k] >= f.least {
				out.Cols, out.Values = append(out.Cols, c), append(out.Values, values[k])
			}
		}
		out.Ends = append(out.Ends, len(out.Cols))
	}
	return f.to.Rows(out)
}

// Find returns the ID of a word in a matrix. The word goes through the matrix's analyzer first, so
// "membranes" finds its stem; it may be one of own. The error for an unknown word suggests words
// with a similar spelling. A pattern such as membran* is refused: the analyzer would drop the star.
func Find(r *cooccur.Reader, word string, own ...text.Analyzer) (int, error) {
	form := word
	if name := r.Corpus().Analyzer; name != "" {
		an, err := text.ParseAnalyzer(name, own...)
		if err != nil {
			return 0, err
		}
		if form, err = OneWord(word, an); err != nil {
			return 0, err
		}
	}
	if id, ok := r.Lookup(form); ok {
		return id, nil
	}
	return 0, &UnknownWord{Word: word, Similar: suggest(r, form)}
}

// OneWord returns the form that an analyzer gives to a word. It is an error if there is no word or
// more than one, or if the analyzer would drop the signs of a pattern, such as the star of lip*:
// then the answer would be about another word.
func OneWord(word string, an text.Analyzer) (string, error) {
	t := text.Tokens{WantSource: true}
	if err := an.Analyze([]byte(word), &t); err != nil {
		return "", err
	}
	rest := []byte(word)
	for _, s := range t.Source {
		clear(rest[s.Start:s.End])
	}
	switch {
	case bytes.ContainsAny(rest, "*?/|[]\\^~#"):
		return "", fmt.Errorf("%q is a pattern: want one word; concordances, n-grams and plots of dispersion take patterns", word)
	case len(t.Words) != 1:
		return "", fmt.Errorf("analyzer %[3]s makes %[2]d words of %[1]q: want one", word, len(t.Words), an.Name())
	}
	return string(t.Word(0)), nil
}
