package collocate_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/collocate/collocate"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// reversed is an analyzer of a program's own: words between blanks, their letters reversed, so that
// a query for the prefix gni* finds words that end in "ing".
type reversed struct{}

func (reversed) Name() string { return "reversed" }

func (reversed) Analyze(doc []byte, t *text.Tokens) error {
	t.Bytes, t.Words, t.Source = t.Bytes[:0], t.Words[:0], t.Source[:0]
	at := 0
	for word := range strings.FieldsSeq(string(doc)) {
		at += strings.Index(string(doc[at:]), word)
		start := uint32(len(t.Bytes))
		for i := len(word) - 1; i >= 0; i-- {
			t.Bytes = append(t.Bytes, word[i])
		}
		t.Words = append(t.Words, text.Span{Start: start, End: uint32(len(t.Bytes))})
		t.Source = append(t.Source, text.Span{Start: uint32(at), End: uint32(at + len(word))})
		at += len(word)
	}
	return nil
}

// An analyzer in Go is given whenever the index is opened. Without it, Open says so at once.
func ExampleOptions_analyzers() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "collocate")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	type page struct {
		ID   string `index:"id"`
		Text string
		Ends string `index:"ends:text:reversed"`
	}
	own := []text.Analyzer{reversed{}}
	dir = filepath.Join(dir, "pages")
	x, err := collocate.Open(dir, collocate.Options{Like: page{}, Analyzers: own})
	if err != nil {
		log.Fatal(err)
	}
	err = errors.Join(x.Add(page{"1", "a", "going there"}, page{"2", "b", "inge went"}), x.Commit(ctx))
	if err != nil {
		log.Fatal(err)
	}
	found, err := x.Search(ctx, collocate.Request{Query: "ends:gni*", Highlight: []string{"ends"}})
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range found.Hits {
		fmt.Println(hit.ID, hit.Highlights["ends"].HTML("<b>", "</b>"))
	}
	if err := x.Close(); err != nil {
		log.Fatal(err)
	}
	_, err = collocate.Open(dir, collocate.Options{})
	fmt.Println(strings.TrimPrefix(err.Error(), "collocate: "+dir+": "))
	// Output:
	// 1 <b>going</b> there
	// search: the words of field "ends" were made by analyzer "reversed", which is not built in: open the index from Go, with that analyzer
}

// Chains of steps are declared and stored in the index: folding, stop words, stems, synonyms, parts
// of names in code.
func ExampleOptions_analyzer() {
	ctx := context.Background()
	x, err := collocate.Memory(collocate.Options{Analyzer: "code | parts | lower | synonyms(task, job)"})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	err = errors.Join(x.Add(map[string]any{"id": "1", "text": "asyncio.createTask(f)"}), x.Commit(ctx))
	if err != nil {
		log.Fatal(err)
	}
	found, err := x.Search(ctx, collocate.Request{Query: `"create job"`, Snippet: 80})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.Hits[0].Snippet.HTML("<b>", "</b>"))
	// Output:
	// asyncio.<b>createTask</b>(f)
}

// A model in Go scores words by their frequencies, and a boost in Go raises scores by fields.
func ExampleRequest_model() {
	ctx := context.Background()
	x, err := collocate.Memory(collocate.Options{Like: Page{}})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	err = errors.Join(x.Add(Page{URL: "/often", Title: "moon moon moon", Views: 1}, Page{URL: "/once", Title: "moon", Views: 9},
		Page{URL: "/sun", Title: "sun"}), x.Commit(ctx))
	if err != nil {
		log.Fatal(err)
	}
	tfidf := &search.Own{Name: "tf-idf", Monotonic: true, Word: func(w search.WordStats) func(tf, length uint32) float64 {
		idf := math.Log(1 + float64(w.All)/float64(w.Documents))
		return func(tf, length uint32) float64 { return float64(tf) * idf }
	}}
	popular := search.Boost{Name: "popular", Fields: []string{"views"}, Add: true,
		Value: func(of []float64) float64 { return of[0] }}
	for _, boosts := range [][]search.Boost{nil, {popular}} {
		found, err := x.Search(ctx, collocate.Request{Query: "moon", Model: tfidf, Boosts: boosts})
		if err != nil {
			log.Fatal(err)
		}
		for _, hit := range found.Hits {
			fmt.Printf("%s %.2f\n", hit.ID, hit.Score)
		}
	}
	// Output:
	// /often 2.75
	// /once 0.92
	// /once 9.92
	// /often 3.75
}

// Pages go on after each other, and All goes through all hits at once.
func ExampleResult_Next() {
	ctx := context.Background()
	x, err := collocate.Memory(collocate.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	for id := range 5 {
		if err := x.Add(map[string]any{"id": id, "text": "moon"}); err != nil {
			log.Fatal(err)
		}
	}
	if err := x.Commit(ctx); err != nil {
		log.Fatal(err)
	}
	r := collocate.Request{Query: "moon", K: 2}
	for {
		found, err := x.Search(ctx, r)
		if err != nil {
			log.Fatal(err)
		}
		for _, hit := range found.Hits {
			fmt.Println(hit.ID)
		}
		fmt.Println("-")
		if r.After = found.Next(); r.After == "" {
			break
		}
	}
	for hit, err := range x.All(ctx, collocate.Request{Query: "moon"}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(hit.ID, ";")
	}
	// Output:
	// 0
	// 1
	// -
	// 2
	// 3
	// -
	// 4
	// -
	// 0;1;2;3;4;
}

// An index may be part of a program: go:embed makes an fs.FS of its folder.
func ExampleFS() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "collocate")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	made, err := collocate.Open(dir, collocate.Options{Analyzer: "english"})
	if err != nil {
		log.Fatal(err)
	}
	err = errors.Join(made.Add(map[string]any{"id": "1", "text": "solar eclipse"}), made.Commit(ctx), made.Close())
	if err != nil {
		log.Fatal(err)
	}
	x, err := collocate.FS(os.DirFS(dir), collocate.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	found, err := x.Search(ctx, collocate.Request{Query: "eclipses"})
	fmt.Println(found.Hits[0].ID, err)
	fmt.Println(x.Add(map[string]any{"id": "2", "text": "moon"}))
	// Output:
	// 1 <nil>
	// collocate: add: the index is read-only
}

// Observe hears of every call, for metrics.
func ExampleOptions_observe() {
	ctx := context.Background()
	x, err := collocate.Memory(collocate.Options{Observe: func(e collocate.Event) {
		fmt.Println(e.Call, e.Documents, e.Err)
	}})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	err = errors.Join(x.Add(map[string]any{"id": "1", "text": "moon"}), x.Commit(ctx))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := x.Search(ctx, collocate.Request{Query: "moon"}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// add 1 <nil>
	// refresh 1 <nil>
	// commit 1 <nil>
	// search 1 <nil>
}
