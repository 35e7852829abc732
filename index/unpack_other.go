//go:build !amd64 || purego

package index

// unpackFull unpacks the numbers of a full block, plus 1 each.
func unpackFull(data []byte, w uint, out *[BlockSize]uint32) { unpackPlain[w](data, out) }

// unpackFullGaps unpacks the gaps of a full block and adds them up.
func unpackFullGaps(data []byte, w uint, out *[BlockSize]uint32, at uint32) {
	unpackGaps[w](data, out, at)
}

// prefetch changes nothing but the cache, so that a twin need not do anything.
func prefetch(*byte) {}
