// Command service is a small search service with package collocate: 20,000 documents with fields,
// phrases, facets, snippets and updates while others search. It is an example and is timed in
// docs/performance.md.
//
//	go run ./examples/service -addr localhost:8080
//	curl 'localhost:8080/search?q="quiet+river"&filter=kind:news+year:>=2010'
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/collocate/collocate"
	"github.com/collocate/collocate/search"
)

// article is a document.
type article struct {
	ID    string    `index:"id" json:"id"`
	Title string    `index:"title:text:english" json:"title"`
	Body  string    `index:"body:text:english" json:"body"`
	Kind  string    `index:":keyword" json:"kind"`
	Year  int       `json:"year"`
	Added time.Time `json:"added"`
}

var (
	words = strings.Fields(`river quiet stone light winter harbour garden letter engine market
		bridge forest window silver mountain signal island copper river valley winter morning`)
	kinds = []string{"news", "review", "letter", "report"}
)

// makeUp makes a document.
func makeUp(n int) article {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	some := func(count int) string {
		var list []string
		for range count {
			list = append(list, fmt.Sprint(words[rng.IntN(len(words))], suffix(rng)))
		}
		return strings.Join(list, " ")
	}
	return article{ID: fmt.Sprint(n), Title: some(5), Body: some(80), Kind: kinds[rng.IntN(len(kinds))],
		Year: 2000 + rng.IntN(25), Added: time.Date(2024, 1, 1, 0, n, 0, 0, time.UTC)}
}

// suffix makes rare words of common ones, now and then.
func suffix(rng *rand.Rand) string {
	if rng.IntN(3) > 0 {
		return ""
	}
	return fmt.Sprint(rng.IntN(1 << rng.IntN(13)))
}

// fill adds documents and commits them.
func fill(ctx context.Context, x *collocate.Index, n int) error {
	for i := range n {
		if err := x.Add(makeUp(i)); err != nil {
			return err
		}
	}
	return x.Commit(ctx)
}

// handler answers GET /search, PUT /articles and DELETE /articles/ID.
func handler(x *collocate.Index) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /search", func(w http.ResponseWriter, r *http.Request) {
		found, err := x.Search(r.Context(), collocate.Request{Query: r.FormValue("q"), Filter: r.FormValue("filter"),
			Stored: true, Snippet: 120, Count: true, Facets: []search.Facet{{Field: "kind"}, {Field: "year", N: 5}}})
		if err != nil {
			fail(w, err)
			return
		}
		type hit struct {
			article
			Score   float32 `json:"score"`
			Snippet string  `json:"snippet"` // HTML
		}
		hits := make([]hit, len(found.Hits))
		for i := range hits {
			h := &found.Hits[i]
			if err := h.Decode(&hits[i].article); err != nil {
				fail(w, err)
				return
			}
			hits[i].Score, hits[i].Snippet = h.Score, h.Snippet.HTML("<mark>", "</mark>")
		}
		json.NewEncoder(w).Encode(map[string]any{"total": found.Total, "hits": hits, "facets": found.Facets, "notes": found.Notes})
	})
	mux.HandleFunc("PUT /articles", func(w http.ResponseWriter, r *http.Request) {
		var a article
		err := json.NewDecoder(r.Body).Decode(&a)
		if err == nil {
			err = x.Add(a)
		}
		if err == nil {
			err = x.Commit(r.Context())
		}
		fail(w, err)
	})
	mux.HandleFunc("DELETE /articles/{id}", func(w http.ResponseWriter, r *http.Request) {
		_, err := x.Delete(r.PathValue("id"))
		if err == nil {
			err = x.Commit(r.Context())
		}
		fail(w, err)
	})
	return mux
}

// fail reports an error, if there is one.
func fail(w http.ResponseWriter, err error) {
	switch {
	case err == nil:
	case errors.Is(err, search.ErrRequest):
		http.Error(w, err.Error(), http.StatusBadRequest)
	default:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func main() {
	addr := flag.String("addr", "localhost:8080", "address to listen at")
	n := flag.Int("n", 20000, "number of documents")
	flag.Parse()
	x, err := collocate.Memory(collocate.Options{Like: article{}, Analyzer: "english"})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	start := time.Now()
	if err := fill(context.Background(), x, *n); err != nil {
		log.Fatal(err)
	}
	log.Printf("%d documents in %v; http://%s/search?q=river", x.Len(), time.Since(start).Round(time.Millisecond), *addr)
	log.Fatal(http.ListenAndServe(*addr, handler(x)))
}
