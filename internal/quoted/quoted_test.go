package quoted

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"
)

const document = `# Speed
From the receipt of an H200: a sort takes 3.1 ms, a copy 2,929 GB/s. Something else takes 77 s.

The receipt says so:

| job | s |
| --- | --- |
| sort | 0.0031 |
| stale | 9.9 |

The receipt also has:

- scans of 5 s

And 55 is nobody's. The receipt has 12.5 (` + "`flag 99`" + `).
<!-- from the receipt: part -->
By the receipt 1234.
<!-- end -->
Nothing from 4711 here.
`

// A number of a sentence or a table that names the source must be in it, rounded or in another
// unit. Other sentences, code and parts that are made may have any.
func TestLoose(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"docs/speed.md": document, "README.md": "The receipt: 42.\n"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var f Figures
	f.AddValue(0.003070788)
	f.Add("copies: 2929 GB/s")
	missing, err := Loose(root, regexp.MustCompile("receipt"), &f)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range missing {
		got = append(got, strings.Join(strings.Fields(m)[:2], " "))
	}
	if want := []string{"speed.md: 9.9", "speed.md: 5", "speed.md: 12.5", "README.md: 42"}; !slices.Equal(got, want) {
		t.Errorf("missing %q, want %q", got, want)
	}
	f.Add("9.94, 12.46, 5 and 42")
	if missing, _ := Loose(root, regexp.MustCompile("receipt"), &f); len(missing) != 0 {
		t.Errorf("rounded numbers are missing: %q", missing)
	}
}

// Refresh writes a stale part again with UPDATE=1, and leaves those of another source.
func TestRefresh(t *testing.T) {
	path := filepath.Join(t.TempDir(), "some.md")
	const before = "a\n<!-- from the page: one -->\nold\n<!-- end -->\n<!-- from the receipt: two -->\nkept\n<!-- end -->\n"
	if err := os.WriteFile(path, []byte(before), 0o666); err != nil {
		t.Fatal(err)
	}
	pages := template.Must(template.New("").Parse(`{{define "one"}}new{{end}}`))
	t.Setenv("UPDATE", "")
	var told fake
	if Refresh(&told, path, "page", "go test", pages); told.errors != 1 {
		t.Errorf("a stale part is told %d times, want once", told.errors)
	}
	t.Setenv("UPDATE", "1")
	Refresh(t, path, "page", "go test", pages)
	if got, _ := os.ReadFile(path); string(got) != strings.Replace(before, "old", "new", 1) {
		t.Errorf("the file is %q", got)
	}
	t.Setenv("UPDATE", "")
	Refresh(t, path, "page", "go test", pages)
}

// fake counts errors.
type fake struct {
	testing.TB
	errors int
}

func (f *fake) Helper()               {}
func (f *fake) Errorf(string, ...any) { f.errors++ }
