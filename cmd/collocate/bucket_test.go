package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A server follows an index in a bucket that other processes change.
func TestServeFollowsABucket(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	at := "file://" + filepath.ToSlash(t.TempDir()) + "/news"
	add := func(verb []string, id string) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "news.jsonl")
		line := fmt.Sprintf(`{"id": %q, "text": "solar eclipse"}`, id)
		if err := os.WriteFile(file, []byte(line), 0o644); err != nil {
			t.Fatal(err)
		}
		args := append([]string{"--quiet", "index"}, verb...)
		if code := run(append(args, file)); code != 0 {
			t.Fatalf("%v: exit code %d", verb, code)
		}
	}
	add([]string{"--out", at}, "first")

	ctx, stop := context.WithCancel(t.Context())
	ready, lines := io.Pipe()
	a := newApp(strings.NewReader(""), lines, io.Discard)
	root := newRoot(a, "--json", "serve", "mine="+at, "--addr", "127.0.0.1:0")
	root.SetArgs([]string{"--json", "serve", "mine=" + at, "--addr", "127.0.0.1:0"})
	ended := make(chan error, 1)
	go func() { ended <- root.ExecuteContext(ctx) }()
	var server serveJSON
	if err := json.NewDecoder(ready).Decode(&server); err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, ready)
	add([]string{"add", at}, "second")
	added := time.Now()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		r, err := http.Get(server.URL + "/v1/indexes/mine/search?q=eclipse")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || r.StatusCode != http.StatusOK || !strings.Contains(string(body), `"first"`) {
			t.Fatalf("%s %s, %v", r.Status, body, err)
		}
		if strings.Contains(string(body), `"second"`) {
			t.Logf("found %v after the commit", time.Since(added).Round(time.Millisecond))
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the document that was added is not found: %s", body)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the server ended with %v", err)
	}
	cache, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "collocate/views/*"))
	if err != nil || len(cache) > 0 {
		t.Errorf("views are left: %v, %v", cache, err)
	}
}
