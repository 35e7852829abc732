// Package assert checks pre- and postconditions in tests.
//
// A condition is stated in the comment of a function (Precondition, Postcondition), and where it
// can be checked, also as
//
//	if assert.On && !holds {
//		assert.Fail("what does not hold")
//	}
//
// Every test checks it. Elsewhere the condition is not even evaluated: On is a variable that is
// false, so a check costs a load and a branch. None is in an innermost loop.
package assert

import (
	"runtime/debug"
	"strings"
)

// On reports whether assertions are checked: in every binary that `go test` builds of a package of
// this module, but not in the tests of programs that use it. The path of the main package says so;
// package testing would bring the flags of tests into every program.
var On = func() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && strings.HasSuffix(info.Path, ".test") && strings.HasPrefix(info.Path, "github.com/collocate/collocate")
}()

// Fail panics, since a condition that the code relies on does not hold.
func Fail(what string) { panic("assertion failed: " + what) }
