package simd

// Occupied finds the groups of 16 documents that contain a document of a set. Documents are bits of
// set, groups are bits of out, which has a word for every 16 words of set or fewer.
func Occupied(set, out []uint64) {
	done := 0
	if hasAVX512() && len(set) >= 16 && len(out) >= len(set)/16 {
		done = len(set) &^ 15
		occupiedAVX512(&set[0], done/16, &out[0])
	}
	plainOccupied(set[done:], out, done)
}

// plainOccupied is Occupied in plain Go, starting at word from of the set.
func plainOccupied(set, out []uint64, from int) {
	for i, w := range set {
		i += from
		shift := uint(i%16) * 4
		if shift == 0 {
			out[i/16] = 0
		}
		if w == 0 {
			continue
		}
		const low = 0x7fff7fff7fff7fff
		some := ((w&low + low) | w) &^ low >> 15                 // a bit per non-empty group
		some = some * (1<<48 | 1<<33 | 1<<18 | 1<<3) >> 48 & 0xf // moved next to each other
		out[i/16] |= some << shift
	}
}
