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

import "testing"

// On reports whether assertions are checked: in every binary that `go test` builds.
var On = testing.Testing()

// Fail panics, since a condition that the code relies on does not hold.
func Fail(what string) { panic("assertion failed: " + what) }
