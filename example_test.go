package collocate_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/collocate/collocate"
	"github.com/collocate/collocate/search"
)

// Page is a document as a program has it.
type Page struct {
	URL   string `index:"id"`
	Title string `index:"title:text:english"`
	Body  string `index:"body:text:english"`
	Tags  []string
	Date  time.Time
	Place *[2]float64 // latitude and longitude; not every page has one
	Views int
}

// A live index of Go values: add, commit, search, read back.
func Example() {
	ctx := context.Background()
	x, err := collocate.Memory(collocate.Options{Like: Page{}, Analyzer: "english"}) // or Open, with a folder
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	day := time.Date(2024, 4, 8, 18, 0, 0, 0, time.UTC)
	if err := x.Add(
		Page{URL: "/eclipse", Title: "A solar eclipse", Body: "The moon hides the sun.", Tags: []string{"news", "sky"},
			Date: day, Place: &[2]float64{31.8, -106.4}, Views: 120},
		Page{URL: "/panels", Title: "Solar panels", Body: "They turn light of the sun into power.", Views: 7},
	); err != nil {
		log.Fatal(err)
	}
	if err := x.Commit(ctx); err != nil {
		log.Fatal(err)
	}
	found, err := x.Search(ctx, collocate.Request{Query: "sun eclipses", Filter: "views:>=10 date:2024",
		Stored: true, Snippet: 60, Facets: []search.Facet{{Field: "tags"}}})
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range found.Hits {
		var page Page
		if err := hit.Decode(&page); err != nil {
			log.Fatal(err)
		}
		fmt.Println(hit.ID, page.Title, page.Date.Equal(day), hit.Snippet.HTML("<b>", "</b>"))
	}
	for _, v := range found.Facets[0].Values {
		fmt.Println(v.Value, v.Docs)
	}
	// Output:
	// /eclipse A solar eclipse true A solar <b>eclipse</b> The moon hides the <b>sun</b>.
	// news 1
	// sky 1
}

// Newer and more popular pages come first, other things being equal.
func ExampleRequest_boosts() {
	ctx := context.Background()
	x, err := collocate.Memory(collocate.Options{Like: Page{}})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	for i, views := range []int{3, 3000, 30} {
		day := time.Date(2020+i, 1, 1, 0, 0, 0, 0, time.UTC)
		if err := x.Add(Page{URL: fmt.Sprint("/", i), Title: "Moon", Date: day, Views: views}); err != nil {
			log.Fatal(err)
		}
	}
	if err := errors.Join(x.Add(Page{URL: "/sun", Title: "Sun"}, Page{URL: "/star", Title: "Star"}), x.Commit(ctx)); err != nil {
		log.Fatal(err)
	}
	boosts, err := search.ParseBoosts("decay(date, 2022-01-01, 1y), 0.5*log(views, 1000)")
	if err != nil {
		log.Fatal(err)
	}
	found, err := x.Search(ctx, collocate.Request{Query: "moon", Boosts: boosts})
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range found.Hits {
		fmt.Println(hit.ID)
	}
	// Output:
	// /2
	// /1
	// /0
}

// A box completes what is typed, and corrects it.
func ExampleIndex_Complete() {
	ctx := context.Background()
	x, err := collocate.Memory(collocate.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	for id, s := range map[string]string{"1": "solar eclipse", "2": "solar panels", "3": "a solid wall"} {
		if err := x.Add(map[string]any{"id": id, "text": s}); err != nil {
			log.Fatal(err)
		}
	}
	if err := x.Commit(ctx); err != nil {
		log.Fatal(err)
	}
	words, err := x.Complete(ctx, "", "sol", 5)
	fmt.Println(words, err)
	similar, err := x.Similar(ctx, "", "eclipze")
	fmt.Println(similar, err)
	// Output:
	// [{solar 2} {solid 1}] <nil>
	// [eclipse] <nil>
}
