package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/disk"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// bulkOf is a stream of documents for an index, in two parts.
func bulkOf(v *Server, ix *served) *bulk {
	var body strings.Builder
	for i := range 3 {
		fmt.Fprintf(&body, "{\"id\":\"%d\",\"text\":\"%s\"}\n", i, strings.Repeat("bear ", partBytes/5))
	}
	g := ix.hold()
	defer v.letGo(g)
	return &bulk{v: v, ix: ix, objects: g.objects(v.o.Limits.Document),
		lines: newLines(strings.NewReader(body.String()), v.o.Limits.Document)}
}

// What was accepted before the writer broke is lost, and who adds documents is told, at once.
func TestLostChangesAreTold(t *testing.T) {
	v := writable(t, Options{CommitEvery: time.Hour})
	must(t, v, "PUT", "/v1/indexes/zoo", "", 201)
	ix := v.index("zoo")
	c := ix.writer
	told := 0
	_, err := bulkOf(v, ix).add(t.Context(), refreshNot, func(*writeAnswer) {
		told++
		c.mu.Lock()
		c.broken++ // as if the disk had been full: another writer goes on without the first part
		c.mu.Unlock()
	})
	if !errors.Is(err, errLost) || told != 1 {
		t.Errorf("after %d parts: error %v, want that changes were lost, after one", told, err)
	}
}

// Documents that are added for a client that leaves are an error from there on, not a success.
func TestAddingEndsWithItsClient(t *testing.T) {
	v := writable(t, Options{CommitEvery: time.Hour})
	must(t, v, "PUT", "/v1/indexes/zoo", "", 201)
	ctx, leave := context.WithCancel(t.Context())
	told := 0
	a, err := bulkOf(v, v.index("zoo")).add(ctx, refreshNot, func(*writeAnswer) { told++; leave() })
	if !errors.Is(err, context.Canceled) || told != 1 || a.Added != 1 {
		t.Errorf("%d documents in %d parts, error %v; want one, and that of the context", a.Added, told, err)
	}
}

// The documents of a job wait in a file. One such file may have a gigabyte, all together four.
func TestWaitingDocumentsAreBounded(t *testing.T) {
	v := writable(t, Options{})
	file, err := os.Create(filepath.Join(t.TempDir(), "waiting"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	s := &spool{v: v, file: file, size: maxSpool - 2}
	if _, err := s.Write([]byte("ab")); err != nil {
		t.Errorf("a full file: %v", err)
	}
	var large *http.MaxBytesError
	if _, err := s.Write([]byte("c")); !errors.As(err, &large) {
		t.Errorf("a byte more: error %v, want that it is too large", err)
	}
	v.spooled.Store(maxSpools - 1)
	s = &spool{v: v, file: file}
	if _, err := s.Write([]byte("d")); err != nil {
		t.Errorf("the last byte of all: %v", err)
	}
	if _, err := s.Write([]byte("e")); !errors.Is(err, errBusy) {
		t.Errorf("a byte more of all: error %v, want %v", err, errBusy)
	}
	v.spooled.Store(0)
}

// A request for a new index ends with its one object, and one that is too large makes no index. A
// name has no slash.
func TestNewIndexesAreChecked(t *testing.T) {
	v := writable(t, Options{})
	for body, want := range map[string]int{
		`{} {}`: 400, `{}]`: 400, `{"analyzer":"` + strings.Repeat("x", maxBody) + `"}`: 413, ` {} `: 201,
	} {
		must(t, v, "PUT", "/v1/indexes/zoo", body, want)
		if made := v.index("zoo") != nil; made != (want == 201) {
			t.Errorf("%.20s: answered %d, and an index is made: %v", body, want, made)
		} else if made {
			must(t, v, "DELETE", "/v1/indexes/zoo", "", 204)
		}
	}
	dir := indexOf(t, map[string]string{"1": "bear"})
	for name, ok := range map[string]bool{"": false, "a/b": false, "a\n": false, "a b": true} {
		if err := v.Open(t.Context(), name, dir); (err == nil) != ok {
			t.Errorf("the name %q: %v", name, err)
		}
	}
}

// An index whose folder is gone is served on. Who asks for all to be opened again is told.
func TestIndexesThatAreGone(t *testing.T) {
	var log bytes.Buffer
	v := writable(t, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	dir := indexOf(t, map[string]string{"1": "bear"})
	if err := v.Open(t.Context(), "zoo", dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir, dir+"-away"); err != nil {
		t.Fatal(err)
	}
	for _, all := range []bool{false, true} {
		log.Reset()
		if opened, err := v.Look(t.Context(), all); err != nil || len(opened) > 0 {
			t.Errorf("opened %q, %v", opened, err)
		}
		if said := strings.Contains(log.String(), "cannot be opened"); said != all {
			t.Errorf("all %v: the log says %q", all, &log)
		}
	}
	if got := find(t, v, "zoo", "bear"); len(got) != 1 {
		t.Errorf("%q, want the document that was there", got)
	}
}

// Long work that has begun waits for its next turn as often as needed. Work that has not is refused
// when it has waited too long.
func TestWorkThatHasBegunWaitsOn(t *testing.T) {
	l := unheld
	l.Wait = time.Millisecond
	v := New(elife(t, false), Options{Limits: l})
	other, who := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	var slots []slot
	for {
		s, ok := v.gate.enterFree(other, longLane)
		if !ok {
			break
		}
		slots = append(slots, s)
	}
	done := 0
	do := func(context.Context) error { done++; return nil }
	if err := v.inTurn(t.Context(), who, true, do); !errors.Is(err, errBusy) || done != 0 {
		t.Errorf("the first part: %v, done %d times; want %v", err, done, errBusy)
	}
	time.AfterFunc(30*time.Millisecond, func() { // ten times the longest wait
		for _, s := range slots {
			s.leave()
		}
	})
	if err := v.inTurn(t.Context(), who, false, do); err != nil || done != 1 {
		t.Errorf("a later part: %v, done %d times; want once", err, done)
	}
}

// If the writer breaks during a change, its client is told that it is lost.
func TestAChangeThatBreaksTheWriterIsLost(t *testing.T) {
	v := writable(t, Options{CommitEvery: time.Hour})
	must(t, v, "PUT", "/v1/indexes/zoo", "", 201)
	d := &fullDisk{}
	defer disk.Use(d)()
	x := &exchange{Server: v, ix: v.index("zoo"), r: httptest.NewRequest("DELETE", "/", nil)}
	err := x.change(longLane, refreshNot, new(writeAnswer), func(_ context.Context, w *segments.Writer) error {
		if err := w.Add(text.Document{ID: "new", Text: []byte("bear")}); err != nil {
			return err
		}
		d.full.Store(true)
		defer d.full.Store(false)
		if w.Commit() == nil { // as the clock could ask for
			t.Error("a commit on a full disk succeeds")
		}
		return nil
	})
	if !errors.Is(err, errLost) {
		t.Errorf("error %v, want %v", err, errLost)
	}
}

// A change to an index whose folder was replaced is not called visible.
func TestAChangeThatCannotBeServed(t *testing.T) {
	var log bytes.Buffer
	v := writable(t, Options{CommitEvery: time.Hour, Log: slog.New(slog.NewTextHandler(&log, nil))})
	must(t, v, "PUT", "/v1/indexes/zoo", "", 201)
	const docs = "/v1/indexes/zoo/documents"
	must(t, v, "POST", docs+"?refresh=true", `{"id":"old","text":"bear"}`, 200)
	dir := v.index("zoo").dir
	if err := os.Rename(dir, dir+"-away"); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(dir, os.DirFS(dir+"-away")); err != nil {
		t.Fatal(err)
	}
	said := must(t, v, "POST", docs+"?refresh=true", `{"id":"new","text":"bear"}`, 500)
	if want := "the change is on disk, but cannot be served"; !strings.Contains(said, want) {
		t.Errorf("%s, want that %s", said, want)
	}
	if got := find(t, v, "zoo", "bear"); len(got) != 1 {
		t.Errorf("%q are served, want the old one", got)
	}
}

// Documents of an index that was deleted meanwhile cannot be deleted.
func TestDeletingFromAnIndexThatIsGone(t *testing.T) {
	v := writable(t, Options{CommitEvery: time.Hour})
	must(t, v, "PUT", "/v1/indexes/zoo", "", 201)
	ix := v.index("zoo")
	w, _, err := ix.writer.open(segments.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := ix.current.Swap(nil)
	defer ix.current.Store(g)
	n, err := ix.writer.deleteMatching(w, func(*search.Searcher) (*search.Within, error) {
		t.Error("a search in an index that is gone")
		return nil, nil
	})
	if n != 0 || !errors.Is(err, errDropped) {
		t.Errorf("%d documents are deleted, %v; want %v", n, err, errDropped)
	}
}

// A server that stops while it commits also commits what was changed meanwhile.
func TestChangesDuringTheLastCommit(t *testing.T) {
	v := writable(t, Options{CommitEvery: time.Hour})
	must(t, v, "PUT", "/v1/indexes/zoo", "", 201)
	ix := v.index("zoo")
	c := ix.writer
	w, broken, err := c.open(segments.Options{})
	if err != nil {
		t.Fatal(err)
	}
	change := func(id string) {
		t.Helper()
		err := w.Add(text.Document{ID: id, Text: []byte("bear")})
		if err == nil {
			err = c.changed(t.Context(), 1, 1, broken, refreshNot, new(writeAnswer))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	ix.looking.Lock() // so that a commit does not end
	change("first")
	c.poke()
	for c.counts().pending > 0 {
		time.Sleep(time.Millisecond)
	}
	change("second")
	closed := make(chan error, 1)
	go func() { closed <- c.close() }()
	<-c.ctx.Done()
	ix.looking.Unlock()
	if err := <-closed; err != nil {
		t.Errorf("close: %v", err)
	}
	s, err := search.Open(ix.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n := s.Index().Docs(); n != 2 {
		t.Errorf("%d documents are on disk, want both", n)
	}
}
