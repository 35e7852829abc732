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
	want := `toy.go:19: no if err := ctx.Err(); err != nil: no test reaches it
toy.go:22: v <= 0: no test reaches it
toy.go:35: no slices.Clone of list
toy.go:48: no lock of c.mu
toy.go:57: sum <= b*(1-0x1p-40): no test reaches it
toy.go:57: 0 instead of 0x1p-40
github.com/collocate/collocate/internal/mutants/testdata/toy: 12 mutants, 6 killed (0 by the timeout), 6 survived (3 not reached); 0 did not compile
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
}

// Edits may wrap others: the inner ones begin last and end first.
func TestEditsNest(t *testing.T) {
	wrap := func(start, end int, name string) edit {
		return edit{start: start, end: end, before: name + "(", after: ")"}
	}
	got := applied([]byte("a<b && c"), []edit{wrap(0, 8, "all"), wrap(0, 3, "outer"), wrap(0, 3, "inner"),
		{start: 1, end: 2, text: ", "}, wrap(7, 8, "last")})
	if want := "all(outer(inner(a, b)) && last(c))"; string(got) != want {
		t.Errorf("%s, want %s", got, want)
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
	for kinds, want := range map[string]string{
		"^lock": "toy.go:48: no lock of c.mu\n",
		"^copy": "toy.go:35: no slices.Clone of list\n",
		"^margin": "toy.go:11: slack = 2 * 4\ntoy.go:11: slack = 2 / 4\n" +
			"toy.go:57: 0 instead of 0x1p-40\n",
	} {
		if got := list("-kinds", kinds); got != want {
			t.Errorf("%s: %s", kinds, got)
		}
	}
}
