package columns_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/columns"
	"github.com/collocate/collocate/text"
)

// Filter the documents of a small index by year, and count the tags of those that remain.
func Example() {
	dir, err := os.MkdirTemp("", "columns-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	lines := `{"title": "A rose is a rose", "year": 1913, "tag": ["red"]}
{"title": "Wild roses", "year": 1987, "tag": ["white", "red"]}
{"title": "Tulips", "year": 2001, "tag": ["red"]}
{"title": "Undated"}
`
	path := filepath.Join(dir, "flowers.jsonl")
	if err := os.WriteFile(path, []byte(lines), 0o644); err != nil {
		log.Fatal(err)
	}
	schema, err := fields.ParseList([]string{"title:text", "year:number", "tag:keyword"})
	if err != nil {
		log.Fatal(err)
	}
	folder := filepath.Join(dir, "flowers.index")
	corpus := &text.Corpus{Paths: []string{path}, Options: text.Options{Schema: schema}}
	if err := index.Build(context.Background(), folder, corpus, index.BuildOptions{}); err != nil {
		log.Fatal(err)
	}

	r, err := index.Open(folder)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	year, err := r.Column("year")
	if err != nil {
		log.Fatal(err)
	}
	later, err := year.Range(columns.Limit{Value: "1950"}, columns.Limit{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("since 1950:", slices.Collect(later.All()))

	tag, err := r.Column("tag")
	if err != nil {
		log.Fatal(err)
	}
	facets, distinct, err := tag.Facets(later, 10)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("tags:", distinct)
	for _, f := range facets {
		fmt.Println(f.Value, f.Docs)
	}
	// Output:
	// since 1950: [1 2]
	// tags: 2
	// red 2
	// white 1
}
