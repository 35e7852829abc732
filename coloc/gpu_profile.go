package coloc

import (
	"errors"
	"slices"

	"github.com/collocate/collocate/internal/gpu"
)

// gpuUniverse is a set of up to 64 features and the places restricted to them, as universe and the
// root table are on the CPU. Bits are in the order of features.
type gpuUniverse struct {
	s        *gpuScene
	features []int32
	bit      []uint32 // by feature; 64 if it is not in the universe
	pairs    []uint64 // by bit: the bits with which it is a prevalent pair
	need     []uint64 // by bit: the least number of participating points that is prevalent
	root     uint64   // the bit that all patterns have; 0 means none
	columns  gpuColumns
}

// gpuColumns has the classes as bit columns; see kernels/lattice.cu.
type gpuColumns struct {
	bits, first, words gpu.Buffer[uint32]
	kind               gpu.Buffer[quadKind]
	width              uint32 // number of features
}

func (c *gpuColumns) args() []gpu.Arg {
	return []gpu.Arg{c.bits.Arg(), c.first.Arg(), c.words.Arg(), c.kind.Arg(), gpu.U32(c.width)}
}

func newGPUUniverse(s *gpuScene, fg *featureGraph, total []int64, features []int32, root int32,
	minPrev float64) *gpuUniverse {
	u := &gpuUniverse{s: s, features: features, bit: make([]uint32, len(total)),
		pairs: make([]uint64, len(features)), need: make([]uint64, len(features))}
	for f := range u.bit {
		u.bit[f] = 64
	}
	for b, f := range features {
		u.bit[f] = uint32(b)
		u.need[b] = uint64(leastCount(total[f], minPrev))
		if f == root {
			u.root = 1 << b
		}
	}
	for b, f := range features {
		for _, h := range fg.adj[f] {
			if c := u.bit[h]; c < 64 {
				u.pairs[b] |= 1 << c
			}
		}
	}
	return u
}

// The kernels that profile places, by the number of candidates that a warp has room for. A place
// that exceeds one kernel is queued for the next; the host takes those that exceed the last.
var profilers = []struct {
	name  string
	warps int // of a block
}{{"profile_32", 8}, {"profile_64", 8}, {"profile_128", 4}, {"profile_256", 1},
	{"profile_crowd", 4}}

// setsAPlace is the initial room for sets per place. Places of 200,000 uniform points of 20
// features with 22 neighbours each have 8 sets on average.
const setsAPlace = 16

// gpuSets has the profiles of all places. That of a place is count sets of the pool, from start on.
type gpuSets struct {
	pool  gpu.Buffer[uint64]
	start gpu.Buffer[uint64]
	count gpu.Buffer[uint32]
	total int
	host  hostSets // a copy of some, if several devices share them
}

// profiles finds the sets of the places [first, end). host computes those that exceed a warp; ok is
// false if it cannot, either.
func (u *gpuUniverse) profiles(first, end int,
	host func(places []uint32) (sets [][]uint64, ok bool)) (sets gpuSets, ok bool) {
	s, r := u.s, u.s.r
	n := s.places
	room := setsAPlace*(end-first) + 1<<16
	for {
		// The sets of all profiles must fit. A quarter of the remaining memory is for lists of
		// neighbours, 4 bytes an entry.
		besides := 8*int64(room) + 40*int64(n) + gpuBytesBesides
		entries := max(1<<10, (r.budget-r.arenas[pointMemory].Bytes()-besides)/16)
		if r.job.evaluation.entries > 0 {
			entries = r.job.evaluation.entries
		}
		entries = min(s.edges, s.longest(entries))
		if s.hosted.Len() > 0 {
			entries = 0
		}
		r.use(profileMemory, besides+4*entries, "profiles of places")
		r.Do(func() error { return r.Arena.Release(0) })
		masks := s.masks(u.bit)
		pairs := gpu.Put(r, u.pairs)
		sets = gpuSets{pool: gpu.Make[uint64](r, room), start: gpu.Zeros[uint64](r, n),
			count: gpu.Zeros[uint32](r, n)}
		lists := gpu.Make[uint32](r, int(entries))
		used, counts := gpu.Zeros[uint64](r, 1), gpu.Make[uint32](r, len(profilers))
		queues := [2]gpu.Buffer[uint32]{gpu.Make[uint32](r, n), gpu.Make[uint32](r, n)}
		var none gpu.Buffer[uint32]
		var hard []uint32
		for lo := first; lo < end && r.Err() == nil; {
			hi, from := end, s.hosted
			if s.hosted.Len() > 0 { // kernels read the lists from that of the first place on
				from = s.hosted.Slice(int(s.boundary[lo]), s.hosted.Len())
			} else if s.edges > 0 {
				hi, from = min(end, s.chunk(lo, entries)), lists
				s.lists(lo, hi, lists)
				r.Stage("lists")
			}
			r.Do(func() error { return counts.Zero(r.Stream) })
			queue, queued := none, none
			for i, p := range profilers {
				if r.Err() != nil {
					break
				}
				next, count := queues[i%2], counts.Slice(i, i+1)
				blocks := (hi - lo + p.warps - 1) / p.warps
				if i > 0 {
					blocks = min(blocks, 32*r.dev.Info().Multiprocessors)
				}
				r.Launch(profileKernels, p.name, gpu.Grid(blocks, 32*p.warps), queue.ArgOrNull(),
					queued.ArgOrNull(), gpu.U32(uint32(lo)), gpu.U32(uint32(hi-lo)),
					s.x.Arg(), s.y.Arg(), s.z.ArgOrNull(), s.reach.ArgOrNull(), gpu.F64(s.limit),
					masks.Arg(), pairs.Arg(), gpu.U64(u.root), s.offsets.Arg(), from.ArgOrNull(),
					gpu.U32(uint32(max(r.job.evaluation.steps, 1))), sets.pool.Arg(),
					gpu.U64(uint64(room)), used.Arg(), sets.start.Arg(), sets.count.Arg(),
					next.Arg(), count.Arg())
				r.Stage(p.name)
				queue, queued = next, count
			}
			hard = append(hard, gpu.Get(r, queue, int(gpu.Get(r, queued, 1)[0]))...)
			lo = hi
		}
		sets.total = int(gpu.Get(r, used, 1)[0])
		if r.Err() == nil && len(hard) > 0 {
			r.job.logf("%d places have profiles too long for the GPU: the CPU cores make them",
				len(hard))
			extra, ok := host(hard)
			if !ok {
				return sets, false
			}
			sets.add(r, hard, extra)
			r.Stage("host profiles")
		}
		if r.Err() != nil || sets.total <= room {
			return sets, true
		}
		room = sets.total // repeat with enough room
	}
}

// add appends the sets of some places to the pool, if there is room.
func (s *gpuSets) add(r *gpuRun, places []uint32, sets [][]uint64) {
	all := slices.Concat(sets...)
	at := s.total
	if s.total += len(all); s.total > s.pool.Len() || r.Err() != nil {
		return
	}
	start, count := gpu.Get(r, s.start, s.start.Len()), gpu.Get(r, s.count, s.count.Len())
	for i, p := range places {
		start[p], count[p] = uint64(at), uint32(len(sets[i]))
		at += len(sets[i])
	}
	if r.Err() == nil {
		r.Fail(errors.Join(s.pool.Slice(s.total-len(all), s.total).Upload(r.Stream, all),
			s.start.Upload(r.Stream, start), s.count.Upload(r.Stream, count)))
	}
}

// hostSets has the profiles of places in the host's memory, as gpuSets has them on a device.
type hostSets struct {
	pool, start []uint64
	count       []uint32
}

// fetch copies the profiles of the places [lo, hi) to the host.
func (s *gpuSets) fetch(r *gpuRun, lo, hi int) {
	s.host = hostSets{gpu.Get(r, s.pool, s.total), gpu.Get(r, s.start.Slice(lo, hi), hi-lo),
		gpu.Get(r, s.count.Slice(lo, hi), hi-lo)}
}

// joinSets joins the profiles of consecutive ranges of places, of which each device made one.
func joinSets(parts []gpuSets) (all hostSets) {
	for _, p := range parts {
		before := uint64(len(all.pool))
		all.pool = append(all.pool, p.host.pool...)
		all.count = append(all.count, p.host.count...)
		for _, start := range p.host.start {
			all.start = append(all.start, before+start)
		}
	}
	return all
}

// put copies the profiles of all places to a device, in place of those that it made.
func (h *hostSets) put(r *gpuRun) gpuSets {
	r.use(profileMemory, 8*int64(len(h.pool))+12*int64(len(h.start))+gpuBytesBesides, "profiles of places")
	r.Do(func() error { return r.Arena.Release(0) })
	sets := gpuSets{pool: gpu.Put(r, h.pool), start: gpu.Put(r, h.start), count: gpu.Put(r, h.count), total: len(h.pool)}
	r.Stage("share profiles")
	return sets
}

// Constants of kernels/lattice.cu.
const (
	classSizes  = 11  // kSizes
	classDigits = 32  // kDigits
	warpWords   = 128 // words that a warp reads at a time; groups are multiples of it
)

// fill makes the columns from the profiles. ok is false if a class has more sets than columns have
// room for.
func (u *gpuUniverse) fill(sets gpuSets) (ok bool) {
	s, r := u.s, u.s.r
	width := len(u.features)
	n := gpu.U64(uint64(s.points))
	buckets := width * classSizes * classDigits
	// The table of buckets is small and is stored beside the profiles.
	bit, pairs := gpu.Put(r, u.bit), gpu.Put(r, u.pairs)
	counts := gpu.Zeros[uint32](r, buckets)
	overflow := gpu.Zeros[uint32](r, 1)
	if r.Err() != nil {
		return false
	}
	class := []gpu.Arg{s.feature.Arg(), s.weight.Arg(), s.placeOf.Arg(), n, bit.Arg(), pairs.Arg(),
		gpu.U64(u.root), sets.pool.Arg(), sets.start.Arg(), sets.count.Arg()}
	r.Each(latticeKernels, "class_count", s.points, append(class, counts.Arg(), overflow.Arg())...)
	if gpu.Get(r, overflow, 1)[0] != 0 {
		return false
	}
	l := layOut(gpu.Get(r, counts, buckets), width)
	r.Stage("count classes")
	r.use(patternMemory, int64(l.total)*(4*int64(width)+2)+int64(buckets)*16+gpuBytesBesides+
		u.latticeBytes(), "columns of feature sets")
	c := &u.columns
	c.width = uint32(width)
	c.first, c.words, c.kind = gpu.Put(r, l.first), gpu.Put(r, l.words), gpu.Put(r, l.kind)
	c.bits = gpu.Zeros[uint32](r, l.total*width)
	start, taken := gpu.Put(r, l.start), gpu.Zeros[uint32](r, buckets)
	r.Each(latticeKernels, "class_fill", s.points,
		append(class, start.Arg(), taken.Arg(), c.first.Arg(), c.words.Arg(), gpu.U32(c.width),
			c.bits.Arg())...)
	r.Stage("fill columns")
	r.job.logf("%d features: profiles have %d sets, columns have %d bits on the GPU", width,
		sets.total, 32*l.total)
	return r.Err() == nil
}

// columnLayout has the positions of groups and buckets, in words.
type columnLayout struct {
	total        int
	first, words []uint32 // of groups
	start        []uint32 // of buckets
	kind         []quadKind
}

// quadKind says what a quad, four words, holds. It is struct Kind in kernels/lattice.cu.
type quadKind struct {
	ends        uint32
	digit, form uint16
}

// newQuadKind returns the kind of quads of classes of 2^c sets and the given digit of the weight.
func newQuadKind(c, digit int) quadKind {
	k := quadKind{digit: uint16(digit)}
	size := c
	switch {
	case c == 7:
		k.form = 1
		return k
	case c > 7:
		k.form, size = 2, c-7
	}
	step := 1 << size
	for at := step - 1; at < 32; at += step {
		k.ends |= 1 << at
	}
	return k
}

// layOut places the buckets of a group one after the other. Each starts at a quad. Buckets of
// classes larger than a quad do not share the words that a warp reads at a time.
func layOut(counts []uint32, width int) columnLayout {
	l := columnLayout{start: make([]uint32, len(counts))}
	at := uint32(0)
	pad := func(to uint32, kind quadKind) {
		for at%to != 0 {
			at++
		}
		for len(l.kind) < int(at/4) {
			l.kind = append(l.kind, kind)
		}
	}
	for b := range width {
		l.first = append(l.first, at)
		for c := range classSizes {
			align := uint32(4)
			if c > 7 {
				align = warpWords
				pad(align, quadKind{})
			}
			for d := range classDigits {
				i := (b*classSizes+c)*classDigits + d
				if counts[i] == 0 {
					continue
				}
				l.start[i] = at
				at += uint32((uint64(counts[i])<<c + 31) / 32)
				pad(align, newQuadKind(c, d))
			}
		}
		pad(warpWords, quadKind{})
		l.words = append(l.words, at-l.first[b])
	}
	l.total = int(at)
	return l
}

// errHard means that the device cannot search a universe.
var errHard = errors.New("profiles too long for the GPU")
