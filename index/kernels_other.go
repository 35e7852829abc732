//go:build (!amd64 && !arm64) || purego

package index

// There are no kernels on other architectures; plain Go does their work.
const (
	hasKernels  = false
	kernelWidth = 24
	kernelReach = 64
)

func unpackPlainKernel(in *byte, w uint64, out *[BlockSize]uint32) {}

func unpackGapsKernel(in *byte, w uint64, out *[BlockSize]uint32, at uint32) {}

// prefetch only affects the cache, so the plain version does nothing.
func prefetch(*byte) {}

func prefetchItems(*byte, *uint32, int, uint8) {}

func unpackFull(data []byte, w uint, out *[BlockSize]uint32) { unpackPlain[w](data, out) }

func unpackFullGaps(data []byte, w uint, out *[BlockSize]uint32, at uint32) {
	unpackGaps(data, w, out, at)
}

func takeSteps(docs, tfs []uint32, next uint32, to *waiting, at int) (wrong, all uint32) {
	return plainTake(docs, tfs, next, to, at)
}

func countBlock(v *[BlockSize]uint32) widthCounts {
	return countWidths(v[:BlockSize/2], v[BlockSize/2:])
}

func unpackBits(words []byte, base uint32, out *[BlockSize]uint32) int {
	return plainUnpackBits(words, base, out)
}
