//go:build !purego

//lint:file-ignore U1000 some of this is called or read by assembly alone

package index

import (
	"encoding/binary"
	"unsafe"

	"github.com/collocate/collocate/internal/cpu"
)

// wide says that the forms for AVX-512 are used. Unpacking wants its second set of instructions for
// bytes, too; without that AVX2 is faster than anything else.
var wide bool

func chooseForms(l cpu.Level) { wide = l == cpu.AVX512 && cpu.HasVBMI2 }

// The forms of the kernels, between which kernels_amd64.s chooses.

//go:noescape
func unpackPlainAVX512(in *byte, w uint64, out *[BlockSize]uint32)

//go:noescape
func unpackPlainAVX2(in *byte, w uint64, out *[BlockSize]uint32)

//go:noescape
func unpackGapsAVX512(in *byte, w uint64, out *[BlockSize]uint32, at uint32)

//go:noescape
func unpackGapsAVX2(in *byte, w uint64, out *[BlockSize]uint32, at uint32)

//go:noescape
func unpackBitsAVX512(in *byte, words int, base uint32, out *[BlockSize]uint32) int

//go:noescape
func unpackBitsAVX2(in *byte, words int, base uint32, out *[BlockSize]uint32) int

//go:noescape
func keepTFsAVX512(words, keep *byte, n int, tfs *[BlockSize]uint32, out *uint32) int

// keepTFs finds the frequencies of those documents of a block that are in keep, too.
func keepTFs(words, keep []byte, tfs *[BlockSize]uint32, out []uint32) int {
	if wide {
		return keepTFsAVX512(unsafe.SliceData(words), unsafe.SliceData(keep), len(words)/8, tfs, unsafe.SliceData(out))
	}
	return plainKeepTFs(words, keep, tfs, out)
}

//go:noescape
func tfsAtAVX512(in *byte, v uint64, places *uint32, n int, low, high uint64, out *uint32)

// fewPlaces is how many frequencies of a block are read where they lie: that takes a third of the
// time that decoding all takes. (With AVX2 and NEON decoding all is faster.)
const fewPlaces = 16

// readTFs reads the frequencies at some places of a full block where they lie. Places are taken
// modulo BlockSize.
func readTFs(data []byte, places, out []uint32) bool {
	tfs, patch, v, e, ok := quickHead(data)
	if !wide || !ok || uint(len(places)-1) >= fewPlaces || len(out) < len(places) {
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
