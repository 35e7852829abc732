package collocate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

type note struct {
	Key  int `index:"id"`
	Text string
	When *time.Time
	Tags []string
	At   [2]float64 `index:"place"`
	Rank float64
	Open bool
}

func open(t *testing.T, dir string, o Options) *Index {
	t.Helper()
	x, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

func ids(t *testing.T, x *Index, r Request) string {
	t.Helper()
	found, err := x.Search(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, h := range found.Hits {
		list = append(list, h.ID)
	}
	return strings.Join(list, " ")
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestALiveIndex(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "notes")
	x := open(t, dir, Options{Like: note{}})
	if got := ids(t, x, Request{Query: "rose"}); got != "" || x.Len() != 0 {
		t.Errorf("an empty index has %q, %d documents", got, x.Len())
	}
	when := time.Date(2020, 2, 29, 12, 0, 0, 5e6, time.UTC)
	first := note{Key: 1, Text: "a red rose", When: &when, Tags: []string{"red", "flower"}, At: [2]float64{48.25, 16.5}, Rank: 0.1, Open: true}
	must(t, x.Add(first, &note{Key: 2, Text: "a rose is a rose"}))
	must(t, x.Add(map[string]any{"id": 3, "text": "a daisy", "rank": 7, "tags": []any{"white"}}))
	if got := ids(t, x, Request{Query: "rose"}); got != "" {
		t.Errorf("before Commit %q is found", got)
	}
	must(t, x.Commit(t.Context()))
	for _, c := range []struct {
		r    Request
		want string
	}{
		{Request{Query: "rose"}, "2 1"},
		{Request{Query: "rose", K: 1}, "2"},
		{Request{Query: "rose", From: 1}, "1"},
		{Request{Query: "red rose", All: true}, "1"},
		{Request{Query: `"rose is"`}, "2"},
		{Request{Query: "rose daisy", Filter: "tags:(red OR white) rank:>0"}, "3 1"},
		{Request{Query: "a", Filter: "place:[48,16 TO 49,17]"}, "1"},
		{Request{Query: "open:true"}, "1"},
		{Request{Filter: "rank:>0"}, "1 3"},
		{Request{Query: "*", Sort: &search.Sort{Field: "rank", Descending: true}}, "3 1 2"},
		{Request{Query: "rose", With: func(r *search.Request) { r.Algorithm = search.Exhaustive }}, "2 1"},
		{Request{Query: "rose", Filter: "tags:red", With: func(r *search.Request) { r.Expand = &search.Expand{} }}, "1"},
		{Request{Query: "daisy", Filter: "rank:>0", With: func(r *search.Request) { r.Words = []search.Word{{Text: "a"}} }}, "1 3"},
		{Request{Query: "rose", Filter: "rank:>0", With: func(r *search.Request) { r.Query = query.Term{Text: "a"} }}, "1 3"},
	} {
		if got := ids(t, x, c.r); got != c.want {
			t.Errorf("%+v: %q, want %q", c.r, got, c.want)
		}
	}

	found, err := x.Search(t.Context(), Request{Query: "red", Stored: true, Explain: true, Count: true})
	must(t, err)
	var back note
	must(t, found.Hits[0].Decode(&back))
	if !reflect.DeepEqual(back, first) || found.Hits[0].Explanation.Score != found.Hits[0].Score || found.Total != 1 {
		t.Errorf("stored %+v, got %+v", first, back)
	}
	if f := found.Hits[0].Fields(); f["rank"] != json.Number("0.1") || f["open"] != "true" {
		t.Errorf("fields %v", f)
	}

	var all []string
	for hit, err := range x.All(t.Context(), Request{Query: "a"}) {
		must(t, err)
		all = append(all, hit.ID)
	}
	if len(all) != 3 {
		t.Errorf("All yields %q", all)
	}

	n, err := x.Delete("2", "9")
	if n != 1 || err != nil {
		t.Errorf("Delete: %d, %v", n, err)
	}
	must(t, x.Add(note{Key: 1, Text: "a white rose"}))
	n, err = x.DeleteMatching(t.Context(), "tags:white")
	if n != 1 || err != nil {
		t.Errorf("DeleteMatching: %d, %v", n, err)
	}
	must(t, x.Commit(t.Context()))
	if got := ids(t, x, Request{Query: "*"}); got != "1" {
		t.Errorf("after deleting: %q", got)
	}
	must(t, x.Close())
	again := open(t, dir, Options{})
	if got := ids(t, again, Request{Query: "white"}); got != "1" {
		t.Errorf("opened again: %q", got)
	}
	copied, err := FS(os.DirFS(dir), Options{Like: note{}})
	must(t, err)
	defer copied.Close()
	if got := ids(t, copied, Request{Query: "white"}); got != "1" {
		t.Errorf("from a file system: %q", got)
	}
	if err := copied.Add(note{Key: 4}); !errors.Is(err, ErrReadOnly) {
		t.Errorf("adding to it: %v", err)
	}
}

func TestWordsNoDocumentHasAreNoted(t *testing.T) {
	x, err := Memory(Options{})
	must(t, err)
	defer x.Close()
	must(t, x.Add(text.Document{ID: "a", Text: []byte("roses and daisies")}, map[string]any{"id": "b", "text": "dogs"}))
	must(t, x.Commit(t.Context()))
	found, err := x.Search(t.Context(), Request{Query: "rosse"})
	must(t, err)
	if len(found.Notes) == 0 || !strings.Contains(found.Notes[0], "roses") {
		t.Errorf("notes %q", found.Notes)
	}
	scratch := x.scratch.dir
	must(t, x.Close())
	if _, err := os.Stat(scratch); err == nil {
		t.Error("the folder of Memory is still there after Close")
	}
}

// What is wrong is said when it is wrong, by the name of what to change.
func TestWhatIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "x")
	says := func(err error, part string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("got %v, want an error with %q", err, part)
		}
	}
	_, err := Open(dir, Options{})
	says(err, "Options.Like")
	for _, c := range []struct {
		like any
		want string
	}{
		{5, "want a struct"},
		{struct{ Text string }{}, `index:"id"`},
		{struct {
			ID func() `index:"id"`
		}{}, "string or an integer"},
		{struct {
			ID string `index:"id"`
			M  map[string]bool
		}{}, "type map[string]bool"},
		{struct {
			ID string `index:"id"`
			N  int
		}{}, "text"},
		{struct {
			ID string `index:"id"`
			T  string `index:"t:txet"`
		}{}, "txet"},
	} {
		_, err := SchemaOf(c.like)
		says(err, c.want)
	}
	_, err = Open(filepath.Join(t.TempDir(), "y"), Options{Like: struct {
		ID string `index:"id"`
		T  string `index:"t:text:englisch"`
	}{}})
	says(err, `field "t": `)
	says(err, "Options.Analyzers")
	x := open(t, dir, Options{Like: note{}})
	says(x.Add(struct {
		ID   string `index:"id"`
		Text string
	}{"a", "b"}), "other fields")
	says(x.Add(note{Key: 1}, 7), "document 2 of 2")
	says(x.Add(map[string]any{"text": "no ID"}), "no \"id\"")
	says(x.Add(map[string]any{"id": "a", "txet": "misspelled"}), "txet")
	must(t, x.Commit(t.Context()))
	_, err = Open(dir, Options{Like: Options{}})
	says(err, "index")
	_, err = x.Search(t.Context(), Request{Query: " "})
	says(err, "empty query")
	_, err = x.Search(t.Context(), Request{Query: "a", Tree: query.Term{Text: "a"}})
	says(err, "both Query and Tree")
	_, err = x.Search(t.Context(), Request{Tree: query.Term{Text: "a"}, All: true})
	says(err, "say And in Tree")
	for _, n := range []query.Node{query.Or{}, query.And{Parts: []query.Node{query.Must{}}}, query.IDs{}, query.Same{}, query.Near{},
		query.Field{Name: "text"}, query.Filter{Part: query.Not{Part: query.Boost{By: 2}}}} {
		if _, err := x.Search(t.Context(), Request{Tree: n}); !errors.Is(err, search.ErrRequest) || !strings.Contains(err.Error(), "part") {
			t.Errorf("%T with nothing in it: %v", n, err)
		}
	}
	nothing := &search.Own{Name: "nothing", Word: func(search.WordStats) func(tf, length uint32) float64 { return nil }}
	for _, m := range []search.Model{nothing, (*search.Own)(nil)} {
		if _, err := x.Search(t.Context(), Request{Query: "a", Model: m}); !errors.Is(err, search.ErrRequest) {
			t.Errorf("a model without a function: %v", err)
		}
	}
	says(x.Add((*note)(nil)), "is nil")
	says(x.Add((*text.Document)(nil)), "is nil")
	_, _, err = x.AddCorpus(t.Context(), nil)
	says(err, "the corpus is nil")
	_, _, err = x.AddCorpus(t.Context(), &text.Corpus{Options: text.Options{Schema: x.Schema()}})
	says(err, "without Options.Schema")
	_, err = x.Search(t.Context(), Request{Query: "a", Snippet: -1})
	says(err, "Snippet: -1")
	_, err = x.Search(t.Context(), Request{Query: "a", Highlight: []string{"tags"}})
	says(err, `unknown text field "tags": want one of text`)
	_, err = x.Search(t.Context(), Request{Query: "("})
	if !errors.Is(err, search.ErrRequest) {
		t.Errorf("a wrong query: %v", err)
	}
	_, err = Memory(Options{Memory: -1})
	says(err, "below 0")
	var zero Index
	must(t, zero.Close())
	if _, err := new(Index).Search(t.Context(), Request{Query: "a"}); !errors.Is(err, ErrClosed) {
		t.Errorf("an Index that was not opened: %v", err)
	}
	var none context.Context
	_, err = x.Search(none, Request{Query: "a"})
	says(err, "context")

	y := open(t, dir, Options{})
	if err := y.Add(note{Key: 2, Text: "b"}); !errors.Is(err, segments.ErrLocked) {
		t.Errorf("a second writer: %v", err)
	}
	must(t, x.Close())
	must(t, x.Close())
	_, err = x.Search(t.Context(), Request{Query: "a"})
	for _, err := range []error{err, x.Add(note{}), x.Commit(t.Context())} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
	must(t, y.Add(note{Key: 2, Text: "b"}))
}

// A program follows what another one commits.
func TestAnIndexFollowsOthers(t *testing.T) {
	dir := t.TempDir()
	x := open(t, dir, Options{Like: note{}})
	must(t, x.Add(note{Key: 1, Text: "a"}))
	must(t, x.Commit(t.Context()))
	y := open(t, dir, Options{RefreshEvery: time.Millisecond})
	must(t, x.Add(note{Key: 2, Text: "a"}))
	must(t, x.Commit(t.Context()))
	for end := time.Now().Add(20 * time.Second); y.Len() != 2; {
		if time.Now().After(end) {
			t.Fatalf("%d documents, want 2", y.Len())
		}
		time.Sleep(time.Millisecond)
	}
}

// Searches beside commits see whole generations: all documents of a commit or none.
func TestSearchesBesideCommits(t *testing.T) {
	x, err := Memory(Options{Like: note{}})
	must(t, err)
	ctx, stop := context.WithCancel(t.Context())
	var searchers sync.WaitGroup
	for range 8 {
		searchers.Go(func() {
			for last := 0; ctx.Err() == nil; {
				found, err := x.Search(t.Context(), Request{Query: "same", K: 1000, Stored: true})
				if errors.Is(err, ErrClosed) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				if n := len(found.Hits); n%3 != 0 || n < last {
					t.Errorf("%d documents after %d", n, last)
					return
				}
				last = len(found.Hits)
			}
		})
	}
	commits := max(20, trials.Cases(100))
	for i := range commits {
		for j := range 3 {
			must(t, x.Add(note{Key: 3*i + j, Text: fmt.Sprint("same ", i)}))
		}
		must(t, x.Commit(t.Context()))
	}
	if x.Len() != 3*commits {
		t.Errorf("%d documents, want %d", x.Len(), 3*commits)
	}
	must(t, x.Close()) // beside the searches
	stop()
	searchers.Wait()
}

// All goes on after what it ranked at first, also among equal scores and values.
func TestAllYieldsEveryHitOnce(t *testing.T) {
	defer func(n int) { ranked = n }(ranked)
	ranked = page + 1
	x, err := Memory(Options{Like: note{}})
	must(t, err)
	defer x.Close()
	const n = 2*page + 7
	for i := range n {
		must(t, x.Add(note{Key: i, Text: strings.Repeat("word ", i%5+1), Rank: float64(i % 3)}))
		if i == page {
			must(t, x.Commit(t.Context()))
		}
	}
	must(t, x.Commit(t.Context()))
	for name, sort := range map[string]*search.Sort{"scores": nil, "ranks": {Field: "rank"}} {
		want, err := x.Search(t.Context(), Request{Query: "word", From: 3, K: n, Sort: sort})
		must(t, err)
		var got []Hit
		for hit, err := range x.All(t.Context(), Request{Query: "word", From: 3, Sort: sort}) {
			must(t, err)
			got = append(got, hit)
		}
		if len(got) != n-3 || !reflect.DeepEqual(got, want.Hits) {
			t.Errorf("by %s: %d hits, want the %d of one search", name, len(got), len(want.Hits))
		}
	}
}

// Every call is observed with what it did, and errors that no call returns are logged.
func TestEventsAndLog(t *testing.T) {
	var events []string
	var log strings.Builder
	x := open(t, filepath.Join(t.TempDir(), "x"), Options{Analyzer: "unicode", MergeFactor: 3,
		Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Observe: func(e Event) {
			events = append(events, fmt.Sprintf("%s %d %v", e.Call, e.Documents, e.Err != nil))
			if e.Took <= 0 {
				t.Errorf("%s took %v", e.Call, e.Took)
			}
		}})
	must(t, x.Add(text.Document{ID: "1", Text: []byte("a rose")}, text.Document{ID: "2", Text: []byte("a daisy")}))
	must(t, x.Commit(t.Context()))
	ids(t, x, Request{Query: "rose"})
	if _, err := x.Search(t.Context(), Request{Query: ""}); err == nil {
		t.Error("an empty query is no error")
	}
	for range x.All(t.Context(), Request{Query: "a"}) {
	}
	if n, err := x.Delete("1", "3"); n != 1 || err != nil {
		t.Errorf("deleted %d, %v", n, err)
	}
	must(t, x.Commit(t.Context()))
	if err := errors.Join(x.Add(text.Document{ID: "4", Text: []byte("a tulip")}), x.Compact(t.Context())); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Complete(t.Context(), "", "t", 0); err != nil {
		t.Fatal(err)
	}
	want := "add 2 false; refresh 2 false; commit 2 false; search 1 false; search 0 true; all 2 false; " +
		"delete 1 false; merge 1 false; refresh 1 false; commit 1 false; " +
		"add 1 false; merge 2 false; refresh 2 false; compact 2 false; complete 1 false"
	if got := strings.Join(events, "; "); got != want {
		t.Errorf("events %s\nwant %s", got, want)
	}
	for _, want := range []string{"collocate: commit", "documents=2 query=a\n", "error=", "collocate: merge"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("%q is not logged:\n%s", want, log.String())
		}
	}
}

// Progress is told of every segment that is written and merged, from its beginning to its end.
func TestProgress(t *testing.T) {
	for _, like := range []any{nil, note{}} {
		var told []segments.Progress
		x, err := Memory(Options{Like: like, MergeFactor: 2, Progress: func(p segments.Progress) { told = append(told, p) }})
		must(t, err)
		for n := range 2 {
			for i := range 300 {
				id, words := fmt.Sprint(n, "-", i), fmt.Sprint("a rose ", i)
				if like == nil {
					must(t, x.Add(text.Document{ID: id, Text: []byte(words)}))
				} else {
					must(t, x.Add(map[string]any{"id": id, "text": words}))
				}
			}
			must(t, x.Commit(t.Context()))
		}
		must(t, x.Close())
		var ends []string
		var last segments.Progress
		for i, p := range told {
			switch begin := i == 0 || last.Ended; {
			case begin && (p.Done != 0 || p.Ended):
				t.Errorf("it begins with %+v", p)
			case !begin && (p.Done < last.Done || p.Done > p.Total || p.Total != last.Total || p.Merging != last.Merging):
				t.Errorf("%+v after %+v", p, last)
			}
			if last = p; p.Ended {
				ends = append(ends, fmt.Sprint(p.Merging, p.Done, p.Total, p.Err))
			}
		}
		if got, want := fmt.Sprint(ends), "[false 300 300 <nil> false 300 300 <nil> true 600 600 <nil>]"; got != want {
			t.Errorf("segments %s, want %s", got, want)
		}
		if n := len(told); like == nil && n < 50 {
			t.Errorf("only %d calls", n)
		}
	}
}

// A merge policy of one's own decides, and what it must not choose is refused.
func TestMergePolicy(t *testing.T) {
	var seen []string
	from, to := 0, 0
	x := open(t, filepath.Join(t.TempDir(), "x"), Options{Analyzer: "unicode", MergeFactor: 2,
		MergePolicy: func(documents, deleted []int) (int, int) {
			seen = append(seen, fmt.Sprint(documents, deleted))
			now := to
			to = from // nothing more is to be merged
			return from, now
		}})
	add := func(id string) error {
		return errors.Join(x.Add(text.Document{ID: id, Text: []byte("a rose")}), x.Commit(t.Context()))
	}
	must(t, add("1"))
	must(t, add("2"))
	must(t, add("1"))
	from, to = 1, 3
	must(t, add("3"))
	// The first segment has no documents left, and is dropped.
	if got, want := strings.Join(seen, " "), "[1] [0] [1 1] [0 0] [1 1] [0 0] [1 1 1] [0 0 0] [1 2] [0 0]"; got != want {
		t.Errorf("the policy saw %s, want %s", got, want)
	}
	for _, bad := range [][2]int{{0, 4}, {-1, 1}, {2, 1}, {0, 1}} {
		from, to = bad[0], bad[1]
		n := x.Len()
		err := add(fmt.Sprint("more", bad))
		if merging := new(segments.MergeError); !errors.As(err, &merging) || !strings.Contains(err.Error(), "merge policy") {
			t.Errorf("segments %v: %v", bad, err)
		}
		if x.Len() != n+1 {
			t.Errorf("a policy that is refused changed %d documents to %d", n, x.Len())
		}
	}
}

// A context that is cancelled is an error before anything is done.
func TestCancelledAtOnce(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "x"), Options{Analyzer: "unicode"})
	must(t, x.Add(text.Document{ID: "1", Text: []byte("a rose")}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := x.Commit(ctx); !errors.Is(err, context.Canceled) || x.Len() != 0 {
		t.Errorf("Commit: %v with %d documents", err, x.Len())
	}
	for _, err := range x.All(ctx, Request{Query: "rose"}) { // though nothing was committed
		if !errors.Is(err, context.Canceled) {
			t.Errorf("All: %v", err)
		}
	}
	if _, err := x.Similar(ctx, "", "rose"); !errors.Is(err, context.Canceled) {
		t.Errorf("Similar: %v", err)
	}
	must(t, x.Commit(t.Context()))
	if _, err := x.Search(ctx, Request{Query: "rose"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Search: %v", err)
	}
	for _, err := range x.All(ctx, Request{Query: "rose"}) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("All: %v", err)
		}
	}
	if _, err := x.Complete(ctx, "", "r", 0); !errors.Is(err, context.Canceled) {
		t.Errorf("Complete: %v", err)
	}
	s, err := search.Open(x.dir)
	must(t, err)
	defer s.Close()
	if _, err := s.Search(ctx, search.Request{Text: "rose"}); !errors.Is(err, context.Canceled) {
		t.Errorf("Search of package search: %v", err)
	}
}

// Words are completed and corrected, over all segments, also in one field.
func TestCompleteAndSimilar(t *testing.T) {
	x, err := Memory(Options{Like: note{}})
	must(t, err)
	defer x.Close()
	if list, err := x.Complete(t.Context(), "", "ro", 0); err != nil || list != nil {
		t.Errorf("an empty index completes to %v, %v", list, err)
	}
	for i, s := range []string{"Rose and robin", "rose", "Rome rots", "daisy robin roses rose"} {
		must(t, x.Add(note{Key: i, Text: s, Tags: []string{"rook"}}))
		must(t, x.Commit(t.Context()))
	}
	for _, c := range []struct {
		field, prefix string
		n             int
		want          string
	}{
		{"", "ro", 0, "[{rose 3} {robin 2} {rome 1} {roses 1} {rots 1}]"}, {"text", "RO", 2, "[{rose 3} {robin 2}]"},
		{"", "x", 0, "[]"}, {"text", "daisy", 0, "[{daisy 1}]"},
	} {
		list, err := x.Complete(t.Context(), c.field, c.prefix, c.n)
		if got := fmt.Sprint(list); err != nil || got != c.want {
			t.Errorf("%q in %q: %s, %v, want %s", c.prefix, c.field, got, err, c.want)
		}
	}
	if list, err := x.Similar(t.Context(), "text", "robbin"); err != nil || fmt.Sprint(list) != "[robin]" {
		t.Errorf("similar to robbin: %v, %v", list, err)
	}
	if _, err := x.Complete(t.Context(), "rank", "r", 0); err == nil || !strings.Contains(err.Error(), `unknown text field "rank"`) {
		t.Errorf("completions of a number: %v", err)
	}
	must(t, x.Close())
	if _, err := x.Similar(t.Context(), "", "rose"); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// ownAnalyzer is one that package text does not have.
type ownAnalyzer struct{ text.Analyzer }

func (ownAnalyzer) Name() string { return "own" }

// An index whose analyzer is missing says so when it is opened, for searching or for writing.
func TestMissingAnalyzersAreNamedAtOnce(t *testing.T) {
	unicode, err := text.ParseAnalyzer("unicode")
	must(t, err)
	own := []text.Analyzer{ownAnalyzer{unicode}}
	type page struct {
		ID    string `index:"id"`
		Title string `index:":text:own"`
	}
	for name, o := range map[string]Options{"words": {Analyzer: "own", Analyzers: own}, "a field": {Like: page{}, Analyzers: own}} {
		dir := filepath.Join(t.TempDir(), "x")
		x := open(t, dir, o)
		if o.Like != nil {
			must(t, x.Add(page{"1", "Rose"}))
		} else {
			must(t, x.Add(map[string]any{"id": 1, "text": "Rose"}))
		}
		must(t, x.Commit(t.Context()))
		must(t, x.Close())
		if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), `"own"`) {
			t.Errorf("%s: Open: %v", name, err)
		}
		if w, err := segments.NewWriter(dir, segments.Options{}); err == nil || !strings.Contains(err.Error(), `"own"`) {
			t.Errorf("%s: NewWriter: %v", name, err)
			if w != nil {
				w.Close()
			}
		}
		again := open(t, dir, Options{Analyzers: own})
		if got := ids(t, again, Request{Query: "rose"}); got != "1" {
			t.Errorf("%s: opened again: %q", name, got)
		}
	}
}

// Patterns and typing errors are found in values, and notes say when no document has all values of
// a group, which a filter wants.
func TestValues(t *testing.T) {
	x, err := Memory(Options{Like: note{}})
	must(t, err)
	defer x.Close()
	must(t, x.Add(note{Key: 1, Text: "a", Tags: []string{"red-1"}}, note{Key: 2, Text: "b", Tags: []string{"red-2", "Blue"}}))
	must(t, x.Commit(t.Context()))
	for q, want := range map[string]string{"tags:r?d-1": "1", "tags:r*-*": "1 2", "tags:Blux~1": "2", "tags:b*e": "",
		"tags:(Blue red-2)": "2", "tags:(Blue OR red-1)": "1 2", "tags:(Blue red-1)": ""} {
		found, err := x.Search(t.Context(), Request{Filter: q})
		must(t, err)
		var list []string
		for _, h := range found.Hits {
			list = append(list, h.ID)
		}
		if got := strings.Join(list, " "); got != want {
			t.Errorf("%s finds %s, want %s", q, got, want)
		}
		notes := strings.Join(found.Notes, "; ")
		if group := strings.HasPrefix(q, "tags:(Blue red-1"); strings.Contains(notes, "say OR between them") != group || (want == "") != (notes != "") {
			t.Errorf("%s: notes %q", q, notes)
		}
	}
	inner := query.Field{Name: "tags", Part: query.Field{Name: "text", Part: query.Term{Text: "a"}}}
	if _, err := x.Search(t.Context(), Request{Tree: inner}); !errors.Is(err, search.ErrRequest) {
		t.Errorf("a field within a field: %v", err)
	}
}
