package simd

// Apart keeps what is before it and what is behind it out of one cache line, and out of two that
// are fetched as a pair.
type Apart [128]byte
