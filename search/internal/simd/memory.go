package simd

// Apart is padding that keeps its neighbours out of the same cache line, and out of a pair of lines
// that are fetched together.
type Apart [128]byte
