package emu

import (
	"github.com/collocate/collocate/internal/gpu/ptx"
)

func init() {
	register("bra", decodeBra)
	register("brx", decodeBrx)
	register("ret exit", func(d *dec) {
		d.only("uni")
		d.in.kind = exit
	})
	register("bar barrier", decodeBar)
	register("nanosleep", func(d *dec) { d.in.run = func(*warp, *instr, uint32) {} })
}

func decodeBra(d *dec) {
	d.only("uni")
	if o := d.arg(0); o.Kind == ptx.Label {
		d.in.kind, d.in.target = branch, int32(o.ID)
		return
	}
	d.fail("a label expected")
}

// decodeBrx: brx.idx{.uni} index, table
func decodeBrx(d *dec) {
	d.only("idx uni")
	d.in.kind = branchTable
	d.in.a = d.rowOf(d.arg(0), 4)
	o := d.arg(1)
	for _, t := range d.p.k.Targets[o.Name] {
		d.in.table = append(d.in.table, int32(t))
	}
	if o.Kind != ptx.Table || d.x.Pred >= 0 || len(d.in.table) == 0 {
		d.fail("a branch table expected, without a guard")
	}
}

// decodeBar: bar.sync a{, b}; bar.arrive a, b; bar.red.op a{, b}, p; bar.warp.sync mask
func decodeBar(d *dec) {
	if len(d.mod) > 0 && d.mod[0] == "warp" {
		d.in.c = d.rowOf(d.arg(0), 4)
		d.in.run = func(w *warp, in *instr, m uint32) {
			if w.members(in, m, &w.rows[in.c]) {
				w.clock++
				w.vc[w.id] = w.clock
			}
		}
		return
	}
	d.only("sync arrive red popc and or aligned cta")
	d.in.kind, d.in.mode = barrier, barSync
	args := d.x.Args
	switch {
	case d.has("arrive"):
		d.in.mode = barArrive
	case d.has("red"):
		last := len(args) - 1
		d.in.p, d.in.neg = d.predicate(last)
		switch {
		case d.has("popc"):
			d.in.mode, d.in.d = barPopc, d.dst(0)
		case d.has("and"):
			d.in.mode = barAnd
			d.in.q, _ = d.predicate(0)
		default:
			d.in.mode = barOr
			d.in.q, _ = d.predicate(0)
		}
		args = args[1:last]
	}
	if len(args) == 0 {
		d.fail("a barrier's number expected")
		return
	}
	d.in.a = d.rowOf(args[0], 4)
	if len(args) > 1 {
		d.in.b = d.rowOf(args[1], 4)
	}
}
