package emu

import (
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/collocate/collocate/internal/gpu/driver"
	"github.com/collocate/collocate/internal/gpu/ptx"
)

func init() {
	register("ld ldu", decodeLoad)
	register("st", decodeStore)
	register("prefetch prefetchu", func(d *dec) { d.in.run = func(*warp, *instr, uint32) {} })
	register("membar fence", func(d *dec) {
		d.only("cta gl sys gpu sc acq_rel proxy alias")
		// Every sync access is sequentially consistent already.
		d.in.run = func(*warp, *instr, uint32) {}
	})
}

var spaces = map[string]space{"global": global, "shared": shared, "local": local, "const": constant, "param": param}

// memory decodes the modifiers that loads, stores and atomics share.
func (d *dec) memory() (vec int) {
	vec = 1
	for _, m := range d.mod {
		m, _, _ = strings.Cut(m, "::") // shared::cta
		if s, ok := spaces[m]; ok {
			d.in.space = s
			continue
		}
		switch m {
		case "v2":
			vec = 2
		case "v4":
			vec = 4
		case "volatile", "relaxed", "acquire", "release", "acq_rel", "cv":
			d.in.sync = true
		case "nc", "ca", "cg", "cs", "lu", "wb", "wt", "weak", "gpu", "cta", "sys", "L1", "L2",
			"evict_last", "no_allocate", "noftz":
		default:
			d.fail("modifier .%s is not known to the interpreter", m)
		}
	}
	d.in.size = uint8(d.t.size)
	d.in.signed = d.t.kind == 's'
	if d.t.size < 4 && (d.in.space == shared || d.in.space == generic) {
		d.p.shadowUnit = 0
	}
	return vec
}

// address decodes [register + offset] or [variable + offset].
func (d *dec) address(i int) {
	o := d.arg(i)
	if o.Kind != ptx.Addr {
		d.fail("operand %d should be an address", i)
		return
	}
	d.in.imm = o.Value
	switch {
	case o.ID >= 0:
		d.in.a = d.p.regRow[o.ID]
	case o.Name != "":
		s, ok := d.p.symbols[o.Name]
		if !ok {
			d.fail("no variable %s", o.Name)
			return
		}
		d.in.a = d.p.constant(s.offset)
		if d.in.space == generic {
			d.in.space = s.space
		}
	default:
		d.in.a = d.p.constant(0)
	}
}

func decodeLoad(d *dec) {
	vec := d.memory()
	d.address(1)
	to := d.arg(0)
	if vec == 1 {
		d.in.d = d.dst(0)
	} else if len(to.Elems) != vec {
		d.fail("a vector of %d registers expected", vec)
		return
	}
	for _, e := range to.Elems {
		d.in.vec = append(d.in.vec, d.elem(e))
	}
	if d.in.signed { // sign-extended to the register's width
		w := 4
		if vec == 1 {
			w = d.regSize(0)
		} else if to.Elems[0].Kind == ptx.Reg {
			w = ptx.SizeOf(d.p.k.Regs[to.Elems[0].ID])
		}
		d.in.mode = uint8(w)
	}
	switch {
	case d.in.space == param && vec == 1 && d.arg(1).ID < 0:
		d.in.run = loadParamOnce
	case d.in.space == param:
		d.in.run = loadParam
	case vec > 1:
		d.in.run = loadVec
	case d.in.space == global && !d.in.signed && !d.in.sync:
		d.in.run = [...]handler{1: loadGlobal[uint8], 2: loadGlobal[uint16], 4: loadGlobal[uint32],
			8: loadGlobal[uint64]}[d.in.size]
	case d.in.space == shared && !d.in.signed && !d.in.sync:
		d.in.run = [...]handler{1: loadShared[uint8], 2: loadShared[uint16], 4: loadShared[uint32],
			8: loadShared[uint64]}[d.in.size]
	default:
		d.in.run = load
	}
}

// at returns the memory at a lane's address, or stops the warp. n is the number of bytes that will
// be accessed.
func (w *warp) at(in *instr, l int, addr, n uint64) unsafe.Pointer {
	switch in.space {
	case global, constant:
		return w.globalAt(in, l, addr, n)
	case shared:
		return w.sharedAt(in, l, addr, n)
	case local:
		return w.localAt(in, l, addr, n)
	}
	switch addr & windowMask {
	case sharedWindow:
		return w.sharedAt(in, l, addr-sharedWindow, n)
	case localWindow:
		return w.localAt(in, l, addr-localWindow, n)
	}
	return w.globalAt(in, l, addr, n)
}

func (w *warp) globalAt(in *instr, l int, addr, n uint64) unsafe.Pointer {
	tab := w.b.g.table
	if id := addr >> offsetBits; id < uint64(len(tab)) {
		if a := tab[id]; a != nil {
			if off := addr & offsetMask; off+n <= a.size && off&(n-1) == 0 {
				return unsafe.Add(a.base, off)
			}
		}
	}
	w.badAddress(in, l, addr, n)
	return nil
}

func (w *warp) sharedAt(in *instr, l int, off, n uint64) unsafe.Pointer {
	if off+n > uint64(len(w.b.shared)) || off+n < off {
		w.fail(in, l, driver.IllegalAddress, "%d bytes at %#x of shared memory, which has %d", n, off, len(w.b.shared))
		return nil
	}
	if off&(n-1) != 0 {
		w.fail(in, l, driver.Misaligned, "%d bytes at %#x of shared memory", n, off)
		return nil
	}
	return unsafe.Pointer(&w.b.shared[off])
}

func (w *warp) localAt(in *instr, l int, off, n uint64) unsafe.Pointer {
	size := uint64(len(w.local) / 32)
	if off+n > size || off+n < off || off&(n-1) != 0 {
		w.fail(in, l, driver.IllegalAddress, "%d bytes at %#x of local memory, which has %d", n, off, size)
		return nil
	}
	return unsafe.Pointer(&w.local[uint64(l)*size+off])
}

// badAddress stops the warp with an error that says what is wrong with an address of global memory.
func (w *warp) badAddress(in *instr, l int, addr, n uint64) {
	tab := w.b.g.table
	id, off := addr>>offsetBits, addr&offsetMask
	switch {
	case addr < 1<<20:
		w.fail(in, l, driver.IllegalAddress, "%d bytes at %#x: a null pointer", n, addr)
	case id >= uint64(len(tab)) || tab[id] == nil:
		w.fail(in, l, driver.IllegalAddress, "%d bytes at %#x: no allocation is there (any more)", n, addr)
	case off&(n-1) != 0 && off+n <= tab[id].size:
		w.fail(in, l, driver.Misaligned, "%d bytes at offset %d of an allocation", n, off)
	default:
		w.fail(in, l, driver.IllegalAddress, "%d bytes at offset %d of an allocation of %d bytes", n, off, tab[id].size)
	}
}

// isShared reports whether a checked address lies in shared memory, and at which offset.
func (in *instr) isShared(addr uint64) (off uint64, ok bool) {
	if in.space == shared {
		return addr, true
	}
	return addr - sharedWindow, in.space == generic && addr&windowMask == sharedWindow
}

// get reads one element. Sync reads are atomic.
func (in *instr) get(p unsafe.Pointer) (v uint64) {
	switch in.size {
	case 1:
		v = uint64(*(*uint8)(p))
	case 2:
		v = uint64(*(*uint16)(p))
	case 4:
		if in.sync {
			v = uint64(atomic.LoadUint32((*uint32)(p)))
		} else {
			v = uint64(*(*uint32)(p))
		}
	case 8:
		if in.sync {
			v = atomic.LoadUint64((*uint64)(p))
		} else {
			v = *(*uint64)(p)
		}
	}
	if in.signed {
		v = uint64(extend(v, int(in.size))) & maskOf(int(in.mode))
	}
	return v
}

func (in *instr) put(p unsafe.Pointer, v uint64) {
	switch in.size {
	case 1:
		*(*uint8)(p) = uint8(v)
	case 2:
		*(*uint16)(p) = uint16(v)
	case 4:
		if in.sync {
			atomic.StoreUint32((*uint32)(p), uint32(v))
		} else {
			*(*uint32)(p) = uint32(v)
		}
	case 8:
		if in.sync {
			atomic.StoreUint64((*uint64)(p), v)
		} else {
			*(*uint64)(p) = v
		}
	}
}

func load(w *warp, in *instr, m uint32) {
	r, a := &w.rows[in.d], &w.rows[in.a]
	n := uint64(in.size)
	for ; m != 0; m &= m - 1 {
		l := lowest(m)
		addr := a[l] + in.imm
		p := w.at(in, l, addr, n)
		if p == nil {
			return
		}
		if off, ok := in.isShared(addr); ok && !w.b.shadow.read(w, in, l, off, n, in.sync) {
			return
		}
		r[l] = in.get(p)
	}
}

// loadGlobal is load for global memory, the most frequent kind. Lanes that read from the same
// allocation, as they nearly always do, look it up once.
func loadGlobal[T uint8 | uint16 | uint32 | uint64](w *warp, in *instr, m uint32) {
	r, a := &w.rows[in.d], &w.rows[in.a]
	n := uint64(unsafe.Sizeof(T(0)))
	var base unsafe.Pointer
	id, size := ^uint64(0), uint64(0)
	for ; m != 0; m &= m - 1 {
		l := lowest(m)
		addr := a[l] + in.imm
		off := addr & offsetMask
		if addr>>offsetBits != id || off+n > size || off&(n-1) != 0 {
			p := w.globalAt(in, l, addr, n)
			if p == nil {
				return
			}
			id = addr >> offsetBits
			at := w.b.g.table[id]
			base, size = at.base, at.size
		}
		r[l] = uint64(*(*T)(unsafe.Add(base, off)))
	}
}

// loadShared is load for shared memory.
func loadShared[T uint8 | uint16 | uint32 | uint64](w *warp, in *instr, m uint32) {
	r, a := &w.rows[in.d], &w.rows[in.a]
	n := uint64(unsafe.Sizeof(T(0)))
	s := &w.b.shadow
	// If two lanes of a warp may read an address, every lane may; for the detection of races with
	// later writes, more readers in the same warp make no difference.
	last, lanes := ^uint64(0), 0
	for ; m != 0; m &= m - 1 {
		l := lowest(m)
		off := a[l] + in.imm
		if off != last {
			last, lanes = off, 0
		}
		if lanes++; lanes > 2 {
			r[l] = uint64(*(*T)(unsafe.Pointer(&w.b.shared[off])))
			continue
		}
		p := w.sharedAt(in, l, off, n)
		if p == nil || !s.read(w, in, l, off, n, false) {
			return
		}
		r[l] = uint64(*(*T)(p))
	}
}

func loadVec(w *warp, in *instr, m uint32) {
	a := &w.rows[in.a]
	n := uint64(in.size) * uint64(len(in.vec))
	for ; m != 0; m &= m - 1 {
		l := lowest(m)
		addr := a[l] + in.imm
		p := w.at(in, l, addr, n)
		if p == nil {
			return
		}
		if off, ok := in.isShared(addr); ok && !w.b.shadow.read(w, in, l, off, n, in.sync) {
			return
		}
		// The address may be in one of the destinations, so it was read before.
		for i, r := range in.vec {
			w.rows[r][l] = in.get(unsafe.Add(p, i*int(in.size)))
		}
	}
}

// loadParamOnce is loadParam for an address that is the same in all lanes, as in all code that
// compilers generate.
func loadParamOnce(w *warp, in *instr, m uint32) {
	first := lowest(m)
	loadParam(w, in, 1<<first)
	r := &w.rows[in.d]
	v := r[first]
	for ; m != 0; m &= m - 1 {
		r[lowest(m)] = v
	}
}

func loadParam(w *warp, in *instr, m uint32) {
	n := uint64(in.size) * uint64(max(1, len(in.vec)))
	args := w.b.g.args
	for ; m != 0; m &= m - 1 {
		l := lowest(m)
		off := w.rows[in.a][l] + in.imm
		if off+n > uint64(len(args)) {
			w.fail(in, l, driver.IllegalAddress, "parameter bytes %d to %d of %d", off, off+n, len(args))
			return
		}
		p := unsafe.Pointer(&args[off])
		if in.vec == nil {
			w.rows[in.d][l] = in.get(p)
			continue
		}
		for i, r := range in.vec {
			w.rows[r][l] = in.get(unsafe.Add(p, i*int(in.size)))
		}
	}
}

func decodeStore(d *dec) {
	vec := d.memory()
	d.in.signed = false
	d.address(0)
	from := d.arg(1)
	if vec == 1 {
		d.in.vec = []int32{d.rowOf(from, d.t.size)}
	} else if len(from.Elems) != vec {
		d.fail("a vector of %d registers expected", vec)
		return
	}
	for _, e := range from.Elems {
		d.in.vec = append(d.in.vec, d.rowOf(e, d.t.size))
	}
	switch {
	case vec > 1 || d.in.sync:
		d.in.run = store
	case d.in.space == global:
		d.in.run = [...]handler{1: storeGlobal[uint8], 2: storeGlobal[uint16], 4: storeGlobal[uint32],
			8: storeGlobal[uint64]}[d.in.size]
	case d.in.space == shared:
		d.in.run = [...]handler{1: storeShared[uint8], 2: storeShared[uint16], 4: storeShared[uint32],
			8: storeShared[uint64]}[d.in.size]
	default:
		d.in.run = store
	}
}

// storeGlobal is store for global memory.
func storeGlobal[T uint8 | uint16 | uint32 | uint64](w *warp, in *instr, m uint32) {
	v, a := &w.rows[in.vec[0]], &w.rows[in.a]
	n := uint64(unsafe.Sizeof(T(0)))
	for ; m != 0; m &= m - 1 {
		l := lowest(m)
		p := w.globalAt(in, l, a[l]+in.imm, n)
		if p == nil {
			return
		}
		*(*T)(p) = T(v[l])
	}
}

// storeShared is store for shared memory.
func storeShared[T uint8 | uint16 | uint32 | uint64](w *warp, in *instr, m uint32) {
	v, a := &w.rows[in.vec[0]], &w.rows[in.a]
	n := uint64(unsafe.Sizeof(T(0)))
	s := &w.b.shadow
	for ; m != 0; m &= m - 1 {
		l := lowest(m)
		off := a[l] + in.imm
		p := w.sharedAt(in, l, off, n)
		if p == nil || !s.writeFirst(w, l, off, n) &&
			!s.write(w, in, l, off, n, false, *(*T)(p) == T(v[l])) {
			return
		}
		*(*T)(p) = T(v[l])
	}
}

func store(w *warp, in *instr, m uint32) {
	a := &w.rows[in.a]
	n := uint64(in.size) * uint64(len(in.vec))
	for ; m != 0; m &= m - 1 {
		l := lowest(m)
		addr := a[l] + in.imm
		p := w.at(in, l, addr, n)
		if p == nil {
			return
		}
		if off, ok := in.isShared(addr); ok {
			same := true
			for i, r := range in.vec {
				same = same && in.get(unsafe.Add(p, i*int(in.size))) == w.rows[r][l]&maskOf(int(in.size))
			}
			if !w.b.shadow.write(w, in, l, off, n, in.sync, same) {
				return
			}
		}
		for i, r := range in.vec {
			in.put(unsafe.Add(p, i*int(in.size)), w.rows[r][l])
		}
	}
}
