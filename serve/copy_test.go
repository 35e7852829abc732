package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/index/bucket"
	"github.com/collocate/collocate/index/generations"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/text"
)

// failing is a store that can refuse everything.
type failing struct {
	generations.Store
	bad atomic.Bool
}

func (s *failing) Create(ctx context.Context, name string, data []byte) error {
	if s.bad.Load() {
		return generations.ErrCredentials
	}
	return s.Store.Create(ctx, name, data)
}

func (s *failing) Put(ctx context.Context, name string, data io.ReadSeeker, size int64) error {
	if s.bad.Load() {
		return generations.ErrCredentials
	}
	return s.Store.Put(ctx, name, data, size)
}

// atBucket returns a server of the index zoo in a store, and a function that shows it what others
// have committed.
func atBucket(t *testing.T, store generations.Store) (h *Server, look func()) {
	t.Helper()
	x, err := bucket.Of(store, "test://zoo", bucket.Options{Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if is, err := x.Exists(t.Context()); err != nil {
		t.Fatal(err)
	} else if !is {
		a, err := text.ParseAnalyzer("english")
		if err != nil {
			t.Fatal(err)
		}
		err = x.Make(t.Context(), segments.Options{}, func(dir string, o segments.Options) error {
			o.Analyzer, o.StoreText = a, true
			return segments.Create(dir, o)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	view, err := x.View(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { view.Close() })
	h = writable(t, Options{CommitEvery: time.Hour})
	if err := h.OpenCopy(t.Context(), "zoo", view); err != nil {
		t.Fatal(err)
	}
	return h, func() {
		t.Helper()
		_, err := view.Refresh(t.Context())
		if _, looked := h.Look(t.Context(), false); errors.Join(err, looked) != nil {
			t.Fatal(err, looked)
		}
	}
}

// Two servers change one index in a store. What one of them has committed is found by the other,
// and is not lost when that one commits without having seen it.
func TestServersOfABucket(t *testing.T) {
	store := &failing{Store: generations.NewFolder(filepath.Join(t.TempDir(), "zoo"))}
	a, lookA := atBucket(t, store)
	b, lookB := atBucket(t, store)
	const docs = "/v1/indexes/zoo/documents"
	both := func(query string, want ...string) {
		t.Helper()
		lookA()
		lookB()
		for name, h := range map[string]*Server{"one": a, "the other": b} {
			if got := find(t, h, "zoo", query); !slices.Equal(got, want) {
				t.Errorf("%s finds %q for %s, want %q", name, got, query, want)
			}
		}
	}
	must(t, a, "POST", docs+"?refresh=true", `{"id":"bear","text":"A black bear"}`, 200)
	if got := find(t, a, "zoo", "bear"); !slices.Equal(got, []string{"bear"}) {
		t.Errorf("a server finds %q after its own commit", got)
	}
	must(t, b, "POST", docs+"?refresh=true", `{"id":"owl","text":"A black owl"}`, 200)
	both("black", "bear", "owl")

	// One replaces what the other has added since, and deletes it by ID and by query.
	must(t, b, "POST", docs+"?refresh=true", `{"id":"bear","text":"A white bear"}`, 200)
	must(t, a, "POST", docs+"?refresh=true", `{"id":"owl","text":"A white owl"}`, 200)
	both("white", "bear", "owl")
	both("black")
	must(t, b, "POST", docs+"?refresh=true", `{"id":"ant","text":"A white ant"}`, 200)
	must(t, a, "DELETE", docs+"/bear?refresh=true", "", 200)
	both("white", "ant", "owl")
	must(t, a, "POST", docs+"?refresh=true", `{"id":"owlet","text":"A white owl"}`, 200) // b has not seen it
	deleted := decode[writeAnswer](t, must(t, b, "DELETE", docs+"?q=owl&refresh=true", "", 200))
	if deleted.Deleted != 2 {
		t.Errorf("%d documents match and were deleted, want 2", deleted.Deleted)
	}
	both("white", "ant")
	must(t, b, "POST", docs+"?refresh=true", `{"id":"asp","text":"A green asp"}`, 200)

	job := waitForJob(t, a, decode[jobAnswer](t, must(t, a, "POST", "/v1/indexes/zoo/compact", "", 202)).ID)
	if job.State != "done" || job.Change.Merged != 2 {
		t.Errorf("%+v, want two segments merged", job)
	}
	both("white", "ant")

	// The store refuses a change: it is lost, and nothing else.
	store.bad.Store(true)
	w := send(a, "POST", docs+"?refresh=true", `{"id":"eel","text":"A white eel"}`)
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), `"store_failed"`) {
		t.Errorf("a store that refuses: %d %s", w.Code, w.Body)
	}
	store.bad.Store(false)
	both("white", "ant")
	for try := 0; ; try++ { // the next change opens the index again
		if w := send(a, "POST", docs+"?refresh=true", `{"id":"eel","text":"A white eel"}`); w.Code == 200 {
			break
		} else if try == 100 {
			t.Fatalf("a change after the store has recovered: %d %s", w.Code, w.Body)
		}
		time.Sleep(10 * time.Millisecond)
	}
	both("white", "ant", "eel")
}

// Servers that write at once lose nothing, and commit what they have when they stop.
func TestServersOfABucketAtOnce(t *testing.T) {
	store := generations.NewFolder(filepath.Join(t.TempDir(), "zoo"))
	var wait sync.WaitGroup
	var want []string
	for n := range 3 {
		h, _ := atBucket(t, store)
		for i := range 5 {
			want = append(want, fmt.Sprintf("%d-%d", n, i))
		}
		want = append(want, fmt.Sprintf("%d-last", n))
		wait.Go(func() {
			for i := range 5 {
				body := fmt.Sprintf(`{"id":"%d-%d","text":"ant"}`, n, i)
				if w := send(h, "POST", "/v1/indexes/zoo/documents?refresh=true", body); w.Code != 200 {
					t.Errorf("%d %s", w.Code, w.Body)
				}
			}
			body := fmt.Sprintf(`{"id":"%d-last","text":"ant"}`, n)
			if w := send(h, "POST", "/v1/indexes/zoo/documents", body); w.Code != 202 {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			if err := h.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	h, _ := atBucket(t, store)
	if got := find(t, h, "zoo", "ant"); !slices.Equal(got, want) {
		t.Errorf("documents %q, want %q", got, want)
	}
}

// Servers of a bucket come and go under load: first two, then four, then three. Each answer is
// whole and that of any other server, and what one commits all others find.
func TestServersComeAndGo(t *testing.T) {
	store := &failing{Store: generations.NewFolder(filepath.Join(t.TempDir(), "zoo"))}
	const docs = "/v1/indexes/zoo/documents"
	var all []func() // each shows a server what others have committed
	var servers []*Server
	more := func() {
		h, look := atBucket(t, store)
		look()
		servers, all = append(servers, h), append(all, look)
	}
	more()
	var lines strings.Builder
	for i := range 200 {
		fmt.Fprintf(&lines, `{"id":"d%03d","text":"bear%s owl%s"}`+"\n", i, strings.Repeat(" bear", i%7),
			strings.Repeat(" owl", i%5))
	}
	must(t, servers[0], "POST", docs+"?refresh=true", lines.String(), 200)
	queries := []string{"bear", "owl", "bear+owl"}
	want := map[string]string{}
	answer := func(h *Server, q string) string {
		w := send(h, "GET", "/v1/indexes/zoo/search?k=50&q="+q, "")
		if w.Code != http.StatusOK {
			return fmt.Sprint(w.Code, " ", w.Body)
		}
		return fmt.Sprint(decode[api.Answer](t, w.Body.String()).Hits)
	}
	for _, q := range queries {
		want[q] = answer(servers[0], q)
	}
	more()
	var asked atomic.Pointer[[]*Server] // those that clients ask
	use := func(list []*Server) {
		list = slices.Clone(list)
		asked.Store(&list)
	}
	use(servers)
	var answers atomic.Int64
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for n := range 3 {
		clients.Go(func() {
			for i := n; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				list, q := *asked.Load(), queries[i%len(queries)]
				if got := answer(list[i%len(list)], q); got != want[q] {
					t.Errorf("%s: %s, want %s", q, got, want[q])
					return
				}
				answers.Add(1)
			}
		})
	}
	load := func() {
		for end := answers.Load() + 100; answers.Load() < end && !t.Failed(); {
			time.Sleep(time.Millisecond)
		}
	}
	load()
	more()
	more()
	use(servers)
	load()
	use(servers[1:]) // requests to the first that are on the way are answered before it is closed
	load()
	close(stop) // a new document changes the scores of others
	clients.Wait()
	if err := servers[0].Close(); err != nil {
		t.Error(err)
	}
	must(t, servers[2], "POST", docs+"?refresh=true", `{"id":"new","text":"A zebra"}`, 200)
	for i := range servers[1:] {
		all[1+i]()
		if got := find(t, servers[1+i], "zoo", "zebra"); !slices.Equal(got, []string{"new"}) {
			t.Errorf("server %d finds %q, want the new document", 1+i, got)
		}
	}
}
