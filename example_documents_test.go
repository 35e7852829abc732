package collocate_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/collocate/collocate"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// Documents may come from files, in formats that are detected, or from a reader of one's own.
func ExampleIndex_AddCorpus() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "collocate")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "pages.jsonl")
	err = os.WriteFile(file, []byte(`{"id": "a", "title": "Solar eclipse", "tags": ["sky", "news"]}
{"id": "b", "title": "Solar panels", "views": 7}
`), 0o666)
	if err != nil {
		log.Fatal(err)
	}
	x, err := collocate.Memory(collocate.Options{Like: Page{}, Analyzer: "english"})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	fmt.Println(x.AddCorpus(ctx, &text.Corpus{Paths: []string{file}}))

	// The values of a document are in the order of the fields of the index.
	own := func(ctx context.Context) iter.Seq2[[]text.Document, error] {
		return func(yield func([]text.Document, error) bool) {
			for record := range strings.SplitSeq("b: Solar power; c: Lunar eclipse", "; ") {
				id, title, _ := strings.Cut(record, ": ")
				values, err := x.Schema().Values(map[string][]string{"title": {title}})
				if !yield([]text.Document{{ID: id, Fields: values}}, err) {
					return
				}
			}
		}
	}
	fmt.Println(x.AddCorpus(ctx, &text.Corpus{Source: own}))
	if err := x.Commit(ctx); err != nil {
		log.Fatal(err)
	}
	found, err := x.Search(ctx, collocate.Request{Query: "solar eclipses", Stored: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range found.Hits {
		fmt.Println(hit.ID, hit.Fields()["title"])
	}
	// Output:
	// 2 0 <nil>
	// 2 1 <nil>
	// a Solar eclipse
	// b Solar power
	// c Lunar eclipse
}

// Documents are deleted by their IDs or by a query.
func ExampleIndex_DeleteMatching() {
	ctx := context.Background()
	x, err := collocate.Memory(collocate.Options{Like: Page{}})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	for year := range 5 {
		day := time.Date(2020+year, 1, 1, 0, 0, 0, 0, time.UTC)
		if err := x.Add(Page{URL: fmt.Sprint("/", year), Title: "Moon", Date: day}); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(x.DeleteMatching(ctx, "moon date:<2023"))
	fmt.Println(x.Delete("/4", "/no such page"))
	fmt.Println(x.Len(), x.Commit(ctx), x.Len())
	// Output:
	// 3 <nil>
	// 1 <nil>
	// 5 <nil> 1
}

// One program searches what another one writes: here both are one.
func ExampleOptions_refreshEvery() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "collocate")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	writer, err := collocate.Open(dir, collocate.Options{Analyzer: "english"})
	if err != nil {
		log.Fatal(err)
	}
	defer writer.Close()
	if err := writer.Commit(ctx); err != nil { // an index without documents
		log.Fatal(err)
	}
	reader, err := collocate.Open(dir, collocate.Options{RefreshEvery: time.Millisecond})
	if err != nil {
		log.Fatal(err)
	}
	defer reader.Close()
	err = errors.Join(writer.Add(map[string]any{"id": "1", "text": "solar eclipse"}), writer.Commit(ctx))
	if err != nil {
		log.Fatal(err)
	}
	for reader.Len() == 0 {
		time.Sleep(time.Millisecond)
	}
	found, err := reader.Search(ctx, collocate.Request{Query: "eclipses"})
	fmt.Println(found.Hits[0].ID, err)
	// Output:
	// 1 <nil>
}

// The fields of a struct become fields of the index, by their types and tags.
func ExampleSchemaOf() {
	type Shop struct {
		ID     int    `index:"id"`
		Name   string `index:"name:text:english" also:"sorted:keyword"`
		Tags   []string
		Opened time.Time
		Place  [2]float64
		Stars  *float64
		Mood   []float32 `index:":vector:3"`
		secret string
	}
	schema, err := collocate.SchemaOf(Shop{secret: "is left out"})
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range schema.Fields {
		fmt.Println(f.Name, f.Type)
	}
	// Output:
	// name text
	// sorted keyword
	// tags keyword
	// opened date
	// place geo
	// stars number
	// mood vector
}

// Documents with vectors are ranked by their similarity, alone or together with words, within what
// a filter allows.
func ExampleRequest_nearest() {
	type Song struct {
		ID   string `index:"id"`
		Text string
		Year int
		Mood [2]float32
	}
	ctx := context.Background()
	x, err := collocate.Memory(collocate.Options{Like: Song{}})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	err = errors.Join(x.Add(Song{"a", "Blue moon", 1934, [2]float32{0.2, 0.9}},
		Song{"b", "Walking on sunshine", 1983, [2]float32{0.9, 0.1}},
		Song{"c", "Bad moon rising", 1969, [2]float32{0.8, 0.4}}), x.Commit(ctx))
	if err != nil {
		log.Fatal(err)
	}
	happy := &search.Nearest{Vector: []float32{1, 0}}
	for _, r := range []collocate.Request{{Nearest: happy}, {Nearest: happy, Filter: "year:<1980"},
		{Nearest: happy, Query: "moon"}} {
		found, err := x.Search(ctx, r)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("query %q, filter %q:", r.Query, r.Filter)
		for _, hit := range found.Hits {
			fmt.Printf(" %s %.2f", hit.ID, hit.Score)
		}
		fmt.Println()
	}
	// Output:
	// query "", filter "": b 0.99 c 0.89 a 0.22
	// query "", filter "year:<1980": c 0.89 a 0.22
	// query "moon", filter "": c 1.28 b 0.99 a 0.67
}
