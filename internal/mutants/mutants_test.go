package main

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
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
	want := `toy.go:19: Sum: no if err := ctx.Err(); err != nil: no test reaches it
toy.go:35: Sorted: no slices.Clone of list
toy.go:48: Counter.Add: no lock of c.mu
toy.go:57: Below: sum <= b*(1-0x1p-40): no test reaches it
toy.go:57: Below: 0 instead of 0x1p-40
github.com/collocate/collocate/internal/mutants/testdata/toy: 11 mutants, 6 killed (0 by the timeout), 5 survived (2 not reached); 0 did not compile
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
}

// A judgment is about code that is still there. One that is not must go, or be made anew for what
// took its place.
func TestJudgedMutantsExist(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	packages := 0
	err = filepath.WalkDir(root, func(dir string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); dir != root && (name[0] == '.' || name == "node_modules") {
			return filepath.SkipDir
		}
		judged, err := judgments(dir)
		if err != nil || judged == nil {
			return err
		}
		packages++
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			return err
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			found, err := mutantsOf(name)
			if err != nil {
				return err
			}
			for _, m := range found {
				delete(judged, m.title())
			}
		}
		for title := range judged {
			t.Errorf("%s lists a mutant that is no more: %s", filepath.Join(dir, judgedFile), title)
		}
		return nil
	})
	if err != nil || packages == 0 {
		t.Errorf("%d packages, %v", packages, err)
	}
}

// A list of judgments gives each mutant a reason.
func TestJudgmentsHaveReasons(t *testing.T) {
	for text, want := range map[string]string{
		"a.go: f: x\na.go: g: x\n  One\n  reason.\n\na.go: h: x\n  Another.\n": "",
		"  A reason.\na.go: f: x\n":                "txt:1: a reason without a mutant",
		"a.go: f: x\n":                             "no reason at the end",
		"a.go: f: x\n  A reason.\na.go: g: x\n":    "no reason at the end",
		"a.go: f: x\n  A reason.\na.go: f: x\n  B": "txt:3: twice: a.go: f: x",
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, filepath.FromSlash(judgedFile))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := judgments(dir)
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %s", text, err, want)
			}
			continue
		}
		reasons := map[string]string{"a.go: f: x": "One reason.", "a.go: g: x": "One reason.", "a.go: h: x": "Another."}
		if err != nil || !maps.Equal(got, reasons) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
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
		"^lock": "toy.go:48: Counter.Add: no lock of c.mu\n",
		"^copy": "toy.go:35: Sorted: no slices.Clone of list\n",
		"^margin": "toy.go:11: slack: 2 * 4\ntoy.go:11: slack: 2 / 4\n" +
			"toy.go:57: Below: 0 instead of 0x1p-40\n",
	} {
		if got := list("-kinds", kinds); got != want {
			t.Errorf("%s: %s", kinds, got)
		}
	}
}
