package segments_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

const childEnv = "COLLOCATE_TEST_LIVING"

// killAgainAndAgain starts the calling test again as a process that makes one generation of an
// index after the other with next, and kills it at random moments. Each time check must find a
// whole generation, which it returns, and none that was committed may be lost.
func killAgainAndAgain(t *testing.T, kills int, check func(t *testing.T, dir string) int,
	next func(w *segments.Writer, dir string, generation int) error, o segments.Options) {
	if dir := os.Getenv(childEnv); dir != "" {
		changeForever(t, dir, next, o)
		return
	}
	dir := filepath.Join(scratch(t), "ix")
	rng := rand.New(rand.NewPCG(61, 62))
	kills /= trials.Every(kills)
	if n, err := strconv.Atoi(os.Getenv("COLLOCATE_TEST_KILLS")); err == nil {
		kills = n
	}
	last := 0
	for n := 0; n < kills || last == 0; n++ {
		var output bytes.Buffer
		child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		child.Env = append(os.Environ(), childEnv+"="+dir)
		child.Stdout, child.Stderr = &output, &output
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- child.Wait() }()
		select {
		case err := <-ended:
			t.Fatalf("the child process ended before it was killed: %v\n%s", err, output.Bytes())
		case <-time.After(time.Duration(20+rng.IntN(300)) * time.Millisecond):
			child.Process.Kill()
			<-ended
		}
		said, err := os.ReadFile(dir + ".said")
		lines := strings.Fields(string(said))
		if errors.Is(err, os.ErrNotExist) || len(lines) == 0 {
			continue // killed before the first commit
		}
		committed, err := strconv.Atoi(lines[len(lines)-1])
		if err != nil {
			t.Fatal(err)
		}
		g := check(t, dir)
		if g < committed || g < last { // the child may be killed between Commit and writing its number
			t.Fatalf("generation %d, want at least %d, which was committed, and %d, which was there", g,
				committed, last)
		}
		last = g
	}
	t.Logf("%d generations", last)
}

func changeForever(t *testing.T, dir string, next func(w *segments.Writer, dir string, generation int) error,
	o segments.Options) {
	o.Background = true
	w := newWriter(t, dir, o)
	g := 0
	if r, err := segments.Open(dir); err == nil {
		g = int(r.Generation())
		r.Close()
	}
	said, err := os.OpenFile(dir+".said", os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	for ; ; g++ {
		if err := next(w, dir, g+1); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(said, g+1)
	}
}

// tagged is what a document of fieldStep holds.
type tagged struct {
	title string
	tags  []string
	year  int
}

// fieldStep makes the next generation of an index with fields, as step does without, and the same
// changes in a map. It adds and replaces documents, deletes one, in some generations merges, and
// makes a backup after the commit.
func fieldStep(t *testing.T, w *segments.Writer, dir string, m map[string]tagged, generation int) error {
	rng := rand.New(rand.NewPCG(uint64(generation), 199))
	schema := testSchema(t)
	for range 4 {
		id := fmt.Sprintf("d%d", rng.IntN(40))
		d := tagged{title: randomText(rng), year: 1990 + rng.IntN(20)}
		for n := range 5 {
			if rng.IntN(3) == 0 {
				d.tags = append(d.tags, fmt.Sprint("t", n))
			}
		}
		if m[id] = d; w == nil {
			continue
		}
		values, err := schema.Values(map[string][]string{
			"title": {d.title}, "tag": d.tags, "year": {fmt.Sprint(d.year)}})
		if err == nil {
			err = w.Add(text.Document{ID: id, Fields: values})
		}
		if err != nil {
			return err
		}
	}
	gone := fmt.Sprintf("d%d", rng.IntN(40))
	delete(m, gone)
	if w == nil {
		return nil
	}
	if _, err := w.Delete(gone); err != nil {
		return err
	}
	if generation%7 == 4 {
		if _, err := w.Compact(context.Background()); err != nil {
			return err
		}
	}
	if err := w.Commit(); err != nil {
		return err
	}
	return backup(dir, dir+".copy")
}

// checkFields compares an index with the map of its generation, which it returns: the documents,
// filters by keywords and numbers, facets, and words in a field.
func checkFields(t *testing.T, dir string) int {
	t.Helper()
	s, err := search.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := s.Index()
	m := map[string]tagged{}
	for g := 1; g <= int(r.Generation()); g++ {
		if err := fieldStep(t, nil, dir, m, g); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Check(t.Context(), index.CheckOptions{}); err != nil {
		t.Fatal(err)
	}
	find := func(q query.Node, facets ...search.Facet) (ids []string, found *search.Result) {
		found, err := s.Search(t.Context(), search.Request{Query: q, K: 100, Facets: facets})
		if err != nil {
			t.Fatalf("generation %d, %v: %v", r.Generation(), q, err)
		}
		for _, h := range found.Hits {
			id, err := r.DocID(int(h.Doc))
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		return slices.Sorted(slices.Values(ids)), found
	}
	want := func(match func(d tagged) bool) (ids []string) {
		for id, d := range m {
			if match(d) {
				ids = append(ids, id)
			}
		}
		return slices.Sorted(slices.Values(ids))
	}
	in := func(field string, part query.Node) query.Node { return query.Field{Name: field, Part: part} }
	tags := map[string]int{}
	for _, d := range m {
		for _, tag := range d.tags {
			tags[tag]++
		}
	}
	got, found := find(query.All{}, search.Facet{Field: "tag"})
	if want := slices.Sorted(maps.Keys(m)); !slices.Equal(got, want) {
		t.Fatalf("generation %d has the documents %s, want %s", r.Generation(), got, want)
	}
	counted := map[string]int{}
	for _, v := range found.Facets[0].Values {
		counted[v.Value] = v.Docs
	}
	if !maps.Equal(counted, tags) {
		t.Fatalf("generation %d: facets %v, want %v", r.Generation(), counted, tags)
	}
	for n := range 5 {
		tag, word, year := fmt.Sprint("t", n), fmt.Sprint("w", 4*n), 1990+3*n
		for _, c := range []struct {
			q     query.Node
			match func(d tagged) bool
		}{
			{in("tag", query.Term{Text: tag}), func(d tagged) bool { return slices.Contains(d.tags, tag) }},
			{in("year", query.Range{From: fmt.Sprint(year), To: fmt.Sprint(year + 4)}),
				func(d tagged) bool { return d.year >= year && d.year <= year+4 }},
			{in("title", query.Term{Text: word}),
				func(d tagged) bool { return slices.Contains(strings.Fields(d.title), word) }},
		} {
			if got, _ := find(c.q); !slices.Equal(got, want(c.match)) {
				t.Fatalf("generation %d, %v: %s, want %s", r.Generation(), c.q, got, want(c.match))
			}
		}
	}
	return int(r.Generation())
}

// The same with fields, and with a backup of each generation before its number is written: whatever
// is killed, the backup is a whole generation, and none that was backed up is lost.
func TestKilledWritersKeepFieldsAndBackups(t *testing.T) {
	check := func(t *testing.T, dir string) int {
		g, copied := checkFields(t, dir), checkFields(t, dir+".copy")
		if copied > g {
			t.Fatalf("a backup of generation %d of an index of generation %d", copied, g)
		}
		return copied
	}
	next := func(w *segments.Writer, dir string, generation int) error {
		return fieldStep(t, w, dir, map[string]tagged{}, generation)
	}
	killAgainAndAgain(t, 15, check, next, segments.Options{StoreText: true, Positions: true,
		MergeFactor: 2, Schema: testSchema(t)})
}
