package impactdevice

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/model"
)

//go:embed kernels/impacts.ptx
var impactsPTX string

var impactsSource = gpu.NewSource("search/impacts", impactsPTX)

// Why the cores answer a request.
const (
	otherModel   = "the index has weighted tokens, for which the device has only the model impact"
	allWords     = "on the device, weighted tokens are ranked by any of them, not by all"
	brokenWeight = "the device adds up whole weights only"
	largeSums    = "sums of 16,777,216 and more are not exact in 32 bits"
	largeWeights = "the device has weights of up to 16 bits"
	tooMany      = "more answers than the device can keep"
	tooManyTies  = "too many documents have the same score"
	manyWords    = "the device takes up to 512 weighted tokens"
	tooLarge     = "the lists do not fit together in the memory of the device"
	forCores     = "the device answers plain words"
)

// Index is an index of weighted tokens on a device.
type Index struct {
	e     *eval.Engine
	st    *store
	live  gpu.Buffer[uint32] // documents that were not deleted; empty if all are there
	lanes chan *lane
	made  []*lane
	k     kernels

	// gate is held for reading while queries run, and for writing while lists are loaded.
	gate sync.RWMutex
	// elsewhere answers requests of a batch that are not plain words.
	elsewhere func(context.Context, ask.Request) (*ask.Result, error)
	opening   []ask.GPUStage
}

type kernels struct{ sample, score, pick *gpu.Kernel }

func (k *kernels) load(dev *gpu.Device) error {
	for _, x := range []struct {
		to   **gpu.Kernel
		name string
	}{{&k.sample, "impacts_sample"}, {&k.score, "impacts_score"}, {&k.pick, "impacts_pick"}} {
		var err error
		if *x.to, err = dev.Kernel(impactsSource, x.name); err != nil {
			return err
		}
	}
	return nil
}

// open loads the index of an engine onto a device, which is closed with it. If its lists are there
// already, the device is theirs.
func open(ctx context.Context, e *eval.Engine, dev *gpu.Device, there *store,
	o ask.GPUOptions) (g *Index, err error) {
	g = &Index{e: e, lanes: make(chan *lane, lanes)}
	defer func() {
		if err != nil {
			err = fmt.Errorf("search: copy the index to the GPU: %w", err)
			if g.st == nil && there == nil {
				err = errors.Join(err, dev.Close())
			}
			err = errors.Join(err, g.Close())
			g = nil
		}
	}()
	start := time.Now()
	took := func(step string) {
		g.opening = append(g.opening, ask.GPUStage{Name: step, Time: time.Since(start)})
		start = time.Now()
	}
	if err = g.k.load(dev); err != nil {
		return g, err
	}
	took("kernels")
	budget, err := dev.Budget(o.Device.Memory)
	if err != nil {
		return g, err
	}
	docs := int64(e.Index.Docs())
	work := workOf(budget - 2*docs/8)
	if there != nil {
		there.users.Add(1)
		g.st = there
	} else {
		g.st, err = newStore(dev, e.Index, budget-work.bytes()-(lanes+1)*(docs/8+16))
		took("dictionary")
		if err == nil && g.st.whole {
			err = g.st.loadAll(ctx, o.Progress)
		}
		took("postings")
	}
	if err != nil {
		return g, err
	}
	if e.Live != nil {
		if g.live, err = gpu.Alloc[uint32](g.st.dev, 2*len(e.Live.Words())); err != nil {
			return g, err
		}
	}
	for i := range lanes {
		l, err := newLane(g, work)
		if l != nil {
			g.made = append(g.made, l)
			g.lanes <- l
		}
		if err != nil {
			return g, err
		}
		if i == 0 && e.Live != nil {
			if err = errors.Join(l.upload(g.live, e.Live), l.stream.Sync(ctx)); err != nil {
				return g, err
			}
		}
	}
	took("lanes")
	return g, nil
}

// Close frees what the index has on the device.
func (g *Index) Close() error {
	var errs []error
	for _, l := range g.made {
		errs = append(errs, l.free())
	}
	errs = append(errs, g.live.Free())
	if g.st != nil {
		errs = append(errs, g.st.release())
	}
	return errors.Join(errs...)
}

// asked is a request as the device needs it.
type asked struct {
	k        int
	terms    []term
	most     uint64 // the sum of the highest products
	postings int64
	blocks   int64
	within   *docset.Set
	tiles    int    // in which lists were added up, once it is answered
	fallback string // why the cores answer; then nothing else is set
}

type term struct {
	id     int
	factor int32
}

// plan looks up the words of a request.
func (g *Index) plan(r *ask.Request, room *eval.TermsRoom) (a asked, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if why := g.forCores(r); why != "" {
		return asked{fallback: why}, nil
	}
	a.k = min(cmp.Or(r.K, 10), max(1, g.e.Index.Docs()))
	a.within = r.Within.Of(g.e.Segment)
	terms, err := g.e.Terms(room, r)
	if err != nil {
		return a, err
	}
	if len(terms) > mostLists {
		return asked{fallback: manyWords}, nil
	}
	a.terms = make([]term, len(terms))
	for i := range terms {
		t := &terms[i]
		factor := int32(t.Weight)
		if float64(factor) != t.Weight {
			return asked{fallback: brokenWeight}, nil
		}
		a.terms[i] = term{t.Info.ID, factor}
		a.postings += int64(t.Info.DF)
		a.blocks += (int64(t.Info.DF) + 127) / 128
	}
	return a, nil
}

// forCores returns why the cores must answer a request, or "". They also report what is wrong
// with it.
func (g *Index) forCores(r *ask.Request) string {
	_, impact := g.e.ModelOf(r.Model).(model.Impact)
	switch {
	case r.IsTree():
		return forCores
	case r.Algorithm != ask.Auto && r.Algorithm != ask.Tiles, !impact:
		return otherModel
	case r.Mode != ask.Or:
		return allWords
	case r.K < 0 || r.K > mostAnswers:
		return tooMany
	}
	if r.Within.Check(g.e.Segments(), g.e.Segment, g.e.Index.Docs()) != nil {
		return forCores
	}
	return ""
}

// bounded sets the bound of the sums once the lists were loaded, or why the cores answer.
func (g *Index) bounded(a *asked) {
	a.most = 0
	for _, t := range a.terms {
		most := g.st.lists[t.id].most
		if most > mostWeight {
			*a = asked{fallback: largeWeights}
			return
		}
		a.most += uint64(t.factor) * uint64(most)
	}
	if a.most >= 1<<24 {
		*a = asked{fallback: largeSums}
	}
}

// enter makes sure that the lists of requests are on the device, until leave is called. It is false
// if they do not fit together.
func (g *Index) enter(ctx context.Context, all []asked) (fits bool, leave func(), err error) {
	if g.gate.RLock(); g.st.whole {
		return true, g.gate.RUnlock, nil
	}
	var ids []int
	for i := range all {
		for _, t := range all[i].terms {
			ids = append(ids, t.id)
		}
	}
	if g.st.there(ids) {
		return true, g.gate.RUnlock, nil
	}
	g.gate.RUnlock()
	g.gate.Lock()
	fits, err = g.st.bring(ctx, ids)
	if err != nil || !fits {
		g.gate.Unlock()
		return false, nil, err
	}
	return true, g.gate.Unlock, nil
}

// rooms are reused: a request alone would allocate 4 KB.
var rooms = sync.Pool{New: func() any { return new(eval.TermsRoom) }}

// Answer answers a request.
func (g *Index) Answer(ctx context.Context, r ask.Request) (*ask.Result, error) {
	room := rooms.Get().(*eval.TermsRoom)
	a, err := g.plan(&r, room)
	rooms.Put(room)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	if a.fallback != "" {
		return g.onCores(ctx, r, a.fallback)
	}
	var l *lane
	select {
	case l = <-g.lanes:
	case <-ctx.Done():
		return nil, fmt.Errorf("search: %w", ctx.Err())
	}
	defer func() { g.lanes <- l }()
	one := []asked{a}
	found, err := g.run(ctx, l, one)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	if found[0] == nil {
		return g.onCores(ctx, r, one[0].fallback)
	}
	return found[0], nil
}

// run answers requests that have the same documents to choose from. A result is nil if the cores
// must answer; then the request says why.
func (g *Index) run(ctx context.Context, l *lane, all []asked) (found []*ask.Result, err error) {
	found = make([]*ask.Result, len(all))
	for from := 0; from < len(all); {
		to := l.fits(all, from)
		fits, leave, err := g.enter(ctx, all[from:to])
		for ; err == nil && !fits && to > from+1; to = from + (to-from)/2 {
			fits, leave, err = g.enter(ctx, all[from:from+(to-from)/2])
		}
		if err != nil {
			return nil, err
		}
		if !fits {
			all[from].fallback = tooLarge
			from = to
			continue
		}
		for i := from; i < to; i++ {
			g.bounded(&all[i])
		}
		err = l.answer(all[from:to], found[from:to])
		leave()
		if err != nil {
			return nil, err
		}
		from = to
	}
	return found, nil
}

// onCores answers a request on the cores.
func (g *Index) onCores(ctx context.Context, r ask.Request, why string) (found *ask.Result, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if r.Parallel = nil; r.Algorithm == ask.Tiles {
		r.Algorithm = ask.Auto
	}
	if (r.IsTree() || r.Within != nil) && g.elsewhere != nil {
		found, err = g.elsewhere(ctx, r)
	} else {
		found, err = g.e.Search(ctx, &r)
	}
	if err == nil {
		found.Stats.GPU = &ask.GPUStats{Fallback: why}
	}
	return found, err
}

// result makes a result of keys in falling order: a sum and the complement of a document.
func (g *Index) result(a *asked, keys []uint64, candidates int) *ask.Result {
	hits := make([]ask.Hit, len(keys))
	for i, key := range keys {
		hits[i] = ask.Hit{Doc: ^uint32(key), Score: float32(key >> 32)}
	}
	return &ask.Result{Hits: hits, Stats: ask.Stats{Algorithm: ask.Tiles, Strategy: ask.GPUImpacts,
		Words: len(a.terms), Postings: a.postings, Blocks: a.blocks, Pruned: g.e.Index.Pruned(),
		GPU: &ask.GPUStats{Items: a.tiles, Candidates: candidates, Rescored: candidates}}}
}

// sorted sorts the documents that were found, and keeps the k best.
func sorted(keys []uint64, k int) []uint64 {
	slices.SortFunc(keys, func(a, b uint64) int { return cmp.Compare(b, a) })
	return keys[:min(k, len(keys))]
}
