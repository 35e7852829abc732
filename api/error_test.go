package api

import (
	"errors"
	"testing"
)

// A parameter is named once, also if what was expected begins with its name.
func TestErrorsNameAParameterOnce(t *testing.T) {
	for _, c := range []struct {
		err              Error
		plain, asFlagged string
	}{
		{Error{Param: "facet", Err: errors.New(`facet "lang:0": want 1 or more`)},
			`facet "lang:0": want 1 or more`, `--facet "lang:0": want 1 or more`},
		{Error{Param: "field_weights", Err: errors.New("field weights: all are 0")}, "field_weights: all are 0",
			"--field_weights: all are 0"},
		{Error{Param: "sort", Err: errors.New("sorting is off")}, "sort: sorting is off", "--sort: sorting is off"},
		{Error{Param: "k", Said: "0", Err: errors.New("want 1 or more")}, "k 0: want 1 or more", "--k 0: want 1 or more"},
	} {
		if c.err.Error() != c.plain || c.err.Text("--"+c.err.Param) != c.asFlagged {
			t.Errorf("%q and %q, want %q and %q", c.err.Error(), c.err.Text("--"+c.err.Param), c.plain, c.asFlagged)
		}
	}
}
