package emu

import (
	"math/bits"

	"github.com/collocate/collocate/internal/gpu/driver"
	"github.com/collocate/collocate/internal/gpu/ptx"
)

func init() {
	register("shfl", decodeShfl)
	register("vote", decodeVote)
	register("match", decodeMatch)
	register("activemask", func(d *dec) {
		d.in.d = d.dst(0)
		d.in.run = func(w *warp, in *instr, m uint32) {
			for s := m; s != 0; s &= s - 1 {
				w.rows[in.d][lowest(s)] = uint64(m)
			}
		}
	})
}

// members checks the member mask of every lane: it must contain the lane itself, and otherwise only
// lanes that execute the instruction (or have returned).
func (w *warp) members(in *instr, m uint32, mask *row) bool {
	away := w.live() &^ m
	if in.named && away == 0 {
		return true
	}
	for s := m; s != 0; s &= s - 1 {
		l := lowest(s)
		named := uint32(mask[l])
		if named>>l&1 == 0 {
			w.fail(in, l, driver.LaunchFailed, "the mask 0x%08x does not name the lane itself", named)
			return false
		}
		if missing := named & away; missing != 0 {
			w.fail(in, l, driver.LaunchFailed, "the mask 0x%08x names lanes 0x%08x that are not here", named, missing)
			return false
		}
	}
	return true
}

// nameAll records whether operand i, a member mask, is a constant that contains all lanes.
func (d *dec) nameAll(i int) {
	o := d.arg(i)
	d.in.named = o.Kind == ptx.Imm && uint32(o.Value) == full
}

// absent is what a lane gets from one that does not take part.
const absent = 0xdeadbeef

// decodeShfl: shfl.sync.mode.b32 d{|p}, a, b, c, mask
func decodeShfl(d *dec) {
	if len(d.mod) != 2 || d.mod[0] != "sync" {
		return
	}
	from := shuffles[d.mod[1]]
	if from == nil {
		d.fail("mode .%s is not known to the interpreter", d.mod[1])
		return
	}
	d.in.d, d.in.p = d.dst(0), d.pair(0)
	d.in.a, d.in.b, d.in.c = d.src(1), d.src(2), d.src(3)
	d.in.vec = []int32{d.src(4)}
	d.nameAll(4)
	whole := d.arg(3).Kind == ptx.Imm && d.arg(3).Value == 31 && d.mod[1] == "idx" // the usual form
	d.in.run = func(w *warp, in *instr, m uint32) {
		if !w.members(in, m, &w.rows[in.vec[0]]) {
			return
		}
		values := w.rows[in.a]
		r, b, c := &w.rows[in.d], &w.rows[in.b], &w.rows[in.c]
		if whole && m == full {
			for l := range r {
				r[l] = values[b[l]&31]
			}
			if in.p >= 0 {
				w.preds[in.p] = full
			}
			return
		}
		var inRange uint32
		for s := m; s != 0; s &= s - 1 {
			l := lowest(s)
			j, ok := from(l, int(b[l]&31), int(c[l]&31), int(c[l]>>8&31))
			if !ok {
				j = l
			} else {
				inRange |= 1 << l
			}
			r[l] = values[j&31]
			if m>>j&1 == 0 {
				r[l] = absent
			}
		}
		if in.p >= 0 {
			w.setPred(in.p, m, inRange)
		}
	}
}

// shuffles has, for each mode of shfl, a function that returns the source lane of lane l and
// whether that lane is within the segment.
var shuffles = map[string]func(l, by, clamp, seg int) (from int, ok bool){
	"up":   func(l, by, clamp, seg int) (int, bool) { return l - by, l-by >= l&seg|clamp&^seg },
	"down": func(l, by, clamp, seg int) (int, bool) { return l + by, l+by <= l&seg|clamp&^seg },
	"bfly": func(l, by, clamp, seg int) (int, bool) { return l ^ by, l^by <= l&seg|clamp&^seg },
	"idx": func(l, by, clamp, seg int) (int, bool) {
		from := l&seg | by&^seg
		return from, from <= l&seg|clamp&^seg
	},
}

// decodeVote: vote.sync.{all,any,uni}.pred p, a, mask; vote.sync.ballot.b32 d, a, mask
func decodeVote(d *dec) {
	if len(d.mod) != 2 || d.mod[0] != "sync" {
		return
	}
	mode := d.mod[1]
	a := d.predOperand(1)
	if mode == "ballot" {
		d.in.d = d.dst(0)
	} else {
		d.in.p, _ = d.predicate(0)
	}
	d.in.c = d.rowOf(d.arg(2), 4)
	d.nameAll(2)
	d.in.run = func(w *warp, in *instr, m uint32) {
		mask := &w.rows[in.c]
		if !w.members(in, m, mask) {
			return
		}
		votes := a(w) & m
		if in.named && mode != "ballot" { // all lanes get the same result
			yes := mode == "all" && votes == m || mode == "any" && votes != 0 ||
				mode == "uni" && (votes == m || votes == 0)
			w.setPred(in.p, m, -b2u(yes))
			return
		}
		if mode == "ballot" {
			d := &w.rows[in.d]
			for s := m; s != 0; s &= s - 1 {
				l := lowest(s)
				d[l] = uint64(votes & uint32(mask[l]))
			}
			return
		}
		var r uint32
		for s := m; s != 0; s &= s - 1 {
			l := lowest(s)
			named := uint32(mask[l]) & m
			yes := votes & named
			switch mode {
			case "all":
				r |= b2u(yes == named) << l
			case "any":
				r |= b2u(yes != 0) << l
			case "uni":
				r |= b2u(yes == named || yes == 0) << l
			}
		}
		w.setPred(in.p, m, r)
	}
}

func b2u(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// decodeMatch: match.any.sync.type d, a, mask; match.all.sync.type d{|p}, a, mask
func decodeMatch(d *dec) {
	if len(d.mod) != 2 || d.mod[1] != "sync" {
		return
	}
	all := d.mod[0] == "all"
	t := d.t
	d.in.d, d.in.p = d.dst(0), d.pair(0)
	d.in.a, d.in.c = d.src(1), d.rowOf(d.arg(2), 4)
	d.nameAll(2)
	d.in.run = func(w *warp, in *instr, m uint32) {
		mask, a := &w.rows[in.c], &w.rows[in.a]
		if !w.members(in, m, mask) {
			return
		}
		var agree uint32
		for s := m; s != 0; s &= s - 1 {
			l := lowest(s)
			named := uint32(mask[l]) & m
			var equal uint32
			for o := named; o != 0; o &= o - 1 {
				if k := bits.TrailingZeros32(o); (a[k]^a[l])&t.mask() == 0 {
					equal |= 1 << k
				}
			}
			if all && equal != named {
				equal = 0
			}
			agree |= b2u(equal != 0) << l
			w.rows[in.d][l] = uint64(equal)
		}
		if in.p >= 0 {
			w.setPred(in.p, m, agree)
		}
	}
}
