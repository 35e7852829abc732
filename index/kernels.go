//go:build (amd64 || arm64) && !purego

//lint:file-ignore U1000 some of this is called or read by assembly alone

package index

import (
	"unsafe"

	"github.com/collocate/collocate/internal/cpu"
)

// hasKernels is true if the processor supports the assembly kernels. The plain Go functions give
// the same bits.
var hasKernels bool

func init() {
	cpu.Follow(func(l cpu.Level) {
		hasKernels = l != cpu.None
		chooseForms(l)
	})
}

const (
	kernelWidth = 24 // the largest bit width that the kernels accept
	kernelReach = 64 // bytes that kernels may read beyond the last number
)

//go:noescape
func unpackPlainKernel(in *byte, w uint64, out *[BlockSize]uint32)

//go:noescape
func unpackGapsKernel(in *byte, w uint64, out *[BlockSize]uint32, at uint32)

// prefetch prefetches 192 bytes, the size of most blocks.
//
//go:noescape
func prefetch(data *byte)

// prefetchItems prefetches the items with these numbers, each of 1<<shift bytes.
//
//go:noescape
func prefetchItems(items *byte, numbers *uint32, n int, shift uint8)

// unpackFull unpacks the numbers of a full block and adds 1 to each. It may read beyond len(data),
// up to its capacity.
func unpackFull(data []byte, w uint, out *[BlockSize]uint32) {
	if hasKernels && w <= kernelWidth && uint(cap(data)) >= 16*w+kernelReach {
		unpackPlainKernel(unsafe.SliceData(data), uint64(w), out)
		return
	}
	unpackPlain[w](data, out)
}

// unpackFullGaps unpacks the gaps of a full block and computes their prefix sums.
func unpackFullGaps(data []byte, w uint, out *[BlockSize]uint32, at uint32) {
	if hasKernels && w <= kernelWidth && uint(cap(data)) >= 16*w+kernelReach {
		unpackGapsKernel(unsafe.SliceData(data), uint64(w), out, at)
		return
	}
	unpackGaps(data, w, out, at)
}

//go:noescape
func unpackBitsKernel(in *byte, words int, base uint32, out *[BlockSize]uint32) int

// unpackBits decodes a bitmap of at least one word and returns the number of its documents. If that
// is not 128, the content of out is undefined.
func unpackBits(words []byte, base uint32, out *[BlockSize]uint32) int {
	if hasKernels {
		return unpackBitsKernel(unsafe.SliceData(words), len(words)/8, base, out)
	}
	return plainUnpackBits(words, base, out)
}

//go:noescape
func takeKernel(docs, tfs *uint32, n int, next uint32, toDocs, toGaps, toLess *uint32) (wrong, all uint32)

// takeSteps is plainTake for multiples of takeStep.
func takeSteps(docs, tfs []uint32, next uint32, to *waiting, at int) (wrong, all uint32) {
	n := len(docs)
	if !hasKernels || n == 0 || n%takeStep != 0 || len(tfs) != n || at < 0 || at > BlockSize-n {
		return plainTake(docs, tfs, next, to, at)
	}
	return takeKernel(&docs[0], &tfs[0], n, next, &to.docs[at], &to.gaps[at], &to.tfs[at])
}

//go:noescape
func countKernel(v *[BlockSize]uint32, counts *[4]uint32)

// countBlock counts the bit widths of a full block.
func countBlock(v *[BlockSize]uint32) widthCounts {
	if !hasKernels {
		return countWidths(v[:BlockSize/2], v[BlockSize/2:])
	}
	var c [4]uint32
	countKernel(v, &c)
	return widthCounts{uint64(c[0]), uint64(c[1]), uint64(c[2]), uint64(c[3])}
}

// bitPlaces lists the positions of the set bits of each byte value, padded with zeros.
var bitPlaces = func() (rows [256][8]uint8) {
	for b := range rows {
		n := 0
		for bit := range uint8(8) {
			if b>>bit&1 != 0 {
				rows[b][n] = bit
				n++
			}
		}
	}
	return rows
}()
