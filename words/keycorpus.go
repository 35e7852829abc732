package words

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/extsort"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/text"
)

// CorpusKeyOptions are the options of KeywordsOf. The zero value means the defaults of `collocate
// keywords`.
type CorpusKeyOptions struct {
	KeyOptions
	N         int           // compare sequences of this number of words, 1 to 9; 0 means 1
	Documents bool          // compare numbers of documents instead of occurrences
	Analyzer  text.Analyzer // divides documents into words; nil means unicode
	Threads   int           // 0 means GOMAXPROCS
	Engine    engine.Kind   // what counts words; it has no effect on the result
	Device    engine.Device // the GPU, if one is used
}

// KeyStats describes what was compared.
type KeyStats struct {
	N1, N2   uint64 // words (or n-grams, or documents) of the two corpora
	Compared int    // distinct words that occur often enough
}

// KeywordsOf compares the words of a corpus with those of a reference corpus, as Keywords does.
// The frequencies go to temporary files if they do not fit in memory.
func KeywordsOf(ctx context.Context, corpus, reference *text.Corpus,
	o CorpusKeyOptions) (list []Keyword, stats KeyStats, err error) {
	if err := given.Context(ctx); err != nil {
		return nil, stats, err
	}
	if o.Analyzer == nil {
		o.Analyzer, _ = text.ParseAnalyzer("unicode")
	}
	if err := text.NeedsText(o.Analyzer); err != nil {
		return nil, stats, err
	}
	if o.Memory <= 0 {
		o.Memory = 2_000_000_000
	}
	a := &extsort.Sorter{Room: o.Memory / 8, Dir: o.TempDir}
	defer a.Close()
	n1, err := o.count(ctx, corpus, a)
	if err != nil {
		return nil, stats, err
	}
	b := &extsort.Sorter{Room: o.Memory / 8, Dir: o.TempDir}
	defer b.Close()
	n2, err := o.count(ctx, reference, b)
	if err != nil {
		return nil, stats, fmt.Errorf("the reference corpus: %w", err)
	}
	stats.N1, stats.N2 = n1, n2
	if err := haveWords(n1, n2); err != nil {
		return nil, stats, err
	}
	list, stats.Compared, err = keywords(ctx, n1, n2, join(a, b), o.KeyOptions)
	return list, stats, err
}

// count counts the words of a corpus. A record is the word as appendKey writes it, and its count.
func (o *CorpusKeyOptions) count(ctx context.Context,
	corpus *text.Corpus, counts *extsort.Sorter) (total uint64, err error) {
	var record []byte
	add := func(word []byte, n uint64) error {
		record = binary.BigEndian.AppendUint64(appendKey(record[:0], word), n)
		return counts.Add(record)
	}
	switch {
	case o.N > 1:
		_, stats, err := Ngrams(ctx, corpus, NgramOptions{Min: o.N, Max: o.N, MinCount: 1,
			Analyzer: o.Analyzer, Threads: o.Threads, Memory: o.Memory, TempDir: o.TempDir,
			Each: func(g Ngram) error {
				if o.Documents {
					return add([]byte(g.Text), uint64(g.Documents))
				}
				total += g.Count
				return add([]byte(g.Text), g.Count)
			}})
		if o.Documents {
			total = stats.Documents
		}
		return total, err
	case o.Documents:
		list, err := List(ctx, corpus,
			ListOptions{Analyzer: o.Analyzer, Threads: o.Threads, Memory: o.Memory})
		if err != nil {
			return 0, err
		}
		for _, w := range list.Words {
			if err := add([]byte(w.Word), uint64(w.Range)); err != nil {
				return 0, err
			}
		}
		return uint64(list.Documents), nil
	}
	v, stats, err := cooccur.CountWords(ctx, corpus,
		cooccur.VocabularyOptions{Analyzer: o.Analyzer, KeepUnk: true, Engine: o.Engine,
			Device: o.Device, Threads: o.Threads, Memory: o.Memory})
	if err != nil {
		return 0, err
	}
	for id := range v.Len() {
		if err := add(v.Word(id), v.Count(id)); err != nil {
			return 0, err
		}
	}
	return uint64(stats.Words), nil
}

// join yields the words of two sorted lists with both counts.
func join(a, b *extsort.Sorter) iter.Seq2[pair, error] {
	return func(yield func(pair, error) bool) {
		first, stopFirst := iter.Pull2(a.All())
		defer stopFirst()
		second, stopSecond := iter.Pull2(b.All())
		defer stopSecond()
		x, err1, hasX := first()
		y, err2, hasY := second()
		var word []byte
		for hasX || hasY {
			for _, err := range []error{err1, err2} {
				if err != nil {
					yield(pair{}, err)
					return
				}
			}
			order := 0
			switch {
			case !hasY:
				order = -1
			case !hasX:
				order = 1
			default:
				order = bytes.Compare(x[:len(x)-8], y[:len(y)-8])
			}
			var p pair
			if order <= 0 {
				word, _ = cutKey(word[:0], x)
				p.f1 = binary.BigEndian.Uint64(x[len(x)-8:])
				x, err1, hasX = first()
			}
			if order >= 0 {
				word, _ = cutKey(word[:0], y)
				p.f2 = binary.BigEndian.Uint64(y[len(y)-8:])
				y, err2, hasY = second()
			}
			p.word = string(word)
			if !yield(p, nil) {
				return
			}
		}
	}
}
