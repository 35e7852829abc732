// Bleve as a peer: see ../README.md for the protocol.
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/whitespace"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search/query"
	index "github.com/blevesearch/bleve_index_api"
)

func main() {
	log.SetFlags(0)
	switch os.Args[1] {
	case "index":
		build(os.Args[2], os.Args[3])
	case "serve":
		serve(os.Args[2])
	default:
		log.Fatal("want index or serve")
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func newMapping() mapping.IndexMapping {
	m := bleve.NewIndexMapping()
	check(m.AddCustomAnalyzer("blank", map[string]any{"type": custom.Name, "tokenizer": whitespace.Name}))
	m.DefaultAnalyzer = "blank"
	m.ScoringModel = index.BM25Scoring
	field := bleve.NewTextFieldMapping()
	field.Analyzer = "blank"
	field.Store, field.IncludeInAll, field.IncludeTermVectors, field.DocValues = false, false, false, false
	doc := bleve.NewDocumentStaticMapping()
	doc.AddFieldMappingsAt("text", field)
	m.DefaultMapping = doc
	return m
}

func build(tokens, dir string) {
	start := time.Now()
	ix, err := bleve.New(dir, newMapping())
	check(err)
	f, err := os.Open(tokens)
	check(err)
	in := bufio.NewScanner(f)
	in.Buffer(make([]byte, 1<<20), 1<<28)
	batch, n := ix.NewBatch(), 0
	for ; in.Scan(); n++ {
		check(batch.Index(strconv.Itoa(n), map[string]any{"text": in.Text()}))
		if batch.Size() == 5000 {
			check(ix.Batch(batch))
			batch.Reset()
		}
	}
	check(in.Err())
	check(ix.Batch(batch))
	check(ix.Close())
	s := time.Since(start).Seconds()
	fmt.Printf("{\"seconds\": %.3f, \"seconds_before_merge\": %.3f}\n", s, s)
}

func serve(dir string) {
	ix, err := bleve.Open(dir)
	check(err)
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 1<<24)
	out := bufio.NewWriter(os.Stdout)
	for in.Scan() {
		words := strings.Split(in.Text(), " ")
		k, err := strconv.Atoi(words[1])
		check(err)
		start := time.Now()
		var terms []query.Query
		for _, w := range words[2:] {
			t := bleve.NewTermQuery(w)
			t.SetField("text")
			terms = append(terms, t)
		}
		var q query.Query = bleve.NewDisjunctionQuery(terms...)
		if words[0] == "and" {
			q = bleve.NewConjunctionQuery(terms...)
		}
		result, err := ix.Search(bleve.NewSearchRequestOptions(q, k, 0, false))
		check(err)
		fmt.Fprint(out, time.Since(start).Nanoseconds())
		for _, h := range result.Hits {
			fmt.Fprintf(out, " %s:%v", h.ID, float32(h.Score))
		}
		fmt.Fprintln(out)
		check(out.Flush())
	}
}
