// Package cputest runs tests and benchmarks with each level of vector instructions.
package cputest

import (
	"testing"

	"github.com/collocate/collocate/internal/cpu"
)

// Levels runs a test with each level of the machine. It must not run in parallel with other tests.
func Levels(t *testing.T, test func(t *testing.T)) {
	for _, l := range cpu.Levels() {
		t.Run(l.String(), func(t *testing.T) {
			defer With(l)()
			test(t)
		})
	}
}

// Benchmarks is Levels for benchmarks.
func Benchmarks(b *testing.B, bench func(b *testing.B)) {
	for _, l := range cpu.Levels() {
		b.Run(l.String(), func(b *testing.B) {
			defer With(l)()
			bench(b)
		})
	}
}

// With sets the level until the returned function is called.
func With(l cpu.Level) func() {
	was := cpu.Used()
	cpu.Use(l)
	return func() { cpu.Use(was) }
}
