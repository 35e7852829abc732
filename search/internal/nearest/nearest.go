package nearest

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/dense"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/internal/par"
	"github.com/collocate/collocate/search/internal/ask"
)

// Part is one segment of an index.
type Part struct {
	Column *dense.Column
	Base   uint32   // number of its first document
	Within []uint64 // bitmap of the documents that are admitted; nil means all
}

// Want says which documents are wanted: those whose similarity is among the K best or, less Gap,
// reaches that of the K-th best; and in any case at least Floor. More than Most are not listed, nor
// need they be if so many vectors seem to be of wanted documents; 0 means that all are.
type Want struct {
	K     int
	Floor float64
	Gap   float64
	Most  int
}

// List holds the wanted documents of a query, best first, or says that they are more than Most.
type List struct {
	Hits []ask.Hit
	Many bool
}

// Merge returns the documents that are wanted for any of several queries with the same Want, each
// with its highest similarity. One that is more similar to a query whose list does not have it
// keeps the lower similarity of the other list. It is not wanted for all queries together, either:
// K documents are more similar than that by more than Gap, or it does not reach Floor.
func Merge(lists []List) (all List) {
	if len(lists) == 1 {
		return lists[0]
	}
	most := map[uint32]float32{}
	for _, list := range lists {
		all.Many = all.Many || list.Many
		for _, h := range list.Hits {
			if s, known := most[h.Doc]; !known || h.Score > s {
				most[h.Doc] = h.Score
			}
		}
	}
	for doc, s := range most {
		all.Hits = append(all.Hits, ask.Hit{Doc: doc, Score: s})
	}
	sortHits(all.Hits)
	return all
}

func sortHits(hits []ask.Hit) {
	slices.SortFunc(hits, func(a, b ask.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc))
	})
}

// Everything is a Floor that every document reaches.
var Everything = math.Inf(-1)

// Best returns the Want of the k documents with the most similar vectors. Others with the same
// similarity as the last of them are listed, too. Documents without a vector are none of them.
func Best(k int) Want { return Want{K: k, Floor: Everything} }

// Similarity returns the similarity of a query and a document, which has a vector, and which of its
// vectors it is, from 0: the first of the most similar ones.
func Similarity(q *Query, c *dense.Column, doc int) (most float32, which int, err error) {
	var buffer []float32
	from, to := c.Rows(doc, doc+1)
	for row := from; row < to; row++ {
		x, err := c.Vector(row, buffer)
		if err != nil {
			return 0, 0, err
		}
		if s := q.exact(x, c.Norm(row)); row == from || s > most {
			most, which = s, row-from
		}
		if c.Field().Precision != fields.Float32 {
			buffer = x
		}
	}
	return most, which, nil
}

// chunkDocs is the number of documents that a worker takes at a time.
const chunkDocs = 128 * block

// job is a search in progress.
type job struct {
	ctx     context.Context
	parts   []Part
	queries []*Query
	codes   []int8  // of all queries, and zeros up to a multiple of group
	sums    []int32 // of the codes
	stride  int
	wants   []Want
	chunks  []chunk
	next    atomic.Int64
	many    []atomic.Bool   // by query: more documents are wanted than Most
	left    atomic.Int64    // queries of which that is not so
	floors  []atomic.Uint64 // by query: bits of the k-th best lower bound that a worker knows
}

type chunk struct{ part, from, to int }

// Search returns the wanted documents of each query. All queries go through the documents at once.
func Search(ctx context.Context, parts []Part, queries []*Query, wants []Want, threads int) ([]List, error) {
	if len(queries) == 0 {
		return nil, nil
	}
	j := &job{ctx: ctx, parts: parts, queries: queries, wants: wants, many: make([]atomic.Bool, len(queries)),
		floors: make([]atomic.Uint64, len(queries))}
	j.left.Store(int64(len(queries)))
	j.stride = len(queries[0].codes)
	n := (len(queries) + group - 1) / group * group
	j.codes, j.sums = make([]int8, n*j.stride), make([]int32, n)
	for i, q := range queries {
		copy(j.codes[i*j.stride:], q.codes)
		j.sums[i] = q.sum
		j.floors[i].Store(math.Float64bits(math.Inf(-1)))
	}
	for p := range parts {
		docs := parts[p].Column.Docs()
		for from := 0; from < docs; from += chunkDocs {
			j.chunks = append(j.chunks, chunk{p, from, min(from+chunkDocs, docs)})
		}
	}
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	threads = max(1, min(threads, len(j.chunks)))
	workers := make([]*worker, threads)
	errs := make([]error, threads)
	par.Do(threads, func(i int) {
		workers[i] = newWorker(j)
		errs[i] = workers[i].run()
	})
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	lists := make([]List, len(queries))
	par.For(threads, len(queries), 1, func(worker, lo, hi int) {
		for i := lo; i < hi && errs[worker] == nil; i++ {
			lists[i], errs[worker] = j.finish(workers, i)
		}
	})
	return lists, cmp.Or(errs...)
}

// finish returns the wanted documents of a query from the candidates of all workers.
func (j *job) finish(workers []*worker, query int) (list List, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if j.many[query].Load() {
		return List{Many: true}, nil
	}
	q, want := j.queries[query], &j.wants[query]
	var hits []ask.Hit
	var lows lows
	for _, w := range workers {
		for _, low := range w.seekers[query].lows {
			lows.add(low, want.K)
		}
	}
	reach := want.bar(lows.worst(want.K))
	var buffer []float32
	for _, w := range workers {
		for n, c := range w.seekers[query].found {
			if n&1023 == 0 {
				if err := j.ctx.Err(); err != nil {
					return list, err
				}
			}
			if c.high < reach {
				continue
			}
			p := &j.parts[c.part]
			row := int(c.row)
			x, err := p.Column.Vector(row, buffer)
			if err != nil {
				return list, err
			}
			if p.Column.Field().Precision != fields.Float32 {
				buffer = x
			}
			s := q.exact(x, p.Column.Norm(row))
			if float64(s) < reach {
				continue
			}
			// The rows of a document are one after the other.
			doc := p.Base + uint32(p.Column.Doc(row))
			if last := len(hits) - 1; last >= 0 && hits[last].Doc == doc {
				hits[last].Score = max(hits[last].Score, s)
				continue
			}
			hits = append(hits, ask.Hit{Doc: doc, Score: s})
		}
	}
	sortHits(hits)
	if want.Most > 0 && len(hits) > want.Most {
		return List{Many: true}, nil
	}
	return List{Hits: hits}, nil
}

// bar returns the similarity that wanted documents have at least, given the k-th best.
func (w *Want) bar(kth float64) float64 {
	if w.Gap > 0 {
		kth -= w.Gap + margin*math.Abs(kth) // Gap is rounded
	}
	return max(w.Floor, kth)
}

// lows is a heap of the k best lower bounds, the worst on top.
type lows []float64

func (l lows) worst(k int) float64 {
	if len(l) < k || k == 0 {
		return math.Inf(-1)
	}
	return l[0]
}

// add adds a bound if it is among the k best.
func (l *lows) add(x float64, k int) {
	h := *l
	if len(h) < k {
		h = append(h, x)
		for i := len(h) - 1; i > 0 && h[(i-1)/2] > h[i]; i = (i - 1) / 2 {
			h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
		}
		*l = h
		return
	}
	if k == 0 || x <= h[0] {
		return
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1] < h[child] {
			child++
		}
		if h[child] >= x {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = x
}

// seeker is what a worker knows of a query.
type seeker struct {
	lows  lows
	doc   uint32  // whose lower bound is low; of several rows it has the highest
	low   float64 // not yet among lows; -Inf if there is none
	found []candidate
	kth   float64 // the k-th best lower bound
	test  test
	limit int // of candidates, before those are dropped that others have outdone
}

type candidate struct {
	high float64 // the similarity is at most that
	row  uint32
	part uint32
}

type worker struct {
	j       *job
	seekers []seeker
	tile    tile
	out     [group][block]int32
	docs    []uint32 // rows of the current block, relative to the chunk
	// Of the rows of the current chunk, if its documents may have several: their documents, and the
	// bitmap of those that are admitted.
	owners   []uint32
	admitted []uint64
	// The numbers of the current block, if its documents are not consecutive.
	scales, rests, norms [block]float32
}

// A query has room for so many candidates before it drops some; those of a batch share it.
const (
	firstLimit = 4096
	leastLimit = 64
)

func newWorker(j *job) *worker {
	w := &worker{j: j, seekers: make([]seeker, len(j.queries)), docs: make([]uint32, 0, block)}
	if hasTiles && len(j.queries) >= group/2 {
		w.tile = make(tile, block*j.stride/4)
	}
	for i, q := range j.queries {
		s := &w.seekers[i]
		s.kth, s.low = math.Inf(-1), math.Inf(-1)
		s.limit = max(firstLimit/len(j.queries), leastLimit) + 4*j.wants[i].K
		s.test = q.test(j.wants[i].bar(s.kth))
	}
	return w
}

func (w *worker) run() (err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	for {
		i := int(w.j.next.Add(1)) - 1
		if i >= len(w.j.chunks) || w.j.left.Load() == 0 {
			return nil
		}
		if err := w.j.ctx.Err(); err != nil {
			return err
		}
		if err := w.chunk(w.j.chunks[i]); err != nil {
			return err
		}
	}
}

// dense blocks have at least so many admitted documents. All their documents are multiplied, which
// is faster than choosing them: see TestTuningOfBlocks in the package's benchmarks.
const denseBlock = 48

// chunk goes through some documents of a segment.
func (w *worker) chunk(c chunk) error {
	p := &w.j.parts[c.part]
	first, end := p.Column.Rows(c.from, c.to)
	v, err := p.Column.Parts(first, end)
	if err != nil {
		return err
	}
	all := p.Column.All()
	base := uint32(first)
	w.docs = w.docs[:0]
	w.own(p, c)
	for at := first; at < end; at += block {
		from := at - first
		word := ^uint64(0)
		switch {
		case w.owners != nil:
			word = w.admitted[from/block]
		case p.Within != nil:
			word = p.Within[at/block]
		}
		if all != nil && w.owners == nil {
			word &= all[at/block]
		}
		n := min(block, end-at)
		if n < block {
			word &= 1<<n - 1
		}
		if word == 0 {
			continue
		}
		if n == block && bits.OnesCount64(word) >= denseBlock {
			if w.owners != nil && len(w.docs) > 0 { // the rows of a document stay together
				w.few(&v, base, c.part)
			}
			var ids [block]uint32
			for i := range ids {
				ids[i] = uint32(from + i)
			}
			w.block(&v, ids[:], v.Scales[from:from+block], v.Rests[from:from+block],
				v.Norms[from:from+block], word, base, c.part)
			continue
		}
		for ; word != 0; word &= word - 1 {
			d := from + bits.TrailingZeros64(word)
			k := len(w.docs)
			w.docs = append(w.docs, uint32(d))
			w.scales[k], w.rests[k], w.norms[k] = v.Scales[d], v.Rests[d], v.Norms[d]
			if len(w.docs) == block {
				w.few(&v, base, c.part)
			}
		}
	}
	if len(w.docs) > 0 {
		w.few(&v, base, c.part)
	}
	if w.owners != nil {
		for i := range w.seekers {
			w.seekers[i].end(w.j.wants[i].K)
		}
	}
	return nil
}

// own notes the documents of the rows of a chunk, if they may have several.
func (w *worker) own(p *Part, c chunk) {
	if !p.Column.Field().Many {
		w.owners = nil
		return
	}
	first, end := p.Column.Rows(c.from, c.to)
	w.owners = slices.Grow(w.owners[:0], end-first+1)
	w.admitted = slices.Grow(w.admitted[:0], (end-first)/block+1)[:(end-first)/block+1]
	clear(w.admitted)
	for d := c.from; d < c.to; d++ {
		_, to := p.Column.Rows(d, d+1)
		within := p.Within == nil || p.Within[d/block]>>(d%block)&1 != 0
		for row := len(w.owners); row < to-first; row++ {
			w.owners = append(w.owners, uint32(d))
			if within {
				w.admitted[row/block] |= 1 << (row % block)
			}
		}
	}
}

// few goes through the documents that were chosen.
func (w *worker) few(v *dense.Parts, base uint32, part int) {
	n := len(w.docs)
	for i := n; i < block; i++ {
		w.scales[i], w.rests[i], w.norms[i] = 0, 0, 0
	}
	w.block(v, w.docs, w.scales[:], w.rests[:], w.norms[:], ^uint64(0)>>(block-n), base, part)
	w.docs = w.docs[:0]
}

// block goes through up to 64 documents, those of the mask.
func (w *worker) block(v *dense.Parts, docs []uint32, scales, rests, norms []float32, mask uint64, base uint32, part int) {
	j := w.j
	take := func(i int, out *[block]int32) {
		s := &w.seekers[i]
		found := reach(out, scales, rests, norms, block, &s.test) & mask
		for ; found != 0; found &= found - 1 {
			at := bits.TrailingZeros64(found)
			low, high := j.queries[i].between(out[at], scales[at], rests[at], norms[at])
			w.add(i, low, docs[at], candidate{high, base + docs[at], uint32(part)})
		}
	}
	if w.tile == nil {
		for i, q := range j.queries {
			dots(q.codes, q.sum, v.Codes, docs, &w.out[0])
			take(i, &w.out[0])
		}
		return
	}
	words := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(v.Codes))), len(v.Codes)/4)
	if n := len(docs); n == block && docs[n-1]-docs[0] == block-1 {
		w.tile.fill(words[int(docs[0])*j.stride/4:], j.stride, n)
	} else {
		for i, d := range docs {
			w.tile[i:].fill(words[int(d)*j.stride/4:], j.stride, 1)
		}
	}
	for i := 0; i < len(j.queries); i += group {
		tileKernel(&w.tile[0], &j.codes[i*j.stride], j.stride, &j.sums[i], &w.out[0][0])
		for k := i; k < min(i+group, len(j.queries)); k++ {
			take(k, &w.out[k-i])
		}
	}
}

// add adds a candidate of a query, a row of the current chunk.
func (w *worker) add(query int, low float64, row uint32, c candidate) {
	s, j := &w.seekers[query], w.j
	want := &j.wants[query]
	if c.high < want.bar(s.kth) || j.many[query].Load() {
		return
	}
	s.found = append(s.found, c)
	before := s.kth
	if w.owners == nil {
		s.lows.add(low, want.K)
	} else {
		s.lower(w.owners[row], low, want.K)
	}
	if worst := s.lows.worst(want.K); worst > s.kth {
		s.kth = worst
		raise(&j.floors[query], worst)
	}
	if known := math.Float64frombits(j.floors[query].Load()); known > s.kth {
		s.kth = known
	}
	if s.kth > before {
		s.test = j.queries[query].test(want.bar(s.kth))
	}
	if len(s.found) < s.limit {
		return
	}
	bar := want.bar(s.kth)
	s.found = slices.DeleteFunc(s.found, func(c candidate) bool { return c.high < bar })
	if want.Most > 0 && len(s.found) > want.Most {
		if !j.many[query].Swap(true) {
			j.left.Add(-1)
		}
		s.test, s.found = test{theta: float32(math.Inf(1))}, nil
	}
	s.limit = max(s.limit, 2*len(s.found))
}

// lower adds a lower bound of a row of a document, of which the highest counts once.
func (s *seeker) lower(doc uint32, low float64, k int) {
	if s.doc != doc {
		s.end(k)
	}
	s.doc, s.low = doc, max(s.low, low)
}

// end adds the lower bound of the last document, if there is one.
func (s *seeker) end(k int) {
	if !math.IsInf(s.low, -1) {
		s.lows.add(s.low, k)
		s.low = math.Inf(-1)
	}
}

// raise raises a shared number.
func raise(to *atomic.Uint64, x float64) {
	for {
		old := to.Load()
		if math.Float64frombits(old) >= x || to.CompareAndSwap(old, math.Float64bits(x)) {
			return
		}
	}
}
