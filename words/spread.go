package words

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/text"
)

// SpreadOptions are the options of Spread.
type SpreadOptions struct {
	Analyzer text.Analyzer // nil means the one that the matrix names
	Parts    Parts         // what dispersion is measured over; the zero value means documents
	Threads  int           // 0 means GOMAXPROCS
}

// Spread reads the corpus that a matrix was made from and fills in the dispersion of each pair over
// its documents or other parts. It returns an error if the pairs do not co-occur as often as the
// matrix says.
func Spread(ctx context.Context, r *cooccur.Reader, corpus *text.Corpus, list []Association,
	o SpreadOptions) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	if r.Options().Weighting != cooccur.Count || r.Corpus().Subsampled {
		return fmt.Errorf("counting documents of pairs needs a matrix of counts: make it with cooccur.Options.Weighting=count and without cooccur.Options.Subsample")
	}
	an := o.Analyzer
	if an == nil {
		name := r.Corpus().Analyzer
		if name == "" {
			return fmt.Errorf("the matrix does not name its analyzer: make it again")
		}
		var err error
		if an, err = text.ParseAnalyzer(name); err != nil {
			return err
		}
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	made := r.Options()
	p := &pairFinder{window: made.Window, side: made.Side,
		// The last elements are for words that are not looked up.
		first: make([]bool, r.Len()+1), second: make([]bool, r.Len()+1),
		items: make(map[uint64]int, len(list))}
	only := &fewWords{}
	for i, a := range list {
		p.first[a.ID1], p.second[a.ID2] = true, true
		p.items[uint64(a.ID1)<<32|uint64(a.ID2)] = i
		only.add(r.Word(a.ID1))
		only.add(r.Word(a.ID2))
	}
	if r.Corpus().Kept != r.Corpus().Words {
		only = nil // words outside the vocabulary have no place in a window, so all are looked up
	}
	t := newTally(o.Parts, len(list), r.Corpus().Kept, func(i int) uint64 { return uint64(math.Round(list[i].Count)) })
	read := &reading{analyzer: an, vocab: r.Vocabulary(), only: only, ordered: o.Parts.Equal > 0}
	counters := make([]*counter, o.Threads)
	lists := make([][]seen, o.Threads)
	for i := range counters {
		counters[i] = newCounter(len(list))
	}
	err := read.each(ctx, corpus, o.Threads, func(w int, d *page) error {
		if o.Parts.Equal > 0 {
			return t.inParts(d, func(add func(item int, place int)) { p.find(d, add) })
		}
		p.find(d, func(item, _ int) { counters[w].add(item) })
		lists[w] = counters[w].take(lists[w])
		t.document(d.id, uint64(len(d.ids)), lists[w])
		return nil
	})
	if err != nil {
		return err
	}
	for i := range list {
		d := t.result(i)
		if d.Count != t.totals(i) {
			return fmt.Errorf("%q and %q co-occur %d times in this corpus and %g times in the matrix: it was made from another corpus, "+
				"or read with other options", list[i].Word1, list[i].Word2, d.Count, list[i].Count)
		}
		list[i].Spread = &d
	}
	return nil
}

// pairFinder finds the occurrences of given pairs.
type pairFinder struct {
	window        int
	side          cooccur.Side
	first, second []bool         // by ID: the word is the first, or the second, of some pair
	items         map[uint64]int // position in the list by the IDs of a pair
}

// find calls add for each pair in a field of a document, with the place of its first word.
func (p *pairFinder) find(d *page, add func(item, place int)) {
	d.windows(func(ids []uint32, from int) {
		p.inField(ids, func(item, place int) { add(item, from+place) })
	})
}

func (p *pairFinder) inField(ids []uint32, add func(item, place int)) {
	for i, id := range ids {
		if !p.first[id] {
			continue
		}
		lo, hi := max(0, i-p.window), min(len(ids), i+p.window+1)
		if p.side == cooccur.Right {
			lo = i
		}
		if p.side == cooccur.Left {
			hi = i
		}
		for j := lo; j < hi; j++ {
			other := ids[j]
			if !p.second[other] || j == i {
				continue
			}
			if item, ok := p.items[uint64(id)<<32|uint64(other)]; ok {
				add(item, i)
			}
		}
	}
}

// inParts adds the items of a document to the equal parts of the corpus that they are in.
func (t *tally) inParts(d *page, find func(add func(item, place int))) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := uint64(t.Equal)
	part := func(place uint64) int { return int(min(place*k/max(t.words, 1), k-1)) }
	for i := range d.ids {
		t.sizes[part(d.before+uint64(i))]++
	}
	find(func(item, place int) { t.counts[part(d.before+uint64(place))][item]++ })
	return nil
}
