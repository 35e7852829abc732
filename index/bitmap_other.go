//go:build !amd64 || purego

package index

// unpackBits finds the documents of a bitmap; if it says that they are not 128, what is in out is undefined.
func unpackBits(words []byte, base uint32, out *[BlockSize]uint32) int {
	return plainUnpackBits(words, base, out)
}

// keepTFs finds the frequencies of those documents of a block that are in keep, too.
func keepTFs(words, keep []byte, tfs *[BlockSize]uint32, out []uint32) int {
	return plainKeepTFs(words, keep, tfs, out)
}
