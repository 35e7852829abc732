package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/collocate/collocate/search"
)

// Indexes that are added while others are deleted are not lost, and those deleted do not come back.
func TestIndexesAddedAndDeletedAtOnce(t *testing.T) {
	v := writable(t, Options{})
	for i := range 12 {
		must(t, v, "PUT", fmt.Sprint("/v1/indexes/old-", i), "", 201)
	}
	must(t, v, "PUT", "/v1/indexes/first", "", 201)
	before := v.list() // as a request has it that is running
	was := slices.Clone(before)
	if err := v.drop(before[3]); err != nil || !slices.Equal(before, was) {
		t.Errorf("an index was deleted, %v, from a list that a request may read", err)
	}
	var group sync.WaitGroup
	const adders, each = 4, 400
	for a := range adders {
		group.Go(func() {
			for i := range each {
				if err := v.add(v.newServed(fmt.Sprint("new-", a, "-", i), "", nil)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for _, ix := range v.list() {
		if ix.dir == "" {
			continue
		}
		group.Go(func() {
			if err := v.drop(ix); err != nil {
				t.Error(err)
			}
			if err := v.drop(ix); !errors.Is(err, errDropped) {
				t.Errorf("deleted again: %v, want %v", err, errDropped)
			}
		})
	}
	group.Wait()
	for _, ix := range v.list() {
		if ix.dir != "" {
			t.Errorf("%s is served, and was deleted", ix.name)
		}
	}
	if n := len(v.list()); n != adders*each {
		t.Errorf("%d indexes are served, want %d", n, adders*each)
	}
}

// While indexes are made and deleted, somebody looks for new ones in their folder. Nobody meets an
// index that is half made or half deleted.
func TestIndexesMadeWhileLookedFor(t *testing.T) {
	v := writable(t, Options{})
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() {
		for ctx.Err() == nil {
			if err := v.OpenAll(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	var makers sync.WaitGroup
	for m := range 2 {
		makers.Go(func() {
			for i := range 12 {
				path := fmt.Sprint("/v1/indexes/ix-", m, "-", i)
				if w := send(v, "PUT", path, ""); w.Code != http.StatusCreated {
					t.Errorf("make %s: %d %s", path, w.Code, w.Body)
				}
				if w := send(v, "DELETE", path, ""); w.Code != http.StatusNoContent {
					t.Errorf("delete %s: %d %s", path, w.Code, w.Body)
				}
			}
		})
	}
	makers.Wait()
	stop()
	group.Wait()
	for _, ix := range v.list() {
		t.Errorf("%s is served, and was deleted", ix.name)
	}
}

// Each of the indexes that replace one at the same time has a number of its own, and is closed by
// the next. None replaces one that is deleted meanwhile.
func TestIndexesReplacedAtOnce(t *testing.T) {
	v := writable(t, Options{})
	must(t, v, "PUT", "/v1/indexes/zoo", "", 201)
	dir := indexOf(t, map[string]string{"1": "bear"})
	ix := v.index("zoo")
	replace := func(n int) *sync.WaitGroup {
		list := make([]*search.Searcher, n)
		for i := range list {
			s, err := search.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			list[i] = s
		}
		var group sync.WaitGroup
		for part := range slices.Chunk(list, n/4) {
			group.Go(func() {
				for _, s := range part {
					v.reload(ix, s)
				}
			})
		}
		return &group
	}
	const n = 400
	replace(n).Wait()
	if got := ix.current.Load().number; got != n+1 {
		t.Errorf("after %d replacements the number is %d, want %d", n, got, n+1)
	}
	for range 20 {
		group := replace(20)
		if err := v.drop(ix); err != nil {
			t.Fatal(err)
		}
		group.Wait()
		if ix.current.Load() != nil || ix.hold() != nil {
			t.Fatal("an index was deleted, and is still served")
		}
		must(t, v, "PUT", "/v1/indexes/zoo", "", 201)
		ix = v.index("zoo")
	}
}

// However many look whether an index was replaced, it is opened once.
func TestReplacedIndexIsOpenedOnce(t *testing.T) {
	v := writable(t, Options{})
	dir := t.TempDir() + "/zoo"
	if err := os.Rename(indexOf(t, map[string]string{"0": "bear"}), dir); err != nil {
		t.Fatal(err)
	}
	if err := v.Open(t.Context(), "zoo", dir); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if err := errors.Join(os.RemoveAll(dir), os.Rename(indexOf(t, map[string]string{fmt.Sprint(i + 1): "bear"}), dir)); err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var opened []string
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				list, err := v.Look(t.Context(), false)
				mu.Lock()
				defer mu.Unlock()
				if opened = append(opened, list...); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		if !slices.Equal(opened, []string{"zoo"}) {
			t.Errorf("replacement %d: opened %q, want zoo once", i, opened)
		}
		if got := find(t, v, "zoo", "bear"); !slices.Equal(got, []string{fmt.Sprint(i + 1)}) {
			t.Errorf("replacement %d: documents %q", i, got)
		}
	}
}
