package choice

import (
	"fmt"
	"slices"
	"testing"
)

type colour int

var colours = New[colour]("colour", "red", "green", "blue")

func TestNamesAndBack(t *testing.T) {
	for i, name := range colours.List() {
		if v, err := colours.Parse(name); v != colour(i) || err != nil || colours.Of(v) != name {
			t.Errorf("%s: parsed as %d, %v, and printed as %s", name, v, err, colours.Of(v))
		}
	}
	if got := colours.Of(7); got != "colour(7)" {
		t.Errorf("a value without a name prints as %s, want colour(7)", got)
	}
	if got := colours.Of(-1); got != "colour(-1)" {
		t.Errorf("a negative value prints as %s, want colour(-1)", got)
	}
}

// The error of an unknown name says what was expected, and a flag keeps its value.
func TestUnknownNames(t *testing.T) {
	v := colour(2)
	err := colours.Set(&v, "mauve")
	if err == nil || err.Error() != `unknown colour "mauve": want red, green or blue` || v != 2 {
		t.Errorf("an unknown name: %v, value %d; want an error and 2", err, v)
	}
	if err := colours.Set(&v, "green"); err != nil || v != 1 {
		t.Errorf("green: %v, value %d; want 1", err, v)
	}
	if _, err := New[colour]("tint", "grey").Parse(""); err == nil || err.Error() != `unknown tint "": want grey` {
		t.Errorf("an empty name: %v, want an error that names grey", err)
	}
}

// Values without a name are errors, which list the names.
func TestCheck(t *testing.T) {
	for v := range colour(3) {
		if err := colours.Check(v); err != nil {
			t.Errorf("%v: %v, want no error", v, err)
		}
	}
	for _, v := range []colour{-1, 3} {
		if err := colours.Check(v); err == nil || err.Error() != fmt.Sprintf("unknown colour %d: want red, green or blue", v) {
			t.Errorf("%d: %v, want an error that lists the names", v, err)
		}
	}
}

// The result of List may be changed.
func TestListIsACopy(t *testing.T) {
	colours.List()[0] = "black"
	if !slices.Equal(colours.List(), []string{"red", "green", "blue"}) {
		t.Errorf("the names became %v", colours.List())
	}
}
