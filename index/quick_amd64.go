//go:build !purego

package index

import "encoding/binary"

// Most blocks are full, narrow and simple. For them alone there are shorter ways to the kernels: with fewer calls and questions in between
// queries of two or three words take a tenth less time. Each says no to a block that is another, which is then decoded in the general way.

// quickDocs decodes the documents of a full block of gaps without patches.
func quickDocs(data []byte, at uint32, out *[BlockSize]uint32) bool {
	if !hasAVX512 || len(data) < 3 || data[0] > kernelWidth || cap(data) < 2+16*int(data[0])+kernelReach {
		return false
	}
	unpackGapsAVX512(&data[2], uint64(data[0]), out, at)
	return true
}

// quickHead finds the frequencies of a full block that has no patched gaps: where they and their patches begin, their bits, the number of their
// patches.
func quickHead(data []byte) (tfs, patch int, v uint, e int, ok bool) {
	if len(data) < denseHead {
		return 0, 0, 0, 0, false
	}
	tfs = 2 + 16*int(data[0])
	if data[0] > kernelWidth {
		if data[0] != denseMark {
			return 0, 0, 0, 0, false
		}
		tfs = denseHead + 8*int(data[2])
	}
	v, e = uint(data[1]&31), int(data[1]>>5)
	patch = tfs + 16*int(v)
	return tfs, patch, v, e, hasPEXT && v <= kernelWidth && patch+16 <= len(data) && cap(data)-patch >= kernelReach
}

// quickTFs decodes the frequencies of a full block, if their patches are of two bytes.
func quickTFs(data []byte, out *[BlockSize]uint32) bool {
	tfs, patch, v, e, ok := quickHead(data)
	if !ok {
		return false
	}
	unpackPlainAVX512(&data[tfs], uint64(v), out)
	return e == 0 || patchShort(data[patch:], v, e, out)
}

//go:noescape
func tfsAtAVX512(in *byte, v uint64, places *uint32, n int, low, high uint64, out *uint32)

// fewPlaces is how many frequencies of a block are read where they lie: that takes a third of the time that decoding all takes.
const fewPlaces = 16

// readTFs reads the frequencies at some places of a full block where they lie. Places are taken modulo BlockSize.
func readTFs(data []byte, places, out []uint32) bool {
	tfs, patch, v, e, ok := quickHead(data)
	if !ok || uint(len(places)-1) >= fewPlaces || len(out) < len(places) {
		return false
	}
	var low, high uint64
	if e > 0 {
		// Shifts by 64 and more give 0.
		low = binary.LittleEndian.Uint64(data[patch:]) & (1<<(16*uint(e)) - 1)
		high = binary.LittleEndian.Uint64(data[patch+8:]) & (1<<(16*uint(max(e-4, 0))) - 1)
		if (low|high)&0x8080808080808080 != 0 {
			return false
		}
	}
	tfsAtAVX512(&data[tfs], uint64(v), &places[0], len(places), low, high, &out[0])
	return true
}
