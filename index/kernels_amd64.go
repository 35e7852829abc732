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

// places says that places are read where they lie, which any AVX-512 can do.
var places bool

func chooseForms(l cpu.Level) {
	places = l == cpu.AVX512
	wide = places && cpu.HasVBMI2
}

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

//go:noescape
func sumsAVX512(in, out *[BlockSize]uint32)

// hasSums reports whether sumTFs does something.
func hasSums() bool { return places }

// sumTFs adds up the frequencies before each posting of a block.
func sumTFs(tfs *[BlockSize]uint32, sums *[BlockSize + 1]uint32) {
	if places {
		sumsAVX512(tfs, (*[BlockSize]uint32)(sums[1:]))
	}
}

//go:noescape
func readPlacesAVX512(in *byte, v uint64, index, n int, low, high uint64, out *uint32,
	sum uint32) uint32

// readPlaces makes places of the gaps of a full group from an index on, the first of which comes
// after sum. It reads the gaps where they lie, which takes half the time of decoding all, and may
// write fewPlaces more. It returns the sum of all. Wide gaps, whose sum may be too large, are left.
func readPlaces(group []byte, index int, out []uint32, sum uint32) (uint32, bool) {
	n := len(out)
	if !places || n == 0 || uint(index) > uint(BlockSize-n) || cap(out) < n+fewPlaces || len(group) == 0 {
		return 0, false
	}
	v, e := uint(group[0]&31), int(group[0]>>5)
	patch := 1 + BlockSize/8*int(v)
	if v > 16 || patch+16 > len(group) || cap(group)-patch < kernelReach {
		return 0, false
	}
	low, high, ok := shortPatches(group[patch:], e)
	if !ok {
		return 0, false
	}
	return readPlacesAVX512(&group[1], uint64(v), index, n, low, high, &out[0], sum), true
}

// shortPatches are e patches if they are of two bytes each.
func shortPatches(b []byte, e int) (low, high uint64, ok bool) {
	// Shifts by 64 and more give 0.
	low = binary.LittleEndian.Uint64(b) & (1<<(16*uint(e)) - 1)
	high = binary.LittleEndian.Uint64(b[8:]) & (1<<(16*uint(max(e-4, 0))) - 1)
	return low, high, (low|high)&0x8080808080808080 == 0
}

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
	low, high, ok := shortPatches(data[patch:], e)
	if !ok {
		return false
	}
	tfsAtAVX512(&data[tfs], uint64(v), &places[0], len(places), low, high, &out[0])
	return true
}
