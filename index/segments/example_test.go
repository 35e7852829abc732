package segments_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// Change an index of documents with fields while it is searched.
func Example() {
	dir, err := os.MkdirTemp("", "segments-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	folder, ctx := filepath.Join(dir, "flowers.index"), context.Background()
	must := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}

	english, err := text.ParseAnalyzer("english")
	must(err)
	schema, err := fields.ParseList([]string{"title:text", "tag:keyword", "year:number"})
	must(err)
	w, err := segments.NewWriter(folder, segments.Options{Analyzer: english, Schema: schema})
	must(err)
	defer w.Close()
	add := func(id, title, tag, year string) {
		values, err := schema.Values(map[string][]string{"title": {title}, "tag": {tag}, "year": {year}})
		must(err)
		must(w.Add(text.Document{ID: id, Fields: values}))
	}
	add("1", "A rose is a rose", "red", "1913")
	add("2", "Wild roses of the hills", "white", "1987")
	add("3", "Tulips", "red", "1987")
	must(w.Commit())

	s, err := search.Open(folder)
	must(err)
	defer func() { s.Close() }()
	show := func(text string) {
		q, err := query.Parse(text, query.Options{Fields: s.Fields()})
		must(err)
		found, err := s.Search(ctx, search.Request{Query: q})
		must(err)
		fmt.Println(text)
		for _, hit := range found.Hits {
			id, err := s.ID(hit.Doc)
			must(err)
			values, err := s.Stored(hit.Doc)
			must(err)
			fmt.Printf("  %s %s (%s)\n", id, values[0][0], values[2][0])
		}
	}
	show("rose")

	// Replace a document, and delete those that match a query.
	add("1", "Roses again", "red", "2024")
	q, err := query.Parse("tulip", query.Options{Fields: s.Fields()})
	must(err)
	tulips, err := s.Match(ctx, search.Request{Query: q})
	must(err)
	_, err = w.DeleteDocs(s.Index(), tulips.Sets)
	must(err)
	must(w.Commit())
	show("#tag:red") // the old generation, until Refresh

	newer, err := s.Refresh()
	must(err)
	must(s.Close())
	s = newer
	show("#tag:red")
	// Output:
	// rose
	//   1 A rose is a rose (1913)
	//   2 Wild roses of the hills (1987)
	// #tag:red
	//   1 A rose is a rose (1913)
	//   3 Tulips (1987)
	// #tag:red
	//   1 Roses again (2024)
}
