package words

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sort"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/internal/par"
)

// Options selects associations. It is used by Collocations and Neighbours, and as a part
// of CorpusOptions.
type Options struct {
	// By lists the measures to compute. Pairs are ordered by the first one; none means LogDice.
	By []Measure
	// Top is the number of pairs to return; 0 means 10 for Neighbours and 20 for Collocations and
	// CollocationsOf, as in the commands.
	Top int
	// MinCount leaves out pairs that co-occur less often or, in a weighted matrix, have a smaller
	// value. 0 keeps all pairs, except in CollocationsOf. There it means 5, as in the command
	// `collocate collocations`, and 1 keeps all.
	MinCount float64
	// MinFreq leaves out pairs with a word that occurs less often in the corpus; 0 keeps all.
	MinFreq uint64
	// P adds p-values of the log-likelihood ratio, and their corrections.
	P bool
	// Threads is the number of threads; 0 means GOMAXPROCS. The result does not depend on it.
	Threads int
}

// The numbers of pairs that a Top of 0 means.
const (
	defaultNeighbours   = 10
	defaultCollocations = 20
)

func (o Options) measures() []Measure {
	if len(o.By) == 0 {
		return []Measure{LogDice}
	}
	return o.By
}

// Association is a pair of words with its counts and scores.
type Association struct {
	ID1    int       `json:"id1"`    // number of the first word in the matrix: its row, from 0
	ID2    int       `json:"id2"`    // number of the second word: its column
	Word1  string    `json:"word1"`  // the first word; Neighbours puts the given one here
	Word2  string    `json:"word2"`  // the second word
	Count  float64   `json:"count"`  // O, or the value of a weighted cell
	F1     uint64    `json:"f1"`     // occurrences of Word1 in the corpus
	F2     uint64    `json:"f2"`     // occurrences of Word2 in the corpus
	Scores []float64 `json:"scores"` // by the measures of the options

	P float64 `json:"p,omitempty"` // p-value of the log-likelihood ratio, with Options.P
	Q float64 `json:"q,omitempty"` // Benjamini and Hochberg's false discovery rate, with Options.P
	// Bonferroni is P times the number of pairs compared, at most 1. It is set with Options.P.
	Bonferroni float64 `json:"bonferroni,omitempty"`

	Spread *Dispersion `json:"spread,omitempty"` // over the parts of the corpus; set by Spread
}

// Associations holds the best pairs by the first measure; ties are in ascending order of IDs.
type Associations struct {
	Measures []Measure     // those of Association.Scores, in the same order
	Pairs    []Association // at most Options.Top, the best first
	// Compared is the number of pairs that met the minimum counts, for which p-values and LRC are
	// corrected.
	Compared int
}

// Neighbours returns the words that are most strongly associated with a word of a matrix.
func Neighbours(r *cooccur.Reader, id int, o Options) (list *Associations, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if id < 0 || id >= r.Len() {
		return nil, fmt.Errorf("word %d of a matrix of %d: want 0 to %d", id, r.Len(), r.Len()-1)
	}
	m, err := newMatrix(r, o)
	if err != nil {
		return nil, err
	}
	return m.rank(context.Background(), id, id+1, true)
}

// Check returns an error if the matrix lacks what the options need.
func (o Options) Check(r *cooccur.Reader) error {
	_, err := newMatrix(r, o)
	return err
}

// Collocations returns the most strongly associated pairs of a whole matrix. With both sides each
// pair is listed once, the more frequent word first.
func Collocations(ctx context.Context, r *cooccur.Reader, o Options) (list *Associations, err error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	defer mmap.Recover(mmap.Guard(), &err)
	if o.Top <= 0 {
		o.Top = defaultCollocations
	}
	m, err := newMatrix(r, o)
	if err != nil {
		return nil, err
	}
	return m.rank(ctx, 0, r.Len(), m.side != cooccur.Both)
}

// matrix is a co-occurrence matrix with the options and the numbers that all pairs share.
type matrix struct {
	*cooccur.Reader
	Options
	side    cooccur.Side
	span, n float64 // S and N of the package comment
}

func newMatrix(r *cooccur.Reader, o Options) (*matrix, error) {
	made := r.Options()
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Top <= 0 {
		o.Top = defaultNeighbours
	}
	o.By = o.measures()
	m := &matrix{Reader: r, Options: o, side: made.Side, n: float64(r.Corpus().Kept)}
	for d := 1; d <= made.Window; d++ {
		if made.Weighting == cooccur.Count {
			m.span++
		} else {
			m.span += 1 / float64(d)
		}
	}
	if made.Side == cooccur.Both {
		m.span *= 2
	}
	for _, by := range o.By {
		if err := measureNames.Check(by); err != nil {
			return nil, err
		}
		if by.expects() && made.Window >= cooccur.MaxWindow {
			return nil, fmt.Errorf("%v compares with the value expected by chance in a window, and the window of this matrix is the whole "+
				"document: use logdice, dice or value", by)
		}
		if by.Tests() {
			if err := noTests(r, by.String()); err != nil {
				return nil, err
			}
		}
	}
	if o.P {
		if made.Window >= cooccur.MaxWindow {
			return nil, errors.New("p-values need a window, and that of this matrix is the whole document")
		}
		if err := noTests(r, "a p-value"); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// noTests returns an error for significance tests on values that are not counts.
func noTests(r *cooccur.Reader, what string) error {
	switch {
	case r.Options().Weighting != cooccur.Count:
		return fmt.Errorf("%s needs counts, and this matrix is weighted by distance, which allows no test of "+
			"significance: make it with cooccur.Options.Weighting=count, or use logdice, dice, mi, npmi, deltap or odds", what)
	case r.Corpus().Subsampled:
		return fmt.Errorf("%s needs counts, and this matrix is subsampled: make it without cooccur.Options.Subsample", what)
	}
	return nil
}

// candidate is a cell with the score by which it is ranked.
type candidate struct {
	id1, id2    uint32
	value, rank float64
}

// before reports whether a is listed before b.
func (a candidate) before(b candidate) bool {
	if a.rank != b.rank {
		return a.rank > b.rank
	}
	if a.id1 != b.id1 {
		return a.id1 < b.id1
	}
	return a.id2 < b.id2
}

// counts returns the counts of a cell.
func (m *matrix) counts(id1, id2 uint32, value float64) Counts {
	return Counts{O: value, F1: float64(m.Count(int(id1))), F2: float64(m.Count(int(id2))), Span: m.span, N: m.n}
}

// ranker keeps the best candidates of a worker, and the statistics of all.
type ranker struct {
	best     []candidate // a heap with the worst at the root
	far      *frontier   // of the current row
	compared int
	p        []float64
	err      error
}

// rank ranks the cells of rows: all of them, or only those on and right of the diagonal.
func (m *matrix) rank(ctx context.Context, from, to int, all bool) (*Associations, error) {
	by, tests := m.By[0], 0
	if by == LRC { // its scores depend on the number of pairs compared
		counting := *m
		counting.By, counting.P = []Measure{Value}, false
		list, err := counting.rank(ctx, from, to, all)
		if err != nil {
			return nil, err
		}
		tests = list.Compared
	}
	if by == LogDice {
		by = Dice // the same order, without a logarithm for each cell
	}
	workers := make([]ranker, m.Threads)
	each := func(n, grain int, fn func(k *ranker, lo, hi int) error) {
		par.For(m.Threads, n, grain, func(w, lo, hi int) {
			k := &workers[w]
			if k.err == nil {
				k.err = ctx.Err()
			}
			if k.err == nil {
				guard := mmap.Guard()
				defer mmap.Recover(guard, &k.err)
				k.err = fn(k, lo, hi)
			}
		})
	}
	if to-from == 1 { // threads share the cells of one row, which is long for a frequent word
		r, err := m.row(uint32(from), all)
		if err != nil {
			return nil, err
		}
		each(len(r.cols), 1<<15, func(k *ranker, lo, hi int) error {
			return m.rankCells(k, row{r.id, r.cols[lo:hi], r.values[lo:hi]}, by, tests)
		})
	} else {
		each(to-from, 64, func(k *ranker, lo, hi int) error {
			for id := from + lo; id < from+hi; id++ {
				r, err := m.row(uint32(id), all)
				if err == nil {
					err = m.rankCells(k, r, by, tests)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	one := ranker{}
	for _, w := range workers {
		if w.err != nil {
			return nil, w.err
		}
		one.best = append(one.best, w.best...)
		one.p = append(one.p, w.p...)
		one.compared += w.compared
	}
	slices.SortFunc(one.best, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(a.id1, b.id1), cmp.Compare(a.id2, b.id2))
	})
	one.best = one.best[:min(len(one.best), m.Top)]
	list := &Associations{Measures: m.By, Compared: one.compared, Pairs: make([]Association, len(one.best))}
	var adjust *adjusted
	if m.P {
		adjust = newAdjusted(one.p)
	}
	for i, c := range one.best {
		a := m.describe(c, one.compared)
		if adjust != nil {
			a.P = m.counts(c.id1, c.id2, c.value).PValue()
			a.Q, a.Bonferroni = adjust.Q(a.P), adjust.Bonferroni(a.P)
		}
		list.Pairs[i] = a
	}
	return list, nil
}

// row holds some or all cells of a row.
type row struct {
	id     uint32
	cols   []uint32
	values []float64
}

// row returns the cells of a row that are compared: all, or those on and right of the diagonal;
// none if the word is too rare.
func (m *matrix) row(id uint32, all bool) (r row, err error) {
	r.id = id
	if m.Count(int(id)) < m.MinFreq {
		return r, nil
	}
	r.cols, r.values, err = m.Row(int(id))
	if err == nil && !all {
		i := sort.Search(len(r.cols), func(i int) bool { return r.cols[i] >= id })
		r.cols, r.values = r.cols[i:], r.values[i:]
	}
	return r, err
}

// shortRow is the number of cells below which a frontier does not pay off.
const shortRow = 1024

// rankCells ranks cells in ascending order of columns.
func (m *matrix) rankCells(k *ranker, r row, by Measure, tests int) error {
	learns := len(r.cols) >= shortRow && !m.P
	if learns {
		if k.far == nil {
			k.far = new(frontier)
		}
		*k.far = frontier{}
	}
	for i, col := range r.cols {
		value, f2 := r.values[i], m.Count(int(col))
		if value < m.MinCount || f2 < m.MinFreq {
			continue
		}
		plain := learns && f2 != 0
		if plain && k.far.beyond(value, f2) {
			k.compared++
			continue
		}
		c := m.counts(r.id, col, value)
		if c.F1 == 0 || c.F2 == 0 {
			return fmt.Errorf("the words %q and %q co-occur, but one of them has frequency 0 in the vocabulary: "+
				"it may be that of another corpus", m.Word(int(r.id)), m.Word(int(col)))
		}
		k.compared++
		if m.P {
			k.p = append(k.p, c.PValue())
		}
		if !k.offer(candidate{r.id, col, value, by.Score(c, tests)}, m.Top) && plain {
			k.far.refuse(value, f2, k.best[0].rank, func(freq float64) float64 {
				c.F2 = freq
				return by.Score(c, tests)
			})
		}
	}
	return nil
}

// offer keeps a candidate if it is among the best so far.
func (k *ranker) offer(c candidate, top int) (kept bool) {
	h := k.best
	if len(h) < top {
		h = append(h, c)
		for i := len(h) - 1; i > 0; {
			up := (i - 1) / 2
			if !h[up].before(h[i]) {
				break
			}
			h[up], h[i] = h[i], h[up]
			i = up
		}
		k.best = h
		return true
	}
	if !c.before(h[0]) {
		return false
	}
	h[0] = c
	for i := 0; ; {
		down := 2*i + 1
		if down >= len(h) {
			return true
		}
		if down+1 < len(h) && h[down].before(h[down+1]) {
			down++
		}
		if !h[i].before(h[down]) {
			return true
		}
		h[i], h[down] = h[down], h[i]
		i = down
	}
}

func (m *matrix) describe(c candidate, tests int) Association {
	counts := m.counts(c.id1, c.id2, c.value)
	a := Association{ID1: int(c.id1), ID2: int(c.id2), Word1: string(m.Word(int(c.id1))),
		Word2: string(m.Word(int(c.id2))),
		Count: counts.O, F1: m.Count(int(c.id1)), F2: m.Count(int(c.id2)), Scores: make([]float64, len(m.By))}
	for i, by := range m.By {
		a.Scores[i] = by.Score(counts, tests)
	}
	return a
}
