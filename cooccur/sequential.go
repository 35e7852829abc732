package cooccur

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"

	"github.com/collocate/collocate/text"
)

// sequential is the plain engine: for each document, for each word, for each word of its window, it
// adds the weight to the pair's slot of a hash table. It follows the definition, and is the oracle
// of all tests.
func (j *job) sequential(ctx context.Context, corpus *text.Corpus, sink Sink) error {
	defer boundHeap(j.Memory)()
	t := newPairTable()
	var s *spill // used if the table exceeds the memory
	defer func() {
		if s != nil {
			s.close()
		}
	}()
	limit := int(j.Memory / 2 / pairSlotBytes / 2) // a table needs twice its size while it grows
	if j.tableLimit > 0 {
		limit = j.tableLimit
	}
	a := analyzerOf(j.Analyzer)
	var tokens text.Tokens
	var ids []uint32
	occurrences := make([]uint64, j.vocab.Len())
	one := *corpus
	one.Options.Threads = 1
	err := one.Batches(ctx, func(_ int, b *text.Batch) error {
		for i := range b.Docs {
			tokens.WantSource = len(b.Docs[i].Breaks) > 0
			if err := a.Analyze(b.Docs[i].Text, &tokens); err != nil {
				return fmt.Errorf("document %s: %w", b.Docs[i].ID, err)
			}
			ids = j.wordIDs(ids[:0], &tokens, b, i)
			for _, id := range ids {
				if id != border {
					occurrences[id]++
				}
			}
			err := j.addWindows(t, ids, func() error {
				if t.n <= limit {
					return nil
				}
				if s == nil {
					var err error
					if s, err = newSpill(j); err != nil {
						return err
					}
				}
				return j.spillTable(t, s)
			})
			if err != nil {
				return fmt.Errorf("document %s: %w", b.Docs[i].ID, err)
			}
		}
		j.stats.Documents += int64(len(b.Docs))
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	for id, n := range occurrences {
		if err := j.checkCount(id, n); err != nil {
			return err
		}
	}
	if s == nil {
		b := new(sumRows)
		return t.rows(j.vocab.Len(), b, func() error {
			b.finish(&j.units)
			return j.emit(b, sink)
		})
	}
	if err := j.spillTable(t, s); err != nil {
		return err
	}
	j.stats.Runs = len(s.runs)
	return s.merge(ctx, []*accumulator{newAccumulator(j)}, []*sumRows{new(sumRows)}, j.Memory/4, sink)
}

// wordIDs appends the IDs of the words of a document that are in the vocabulary and kept by the
// sampler, with a border between fields.
func (j *job) wordIDs(ids []uint32, tokens *text.Tokens, b *text.Batch, doc int) []uint32 {
	seen, borders := 0, 0
	sections := sectionsOf(tokens, &b.Docs[doc])
	for i := range tokens.Words {
		if borders < len(sections) && i == sections[borders] {
			ids = append(ids, border)
			borders++
		}
		if len(tokens.Word(i)) == 0 {
			continue
		}
		j.stats.Words++
		id, ok := j.vocab.Lookup(tokens.Word(i))
		if !ok {
			continue
		}
		if j.sample == nil || j.sample.keeps(j.sample.document(b.Seq, doc), seen, uint32(id)) {
			ids = append(ids, uint32(id))
		}
		seen++
	}
	j.stats.Kept += int64(len(ids) - borders)
	return ids
}

// sectionsOf returns the ends of the words of each field, or nothing if there is only one.
func sectionsOf(tokens *text.Tokens, d *text.Document) []int {
	if len(d.Breaks) == 0 {
		return nil
	}
	return tokens.Sections(nil, d.Breaks)
}

// border stands between the IDs of words of different fields.
const border = 1<<32 - 1

// addWindows adds the pairs of the windows of a document, and calls after for each word.
func (j *job) addWindows(t *pairTable, ids []uint32, after func() error) error {
	for len(ids) > 0 {
		field := ids
		if i := slices.Index(ids, border); i >= 0 {
			field, ids = ids[:i], ids[i+1:]
		} else {
			ids = nil
		}
		if err := j.checkWhole(int64(len(field))); err != nil {
			return err
		}
		for p := range field {
			j.addWindow(t, field, p)
			if err := after(); err != nil {
				return err
			}
		}
	}
	return nil
}

// addWindow adds the pairs of the window around position p of a field.
func (j *job) addWindow(t *pairTable, ids []uint32, p int) {
	for d := 1; d <= j.Window && (d <= p || d < len(ids)-p); d++ {
		if q := p - d; q >= 0 && j.Side != Right {
			t.add(ids[p], ids[q], j.of[d])
		}
		if q := p + d; q < len(ids) && j.Side != Left {
			t.add(ids[p], ids[q], j.of[d])
		}
	}
}

// spillTable writes the table as a sorted run and empties it.
func (j *job) spillTable(t *pairTable, s *spill) error {
	s.begin()
	b := new(sumRows)
	err := t.rows(j.vocab.Len(), b, func() error {
		s.encode(b)
		return s.write(0, b)
	})
	clear(t.slots)
	t.n = 0
	return err
}

// pairTable is the paper's hash table, with open addressing and linear probing. The paper
// identifies a pair by its hash alone. Here the key is the pair itself, so different pairs are
// never confused, and the table grows before it is full.
type pairTable struct {
	slots []pairSlot
	n     int
}

// pairSlot is free while key is 0. The key is row+1 and column+1, 32 bits each.
type pairSlot struct{ key, lo, hi uint64 }

const pairSlotBytes = 24

func (p pairSlot) row() int    { return int(p.key>>32) - 1 }
func (p pairSlot) col() uint32 { return uint32(p.key) - 1 }

func newPairTable() *pairTable { return &pairTable{slots: make([]pairSlot, 1<<10)} }

func (t *pairTable) add(row, col uint32, weight uint64) { t.addSum(row, col, weight, 0) }

// addSum is add for a sum of weights.
func (t *pairTable) addSum(row, col uint32, lo, hi uint64) {
	if 4*t.n >= 3*len(t.slots) {
		t.grow()
	}
	key := uint64(row+1)<<32 | uint64(col+1)
	s := t.find(key)
	if s.key == 0 {
		s.key = key
		t.n++
	}
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, lo, 0)
	s.hi += hi + carry
}

// find returns the slot of the key, or the free slot where it belongs.
func (t *pairTable) find(key uint64) *pairSlot {
	mask := uint64(len(t.slots) - 1)
	for i := mix(key) & mask; ; i = (i + 1) & mask {
		if s := &t.slots[i]; s.key == key || s.key == 0 {
			return s
		}
	}
}

func (t *pairTable) grow() {
	old := t.slots
	t.slots = make([]pairSlot, 2*len(old))
	for _, s := range old {
		if s.key != 0 {
			*t.find(s.key) = s
		}
	}
}

// rows sorts the slots in place, which destroys the table, and calls fn with each row of the matrix
// in b, in order.
func (t *pairTable) rows(words int, b *sumRows, fn func() error) error {
	slots := slices.DeleteFunc(t.slots, func(p pairSlot) bool { return p.key == 0 })
	slices.SortFunc(slots, func(a, b pairSlot) int { return cmp.Compare(a.key, b.key) })
	for row := range words {
		b.reset(row)
		for ; len(slots) > 0 && slots[0].row() == row; slots = slots[1:] {
			b.cols = append(b.cols, slots[0].col())
			b.lo = append(b.lo, slots[0].lo)
			b.hi = append(b.hi, slots[0].hi)
		}
		b.endRow()
		if err := fn(); err != nil {
			return err
		}
	}
	return nil
}
