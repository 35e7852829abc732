package segments_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

func commit(t *testing.T, w *segments.Writer) {
	t.Helper()
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

func openReader(t *testing.T, dir string) *segments.Reader {
	t.Helper()
	r, err := segments.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// A caller may use the bytes of a document again after Add, and keeps its schema as it is.
func TestAddCopiesDocuments(t *testing.T) {
	schema, err := fields.ParseList([]string{"title:text", "tag:keyword"})
	if err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(schema.Fields)
	for _, s := range []*fields.Schema{nil, schema} {
		dir := filepath.Join(scratch(t), "ix")
		w := newWriter(t, dir, segments.Options{StoreText: true, Schema: s})
		buf := []byte("red rose")
		d := text.Document{ID: "a", Text: buf}
		if s != nil {
			d.Text, d.Fields = buf[:3], []fields.Values{{buf[:3]}, {buf[4:]}}
		}
		if err := w.Add(d); err != nil {
			t.Fatal(err)
		}
		copy(buf, "XXXXXXXX")
		commit(t, w)
		r := openReader(t, dir)
		want := "red rose"
		if s != nil {
			want = "red"
		}
		if got, err := r.Text(0); err != nil || string(got) != want {
			t.Errorf("the text is %q, %v; want %s", got, err, want)
		}
		if s == nil {
			continue
		}
		c, err := r.Segments()[0].Column("tag")
		if err != nil {
			t.Fatal(err)
		}
		if set, err := c.Equal("rose"); err != nil || set.Count() != 1 {
			t.Errorf("%d documents have the tag rose, %v; want one", set.Count(), err)
		}
		if term, err := r.Segments()[0].Field("title").Lookup([]byte("red")); err != nil || term.DF != 1 {
			t.Errorf("%d documents have red in the title, %v; want one", term.DF, err)
		}
	}
	if !reflect.DeepEqual(schema.Fields, before) {
		t.Errorf("the writer has made the schema %v of %v", schema.Fields, before)
	}
}

// A caller may use the breaks of a document again after Add, too: phrases do not cross them.
func TestAddCopiesBreaks(t *testing.T) {
	schema, err := fields.ParseList([]string{"title:text"})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(scratch(t), "ix")
	w := newWriter(t, dir, segments.Options{Schema: schema, Positions: true})
	for id, breaks := range map[string][]uint32{"two lines": {4}, "one line": nil} {
		d := text.Document{ID: id, Fields: []fields.Values{{[]byte("red rose")}}, Breaks: breaks}
		if err := w.Add(d); err != nil {
			t.Fatal(err)
		}
		clear(breaks)
	}
	commit(t, w)
	s, err := search.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	found, err := s.Search(t.Context(), search.Request{Query: query.Phrase{Text: "red rose"}})
	if err != nil || len(found.Hits) != 1 {
		t.Fatalf("the phrase is in %d documents, %v; want that of one line alone", len(found.Hits), err)
	}
	if id, err := s.ID(found.Hits[0].Doc); err != nil || id != "one line" {
		t.Errorf("the phrase is in %s, %v", id, err)
	}
}

// IDs that runs cannot contain are found in each segment, and so are those of several documents,
// which only an index of package index can have.
func TestIDsOfEachSegment(t *testing.T) {
	for at := range 3 {
		dir := filepath.Join(scratch(t), "ix")
		w := newWriter(t, dir, segments.Options{})
		for n := range 3 {
			id := fmt.Sprint("d", n)
			if n == at {
				id = "with space"
			}
			model(nil).add(t, w, id, "rose")
			commit(t, w)
		}
		r := openReader(t, dir)
		if id, found, err := r.BadID(); id != "with space" || !found || err != nil {
			t.Errorf("with a space in segment %d: %q, %v, %v", at, id, found, err)
		}
		if id, found, err := r.RepeatedID(); found || err != nil {
			t.Errorf("%q is said to be that of several documents, %v", id, err)
		}
	}
	dir := filepath.Join(scratch(t), "ix")
	c := &text.Corpus{Paths: []string{"-"}, Stdin: strings.NewReader("same\tred\nsame\trose\n"),
		Options: text.Options{Format: text.TSV}}
	o := index.BuildOptions{Analyzer: analyzer(t), AllowDuplicateIDs: true}
	if err := index.Build(t.Context(), dir, c, o); err != nil {
		t.Fatal(err)
	}
	w := newWriter(t, dir, segments.Options{})
	model(nil).add(t, w, "other", "tulip")
	commit(t, w)
	r := openReader(t, dir)
	if id, found, err := r.RepeatedID(); id != "same" || !found || err != nil || len(r.Segments()) != 2 {
		t.Errorf("of two documents in the first of %d segments: %q, %v, %v", len(r.Segments()), id, found, err)
	}
	if id, found, err := r.BadID(); found || err != nil {
		t.Errorf("%q is said to have white space, %v", id, err)
	}
}

// What Check says of a damaged segment names it, but an index of package index is no segment.
func TestCheckNamesSegments(t *testing.T) {
	root := scratch(t)
	dir := filepath.Join(root, "ix")
	w := newWriter(t, dir, segments.Options{})
	for n := range 2 {
		model(nil).add(t, w, fmt.Sprint("document-", n), "rose")
		commit(t, w)
	}
	r := openReader(t, dir)
	one := openReader(t, filepath.Join(dir, "s000001"))
	path := filepath.Join(dir, "s000001", "documents")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.Replace(data, []byte("document-1"), []byte("document-2"), 1)
	if err := os.WriteFile(path, other, 0o666); err != nil || bytes.Equal(data, other) {
		t.Fatal(err)
	}
	if err := r.Check(t.Context(), index.CheckOptions{}); err == nil || !strings.Contains(err.Error(), "segment s000001: ") {
		t.Errorf("a damaged segment: error %v", err)
	}
	if err := one.Check(t.Context(), index.CheckOptions{}); err == nil || strings.Contains(err.Error(), "segment .") {
		t.Errorf("a damaged index: error %v", err)
	}
}

// What Add accepts can be committed, with whatever memory: long texts, and columns that take more
// than the text.
func TestLargeFieldsAreWritten(t *testing.T) {
	schema, err := fields.ParseList([]string{"title:text", "body:text", "tag:keyword", "year:number"})
	if err != nil {
		t.Fatal(err)
	}
	for _, memory := range []int64{1, 1 << 20, 0} {
		dir := filepath.Join(scratch(t), "ix")
		w := newWriter(t, dir, segments.Options{Schema: schema, Memory: memory})
		add := func(id, body, tag string) {
			t.Helper()
			values := []fields.Values{{[]byte("rose")}, {[]byte(body)}, {[]byte(tag)}, {[]byte("1990")}}
			if err := w.Add(text.Document{ID: id, Fields: values}); err != nil {
				t.Fatal(err)
			}
		}
		add("long", strings.Repeat("rose ", 1<<19), "red") // needs more than the default: a segment
		add("long tag", "rose", strings.Repeat("red", 1<<18))
		docs := 2
		for ; docs < 1000 && memory != 1 || docs < 4; docs++ {
			add(fmt.Sprint(docs), "rose", fmt.Sprintf("%0500d", docs))
		}
		commit(t, w)
		r := openReader(t, dir)
		if n := r.Numbers(); n != docs {
			t.Errorf("with %d bytes of memory: %d documents, want %d", memory, n, docs)
		}
		if n := len(r.Segments()); memory == 0 && n != 2 || memory == 1 && n != docs {
			t.Errorf("with %d bytes of memory: %d segments of %d documents", memory, n, docs)
		}
	}
}

// Nothing can be added to a shard or to a pruned index, nor with another analyzer.
func TestWritersRefuseOtherIndexes(t *testing.T) {
	root := scratch(t)
	dir := filepath.Join(root, "ix")
	w := newWriter(t, dir, segments.Options{})
	var m model
	for n := range 40 {
		m = m.add(t, w, fmt.Sprint("d", n), fmt.Sprintf("w%d w%d w0", n%7, n%11))
	}
	commit(t, w)
	w.Close()
	r := openReader(t, dir).Segments()[0].Reader
	shard, pruned := filepath.Join(root, "shard"), filepath.Join(root, "pruned")
	if err := index.WriteShard(t.Context(), r, shard, 1, 2, index.MergeOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := index.Prune(t.Context(), r, pruned, index.PruneOptions{Top: 1, Epsilon: 1}); err != nil {
		t.Fatal(err)
	}
	other, err := text.ParseAnalyzer("unicode")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dir  string
		o    segments.Options
		want string
	}{
		{shard, segments.Options{}, "is a shard"},
		{pruned, segments.Options{}, "is pruned"},
		{dir, segments.Options{Analyzer: other}, "is whitespace, not unicode"},
	} {
		w, err := segments.NewWriter(c.dir, c.o)
		if err == nil {
			w.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("a writer for %s: error %v, want that it %s", c.dir, err, c.want)
		}
	}
}

// Words of several segments are counted once. A document behind the last is an error. An index
// without words has no bytes per posting, and one of package index no segments.
func TestStatsOfSegments(t *testing.T) {
	root := scratch(t)
	dir := filepath.Join(root, "ix")
	w := newWriter(t, dir, segments.Options{})
	for n, body := range []string{"a b c d", "b c d e", "a c e f longer", "longer a"} {
		model(nil).add(t, w, fmt.Sprint(n), body)
		commit(t, w)
	}
	r := openReader(t, dir)
	if len(r.Segments()) != 4 || r.Terms() != 7 {
		t.Errorf("%d words in %d segments, want 7 in 4", r.Terms(), len(r.Segments()))
	}
	if s, local, err := r.Locate(3); err != nil || s != &r.Segments()[3] || local != 0 {
		t.Errorf("the last document: %v, %d, %v", s, local, err)
	}
	for _, doc := range []int{-1, 4} {
		if _, _, err := r.Locate(doc); err == nil {
			t.Errorf("document %d of 4: no error", doc)
		}
	}
	if s := r.Stats(); s.Segments != 4 || s.Generation != 4 {
		t.Errorf("%d segments in generation %d, want 4 in 4", s.Segments, s.Generation)
	}
	one := openReader(t, filepath.Join(dir, "s000000"))
	if s := one.Stats(); s.Segments != 0 {
		t.Errorf("an index of package index has %d segments, want 0", s.Segments)
	}
	empty := filepath.Join(root, "empty")
	w = newWriter(t, empty, segments.Options{})
	model(nil).add(t, w, "a", "")
	commit(t, w)
	if s := openReader(t, empty).Stats(); math.IsNaN(s.BytesPerPosting) || s.BytesPerPosting != 0 {
		t.Errorf("%v bytes per posting of none, want 0", s.BytesPerPosting)
	}
}

// Once all readers of a segment are closed, its files are unmapped.
func TestClosedReadersUnmap(t *testing.T) {
	maps := func() string {
		text, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Skip("no list of mapped files:", err)
		}
		return string(text)
	}
	maps()
	dir := filepath.Join(scratch(t), "ix")
	begin(t, dir, 2)
	old, err := segments.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	w := newWriter(t, dir, faultOptions)
	model(nil).add(t, w, "new", "one more")
	commit(t, w)
	w.Close()
	now, err := old.Refresh()
	if err != nil || now == nil {
		t.Fatalf("Refresh: %v, %v", now, err)
	}
	old.Close()
	if !strings.Contains(maps(), dir) {
		t.Fatal("the files of an open reader are not mapped")
	}
	now.Close()
	if strings.Contains(maps(), dir) {
		t.Error("files are still mapped after all readers were closed")
	}
}

// An index that was begun without fields takes those of the first corpus, also for single documents
// and for later writers.
func TestSchemaOfTheFirstCorpus(t *testing.T) {
	schema, err := fields.ParseList([]string{"title:text", "tag:keyword"})
	if err != nil {
		t.Fatal(err)
	}
	root := scratch(t)
	dir, path := filepath.Join(root, "ix"), filepath.Join(root, "docs.jsonl")
	if err := os.WriteFile(path, []byte(`{"id":"a","title":"red","tag":"x"}`+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	w := newWriter(t, dir, segments.Options{})
	c := &text.Corpus{Paths: []string{path}, Options: text.Options{Schema: schema}}
	if added, _, err := w.AddCorpus(t.Context(), c, index.BuildOptions{}); err != nil || added != 1 {
		t.Fatalf("%d documents added, %v; want one", added, err)
	}
	if s, err := w.Schema(); err != nil || s == nil || len(s.Fields) != 2 {
		t.Fatalf("the schema is %v, %v; want two fields", s, err)
	}
	values := []fields.Values{{[]byte("blue")}, {[]byte("x")}}
	if err := w.Add(text.Document{ID: "b", Fields: values}); err != nil {
		t.Fatal(err)
	}
	commit(t, w)
	w.Close()
	w = newWriter(t, dir, segments.Options{})
	if s, err := w.Schema(); err != nil || s == nil || w.Docs() != 2 {
		t.Errorf("the schema of a later writer is %v, %v, and it has %d documents, want 2", s, err, w.Docs())
	}
}

// If all documents are deleted, compacting leaves no segment, and is no error.
func TestCompactingNothing(t *testing.T) {
	dir := filepath.Join(scratch(t), "ix")
	w := newWriter(t, dir, segments.Options{})
	for n := range 2 {
		model(nil).add(t, w, fmt.Sprint(n), "one")
		commit(t, w)
	}
	for n := range 2 {
		if _, err := w.Delete(fmt.Sprint(n)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	commit(t, w)
	if r := openReader(t, dir); r.Numbers() != 0 {
		t.Errorf("%d documents in %d segments, want none", r.Numbers(), len(r.Segments()))
	}
}

// A Writer begins in a folder of its own, merges two segments or more, and keeps no more documents
// in memory than it may.
func TestWritersAreChecked(t *testing.T) {
	if _, err := segments.NewWriter(filepath.Join(scratch(t), "ix"),
		segments.Options{Analyzer: analyzer(t), MergeFactor: 1}); err == nil {
		t.Error("merging one segment: no error")
	}
	taken := scratch(t)
	if err := os.WriteFile(filepath.Join(taken, "notes.txt"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := segments.NewWriter(taken, segments.Options{Analyzer: analyzer(t)})
	if err == nil || !strings.Contains(err.Error(), "not empty and not an index") {
		t.Errorf("a folder of something else: error %v", err)
	}
	dir := filepath.Join(scratch(t), "ix")
	w := newWriter(t, dir, segments.Options{Memory: 1})
	for i := range 3 {
		if err := w.Add(text.Document{ID: fmt.Sprint(i), Text: []byte("red rose")}); err != nil {
			t.Fatal(err)
		}
	}
	commit(t, w)
	if n := len(openReader(t, dir).Segments()); n != 3 {
		t.Errorf("%d segments of three documents, of which memory has room for none; want 3", n)
	}
}

// A Writer that is not asked to merges no segments, however many there are.
func TestNothingMergesUnasked(t *testing.T) {
	dir := filepath.Join(scratch(t), "ix")
	w := newWriter(t, dir, segments.Options{MergeFactor: 2})
	for i := range 12 {
		if err := w.Add(text.Document{ID: fmt.Sprint(i), Text: []byte("red rose")}); err != nil {
			t.Fatal(err)
		}
		commit(t, w)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if n := len(openReader(t, dir).Segments()); n != 12 {
		t.Errorf("%d segments after 12 commits, want 12", n)
	}
}

// The sets of documents to delete are those of the segments in which they were found.
func TestSetsToDeleteAreChecked(t *testing.T) {
	dir := filepath.Join(scratch(t), "ix")
	w := newWriter(t, dir, segments.Options{})
	for i := range 3 {
		if err := w.Add(text.Document{ID: fmt.Sprint(i), Text: []byte("red rose")}); err != nil {
			t.Fatal(err)
		}
	}
	commit(t, w)
	r := openReader(t, dir)
	for _, sets := range [][]*docset.Set{nil, {nil}, {docset.Full(2)}, {docset.Full(4)}, {docset.Full(3), nil}} {
		if n, err := w.DeleteDocs(r, sets); err == nil {
			t.Errorf("%v: %d documents are deleted, want an error", sets, n)
		}
	}
	if n, err := w.DeleteDocs(r, []*docset.Set{docset.Full(3)}); err != nil || n != 3 {
		t.Errorf("all: %d documents, %v", n, err)
	}
}

// A corpus that is added brings no other schema, and no two documents with one ID.
func TestCorporaToAddAreChecked(t *testing.T) {
	file := filepath.Join(scratch(t), "docs.jsonl")
	twice := `{"id":"1","title":"red"}
{"id":"1","title":"rose"}
`
	if err := os.WriteFile(file, []byte(twice), 0o666); err != nil {
		t.Fatal(err)
	}
	w := newWriter(t, filepath.Join(scratch(t), "ix"), segments.Options{Schema: testSchema(t)})
	c := &text.Corpus{Paths: []string{file}}
	var same *index.DuplicateIDError
	if _, _, err := w.AddCorpus(t.Context(), c, index.BuildOptions{}); !errors.As(err, &same) || !same.Adding {
		t.Errorf("two documents with one ID: error %v, want one that says so of those to add", err)
	}
	c.Options.Schema = testSchema(t)
	if _, _, err := w.AddCorpus(t.Context(), c, index.BuildOptions{}); err == nil ||
		!strings.Contains(err.Error(), "has a schema already") {
		t.Errorf("a second schema: error %v", err)
	}
}
