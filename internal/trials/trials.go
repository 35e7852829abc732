// Package trials says how many random cases a test tries.
package trials

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// Of is n, or a thirtieth of it, but at least one, under `go test -short`.
func Of(n int) int {
	if testing.Short() {
		return max(1, n/30)
	}
	return n
}

// Cases is Of for cases that are drawn at random: ten times as many if COLLOCATE_TEST_LONG is set.
func Cases(n int) int {
	if !testing.Short() && os.Getenv("COLLOCATE_TEST_LONG") != "" {
		return 10 * n
	}
	return Of(n)
}

// Properties sets on how many cases a package tries its properties (those of rapid.Check), unless
// -rapid.checks says so: n, or ten times as many if COLLOCATE_TEST_LONG is set. Call it from init.
func Properties(n int) {
	if os.Getenv("COLLOCATE_TEST_LONG") != "" {
		n *= 10
	}
	if err := flag.Set("rapid.checks", strconv.Itoa(n)); err != nil {
		panic(err)
	}
}

// Long leaves the test out under `go test -short`, for that reason.
func Long(t testing.TB, reason string) {
	t.Helper()
	if testing.Short() {
		t.Skip(reason)
	}
}

// Every is 1, or n under `go test -short`: of the cases in a list, each n-th is tried there.
func Every(n int) int {
	if testing.Short() {
		return n
	}
	return 1
}
