package main

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
)

// Of a toy package the mutants survive that its tests do not need, and the tree stays as it is.
func TestSurvivorsAreWhatNoTestNeeds(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	if testing.Short() {
		t.Skip("compiles a package for each mutant")
	}
	const toy = "./testdata/toy"
	var out bytes.Buffer
	if err := run(t.Context(), &out, []string{"-n", "0", toy}); err != nil {
		t.Fatal(err)
	}
	want := `toy.go:19: no if err := ctx.Err(); err != nil
toy.go:22: v <= 0
toy.go:35: no slices.Clone of list
toy.go:48: no lock of c.mu
github.com/collocate/collocate/internal/mutants/testdata/toy: 10 mutants, 6 killed (0 by the timeout), 4 survived; 0 did not compile
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
}

// A sample depends on its seed alone, and has as many mutants as were asked for.
func TestSamplesAreDrawnBySeed(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	list := func(args ...string) string {
		var out bytes.Buffer
		if err := run(t.Context(), &out, append(append([]string{"-list"}, args...), "./testdata/toy")); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	one := list("-n", "4", "-seed", "1")
	if strings.Count(one, "\n") != 4 || one != list("-n", "4", "-seed", "1") || one == list("-n", "4", "-seed", "2") {
		t.Errorf("seed 1 draws\n%sthen\n%s, and seed 2\n%s", one, list("-n", "4", "-seed", "1"), list("-n", "4", "-seed", "2"))
	}
	if got := list("-kinds", "lock"); got != "toy.go:48: no lock of c.mu\n" {
		t.Errorf("locks: %s", got)
	}
}
