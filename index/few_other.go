//go:build !amd64 || purego

package index

// readTFs reads the frequencies at some places of a block where they lie. Here decoding all is
// faster.
func readTFs([]byte, []uint32, []uint32) bool { return false }

// keepTFs finds the frequencies of those documents of a block that are in keep, too.
func keepTFs(words, keep []byte, tfs *[BlockSize]uint32, out []uint32) int {
	return plainKeepTFs(words, keep, tfs, out)
}
