//go:build race

package eval

// raced: the race detector is at work. Pools drop things then, so that allocations cannot be
// counted.
const raced = true
