//go:build !amd64 && !arm64

package weigh

func prefetchSlots(*slot, uint64, *[lookahead]key, int) {}

func prefetchPostings(*uint32, *[lookahead]uint32, int) {}

func prefetchNext(*uint32, *uint32, int) {}
