//go:build !purego

package index

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// hasAVX512 says whether the kernels in unpack_amd64.s can be used: Intel's processors since
// Ice Lake and AMD's since Zen 4. The plain Go functions beside them give the same bits.
var hasAVX512 = cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VBMI2

const (
	kernelWidth = 24 // the widest numbers that the kernels take
	kernelReach = 64 // bytes that they may read beyond the last number
)

//go:noescape
func unpackPlainAVX512(in *byte, w uint64, out *[BlockSize]uint32)

//go:noescape
func unpackGapsAVX512(in *byte, w uint64, out *[BlockSize]uint32, at uint32)

// prefetch asks memory for 192 bytes: most blocks.
//
//go:noescape
func prefetch(data *byte)

// unpackFull unpacks the numbers of a full block, plus 1 each. It may read what lies behind data in memory of
// the same slice.
func unpackFull(data []byte, w uint, out *[BlockSize]uint32) {
	if hasAVX512 && w <= kernelWidth && uint(cap(data)) >= 16*w+kernelReach {
		unpackPlainAVX512(unsafe.SliceData(data), uint64(w), out)
		return
	}
	unpackPlain[w](data, out)
}

// unpackFullGaps unpacks the gaps of a full block and adds them up.
func unpackFullGaps(data []byte, w uint, out *[BlockSize]uint32, at uint32) {
	if hasAVX512 && w <= kernelWidth && uint(cap(data)) >= 16*w+kernelReach {
		unpackGapsAVX512(unsafe.SliceData(data), uint64(w), out, at)
		return
	}
	unpackGaps[w](data, out, at)
}
