package generations

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func folderIndex(t *testing.T) *Index {
	t.Helper()
	return New(NewFolder(filepath.Join(t.TempDir(), "news")))
}

func namesIn(t *testing.T, s Store, prefix string) (names []string) {
	t.Helper()
	list, err := s.List(t.Context(), prefix, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list {
		names = append(names, o.Name)
	}
	return names
}

// What a store must do, in a folder.
func TestFolder(t *testing.T) {
	ctx := t.Context()
	s := NewFolder(filepath.Join(t.TempDir(), "news"))
	if _, err := s.Read(ctx, "a", 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing object: %v", err)
	}
	if got := namesIn(t, s, ""); len(got) > 0 {
		t.Errorf("a store without objects has %q", got)
	}
	var wait sync.WaitGroup
	made := make(chan int, 10)
	for i := range 10 {
		wait.Go(func() {
			switch err := s.Create(ctx, "generations/x", []byte{byte(i)}); {
			case err == nil:
				made <- i
			case !errors.Is(err, fs.ErrExist):
				t.Error(err)
			}
		})
	}
	wait.Wait()
	winner := <-made
	if len(made) > 0 {
		t.Errorf("an object was made %d times", 1+len(made))
	}
	if got, err := s.Read(ctx, "generations/x", 1); err != nil || got[0] != byte(winner) {
		t.Errorf("read %v, %v, want %d", got, err, winner)
	}
	if _, err := s.Read(ctx, "generations/x", 0); err == nil {
		t.Error("more bytes were read than wanted")
	}
	for _, name := range []string{"segments/b/fields/1/terms", "segments/b/index", "segments/a/index"} {
		if err := s.Put(ctx, name, strings.NewReader("abc"), 3); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Put(ctx, "segments/short", strings.NewReader("ab"), 3); err == nil {
		t.Error("an object with too few bytes was made")
	}
	want := []string{"segments/a/index", "segments/b/fields/1/terms", "segments/b/index"}
	if got := namesIn(t, s, "segments/"); !slices.Equal(got, want) {
		t.Errorf("objects %q, want %q", got, want)
	}
	in, err := s.Open(ctx, "segments/b/index", 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := io.ReadAll(in); string(got) != "bc" {
		t.Errorf("from byte 1: %q", got)
	}
	in.Close()
	for _, name := range append(want, "segments/none/index") {
		if err := s.Delete(ctx, name); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(s.path("segments/b")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of a removed segment: %v", err)
	}
	old := s.path(unlinked + "/left")
	long := time.Now().Add(-2 * time.Hour)
	if err := errors.Join(os.WriteFile(old, nil, 0o600), os.Chtimes(old, long, long)); err != nil {
		t.Fatal(err)
	}
	if now, err := s.Now(ctx); err != nil || time.Since(now).Abs() > time.Minute {
		t.Errorf("the time is %v, %v", now, err)
	}
	if left, _ := os.ReadDir(s.path(unlinked)); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	missing := New(NewFolder(filepath.Join(t.TempDir(), "none", "news")))
	if _, err := missing.Newest(ctx); !errors.Is(err, ErrNoBucket) {
		t.Errorf("a missing folder: %v", err)
	}
	if _, err := missing.Make(ctx, Generation{}); !errors.Is(err, ErrNoBucket) {
		t.Errorf("a missing folder: %v", err)
	}
}

// Five writers commit thirty times in all, and nothing is lost.
func TestWritersAtOnce(t *testing.T) {
	x, ctx := folderIndex(t), t.Context()
	if _, err := x.Make(ctx, Generation{}); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range 5 {
		wait.Go(func() {
			x := New(x.Store())
			for range 6 {
				name := x.NewName()
				err := x.Begin(ctx, name)
				if err == nil {
					_, err = x.Commit(ctx, nil, func(_ context.Context, g *Generation) (*Generation, error) {
						return &Generation{Segments: append(slices.Clone(g.Segments), Segment{Name: name})}, nil
					})
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	g, err := x.Newest(ctx)
	if err != nil || g.Number != 31 || len(g.Segments) != 30 {
		t.Fatalf("%v, %v, want generation 31 of 30 segments", g, err)
	}
	if g, err := x.At(ctx, 16); err != nil || len(g.Segments) != 15 {
		t.Errorf("generation 16: %v, %v, want 15 segments", g, err)
	}
	if g, err := x.Refresh(ctx, g); g != nil || err != nil {
		t.Errorf("the newest has a newer one: %v, %v", g, err)
	}
	if _, err := x.At(ctx, 32); !errors.Is(err, NotFound) || !strings.Contains(err.Error(), "the newest is 31") {
		t.Errorf("generation 32: %v", err)
	}
}

// forgetful is a store that makes objects although they are there.
type forgetful struct{ Store }

func (s forgetful) Create(ctx context.Context, name string, data []byte) error {
	return s.Put(ctx, name, bytes.NewReader(data), int64(len(data)))
}

// counting counts requests.
type counting struct {
	Store
	requests []string
}

func (s *counting) Read(ctx context.Context, name string, most int64) ([]byte, error) {
	s.requests = append(s.requests, "read")
	return s.Store.Read(ctx, name, most)
}

func (s *counting) List(ctx context.Context, prefix string, limit int) ([]Object, error) {
	s.requests = append(s.requests, fmt.Sprint("list ", limit))
	return s.Store.List(ctx, prefix, limit)
}

func TestRequestsOfReaders(t *testing.T) {
	x, ctx := folderIndex(t), t.Context()
	if _, err := x.Make(ctx, Generation{}); err != nil {
		t.Fatal(err)
	}
	s := &counting{Store: x.Store()}
	reader := New(s)
	g, err := reader.Newest(ctx)
	if err != nil || !slices.Equal(s.requests, []string{"list 1", "read"}) {
		t.Errorf("the newest generation took %q, %v", s.requests, err)
	}
	s.requests = nil
	if _, err := reader.Refresh(ctx, g); err != nil || !slices.Equal(s.requests, []string{"read"}) {
		t.Errorf("that there is no newer one took %q, %v", s.requests, err)
	}
}

// Errors that users meet have names.
func TestErrorsHaveNames(t *testing.T) {
	ctx := t.Context()
	if err := New(forgetful{folderIndex(t).Store()}).Vacant(ctx); !errors.Is(err, ErrNoConditions) {
		t.Errorf("a store without conditions: %v", err)
	}
	x := folderIndex(t)
	if _, err := x.Newest(ctx); !errors.Is(err, NotFound) {
		t.Errorf("no index: %v", err)
	}
	if err := x.Store().Put(ctx, "other/file", strings.NewReader(""), 0); err != nil {
		t.Fatal(err)
	}
	if err := x.Vacant(ctx); !errors.Is(err, ErrForeign) {
		t.Errorf("other files: %v", err)
	}
	x = folderIndex(t)
	first, err := x.Make(ctx, Generation{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Make(ctx, Generation{}); !errors.Is(err, ErrExists) {
		t.Errorf("a second index: %v", err)
	}
	if err := x.Vacant(ctx); !errors.Is(err, ErrExists) {
		t.Errorf("a second index: %v", err)
	}
	other := *first
	other.Number, other.Index = 2, "another"
	put := func(g *Generation, change func([]byte)) {
		data, err := g.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if change != nil {
			change(data)
		}
		if err := x.Store().Put(ctx, numbered(generationsFolder, g.Number), bytes.NewReader(data), int64(len(data))); err != nil {
			t.Fatal(err)
		}
	}
	put(&other, nil)
	if _, err := x.Refresh(ctx, first); !errors.Is(err, ErrOther) {
		t.Errorf("another index at the same place: %v", err)
	}
	nothing := func(_ context.Context, g *Generation) (*Generation, error) {
		return &Generation{Segments: g.Segments}, nil
	}
	if _, err := x.Commit(ctx, first, nothing); !errors.Is(err, ErrOther) {
		t.Errorf("a commit to another index: %v", err)
	}
	put(&other, func(b []byte) { b[8] = 2 })
	if _, err := x.Newest(ctx); !errors.Is(err, ErrNewer) {
		t.Errorf("a newer version: %v", err)
	}
	put(&other, func(b []byte) { b[100] ^= 1 })
	if _, err := x.Newest(ctx); err == nil || !strings.Contains(err.Error(), "generations/fffffffffffffffd-2") {
		t.Errorf("damage: %v", err)
	}
	l, err := x.Lease(ctx, "a machine", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Lease(ctx, "another", time.Hour); !errors.Is(err, ErrLeased) || !strings.Contains(err.Error(), "a machine, for another 1h0m0s") &&
		!strings.Contains(err.Error(), "a machine, for another 59m59s") {
		t.Errorf("a lease that is held: %v", err)
	}
	if err := errors.Join(l.Renew(ctx, "a machine", time.Hour), l.End(ctx)); err != nil {
		t.Error(err)
	}
	if _, err := x.Lease(ctx, "another", time.Hour); err != nil {
		t.Errorf("a lease that was given back: %v", err)
	}
}

// The bytes of a generation stay as they are documented.
func TestFormat(t *testing.T) {
	g := &Generation{Number: 7, Index: "5f1c2a90b7d34e68", Commit: "0123456789abcdef", Recent: []string{"fe"}, Grace: 3600,
		Segments: []Segment{{Name: "s123456789012345", Docs: 3, Deleted: 1, Postings: 9, Tokens: 12, Bytes: 5, FirstID: "a",
			LastID: "c", Files: []File{{"fields/0/terms", 5, 77}}}},
		Dropped: []Drop{{"s000000000000001", 6}}, Manifest: []byte("manifest")}
	data, err := g.Encode()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"number":7,"index":"5f1c2a90b7d34e68","commit":"0123456789abcdef","recent":["fe"],"grace":3600,` +
		`"segments":[{"name":"s123456789012345","docs":3,"deleted":1,"postings":9,"tokens":12,"bytes":5,` +
		`"first_id":"a","last_id":"c","files":[{"name":"fields/0/terms","size":5,"checksum":77}]}],` +
		`"dropped":[{"segment":"s000000000000001","generation":6}]}`
	if !bytes.HasPrefix(data, []byte("COLOGEN\n\x01\x00")) || !bytes.HasPrefix(data[64:], []byte(want)) {
		t.Errorf("bytes %q", data)
	}
	again, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := again.Encode(); err != nil || !bytes.Equal(b, data) {
		t.Errorf("parsed and written again: %q, %v", b, err)
	}
	if name := numbered(generationsFolder, 7); name != "generations/fffffffffffffff8-7" {
		t.Errorf("generation 7 is %s", name)
	}
	for _, name := range []string{"", "generations/", "generations/fffffffffffffff8-8", "generations/fffffffffffffff8-07"} {
		if n, ok := numberOf(generationsFolder, name); ok {
			t.Errorf("%q is generation %d", name, n)
		}
	}
	for _, name := range []string{"../x", "/x", "a//b", "a/..", "", "c:x", `a\b`} {
		if localName(name) {
			t.Errorf("%q is accepted as a file of a segment", name)
		}
	}
}

func FuzzParse(f *testing.F) {
	g := &Generation{Number: 7, Index: "i", Commit: "c", Grace: 3600, Segments: []Segment{{Name: "s123456789012345",
		Docs: 3, Files: []File{{"terms", 5, 77}}}}, Manifest: []byte("manifest")}
	data, err := g.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := Parse(data)
		if err != nil {
			return
		}
		b, err := g.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(b); err != nil {
			t.Errorf("what was parsed cannot be parsed again: %v", err)
		}
	})
}
