//go:build !amd64 || purego

package index

// readTFs extracts the frequencies at some positions of a packed block. Without AVX-512, decoding
// the whole block is faster, so it always returns false.
func readTFs([]byte, []uint32, []uint32) bool { return false }

// keepTFs selects the frequencies of those documents of a block that are also in keep.
func keepTFs(words, keep []byte, tfs *[BlockSize]uint32, out []uint32) int {
	return plainKeepTFs(words, keep, tfs, out)
}

// hasSums reports whether sumTFs is implemented.
func hasSums() bool { return false }

// sumTFs computes the prefix sums of the frequencies of a block.
func sumTFs(*[BlockSize]uint32, *[BlockSize + 1]uint32) {}

// fewPlaces is the number of entries that readPlaces may write beyond the last one.
const fewPlaces = 0

// readPlaces extracts positions from a packed group. Without AVX-512, decoding the whole group is
// faster, so it always returns false.
func readPlaces([]byte, int, []uint32, uint32) (uint32, bool) { return 0, false }
