package bucket

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/generations"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/s3/s3test"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// A test program can start only one server, so all tests of stores are one.
func TestStores(t *testing.T) {
	if os.Getenv(serverVariable) == "" {
		s3test.Start(t, "corpora")
	}
	for name, test := range map[string]func(*testing.T, string){
		"changes": testChanges, "writers at once": testWritersAtOnce, "refresh": testRefresh,
	} {
		t.Run(name+" in S3", func(t *testing.T) { test(t, "s3://corpora/deep/"+strings.ReplaceAll(name, " ", "-")) })
		t.Run(name+" in a folder", func(t *testing.T) { test(t, "file://"+filepath.ToSlash(t.TempDir())+"/news") })
	}
	t.Run("errors", testErrorsHaveNames)
}

func open(t *testing.T, address string) *Index {
	t.Helper()
	x, err := Open(address, Options{Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func analyzer(t *testing.T) text.Analyzer {
	t.Helper()
	a, err := text.ParseAnalyzer("unicode")
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// write changes documents by ID; "" deletes one.
func write(ctx context.Context, x *Index, docs map[string]string) error {
	return x.Change(ctx, segments.Options{}, func(dir string, o segments.Options) error {
		w, err := segments.NewWriter(dir, o)
		if err != nil {
			return err
		}
		return errors.Join(change(w, docs), w.Commit(), w.Close())
	})
}

// change changes documents by ID; "" deletes one.
func change(w *segments.Writer, docs map[string]string) (err error) {
	for _, id := range slices.Sorted(maps.Keys(docs)) {
		if docs[id] == "" {
			_, err = w.Delete(id)
		} else {
			err = w.Add(text.Document{ID: id, Text: []byte(docs[id])})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func makeEmpty(t *testing.T, x *Index) {
	t.Helper()
	err := x.Make(t.Context(), segments.Options{}, func(dir string, o segments.Options) error {
		o.Analyzer, o.StoreText = analyzer(t), true
		return segments.Create(dir, o)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// contents returns the documents of an index in a folder by ID, and checks its files.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	r, err := segments.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Check(t.Context(), index.CheckOptions{}); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, s := range r.Segments() {
		for d := range s.Docs() {
			if s.Live != nil && !s.Live.Has(uint32(d)) {
				continue
			}
			id, err1 := s.DocID(d)
			words, err2 := s.Text(d)
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			if _, twice := all[id]; twice {
				t.Errorf("document %s is there twice", id)
			}
			all[id] = string(words)
		}
	}
	return all
}

func newest(t *testing.T, x *Index) map[string]string {
	t.Helper()
	v, err := x.View(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	r, err := segments.Open(v.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Generation() != v.Generation().Number {
		t.Errorf("the folder has generation %d, want %d", r.Generation(), v.Generation().Number)
	}
	return contents(t, v.Dir)
}

// Changes one after the other give what they would give in a map, and in a local index: the same
// answers to the bit, the same files when compacted.
func testChanges(t *testing.T, address string) {
	rnd := rand.New(rand.NewPCG(1, 2))
	x, ctx := open(t, address), t.Context()
	if is, err := x.Exists(ctx); is || err != nil {
		t.Fatalf("an index that is not there: %v, %v", is, err)
	}
	makeEmpty(t, x)
	local := filepath.Join(t.TempDir(), "local")
	if err := segments.Create(local, segments.Options{Analyzer: analyzer(t), StoreText: true}); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for i := range 12 {
		docs := map[string]string{}
		for range 1 + rnd.IntN(4) {
			id := fmt.Sprint("d", rnd.IntN(20))
			if docs[id] = ""; rnd.IntN(3) > 0 {
				docs[id] = fmt.Sprintf("word%d word%d number%d", rnd.IntN(5), rnd.IntN(5), i)
			}
		}
		if err := write(ctx, x, docs); err != nil {
			t.Fatal(err)
		}
		writeLocally(t, local, docs)
		for id, words := range docs {
			if want[id] = words; words == "" {
				delete(want, id)
			}
		}
	}
	if got := newest(t, x); !maps.Equal(got, want) {
		t.Fatalf("documents %v, want %v", got, want)
	}
	compare(t, x, local)
	if n, _, err := x.Merge(ctx, segments.Options{}, false); err != nil || n == 0 {
		t.Errorf("%d segments were merged, %v", n, err)
	}
	if got := newest(t, x); !maps.Equal(got, want) {
		t.Fatalf("documents after merging: %v, want %v", got, want)
	}
	if _, _, err := x.Merge(ctx, segments.Options{}, true); err != nil {
		t.Fatal(err)
	}
	w, err := segments.NewWriter(local, segments.Options{})
	if err == nil {
		_, err = w.Compact(ctx)
		err = errors.Join(err, w.Commit(), w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	compare(t, x, local)
	v, err := x.View(ctx, 2)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if got := contents(t, v.Dir); len(got) == 0 || len(got) > 4 {
		t.Errorf("generation 2 has %v", got)
	}
}

func writeLocally(t *testing.T, dir string, docs map[string]string) {
	t.Helper()
	w, err := segments.NewWriter(dir, segments.Options{MergeFactor: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(change(w, docs), w.Commit(), w.Close()); err != nil {
		t.Fatal(err)
	}
}

// compare compares the answers of an index with those of a local one.
func compare(t *testing.T, x *Index, local string) {
	t.Helper()
	v, err := x.View(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	var found [2][][]search.Hit
	for i, dir := range []string{v.Dir, local} {
		s, err := search.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for _, words := range []string{"word1", "word1 word2", "word0 word3 number4", "number2"} {
			r, err := s.Search(t.Context(), search.Request{Text: words, K: 30})
			if err != nil {
				t.Fatal(err)
			}
			found[i] = append(found[i], r.Hits)
		}
	}
	if !reflect.DeepEqual(found[0], found[1]) {
		t.Errorf("answers\n%v, want those of the local index\n%v", found[0], found[1])
	}
}

// Writers and a merger at once: each document has the text of the last commit, which a writer of
// its own ID knows.
func testWritersAtOnce(t *testing.T, address string) {
	ctx := t.Context()
	makeEmpty(t, open(t, address))
	writers, rounds := 3, 3
	if os.Getenv("COLLOCATE_TEST_LONG") != "" {
		writers, rounds = 10, 100
	}
	var wait sync.WaitGroup
	stop := make(chan struct{})
	for n := range writers {
		x := open(t, address)
		var kept *segments.Writer // half of them
		if n%2 == 1 {
			var err error
			if kept, err = x.NewWriter(ctx, segments.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		wait.Go(func() {
			if kept != nil {
				defer kept.Close()
			}
			for i := range rounds {
				docs := map[string]string{
					fmt.Sprint("own", n): fmt.Sprintf("own%d round%d", n, i), "shared": fmt.Sprintf("writer%d round%d", n, i),
					fmt.Sprintf("once%d-%d", n, i): "once",
				}
				if i > 0 {
					docs[fmt.Sprintf("once%d-%d", n, i-1)] = ""
				}
				var err error
				if kept != nil {
					err = errors.Join(change(kept, docs), kept.Commit())
				} else {
					err = write(ctx, x, docs)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	var merging sync.WaitGroup
	merger := open(t, address)
	merging.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if _, _, err := merger.Merge(ctx, segments.Options{}, true); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	wait.Wait()
	close(stop)
	merging.Wait()
	got := newest(t, open(t, address))
	shared := got["shared"]
	delete(got, "shared")
	want := map[string]string{}
	for n := range writers {
		want[fmt.Sprint("own", n)] = fmt.Sprintf("own%d round%d", n, rounds-1)
		want[fmt.Sprintf("once%d-%d", n, rounds-1)] = "once"
	}
	if !maps.Equal(got, want) || !strings.HasSuffix(shared, fmt.Sprint("round", rounds-1)) {
		t.Errorf("documents %v, shared %q, want %v", got, shared, want)
	}
	g, err := open(t, address).Generations().Newest(ctx)
	if err != nil || int(g.Number) < 1+writers*rounds {
		t.Errorf("generation %d, %v, want at least %d", g.Number, err, 1+writers*rounds)
	}
}

// A view follows the index, and readers of a view keep what they opened.
func testRefresh(t *testing.T, address string) {
	ctx := t.Context()
	x := open(t, address)
	makeEmpty(t, x)
	if err := write(ctx, x, map[string]string{"a": "fox", "b": "dog"}); err != nil {
		t.Fatal(err)
	}
	reader := open(t, address)
	v, err := reader.View(ctx, 0)
	if err != nil {
		t.Fatal(err)
	}
	s, err := search.Open(v.Dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if changed, err := v.Refresh(ctx); changed || err != nil {
		t.Errorf("nothing is new: %v, %v", changed, err)
	}
	if err := write(ctx, x, map[string]string{"c": "fox fox", "b": ""}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := x.Merge(ctx, segments.Options{}, true); err != nil {
		t.Fatal(err)
	}
	if changed, err := v.Refresh(ctx); !changed || err != nil {
		t.Errorf("a newer generation: %v, %v", changed, err)
	}
	if got, want := contents(t, v.Dir), (map[string]string{"a": "fox", "c": "fox fox"}); !maps.Equal(got, want) {
		t.Errorf("documents %v, want %v", got, want)
	}
	if r, err := s.Search(ctx, search.Request{Text: "dog"}); err != nil || len(r.Hits) != 1 {
		t.Errorf("the old generation: %v, %v", r, err)
	}
	newer, err := s.Refresh()
	if err != nil || newer == nil || newer.Index().Docs() != 2 {
		t.Fatalf("refresh: %v, %v", newer, err)
	}
	defer newer.Close()
	if err := v.Close(); err != nil {
		t.Error(err)
	}
	if r, err := newer.Search(ctx, search.Request{Text: "fox"}); err != nil || len(r.Hits) != 2 {
		t.Errorf("after the view was closed: %v, %v", r, err)
	}
}

// The cache stays within its bound, and what is damaged is not used.
func TestCache(t *testing.T) {
	ctx := t.Context()
	address := "file://" + filepath.ToSlash(t.TempDir()) + "/news"
	x := open(t, address)
	makeEmpty(t, x)
	for i := range 4 {
		if err := write(ctx, x, map[string]string{fmt.Sprint(i): strings.Repeat("fox ", 100)}); err != nil {
			t.Fatal(err)
		}
	}
	g, err := x.Generations().Newest(ctx)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	small, err := Open(address, Options{Cache: dir, CacheBytes: g.Segments[0].Bytes * 5 / 2})
	if err != nil {
		t.Fatal(err)
	}
	if got := newest(t, small); len(got) != 4 {
		t.Errorf("documents %v", got)
	}
	if list, _ := os.ReadDir(filepath.Join(dir, cachedSegments)); len(list) > 2 {
		t.Errorf("%d segments are cached, and there is room for two", len(list))
	}
	if list, _ := os.ReadDir(filepath.Join(dir, views)); len(list) > 0 {
		t.Errorf("views are left: %v", list)
	}
	path := filepath.Join(strings.TrimPrefix(address, "file://"), generations.FileName(g.Segments[1].Name, "terms"))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, address).View(ctx, 0); err == nil || !strings.Contains(err.Error(), "terms: damaged") {
		t.Errorf("a damaged file: %v", err)
	}
}

func testErrorsHaveNames(t *testing.T) {
	ctx := t.Context()
	for address, want := range map[string]error{
		"s3://nobody/news":          generations.ErrNoBucket,
		"s3://corpora/none":         generations.NotFound,
		"file:///no/such/folder/at": generations.ErrNoBucket,
	} {
		x := open(t, address)
		if _, err := x.View(ctx, 0); !errors.Is(err, want) || !strings.HasPrefix(err.Error(), address) {
			t.Errorf("%s: %v, want %v", address, err, want)
		}
		if err := write(ctx, x, nil); !errors.Is(err, want) && address != "s3://corpora/none" {
			t.Errorf("%s: %v, want %v", address, err, want)
		}
	}
	for _, address := range []string{"s3://corpora", "s3://", "file://host/x", "file:x", "http://x"} {
		if _, err := Open(address, Options{Cache: t.TempDir()}); err == nil {
			t.Errorf("%s was accepted", address)
		}
	}
	x := open(t, "s3://corpora/twice")
	makeEmpty(t, x)
	err := x.Make(ctx, segments.Options{}, func(string, segments.Options) error { return errors.New("built") })
	if !errors.Is(err, generations.ErrExists) {
		t.Errorf("an index that exists: %v", err)
	}
}
