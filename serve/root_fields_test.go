package serve

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// withFields returns an index of documents with fields of all types, some of which have no value.
func withFields(t testing.TB) *search.Searcher {
	t.Helper()
	rng := rand.New(rand.NewPCG(41, 42))
	words := strings.Fields("moon sun star dust ring comet orbit orbits orbital of the")
	tags := strings.Fields("red green blue black white zinc Äther été")
	var lines []byte
	for i := range 600 {
		body := ""
		for range 3 + rng.IntN(20) {
			body += " " + words[int(float64(len(words))*rng.Float64()*rng.Float64())]
		}
		lines = fmt.Appendf(lines, `{"id":"d%d","title":%q,"body":%q`, i, words[rng.IntN(5)], body)
		if i%7 > 0 {
			lines = fmt.Appendf(lines, `,"year":%d,"price":%v`, 1990+rng.IntN(30), float64(rng.IntN(400)-200)/8)
		}
		if i%5 > 0 {
			lines = fmt.Appendf(lines, `,"tags":["%s","%s"],"day":"20%02d-%02d-%02d"`, tags[rng.IntN(len(tags))],
				tags[rng.IntN(len(tags))], rng.IntN(20), 1+rng.IntN(12), 1+rng.IntN(28))
		}
		lines = append(lines, "}\n"...)
	}
	path := filepath.Join(t.TempDir(), "docs.jsonl")
	if err := os.WriteFile(path, lines, 0o644); err != nil {
		t.Fatal(err)
	}
	schema, err := fields.ParseList([]string{
		"title:text", "body:text", "tags:keyword", "year:number", "price:number", "day:date",
	})
	if err != nil {
		t.Fatal(err)
	}
	o := index.BuildOptions{Positions: true}
	if o.Analyzer, err = text.ParseAnalyzer("unicode"); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "ix")
	c := &text.Corpus{Paths: []string{path}, Options: text.Options{Schema: schema}}
	if err := index.Build(t.Context(), dir, c, o); err != nil {
		t.Fatal(err)
	}
	s, err := search.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// Facets, sorting, filters, stored fields, pages and expansions over shards are those of one index.
func TestShardsGatherAsOneIndex(t *testing.T) {
	for _, first := range []int{1, -1} {
		c := newClusterOf(t, withFields(t), 3, 1, RootOptions{First: first})
		for _, q := range []string{
			"moon dust", "+moon -sun", "title:moon dust", "year:[1995 TO 2005} sun", "tags:red", "nosuchword", "title:mo* dus*", "tags:r* sun",
			`"the moon"`,
		} {
			for _, more := range []string{
				"&facets=tags,year/10,day", "&facets=tags:2,tags:1,price/0.3:1000,day/month:50,day/day:7&count=1",
				"&facets=year:1000,price:5&k=3", "&sort=year&k=50", "&sort=year:desc&k=7&from=5", "&sort=tags&k=1000",
				"&sort=tags:desc&k=30&fields=tags,year,title", "&sort=day:desc&facets=tags&count=1",
				"&sort=price&k=20&offset=580", "&fields=day,price,tags&k=20",
				"&sort=tags,year:desc&k=40", "&sort=tags:desc,day,price:desc&k=25&from=10&fields=tags,day,price",
				"&sort=year,tags:desc&k=1000",
				"&boost=decay(year,2000,5)&k=20", "&boost=%2B2*saturation(price,3),log(year,3000)&k=30&from=4",
				"&boost=decay(day,2020-01-01,90d)&sort=year", "&expand=rm3&boost=decay(year,1990,2)",
			} {
				c.same(t, "/v1/search?q="+url.QueryEscape(q)+more)
			}
		}
		for _, more := range []string{
			"&expand=rm3", "&expand=bo1", "&expand=rm3:docs=40,terms=3&sort=year", "&expand=bo1:docs=2&facets=tags",
			"&expand=rm3&k=5&explain=1&mode=and", "&proximity=sdm", "&proximity=sdm&k=100&facets=year", "&expand=rm3&offset=3",
			"&expand=rm3&filter=tags:red", "&expand=bo1&filter=year:[1990+TO+2005]+title:mo*&facets=tags&count=1",
			"&expand=rm3:docs=4&filter=sun~&explain=1&k=30", "&proximity=sdm&filter=-tags:red&snippets=1",
		} {
			got := c.same(t, "/v1/search?q=moon+comet+unknownword&plain=1"+more)
			if strings.Contains(more, "expand") && len(got.Expanded) < 3 {
				t.Errorf("%s: expanded to %v, want at least 3 words", more, got.Expanded)
			}
		}
		for q, want := range map[string]int{`"the mo*"`: 2, `"the moon" mo*`: 0, "moon": 0,
			"title:mooon": 1, "+comet +zzzzz*": 1, "year:[9000 TO *]": 1, "+moon +comett": 1} {
			if got := c.same(t, "/v1/search?q="+url.QueryEscape(q)); len(got.Notes) != want {
				t.Errorf("%s: notes %q, want %d", q, got.Notes, want)
			}
		}
		for q, says := range map[string]string{"year:0A": `"0A" is not a number`, "sun day:>=yesterday": `"yesterday" is not a date`} {
			w := call(c.root, "/v1/search?q="+url.QueryEscape(q), "")
			if said := decode[problem](t, w.Body.String()).Error; w.Code != 400 || !strings.Contains(said, says) {
				t.Errorf("%s: status %d %q, want 400 %s", q, w.Code, said, says)
			}
		}
		for _, wrong := range []string{"&facets=body", "&sort=title", "&facets=year/x", "&sort=none"} {
			if w := call(c.root, "/v1/search?q=moon"+wrong, ""); w.Code != 400 {
				t.Errorf("%s: status %d %s, want 400", wrong, w.Code, w.Body)
			}
		}
	}
}

// If a shard cannot be reached, the answer to an expanded query says that its words are missing
// too.
func TestExpansionWithoutAShard(t *testing.T) {
	c := newClusterOf(t, withFields(t), 3, 1, RootOptions{First: -1})
	c.replicas[1][0].Close()
	w := call(c.root, "/v1/search?q=moon&expand=rm3&facets=tags", "")
	got := decode[api.Answer](t, w.Body.String())
	if w.Code != 200 || got.Shards.Answered != 2 || len(got.Shards.Missing) != 2 ||
		!strings.HasPrefix(got.Shards.Missing[1], "words of the expansion: ") || len(got.Facets) != 1 {
		t.Errorf("status %d %s, want 2 shards, 2 notes of what is missing, and a facet", w.Code, w.Body)
	}
}
