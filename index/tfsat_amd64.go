//go:build !purego

package index

import (
	"encoding/binary"
	"unsafe"
)

//go:noescape
func tfsAtAVX512(in *byte, v uint64, places *uint32, n int, low, high uint64, out *uint32)

// fewPlaces is how many frequencies of a block are read where they lie: a third of the time that decoding all takes.
const fewPlaces = 16

// readTFs reads the frequencies at some places of a full block where they lie, if that is quick. Places are taken modulo BlockSize.
func readTFs(data []byte, places, out []uint32) bool {
	h, ok := readHead(data, BlockSize)
	if !ok || !hasPEXT || h.v > kernelWidth || h.d > 0 || uint(len(places)-1) >= fewPlaces || len(out) < len(places) || cap(data)-h.patch < kernelReach {
		return false
	}
	var low, high uint64
	if h.e > 0 {
		p := data[h.patch : h.patch+16]
		// Shifts by 64 and more give 0.
		low = binary.LittleEndian.Uint64(p) & (1<<(16*uint(h.e)) - 1)
		high = binary.LittleEndian.Uint64(p[8:]) & (1<<(16*uint(max(h.e-4, 0))) - 1)
		if (low|high)&0x8080808080808080 != 0 {
			return false
		}
	}
	tfsAtAVX512(unsafe.SliceData(data[h.tfs:]), uint64(h.v), &places[0], len(places), low, high, &out[0])
	return true
}
