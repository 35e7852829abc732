package ongpu

import (
	"cmp"
	"context"
	"embed"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/dense"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/internal/par"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/nearest"
)

//go:embed kernels/*.ptx
var kernels embed.FS

var (
	nearSource   = gpu.SourceIn(kernels, "ongpu/near")
	matrixSource = gpu.SourceIn(kernels, "ongpu/matrix")
)

// As in the kernels.
const (
	tile          = 256  // documents that are sampled, or multiplied, together
	matrixQueries = 128  // queries of a block of near_matrix
	matrixThreads = 512  // and its threads
	selectThreads = 1024 // threads of near_select
)

// rooms say how many candidates a query has room for: at least so many, more if its k is large, and
// more if it is alone. A sample is half of that.
type rooms struct{ least, perHit, most, alone int }

// usual has room for what vectors of 768 dimensions need: of 8.8M documents, some thousand pass for
// a k of 10.
var usual = rooms{1 << 15, 1 << 10, 1 << 20, 1 << 17}

const (
	// mostK is the largest K for which there is room.
	mostK = 1 << 16
	// candidateBytes are the bytes of a candidate: document and product, both bounds, and the
	// result.
	candidateBytes = 8 + 4 + 4 + 8
	// sampleShare is the share of the room that candidates of the next pass may take, if bounds
	// were exact: those of vectors of 768 dimensions let some ten times as many pass.
	sampleShare = 8
	// mostScratch bounds the memory of a pass.
	mostScratch = 8 << 30
	// attempts is how often a pass is made for queries that had not enough room.
	attempts = 3
)

// query is a struct of the kernels; two others have so many bytes.
type query struct {
	scale, coded, rest, norm, rounding, least, gap float64
	metric, k                                      uint32
}

const (
	segmentBytes = 48
	testBytes    = 32
)

// Search implements nearest.OnDevice.
func (h *handle) Search(ctx context.Context, parts []nearest.Part, queries []*nearest.Query,
	wants []nearest.Want) (lists []nearest.List, reports []nearest.Report, err error) {
	lists, reports = make([]nearest.List, len(queries)), make([]nearest.Report, len(queries))
	parts = slices.DeleteFunc(slices.Clone(parts), func(p nearest.Part) bool {
		_, rows := p.Column.Rows(0, p.Column.Docs())
		return rows == 0
	})
	if len(queries) == 0 || len(parts) == 0 {
		return lists, reports, nil
	}
	g := h.g
	g.mu.Lock()
	defer g.mu.Unlock()
	p := pass{g: g, ctx: ctx, parts: parts, queries: queries, wants: slices.Clone(wants), lists: lists, reports: reports}
	p.count()
	var why string
	if p.on, why, err = h.bring(ctx, parts, p.bytes(1)); err != nil {
		return nil, nil, err
	}
	for _, c := range p.on {
		p.deepest = max(p.deepest, c.deepest)
	}
	var which []int
	for i := range queries {
		switch {
		case why != "":
			reports[i].Why = why
		case p.most(&wants[i]) > mostK:
			reports[i].Why = "on a GPU at most 65,536 vectors are the nearest"
		default:
			which = append(which, i)
		}
	}
	if len(which) == 0 {
		return lists, reports, nil
	}
	p.plan(which)
	if err := p.fit(); err != nil {
		return nil, nil, err
	}
	for range attempts {
		var again []int
		for some := range slices.Chunk(which, p.together) {
			err := g.session.Hold(ctx, func() error {
				if err := g.scratch.Reserve(g.session.Dev, p.bytes(len(some)), 0); err != nil {
					return err
				}
				left, err := p.answer(some)
				again = append(again, left...)
				return err
			})
			if err != nil {
				return nil, nil, err
			}
		}
		if which = again; len(which) == 0 {
			break
		}
	}
	for _, i := range which {
		if wants[i].Most > 0 && reports[i].Candidates > wants[i].Most {
			lists[i].Many = true
		} else {
			reports[i].Why = "too many documents are about as similar"
		}
	}
	return lists, reports, nil
}

// pass is a search in progress.
type pass struct {
	g       *group
	ctx     context.Context
	parts   []nearest.Part
	on      []*column
	bases   []uint32 // number of the first row of each part, among those of all
	rows    []int    // of each part
	total   int      // rows
	deepest int      // the most vectors that a document has: so many rows may stand for one
	queries []*nearest.Query
	wants   []nearest.Want
	lists   []nearest.List
	reports []nearest.Report

	stride, padded int // codes and numbers of a query
	room           int // candidates of each query
	sums           bool
	together       int   // queries of a pass
	steps          []int // of the passes: one tile of so many
	slots          int   // of the first pass, which keeps all
}

// count numbers the rows, which are the documents of the device.
func (p *pass) count() {
	f := p.parts[0].Column.Field()
	p.stride, p.padded = dense.Stride(f.Dim), dense.Padded(f.Dim)
	p.deepest = 1
	base := 0
	for _, part := range p.parts {
		_, rows := part.Column.Rows(0, part.Column.Docs())
		p.bases, p.rows = append(p.bases, uint32(base)), append(p.rows, rows)
		base += rows
	}
	p.total, p.room = base, min(p.g.rooms.least, p.slotsOf(1))
}

// most returns how many rows may stand for the K best documents.
func (p *pass) most(w *nearest.Want) int { return min(w.K*p.deepest, p.total) }

// plan decides how many candidates each query has room for, and how large samples are.
func (p *pass) plan(which []int) {
	k := 1
	for _, i := range which {
		k = max(k, p.most(&p.wants[i]))
	}
	p.room = min(max(p.g.rooms.least, p.g.rooms.perHit*k), p.g.rooms.most)
	if len(which) == 1 {
		p.room = max(p.room, p.g.rooms.alone)
	}
	p.room = min(p.room, p.slotsOf(1))
	if p.room == p.slotsOf(1) {
		p.steps = []int{1}
	} else {
		step := 2
		for p.slotsOf(step) > p.room/2 && step < p.slotsOf(1) {
			step += max(1, step/64)
		}
		p.steps = []int{step, 1}
		if k*step*sampleShare > p.room {
			between := int(math.Sqrt(float64(step)))
			p.steps = []int{step, max(2, between), 1}
		}
	}
	p.slots = min(p.room, p.slotsOf(p.steps[0]))
}

// slotsOf returns the number of documents in a sample of one tile of so many.
func (p *pass) slotsOf(step int) (n int) {
	for i := range p.parts {
		n += p.slotsIn(i, step)
	}
	return n
}

func (p *pass) slotsIn(part, step int) int {
	tiles := (p.rows[part] + tile - 1) / tile
	return (tiles + step - 1) / step * tile
}

// bytes returns the scratch memory for so many queries.
func (p *pass) bytes(queries int) int64 {
	padded := (queries + matrixQueries - 1) / matrixQueries * matrixQueries
	n := int64(queries) * int64(p.room*candidateBytes+4*p.padded+segmentBytes+testBytes+64+32)
	n += int64(padded) * int64(p.stride)
	for _, rows := range p.rows {
		n += int64(rows/8) + 512
	}
	return n + int64(len(p.parts))*segmentBytes + 32*256
}

// fit decides how many queries a pass has.
func (p *pass) fit() error {
	left, err := p.g.left()
	if err != nil {
		return err
	}
	left = min(left+p.g.scratch.Bytes(), mostScratch)
	p.together = mostTogether
	for p.together > 1 && p.bytes(p.together) > left {
		p.together /= 2
	}
	p.sums = true
	for _, c := range p.on {
		p.sums = p.sums && (c.summed || p.parts[0].Column.Field().Precision == fields.Int8)
	}
	return nil
}

// mostTogether is the largest number of queries of a pass.
const mostTogether = 1024

// answer answers some queries. It returns those that had not enough room, whose wants then have a
// better floor.
func (p *pass) answer(which []int) (again []int, err error) {
	g, n := p.g, len(which)
	j := g.session.Begin(p.ctx, g.stream, g.scratch.Arena, g.trace)
	asked := make([]query, n)
	padded := n
	if n > 1 {
		padded = (n + matrixQueries - 1) / matrixQueries * matrixQueries
	}
	codes, vectors := make([]int8, padded*p.stride), make([]float32, n*p.padded)
	for i, at := range which {
		q, w := p.queries[at].Numbers(), &p.wants[at]
		asked[i] = query{q.Scale, q.Coded, q.Rest, q.Norm, q.Rounding, w.Floor, w.Gap, uint32(q.Metric),
			uint32(p.most(w))}
		copy(codes[i*p.stride:], q.Codes)
		copy(vectors[i*p.padded:], q.Vector)
	}
	d := onDevice{p: p, j: j, n: n, queries: gpu.Put(j, asked), codes: gpu.Put(j, codes),
		segments: gpu.Make[byte](j, len(p.parts)*segmentBytes), tests: gpu.Make[byte](j, n*testBytes),
		bars: gpu.Make[float64](j, n), counts: gpu.Make[uint32](j, n), results: gpu.Make[uint32](j, n),
		list: gpu.Make[uint64](j, n*p.room), lows: gpu.Make[uint32](j, n*p.room),
		highs: gpu.Make[float32](j, n*p.room), summed: gpu.Make[uint64](j, n*p.room), total: gpu.Zeros[uint32](j, 1)}
	d.begin()
	j.Stage("copies")
	for i, step := range p.steps {
		last := i == len(p.steps)-1
		d.through(step, i == 0)
		j.Stage(fmt.Sprintf("one of %d tiles", step))
		d.bounds()
		d.choose(d.lows, d.counts, d.tests.Arg(), !last)
		j.Stage("bounds")
	}
	from, counts := d.list, d.counts
	answers, whose := d.summed, d.lows
	if p.sums {
		d.sum(gpu.Put(j, vectors))
		d.choose(d.lows, d.results, gpu.Null(), false)
		from, counts, answers = d.summed, d.results, d.list
		j.Stage("sums")
	}
	d.gather(from, counts, answers, whose)
	total := int(gpu.Get(j, d.total, 1)[0])
	found, summed, bars := gpu.Get(j, d.counts, n), gpu.Get(j, d.results, n), gpu.Get(j, d.bars, n)
	list, of := gpu.Get(j, answers, total), gpu.Get(j, whose, total)
	if err := j.End(); err != nil {
		return nil, err
	}
	hits := make([][]ask.Hit, n)
	for i, x := range list {
		hits[of[i]] = append(hits[of[i]], ask.Hit{Doc: uint32(x), Score: math.Float32frombits(uint32(x >> 32))})
	}
	short := make([]bool, n)
	for i, at := range which {
		p.reports[at] = nearest.Report{Candidates: int(found[i]), Summed: int(summed[i])}
		if len(p.steps) > 1 && int(found[i]) > p.room {
			p.wants[at].Floor = max(p.wants[at].Floor, bars[i])
			short[i] = true
			again = append(again, at)
		}
	}
	return again, p.finish(which, hits, bars, short)
}

// finish sorts the answers, which it sums if the device has not.
func (p *pass) finish(which []int, hits [][]ask.Hit, bars []float64, short []bool) error {
	threads := runtime.GOMAXPROCS(0)
	errs := make([]error, threads)
	par.For(threads, len(which), 1, func(worker, i, _ int) {
		if short[i] || errs[worker] != nil {
			return
		}
		at := which[i]
		hits[i] = p.documents(hits[i])
		if !p.sums {
			hits[i], errs[worker] = p.sumOnCore(p.queries[at], hits[i], bars[i])
			p.reports[at].Summed = len(hits[i])
		}
		slices.SortFunc(hits[i], func(a, b ask.Hit) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc))
		})
		if w := &p.wants[at]; (!p.sums || p.deepest > 1) && w.K > 0 && w.K <= len(hits[i]) {
			kth := float64(hits[i][w.K-1].Score)
			for w.Gap == 0 && float64(hits[i][len(hits[i])-1].Score) < kth {
				hits[i] = hits[i][:len(hits[i])-1]
			}
		}
		if most := p.wants[at].Most; most > 0 && len(hits[i]) > most {
			p.lists[at] = nearest.List{Many: true}
		} else {
			p.lists[at] = nearest.List{Hits: hits[i]}
		}
	})
	return cmp.Or(errs...)
}

// documents returns the documents of rows, each with the highest of their similarities.
func (p *pass) documents(rows []ask.Hit) []ask.Hit {
	for i := range rows {
		at, found := slices.BinarySearch(p.bases, rows[i].Doc)
		if !found {
			at--
		}
		part := &p.parts[at]
		rows[i].Doc = part.Base + uint32(part.Column.Doc(int(rows[i].Doc-p.bases[at])))
	}
	if p.deepest == 1 {
		return rows
	}
	slices.SortFunc(rows, func(a, b ask.Hit) int {
		return cmp.Or(cmp.Compare(a.Doc, b.Doc), cmp.Compare(b.Score, a.Score))
	})
	return slices.CompactFunc(rows, func(a, b ask.Hit) bool { return a.Doc == b.Doc })
}

// sumOnCore computes the similarities of documents, and keeps those that reach the bar.
func (p *pass) sumOnCore(q *nearest.Query, docs []ask.Hit, bar float64) (hits []ask.Hit, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	for n, h := range docs {
		if n&1023 == 0 {
			if err := p.ctx.Err(); err != nil {
				return nil, err
			}
		}
		at, _ := slices.BinarySearchFunc(p.parts, h.Doc, func(part nearest.Part, doc uint32) int {
			return cmp.Compare(int64(part.Base)+int64(part.Column.Docs())-1, int64(doc))
		})
		part := &p.parts[at]
		if h.Score, _, err = nearest.Similarity(q, part.Column, int(h.Doc-part.Base)); err != nil {
			return nil, err
		}
		if float64(h.Score) >= bar {
			hits = append(hits, h)
		}
	}
	return hits, nil
}

// onDevice has the buffers of a pass.
type onDevice struct {
	p *pass
	j *gpu.Job
	n int // queries

	queries         gpu.Buffer[query]
	codes           gpu.Buffer[int8]
	segments, tests gpu.Buffer[byte]
	bars            gpu.Buffer[float64]
	counts, results gpu.Buffer[uint32]
	list, summed    gpu.Buffer[uint64]
	lows            gpu.Buffer[uint32]
	highs           gpu.Buffer[float32]
	total           gpu.Buffer[uint32]
	admitted        []gpu.Buffer[uint64]
}

// begin writes what does not change, and brings the filters to the device.
func (d *onDevice) begin() {
	for i := range d.p.parts {
		part, c := &d.p.parts[i], d.p.on[i]
		rows := c.rows.ArgOrNull()
		if part.Column.Field().Precision == fields.Int8 {
			rows = c.codes.Arg()
		}
		d.j.Launch(nearSource, "near_segment", gpu.Grid(1, 32), d.segments.Arg(), gpu.U32(uint32(i)), c.codes.Arg(),
			c.scales.Arg(), c.rests.Arg(), c.norms.Arg(), rows, gpu.U32(d.p.bases[i]), gpu.U32(uint32(d.p.rows[i])))
		words := admitted(part)
		if words == nil {
			d.admitted = append(d.admitted, gpu.Buffer[uint64]{})
		} else {
			d.admitted = append(d.admitted, gpu.Put(d.j, words))
		}
	}
	d.j.Each(nearSource, "near_start", d.n, d.queries.Arg(), gpu.U32(uint32(d.n)), d.tests.Arg(), d.bars.Arg(),
		d.counts.Arg(), gpu.U32(uint32(d.p.slots)), d.results.Arg())
}

// admitted returns the bitmap of the rows that a part admits, nil for all.
func admitted(p *nearest.Part) []uint64 {
	if p.Column.Field().Many {
		return rowsWithin(p)
	}
	has := p.Column.All()
	if p.Within == nil || has == nil {
		if has == nil {
			return p.Within
		}
		return has
	}
	words := slices.Clone(has)
	for i := range words {
		words[i] &= p.Within[i]
	}
	return words
}

// rowsWithin returns the rows of admitted documents, which may have several or none.
func rowsWithin(p *nearest.Part) []uint64 {
	if p.Within == nil {
		return nil
	}
	_, rows := p.Column.Rows(0, p.Column.Docs())
	words := make([]uint64, (rows+63)/64)
	for d := range p.Column.Docs() {
		if p.Within[d/64]>>(d%64)&1 != 0 {
			for row, end := p.Column.Rows(d, d+1); row < end; row++ {
				words[row/64] |= 1 << (row % 64)
			}
		}
	}
	return words
}

// through goes through the documents, or a sample of them, of which all are kept.
func (d *onDevice) through(step int, all bool) {
	first, keeps := 0, uint32(0)
	if all {
		keeps = 1
	}
	for i := range d.p.parts {
		c := d.p.on[i]
		slots := d.p.slotsIn(i, step)
		args := func(q int, of ...gpu.Arg) []gpu.Arg {
			list := []gpu.Arg{c.codes.Arg(), c.scales.Arg(), c.rests.Arg(), c.norms.Arg(), gpu.U32(d.p.bases[i]),
				gpu.U32(uint32(d.p.rows[i])), gpu.U32(uint32(d.p.stride))}
			list = append(list, of...)
			return append(list, d.tests.Slice(q*testBytes, d.n*testBytes).Arg(),
				d.list.Slice(q*d.p.room, d.n*d.p.room).Arg(), d.counts.Slice(q, d.n).Arg(), gpu.U32(uint32(d.p.room)),
				d.admitted[i].ArgOrNull(), gpu.U32(uint32(step)), gpu.U32(keeps), gpu.U32(uint32(first)))
		}
		info := d.j.Stream.Device().Info()
		if d.n > 1 && (info.Major >= 8 || info.Emulated) {
			wide := (d.n + matrixQueries - 1) / matrixQueries
			d.j.Launch(matrixSource, "near_matrix", gpu.Grid(slots/tile*wide, matrixThreads),
				args(0, d.codes.Arg(), gpu.U32(uint32(d.n)))...)
		} else {
			blocks := min(slots/gpu.Threads, 8*max(1, info.Multiprocessors))
			for q := range d.n {
				d.j.Launch(nearSource, "near_one", gpu.Grid(blocks, gpu.Threads),
					args(q, d.codes.Slice(q*d.p.stride, (q+1)*d.p.stride).Arg())...)
			}
		}
		first += slots
	}
}

// grid is that of kernels that go through the candidates.
func (d *onDevice) grid() gpu.Dim {
	most := (d.p.room + gpu.Threads - 1) / gpu.Threads
	return gpu.Dim{Blocks: [3]int{min(most, max(8, 512/d.n)), d.n, 1}, Threads: [3]int{gpu.Threads, 1, 1}}
}

func (d *onDevice) bounds() {
	d.j.Launch(nearSource, "near_bounds", d.grid(), d.segments.Arg(), gpu.U32(uint32(len(d.p.parts))), d.queries.Arg(),
		d.list.Arg(), d.counts.Arg(), gpu.U32(uint32(d.p.room)), d.lows.Arg(), d.highs.Arg())
}

// choose finds the k-th best of some keys.
func (d *onDevice) choose(keys, counts gpu.Buffer[uint32], tests gpu.Arg, reset bool) {
	again := uint32(0)
	if reset {
		again = 1
	}
	d.j.Launch(nearSource, "near_select", gpu.Grid(d.n, selectThreads), d.queries.Arg(), keys.Arg(), counts.Arg(),
		gpu.U32(uint32(d.p.room)), d.bars.Arg(), tests, gpu.U32(again))
}

func (d *onDevice) sum(vectors gpu.Buffer[float32]) {
	c := d.p.parts[0].Column
	_, width, err := c.RowBytes(0, 0)
	d.j.Fail(err)
	d.j.Launch(nearSource, "near_sums", d.grid(), d.segments.Arg(), gpu.U32(uint32(len(d.p.parts))), d.queries.Arg(),
		vectors.Arg(), gpu.U32(uint32(d.p.padded/16)), gpu.U32(uint32(c.Field().Precision)), gpu.U32(uint32(width)),
		d.list.Arg(), d.counts.Arg(), gpu.U32(uint32(d.p.room)), d.highs.Arg(), d.bars.Arg(), d.summed.Arg(),
		d.results.Arg(), d.lows.Arg())
}

func (d *onDevice) gather(from gpu.Buffer[uint64], counts gpu.Buffer[uint32], answers gpu.Buffer[uint64],
	whose gpu.Buffer[uint32]) {
	sums := uint32(0)
	if d.p.sums {
		sums = 1
	}
	d.j.Launch(nearSource, "near_gather", d.grid(), from.Arg(), d.highs.Arg(), counts.Arg(), gpu.U32(uint32(d.p.room)),
		d.bars.Arg(), gpu.U32(sums), answers.Arg(), whose.Arg(), d.total.Arg())
}
