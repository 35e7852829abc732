//go:build assert

package eval

// assert panics if a condition that the code relies on does not hold. Tests compile it in with the
// build tag assert (see .ci/run); elsewhere it is empty.
func assert(holds bool, what string) {
	if !holds {
		panic("eval: " + what)
	}
}
