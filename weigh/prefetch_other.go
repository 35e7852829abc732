//go:build !amd64 && !arm64

package weigh

func prefetchSlots(*slot, uint64, *[lookahead]key, int) {}

func prefetchChunk(*uint32, uint32) {}

func prefetchGaps(*uint16, *[lookahead]uint32, int) {}
