package papersbench

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/internal/gpu/kernelsrc"
	"github.com/collocate/collocate/internal/quoted"
)

// docs/performance.md quotes the page in docs/papers. UPDATE=1 writes those parts again from
// testdata/page.tmpl, so that a new page cannot leave old figures behind.
func TestPageIsQuoted(t *testing.T) {
	root := sources(t)
	templates, err := template.New("").Funcs(quotes(filepath.Join(root, "docs", "papers"))).
		ParseFiles("testdata/page.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	quoted.Refresh(t, filepath.Join(root, "docs", "performance.md"), "page", "go test -run Page ./bench/papersbench", templates)
}

// Elsewhere, a number in a sentence or table that names the page is on it, too.
func TestPageHasLooseNumbers(t *testing.T) {
	root := sources(t)
	paths, err := filepath.Glob(filepath.Join(root, "docs", "papers", "*"))
	if err != nil {
		t.Fatal(err)
	}
	var page quoted.Figures
	for _, path := range paths {
		if ext := filepath.Ext(path); ext != ".csv" && ext != ".html" {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		page.Add(strings.NewReplacer(",", " ", "<", " ", ">", " ").Replace(string(data)))
	}
	missing, err := quoted.Loose(root, regexp.MustCompile(`papers/|committed page|([Oo]n|[Ff]rom) the page\b|[Tt]he page (has|is|says|gives)\b`), &page)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range missing {
		t.Errorf("%s: the page has no such number", m)
	}
}

// The committed page is complete, has no files of an older one, and is small.
func TestPageIsWhole(t *testing.T) {
	dir := filepath.Join(sources(t), "docs", "papers")
	page, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	var linked []string
	for _, m := range regexp.MustCompile(`(?:href|src)="([^":]+\.(?:csv|svg))"`).FindAllSubmatch(page, -1) {
		linked = append(linked, string(m[1]))
	}
	slices.Sort(linked)
	linked = slices.Compact(linked)
	var here []string
	size := int64(len(page))
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || name == "index.html" || name == "README.md" {
			return err
		}
		info, err := e.Info()
		if err == nil {
			size += info.Size()
		}
		if !strings.HasPrefix(name, "pieces/") {
			here = append(here, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range linked {
		if !slices.Contains(here, name) {
			t.Errorf("the page links to %s, which is not there", name)
		}
	}
	for _, p := range papers() { // tables without a title are not linked
		linked = append(linked, p.ID+".csv")
	}
	for _, name := range here {
		if !slices.Contains(linked, name) {
			t.Errorf("the page does not link to %s: delete what is left of an older one", name)
		}
	}
	if size > 3e6 {
		t.Errorf("the page has %d bytes, want at most 3 MB", size)
	}
}

// The committed page is that of the committed parts, to the byte: a run that goes on with these
// keeps what is on it.
func TestPageIsOfItsParts(t *testing.T) {
	dir := filepath.Join(sources(t), "docs", "papers")
	r, err := Page(filepath.Join(dir, "pieces"))
	if err != nil {
		t.Fatal(err)
	}
	made := t.TempDir()
	if err := errors.Join(r.Write(made), r.WriteHTML(made), os.Remove(filepath.Join(made, "README.md"))); err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(made, "*"))
	if err != nil || len(paths) < 100 {
		t.Fatalf("%d files, %v", len(paths), err)
	}
	for _, path := range paths {
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, filepath.Base(path))); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s, %v, is not that of the parts: run `go run ./cmd/collocate bench papers --again --out docs/papers`",
				filepath.Base(path), err)
		}
	}
}

func sources(t *testing.T) string {
	t.Helper()
	root, err := kernelsrc.Root()
	if err != nil {
		t.Skipf("the sources are not here: %v", err)
	}
	return root
}

// A quote is a cell of a table. A row or a column that is not there is an error.
func TestQuotes(t *testing.T) {
	dir := t.TempDir()
	r := &report.Report{Name: "some", Title: "Some"}
	r.Add(report.Section{Title: "One", Tables: []report.Table{{Name: "one", Title: "One",
		Header: []string{"job", "engine", "s"}, Rows: [][]string{{"a", "cores", "1.5"}, {"a", "gpu", "0.5"}}}}})
	if err := errors.Join(r.Write(dir), r.WriteHTML(dir)); err != nil {
		t.Fatal(err)
	}
	f := quotes(dir)
	cell := f["cell"].(func(name, column string, keys ...string) (string, error))
	if got, err := cell("one", "s", "a", "gpu"); err != nil || got != "0.5" {
		t.Errorf("the cell of a and gpu is %q, %v", got, err)
	}
	for _, c := range [][]string{{"two", "s", "a"}, {"one", "ms", "a"}, {"one", "s", "b"}} {
		if got, err := cell(c[0], c[1], c[2]); err == nil {
			t.Errorf("cell %q is %q, want an error", c, got)
		}
	}
	if got, err := f["table"].(func(string) (string, error))("one"); err != nil ||
		got != "| job | engine | s |\n| --- | --- | --- |\n| a | cores | 1.5 |\n| a | gpu | 0.5 |" {
		t.Errorf("the table is %q, %v", got, err)
	}
}

// quotes returns the functions of the templates, which read the page in a folder.
func quotes(dir string) template.FuncMap {
	read := func(name string) ([][]string, error) {
		f, err := os.Open(filepath.Join(dir, name+".csv"))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return csv.NewReader(f).ReadAll()
	}
	find := func(at func(header []string, column string) int) func(name, column string, keys ...string) (string, error) {
		return func(name, column string, keys ...string) (string, error) {
			rows, err := read(name)
			if err != nil {
				return "", err
			}
			i := at(rows[0], column)
			for _, row := range rows[1:] {
				if i >= 0 && slices.Equal(row[:len(keys)], keys) {
					return row[i], nil
				}
			}
			return "", fmt.Errorf("%s has no cell of column %q and row %q", name, column, keys)
		}
	}
	return template.FuncMap{
		// The cell in a column of the row that begins with the keys: the first column with this
		// heading, or the last.
		"cell": find(slices.Index[[]string]),
		"last": find(func(header []string, column string) int {
			for i, h := range slices.Backward(header) {
				if h == column {
					return i
				}
			}
			return -1
		}),
		// The cell of a column in the last row.
		"lastof": func(name, column string) (string, error) {
			rows, err := read(name)
			if err != nil {
				return "", err
			}
			i := slices.Index(rows[0], column)
			if i < 0 {
				return "", fmt.Errorf("%s has no column %q", name, column)
			}
			return rows[len(rows)-1][i], nil
		},
		"table": func(name string) (string, error) {
			rows, err := read(name)
			if err != nil {
				return "", err
			}
			rows = slices.Insert(rows, 1, slices.Repeat([]string{"---"}, len(rows[0])))
			var lines []string
			for _, row := range rows {
				lines = append(lines, "| "+strings.Join(row, " | ")+" |")
			}
			return strings.Join(lines, "\n"), nil
		},
		// What the page says about the machine and the run.
		"measured": func() (string, error) {
			page, err := os.ReadFile(filepath.Join(dir, "index.html"))
			if err != nil {
				return "", err
			}
			m := regexp.MustCompile(`which were measured on ([^<]*?)\. All measurements`).FindSubmatch(page)
			if m == nil {
				return "", errors.New("the page does not name its machine")
			}
			on := strings.ReplaceAll(string(m[1]), "; ", ";\n") // lines stay short
			if bytes.Contains(page, []byte("This was a quick run")) {
				on += ", in a quick run on small data"
			}
			return on, nil
		},
		// What the page says is not measured yet.
		"missing": func() (string, error) {
			page, err := os.ReadFile(filepath.Join(dir, "index.html"))
			if err != nil {
				return "", err
			}
			m := regexp.MustCompile(`Not measured yet:</b> ([^<]*?)\.</p>`).FindSubmatch(page)
			if m == nil {
				return "nothing", nil
			}
			return strings.ReplaceAll(string(m[1]), ", ", ",\n"), nil
		},
	}
}
