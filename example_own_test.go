package collocate_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/collocate/collocate"
	"github.com/collocate/collocate/index/segments"
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

// Observe hears of every call, for metrics; Progress tells how far a segment is.
func ExampleOptions_observe() {
	ctx := context.Background()
	x, err := collocate.Memory(collocate.Options{
		Observe: func(e collocate.Event) { fmt.Println(e.Call, e.Query, e.Documents, e.Err) },
		Progress: func(p segments.Progress) {
			if p.Ended {
				fmt.Println("wrote", p.Done, "of", p.Total)
			}
		},
	})
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
	// add  1 <nil>
	// wrote 1 of 1
	// refresh  1 <nil>
	// commit  1 <nil>
	// search moon 1 <nil>
}

// What an index does is logged with log/slog.
func ExampleOptions_log() {
	ctx := context.Background()
	some := func(_ []string, a slog.Attr) slog.Attr { // leave out what differs from run to run
		if a.Key == slog.TimeKey || a.Key == "took" || a.Key == "index" {
			return slog.Attr{}
		}
		return a
	}
	handler := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: some})
	x, err := collocate.Memory(collocate.Options{Log: slog.New(handler)})
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
	// level=DEBUG msg="collocate: add" documents=1
	// level=DEBUG msg="collocate: refresh" documents=1
	// level=DEBUG msg="collocate: commit" documents=1
	// level=DEBUG msg="collocate: search" documents=1 query=moon
}

// A merge policy of one's own: segments are merged as soon as there are three.
func ExampleOptions_mergePolicy() {
	ctx := context.Background()
	x, err := collocate.Memory(collocate.Options{
		MergePolicy: func(documents, deleted []int) (from, to int) {
			if len(documents) < 3 {
				return 0, 0
			}
			return 0, len(documents)
		},
		Observe: func(e collocate.Event) {
			if e.Call == "merge" {
				fmt.Println("merged", e.Documents, "documents")
			}
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	for id := range 4 {
		if err := errors.Join(x.Add(map[string]any{"id": id, "text": "moon"}), x.Commit(ctx)); err != nil {
			log.Fatal(err)
		}
	}
	// At night, when nobody searches, all of it may become one segment.
	if err := x.Compact(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// merged 3 documents
	// merged 4 documents
}

// A context that has ended is an error at once, and nothing is changed.
func ExampleIndex_Commit() {
	ctx, cancel := context.WithCancel(context.Background())
	x, err := collocate.Memory(collocate.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	if err := x.Add(map[string]any{"id": "1", "text": "moon"}); err != nil {
		log.Fatal(err)
	}
	cancel()
	fmt.Println(x.Commit(ctx))
	_, err = x.Search(ctx, collocate.Request{Query: "moon"})
	fmt.Println(err, errors.Is(err, context.Canceled))
	fmt.Println(x.Len(), x.Commit(context.Background()), x.Len())
	// Output:
	// collocate: commit: context canceled
	// collocate: search: context canceled true
	// 0 <nil> 1
}

// Explanations say how a score comes about.
func ExampleRequest_explain() {
	ctx := context.Background()
	x, err := collocate.Memory(collocate.Options{Analyzer: "english"})
	if err != nil {
		log.Fatal(err)
	}
	defer x.Close()
	err = errors.Join(x.Add(map[string]any{"id": "1", "text": "A solar eclipse: the moon hides the sun"},
		map[string]any{"id": "2", "text": "the moon"}, map[string]any{"id": "3", "text": "the sun"}), x.Commit(ctx))
	if err != nil {
		log.Fatal(err)
	}
	found, err := x.Search(ctx, collocate.Request{Query: "eclipses moon", K: 1, Explain: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, hit := range found.Hits {
		for _, w := range hit.Explanation.Words {
			fmt.Printf("%s %s: in %d of %d documents, %d times here: %.3f\n",
				hit.ID, w.Text, w.DF, hit.Explanation.Documents, w.TF, w.Score)
		}
	}
	// Output:
	// 1 eclips: in 1 of 3 documents, 1 times here: 0.780
	// 1 moon: in 2 of 3 documents, 1 times here: 0.288
}
