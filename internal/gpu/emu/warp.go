package emu

import (
	"fmt"
	"math/bits"

	"github.com/collocate/collocate/internal/gpu/driver"
)

const full = 0xffffffff

type row = [32]uint64

// warp is 32 threads that run in lockstep.
type warp struct {
	b     *block
	id    int
	rows  []row
	preds []uint32
	spare row    // scratch of blend
	local []byte // local memory of all lanes, one after the other

	// Control flow: the active lanes are at pc and reconverge at meet; stack holds the groups that
	// wait.
	pc, meet int32
	active   uint32
	stack    []frame
	all      uint32 // lanes that exist
	gone     uint32 // lanes that returned

	state state
	bar   int // the barrier at which the warp waits
	barIn *instr
	clock uint32
	vc    []uint32 // vector clock: what is known of every warp
	lanes int64
	fault error
}

type state uint8

const (
	running state = iota
	waiting
	done
)

// frame is a group of lanes that waits for its turn, or for reconvergence.
type frame struct {
	pc, meet int32
	mask     uint32
}

func (w *warp) live() uint32 { return w.all &^ w.gone }

// start puts the warp at the beginning of the program.
func (w *warp) start() {
	w.pc, w.meet, w.active, w.gone = 0, -1, w.all, 0
	w.stack = w.stack[:0]
	w.state, w.fault, w.barIn = running, nil, nil
	w.clock = 1
	for i := range w.vc {
		w.vc[i] = 0
	}
	w.vc[w.id] = 1
}

// fail stops the warp at the instruction.
func (w *warp) fail(in *instr, lane int, code int, format string, args ...any) {
	if w.fault != nil {
		return
	}
	p := w.b.g.p
	t := w.id*32 + lane
	nx, ny := w.b.g.dim.Threads[0], w.b.g.dim.Threads[1]
	msg := fmt.Sprintf("kernel %s, block %v, thread (%d,%d,%d), PTX line %d: %s: %s", p.name, w.b.at,
		t%nx, t/nx%ny, t/(nx*ny), in.line, p.source(in.line), fmt.Sprintf(format, args...))
	w.fault = fail("launch", code, msg)
}

// run runs the warp until it waits, ends, fails or has used its budget of instructions.
func (w *warp) run(budget int) {
	code := w.b.g.p.code
	for ; budget > 0; budget-- {
		in := &code[w.pc]
		m := w.active
		if in.pred >= 0 {
			p := w.preds[in.pred]
			if in.predNot {
				p = ^p
			}
			m &= p
		}
		w.lanes += int64(bits.OnesCount32(m))
		switch in.kind {
		case normal:
			w.pc++
			switch {
			case m == full && in.all != nil:
				in.all(&w.rows[in.d], &w.rows[in.a], &w.rows[in.b], &w.rows[in.c])
			case m == 0:
			case in.all != nil && bits.OnesCount32(m) >= wholeFrom:
				w.blend(in, m)
			default:
				in.run(w, in, m)
				if w.fault != nil {
					return
				}
			}
		case branch:
			w.branch(in, m)
		case branchTable:
			w.branchTable(in, m)
		case exit:
			w.pc++
			w.gone |= m
			w.active &^= m
			if w.active == 0 {
				w.pop()
			}
		case barrier:
			w.pc++
			if m != 0 {
				w.arrive(in, m)
			}
		}
		for w.pc == w.meet && w.state != done {
			w.pop()
		}
		if w.state != running {
			return
		}
	}
}

// wholeFrom is the number of active lanes from which it is faster to compute all 32 lanes and to
// keep the results of the active ones.
const wholeFrom = 8

// blend runs an instruction on all lanes and keeps the results of those in m.
func (w *warp) blend(in *instr, m uint32) {
	in.all(&w.spare, &w.rows[in.a], &w.rows[in.b], &w.rows[in.c])
	r := &w.rows[in.d]
	for ; m != 0; m &= m - 1 {
		l := lowest(m)
		r[l] = w.spare[l]
	}
}

// pop continues with the next group.
func (w *warp) pop() {
	for len(w.stack) > 0 {
		f := w.stack[len(w.stack)-1]
		w.stack = w.stack[:len(w.stack)-1]
		if m := f.mask &^ w.gone; m != 0 {
			w.pc, w.meet, w.active = f.pc, f.meet, m
			return
		}
	}
	w.active = 0
	w.state = done
}

// branch moves the lanes in m to the target. Where lanes diverge, those that jump run first; the
// whole group waits at the reconvergence point, unless it does already.
func (w *warp) branch(in *instr, m uint32) {
	next := w.pc + 1
	stay := w.active &^ m
	switch {
	case m == 0:
		w.pc = next
		return
	case stay == 0:
		w.pc = in.target
		return
	}
	w.part(in.meet)
	if next != in.meet {
		w.stack = append(w.stack, frame{next, in.meet, stay})
	}
	if in.target != in.meet {
		w.pc, w.meet, w.active = in.target, in.meet, m
		return
	}
	w.pop()
}

// part pushes the whole group to wait at the reconvergence point.
func (w *warp) part(meet int32) {
	if meet != w.meet && meet >= 0 {
		w.stack = append(w.stack, frame{meet, w.meet, w.active})
	}
}

func (w *warp) branchTable(in *instr, m uint32) {
	index := &w.rows[in.a]
	w.part(in.meet)
	for rest := m; rest != 0; {
		l := bits.TrailingZeros32(rest)
		x := index[l]
		if x >= uint64(len(in.table)) {
			w.fail(in, l, driver.LaunchFailed, "branch number %d of %d", x, len(in.table))
			return
		}
		var group uint32
		for s := rest; s != 0; s &= s - 1 {
			if k := bits.TrailingZeros32(s); index[k] == x {
				group |= 1 << k
			}
		}
		rest &^= group
		if in.table[x] != in.meet {
			w.stack = append(w.stack, frame{in.table[x], in.meet, group})
		}
	}
	w.pop()
}
