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
