package folders_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/folders"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// desk is a folder with its index.
type desk struct {
	t       *testing.T
	dir, ix string
	o       folders.Options
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, dir: filepath.Join(t.TempDir(), "desk"), ix: filepath.Join(t.TempDir(), "ix")}
	a, err := text.ParseAnalyzer("unicode")
	if err != nil {
		t.Fatal(err)
	}
	d.o = folders.Options{Analyzer: a, Positions: true}
	if err := os.Mkdir(d.dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return d
}

// long is a time at which files were changed that are not fresh.
var long = time.Date(2024, 2, 29, 12, 0, 0, 123e6, time.UTC)

// write makes a file that was changed long ago.
func (d *desk) write(path, text string) {
	d.t.Helper()
	d.writeAt(path, text, long)
}

func (d *desk) writeAt(path, text string, at time.Time) {
	d.t.Helper()
	full := filepath.Join(d.dir, path)
	err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o777), os.WriteFile(full, []byte(text), 0o666), os.Chtimes(full, at, at))
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) remove(path string) {
	d.t.Helper()
	if err := os.RemoveAll(filepath.Join(d.dir, path)); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) sync() *folders.Report {
	d.t.Helper()
	r, err := folders.Sync(d.t.Context(), d.dir, d.ix, d.o)
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

// did writes what Sync did in a few words.
func did(r *folders.Report) string {
	var parts []string
	for _, p := range []struct {
		name string
		n    int
	}{{"added", r.Added}, {"changed", r.Changed}, {"touched", r.Touched}, {"moved", r.Moved}, {"deleted", r.Deleted},
		{"unchanged", r.Unchanged}, {"other", r.Other}, {"ignored", r.Ignored}, {"links", r.Links}, {"problems", len(r.Problems)}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprint(p.n, " ", p.name))
		}
	}
	return strings.Join(parts, ", ")
}

func (d *desk) wants(want string) {
	d.t.Helper()
	if r := d.sync(); did(r) != want {
		d.t.Errorf("%s, want %s: %+v", did(r), want, r)
	}
}

// fields returns the stored fields of a document.
func (d *desk) fields(id string) map[string]string {
	d.t.Helper()
	g, err := segments.Open(d.ix)
	if err != nil {
		d.t.Fatal(err)
	}
	defer g.Close()
	doc, found, err := g.FindDoc(id)
	if err != nil || !found {
		d.t.Fatalf("%s: %v, %v", id, found, err)
	}
	values, err := g.Stored(doc)
	if err != nil {
		d.t.Fatal(err)
	}
	m := map[string]string{}
	for i, v := range values {
		for _, b := range v {
			m[g.Schema().Fields[i].Name] += string(b) + ";"
		}
	}
	return m
}

// find returns the IDs of the documents that match a query.
func (d *desk) find(words string) string {
	d.t.Helper()
	s, err := search.Open(d.ix)
	if err != nil {
		d.t.Fatal(err)
	}
	defer s.Close()
	q, err := query.Parse(words, query.Options{Fields: s.Fields()})
	if err != nil {
		d.t.Fatal(err)
	}
	all, err := s.Match(d.t.Context(), search.Request{Query: q, Mode: search.And})
	if err != nil {
		d.t.Fatal(err)
	}
	var ids []string
	for i, seg := range s.Index().Segments() {
		for doc := range all.Sets[i].All() {
			id, err := seg.DocID(int(doc))
			if err != nil {
				d.t.Fatal(err)
			}
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return strings.Join(ids, " ")
}

func TestSync(t *testing.T) {
	d := newDesk(t)
	d.write("docs/a.md", "# Solar *eclipse*\n\nsee [moon](moon.html)\n")
	d.write("docs/deep/b.txt", "caf\xe9 au lait")
	d.write("moon.html", "<title>The moon</title><h1>Phases</h1>full")
	d.write("x.png", "\x89PNG\r\n\x1a\n\x00\x00")
	d.write("broken.ipynb", "{")
	d.write(".hidden", "no")
	r := d.sync()
	if did(r) != "4 added, 1 other, 1 problems" || r.Encodings["windows-1252"] != 1 || r.Documents != 4 ||
		r.Problems[0] != (folders.Problem{Path: "broken.ipynb", Why: "broken: unexpected end of JSON input"}) {
		t.Errorf("%+v", r)
	}
	want := map[string]string{"title": "Solar eclipse;", "name": "a.md;", "text": "# Solar *eclipse*\n\nsee [moon](moon.html)\n;",
		"path": "docs/a.md;", "extension": "md;", "kind": "markdown;", "modified": "2024-02-29T12:00:00.123Z;", "size": "41;",
		"link": "moon.html;", "headings": `[{"at":0,"level":1,"text":"Solar eclipse"}];`}
	got := d.fields("docs/a.md")
	if delete(got, "hash"); !maps.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	for words, want := range map[string]string{"path:docs/*": "docs/a.md docs/deep/b.txt", "extension:html": "moon.html",
		"problem:*": "broken.ipynb", "name:broken": "broken.ipynb", "café": "docs/deep/b.txt", "encoding:windows-1252": "docs/deep/b.txt",
		"title:moon": "moon.html", `"full"`: "moon.html", "+size:>=40 +modified:2024": "docs/a.md moon.html"} {
		if got := d.find(words); got != want {
			t.Errorf("%s: %s, want %s", words, got, want)
		}
	}
	d.wants("4 unchanged, 1 other")

	d.write("docs/a.md", "# Lunar eclipse\n\nsee [moon](moon.html)!\n")
	d.remove("broken.ipynb")
	d.write("docs/c.txt", "new")
	d.write("docs/deeper/b2.txt", "caf\xe9 au lait")
	d.remove("docs/deep")
	d.writeAt("moon.html", "<title>The moon</title><h1>Phases</h1>full", long.Add(time.Hour))
	r = d.sync()
	if did(r) != "1 added, 1 changed, 1 touched, 1 moved, 1 deleted, 1 other" || r.Generation != 2 {
		t.Errorf("%s, generation %d", did(r), r.Generation)
	}
	if got := d.find("*"); got != "docs/a.md docs/c.txt docs/deeper/b2.txt moon.html" {
		t.Error(got)
	}
	if got := d.find("name:b2 café"); got != "docs/deeper/b2.txt" {
		t.Error(got)
	}
	if got := d.find("solar"); got != "" {
		t.Error(got)
	}
	if r = d.sync(); did(r) != "4 unchanged, 1 other" || r.Generation != 2 {
		t.Errorf("%+v", r)
	}
}

// Changes that leave size and time are found if the file was fresh when it was read, or by Hash.
func TestChangesWithinTheGrainOfTheClock(t *testing.T) {
	d := newDesk(t)
	now := time.Now().Add(time.Hour) // later than the scan, whatever happens
	d.writeAt("a.txt", "one", now)
	d.write("b.txt", "one")
	d.wants("2 added")
	d.writeAt("a.txt", "two", now)
	d.write("b.txt", "two")
	d.wants("1 changed, 1 unchanged")
	if got := d.find("two"); got != "a.txt" {
		t.Error(got)
	}
	d.o.Hash = true
	d.wants("1 changed, 1 unchanged")
	d.o.Again = true
	d.wants("2 changed")
}

func TestIgnoreFiles(t *testing.T) {
	d := newDesk(t)
	d.write(".gitignore", "*.log\n/build/\n!keep.log\n")
	d.write("sub/.ignore", "secret*\n")
	for _, path := range []string{"a.log", "keep.log", "build/x.txt", "sub/build/x.txt", "sub/secret.txt", "secret.txt", ".git/config", "tmp/x.txt"} {
		d.write(path, path)
	}
	d.o.Exclude = []string{"tmp/"}
	d.wants("3 added, 4 ignored")
	if got := d.find("*"); got != "keep.log secret.txt sub/build/x.txt" {
		t.Error(got)
	}
	d.o.NoIgnore, d.o.Hidden = true, true
	d.wants("5 added, 3 unchanged, 1 ignored")
	d.o.NoIgnore, d.o.Hidden = false, false
	d.wants("5 deleted, 3 unchanged, 4 ignored")
}

func TestRefusals(t *testing.T) {
	d := newDesk(t)
	d.write("a.txt", "a")
	d.sync()
	other := t.TempDir()
	_, err := folders.Sync(t.Context(), other, d.ix, d.o)
	if e := (*folders.OtherFolderError)(nil); !errors.As(err, &e) || e.Was != d.dir {
		t.Errorf("%v", err)
	}
	d.remove("a.txt")
	if _, err := folders.Sync(t.Context(), d.dir, d.ix, d.o); err == nil || !strings.Contains(err.Error(), "mounted") {
		t.Errorf("%v", err)
	}
	d.o.AllowEmpty = true
	d.wants("1 deleted")
	w, err := segments.NewWriter(d.ix, segments.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := folders.Sync(t.Context(), d.dir, d.ix, d.o); !errors.Is(err, segments.ErrLocked) {
		t.Errorf("%v", err)
	}
	d.dir, d.o.Moved = other, true
	w.Close()
	d.write("b.txt", "b")
	d.wants("1 added")
	d.o.Moved = false
	d.wants("1 unchanged")

	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := folders.Sync(stopped, d.dir, d.ix, d.o); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	plain := filepath.Join(t.TempDir(), "plain")
	w, err = segments.NewWriter(plain, segments.Options{Analyzer: d.o.Analyzer})
	if err = errors.Join(err, w.Add(text.Document{ID: "1", Text: []byte("x")}), w.Commit(), w.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := folders.Sync(t.Context(), d.dir, plain, d.o); err == nil || !strings.Contains(err.Error(), "not made from a folder") {
		t.Errorf("%v", err)
	}
}

// A log that is longer than the memory allows is divided into parts that fit, also if these are cut
// into passages, whose headings are one more text.
func TestLongTextsInPassages(t *testing.T) {
	for _, cut := range []*fields.Passages{nil, {Words: 200, Overlap: 20, Field: "text"}} {
		d := newDesk(t)
		d.o.Memory, d.o.Passages = 240e6, cut
		d.write("a.log", strings.Repeat("a line of a log\n", 160_000)+"the last word\n")
		d.write("b.txt", "a few words")
		if r := d.sync(); did(r) != "2 added" {
			t.Errorf("%+v", r)
		}
		if got := d.find("last"); !strings.HasPrefix(got, "a.log/") {
			t.Errorf("passages %v: the end is in %q", cut != nil, got)
		}
	}
}

// A text that is too long for the memory is divided, at ends of lines where it has some.
func TestTextsBeyondTheMemory(t *testing.T) {
	d := newDesk(t)
	d.o.Memory = 64e6
	long := "# One\n" + strings.Repeat("some words of a long text ", 10_000) + "\n## Two\n" + strings.Repeat("and more\n", 40_000) + "the last word"
	d.write("long.md", long)
	d.write("short.txt", "a few words")
	for i := range 8 {
		d.write(fmt.Sprintf("some%d.txt", i), strings.Repeat("kept here ", 20_000+i))
	}
	if r := d.sync(); did(r) != "10 added" || r.Documents < 11 {
		t.Errorf("%+v", r)
	}
	if got := d.find("few"); got != "short.txt" {
		t.Error(got)
	}
	ids := strings.Fields(d.find("path:long.md"))
	all := ""
	for i := range ids {
		f := d.fields(fmt.Sprint("long.md/", i+1))
		part := strings.TrimSuffix(f["text"], ";")
		if strings.Contains(f["headings"], "Two") && !strings.Contains(part, "## Two") || i > 0 && f["title"] != "One;" {
			t.Error(i, f["headings"], f["title"])
		}
		all += part
	}
	if all != long {
		t.Errorf("%d parts have %d bytes of %d", len(ids), len(all), len(long))
	}
	if got := d.find("+path:long.md +last"); got != fmt.Sprint("long.md/", len(ids)) {
		t.Error(got)
	}
	d.write("long.md", "short now")
	d.wants("1 changed, 9 unchanged")
	if got := d.find("path:long.md"); got != "long.md" {
		t.Error(got)
	}
}

// A word that an index would refuse is the problem of one file, or of one message of a mail box.
func TestWordsThatAreTooLong(t *testing.T) {
	d := newDesk(t)
	d.write("a.md", "hello")
	d.write("dna.txt", strings.Repeat("acgt", 500_000))
	mail := func(s string) string { return "From a@b Thu Feb 29 12:00:00 2024\nSubject: of mine\n\n" + s + "\n\n" }
	d.write("in.mbox", mail("read this")+mail(strings.Repeat("x", 2e6))+"From a@b Thu Feb 29 12:00:00 2024\n"+
		"Subject: key\nContent-Type: multipart/encrypted; boundary=x\n\n--x\n\n1\n--x--\n")
	r := d.sync()
	if did(r) != "3 added, 2 problems" || r.Problems[0] != (folders.Problem{Path: "dna.txt", Why: "too-large: a word of 2000000 bytes: want at most 1048576"}) ||
		r.Problems[1].Path != "in.mbox" || !strings.HasPrefix(r.Problems[1].Why, "2 of 3 messages: too-large") {
		t.Errorf("%+v", r)
	}
	for words, want := range map[string]string{"hello": "a.md", "name:dna": "dna.txt", "problem:too-large": "dna.txt in.mbox/2",
		"title:mine": "in.mbox/1 in.mbox/2", "read": "in.mbox/1", "problem:encrypted": "in.mbox/3", "title:key": "in.mbox/3"} {
		if got := d.find(words); got != want {
			t.Errorf("%s: %s, want %s", words, got, want)
		}
	}
	d.wants("3 unchanged")
}

// What cannot be opened keeps what the index has of it.
func TestUnreadableFilesAreKept(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root can read everything")
	}
	d := newDesk(t)
	d.write("a/b.txt", "kept")
	d.write("c.txt", "kept")
	d.sync()
	locked := filepath.Join(d.dir, "a")
	if err := os.Chmod(locked, 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(locked, 0o777)
	d.wants("1 unchanged, 1 problems")
	if got := d.find("kept"); got != "a/b.txt c.txt" {
		t.Error(got)
	}
}

func TestWatch(t *testing.T) {
	d := newDesk(t)
	d.write("a.txt", "a")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var said []string
	o := folders.Watching{Settle: time.Millisecond, Every: 20 * time.Millisecond}
	err := folders.Watch(ctx, d.dir, d.ix, d.o, o, func(r *folders.Report, err error) error {
		if err != nil {
			return err
		}
		if r.Changes() {
			said = append(said, did(r))
			switch len(said) {
			case 1:
				d.write("sub/b.txt", "b")
			case 2:
				d.write("sub/b.txt", "bb")
				d.remove("a.txt")
			default:
				stop()
			}
		}
		return nil
	})
	want := []string{"1 added", "1 added, 1 unchanged", "1 changed, 1 deleted"}
	if err != nil || !slices.Equal(said, want) {
		t.Errorf("%q, %v", said, err)
	}
}

// A folder that is renamed is watched with all that is in it.
func TestWatchFollowsFoldersThatAreRenamed(t *testing.T) {
	d := newDesk(t)
	d.write("n/e/w/a.txt", "a")
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	blind := ""
	d.o.Note = func(line string) { blind = line; stop() }
	var said []string
	o := folders.Watching{Settle: 50 * time.Millisecond, Every: time.Hour}
	err := folders.Watch(ctx, d.dir, d.ix, d.o, o, func(r *folders.Report, err error) error {
		if err != nil {
			return err
		}
		if r.Changes() {
			said = append(said, did(r))
		}
		switch len(said) {
		case 1:
			if r.Changes() {
				if err := os.Rename(filepath.Join(d.dir, "n"), filepath.Join(d.dir, "m")); err != nil {
					return err
				}
			}
		case 2:
			if !r.Changes() { // all folders are watched now
				d.write("m/e/w/a.txt", "b and more")
			}
		default:
			stop()
		}
		return nil
	})
	want := []string{"1 added", "1 moved", "1 changed"}
	if blind != "" {
		t.Skip(blind)
	}
	if err != nil || !slices.Equal(said, want) {
		t.Errorf("%q, %v", said, err)
	}
}
