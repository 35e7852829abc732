package collocate_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/collocate/collocate"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// pages is an index of three pages.
func pages(ctx context.Context) *collocate.Index {
	x, err := collocate.Memory(collocate.Options{Like: Page{}, Analyzer: "english"})
	if err == nil {
		err = x.Add(
			Page{URL: "/car", Title: "An old car", Body: "It is <red>. The old car is slow.", Tags: []string{"old"}, Views: 3,
				Date: time.Date(2023, 5, 1, 0, 0, 0, 0, time.UTC)},
			Page{URL: "/auto", Title: "Autos", Body: "Some are old.", Tags: []string{"old", "many"}, Views: 30,
				Date: time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC)},
			Page{URL: "/house", Title: "A house", Body: "With a car before it.", Views: 10,
				Date: time.Date(2024, 6, 1, 0, 0, 0, 0, time.UTC)})
	}
	if err == nil {
		err = x.Commit(ctx)
	}
	if err != nil {
		log.Fatal(err)
	}
	return x
}

// Queries may be built in code, where a text would have to be escaped.
func ExampleRequest_tree() {
	ctx := context.Background()
	x := pages(ctx)
	defer x.Close()
	typed := `"car (` // what somebody typed, to be taken as words
	found, err := x.Search(ctx, collocate.Request{Tree: query.And{Parts: []query.Node{
		query.Words(typed, true),
		query.Not{Part: query.Field{Name: "tags", Part: query.Term{Text: "many"}}},
		query.Filter{Part: query.Field{Name: "views", Part: query.Range{From: "5"}}},
	}}})
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range found.Hits {
		fmt.Println(hit.ID)
	}
	// Output:
	// /house
}

// Synonyms may be those of a query, where the index declares none or others.
func ExampleRequest_synonyms() {
	ctx := context.Background()
	x := pages(ctx)
	defer x.Close()
	same, err := text.ParseSynonyms([]byte("car, auto, motor car"))
	if err != nil {
		log.Fatal(err)
	}
	found, err := x.Search(ctx, collocate.Request{Query: "title:car", Synonyms: same})
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range found.Hits {
		fmt.Println(hit.ID)
	}
	// Output:
	// /auto
	// /car
}

// Excerpts are of all text or of fields. They are safe as HTML, and a phrase is one mark.
func ExampleRequest_highlight() {
	ctx := context.Background()
	x := pages(ctx)
	defer x.Close()
	found, err := x.Search(ctx, collocate.Request{Query: `"old car" red`, Snippet: 100, Highlight: []string{"title", "body"}})
	if err != nil {
		log.Fatal(err)
	}
	hit := found.Hits[0]
	fmt.Println(hit.Snippet.HTML("<b>", "</b>"))
	fmt.Println(hit.Highlights["title"].HTML("<b>", "</b>"))
	fmt.Println(hit.Highlights["body"].HTML("<b>", "</b>"))
	// Output:
	// An <b>old car</b> It is &lt;<b>red</b>&gt;. The <b>old car</b> is slow.
	// An <b>old car</b>
	// It is &lt;<b>red</b>&gt;. The <b>old car</b> is slow.
}

// Hits are sorted by fields instead of scores, and values of fields are counted over all matches.
func ExampleRequest_facets() {
	ctx := context.Background()
	x := pages(ctx)
	defer x.Close()
	sort, err := search.ParseSort("date:desc")
	if err != nil {
		log.Fatal(err)
	}
	found, err := x.Search(ctx, collocate.Request{Query: "*", Sort: sort, K: 2, Count: true,
		Facets: []search.Facet{{Field: "tags"}, {Field: "date", Step: "year"}}})
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range found.Hits {
		fmt.Println(hit.ID)
	}
	fmt.Println(found.Total, "pages")
	for _, counts := range found.Facets {
		for _, v := range counts.Values {
			fmt.Println(counts.Field, v.Value, v.Docs)
		}
	}
	// Output:
	// /house
	// /auto
	// 3 pages
	// tags old 2
	// tags many 1
	// date 2024 2
	// date 2023 1
}
