package device

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	_ "embed"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
)

//go:embed kernels/thesis.ptx
var paperPTX string

var paperSource = gpu.NewSource("search/thesis", paperPTX)

// paperQuery is Query in thesis.cuh.
type paperQuery struct {
	Terms, First, K, Model         uint32
	Flags, Partition, Policy, Size uint32
	Partitions, Row, Block, Slice  uint32
	Slack, _                       uint32
	Margin                         float64 // hair
	Out                            uint64
}

// Flag in thesis.cuh.
const (
	paperAll = 1 << iota
	paperStart
	paperInsert
)

// paperDone is Done in thesis.cuh.
type paperDone struct{ Scored, Entered uint64 }

// The thesis' kernels keep one list per lane of a warp, and the k best in the shared memory of a
// block.
const (
	paperTerms = 32
	paperK     = 1024
)

// paperStore holds what the thesis' kernels need besides the index: the full document numbers of
// the lists in use.
type paperStore struct {
	docs     gpu.Buffer[uint32]
	expanded map[int]bool
	packed   packedLists
	// keys has what blocks found and the merged lists: a part for each stream.
	keys    [2]gpu.Buffer[uint64]
	found   gpu.Buffer[uint64] // the results of all queries
	queries gpu.Buffer[paperQuery]
	terms   gpu.Buffer[gpuTerm]
	bars    gpu.Buffer[uint32]
	done    gpu.Buffer[paperDone]
	maxima  paperMaxima
	streams []*gpu.Stream
}

func (t *paperStore) free() error {
	errs := []error{t.docs.Free(), t.packed.words.Free(), t.keys[0].Free(), t.keys[1].Free(),
		t.found.Free(), t.queries.Free(), t.terms.Free(), t.bars.Free(), t.done.Free(), t.maxima.all.Free()}
	for _, s := range t.streams {
		errs = append(errs, s.Free())
	}
	return errors.Join(errs...)
}

// searchPaper answers a request by parallel WAND or MaxScore.
func (g *Index) searchPaper(ctx context.Context, r ask.Request) (*ask.Result, error) {
	found, err := g.paperBatch(ctx, []ask.Request{r}, ask.Asynchronous, share{})
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// paperBatch answers requests that all name the same one of the thesis' algorithms. Asynchronous
// cuts each query into partitions and gives it a stream; Synchronous gives each query one block, in
// one launch.
func (g *Index) paperBatch(ctx context.Context, requests []ask.Request, schedule ask.Schedule,
	mine share) ([]*ask.Result, error) {
	for i := range requests {
		why := g.notByPaper(&requests[i])
		switch {
		case why == "" && requests[i].Algorithm == requests[0].Algorithm:
		case len(requests) > 1:
			return g.paperEach(ctx, requests, schedule, mine)
		default:
			found, err := g.onCPU(ctx, requests[i], why)
			return []*ask.Result{found}, err
		}
	}
	queries := make([]*eval.Query, len(requests))
	defer func() {
		for _, q := range queries {
			if q != nil {
				g.s.Release(q)
			}
		}
	}()
	for i, r := range requests {
		if p := r.Parallel; p != nil {
			if p.Size < 0 || p.Row < 0 || p.Slack < 0 {
				return nil, ask.Refuse(
					"search: partition size %d, %d in a row, slack %d: want 0 or more",
					p.Size, p.Row, p.Slack)
			}
			if err := p.Blocks.Check(); err != nil {
				return nil, fmt.Errorf("search: %w", err)
			}
		}
		r.Parallel = nil
		q, err := g.prepare(ctx, &r)
		if err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		queries[i] = q
		if len(q.Terms) > paperTerms || q.Heap.K > paperK {
			if len(requests) > 1 {
				return g.paperEach(ctx, requests, schedule, mine)
			}
			found, err := g.onCPU(ctx, requests[i], tooManyWords)
			return []*ask.Result{found}, err
		}
	}
	g.gate.Lock()
	defer g.gate.Unlock()
	w, err := g.newPaperWork(ctx, requests, queries, schedule, mine)
	if err != nil {
		return nil, fmt.Errorf("search: %v on the GPU: %w", requests[0].Algorithm, err)
	}
	if err := w.run(ctx); err != nil {
		return nil, fmt.Errorf("search: %v on the GPU: %w", requests[0].Algorithm, err)
	}
	return w.results, nil
}

// notByPaper returns the reason why the thesis' kernels cannot answer a request, or "".
func (g *Index) notByPaper(r *ask.Request) string {
	switch {
	case !paperAlgorithm(r.Algorithm):
		return noAlgorithm
	case g.unknown(r.Model) != "":
		return g.unknown(r.Model)
	case g.s.Live != nil || r.Within != nil || r.IsTree():
		return paperLimited
	}
	return ""
}

// paperEach is paperBatch for requests one by one, some of which the cores answer.
func (g *Index) paperEach(ctx context.Context, requests []ask.Request, schedule ask.Schedule,
	mine share) ([]*ask.Result, error) {
	found := make([]*ask.Result, len(requests))
	for i := range requests {
		one, err := g.paperBatch(ctx, requests[i:i+1], schedule, mine)
		if err != nil {
			return nil, err
		}
		found[i] = one[0]
	}
	return found, nil
}

// paperAlgorithm reports whether the thesis' kernels support an algorithm.
func paperAlgorithm(a ask.Algorithm) bool {
	return a == ask.WAND || a == ask.MaxScore || a == ask.BMW
}

// blockThreads returns the number of threads per block.
func blockThreads(p *ask.Parallel) int {
	if p == nil || p.Blocks.Threads == 0 {
		return 32
	}
	return p.Blocks.Threads
}

// paperBatches answers a batch by one of the thesis' schedules. Requests that name none of the
// thesis' algorithms are answered by Batch.
func (g *Index) paperBatches(ctx context.Context, requests iter.Seq[ask.Request], b ask.Batch,
	yield func(*ask.Result, error) bool) {
	var run []ask.Request
	answer := func() bool {
		some := run
		run = nil
		if len(some) == 0 {
			return true
		}
		if !paperAlgorithm(some[0].Algorithm) {
			ok := true
			keep := func(_ int, found *ask.Result) (*ask.Result, error) { return found, nil }
			Batch(ctx, g, slices.Values(some), ask.Batch{Threads: b.Threads, Engine: b.Engine},
				false, keep, func(r *ask.Result, err error) bool {
					ok = yield(r, err) && err == nil
					return ok
				})
			return ok
		}
		found, err := g.paperBatch(ctx, some, b.Schedule, share{})
		if err != nil {
			yield(nil, err)
			return false
		}
		for _, r := range found {
			if !yield(r, nil) {
				return false
			}
		}
		return true
	}
	for r := range requests {
		if len(run) > 0 && (run[0].Algorithm != r.Algorithm || len(run) == paperMost) && !answer() {
			return
		}
		run = append(run, r)
	}
	answer()
}

// paperWork is a batch in progress.
type paperWork struct {
	g        *Index
	requests []ask.Request
	queries  []*eval.Query
	at       []int // index of each query's request
	plan     []paperQuery
	terms    []gpuTerm
	lossy    []bool
	blocks   []int
	found    []int // offset of each query's results
	kept     []int // answers of a merged list
	pairs    []bool
	packed   bool // lists are compressed
	shared   int
	threads  int // per block
	all      int // number of all blocks
	part     int // keys per stream
	results  []*ask.Result

	kernel   *gpu.Kernel
	merge    [len(mergers)]*gpu.Kernel
	schedule ask.Schedule
	share    share
}

// share says which part of a query's blocks this device runs; the zero value means all.
type share struct{ part, of int }

// span returns the range of blocks of a query.
func (s share) span(blocks int) (from, to int) {
	if s.of <= 1 {
		return 0, blocks
	}
	return s.part * blocks / s.of, (s.part + 1) * blocks / s.of
}

func (g *Index) newPaperWork(ctx context.Context, requests []ask.Request, queries []*eval.Query,
	schedule ask.Schedule, mine share) (w *paperWork, err error) {
	w = &paperWork{g: g, requests: requests, queries: queries,
		results: make([]*ask.Result, len(requests)), schedule: schedule, share: mine}
	for i := range requests {
		p := requests[i].Parallel
		w.threads = max(w.threads, blockThreads(p))
		w.packed = w.packed || p != nil && p.Blocks.Compressed
	}
	name := requests[0].Algorithm.String()
	if w.threads > 32 {
		name += "_wide"
	}
	if w.kernel, err = w.kernelOf(name); err != nil {
		return nil, err
	}
	for i, m := range mergers {
		if w.merge[i], err = g.dev.Kernel(paperSource, m.kernel); err != nil {
			return nil, err
		}
	}
	var words []index.Term
	for i, q := range queries {
		q.Stats.Algorithm = requests[i].Algorithm
		if len(q.Terms) == 0 {
			w.results[i] = &ask.Result{Hits: []ask.Hit{}, Stats: slotOf(q).statsWith(ask.GPUStats{})}
			continue
		}
		for j := range q.Terms {
			words = append(words, q.Terms[j].Info)
		}
	}
	if err := w.bring(words); err != nil {
		return nil, err
	}
	for i := range queries {
		if len(queries[i].Terms) > 0 {
			w.add(i)
		}
	}
	if requests[0].Algorithm == ask.BMW {
		return w, w.bringMaxima()
	}
	return w, nil
}

// kernelOf returns a kernel for the lists of the batch.
func (w *paperWork) kernelOf(name string) (*gpu.Kernel, error) {
	if w.packed {
		return w.g.dev.Kernel(packedSource, "packed_"+name)
	}
	return w.g.dev.Kernel(paperSource, "thesis_"+name)
}

// bring brings the lists of the batch to the device.
func (w *paperWork) bring(words []index.Term) error {
	if w.packed {
		return w.g.bringPacked(words)
	}
	ids := make([]int, len(words))
	for i := range words {
		ids[i] = words[i].ID
	}
	if fits, err := w.g.pack.bring(ids); err != nil || !fits {
		return cmp.Or(err, errors.New(tooLargeToHold))
	}
	return w.g.expand(ids)
}

// lists returns the lists that the kernels read: document numbers, or compressed lists.
func (w *paperWork) lists() gpu.Buffer[uint32] {
	if w.packed {
		return w.g.paper.packed.words
	}
	return w.g.paper.docs
}

// add plans one query.
func (w *paperWork) add(i int) {
	q, p := w.queries[i], w.requests[i].Parallel
	if p == nil {
		p = &ask.Parallel{}
	}
	t := paperQuery{Terms: uint32(len(q.Terms)), First: uint32(len(w.terms)), K: uint32(q.Heap.K),
		Block: uint32(w.all), Margin: q.Margin,
		Partition: uint32(p.Partition), Policy: uint32(p.Policy), Size: uint32(p.Size),
		Row: uint32(p.Row), Partitions: 1}
	if p.Partition == ask.Documents {
		t.Partition = uint32(ask.Heterogeneous)
	}
	if p.Policy == ask.Early {
		t.Policy = uint32(ask.SharedFull)
	}
	if t.Size == 0 {
		t.Size = paperSize
	}
	if t.Row == 0 {
		t.Row = paperRow
	}
	if q.Mode == ask.And {
		t.Flags |= paperAll
		if p.Blocks.Start {
			t.Flags |= paperStart
		}
	}
	if p.Blocks.Insert {
		t.Flags |= paperInsert
	}
	t.Slack = uint32(p.Slack)
	longest := uint32(0)
	for j, l := range q.Lists {
		var x gpuTerm
		t.Model = x.set(l.Scorer)
		if id := q.Terms[j].Info.ID; w.packed {
			x.Pos, x.DF = uint64(w.g.paper.packed.at[id]), q.Terms[j].Info.DF
		} else {
			x.locate(&w.g.pack.lists[id])
		}
		x.Inverse = l.Scorer.Bound(l.Bound)
		longest = max(longest, x.DF)
		w.terms = append(w.terms, x)
	}
	if w.schedule == ask.Synchronous { // one block, all documents
		t.Partition, t.Row = uint32(ask.Heterogeneous), 1
	} else {
		t.Partitions = (longest + t.Size - 1) / t.Size
	}
	blocks := int((t.Partitions + t.Row - 1) / t.Row)
	t.Slice = min(128, max(1, t.Size)+31) &^ 31
	if w.schedule == ask.Synchronous {
		t.Slice = 128
	}
	if p.Blocks.Slice > 0 {
		t.Slice = uint32(p.Blocks.Slice)
	}
	for t.Slice*t.Terms > 2048 && t.Slice > 32 {
		t.Slice -= 32
	}
	at := 0
	if n := len(w.plan); n > 0 {
		at = w.found[n-1] + int(w.plan[n-1].K)
	}
	w.shared = max(w.shared, (roomFor(q.Heap.K)+1)*8+int(t.Terms*(t.Slice*9+4)))
	lossy, kept := ask.CutsDocuments(ask.Partition(t.Partition)), q.Heap.K
	if lossy { // a document may occur once for each word, and only one of these is kept in the end
		kept = min(kept*len(q.Terms), paperK)
	}
	if blocks == 1 && !lossy && w.share.of <= 1 {
		t.Out = uint64(at) // there is nothing to merge
	} else {
		w.part = max(w.part, blocks*q.Heap.K, mergeLists(blocks, p.Blocks.Pairs)*kept)
	}
	w.plan, w.at = append(w.plan, t), append(w.at, i)
	w.blocks, w.all = append(w.blocks, blocks), w.all+blocks
	w.found, w.lossy, w.kept = append(w.found, at), append(w.lossy, lossy), append(w.kept, kept)
	w.pairs = append(w.pairs, p.Blocks.Pairs)
}

// merges reports whether the results of query i must be merged.
func (w *paperWork) merges(i int) bool { return w.blocks[i] > 1 || w.lossy[i] || w.share.of > 1 }

// roomFor returns the power of two, at least 32, in which n keys are sorted.
func roomFor(n int) int {
	room := 32
	for room < n {
		room *= 2
	}
	return room
}
