package simd

// KeepStarts keeps those of the increasing starts for which start+place is among the increasing
// places. There are several pairs of such lists, concatenated; ends and until say where the lists
// of each pair end. The kept starts are moved to the front, ends is updated, and the number of kept
// starts is returned.
func KeepStarts(starts, ends, places, until []uint32, place uint32) int {
	n := len(ends)
	if hasAVX512() && n > 0 && len(starts) > 0 && len(places) > 0 && len(until) >= n &&
		int(ends[n-1]) <= len(starts) && int(until[n-1]) <= len(places) {
		return keepStartsAVX512(&starts[0], &ends[0], &places[0], &until[0], n, place)
	}
	return PlainKeepStarts(starts, ends, places, until, place)
}

// PlainKeepStarts is KeepStarts in plain Go.
func PlainKeepStarts(starts, ends, places, until []uint32, place uint32) int {
	kept, from, after := 0, uint32(0), uint32(0)
	for i, end := range ends {
		kept += keepStarts(starts[kept:], starts[from:end], places[after:until[i]], place)
		from, after, ends[i] = end, until[i], uint32(kept)
	}
	return kept
}

// keepStarts is KeepStarts for one pair of lists.
func keepStarts(kept, starts, places []uint32, place uint32) (n int) {
	if len(starts)*len(places) <= fewPairs {
		for _, s := range starts {
			want, has := uint64(s+place), uint64(0)
			for _, at := range places {
				has |= (want ^ uint64(at)) - 1
			}
			kept[n] = s
			n += int(has >> 63)
		}
		return n
	}
	j := 0
	for _, s := range starts {
		want := s + place
		for j < len(places) && places[j] < want {
			j++
		}
		if j == len(places) {
			break
		}
		kept[n] = s
		if places[j] == want {
			n++
		}
	}
	return n
}
