//go:build race

package eval

// raced is whether the race detector is on. Pools then drop objects, so that allocations cannot be
// counted.
const raced = true
