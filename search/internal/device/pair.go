package device

import (
	"context"
	_ "embed"
	"math"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/search/internal/ask"
)

//go:embed kernels/pair.ptx
var pairPTX string

var pairSource = gpu.NewSource("search/pair", pairPTX)

// As in pair.cu.
const (
	pairWarps   = 24
	pairThreads = 32 * pairWarps
	pairShared  = pairWarps * (gpuTile/8 + (768+128)*2)
	pairKeys    = 4096
)

// gpuPair is Pair in pair.cu.
type gpuPair struct {
	terms                 [2]gpuTerm
	lists, k, model, need uint32
	low, least, cap, most uint32
	alone                 [2]uint32
	inverse               [2]float32
}

func pairKernel(dev *gpu.Device) (*gpu.Kernel, error) {
	k, err := dev.Kernel(pairSource, "tiles_pair")
	if err != nil {
		return nil, err
	}
	return k, k.AllowShared(pairShared)
}

// fitsPair reports whether the first query has few enough words and answers for tiles_pair.
func (s *gpuSlot) fitsPair() bool { return len(s.p.terms) <= 2 && s.p.queries[0].K <= pairK }

// startPair starts strategy gpu-pair. Events around the launch do not measure its preparation.
func (s *gpuSlot) startPair(m *gpuModel, timed bool) error {
	s.readyPair(m)
	st := s.g.pack
	blocks := min(s.g.dev.Info().Multiprocessors, (st.tiles+pairWarps-1)/pairWarps)
	return s.timed(timed, func() error {
		return s.stream.Launch(st.pair, gpu.GridShared(blocks, pairThreads, pairShared), s.args...)
	})
}

// readyPair prepares a query of one or two words; the cut is guessed if there are two.
func (s *gpuSlot) readyPair(m *gpuModel) {
	st, q, w := s.g.pack, &s.p.queries[0], &s.pair
	*w = gpuPair{lists: q.Terms, k: q.K, model: q.Model, need: q.Need, low: max(q.Cut, 1),
		cap: min(q.Cap, pairKeys), most: math.Float32bits(leastScore(math.MaxUint32, 0, s.p.scale))}
	copy(w.terms[2-len(s.p.terms):], s.p.terms)
	if len(s.p.terms) == 2 && s.p.scale > 0 {
		if low := m.guess(q, s.p.terms); low > w.low {
			w.low, w.least = low, math.Float32bits(leastScore(low, q.Slack, s.p.scale))
		}
	}
	for i := range w.terms {
		// alone is the code from which a posting reaches the cut by itself. The inverse is rounded
		// down so that no code is left out that could reach it.
		w.alone[i] = 256
		if mult := w.terms[i].Mult; mult > 0 {
			w.inverse[i] = float32(1/float64(mult)) * (1 - 1.0/(1<<20))
			if q.Need == 0 {
				w.alone[i] = min((w.low-1)/mult, 256)
			}
		}
	}
	s.expect(int(q.K))
	s.with(unsafe.Slice((*uint64)(unsafe.Pointer(w)), unsafe.Sizeof(*w)/8),
		gpu.U32(uint32(st.tiles)), m.maxes.Arg(), st.offsets.Arg(), m.codes.Arg(), st.starts.Arg(),
		st.tfs.Arg(), st.more.Arg(), st.lengths.Arg(),
		s.states.Arg(), s.keys.Arg(), s.mapped.Arg())
}

// gpuPending fills the memory of a result until the kernel writes it. As a key its score would be
// NaN.
const gpuPending = 1<<64 - 2

// expect fills the memory of a result of k answers with gpuPending.
func (s *gpuSlot) expect(k int) {
	for i := range s.back.Values()[:2+k] {
		s.back.Values()[i] = gpuPending
	}
}

// arrived reports whether the whole result is there. The kernel writes it word by word, in any
// order.
func (s *gpuSlot) arrived() bool {
	out := s.back.Values()
	head := atomic.LoadUint64(&out[0])
	if head == gpuPending || head == gpuUnfinished {
		return head == gpuUnfinished
	}
	for i := 1 + int(uint32(head)); i > 0; i-- {
		if atomic.LoadUint64(&out[i]) == gpuPending {
			return false
		}
	}
	return true
}

// await waits for a single query. Polling the memory of the result is some microseconds faster than
// asking the driver; after a time limit it waits for the stream.
func (s *gpuSlot) await(timed bool) error {
	if s.by == ask.GPUPair && !timed && !s.g.dev.Info().Emulated {
		for start := time.Now(); time.Since(start) < pairPatience; {
			for range pairPolls {
				if s.arrived() {
					return nil
				}
			}
		}
	}
	return s.stream.Sync(context.Background())
}

// leastScore returns a score that no document with a sum below low reaches.
func leastScore(low, slack uint32, scale float64) float32 {
	least := (float64(low) + float64(slack)) * scale
	f := float32(least)
	if float64(f) < least {
		f = math.Nextafter32(f, math.MaxFloat32)
	}
	return f
}
