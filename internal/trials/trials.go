// Package trials determines how many random cases a test tries.
package trials

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// Of returns n, or under `go test -short` a thirtieth of it, but at least 1.
func Of(n int) int {
	if testing.Short() {
		return max(1, n/30)
	}
	return n
}

// Cases is Of for random cases: ten times as many if COLLOCATE_TEST_LONG is set.
func Cases(n int) int {
	if !testing.Short() && os.Getenv("COLLOCATE_TEST_LONG") != "" {
		return 10 * n
	}
	return Of(n)
}

// Properties sets the number of cases of a package's properties (those of rapid.Check), unless
// -rapid.checks does: n, or ten times as many if COLLOCATE_TEST_LONG is set. Call it from init.
func Properties(n int) {
	if os.Getenv("COLLOCATE_TEST_LONG") != "" {
		n *= 10
	}
	if err := flag.Set("rapid.checks", strconv.Itoa(n)); err != nil {
		panic(err)
	}
}

// Long skips the test under `go test -short`, for the given reason.
func Long(t testing.TB, reason string) {
	t.Helper()
	if testing.Short() {
		t.Skip(reason)
	}
}

// Every returns 1, or n under `go test -short`, where only each n-th case of a list is tried.
func Every(n int) int {
	if testing.Short() {
		return n
	}
	return 1
}
