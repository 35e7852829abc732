package emu

import (
	"math/bits"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/collocate/collocate/internal/gpu/driver"
)

// block is a block of threads, whose warps take turns on one goroutine.
type block struct {
	p       *program
	g       *grid // the launch, or nil if the block is idle
	at      [3]int
	warps   []*warp
	shared  []byte
	shadow  shadow
	bars    [16]barState
	partial bool // a barrier for only part of the block was used
	threads [3]int
	know    []uint32 // scratch of release
}

// barState is a named barrier.
type barState struct {
	arrived int // threads
	want    int // threads expected
	votes   int // threads whose predicate held
}

// What a barrier instruction does besides waiting.
const (
	barSync = iota
	barArrive
	barPopc
	barAnd
	barOr
)

// takeBlock returns a block for the grid: one of an earlier launch, or a new one. Blocks are kept
// because their registers are megabytes.
func takeBlock(g *grid) *block {
	b := idle.take(g)
	if b == nil {
		return newBlock(g)
	}
	b.g = g
	b.fillSpecials(false)
	return b
}

// idle holds blocks of finished launches, the latest last.
var idle idleBlocks

type idleBlocks struct {
	sync.Mutex
	list []*block
	rows int // of all blocks
}

// maxIdleRows limits the registers of idle blocks to 64 MB.
const maxIdleRows = 64 << 20 / int(unsafe.Sizeof(row{}))

// take returns an idle block that fits the launch, or nil.
func (x *idleBlocks) take(g *grid) *block {
	x.Lock()
	defer x.Unlock()
	for i, b := range slices.Backward(x.list) {
		if b.p == g.p && b.threads == g.dim.Threads && len(b.shared) == g.p.dynOffset+g.dim.Shared {
			x.list = slices.Delete(x.list, i, i+1)
			x.rows -= b.rows()
			return b
		}
	}
	return nil
}

// give keeps the block for a later launch, and drops the oldest idle ones beyond maxIdleRows.
func (x *idleBlocks) give(b *block) {
	b.g = nil
	x.Lock()
	defer x.Unlock()
	x.list = append(x.list, b)
	x.rows += b.rows()
	old := 0
	for ; x.rows > maxIdleRows; old++ {
		x.rows -= x.list[old].rows()
	}
	x.list = slices.Delete(x.list, 0, old)
}

func (b *block) rows() int { return len(b.warps) * b.p.rows }

// newBlock makes a block with its warps, which run one block of the grid after the other.
func newBlock(g *grid) *block {
	p := g.p
	threads := g.dim.Threads[0] * g.dim.Threads[1] * g.dim.Threads[2]
	n := (threads + 31) / 32
	b := &block{p: p, g: g, shared: newBytes(int64(p.dynOffset + g.dim.Shared)), threads: g.dim.Threads,
		know: make([]uint32, n)}
	b.shadow.init(len(b.shared), p.shadowUnit)
	for i := range n {
		w := &warp{b: b, id: i, rows: make([]row, p.rows), preds: make([]uint32, p.preds), vc: make([]uint32, n)}
		w.all = full
		if rest := threads - i*32; rest < 32 {
			w.all = 1<<rest - 1
		}
		w.local = newBytes(int64(32 * alignUp(p.localBytes, 16)))
		for _, c := range p.consts {
			for l := range 32 {
				w.rows[c.row][l] = c.value
			}
		}
		b.warps = append(b.warps, w)
	}
	b.fillSpecials(false)
	return b
}

// start prepares to run the block of the given number.
func (b *block) start(number int) {
	g := b.g
	nx, ny := g.dim.Blocks[0], g.dim.Blocks[1]
	b.at = [3]int{number % nx, number / nx % ny, number / (nx * ny)}
	b.bars = [16]barState{}
	b.shadow.reset()
	b.partial = false
	fill(b.shared, poison)
	for _, w := range b.warps {
		w.start()
	}
	b.fillSpecials(true)
}

// fillSpecials sets the special registers that differ between blocks (changing), or the others.
func (b *block) fillSpecials(changing bool) {
	for _, s := range b.g.p.specials {
		if (strings.HasPrefix(s.name, "%ctaid") || s.name == "%smid") == changing {
			for _, w := range b.warps {
				b.fillSpecial(w, s.name, &w.rows[s.row])
			}
		}
	}
}

func (b *block) fillSpecial(w *warp, name string, r *row) {
	d := &b.g.dim
	for l := range 32 {
		t := w.id*32 + l
		var v int
		switch name {
		case "%tid.x":
			v = t % d.Threads[0]
		case "%tid.y":
			v = t / d.Threads[0] % d.Threads[1]
		case "%tid.z":
			v = t / (d.Threads[0] * d.Threads[1])
		case "%ntid.x":
			v = d.Threads[0]
		case "%ntid.y":
			v = d.Threads[1]
		case "%ntid.z":
			v = d.Threads[2]
		case "%ctaid.x":
			v = b.at[0]
		case "%ctaid.y":
			v = b.at[1]
		case "%ctaid.z":
			v = b.at[2]
		case "%nctaid.x":
			v = d.Blocks[0]
		case "%nctaid.y":
			v = d.Blocks[1]
		case "%nctaid.z":
			v = d.Blocks[2]
		case "%laneid":
			v = l
		case "%warpid":
			v = w.id
		case "%nwarpid":
			v = 64
		case "%nsmid":
			v = b.g.sms
		case "%smid":
			v = b.at[0] % b.g.sms
		case "%lanemask_eq":
			v = 1 << l
		case "%lanemask_lt":
			v = 1<<l - 1
		case "%lanemask_le":
			v = 1<<(l+1) - 1
		case "%lanemask_gt":
			v = full &^ (1<<(l+1) - 1)
		case "%lanemask_ge":
			v = full &^ (1<<l - 1)
		case "%dynamic_smem_size":
			v = d.Shared
		case "%total_smem_size":
			v = len(b.shared)
		case "WARP_SZ":
			v = 32
		}
		r[l] = uint64(uint32(v))
	}
}

// quantum is the number of instructions that a warp runs before the next warp may run.
const quantum = 4096

// turn runs every warp for a quantum, and reports whether the block is done.
func (b *block) turn() (finished bool, err error) {
	var busy, left int
	for _, w := range b.warps {
		if w.state == running {
			w.run(quantum)
			if w.fault != nil {
				return false, w.fault
			}
		}
		switch w.state {
		case running:
			busy++
			left++
		case waiting:
			left++
		}
	}
	if left > 0 && busy == 0 && !b.someRunning() {
		return false, b.stuck()
	}
	return left == 0, nil
}

func (b *block) someRunning() bool {
	for _, w := range b.warps {
		if w.state == running {
			return true
		}
	}
	return false
}

// stuck returns the error of a block whose warps all wait.
func (b *block) stuck() error {
	gone := 0
	var at *warp
	for _, w := range b.warps {
		gone += bits.OnesCount32(w.gone)
		if w.state == waiting {
			at = w
		}
	}
	at.fail(at.barIn, 0, driver.LaunchFailed,
		"divergent barrier: this thread waits forever, %d threads of the block have returned",
		gone)
	return at.fault
}

// arrive counts the warp at a barrier; the last to arrive releases all.
func (w *warp) arrive(in *instr, m uint32) {
	b := w.b
	lane := bits.TrailingZeros32(m)
	if m != w.live() {
		w.fail(in, lane, driver.LaunchFailed,
			"divergent barrier: lanes 0x%08x of the warp's 0x%08x are here", m, w.live())
		return
	}
	if w.gone != 0 {
		w.fail(in, lane, driver.LaunchFailed, "divergent barrier: lanes 0x%08x of the warp have returned", w.gone)
		return
	}
	id := int(w.rows[in.a][lane])
	if id >= len(b.bars) {
		w.fail(in, lane, driver.LaunchFailed, "barrier %d of %d", id, len(b.bars))
		return
	}
	bar := &b.bars[id]
	want := 0
	for _, v := range b.warps {
		want += bits.OnesCount32(v.all)
	}
	arriving := bits.OnesCount32(w.all)
	if in.b >= 0 {
		want = int(w.rows[in.b][lane])
		arriving = 32
	}
	if bar.arrived > 0 && bar.want != want {
		w.fail(in, lane, driver.LaunchFailed, "barrier %d expects %d threads here and %d elsewhere", id, want, bar.want)
		return
	}
	bar.want = want
	bar.arrived += arriving
	if in.p >= 0 {
		votes := w.preds[in.p]
		if in.neg {
			votes = ^votes
		}
		bar.votes += bits.OnesCount32(votes & m)
	}
	w.bar, w.barIn = id, in
	if in.mode != barArrive {
		w.state = waiting
	}
	if bar.arrived < want {
		return
	}
	b.release(id)
}

// release lets the warps at a barrier continue. What each did before the barrier is now ordered
// before what any of them does later.
func (b *block) release(id int) {
	bar := &b.bars[id]
	know := b.know
	clear(know)
	for _, v := range b.warps {
		if v.barIn != nil && v.bar == id {
			for i, c := range v.vc {
				know[i] = max(know[i], c)
			}
			know[v.id] = max(know[v.id], v.clock+1)
		}
	}
	whole := true
	for _, v := range b.warps {
		if v.barIn == nil || v.bar != id {
			whole = whole && v.state == done
			continue
		}
		if v.barIn.mode != barArrive {
			copy(v.vc, know)
			v.barrierResult(v.barIn, bar)
			v.state = running
		}
		v.clock++
		v.vc[v.id] = v.clock
		v.barIn = nil
	}
	if whole {
		b.shadow.epoch++
	} else {
		b.partial = true
	}
	*bar = barState{}
}

// barrierResult writes the result of bar.red.
func (w *warp) barrierResult(in *instr, bar *barState) {
	switch in.mode {
	case barPopc:
		d := &w.rows[in.d]
		for l := range 32 {
			if w.all>>l&1 != 0 {
				d[l] = uint64(bar.votes)
			}
		}
	case barAnd:
		w.preds[in.q] = 0
		if bar.votes == bar.want {
			w.preds[in.q] = full
		}
	case barOr:
		w.preds[in.q] = 0
		if bar.votes > 0 {
			w.preds[in.q] = full
		}
	}
}
