//go:build !amd64 || purego

package index

// readTFs reads the frequencies at some places of a block where they lie. Here decoding all is
// faster.
func readTFs([]byte, []uint32, []uint32) bool { return false }

// keepTFs finds the frequencies of those documents of a block that are in keep, too.
func keepTFs(words, keep []byte, tfs *[BlockSize]uint32, out []uint32) int {
	return plainKeepTFs(words, keep, tfs, out)
}

// hasSums reports whether sumTFs does something.
func hasSums() bool { return false }

// sumTFs adds up the frequencies before each posting of a block.
func sumTFs(*[BlockSize]uint32, *[BlockSize + 1]uint32) {}

// fewPlaces is how many places more readPlaces may write.
const fewPlaces = 0

// readPlaces reads places where they lie. Here decoding all is faster.
func readPlaces([]byte, int, []uint32, uint32) (uint32, bool) { return 0, false }
