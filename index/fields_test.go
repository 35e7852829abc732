package index

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/columns"
	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/text"
)

// fieldsDoc is a document with fields.
type fieldsDoc struct {
	ID    string   `json:"id"`
	Title string   `json:"title,omitempty"`
	Body  string   `json:"body,omitempty"`
	Tags  []string `json:"tags,omitempty"`
	Year  int      `json:"year,omitempty"`
	Note  string   `json:"note,omitempty"`
}

func randomFields(rng *rand.Rand, n int) (docs []fieldsDoc) {
	words := func(n int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "w%d ", int(rng.ExpFloat64()*30))
		}
		return b.String()
	}
	for i := range n {
		d := fieldsDoc{ID: fmt.Sprint("doc-", i), Title: words(rng.IntN(4)), Body: words(rng.IntN(60)), Note: words(1)}
		for range rng.IntN(3) {
			d.Tags = append(d.Tags, fmt.Sprint("tag ", rng.IntN(9)))
		}
		if rng.IntN(4) > 0 {
			d.Year = 1990 + rng.IntN(40)
		}
		docs = append(docs, d)
	}
	return docs
}

const fieldsList = "title:text:english:weight=2,body:text,tags:keyword,year:number,note:stored"

// buildFields indexes documents with the schema that the comma-separated list describes.
func buildFields(t testing.TB, docs []fieldsDoc, list string, o BuildOptions) (string, error) {
	t.Helper()
	var lines bytes.Buffer
	for _, d := range docs {
		b, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(append(b, '\n'))
	}
	path := filepath.Join(t.TempDir(), "docs.jsonl")
	if err := os.WriteFile(path, lines.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	schema, err := fields.ParseList(strings.Split(list, ","))
	if err != nil {
		t.Fatal(err)
	}
	if o.Analyzer, err = text.ParseAnalyzer("unicode"); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "ix")
	return dir, Build(context.Background(), dir,
		&text.Corpus{Paths: []string{path}, Options: text.Options{Schema: schema}}, o)
}

// checkFieldsOf compares an index with its documents, which may be in another order.
func checkFieldsOf(t *testing.T, dir string, docs []fieldsDoc) {
	t.Helper()
	r := open(t, dir)
	if err := r.Check(context.Background(), CheckOptions{}); err != nil {
		t.Fatal(err)
	}
	tags, err1 := r.Column("tags")
	years, err2 := r.Column("year")
	if err1 != nil || err2 != nil || r.Docs() != len(docs) {
		t.Fatalf("columns tags: %v, year: %v; %d documents, want %d", err1, err2, r.Docs(), len(docs))
	}
	for _, want := range docs {
		d, found, err := r.FindDoc(want.ID)
		if err != nil || !found {
			t.Fatalf("FindDoc(%s): found %v, error %v", want.ID, found, err)
		}
		v, err := r.Stored(d)
		if err != nil {
			t.Fatal(err)
		}
		year := ""
		if want.Year > 0 {
			year = fmt.Sprint(want.Year)
		}
		wantTags := append([]string(nil), want.Tags...)
		got := fmt.Sprintf("%s|%s|%s|%s|%s", v[0], v[1], v[2], v[3], v[4])
		all := fmt.Sprintf("%s|%s|%s|%s|%s", list(want.Title), list(want.Body), wantTags, list(year), list(want.Note))
		if got != all {
			t.Fatalf("%s: stored %s\nwant %s", want.ID, got, all)
		}
		if y, ok := years.Number(d); ok != (want.Year > 0) || int(y) != want.Year {
			t.Fatalf("%s: year %v, %v; want %d", want.ID, y, ok, want.Year)
		}
		var gotTags []string
		for _, ord := range tags.Ords(d, nil) {
			tag, err := tags.Value(int(ord))
			if err != nil {
				t.Fatal(err)
			}
			gotTags = append(gotTags, tag)
		}
		slices.Sort(wantTags)
		if wantTags = slices.Compact(wantTags); !slices.Equal(gotTags, wantTags) || tags.Has(d) != (len(wantTags) > 0) {
			t.Fatalf("%s: tags %q, has some: %v; want %q", want.ID, gotTags, tags.Has(d), wantTags)
		}
		wantText := strings.Join(nonEmpty(want.Title, want.Body), "\n")
		if s, err := r.Text(d); err != nil || string(s) != wantText {
			t.Fatalf("%s: text %q, %v; want %q", want.ID, s, err, wantText)
		}
		for name, s := range map[string]string{"title": want.Title, "body": want.Body} {
			if n := r.Field(name).Lengths()[d]; int(n) != len(strings.Fields(s)) {
				t.Fatalf("%s: %s has length %d, want that of %q", want.ID, name, n, s)
			}
		}
	}
	if got := r.Field("title").Analyzer(); got != "english" {
		t.Errorf("analyzer of the title: %s, want english", got)
	}
	if r.Field("none") != nil {
		t.Error("Field of an unknown name is not nil")
	}
	if c, err := r.Column("title"); c != nil || err != nil {
		t.Errorf("column of a text field: %v, %v; want neither", c, err)
	}
	s := r.Stats()
	sum := int64(0)
	for _, p := range s.Parts {
		sum += p.Bytes
	}
	if sum != s.Bytes || sum != folderSize(t, dir) || len(s.Fields) != 5 {
		t.Errorf("stats: %d bytes in parts, %d in all, %d on disk, want the same; %d fields, want 5", sum,
			s.Bytes, folderSize(t, dir), len(s.Fields))
	}
}

func list(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

func nonEmpty(list ...string) (out []string) {
	for _, s := range list {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

func folderSize(t *testing.T, dir string) (size int64) {
	for _, b := range readTree(t, dir) {
		size += int64(len(b))
	}
	return size
}

// readTree reads all files of a folder and its subfolders.
func readTree(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// An index of documents with fields has their values, also if it was built with one thread and
// little memory, if it is reordered, and if it replaces another index.
func TestFieldsOfDocuments(t *testing.T) {
	docs := randomFields(rand.New(rand.NewPCG(1, 2)), 3000)
	dir, err := buildFields(t, docs, fieldsList, BuildOptions{StoreText: true})
	if err != nil {
		t.Fatal(err)
	}
	checkFieldsOf(t, dir, docs)
	if _, err := os.Stat(filepath.Join(dir, textFile)); err == nil {
		t.Errorf("there is a file %s, want the text only in the stored fields", textFile)
	}
	one, err := buildFields(t, docs, fieldsList, BuildOptions{Threads: 1, Memory: 30e6})
	if err != nil {
		t.Fatal(err)
	}
	sameFiles(t, "one thread, 30 MB", readTree(t, one), readTree(t, dir))

	// The index of a field can be opened alone.
	sub, err := Open(filepath.Join(dir, "fields", "title"))
	if err != nil {
		t.Fatal(err)
	}
	sub.Close()

	other := filepath.Join(t.TempDir(), "other")
	r := open(t, dir)
	if err := Reorder(context.Background(), r, other, ReorderOptions{}); err != nil {
		t.Fatal(err)
	}
	checkFieldsOf(t, other, docs)

	// An index with fields is replaced by one without, and that by another; no files are left.
	again, err := buildFields(t, docs[:10], "title:text", BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		w, err := Create(again)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.SetDocuments(Documents{Analyzer: "ascii", ID: func(int) string { return "" }}); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if entries, _ := os.ReadDir(filepath.Dir(again)); len(entries) != 1 {
		t.Errorf("entries %v in the folder, want only the index", entries)
	}
	if _, err := os.Stat(filepath.Join(again, "fields")); err == nil {
		t.Error("an index without fields still has the folder fields")
	}
	if err := os.WriteFile(filepath.Join(one, "fields", "mine.txt"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(one); err == nil || !strings.Contains(err.Error(), "mine.txt") {
		t.Errorf("replacing an index with a foreign file: error %v, want one that names mine.txt", err)
	}
}

func TestABadValueNamesItsDocument(t *testing.T) {
	docs := randomFields(rand.New(rand.NewPCG(1, 3)), 5)
	docs[3].Note = "not a date"
	docs[0].Note, docs[1].Note, docs[2].Note, docs[4].Note = "", "", "", ""
	dir, err := buildFields(t, docs, "body:text,note:date", BuildOptions{})
	if err == nil || !strings.Contains(err.Error(), `docs.jsonl: document 4: field "note": "not a date" is not a date`) {
		t.Errorf("error %v, want one that names document 4, the field and the value", err)
	}
	if entries, _ := os.ReadDir(filepath.Dir(dir)); len(entries) != 0 {
		t.Errorf("files %v are left, want none", entries)
	}
}

// The bytes of a stored record, which are read back; a record that is cut anywhere is an error.
func TestStoredRecord(t *testing.T) {
	s := &fields.Schema{Fields: []fields.Field{{Name: "a"}, {Name: "b", Unstored: true},
		{Name: "c", Type: fields.Keyword}}}
	record := appendRecord(nil, s, []fields.Values{{[]byte("xyz")}, {[]byte("no")}, {[]byte("k"), []byte("ll")}})
	if want := "\x01\x03xyz\x02\x01k\x02ll"; string(record) != want {
		t.Errorf("record %q, want %q", record, want)
	}
	if v, err := parseRecord(s, record); err != nil || fmt.Sprintf("%s", v) != "[[xyz] [] [k ll]]" {
		t.Errorf("parseRecord: %s, %v; want [[xyz] [] [k ll]]", v, err)
	}
	for n := range record {
		if _, err := parseRecord(s, record[:n]); err == nil {
			t.Errorf("the first %d of %d bytes of a record: no error", n, len(record))
		}
	}
}

// damagedTree changes a byte in a file of an index with fields, and calls every method that reads
// the index. If fix is set, it first repairs the checksums of the file and of those that name it.
func damagedTree(good map[string][]byte, name string, at int, flip byte, fix bool) {
	files := maps.Clone(good)
	b := bytes.Clone(good[name])
	b[at%len(b)] ^= flip
	files[name] = b
	if fix && sections.Repair(b) {
		folder, base := filepath.Split(name)
		restamp(files, folder, base)
		if folder != "" {
			m := bytes.Clone(files[schemaFile])
			replaceStamp(m, stampOf(metaFile, good[folder+metaFile]), stampOf(metaFile, files[folder+metaFile]))
			files[schemaFile] = m
			restamp(files, "", schemaFile)
		}
	}
	r, err := openMemory(files)
	if err != nil {
		return
	}
	for d := range r.Docs() {
		r.Stored(d)
		r.Text(d)
	}
	for _, field := range r.Schema().Fields {
		if c, err := r.Column(field.Name); err == nil && c != nil {
			useColumn(c, r.Docs())
		}
		if sub := r.Field(field.Name); sub != nil {
			usePositions(sub)
			digest(sub, new(Cursor), 3)
		}
	}
	usePositions(r)
	digest(r, new(Cursor), 3)
	r.Check(context.Background(), CheckOptions{Threads: 1})
}

// useColumn calls every method of a column.
func useColumn(c *columns.Column, docs int) {
	c.Any()
	c.Equal("b")
	c.Equal("2000")
	c.Prefix("a")
	c.Range(columns.Limit{Value: "1"}, columns.Limit{Value: "2010"})
	c.Box(-10, -10, 10, 10)
	c.Facets(nil, 10)
	for d := range docs {
		c.Has(d)
		c.Number(d)
		c.Date(d)
		c.Point(d)
		for _, ord := range c.Ords(d, nil) {
			c.Value(int(ord))
		}
	}
}

// usePositions reads the positions of all words.
func usePositions(r *Reader) {
	if !r.HasPositions() {
		return
	}
	var c Cursor
	var p Positions
	for w, err := range r.Words() {
		if err != nil {
			return
		}
		if r.Open(w.Term, &c) != nil || r.OpenPositions(w.Term, &p) != nil {
			continue
		}
		for d := c.Doc(); d != End; d = c.Next() {
			p.Of(&c)
		}
	}
}

// treeToDamage returns the files of an index with fields, positions and text, and their names.
func treeToDamage(t testing.TB) (good map[string][]byte, names []string) {
	dir, err := buildFields(t, randomFields(rand.New(rand.NewPCG(5, 5)), 60), fieldsList,
		BuildOptions{Positions: true, StoreText: true})
	if err != nil {
		t.Fatal(err)
	}
	good = readTree(t, dir)
	return good, slices.Sorted(maps.Keys(good))
}

// With random bytes of its files changed, reading an index with fields, positions and text does not
// panic. COLLOCATE_TEST_CHANGES sets the number of changes.
func TestDamagedFieldsAndPositions(t *testing.T) {
	good, names := treeToDamage(t)
	changes := 1500
	if testing.Short() {
		changes = 200
	}
	if n, err := strconv.Atoi(os.Getenv("COLLOCATE_TEST_CHANGES")); err == nil {
		changes = n
	}
	rng := rand.New(rand.NewPCG(27, 28))
	for range changes {
		name := names[rng.IntN(len(names))]
		at, flip := rng.IntN(len(good[name])), byte(1+rng.IntN(255))
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("byte %d of %s changed by %#x: %v\n%s", at, name, flip, p, debug.Stack())
				}
			}()
			damagedTree(good, name, at, flip, true)
		}()
	}
}

// FuzzFields changes a byte of any file; opening and reading the index may fail but not panic.
func FuzzFields(f *testing.F) {
	good, names := treeToDamage(f)
	for i := range names {
		for at := 64; at < 1000; at += 331 {
			f.Add(i, at, byte(at), true)
		}
	}
	f.Fuzz(func(t *testing.T, file, at int, flip byte, fix bool) {
		damagedTree(good, names[uint(file)%uint(len(names))], int(uint32(at)), flip, fix)
	})
}

// restamp updates the stamp of a file in the file "index" of its folder.
func restamp(files map[string][]byte, folder, base string) {
	if base == metaFile {
		return
	}
	meta := bytes.Clone(files[folder+metaFile])
	now := stampOf(base, files[folder+base])
	f, err := sections.Parse(meta, magics[metaFile], formatVersion)
	if err != nil {
		return
	}
	list, err := f.Section("files")
	if err != nil {
		return
	}
	for at := 0; at+stampSize <= len(list); at += stampSize {
		if string(bytes.TrimRight(list[at:at+16], "\x00")) == base {
			copy(list[at:], now.append(nil))
		}
	}
	sections.Repair(meta)
	files[folder+metaFile] = meta
}

func replaceStamp(data []byte, before, now fileStamp) {
	if at := bytes.Index(data, before.append(nil)); at >= 0 {
		copy(data[at:], now.append(nil))
	}
	sections.Repair(data)
}

// If bytes of the file of columns change while the index is open, a column that is asked for
// afterwards gives an error or what it gave before, also if it was read before.
func TestColumnsThatChangeWhileOpen(t *testing.T) {
	dir, err := buildFields(t, randomFields(rand.New(rand.NewPCG(31, 32)), 300), fieldsList, BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := open(t, dir)
	read := func() (string, error) {
		tags, err := r.Column("tags")
		if err != nil {
			return "", err
		}
		facets, n, err1 := tags.Facets(nil, 20)
		set, err2 := tags.Equal("tag 3")
		years, err := r.Column("year")
		if err := errors.Join(err, err1, err2); err != nil {
			return "", err
		}
		late, err := years.Range(columns.Limit{Value: "2010"}, columns.Limit{})
		if err != nil {
			return "", err
		}
		return fmt.Sprint(facets, n, set.Words(), late.Words()), nil
	}
	want, err := read()
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, columnsFile), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	noticed := 0
	for at := int64(0); at < info.Size(); at += 3 {
		b := make([]byte, 1)
		f.ReadAt(b, at)
		f.WriteAt([]byte{b[0] ^ 0x15}, at)
		got, err := read()
		if err != nil {
			noticed++
		} else if got != want {
			t.Fatalf("byte %d changed: another answer and no error", at)
		}
		f.WriteAt(b, at)
	}
	if got, err := read(); err != nil || got != want {
		t.Errorf("after all bytes are as they were: %v", err)
	}
	if noticed == 0 {
		t.Error("no change was noticed")
	}
}

// Many goroutines read one index at once: each page is verified by whoever comes first.
func TestReadersShareAnIndex(t *testing.T) {
	docs := randomFields(rand.New(rand.NewPCG(33, 34)), 200)
	dir, err := buildFields(t, docs, fieldsList, BuildOptions{Positions: true})
	if err != nil {
		t.Fatal(err)
	}
	r := open(t, dir)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			var c Cursor
			for i := range docs {
				d, found, err := r.FindDoc(docs[(i*7+g*50)%len(docs)].ID)
				if err != nil || !found {
					t.Errorf("FindDoc: %v, %v", found, err)
					return
				}
				_, err1 := r.Stored(d)
				year, err2 := r.Column("year")
				if err1 != nil || err2 != nil {
					t.Error(err1, err2)
					return
				}
				year.Number(d)
				term, err := r.Lookup(fmt.Appendf(nil, "w%d", i%40))
				if err == nil {
					err = r.Open(term, &c)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}
