package impactdevice

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/search/internal/ask"
)

// As in impacts.cu.
const (
	threads = 256
	bins    = 2048
	sorts   = 4096
	// stateWords is the number of words before the answers.
	stateWords = 2
	// stateSize is the size of State, in words.
	stateSize = 4
	// mostLists is the maximum number of lists in tiles of a query.
	mostLists   = 512
	pickThreads = 1024
)

const (
	lanes = 3
	// laneRequests is the maximum number of requests of a launch, laneLists that of their lists.
	laneRequests = 256
	laneLists    = 1 << 15
	// mostAnswers is the maximum K, and leastRoom the least number of documents of a request that
	// are kept: those that reach its cut.
	mostAnswers = 1 << 14
	leastRoom   = 1 << 13
	// One tile of sampleEvery is in a sample, and at least sampleLeast are.
	sampleEvery = 32
	sampleLeast = 16
	// A single request is polled for that long, so many times between two looks at the clock.
	patience = time.Millisecond
	polls    = 64
)

// onDevice is Query in impacts.cu, listOnDevice is List.
type (
	onDevice     struct{ First, Plain, Tiled, K, Shift, Rank uint32 }
	listOnDevice struct {
		At        uint64
		Factor    int32
		N, Shift  uint32
		Alignment uint32
	}
)

// work is the capacity of a lane.
type work struct{ requests int }

// workOf returns the capacity that leaves most of a budget to lists.
func workOf(budget int64) work {
	w := work{1}
	for w.requests < laneRequests && (work{2 * w.requests}).bytes() < budget/4 {
		w.requests *= 2
	}
	return w
}

// bytes returns the size of all lanes.
func (w work) bytes() int64 {
	return lanes * (w.planBytes() + int64(w.requests)*(bins*4+8*stateSize) + w.room()*8)
}

func (w work) planBytes() int64 {
	return int64(w.requests)*int64(unsafe.Sizeof(onDevice{})) + laneLists*int64(unsafe.Sizeof(listOnDevice{}))
}

// room is the number of documents that a lane can keep.
func (w work) room() int64 { return max(int64(w.requests)*leastRoom, roomFor(mostAnswers)) }

// roomFor returns the number of documents of a request for k answers that are kept.
func roomFor(k int) int64 { return max(leastRoom, 4*int64(k)) }

// lane is a stream with the memory for a launch.
type lane struct {
	g      *Index
	work   work
	stream *gpu.Stream
	host   gpu.Pinned[byte] // the plan
	plan   gpu.Buffer[byte]
	bins   gpu.Buffer[uint32]
	states gpu.Buffer[uint64]
	found  gpu.Buffer[uint64]
	out    gpu.Pinned[uint64] // answers
	mapped gpu.Buffer[uint64] // the same on the device

	allowed gpu.Buffer[uint32] // documents within a filter, if one was used
	within  *docset.Set        // that filter, and its version
	version uint64

	marks []*gpu.Event // before each stage and after the last, while these are measured
}

// stages are the kernels of a launch, in order.
var stages = [...]string{"sample", "score", "pick"}

// mark records the time before a stage, if that is measured.
func (l *lane) mark(stage int) error {
	if l.marks == nil {
		return nil
	}
	return l.stream.Record(l.marks[stage])
}

func newLane(g *Index, w work) (l *lane, err error) {
	l = &lane{g: g, work: w}
	dev := g.st.dev
	if l.stream, err = dev.NewStream(); err != nil {
		return l, err
	}
	if l.host, err = gpu.AllocPinned[byte](dev, int(w.planBytes())); err != nil {
		return l, err
	}
	if l.plan, err = gpu.Alloc[byte](dev, int(w.planBytes())); err != nil {
		return l, err
	}
	if l.bins, err = gpu.Alloc[uint32](dev, w.requests*bins); err != nil {
		return l, err
	}
	if l.states, err = gpu.Alloc[uint64](dev, stateSize*w.requests); err != nil {
		return l, err
	}
	if l.found, err = gpu.Alloc[uint64](dev, int(w.room())); err != nil {
		return l, err
	}
	if err = errors.Join(l.bins.Zero(l.stream), l.states.Zero(l.stream)); err != nil {
		return l, err
	}
	return l, l.stream.Sync(context.Background())
}

func (l *lane) free() error {
	errs := []error{l.host.Free(), l.plan.Free(), l.bins.Free(), l.states.Free(), l.found.Free(),
		l.out.Free(), l.allowed.Free()}
	for _, e := range l.marks {
		errs = append(errs, e.Free())
	}
	if l.stream != nil {
		errs = append(errs, l.stream.Free())
	}
	return errors.Join(errs...)
}

// fits returns the end of the requests from the given one on that a launch can answer.
func (l *lane) fits(all []asked, from int) (to int) {
	lists, k := 0, 1
	for to = from; to < len(all) && to-from < l.work.requests; to++ {
		lists, k = lists+len(all[to].terms), max(k, all[to].k)
		if to > from && (lists > laneLists || int64(to+1-from)*roomFor(k) > l.work.room()) {
			break
		}
	}
	return to
}

// answer answers requests whose lists are on the device. Results of those that say why the cores
// must answer stay nil.
func (l *lane) answer(all []asked, found []*ask.Result) error {
	var which []int
	for i := range all {
		a := &all[i]
		switch {
		case a.fallback != "":
		case len(a.terms) == 0:
			found[i] = l.g.result(a, nil, 0)
		default:
			which = append(which, i)
		}
	}
	tiles := l.g.st.tiles
	sample := min(tiles, max(sampleLeast, tiles/sampleEvery))
	return l.stream.Do(func() error {
		for len(which) > 0 {
			again, err := l.launch(all, which, sample, found)
			if err != nil {
				return err
			}
			if sample == tiles { // these have too many documents with the same sum
				for _, i := range again {
					all[i].fallback = tooManyTies
				}
				return nil
			}
			which, sample = again, tiles
		}
		return nil
	})
}

// launch answers some of the requests. It returns those for which the sample was misleading.
func (l *lane) launch(all []asked, which []int, sample int, found []*ask.Result) (again []int, err error) {
	tiles := l.g.st.tiles
	room, k := roomFor(1), 1
	for _, i := range which {
		room, k = max(room, roomFor(all[i].k)), max(k, all[i].k)
	}
	stride := stateWords + min(k, sorts)
	if err := l.answers(stride * len(which)); err != nil {
		return nil, err
	}
	allowed, err := l.allow(all[which[0]].within)
	if err != nil {
		return nil, err
	}
	l.out.Values()[0] = unfinished
	queries, lists, size := l.write(all, which, sample)
	if err := l.plan.CopyIn(l.stream, l.host.Slice(0, size)); err != nil {
		return nil, err
	}
	n, t, base := gpu.U32(uint32(len(which))), gpu.U32(uint32(tiles)), l.g.st.arena.Arg()
	at, r := l.found.Arg(), gpu.U32(uint32(room))
	for i, x := range []struct {
		k       *gpu.Kernel
		blocks  int
		threads int
		args    []gpu.Arg
	}{
		{l.g.k.sample, sample * len(which), threads,
			[]gpu.Arg{lists, queries, n, t, gpu.U32(uint32(sample)), base, allowed, l.bins.Arg(), l.states.Arg()}},
		{l.g.k.score, tiles * len(which), threads,
			[]gpu.Arg{lists, queries, n, t, base, allowed, l.states.Arg(), at, r}},
		{l.g.k.pick, len(which), pickThreads,
			[]gpu.Arg{queries, l.states.Arg(), at, r, l.mapped.Arg(), gpu.U32(uint32(stride))}},
	} {
		if err := l.mark(i); err != nil {
			return nil, err
		}
		if err := l.stream.Launch(x.k, gpu.Grid(x.blocks, x.threads), x.args...); err != nil {
			return nil, err
		}
	}
	if err := l.mark(len(stages)); err != nil {
		return nil, err
	}
	if err := l.await(len(which)); err != nil {
		return nil, err
	}
	out := l.out.Values()
	for at, i := range which {
		a, mine := &all[i], out[at*stride:(at+1)*stride]
		cut, reached := uint32(mine[0]>>32), int(uint32(mine[0]))
		a.tiles = int(mine[1] >> 32)
		switch {
		case int64(reached) > room || reached < a.k && cut > 1:
			again = append(again, i)
		case reached > sorts:
			keys := make([]uint64, reached)
			if err := l.found.Slice(at*int(room), (at+1)*int(room)).Download(context.Background(), l.stream, keys); err != nil {
				return nil, err
			}
			found[i] = l.g.result(a, sorted(keys, a.k), reached)
		default:
			found[i] = l.g.result(a, mine[stateWords:stateWords+min(a.k, reached)], reached)
		}
	}
	return again, nil
}

// unfinished is no state: a cut is less.
const unfinished = 1<<64 - 1

// await waits for the answers to some requests. Polling the memory of a single one is some
// microseconds faster than asking the driver.
func (l *lane) await(requests int) error {
	if requests == 1 && l.marks == nil && !l.g.st.dev.Info().Emulated {
		for start := time.Now(); time.Since(start) < patience; {
			for range polls {
				if atomic.LoadUint64(&l.out.Values()[0]) != unfinished {
					return nil
				}
			}
		}
	}
	return l.stream.Sync(context.Background())
}

// write writes the plan of some requests, and returns where its parts are on the device, and its
// size.
func (l *lane) write(all []asked, which []int, sample int) (queries, lists gpu.Arg, size int) {
	begin := len(which) * int(unsafe.Sizeof(onDevice{}))
	plan := l.host.Values()
	to := unsafe.Slice((*onDevice)(unsafe.Pointer(&plan[0])), len(which))
	room := unsafe.Slice((*listOnDevice)(unsafe.Pointer(&plan[begin])), laneLists)
	n := 0
	for at, i := range which {
		a := &all[i]
		q := onDevice{First: uint32(n), K: uint32(a.k), Rank: rankIn(a.k, sample, l.g.st.tiles),
			Shift: uint32(max(0, bits.Len64(a.most)-bits.Len(bins-1)))}
		for _, tiled := range []bool{false, true} {
			for _, t := range a.terms {
				x := &l.g.st.lists[t.id]
				if x.tiled != tiled {
					continue
				}
				room[n] = listOnDevice{At: uint64(x.at), Factor: t.factor, N: x.n, Shift: uint32(x.shift)}
				if n++; tiled {
					q.Tiled++
				} else {
					q.Plain++
				}
			}
		}
		to[at] = q
	}
	size = begin + n*int(unsafe.Sizeof(listOnDevice{}))
	return l.plan.Arg(), l.plan.Slice(begin, size).Arg(), size
}

// rankIn returns the rank in a sample of the tiles that more than k documents should reach in all.
func rankIn(k, sample, tiles int) uint32 {
	if sample == tiles {
		return uint32(k)
	}
	expected := float64(k) * float64(sample) / float64(tiles)
	return uint32(math.Ceil(expected + 3*math.Sqrt(expected) + 3))
}

// answers makes room for n words of answers.
func (l *lane) answers(n int) (err error) {
	if len(l.out.Values()) >= n {
		return nil
	}
	if err = l.out.Free(); err != nil {
		return err
	}
	l.out = gpu.Pinned[uint64]{}
	if l.out, err = gpu.AllocPinned[uint64](l.g.st.dev, max(n, 1<<14)); err != nil {
		return err
	}
	l.mapped, err = l.out.OnDevice()
	return err
}

// allow returns the documents that may be answers, as the kernels want them.
func (l *lane) allow(within *docset.Set) (gpu.Arg, error) {
	live := l.g.e.Live
	if within == nil {
		return l.g.live.ArgOrNull(), nil
	}
	if l.within == within && l.version == within.Version() {
		return l.allowed.Arg(), nil
	}
	set, version := within, within.Version()
	if live != nil {
		set = within.Clone()
		set.And(live)
	}
	if l.allowed.Len() == 0 {
		var err error
		if l.allowed, err = gpu.Alloc[uint32](l.g.st.dev, 2*len(set.Words())); err != nil {
			return gpu.Null(), err
		}
	}
	if err := l.upload(l.allowed, set); err != nil {
		return gpu.Null(), err
	}
	l.within, l.version = within, version
	return l.allowed.Arg(), nil
}

// upload copies a set of documents.
func (l *lane) upload(to gpu.Buffer[uint32], set *docset.Set) error {
	words := set.Words()
	if len(words) == 0 {
		return nil
	}
	return to.Upload(l.stream, unsafe.Slice((*uint32)(unsafe.Pointer(&words[0])), 2*len(words)))
}
