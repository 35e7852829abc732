package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/collocate/collocate"
	"github.com/collocate/collocate/internal/trials"
)

func service(t testing.TB, docs int) http.Handler {
	t.Helper()
	x, err := collocate.Memory(collocate.Options{Like: article{}, Analyzer: "english"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	if err := fill(t.Context(), x, docs); err != nil {
		t.Fatal(err)
	}
	return handler(x)
}

func call(t testing.TB, h http.Handler, method, path string, body any) (code int, answer string) {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, bytes.NewReader(b)))
	return w.Code, w.Body.String()
}

// The service finds phrases, filters, counts and follows updates.
func TestService(t *testing.T) {
	h := service(t, 300)
	code, answer := call(t, h, "GET", "/search?q=%22quiet+river%22&filter=year:>=2010", nil)
	if code != 200 || !strings.Contains(answer, `\u003cmark\u003equiet river\u003c/mark\u003e`) || !strings.Contains(answer, `"field":"kind"`) {
		t.Errorf("a phrase: %d %s", code, answer)
	}
	if code, answer := call(t, h, "GET", "/search?q=%22open", nil); code != 400 {
		t.Errorf("a wrong query: %d %s", code, answer)
	}
	added := article{ID: "new", Title: "A zeppelin", Kind: "news", Year: 1937, Added: time.Unix(0, 0)}
	if code, answer := call(t, h, "PUT", "/articles", added); code != 200 {
		t.Errorf("put: %d %s", code, answer)
	}
	if _, answer := call(t, h, "GET", "/search?q=zeppelins", nil); !strings.Contains(answer, `"total":1`) {
		t.Errorf("what was added is not found: %s", answer)
	}
	call(t, h, "DELETE", "/articles/new", nil)
	if _, answer := call(t, h, "GET", "/search?q=zeppelins", nil); !strings.Contains(answer, `"total":0`) {
		t.Errorf("what was deleted is found: %s", answer)
	}
}

// Commits beside searches: each search sees whole documents, and none fails.
func TestCommitsBesideSearches(t *testing.T) {
	h := service(t, 200)
	commits := trials.Of(100)
	var wg sync.WaitGroup
	done := make(chan struct{})
	for range 8 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if code, answer := call(t, h, "GET", "/search?q=river+winter&filter=year:>=2005", nil); code != 200 {
					t.Errorf("search: %d %s", code, answer)
					return
				}
			}
		})
	}
	for i := range commits {
		if code, answer := call(t, h, "PUT", "/articles", makeUp(1000+i%50)); code != 200 {
			t.Errorf("commit %d: %d %s", i, code, answer)
		}
	}
	close(done)
	wg.Wait()
	if _, answer := call(t, h, "GET", "/search?q=*", nil); !strings.Contains(answer, fmt.Sprintf(`"total":%d`, 200+min(commits, 50))) {
		t.Errorf("after the commits: %.200s", answer)
	}
}

// The example stays short.
func TestLines(t *testing.T) {
	b, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(b, []byte("\n")); n > 150 {
		t.Errorf("the example has %d lines, more than 150", n)
	}
}

func BenchmarkFill(b *testing.B) {
	for b.Loop() {
		service(b, 20000)
	}
}

func BenchmarkSearch(b *testing.B) {
	h := service(b, 20000)
	for _, q := range []string{"river", "river+winter+stone", "%22quiet+river%22", "river&filter=kind:news+year:>=2010"} {
		b.Run(q, func(b *testing.B) {
			for b.Loop() {
				if code, answer := call(b, h, "GET", "/search?q="+q, nil); code != 200 {
					b.Fatal(answer)
				}
			}
		})
	}
}
