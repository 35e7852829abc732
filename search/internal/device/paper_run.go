package device

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/search/internal/ask"
)

// expand computes the full document numbers of lists.
func (g *Index) expand(ids []int) error {
	t := &g.paper
	if t.expanded == nil {
		var err error
		if t.docs, err = gpu.Alloc[uint32](g.dev, int(g.pack.postings.size)+8); err != nil {
			return err
		}
		t.expanded = map[int]bool{}
	}
	k, err := g.dev.Kernel(paperSource, "thesis_expand")
	if err != nil {
		return err
	}
	st := g.pack
	for _, id := range ids {
		if t.expanded[id] && st.whole {
			continue
		}
		var x gpuTerm
		x.locate(&st.lists[id])
		buf, err := gpu.Alloc[gpuTerm](g.dev, 1)
		if err != nil {
			return err
		}
		err = buf.Upload(st.stream, []gpuTerm{x})
		if err == nil {
			err = st.stream.Launch(k, gpu.Grid(max(1, min(st.tiles/8, 1024)), 256), buf.Arg(),
				gpu.U32(uint32(st.tiles)), st.offsets.Arg(), st.more.Arg(), st.starts.Arg(),
				t.docs.Arg())
		}
		if err == nil {
			err = st.stream.Sync(context.Background())
		}
		if err = errors.Join(err, buf.Free()); err != nil {
			return err
		}
		t.expanded[id] = true
	}
	return nil
}

// atLeast replaces a buffer that is too small.
func atLeast[T any](dev *gpu.Device, b *gpu.Buffer[T], n int) (err error) {
	if b.Len() >= n {
		return nil
	}
	if err := b.Free(); err != nil {
		return err
	}
	*b = gpu.Buffer[T]{}
	*b, err = gpu.Alloc[T](dev, n)
	return err
}

// streams returns the number of streams of the batch: fewer if the keys of its blocks would take
// more than half of the free memory.
func (w *paperWork) streams() (int, error) {
	if w.schedule == ask.Synchronous {
		return 1, nil
	}
	n := min(len(w.plan), paperStreams)
	keys := &w.g.paper.keys
	if n*w.part <= keys[0].Len() {
		return n, nil
	}
	free, _, err := w.g.dev.MemInfo()
	for free += keys[0].Bytes() + keys[1].Bytes(); n > 1 && int64(n*w.part)*16 > free/2; n-- {
	}
	return n, err
}

// prepare allocates memory and streams, and uploads the plan.
func (w *paperWork) prepare(ctx context.Context, streams int) error {
	g, t := w.g, &w.g.paper
	for i := range w.plan {
		if w.merges(i) {
			w.plan[i].Out = uint64(i % streams * w.part)
		}
	}
	last := len(w.plan) - 1
	err := errors.Join(atLeast(g.dev, &t.keys[0], streams*w.part),
		atLeast(g.dev, &t.keys[1], streams*w.part),
		atLeast(g.dev, &t.found, w.found[last]+int(w.plan[last].K)),
		atLeast(g.dev, &t.queries, len(w.plan)), atLeast(g.dev, &t.terms, len(w.terms)),
		atLeast(g.dev, &t.bars, len(w.plan)), atLeast(g.dev, &t.done, len(w.plan)))
	if err != nil {
		return err
	}
	for len(t.streams) < streams {
		s, err := g.dev.NewStream()
		if err != nil {
			return err
		}
		t.streams = append(t.streams, s)
	}
	first := g.pack.stream
	return errors.Join(t.queries.Upload(first, w.plan), t.terms.Upload(first, w.terms),
		t.bars.Zero(first), t.done.Zero(first), first.Sync(ctx))
}

// run starts everything, waits, and reads the results.
func (w *paperWork) run(ctx context.Context) error {
	if len(w.plan) == 0 {
		return nil
	}
	g, t := w.g, &w.g.paper
	streams, err := w.streams()
	if err != nil {
		return err
	}
	if err := w.prepare(ctx, streams); err != nil {
		return err
	}
	from, err := g.dev.NewEvent()
	if err != nil {
		return err
	}
	defer from.Free()
	to, err := g.dev.NewEvent()
	if err != nil {
		return err
	}
	defer to.Free()
	if err := t.streams[0].Record(from); err != nil {
		return err
	}
	if w.schedule == ask.Synchronous {
		if err := w.match(t.streams[0], 0, len(w.plan), t.found); err != nil {
			return err
		}
	} else {
		for i := range w.plan {
			if err := w.one(t.streams[i%streams], i); err != nil {
				return err
			}
		}
		for i := 1; i < streams; i++ {
			if err := t.streams[i].Sync(ctx); err != nil {
				return err
			}
		}
	}
	if err := t.streams[0].Record(to); err != nil {
		return err
	}
	if err := t.streams[0].Sync(ctx); err != nil {
		return err
	}
	took, err := to.Since(from)
	if err != nil {
		return err
	}
	return w.read(ctx, took)
}

// one starts query i and its merges.
func (w *paperWork) one(s *gpu.Stream, i int) error {
	if !w.merges(i) {
		return w.match(s, i, i+1, w.g.paper.found)
	}
	if from, to := w.share.span(w.blocks[i]); from == to {
		found := w.g.paper.found.Slice(w.found[i], w.found[i]+int(w.plan[i].K))
		return found.Zero(s)
	}
	if err := w.match(s, i, i+1, w.g.paper.keys[0]); err != nil {
		return err
	}
	return w.mergeAll(s, i)
}

// match starts the queries [from, to).
func (w *paperWork) match(s *gpu.Stream, from, to int, outs gpu.Buffer[uint64]) error {
	g, st := w.g, w.g.pack
	plan, bars, done, blocks := g.paper.queries.Slice(from, to), g.paper.bars.Slice(from, to),
		g.paper.done.Slice(from, to), 0
	for _, b := range w.blocks[from:to] {
		blocks += b
	}
	first := w.plan[from].Block
	if w.share.of > 1 { // a single query
		begin, end := w.share.span(blocks)
		first, blocks = first+uint32(begin), end-begin
	}
	return s.Launch(w.kernel, gpu.GridShared(blocks, w.threads, w.shared), plan.Arg(),
		gpu.U32(uint32(to-from)), gpu.U32(first), g.paper.terms.Arg(),
		gpu.U32(uint32(g.s.Index.Docs())), w.lists().Arg(), st.tfs.Arg(), st.more.Arg(),
		st.lengths.Arg(), g.paper.maxima.all.Arg(),
		bars.Arg(), outs.Arg(), done.Arg())
}

// mergers are the kernels that merge lists of up to the given number of answers.
var mergers = [...]struct {
	most   int
	kernel string
}{{128, "thesis_merge4"}, {256, "thesis_merge8"}, {paperK, "thesis_merge32"}}

const (
	mergeThreads = 256
	mergeMost    = 64 // lists that a launch merges into one
)

// mergeEach returns the number of lists that a launch merges into one, such that all launches take
// about the same time, or two.
func mergeEach(lists int, pairs bool) int {
	if pairs {
		return 2
	}
	launches := max(1, math.Ceil(math.Log(float64(lists))/math.Log(mergeMost)-1e-9))
	return max(2, int(math.Ceil(math.Pow(float64(lists), 1/launches)-1e-9)))
}

// mergeLists returns the number of lists that a launch leaves.
func mergeLists(lists int, pairs bool) int {
	return (lists + mergeEach(lists, pairs) - 1) / mergeEach(lists, pairs)
}

// mergeAll merges the answers of a query's blocks, in pairs, many rounds per launch.
func (w *paperWork) mergeAll(s *gpu.Stream, i int) error {
	q, t := &w.plan[i], &w.g.paper
	k, at := int(q.K), int(q.Out)
	first, last := w.share.span(w.blocks[i])
	lists, in, begin := last-first, k, at+first*k
	kernel := w.merge[0]
	for j, m := range mergers {
		if kernel = w.merge[j]; w.kept[i] <= m.most {
			break
		}
	}
	for where := 0; ; where = 1 - where {
		n, out, distinct := mergeLists(lists, w.pairs[i]), w.kept[i], uint32(0)
		from := t.keys[where].Slice(begin, begin+lists*in)
		to := t.found.Slice(w.found[i], w.found[i]+k)
		if n > 1 {
			to = t.keys[1-where].Slice(at, at+n*out)
		} else if out = k; w.lossy[i] {
			distinct = 1
		}
		err := s.Launch(kernel, gpu.Grid(n, mergeThreads), from.Arg(), to.Arg(),
			gpu.U32(uint32(lists)), gpu.U32(uint32(mergeEach(lists, w.pairs[i]))),
			gpu.U32(uint32(in)), gpu.U32(uint32(out)), gpu.U32(distinct))
		if lists, in, begin = n, w.kept[i], at; err != nil || n == 1 {
			return err
		}
	}
}

// read downloads the results.
func (w *paperWork) read(ctx context.Context, took time.Duration) error {
	g, last := w.g, len(w.plan)-1
	keys := make([]uint64, w.found[last]+int(w.plan[last].K))
	if err := g.paper.found.Download(ctx, g.pack.stream, keys); err != nil {
		return err
	}
	done := make([]paperDone, len(w.plan))
	counts := g.paper.done.Slice(0, len(w.plan))
	if err := counts.Download(ctx, g.pack.stream, done); err != nil {
		return err
	}
	for i := range w.plan {
		q := &w.plan[i]
		hits := []ask.Hit{}
		for _, key := range keys[w.found[i] : w.found[i]+int(q.K)] {
			if key != 0 {
				hits = append(hits, hitOf(key))
			}
		}
		at := w.at[i]
		stats := ask.GPUStats{Items: w.blocks[i], Time: took}
		r := &ask.Result{Hits: hits, Stats: slotOf(w.queries[at]).statsWith(stats)}
		r.Stats.Scored, r.Stats.Entered = int64(done[i].Scored), int64(done[i].Entered)
		r.Stats.Parallel = &ask.ParallelStats{Threads: w.threads,
			Partition: ask.Partition(q.Partition), Size: int(q.Size), Partitions: int(q.Partitions),
			Policy: ask.Policy(q.Policy),
			Exact:  !w.lossy[i] && ask.Policy(q.Policy) != ask.SharedHalf}
		w.results[at] = r
	}
	return nil
}
