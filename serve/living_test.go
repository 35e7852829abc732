package serve

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// While documents are committed, and merged in the background, every request is answered, and
// committed documents are found once the server has reloaded. With COLLOCATE_TEST_MINUTE there are
// 100 commits in a minute beside 1,000 queries per second, and the log has their times.
func TestCommitsWhileSearching(t *testing.T) {
	commits, every, gap, docs := 12/trials.Every(3), 30*time.Millisecond, 5*time.Millisecond, 500
	if os.Getenv("COLLOCATE_TEST_MINUTE") != "" {
		commits, every, gap, docs = 100, 600*time.Millisecond, 2*time.Millisecond, 200_000
	}
	a, err := text.ParseAnalyzer("unicode")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "ix")
	w, err := segments.NewWriter(dir, segments.Options{Analyzer: a, Background: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	rng := rand.New(rand.NewPCG(91, 92))
	add := func(id, more string) {
		t.Helper()
		words := []string{more}
		for range 20 {
			words = append(words, fmt.Sprint("w", int(rng.ExpFloat64()*200)))
		}
		if err := w.Add(text.Document{ID: id, Text: []byte(strings.Join(words, " "))}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range docs {
		add(fmt.Sprint("d", i), "")
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	s, err := search.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() // the server closes the others, which Reload was given
	server := New(s, Options{Threads: 2})
	defer server.Close()

	var wg sync.WaitGroup
	defer wg.Wait()
	var stop, busy atomic.Bool
	defer stop.Store(true)
	var mu sync.Mutex
	took := map[bool][]time.Duration{} // true: while documents were committed
	for c := range uint64(2) {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(c, 93))
			var next <-chan time.Time
			for !stop.Load() {
				next = time.After(gap)
				path := fmt.Sprintf("/search?q=w%d+w%d", int(rng.ExpFloat64()*200), int(rng.ExpFloat64()*200))
				during, start := busy.Load(), time.Now()
				if r := call(server, path, ""); r.Code != http.StatusOK {
					t.Errorf("%s: status %d %s, want 200", path, r.Code, r.Body)
					return
				}
				mu.Lock()
				took[during] = append(took[during], time.Since(start))
				mu.Unlock()
				<-next
			}
		})
	}
	time.Sleep(every * time.Duration(commits) / 6) // queries without commits
	busy.Store(true)
	current := s
	for i := range commits {
		start := time.Now()
		for j := range 10 {
			add(fmt.Sprint("d", rng.IntN(docs)), "")
			if j == 0 {
				add(fmt.Sprint("new", i), fmt.Sprint("unique", i))
			}
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		newer, err := current.Refresh()
		if err != nil || newer == nil {
			t.Fatalf("Refresh after commit %d: %v, %v; want a newer generation", i, newer, err)
		}
		server.Reload(newer)
		current = newer
		if r := call(server, fmt.Sprintf("/search?q=unique%d", i),
			""); !strings.Contains(r.Body.String(), fmt.Sprintf(`"new%d"`, i)) {
			t.Fatalf("the document of commit %d is not found: %s", i, r.Body)
		}
		time.Sleep(every - time.Since(start))
	}
	busy.Store(false)
	stop.Store(true)
	wg.Wait()
	if err := w.Wait(); err != nil {
		t.Error(err)
	}
	for during, list := range took {
		slices.Sort(list)
		t.Logf("commits: %v; %d queries, median %v, p99 %v", during, len(list), list[len(list)/2],
			list[len(list)*99/100])
	}
}
