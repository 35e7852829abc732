package simd

// The kernels of eval's impacts.go. Sums of a tile are whole numbers, so that they do not depend on
// the order in which weights are added.

// AddBytes adds factor times each byte to the sum at its place. The number of sums is a multiple of
// 32, and there are at least as many bytes. No factor exceeds 32,767.
func AddBytes(sums []int32, bytes []uint8, factor int32) {
	if len(sums) == 0 {
		return
	}
	bytes = bytes[:len(sums)]
	if hasTileKernels {
		addBytes(&sums[0], &bytes[0], len(sums), factor)
		return
	}
	plainAddBytes(sums, bytes, factor)
}

func plainAddBytes(sums []int32, bytes []uint8, factor int32) {
	bytes = bytes[:len(sums)]
	for i, b := range bytes {
		sums[i] += factor * int32(b)
	}
}

// Above sets the bits of the sums above need, and clears the others. The number of sums is a
// multiple of 64; out has one word for each 64.
func Above(sums []int32, need int32, out []uint64) {
	if len(sums) == 0 {
		return
	}
	out = out[:len(sums)/64]
	if hasTileKernels {
		above(&sums[0], len(sums), need, &out[0])
		return
	}
	plainAbove(sums, need, out)
}

func plainAbove(sums []int32, need int32, out []uint64) {
	for w := range out {
		bits := uint64(0)
		for i, s := range sums[64*w : 64*w+64] {
			if s > need {
				bits |= 1 << i
			}
		}
		out[w] = bits
	}
}

// Highest stores the highest of each 32 sums.
func Highest(sums []int32, out []int32) {
	if len(sums) == 0 {
		return
	}
	out = out[:len(sums)/32]
	if hasTileKernels {
		highest(&sums[0], len(out), &out[0])
		return
	}
	plainHighest(sums, out)
}

func plainHighest(sums []int32, out []int32) {
	for b := range out {
		best := sums[32*b]
		for _, s := range sums[32*b : 32*b+32] {
			best = max(best, s)
		}
		out[b] = best
	}
}
