//go:build !purego

package index

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

var hasPEXT = hasAVX512 && cpu.X86.HasBMI2

//go:noescape
func unpackBitsAVX512(in *byte, words int, base uint32, out *[BlockSize]uint32) int

// unpackBits finds the documents of a bitmap of at least one word; if it says that they are not 128, what is in out is undefined.
func unpackBits(words []byte, base uint32, out *[BlockSize]uint32) int {
	if hasAVX512 {
		return unpackBitsAVX512(unsafe.SliceData(words), len(words)/8, base, out)
	}
	return plainUnpackBits(words, base, out)
}

//go:noescape
func keepTFsAVX512(words, keep *byte, n int, tfs *[BlockSize]uint32, out *uint32) int

// keepTFs finds the frequencies of those documents of a block that are in keep, too.
func keepTFs(words, keep []byte, tfs *[BlockSize]uint32, out []uint32) int {
	if hasPEXT {
		return keepTFsAVX512(unsafe.SliceData(words), unsafe.SliceData(keep), len(words)/8, tfs, unsafe.SliceData(out))
	}
	return plainKeepTFs(words, keep, tfs, out)
}
