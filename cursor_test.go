package collocate

import (
	"errors"
	"strings"
	"testing"

	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// Pages that go on after each other have all hits of one long page, however hits are ordered.
func TestPagesGoOn(t *testing.T) {
	x, err := Memory(Options{Like: note{}})
	must(t, err)
	defer x.Close()
	for i := range 50 {
		must(t, x.Add(note{Key: i, Text: strings.Repeat("rose ", 1+i%3), Tags: []string{"abc"[i%3 : i%3+1]}, Rank: float64(i % 4)}))
		if i%20 == 0 {
			must(t, x.Commit(t.Context()))
		}
	}
	must(t, x.Commit(t.Context()))
	synonyms, err := text.ParseSynonyms([]byte("tulip, rose"))
	must(t, err)
	for _, r := range []Request{
		{Query: "rose"}, {Query: "rose", Filter: "tags:(a OR b)"}, {Query: "*"},
		{Tree: query.Prefix{Text: "ro"}}, {Tree: query.Term{Text: "rose"}, Filter: "tags:a"},
		{Query: "tulip", Synonyms: synonyms},
		{Query: "rose", Sort: &search.Sort{Field: "rank", Descending: true, Then: []search.Sort{{Field: "tags"}}}},
		{Query: "rose", Boosts: []search.Boost{{Fields: []string{"rank"}, Value: func(of []float64) float64 { return of[0] }}}},
	} {
		whole := r
		whole.K = 50
		want := ids(t, x, whole)
		if want == "" {
			t.Errorf("%+v finds nothing", r)
		}
		var got []string
		for r.K = 7; ; {
			found, err := x.Search(t.Context(), r)
			must(t, err)
			for _, h := range found.Hits {
				got = append(got, h.ID)
			}
			if r.After = found.Next(); r.After == "" {
				break
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%+v: pages have %s, want %s", r, got, want)
		}
	}

	found, err := x.Search(t.Context(), Request{Query: "rose"})
	must(t, err)
	next := found.Next()
	for _, c := range []struct {
		r    Request
		want string
	}{
		{Request{Query: "rose", After: "?"}, "Next of an earlier answer"},
		{Request{Query: "roses", After: next}, "another query"},
		{Request{Query: "rose", After: next, Sort: &search.Sort{Field: "rank"}}, "another query"},
		{Request{Query: "rose", After: next, Synonyms: synonyms}, "another query"},
		{Request{Tree: query.Prefix{Text: "rose"}, After: next}, "another query"},
		{Request{Query: "rose", After: next, From: 1}, "both After and From"},
	} {
		_, err := x.Search(t.Context(), c.r)
		if !errors.Is(err, search.ErrRequest) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %s", c.r, err, c.want)
		}
	}
	must(t, x.Add(note{Key: 99, Text: "rose"}))
	must(t, x.Commit(t.Context()))
	if _, err := x.Search(t.Context(), Request{Query: "rose", After: next}); !errors.Is(err, ErrChanged) {
		t.Errorf("after a commit: %v", err)
	}
}

// Fields are highlighted by what the query looks for in them, with the analyzer of each, and
// phrases do not go from one field to the next.
func TestHighlights(t *testing.T) {
	type page struct {
		ID    string `index:"id"`
		Title string `index:"title:text:english"`
		Body  *string
		Kind  string `index:":keyword"`
	}
	x, err := Memory(Options{Like: page{}})
	must(t, err)
	defer x.Close()
	if found, err := x.Search(t.Context(), Request{Query: "a", Highlight: []string{"title"}}); err != nil || found.Next() != "" {
		t.Errorf("before the first commit: %v, %v", found, err)
	}
	body := "power of <the> sun: solar power. Eclipses"
	must(t, x.Add(page{"1", "Solar eclipses & solar", &body, "a"}, page{"2", "solar power", nil, "a"}))
	must(t, x.Commit(t.Context()))
	for _, c := range []struct{ q, title, body string }{
		{"solar", "[Solar] eclipses &amp; [solar]", "power of &lt;the&gt; sun: [solar] power. Eclipses"},
		{"title:eclipse", "Solar [eclipses] &amp; solar", "power of &lt;the&gt; sun: solar power. Eclipses"},
		{"eclipses title:sun", "Solar [eclipses] &amp; solar", "power of &lt;the&gt; sun: solar power. [Eclipses]"},
		{`body:"solar power"`, "Solar eclipses &amp; solar", "power of &lt;the&gt; sun: [solar power]. Eclipses"},
		{`"solar power" kind:a`, "Solar eclipses &amp; solar", "power of &lt;the&gt; sun: [solar power]. Eclipses"},
		{`title:"solar eclipse" -body:moon`, "[Solar eclipses] &amp; solar", "power of &lt;the&gt; sun: solar power. Eclipses"},
	} {
		found, err := x.Search(t.Context(), Request{Query: c.q, Filter: "id:1", Highlight: []string{"title", "body"}, Snippet: 100})
		must(t, err)
		h := found.Hits[0]
		if got := h.Highlights["title"].HTML("[", "]"); got != c.title {
			t.Errorf("%s: title %s, want %s", c.q, got, c.title)
		}
		if got := h.Highlights["body"].HTML("[", "]"); got != c.body {
			t.Errorf("%s: body %s, want %s", c.q, got, c.body)
		}
	}
	found, err := x.Search(t.Context(), Request{Query: `"solar power"`, Snippet: 100, Highlight: []string{"body"}, Filter: "id:2"})
	must(t, err)
	if h := found.Hits[0]; len(h.Highlights) != 0 || h.Snippet.Marked("[", "]") != "[solar power]" {
		t.Errorf("without a body: %v, %v", h.Highlights, h.Snippet)
	}
	found, err = x.Search(t.Context(), Request{Query: `"solar power"`, Snippet: 100, Filter: "id:1"})
	must(t, err)
	if got := found.Hits[0].Snippet.Marked("[", "]"); got != "Solar eclipses & solar power of <the> sun: [solar power]. Eclipses" {
		t.Errorf("a phrase across fields: %s", got)
	}
	_, err = x.Search(t.Context(), Request{Query: "solar", Highlight: []string{"kind"}})
	if !errors.Is(err, search.ErrRequest) || !strings.Contains(err.Error(), `"kind"`) {
		t.Errorf("highlights of a keyword: %v", err)
	}
}
