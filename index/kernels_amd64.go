//go:build !purego

//lint:file-ignore U1000 some of this is called or read by assembly alone

package index

import (
	"encoding/binary"
	"unsafe"

	"github.com/collocate/collocate/internal/cpu"
)

// wide is true if the AVX-512 versions are used. Unpacking also needs VBMI2; without it, AVX2 is
// fastest.
var wide bool

// places is true if positions are extracted without decoding whole groups. Any AVX-512 can do that.
var places bool

func chooseForms(l cpu.Level) {
	places = l == cpu.AVX512
	wide = places && cpu.HasVBMI2
}

// The versions of each kernel; kernels_amd64.s chooses between them.

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

// keepTFs selects the frequencies of those documents of a block that are also in keep.
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

// hasSums reports whether sumTFs is implemented.
func hasSums() bool { return places }

// sumTFs computes the prefix sums of the frequencies of a block.
func sumTFs(tfs *[BlockSize]uint32, sums *[BlockSize + 1]uint32) {
	if places {
		sumsAVX512(tfs, (*[BlockSize]uint32)(sums[1:]))
	}
}

//go:noescape
func readPlacesAVX512(in *byte, v uint64, index, n int, low, high uint64, out *uint32,
	sum uint32) uint32

// readPlaces computes positions from the gaps of a full group, starting at an index; sum is the sum
// of the gaps before it. It extracts single gaps from the packed group, which takes half the time
// of decoding all of them, and may write fewPlaces entries beyond the last one. It returns the sum
// including these gaps. It refuses wide gaps, whose sum may overflow.
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

// shortPatches loads e patches, and reports whether all of them take two bytes.
func shortPatches(b []byte, e int) (low, high uint64, ok bool) {
	// Shifts by 64 and more give 0.
	low = binary.LittleEndian.Uint64(b) & (1<<(16*uint(e)) - 1)
	high = binary.LittleEndian.Uint64(b[8:]) & (1<<(16*uint(max(e-4, 0))) - 1)
	return low, high, (low|high)&0x8080808080808080 == 0
}

// fewPlaces is the largest number of frequencies of a block that are extracted without decoding the
// block. That takes a third of the time of decoding. (With AVX2 and NEON, decoding is faster.)
const fewPlaces = 16

// readTFs extracts the frequencies at some positions of a full packed block. Positions are taken
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
