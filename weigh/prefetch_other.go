//go:build !amd64 && !arm64

package weigh

func prefetchSlots(*slot, uint64, *[lookahead]key) {}

func prefetchPostings(*uint32, *[lookahead]uint32) {}

func prefetchNext(*uint32, *[lookahead]uint32) {}
