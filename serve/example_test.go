package serve_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/serve"
	"github.com/collocate/collocate/text"
)

const papers = `{"id": "droplets", "text": "lipid droplets store lipid"}
{"id": "membranes", "text": "a membrane is made of lipid"}
{"id": "bacteria", "text": "bacteria move"}
`

// One query, and two at once. The time that a search took is different each time, and left out
// here.
func Example() {
	dir, err := os.MkdirTemp("", "serve-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "papers.jsonl")
	if err := os.WriteFile(path, []byte(papers), 0o644); err != nil {
		log.Fatal(err)
	}
	analyzer, err := text.ParseAnalyzer("english")
	if err != nil {
		log.Fatal(err)
	}
	folder := filepath.Join(dir, "papers.index")
	corpus := &text.Corpus{Paths: []string{path}}
	if err := index.Build(context.Background(), folder, corpus, index.BuildOptions{Analyzer: analyzer}); err != nil {
		log.Fatal(err)
	}
	s, err := search.Open(folder)
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()

	server := httptest.NewServer(serve.New(s, serve.Options{}))
	defer server.Close()
	show := func(resp *http.Response, err error) {
		if err != nil {
			log.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(regexp.MustCompile(`,"micros":\d+`).ReplaceAllString(string(body), ""))
	}
	show(http.Get(server.URL + "/healthz"))
	show(http.Get(server.URL + "/search?q=lipid+move&k=2"))
	show(http.Post(server.URL+"/search", "application/json",
		strings.NewReader(`[{"q": "lipid membrane", "mode": "and"}, {"q": "zebra"}]`)))
	// Output:
	// {"status":"ok","docs":3,"terms":10}
	// {"query":"lipid move","k":2,"mode":"or","hits":[{"rank":1,"id":"bacteria","doc":2,"score":1.3811127},{"rank":2,"id":"droplets","doc":0,"score":0.55751455}]}
	// {"query":"lipid membrane","k":10,"mode":"and","hits":[{"rank":1,"id":"membranes","doc":1,"score":1.2486682}]}
	// {"query":"zebra","k":10,"mode":"or","notes":["no document has the word \"zebra\""],"hits":[]}
}
