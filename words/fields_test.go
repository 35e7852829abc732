package words

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/text"
)

// Nothing about words crosses the border of two fields. So documents with a title and a body have
// the pairs, n-grams and lines of their titles and bodies as documents: read from a file, and from
// the stored text of an index.
func TestWordsKeepToTheirField(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	part := func() string {
		words := make([]string, r.IntN(9))
		for i := range words {
			words[i] = string(rune('a' + r.IntN(5)))
		}
		return strings.Join(words, " ")
	}
	var together, apart strings.Builder
	for i := range 60 {
		title, body := part(), part()
		fmt.Fprintf(&together, `{"id":"d%02d","title":%q,"body":%q}`+"\n", i, title, body)
		fmt.Fprintf(&apart, `{"id":"d%02d","body":%q}`+"\n"+`{"id":"d%02d","body":%q}`+"\n", i, title, i, body)
	}
	an := analyzer(t, "unicode")
	two := corpusOf(t, text.JSONL, together.String())
	two.Options.Fields = []string{"title", "body"}
	declared := *two
	declared.Options.Fields = nil
	declared.Options.Schema = &fields.Schema{Fields: []fields.Field{{Name: "title", Type: fields.Text}, {Name: "body", Type: fields.Text}}}
	one := corpusOf(t, text.JSONL, apart.String())
	one.Options.Fields = []string{"body"}
	dir := filepath.Join(t.TempDir(), "index")
	if err := index.Build(t.Context(), dir, &declared, index.BuildOptions{Analyzer: an, StoreText: true}); err != nil {
		t.Fatal(err)
	}
	indexed := openIndex(t, dir)
	stored, err := Stored(indexed, nil)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(corpus *text.Corpus) (answers []string) {
		say := func(x any, err error) {
			if err != nil {
				t.Fatal(err)
			}
			answers = append(answers, fmt.Sprint(x))
		}
		for _, window := range []int{1, 3} {
			o := CorpusOptions{Analyzer: an, Window: window, MinDocs: 1, Parts: Parts{Equal: 4}}
			o.Top, o.MinCount, o.Threads = 1000, 1, 2
			list, _, err := CollocationsOf(t.Context(), corpus, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range list.Pairs {
				say(fmt.Sprint(p.Word1, p.Word2, p.Count, p.Scores, p.Spread.Count, p.Spread.DP), nil)
			}
		}
		list, _, err := Ngrams(t.Context(), corpus, NgramOptions{Min: 1, Max: 4, MinCount: 2, Analyzer: an})
		for _, n := range list {
			say(fmt.Sprint(n.Text, n.Count), err)
		}
		plot, err := PlotOf(t.Context(), corpus, an, []string{`"a b"`, `"c * d"`}, 2)
		if err != nil {
			t.Fatal(err)
		}
		say(plot.Rows, err)
		return answers
	}
	lines := func(find func(q *Query, o ConcordanceOptions) (*Concordance, error)) (list []string) {
		for _, query := range []string{"a", `"a b"`, `"b * c"`, `"d e a"`} {
			o := ConcordanceOptions{Window: 4, Top: 1000, Sort: []string{"L1", "R1", "R2"}}
			q, err := o.parseQueries(query, "c", `"e e"`, an)
			if err != nil {
				t.Fatal(err)
			}
			found, err := find(q, o)
			if err != nil {
				t.Fatal(err)
			}
			var own []string
			for _, l := range found.Lines {
				own = append(own, fmt.Sprintf("%s: %s [%s] %s", l.Document, l.Left, l.Match, l.Right))
			}
			slices.Sort(own)
			list = append(append(list, fmt.Sprint(query, found.Total)), own...)
		}
		return list
	}
	concord := func(corpus *text.Corpus) []string {
		return lines(func(q *Query, o ConcordanceOptions) (*Concordance, error) { return Concord(t.Context(), corpus, q, o) })
	}
	want, wantLines := ask(one), concord(one)
	if len(wantLines) < 50 {
		t.Fatalf("%d lines: want at least 50 to compare", len(wantLines))
	}
	for name, corpus := range map[string]*text.Corpus{"fields": two, "schema": &declared, "index": stored} {
		if got := ask(corpus); !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, want)
		}
		if got := concord(corpus); !slices.Equal(got, wantLines) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, wantLines)
		}
	}
	got := lines(func(q *Query, o ConcordanceOptions) (*Concordance, error) {
		return ConcordIndex(t.Context(), indexed, q, o)
	})
	if !slices.Equal(got, wantLines) {
		t.Errorf("lines of an index:\n got %q\nwant %q", got, wantLines)
	}
}
