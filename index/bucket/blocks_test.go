package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/generations"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/system"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// wild is a store that may refuse to read ranges, damage them, or cut them off.
type wild struct {
	generations.Store
	ranges  atomic.Int64 // that were read
	down    atomic.Bool
	damages atomic.Bool
	cuts    atomic.Bool
}

func (s *wild) Open(ctx context.Context, name string, from, size int64) (io.ReadCloser, error) {
	if size > 0 {
		s.ranges.Add(1)
		if s.down.Load() {
			return nil, errors.New("the store is down")
		}
	}
	in, err := s.Store.Open(ctx, name, from, size)
	if err != nil || size == 0 {
		return in, err
	}
	defer in.Close()
	b, err := io.ReadAll(in)
	if s.cuts.Load() {
		b = b[:len(b)/2]
	}
	if s.damages.Load() {
		for at := 100; at < len(b); at += 4096 {
			b[at] ^= 1
		}
	}
	return io.NopCloser(strings.NewReader(string(b))), err
}

// inPages returns an index that fetches each file page by page, with a cache of its own.
func inPages(t *testing.T, store generations.Store) *Index {
	t.Helper()
	x, err := Of(store, "test://news", Options{Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	x.cache.whole, x.cache.block = 1000, 4096
	return x
}

// stocked returns a store with an index of documents with fields of all kinds, in two segments with
// deleted documents, and the same index in a folder.
func stocked(t *testing.T) (store *wild, local string) {
	t.Helper()
	ctx := t.Context()
	store = &wild{Store: generations.NewFolder(filepath.Join(t.TempDir(), "news"))}
	x, err := Of(store, "test://news", Options{Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	schema, err := fields.ParseList([]string{"title:text", "body:text", "tag:keyword", "year:number",
		"when:date", "at:geo", "v:vector:16:optional"})
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(7, 8))
	add := func(w *segments.Writer, from, to int) error {
		for i := from; i < to; i++ {
			var body, vector strings.Builder
			for range 20 + rnd.IntN(60) {
				fmt.Fprintf(&body, "word%d ", int(4000*rnd.Float64()*rnd.Float64()*rnd.Float64()))
			}
			for range 16 {
				fmt.Fprintf(&vector, "%.3f ", rnd.NormFloat64())
			}
			values, err := schema.Values(map[string][]string{
				"title": {fmt.Sprintf("Title word%d", rnd.IntN(300))}, "body": {body.String()},
				"tag": {fmt.Sprint("t", rnd.IntN(40))}, "year": {fmt.Sprint(1900 + rnd.IntN(120))},
				"when": {fmt.Sprintf("20%02d-0%d-11", rnd.IntN(20), 1+rnd.IntN(9))},
				"at":   {fmt.Sprintf("%.4f,%.4f", rnd.Float64()*90, rnd.Float64()*90)},
				"v":    {"[" + strings.Join(strings.Fields(vector.String()), ",") + "]"},
			})
			if err == nil {
				err = w.Add(text.Document{ID: fmt.Sprint("d", i), Fields: values})
			}
			if err != nil {
				return err
			}
		}
		return w.Commit()
	}
	err = x.Make(ctx, segments.Options{}, func(dir string, o segments.Options) error {
		o.Analyzer, o.Schema, o.Positions, o.MergeFactor = analyzer(t), schema, true, 100
		w, err := segments.NewWriter(dir, o)
		if err != nil {
			return err
		}
		err = errors.Join(add(w, 0, 4000), add(w, 3900, 6000))
		return errors.Join(err, w.Close())
	})
	if err != nil {
		t.Fatal(err)
	}
	v, err := x.View(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	r, err := segments.Open(v.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	local = filepath.Join(t.TempDir(), "local")
	if err := r.Backup(ctx, local); err != nil {
		t.Fatal(err)
	}
	return store, local
}

// questions are asked of an index in a folder, each by its own reading of the files.
var questions = []string{
	"word1", "word1 word7 word300", "+word0 +word2", `"word1 word3"`, "word0 -word1", "title:word5",
	"word12*",
	"word11~1", "#tag:t3", "year:[1950 TO 1960] word2", "#year:1910 word1", "#when:>2010-01-01 word4",
	"word1^3 word2", "(word1 OR word9) word0", `"word0 word1"~3`,
}

// ask returns the answer to a question, with all that can be shown of it.
func ask(ctx context.Context, s *search.Searcher, question string) (answer []any, err error) {
	q, err := query.Parse(question, query.Options{Fields: s.Fields()})
	if err != nil {
		return nil, err
	}
	r := search.Request{Query: q, Count: true, Facets: []search.Facet{{Field: "tag"}},
		Sort: &search.Sort{Field: "year"}}
	for range 2 {
		found, err := s.Search(ctx, r)
		if err != nil {
			return nil, err
		}
		answer = append(answer, found.Total, found.Hits, found.Facets)
		for _, hit := range found.Hits {
			id, err1 := s.ID(hit.Doc)
			values, err2 := s.Stored(hit.Doc)
			if err := errors.Join(err1, err2); err != nil {
				return nil, err
			}
			answer = append(answer, id, values)
		}
		r = search.Request{Query: q}
	}
	why, err := s.Explain(ctx, search.Request{Query: q}, 17)
	if err != nil {
		return nil, err
	}
	_, found, err := s.Index().FindDoc("d4711")
	return append(answer, why, found), err
}

func askAt(ctx context.Context, dir, question string) (answer []any, err error) {
	s, err := search.Open(dir)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return ask(ctx, s, question)
}

func answers(t *testing.T, dir string) map[string][]any {
	t.Helper()
	all := map[string][]any{}
	for _, q := range questions {
		answer, err := askAt(t.Context(), dir, q)
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		all[q] = answer
	}
	return all
}

// cached returns how many bytes of segments a cache has on disk, and how many their files have.
func cached(t *testing.T, x *Index) (bytes, size int64) {
	t.Helper()
	err := filepath.Walk(filepath.Join(x.cache.dir, cachedSegments), func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			bytes += system.Allocated(info)
			size += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes, size
}

// Whatever is asked of an index of which nothing else has been fetched, the answer is that of a
// local one. So nothing is read that was not verified: what was not fetched is zeros.
func TestAnswersFromBlocks(t *testing.T) {
	store, local := stocked(t)
	ctx := t.Context()
	for question, want := range answers(t, local) {
		x := inPages(t, store)
		v, err := x.View(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := askAt(ctx, v.Dir, question)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v\nwant %v", question, got, err, want)
		}
		if bytes, size := cached(t, x); question == "#tag:t3" && bytes > size*3/4 {
			t.Errorf("%s: fetched %d of %d bytes", question, bytes, size)
		}
		if question != "word1" {
			v.Close()
			continue
		}
		// Everything is fetched in the background, and then the store is not asked any more.
		if err := v.Fill(ctx); err != nil {
			t.Fatal(err)
		}
		before := store.ranges.Load()
		store.down.Store(true)
		if got := answers(t, v.Dir); !reflect.DeepEqual(got, answers(t, local)) {
			t.Error("other answers after all was fetched")
		}
		if err := v.Fill(ctx); err != nil || store.ranges.Load() != before {
			t.Errorf("%v, %d ranges were read after all was fetched", err, store.ranges.Load()-before)
		}
		store.down.Store(false)
		v.Close()
	}
}

// A store that fails, or sends something else, gives errors and no wrong answers. What it sent is
// not kept, so that the same readers answer when it is well again.
func TestStoreFailsWhileItIsRead(t *testing.T) {
	store, local := stocked(t)
	ctx := t.Context()
	want := answers(t, local)
	x := inPages(t, store)
	v, err := x.View(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	s, err := search.Open(v.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for name, fails := range map[string]*atomic.Bool{
		"down": &store.down, "damages": &store.damages, "cuts": &store.cuts,
	} {
		fails.Store(true)
		failed := 0
		for _, q := range questions {
			got, err := ask(ctx, s, q)
			if err == nil && !reflect.DeepEqual(got, want[q]) {
				t.Errorf("%s: %s: %v, want an error or %v", name, q, got, want[q])
			}
			if err != nil {
				failed++
			}
			if remote := new(segments.RemoteError); err != nil && name == "down" && !errors.As(err, &remote) {
				t.Errorf("the error of a store that is down is %v", err)
			}
		}
		if failed == 0 {
			t.Errorf("%s: no question failed", name)
		}
		fails.Store(false)
		if name == "down" {
			got, err := ask(ctx, s, questions[3])
			if err != nil || !reflect.DeepEqual(got, want[questions[3]]) {
				t.Errorf("after the store failed: %v, %v", got, err)
			}
		}
	}
	for _, q := range questions {
		if got, err := ask(ctx, s, q); err != nil || !reflect.DeepEqual(got, want[q]) {
			t.Errorf("%s, when the store is well again: %v, %v", q, got, err)
		}
	}
}

// A process that is killed while it writes blocks leaves some of their pages, or parts of them.
// Other processes, and those that have the files open, fetch these again.
func TestBlocksOfAKilledProcess(t *testing.T) {
	store, local := stocked(t)
	ctx := t.Context()
	want := answers(t, local)
	rnd := rand.New(rand.NewPCG(9, 10))
	x := inPages(t, store)
	v, err := x.View(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	for range trials.Of(200) {
		q := questions[rnd.IntN(len(questions))]
		if got, err := askAt(ctx, v.Dir, q); err != nil || !reflect.DeepEqual(got, want[q]) {
			t.Fatalf("%s: %v, %v", q, got, err)
		}
		err := filepath.Walk(v.Dir, func(path string, info os.FileInfo, err error) error {
			if err != nil || info.IsDir() || filepath.Base(path) == index.SegmentsFile || info.Size() <= x.cache.whole || rnd.IntN(3) > 0 {
				return err
			}
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			at := rnd.Int64N(info.Size())
			_, err = f.WriteAt(make([]byte, min(rnd.Int64N(20_000), info.Size()-at)), at)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := contentsOf(t, v.Dir); got != 6000 {
		t.Errorf("%d documents, want 6000", got)
	}
}

// contentsOf checks an index, and returns how many documents it has.
func contentsOf(t *testing.T, dir string) int {
	t.Helper()
	r, err := segments.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Check(t.Context(), index.CheckOptions{}); err != nil {
		t.Fatal(err)
	}
	return r.Docs()
}

// Many goroutines, in several readers of one cache, read at once what nobody has fetched.
func TestBlocksAtOnce(t *testing.T) {
	store, local := stocked(t)
	ctx := t.Context()
	want := answers(t, local)
	x := inPages(t, store)
	var wait sync.WaitGroup
	for range 2 {
		v, err := x.View(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		s, err := search.Open(v.Dir)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for n := range 8 {
			wait.Go(func() {
				for i := range questions {
					q := questions[(i+2*n)%len(questions)]
					if got, err := ask(ctx, s, q); err != nil || !reflect.DeepEqual(got, want[q]) {
						t.Errorf("%s: %v, %v", q, got, err)
					}
				}
			})
		}
	}
	wait.Wait()
}

// A segment that is removed from the store while a reader still needs its blocks is an error that
// says so, and not one of a missing file.
func TestBlocksAreGone(t *testing.T) {
	store, _ := stocked(t)
	ctx := t.Context()
	v, err := inPages(t, store).View(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	for _, s := range v.Generation().Segments {
		for _, f := range s.Files {
			if err := store.Delete(ctx, generations.FileName(s.Name, f.Name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, err = askAt(ctx, v.Dir, "word1")
	if err == nil || errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "the grace period") {
		t.Errorf("got %v, want that the segment was removed after the grace period", err)
	}
}
