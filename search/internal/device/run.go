package device

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/bits"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
)

// As in tiles.cu.
const (
	planThreads = 1024
	fewThreads  = 256
	manyThreads = 512
	planHold    = 4 // one block handles up to this many times planThreads tiles
	pickThreads = 512
	gpuBins     = 1024
)

// Dynamic shared memory of the adding kernels: sums, and buffered candidates.
const (
	fewShared  = (gpuTile+fewThreads)*4 + 896*8
	manyShared = gpuTile*4 + gpuBins*4
)

// kernels launches the kernels on the stream.
func (s *gpuSlot) kernels(m *gpuModel, queries int) error {
	if err := s.planItems(m, queries); err != nil {
		return err
	}
	if err := s.score(m, queries); err != nil {
		return err
	}
	return s.pick(queries)
}

// pickers returns the number of blocks that score the candidates of a query.
func (s *gpuSlot) pickers(queries int) int {
	sms := s.g.dev.Info().Multiprocessors
	switch {
	case queries > 1:
		return max(1, pickersPerSM*sms/queries)
	case s.p.queries[0].K > pickManyK:
		return max(1, sms/smsPerManyK)
	}
	return max(1, sms/smsPerFewK)
}

func (s *gpuSlot) planItems(m *gpuModel, queries int) error {
	g, st := s.g, s.g.pack
	parts := st.tiles/planThreads + 1
	if parts <= planHold && len(s.p.terms) <= planTerms*queries {
		parts = 1
	}
	dim := gpu.Grid(queries*parts, planThreads)
	return s.stream.Launch(g.k.plan, dim, s.plan.Arg(), gpu.U32(uint32(queries)),
		gpu.U32(uint32(st.tiles)), m.maxes.Arg(), st.more.Arg(), s.tables.Arg(), s.bounds.Arg(),
		s.order.Arg(), s.states.Arg())
}

func (s *gpuSlot) score(m *gpuModel, queries int) error {
	g, st := s.g, s.g.pack
	args := []gpu.Arg{s.plan.Arg(), gpu.U32(uint32(queries)), gpu.U32(uint32(st.tiles)),
		st.offsets.Arg(), m.codes.Arg(), st.starts.Arg(),
		s.tables.Arg(), s.bounds.Arg(), s.order.Arg(), s.states.Arg(), s.hists.Arg(), s.cands.Arg()}
	for kind, n := range s.p.kinds {
		dim := gpu.GridShared(g.k.manyResident, manyThreads, manyShared)
		if kind < len(g.k.one) {
			dim = gpu.GridShared(g.k.fewResident[kind], fewThreads, fewShared)
		}
		if n > 0 {
			if err := s.stream.Launch(g.k.add[kind], dim, args...); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *gpuSlot) pick(queries int) error {
	g, st := s.g, s.g.pack
	dim := gpu.Grid(queries*s.pickers(queries), pickThreads)
	return s.stream.Launch(g.k.pick, dim, s.plan.Arg(), gpu.U32(uint32(queries)),
		gpu.U32(uint32(st.tiles)), st.offsets.Arg(), st.tfs.Arg(),
		st.more.Arg(), st.lengths.Arg(), st.starts.Arg(), s.tables.Arg(), s.states.Arg(),
		s.hists.Arg(), s.cands.Arg(), s.keys.Arg(), s.outs.Arg())
}

// startGeneral starts strategy gpu-general. A single query is one graph: one call starts its copies
// and kernels.
func (s *gpuSlot) startGeneral(m *gpuModel, timed bool) error {
	p := &s.p
	p.write(s.host.Values())
	if len(p.queries) > 1 || s.g.x != nil { // a graph would outlive an excerpt
		return s.timed(timed, func() error { return s.record(m, len(p.queries), p.bytes, p.out) })
	}
	graph, err := s.graph(m)
	if err != nil {
		return err
	}
	return s.timed(timed, func() error { return s.stream.Replay(graph) })
}

// graph returns the graph for a single query.
func (s *gpuSlot) graph(m *gpuModel) (*gpu.Graph, error) {
	p := &s.p
	shape := gpuShape{m, max(512, 1<<bits.Len(uint(p.bytes-1))), p.out, p.queries[0].K > pickManyK,
		p.queries[0].Kind, len(p.terms) <= planTerms}
	if graph := s.graphs[shape]; graph != nil {
		return graph, nil
	}
	if len(s.graphs) >= maxGraphs {
		for k, x := range s.graphs {
			if err := x.Free(); err != nil {
				return nil, err
			}
			delete(s.graphs, k)
		}
	}
	graph, err := s.stream.Capture(func() error { return s.record(m, 1, shape.plan, shape.out) })
	if err != nil {
		return nil, err
	}
	s.graphs[shape] = graph
	return graph, nil
}

// record enqueues copies and kernels on the stream.
func (s *gpuSlot) record(m *gpuModel, queries, plan, out int) error {
	if err := s.plan.CopyIn(s.stream, s.host.Slice(0, plan)); err != nil {
		return err
	}
	if err := s.kernels(m, queries); err != nil {
		return err
	}
	return s.outs.CopyOut(s.stream, s.back.Slice(0, out))
}

// timed runs f between two events.
func (s *gpuSlot) timed(timed bool, f func() error) error {
	if !timed {
		return f()
	}
	if err := s.stream.Record(s.from); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	return s.stream.Record(s.to)
}

// result reads the result of query i. It returns false if the CPU must answer it.
func (s *gpuSlot) result(i int, stats *ask.GPUStats) ([]ask.Hit, bool) {
	q := &s.p.queries[i]
	out := s.back.Values()[q.Out:]
	n := uint32(out[0])
	*stats = ask.GPUStats{Candidates: int(out[0] >> 32), Items: int(out[1] >> 32),
		Rescored: int(uint32(out[1]))}
	if stats.Candidates > int(q.Cap) || n > q.K {
		return nil, false
	}
	hits := make([]ask.Hit, n)
	for i, key := range out[2 : 2+n] {
		hits[i] = hitOf(key)
	}
	return hits, true
}

// hitOf returns an answer as a hit.
func hitOf(key uint64) ask.Hit {
	return ask.Hit{Doc: ^uint32(key), Score: math.Float32frombits(uint32(key >> 32))}
}

// The reasons why the CPU answers a request that asked for the device: ask.GPUStats.Fallback.
const (
	tooManyWords   = "the query has more words or answers than the device supports"
	tooManyTies    = "more documents could enter the result than the device keeps"
	paperLimited   = "the thesis' algorithms on the device do not support filters or deleted documents"
	noAlgorithm    = "the device has no kernel for the algorithm"
	manyLeftOut    = "too many of the best documents are deleted or outside of the filter"
	overFields     = "the device does not support models over fields"
	noKernel       = "the device has no kernel for the model"
	lossyLengths   = "the device does not support variant lucene-lossy"
	tooLargeToHold = "the lists do not fit the memory of the device"
	guessedWrong   = "the threshold that the device guessed was too high"
)

// unknown returns the reason why the device does not support the model of a request, or "".
func (g *Index) unknown(m model.Model) string {
	if m == nil {
		return g.usual
	}
	return unknown(m)
}

// unknown returns the reason why the device does not support a model, or "". The kernels have the
// models that it lists; the cores answer any other, such as a new one.
func unknown(m model.Model) string {
	switch m := m.(type) {
	case nil, model.Boolean, model.Cosine, model.Dirichlet, model.DPH:
		return ""
	case model.BM25:
		if m.Variant == bm25.LuceneLossy {
			return lossyLengths
		}
		return ""
	case model.BM25F:
		return overFields
	}
	return noKernel
}

// search answers one request.
func (g *Index) search(ctx context.Context, r ask.Request) (*ask.Result, error) {
	if why := g.unknown(r.Model); why != "" {
		return g.onCPU(ctx, r, why)
	}
	if x, done := g.excerptFor(r.Within, askedAlone); x != nil {
		defer done()
		return x.searchIn(ctx, r)
	}
	trace, parallel := r.Trace, r.Parallel
	r.Parallel, r.Algorithm, r.Trace = nil, ask.Auto, false
	wanted, more := cmp.Or(r.K, 10), r
	within, ok := g.within(r.Within)
	if ok && wanted <= ask.MaxK {
		more.K, more.Within = min(g.withLeftOut(wanted, within), ask.MaxK), nil
	}
	prepared, err := g.prepare(ctx, &more)
	if err != nil {
		return nil, err
	}
	defer g.s.Release(prepared)
	r.Parallel = parallel
	q := slotOf(prepared)
	found, why, err := g.answerOne(ctx, &q, r.Model, trace)
	if err != nil {
		return nil, err
	}
	all := true
	if why == "" {
		if found.Hits, all = g.leaveOut(found.Hits, wanted, q.k, within); !all {
			why = manyLeftOut
		}
	}
	if why != "" {
		return g.onCPU(ctx, r, why)
	}
	return found, nil
}

// searchIn answers a request on an excerpt of the documents that it is limited to.
func (g *Index) searchIn(ctx context.Context, r ask.Request) (*ask.Result, error) {
	asked := r
	asked.Parallel, asked.Algorithm, asked.Trace = nil, ask.Auto, false
	q, err := g.prepareIn(ctx, &asked)
	if err != nil && !errors.Is(err, errManyWords) {
		return nil, err
	}
	why := tooLargeToHold
	var found *ask.Result
	if err == nil {
		if found, why, err = g.answerOne(ctx, &q, r.Model, r.Trace); err != nil {
			return nil, err
		}
	}
	if why != "" {
		return g.onCPU(ctx, r, why)
	}
	g.restore(found.Hits)
	return found, nil
}

// answerOne answers a query, or says why the device cannot. With trace it measures the time.
func (g *Index) answerOne(ctx context.Context, q *slotQuery, model model.Model,
	trace bool) (found *ask.Result, why string, err error) {
	q.stats.Algorithm = ask.Tiles
	if len(q.words) == 0 {
		return &ask.Result{Hits: []ask.Hit{}, Stats: q.statsWith(ask.GPUStats{})}, "", nil
	}
	if len(q.words) > maxGPUTerms || q.k > maxGPUK {
		return nil, tooManyWords, nil
	}
	s, err := g.slot(ctx)
	if err != nil {
		return nil, "", err
	}
	defer func() { g.slots <- s }()
	m, unlock, err := g.enterQueries(model, []slotQuery{*q})
	if err != nil {
		return nil, "", err
	}
	if m == nil {
		return nil, tooLargeToHold, nil
	}
	defer unlock()
	s.p.reset()
	s.p.add(m, q, s.limits.cap)
	err = s.stream.Do(func() error {
		if err := s.start(m, trace); err != nil {
			return err
		}
		if err := s.await(trace); err != nil { // some microseconds: checking ctx is not worthwhile
			return err
		}
		return s.finish(m)
	})
	if err != nil {
		return nil, "", err
	}
	var stats ask.GPUStats
	hits, ok := s.result(0, &stats)
	if !ok {
		return nil, tooManyTies, nil
	}
	if trace {
		if stats.Time, err = s.to.Since(s.from); err != nil {
			return nil, "", err
		}
	}
	q.stats.Strategy = s.by
	return &ask.Result{Hits: hits, Stats: q.statsWith(stats)}, "", nil
}

// statsWith returns the statistics of a query that the device answered.
func (q slotQuery) statsWith(s ask.GPUStats) ask.Stats {
	out := q.stats
	out.GPU = &s
	return out
}

// enter ensures that lists are on the device with their codes: unless ready says that nothing is
// missing, it loads those that list returns. It returns the codes and a function to call when the
// queries are answered; no codes if the lists do not fit.
func (g *Index) enter(model model.Model, ready func(*gpuModel) bool,
	list func() []int) (*gpuModel, func(), error) {
	key := codedAs(model)
	g.gate.RLock()
	if m := g.pack.find(key); m != nil && ready(m) {
		return m, g.gate.RUnlock, nil
	}
	g.gate.RUnlock()
	g.gate.Lock()
	m, err := g.pack.model(key)
	if err == nil && !ready(m) {
		ids := list()
		var fits bool
		if fits, err = g.pack.bring(ids); err == nil && !fits {
			g.gate.Unlock()
			return nil, nil, nil
		}
		if err == nil {
			err = m.encode(ids)
		}
	}
	if err != nil {
		g.gate.Unlock()
		return nil, nil, err
	}
	if g.x != nil { // lists never leave an excerpt, so other queries need not wait for these
		g.gate.Unlock()
		g.gate.RLock()
		return m, g.gate.RUnlock, nil
	}
	return m, g.gate.Unlock, nil
}

// enterIf is enter without loading: it returns no model if something is missing.
func (g *Index) enterIf(model model.Model, ready func(*gpuModel) bool) (*gpuModel, func()) {
	g.gate.RLock()
	if m := g.pack.find(codedAs(model)); m != nil && ready(m) {
		return m, g.gate.RUnlock
	}
	g.gate.RUnlock()
	return nil, nil
}

// enterQueries is enter for the lists of queries.
func (g *Index) enterQueries(model model.Model, queries []slotQuery) (*gpuModel, func(), error) {
	return g.enter(model, func(m *gpuModel) bool { return m.ready(queries) }, func() (ids []int) {
		for i := range queries {
			for _, w := range queries[i].words {
				ids = append(ids, w.id)
			}
		}
		return ids
	})
}

// ready reports whether all lists of the queries are on the device, with their codes.
func (m *gpuModel) ready(queries []slotQuery) bool {
	now := int64(0)
	if !m.st.whole {
		now = m.st.clock.Add(1)
	}
	for i := range queries {
		for _, w := range queries[i].words {
			if !m.st.lists[w.id].there || !m.coded[w.id] {
				return false
			}
			if now != 0 {
				m.st.lists[w.id].used.Store(now)
			}
		}
	}
	return true
}
