package words

import (
	"context"
	"fmt"
	"runtime"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/text"
)

// ListOptions are the options of List.
type ListOptions struct {
	Analyzer text.Analyzer // nil means unicode
	MinCount uint64        // leave out words that occur less often
	Parts    Parts         // what dispersion is measured over; the zero value means documents
	Threads  int           // 0 means GOMAXPROCS
	Memory   int64         // bound in bytes on the tables of words; 0 means 2 GB
}

// Word is a word of a list.
type Word struct {
	Word       string  `json:"word"`        // as the analyzer writes it
	Count      uint64  `json:"count"`       // occurrences in the corpus
	PerMillion float64 `json:"per_million"` // Count for each million words of the corpus
	Dispersion
}

// WordList holds the words of a corpus in descending order of frequency.
type WordList struct {
	Words     []Word // those that occur at least ListOptions.MinCount times
	Total     uint64 // words of the corpus, with those that are not listed
	Distinct  int    // different words, with those that are not listed
	Documents int    // of the corpus
	Parts     int    // that dispersion is measured over
}

// List counts the words of a corpus and measures their dispersion over its parts. It reads the
// corpus twice.
func List(ctx context.Context, corpus *text.Corpus, o ListOptions) (*WordList, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	an, threads := o.Analyzer, o.Threads
	if an == nil {
		an, _ = text.ParseAnalyzer("unicode")
	}
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	v, stats, err := cooccur.CountWords(ctx, corpus,
		cooccur.VocabularyOptions{Analyzer: an, KeepUnk: true, Order: cooccur.ByteOrder,
			Engine: engine.Multicore, Threads: threads, Memory: o.Memory})
	if err != nil {
		return nil, err
	}
	listed := v.Len()
	for listed > 0 && v.Count(listed-1) < o.MinCount {
		listed--
	}
	if need := int64(o.Parts.Equal) * 4 * int64(v.Len()); o.Memory > 0 && need > o.Memory/2 {
		return nil, fmt.Errorf("dispersion of %d words over %d parts takes %d MB: raise words.ListOptions.Memory",
			v.Len(), o.Parts.Equal, need>>20)
	}
	t := newTally(o.Parts, v.Len(), uint64(stats.Words), func(i int) uint64 { return v.Count(i) })
	read := &reading{analyzer: an, vocab: v, ordered: o.Parts.Equal > 0}
	counters := make([]*counter, threads)
	lists := make([][]seen, threads)
	for i := range counters {
		counters[i] = newCounter(v.Len())
	}
	err = read.each(ctx, corpus, threads, func(w int, d *page) error {
		if o.Parts.Equal > 0 {
			return t.inParts(d, func(add func(item, place int)) {
				for i, id := range d.ids {
					add(int(id), i)
				}
			})
		}
		for _, id := range d.ids {
			counters[w].add(int(id))
		}
		lists[w] = counters[w].take(lists[w])
		t.document(d.id, uint64(len(d.ids)), lists[w])
		return nil
	})
	if err != nil {
		return nil, err
	}
	list := &WordList{Words: make([]Word, listed), Total: uint64(stats.Words),
		Distinct: int(stats.Distinct), Documents: int(stats.Documents)}
	for i := range list.Words {
		d := t.result(i)
		list.Words[i] = Word{Word: string(v.Word(i)), Count: v.Count(i),
			PerMillion: 1e6 * float64(v.Count(i)) / float64(stats.Words), Dispersion: d}
		list.Parts = d.Parts
	}
	return list, nil
}
