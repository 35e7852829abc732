package text

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tree writes files below a temporary folder, which it returns.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// idsOf returns the IDs of a corpus, read in one goroutine, and checks that batches have the same.
func idsOf(t *testing.T, c *Corpus) (ids []string, err error) {
	t.Helper()
	for d, err := range c.All(t.Context()) {
		if err != nil {
			return ids, err
		}
		ids = append(ids, d.ID)
	}
	var batches []string
	one := *c
	one.Options.Threads = 1
	err = one.Batches(t.Context(), func(_ int, b *Batch) error {
		for _, d := range b.Docs {
			batches = append(batches, d.ID)
		}
		return nil
	})
	if err != nil || !slices.Equal(ids, batches) {
		t.Errorf("batches have the IDs %q, %v; want %q", batches, err, ids)
	}
	return ids, nil
}

// With a root, a file has the same ID however its path is written: by a folder above it, by itself,
// from another working directory, or through a link.
func TestIDsAreRelativeToARoot(t *testing.T) {
	dir := tree(t, map[string]string{"cr/x/README.md": "one", "cr/y/README.md": "two", "cr/top.txt": "three"})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(dir, "cr"), link); err != nil {
		t.Skip(err)
	}
	t.Chdir(dir)
	root := filepath.Join(dir, "cr")
	for _, c := range []struct{ paths, want string }{
		{"cr", "top.txt x/README.md y/README.md"},
		{"cr/x/README.md", "x/README.md"},
		{"cr/y ./cr/x/../x/README.md", "y/README.md x/README.md"},
		{root + "/y/README.md", "y/README.md"},
		{link + "/y", "y/README.md"},
		{link + "/x/README.md", "x/README.md"},
		{".", "top.txt x/README.md y/README.md"},
		{"cr cr/x cr/x/README.md", "top.txt x/README.md y/README.md"},
	} {
		corpus := &Corpus{Paths: strings.Fields(c.paths), Options: Options{Format: File, Root: root}}
		ids, err := idsOf(t, corpus)
		if err != nil || !slices.Equal(ids, strings.Fields(c.want)) {
			t.Errorf("%s: IDs %q, %v; want %s", c.paths, ids, err, c.want)
		}
	}
	// Documents that get their IDs from the name of a file outside the root are refused; those with
	// IDs of their own are not.
	os.WriteFile("other.txt", []byte("plain"), 0o666)
	os.WriteFile("other.jsonl", []byte(`{"id":"7","text":"a rose"}`), 0o666)
	if ids, err := idsOf(t, &Corpus{Paths: []string{"other.jsonl"}, Options: Options{Root: root}}); err != nil || ids[0] != "7" {
		t.Errorf("other.jsonl: %q, %v; want 7", ids, err)
	}
	for _, format := range []Format{File, Lines} {
		_, err := idsOf(t, &Corpus{Paths: []string{"other.txt"}, Options: Options{Format: format, Root: root}})
		if err == nil || !strings.Contains(err.Error(), "other.txt: lies outside "+root) ||
			!strings.Contains(err.Error(), "text.Options.Root") {
			t.Errorf("a file outside the root: error %v, want one that names both", err)
		}
	}
}

// An index that is empty takes the deepest folder of all files for the root; one that remembers a
// root keeps it, and one that has documents without a root says what is assumed.
func TestWhichRootIsRemembered(t *testing.T) {
	dir := tree(t, map[string]string{"a/x.txt": "one", "a/s/y.txt": "two", "b/x.txt": "three", "d.jsonl": `{"id":"1","text":"t"}`})
	t.Chdir(dir)
	for _, c := range []struct {
		paths, given string
		known        *Root
		has          string // IDs of the index; "" means that it is empty
		ids, root    string
		note         string
	}{
		{"a", "", nil, "", "s/y.txt x.txt", "a", ""},
		{"a/x.txt", "", nil, "", "x.txt", "a", ""},
		{"a b", "", nil, "", "a/s/y.txt a/x.txt b/x.txt", ".", "relative to " + dir},
		{"a/s/y.txt a/x.txt", "", nil, "", "s/y.txt x.txt", "a", "relative to"},
		{"a/s/y.txt", ".", nil, "", "a/s/y.txt", ".", ""},
		{"a/s/y.txt", "", &Root{Folder: dir}, "other", "a/s/y.txt", ".", ""},
		{"a/s/y.txt", "a", &Root{Folder: dir}, "other", "s/y.txt", "a", "from now on; until now to " + dir},
		{"a/s/y.txt", "", nil, "other", "y.txt", "a/s", "relative to " + filepath.Join(dir, "a/s") + " from now on"},
		{"a b", "", nil, "other", "a/s/y.txt a/x.txt b/x.txt", ".", "from now on"},
		{"a/s/y.txt", "", nil, "y.txt", "y.txt", "", "does not remember a folder"},
		{"a", "", nil, "s/y.txt", "s/y.txt x.txt", "", "does not remember a folder"},
		{"d.jsonl", "", nil, "", "1", "", ""},
		{"d.jsonl", "", &Root{Folder: "/elsewhere"}, "other", "1", "/elsewhere", ""},
	} {
		var notes []string
		corpus := &Corpus{Paths: strings.Fields(c.paths), Options: Options{Root: c.given,
			Note: func(line string) { notes = append(notes, line) }}}
		if !strings.HasSuffix(c.paths, ".jsonl") {
			corpus.Options.Format = File
		}
		rooted, used, err := corpus.WithRoot(c.known, having(c.has))
		if err != nil {
			t.Fatal(err)
		}
		ids, err := idsOf(t, rooted)
		if err != nil || !slices.Equal(ids, strings.Fields(c.ids)) {
			t.Errorf("%s: IDs %q, %v; want %s", c.paths, ids, err, c.ids)
		}
		want := c.root
		if want != "" && !filepath.IsAbs(want) {
			want = filepath.Join(dir, want)
		}
		if got := used(); got == nil && want != "" || got != nil && got.Folder != want {
			t.Errorf("%s: the root is %v, want %q", c.paths, got, want)
		}
		if all := strings.Join(notes, "\n"); !strings.Contains(all, c.note) || c.note == "" && all != "" {
			t.Errorf("%s: notes %q, want %q", c.paths, all, c.note)
		}
	}
	if _, _, err := (&Corpus{Paths: []string{"a"}, Options: Options{Root: "a/x.txt"}}).WithRoot(nil, nil); err == nil {
		t.Error("a file as the root: no error")
	}
}

// having is an index with some IDs, or an empty one.
func having(ids string) func(string) (bool, error) {
	if ids == "" {
		return nil
	}
	return func(id string) (bool, error) { return slices.Contains(strings.Fields(ids), id), nil }
}

// A file that the index has as one document is not added line by line as well, nor the reverse.
func TestFilesAreInAnIndexInOneForm(t *testing.T) {
	dir := tree(t, map[string]string{"x.txt": "one\ntwo\n"})
	for _, c := range []struct {
		format  Format
		has, id string
	}{
		{Lines, "x.txt", `"x.txt"`}, {File, "x.txt:1 x.txt:2", `"x.txt:1"`},
		{Lines, "x.txt:1", ""}, {File, "x.txt", ""}, {File, "y.txt:1", ""}, // replaced, or new
		{Lines, "x.txt x.txt:1", ""}, // there twice already
	} {
		corpus := &Corpus{Paths: []string{filepath.Join(dir, "x.txt")}, Options: Options{Format: c.format}}
		rooted, _, err := corpus.WithRoot(&Root{Folder: dir}, having(c.has))
		if err != nil {
			t.Fatal(err)
		}
		_, err = idsOf(t, rooted)
		if c.id == "" && err != nil || c.id != "" && (err == nil || !strings.Contains(err.Error(), c.id)) {
			t.Errorf("format %v into an index with %s: error %v, want one with %q", c.format, c.has, err, c.id)
		}
	}
}

// Once an index has taken files as documents, a file that is named itself is one document as well,
// and not one for each line.
func TestFilesStayWhole(t *testing.T) {
	dir := tree(t, map[string]string{"cr/x.txt": "one\ntwo\nthree\n"})
	c := &Corpus{Paths: []string{filepath.Join(dir, "cr")}}
	rooted, used, err := c.WithRoot(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := idsOf(t, rooted); err != nil || used() == nil || !used().Whole {
		t.Fatalf("the root is %v, %v; want one of whole files", used(), err)
	}
	again := &Corpus{Paths: []string{filepath.Join(dir, "cr", "x.txt")}}
	if rooted, _, err = again.WithRoot(used(), having("x.txt")); err != nil {
		t.Fatal(err)
	}
	if ids, err := idsOf(t, rooted); err != nil || !slices.Equal(ids, []string{"x.txt"}) {
		t.Errorf("IDs %q, %v; want x.txt", ids, err)
	}
}

// However many files are named twice, one note says so.
func TestOneNoteOnFilesNamedTwice(t *testing.T) {
	dir := tree(t, map[string]string{"a/x.txt": "one", "a/y.txt": "two", "a/z.txt": "three"})
	var notes []string
	c := &Corpus{Paths: []string{dir, filepath.Join(dir, "a")}, Options: Options{Format: File, Root: dir,
		Note: func(line string) { notes = append(notes, line) }}}
	n := 0
	for _, err := range c.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 3 || len(notes) != 1 || !strings.Contains(notes[0], "x.txt (and 2 more): named twice") {
		t.Errorf("%d documents, notes %q; want 3 and one note", n, notes)
	}
}
