package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/points"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/vectors"
	"github.com/collocate/collocate/words"
)

// The pages of a result add up to it, and the last one says that there are no more hits.
func TestPaging(t *testing.T) {
	h := New(elife(t, true), Options{MaxK: 100})
	all := decode[api.Answer](t, call(h, "/v1/search?q=lipid+droplets+bacteria&k=100&explain=1", "").Body.String())
	if len(all.Hits) < 60 {
		t.Fatalf("%d hits, want at least 60 to divide into pages", len(all.Hits))
	}
	var paged []api.Hit
	for from := 0; from < 100; from += 20 {
		name := []string{"from", "offset"}[from/20%2] // offset is the old name
		path := fmt.Sprintf("/v1/search?q=lipid+droplets+bacteria&k=20&explain=1&%s=%d", name, from)
		page := decode[api.Answer](t, call(h, path, "").Body.String())
		if page.More == nil || page.K != 20 || page.From != from {
			t.Fatalf("page from %d: %+v, want k 20, from and offset %[1]d, and more", from, page)
		}
		if *page.More != (from < 80 || *all.More) {
			t.Errorf("page from %d: more %v, want %v", from, *page.More, !*page.More)
		}
		paged = append(paged, page.Hits...)
	}
	if !reflect.DeepEqual(paged, all.Hits) {
		t.Errorf("hits of the pages %+v, want %+v", paged, all.Hits)
	}
	last := decode[api.Answer](t, call(h, "/v1/search?q=droplets+kill&mode=and&k=100", "").Body.String())
	if len(last.Hits) == 0 || *last.More {
		t.Errorf("all hits on one page: %d hits, more %v; want some and false", len(last.Hits), *last.More)
	}
	for _, wrong := range []string{"from=91", "offset=91", "from=-1", "from=1&offset=1"} {
		if w := call(h, "/v1/search?q=a&k=10&"+wrong, ""); w.Code != 400 {
			t.Errorf("%s: status %d, want 400", wrong, w.Code)
		}
	}
}

// Every algorithm and engine that a client may name gives the same hits, with explanations of the
// same score.
func TestEnginesByName(t *testing.T) {
	h := New(elife(t, false), Options{Threads: 2})
	want := decode[api.Answer](t, call(h, "/v1/search?q=cell+membrane+protein&explain=1", "").Body.String())
	for _, e := range want.Hits {
		if e.Explain == nil || e.Explain.Score != e.Score {
			t.Fatalf("hit %+v, want an explanation with its score", e)
		}
	}
	for _, how := range []string{"engine=sequential", "engine=multicore", "algorithm=exhaustive",
		"algorithm=wand", "algorithm=maxscore&engine=multicore"} {
		got := decode[api.Answer](t, call(h, "/v1/search?q=cell+membrane+protein&explain=1&"+how, "").Body.String())
		if !reflect.DeepEqual(got.Hits, want.Hits) {
			t.Errorf("%s: hits %+v, want %+v", how, got.Hits, want.Hits)
		}
	}
	for _, how := range []string{"engine=gpu", "engine=abacus", "algorithm=tiles", "algorithm=guess"} {
		if w := call(h, "/v1/search?q=cell&"+how, ""); w.Code != 400 {
			t.Errorf("%s: status %d %s, want 400", how, w.Code, w.Body)
		}
	}
}

// A batch of queries, one per line, gives an answer per line; errors name the line.
func TestBatchOfLines(t *testing.T) {
	s := elife(t, false)
	h := New(s, Options{Limits: unheld})
	w := call(h, "/v1/search", "{\"q\":\"cell\",\"k\":3}\n\n{\"q\":\"membrane\",\"mode\":\"and\"}")
	lines := slices.Collect(strings.Lines(w.Body.String()))
	if w.Code != 200 || len(lines) != 2 {
		t.Fatalf("status %d, want 200 and two lines: %s", w.Code, w.Body)
	}
	first := decode[api.Answer](t, lines[0])
	sameAs(t, s, first, search.Request{Text: "cell", K: 3})
	if first.More == nil || !*first.More {
		t.Errorf("more is %v, want true", first.More)
	}
	for body, says := range map[string]string{
		`{"q":"a"} {"q":"b"}`:      "query 1: want one object per line",
		"7\n{}":                    "query 1: want an object",
		`{"q":"a","engine":"gpu"}`: "query 1: engine",
		"{\"q\":\"\"}\nnonsense":   "query 1: q: it is empty",
	} {
		w := call(h, "/v1/search", body)
		if said := decode[problem](t, w.Body.String()); w.Code != 400 || !strings.Contains(said.Error, says) {
			t.Errorf("%s: %d %q, want %q", body, w.Code, said.Error, says)
		}
	}
	// Parameters in the URL would be for no query.
	if w := call(h, "/v1/search?k=3", `{"q":"cell"}`); w.Code != 400 {
		t.Errorf("k in the URL: status %d %s, want 400", w.Code, w.Body)
	}
}

// A document is found by its ID, whatever characters it has.
func TestDocuments(t *testing.T) {
	dir := t.TempDir()
	corpus := filepath.Join(dir, "c.jsonl")
	write(t, corpus, `{"id": "a/b c%d", "text": "some bears"}`+"\n"+`{"id": "é", "text": "x"}`+"\n")
	h := New(build(t, dir, corpus, index.BuildOptions{StoreText: true}), Options{})
	for _, id := range []string{"a/b c%d", "é"} {
		w := call(h, "/v1/documents/"+url.PathEscape(id), "")
		if got := decode[documentAnswer](t, w.Body.String()); w.Code != 200 || got.ID != id || got.Text == nil {
			t.Errorf("%q: status %d %s, want the document with its text", id, w.Code, w.Body)
		}
	}
	if w := call(h, "/v1/documents/nothing", ""); w.Code != 404 {
		t.Errorf("unknown ID: status %d %s, want 404", w.Code, w.Body)
	}
}

// The company of a word is that of package words, and its links join words of the list.
func TestWords(t *testing.T) {
	h := everywhere(t, Options{})
	m := h.o.Matrix
	id, _ := m.Lookup("membrane")
	want, err := words.Neighbours(m, id, words.Options{By: []words.Measure{words.NPMI, words.MI}, Top: 20, MinCount: 3})
	if err != nil {
		t.Fatal(err)
	}
	got := decode[api.Company](t,
		call(h, "/v1/words/membrane/company?by=npmi,pmi&min_value=3&links=1&top=20", "").Body.String())
	if len(got.Neighbours) != len(want.Pairs) || got.Count != m.Count(id) || got.Docs == 0 ||
		len(got.Links) == 0 || got.By != "npmi" {
		t.Errorf("company %+v, want %v, with documents, links and by npmi", got, want)
	}
	for i, n := range got.Neighbours {
		p := want.Pairs[i]
		if n.ID != p.ID2 || n.Count != p.F2 || n.Value != p.Count || n.Score != p.Scores[0] ||
			n.Scores["mi"] != p.Scores[1] {
			t.Errorf("neighbour %d is %+v, want %+v", i, n, p)
		}
	}
	for _, l := range got.Links {
		if l.From >= l.To || l.To >= len(got.Neighbours) {
			t.Errorf("link %v, want one between two of %d neighbours", l, len(got.Neighbours))
		}
	}
	list := decode[struct{ Words []api.Word }](t, call(h, "/v1/words?prefix=memb&limit=3", "").Body.String()).Words
	if len(list) != 3 || list[0].Word != "membrane" || list[0].Count < list[1].Count {
		t.Errorf("words with prefix memb: %+v, want 3 by count, membrane first", list)
	}
	if got.Total != want.Compared || got.Total <= len(got.Neighbours) {
		t.Errorf("%d neighbours of %d, want %d in all", len(got.Neighbours), got.Total, want.Compared)
	}
	for path, more := range map[string]bool{"prefix=membrane&limit=1": true, "prefix=zzzz": false} {
		w := call(h, "/v1/words?"+path, "")
		if want := fmt.Sprintf(`"more":%v}`, more); !strings.Contains(w.Body.String(), want) {
			t.Errorf("words with %s: %s, want %s", path, w.Body, want)
		}
	}
	// A pattern or two words are no word: nothing is answered for another one.
	for _, word := range []string{"membrane*", "membrane%3F", "cell%20membrane"} {
		for _, about := range []string{"", "/company", "/dispersion"} {
			w := call(h, "/v1/words/"+word+about, "")
			said := decode[problem](t, w.Body.String()).Error
			want := 400
			if about != "/dispersion" && word != "cell%20membrane" {
				want = 404 // the words of this matrix are separated by blanks, so it may have such a word
			}
			if w.Code != want || !strings.Contains(said, "membrane") {
				t.Errorf("/v1/words/%s%s: status %d %q, want %d and the word", word, about, w.Code, said, want)
			}
		}
	}
	if w := call(h, "/v1/words/zzzz", ""); w.Code != 404 {
		t.Errorf("unknown word: status %d, want 404", w.Code)
	}
	if w := call(New(h.first().current.Load().s, Options{}), "/v1/words/membrane", ""); w.Code != 404 ||
		!strings.Contains(w.Body.String(), "start it with --matrix") {
		t.Errorf("without a matrix: status %d %s, want 404 that names it", w.Code, w.Body)
	}
}

// Concordances, dispersion, keywords, maps and similar words of an index, and the status codes of
// requests that are wrong.
func TestWordsOfTheIndex(t *testing.T) {
	h := everywhere(t, Options{})
	lines := decode[words.Concordance](t,
		call(h, "/v1/concordance?q=membrane*&sort=R1&top=5&window=3", "").Body.String())
	if len(lines.Lines) != 5 || !lines.All || lines.Total < 5 ||
		!strings.HasPrefix(strings.ToLower(lines.Lines[0].Match), "membrane") {
		t.Errorf("concordance %+v, want 5 lines of membrane*", lines)
	}
	spread := decode[api.SpreadOfOne](t, call(h, "/v1/words/membrane/dispersion?parts=7", "").Body.String())
	sum := uint64(0)
	for _, n := range spread.Bars {
		sum += n
	}
	if len(spread.Bars) != 7 || sum != spread.Count || spread.Docs == 0 || spread.DP <= 0 || spread.DP >= 1 {
		t.Errorf("dispersion %+v, want 7 bars that add up to the count, and DP between 0 and 1", spread)
	}
	keys := decode[struct {
		Docs     int
		Keywords []words.Keyword
	}](t, call(h, "/v1/keywords?q=membrane&docs=10&top=30", "").Body.String())
	if keys.Docs != 10 || !slices.ContainsFunc(keys.Keywords,
		func(k words.Keyword) bool { return k.Word == "membran" && k.LRC > 0 }) {
		t.Errorf("keywords %+v, want those of 10 documents, with membran", keys)
	}
	// Documents that were left out are said, and all can be asked for, whatever --max-k is.
	part := decode[api.KeywordsAnswer](t, call(h, "/v1/keywords?q=cell", "").Body.String())
	if part.Docs != 100 || part.Matching <= 1000 || len(part.Notes) != 1 ||
		!strings.Contains(part.Notes[0], fmt.Sprintf("of %d documents that match", part.Matching)) {
		t.Errorf("keywords of 100 documents %+v, want a note on the others", part)
	}
	whole := decode[api.KeywordsAnswer](t, call(h, "/v1/keywords?q=cell&docs=100000", "").Body.String())
	if int64(whole.Docs) != part.Matching || whole.Notes != nil {
		t.Errorf("keywords of all documents %+v, want %d documents and no note", whole, part.Matching)
	}
	if all := call(h, "/v1/keywords?q=cell&docs=0", "").Body.String(); all != call(h, "/v1/keywords?q=cell&docs=100000", "").Body.String() {
		t.Errorf("keywords of all that match %.300s, want those of the best 100,000", all)
	}
	// A document that both queries find belongs to the first, also if all are compared.
	both := decode[api.KeywordsAnswer](t, call(h, "/v1/keywords?q=membrane&against=membrane+OR+cell&docs=0", "").Body.String())
	alone := decode[api.KeywordsAnswer](t, call(h, "/v1/keywords?q=membrane&against=cell+-membrane&docs=0", "").Body.String())
	if both.Docs < 100 || both.Total != alone.Total || both.ReferenceDocs != alone.ReferenceDocs || both.ReferenceTotal != alone.ReferenceTotal || both.Notes != nil {
		t.Errorf("keywords against a larger set %+v, want those of %+v", both, alone)
	}
	// The first keyword of one query against another is the first negative one the other way round.
	two := decode[api.KeywordsAnswer](t, call(h, "/v1/keywords?q=membrane&against=neurons&docs=50", "").Body.String())
	lacks := decode[api.KeywordsAnswer](t,
		call(h, "/v1/keywords?q=neurons&against=membrane&docs=50&negative=1", "").Body.String())
	if two.Docs != 50 || two.ReferenceDocs == 0 || two.ReferenceDocs > 50 || two.Keywords[0].Word != "membran" {
		t.Errorf("keywords of membrane against neurons %+v, want membran first, of up to 50 documents", two)
	}
	if len(lacks.Keywords) == 0 || lacks.Keywords[0].Word != "membran" || lacks.Keywords[0].LRC >= 0 {
		t.Errorf("negative keywords of neurons against membrane %+v, want membran first", lacks)
	}
	// Words that the documents lack altogether are negative keywords too.
	less := decode[api.KeywordsAnswer](t,
		call(h, "/v1/keywords?q=neurons&docs=3&negative=1&by=logratio&top=1000", "").Body.String())
	if all := h.first().current.Load().s.Index().Docs(); less.ReferenceDocs != all-3 ||
		!slices.ContainsFunc(less.Keywords, func(k words.Keyword) bool { return k.F1 == 0 && k.F2 > 0 }) {
		t.Errorf("negative keywords %+v, want one with F1 of 0, against %d documents", less, all-3)
	}
	plane := decode[vectors.Plane](t, call(h, "/v1/words/membrane/map?top=2", "").Body.String())
	if len(plane.Points) != 3 || plane.Points[0].Word != "membrane" || plane.Points[1].Word != "cell" {
		t.Errorf("map %+v, want 3 points, membrane and cell first", plane)
	}
	near := decode[api.NearWords](t, call(h, "/v1/words/membrane/similar?top=2", "").Body.String())
	if len(near.Similar) != 2 || near.Similar[0].Word != "cell" {
		t.Errorf("similar words %+v, want 2, cell first", near)
	}
	for path, code := range map[string]int{
		"/v1/concordance?q=": 400, "/v1/concordance?q=%22": 400, "/v1/concordance?q=cell&sort=X": 400,
		"/v1/words/zzzz/dispersion": 404, "/v1/words/zzzz/similar": 404, "/v1/words/cell/nothing": 404,
		"/v1/analogy?a=cell": 400, "/v1/analogy?a=cell&b=bank&c=the": 200, "/v1/keywords?q=cell&by=nonsense": 400,
		"/v1/words/cell/company?by=nonsense": 400, "/v1/words/zzzz/map": 404, "/v1/words/cell/map?top=201": 400,
		"/v1/keywords?q=zzzz": 404, "/v1/keywords?q=cell&against=zzzz": 404, "/v1/keywords?q=cell&against=cell": 404,
		"/v1/keywords?q=cell&against=%28": 400, "/v1/keywords?q=cell&docs=100001": 400,
		"/v1/version?x=1": 400, "/v1/status?x=1": 400,
	} {
		if w := call(h, path, ""); w.Code != code {
			t.Errorf("%s: status %d %s, want %d", path, w.Code, w.Body, code)
		}
	}
}

// The answers about places are those of packages coloc and points.
func TestPlaces(t *testing.T) {
	h := everywhere(t, Options{Limits: unheld})
	o := coloc.Options{Distance: 1, MinPrevalence: 0.5}
	want, err := coloc.Mine(t.Context(), h.o.Points, o)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second answer comes from the cache
		w := call(h, "/v1/places/patterns?distance=1&min_prevalence=0.5", "")
		got := decode[api.MineAnswer](t, w.Body.String())
		if got.Total != len(want.Patterns) || got.Report == nil ||
			!reflect.DeepEqual(got.Patterns, coloc.NewReport(h.o.Points, want).Patterns) {
			t.Errorf("patterns %s, want %d: %+v", w.Body, len(want.Patterns), coloc.NewReport(h.o.Points, want).Patterns)
		}
	}
	w := call(h, "/v1/places/instances?distance=1&feature=bank&feature=caf%C3%A9", "")
	instances := decode[instancesAnswer](t, w.Body.String())
	if len(instances.Instances) < 100 || instances.More || len(instances.X) != len(instances.Row) {
		t.Errorf("%d instances of %d points with %d rows, more %v; want at least 100, all, a row each",
			len(instances.Instances), len(instances.X), len(instances.Row), instances.More)
	}
	for _, i := range instances.Instances {
		a, b := i[0], i[1]
		if instances.Features[instances.Feature[a]] != "bank" ||
			math.Hypot(instances.X[a]-instances.X[b], instances.Y[a]-instances.Y[b]) > 1 {
			t.Fatalf("instance %v: want a bank and a café at a distance of at most 1", i)
		}
	}
	listed := decode[pointsAnswer](t, call(h, "/v1/places/points?feature=park&limit=100", "").Body.String())
	if listed.Total != 300 || len(listed.X) != 100 || len(listed.Feature) != 100 {
		t.Errorf("%d of %d points with %d features, want 100 of 300", len(listed.X), listed.Total,
			len(listed.Feature))
	}
	quotients := decode[api.PairsAnswer](t, call(h, "/v1/places/quotients?distance=1", "").Body.String()).Pairs
	if len(quotients) != 9 || quotients[1].Of != "bank" || quotients[1].Near != "café" || !(*quotients[1].Quotient > 1) {
		t.Errorf("quotients %+v, want 9, of which bank to café is the second and above 1", quotients)
	}
	local := decode[localAnswer](t,
		call(h, "/v1/places/local?distance=1&feature=bank&feature=caf%C3%A9&rounds=19", "").Body.String())
	survey, err := coloc.NewSurvey(h.o.Points, coloc.Options{Distance: 1, MinPrevalence: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, atPoints, err := survey.Quotients(t.Context(),
		coloc.QuotientOptions{Rounds: 19, Seed: 1, Local: true, From: []int32{0}, To: []int32{1}})
	if err != nil {
		t.Fatal(err)
	}
	if local.Total != len(atPoints) || len(local.X) != local.Total || len(local.P) != local.Total {
		t.Errorf("%d points and %d p-values of %d local quotients, want %d", len(local.X), len(local.P),
			local.Total, len(atPoints))
	}
	for i, q := range atPoints {
		if v := local.Value[i]; v == nil != math.IsNaN(q.Value) || v != nil && (*v != q.Value || *local.P[i] != q.P) ||
			local.X[i] != h.o.Points.X[q.Point] {
			t.Fatalf("local quotient %d is %v at %v, want %+v", i, v, local.X[i], q)
		}
	}
	some := decode[localAnswer](t,
		call(h, "/v1/places/local?distance=1&feature=bank&feature=caf%C3%A9&rounds=19&limit=100", "").Body.String())
	if some.Total != 300 || len(some.X) != 100 || some.X[1] != local.X[3] {
		t.Errorf("%d of %d local quotients, want every third of 300", len(some.X), some.Total)
	}
	summary := decode[points.Summary](t, call(h, "/v1/places/summary", "").Body.String())
	if summary.Points != 900 || len(summary.Features) != 3 || !(summary.Suggested > 0) {
		t.Errorf("summary %+v, want 900 points, 3 features and a suggested distance", summary)
	}
	curve := decode[api.CurveAnswer](t,
		call(h, "/v1/places/curve?of=bank&near=caf%C3%A9&max_distance=5&steps=10&rounds=19", "").Body.String()).Curves[0]
	wanted, err := points.Curves(t.Context(), h.o.Points, points.CurveOptions{
		Most: 5, Bins: 10, Rounds: 19, Seed: 1, Pairs: [][2]int32{{0, 1}}})
	if err != nil {
		t.Fatal(err)
	}
	if c, at := wanted[0], curve.Points; !curve.Attract || *curve.PValue != c.P || len(at) != 10 ||
		*at[3].L != c.L[3] || *at[3].LHigh != c.High[3] || *at[3].L < *at[3].LHigh {
		t.Errorf("curve %+v, want %+v", curve, c)
	}
	tested := decode[api.MineAnswer](t, call(h,
		"/v1/places/patterns?distance=1&min_prevalence=0.5&significance=19&engine=sequential", "").Body.String())
	mined, err := coloc.NewSurvey(h.o.Points, o)
	if err != nil {
		t.Fatal(err)
	}
	tests, err := mined.Significance(t.Context(), want.Best(200), coloc.SignificanceOptions{Rounds: 19, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if tested.Engine != "sequential" || len(tested.Patterns) != len(tests) ||
		*tested.Patterns[0].PValue != tests[0].P || *tested.Patterns[0].QValue != tests[0].Q {
		t.Errorf("tested patterns %+v, want %+v", tested, tests)
	}
	occurring := decode[api.CoOccurrenceAnswer](t,
		call(h, "/v1/places/co-occurrence?max_distance=5&steps=4", "").Body.String())
	occurrence, err := points.CoOccurrences(t.Context(), h.o.Points, points.CoOccurrenceOptions{Most: 5, Steps: 4})
	if err != nil {
		t.Fatal(err)
	}
	if len(occurring.Pairs) != 9 || *occurring.Pairs[1].Ratio[2] != occurrence.Ratio[0][1][2] {
		t.Errorf("co-occurrence %+v, want %+v", occurring, occurrence)
	}
	enriched := decode[api.EnrichmentAnswer](t,
		call(h, "/v1/places/enrichment?knn=4&rounds=9&engine=sequential", "").Body.String()).Pairs
	enrichment, err := points.Enrich(t.Context(), h.o.Points, points.EnrichmentOptions{KNN: 4, Rounds: 9, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(enriched) != 9 || enriched[1].Count != enrichment.Count[0][1] || *enriched[1].Z != enrichment.Z[0][1] {
		t.Errorf("enrichment %+v, want %+v", enriched, enrichment)
	}
	for path, says := range map[string]string{
		"/v1/places/patterns?distance=1&engine=gpu":             "not started with --engine gpu",
		"/v1/places/patterns?distance=1&engine=x":               "engine",
		"/v1/places/patterns?distance=1&adjust=x":               "want fdr or max",
		"/v1/places/co-occurrence":                              "max_distance",
		"/v1/places/enrichment?knn=2&distance=1":                "want either distance or knn",
		"/v1/places/curve?of=bank&near=zoo":                     `near "zoo": no such feature`,
		"/v1/places/local?distance=1&feature=bank":              "want two",
		"/v1/places/curve?of=bank&feature=zoo":                  "feature: not here",
		"/v1/places/curve?top=0":                                "top 0: want 1 to 500",
		"/v1/places/patterns?distance=1&regions=a.geojson":      "want columns and rows of a grid",
		"/v1/places/patterns?distance=1&within=1d":              "points have no times",
		"/v1/places/patterns?distance=1&hierarchy=a.csv":        "hierarchy: not here: a question names no files",
		"/v1/places/patterns?distance=1&limit=0":                "top 0: want 1 to 5000",
		"/v1/places/curve?of=bank&near=park&null=x":             "shift, relabel",
		"/v1/places/patterns":                                   "distance or knn",
		"/v1/places/patterns?distance=-1":                       "distance -1",
		"/v1/places/patterns?distance=NaN":                      "distance NaN: want 0 or more",
		"/v1/places/patterns?distance=1&min_prevalence=0":       "min_prevalence 0",
		"/v1/places/instances?distance=1&feature=bank":          "2 to 64",
		"/v1/places/instances?distance=1&feature=a&feature=b":   `no feature "a"`,
		"/v1/places/points?feature=nothing":                     "no feature",
		"/v1/places/quotients?distance=1&min_prevalence=0.5":    "unknown name",
		"/v1/places/patterns?distance=1&distance=2&knn=1&all=1": "given 2 times",
	} {
		w := call(h, path, "")
		if said := decode[problem](t, w.Body.String()); w.Code != 400 || !strings.Contains(said.Error, says) {
			t.Errorf("%s: status %d %q, want 400 %q", path, w.Code, said.Error, says)
		}
	}
}

// A job is started, followed to its end and fetched; another, which waits, is cancelled.
func TestJobs(t *testing.T) {
	h := everywhere(t, Options{})
	w := call(h, "/v1/jobs", `{"kind":"patterns","distances":[0.5,1,2],"min_prevalence":0.3}`)
	started := decode[jobAnswer](t, w.Body.String())
	if w.Code != 202 || w.Header().Get("Location") != "jobs/"+started.ID || started.Total != 3 {
		t.Fatalf("start: status %d %s at %q, want 202 and 3 steps", w.Code, w.Body, w.Header().Get("Location"))
	}
	events := call(h, "/v1/jobs/"+started.ID+"/events", "").Body.String() // until the job ends
	if !strings.Contains(events, "event: done\ndata: {") || !strings.Contains(events, `"done":3`) {
		t.Errorf("events %s, want done with 3 steps", events)
	}
	got := decode[jobAnswer](t, call(h, "/v1/jobs/"+started.ID, "").Body.String())
	if got.State != "done" || got.Done != 3 || len(got.Runs) != 3 || got.Runs[1].Distance != 1 {
		t.Errorf("job %+v, want it done with 3 runs", got)
	}
	only := decode[jobAnswer](t, call(h, "/v1/jobs",
		`{"kind":"patterns","distances":[5],"min_prevalence":0.1,"only":[["park","café"]]}`).Body.String())
	call(h, "/v1/jobs/"+only.ID+"/events", "")
	run := decode[jobAnswer](t, call(h, "/v1/jobs/"+only.ID, "").Body.String()).Runs[0]
	if run.Total != 1 || strings.Join(run.Patterns[0].Features, "+") != "café+park" {
		t.Errorf("run %+v, want only the pattern café+park", run)
	}
	tested := decode[jobAnswer](t, call(h, "/v1/jobs",
		`{"kind":"patterns","distances":[5],"min_prevalence":0.1,"significance":9,"null":"relabel"}`).Body.String())
	call(h, "/v1/jobs/"+tested.ID+"/events", "")
	inJob := decode[jobAnswer](t, call(h, "/v1/jobs/"+tested.ID, "").Body.String()).Runs[0].Patterns
	asked := decode[api.MineAnswer](t, call(h,
		"/v1/places/patterns?distance=5&min_prevalence=0.1&significance=9&null=relabel", "").Body.String()).Patterns
	if inJob[0].PValue == nil || !reflect.DeepEqual(inJob, asked) {
		t.Errorf("a job found %+v, and the same request %+v", inJob, asked)
	}
	hold := mustEnter(t, h.gate, modest, longLane) // the next job waits
	for range h.gate.lanes[longLane].slots - 1 {
		defer mustEnter(t, h.gate, modest, longLane)()
	}
	second := decode[jobAnswer](t, call(h, "/v1/jobs", `{"kind":"patterns","distances":[3]}`).Body.String())
	r := local(httptest.NewRequest("DELETE", "/v1/jobs/"+second.ID, nil))
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	if rec.Code != 202 {
		t.Errorf("cancel: status %d %s, want 202", rec.Code, rec.Body)
	}
	if events := call(h, "/v1/jobs/"+second.ID+"/events",
		"").Body.String(); !strings.Contains(events, "event: cancelled") {
		t.Errorf("events %s, want cancelled", events)
	}
	hold()
	list := decode[struct{ Jobs []jobAnswer }](t, call(h, "/v1/jobs", "").Body.String()).Jobs
	if len(list) != 4 || list[0].State != "done" || list[3].State != "cancelled" || list[0].Runs != nil {
		t.Errorf("jobs %+v, want 4 without runs, the first done and the last cancelled", list)
	}
}

// A job with a wrong parameter is refused with an error that names it.
func TestMistakesInJobs(t *testing.T) {
	h := everywhere(t, Options{Limits: unheld})
	for more, says := range map[string]string{
		`"limit":0`:            "top 0: want 1 to 5000",
		`"limit":5001`:         "top 5001: want 1 to 5000",
		`"min_prevalence":0`:   "min_prevalence 0: want more than 0",
		`"min_prevalence":1.1`: "min_prevalence 1.1: want more than 0",
		`"kind":"rules"`:       `kind "rules": want patterns`,
		`"distances":[]`:       "0 distances: want 1 to",
		`"distances":[1,0]`:    "distance 0: want more than 0",
		`"distances":[-1]`:     "distance -1: want more than 0",
		`"distances":[1` + strings.Repeat(",2", 64) + `]`: "65 distances: want 1 to 64",
		`"prevalence":0.1`:                     `unknown name "prevalence"`,
		`"distance":5`:                         "distance: want distances, a list",
		`"regions":"4x3"`:                      "regions: a job mines the whole map",
		`"instances":3`:                        "instances: a job lists patterns only",
		`"engine":"gpu"`:                       "engine gpu: the server was not started with",
		`"only":[["bank","nothing"]]`:          `only: no feature "nothing"`,
		`"only":[["bank","bank"]]`:             "want two or more different features",
		`"limit":5000,"distances":[1,2,3,4,5]`: "limit 5000 at 5 distances: want at most 20000 patterns in all",
		`"only":[` + strings.Repeat(`["a"],`, 100) + `["a"]]`: "only: 101 sets: want at most 100",
	} {
		body := `{"kind":"patterns","distances":[1],` + more + `}`
		switch {
		case strings.HasPrefix(more, `"kind"`):
			body = `{"distances":[1],` + more + `}`
		case strings.Contains(more, `"distances"`):
			body = `{"kind":"patterns",` + more + `}`
		}
		w := call(h, "/v1/jobs", body)
		if said := decode[problem](t, w.Body.String()); w.Code != 400 || !strings.Contains(said.Error, says) {
			t.Errorf("%s: status %d %q, want 400 %q", body, w.Code, said.Error, says)
		}
	}
	for _, limit := range []int{1, 5000} {
		body := fmt.Sprintf(`{"kind":"patterns","distances":[1],"limit":%d}`, limit)
		if w := call(h, "/v1/jobs", body); w.Code != 202 {
			t.Errorf("%s: status %d %s, want 202", body, w.Code, w.Body)
		}
	}
}

// A client may have maxClientJobs jobs, and closing the server cancels them.
func TestJobsAreBounded(t *testing.T) {
	h := everywhere(t, Options{})
	for range h.gate.lanes[longLane].slots {
		defer mustEnter(t, h.gate, modest, longLane)()
	}
	for i := range maxClientJobs + 1 {
		w := call(h, "/v1/jobs", `{"kind":"patterns","distances":[3]}`)
		want := 202
		if i == maxClientJobs {
			want = 429
		}
		if w.Code != want {
			t.Errorf("job %d: status %d %s, want %d", i+1, w.Code, w.Body, want)
		}
	}
	h.Close()
	jobs := decode[struct{ Jobs []jobAnswer }](t, call(h, "/v1/jobs", "").Body.String()).Jobs
	if len(jobs) != maxClientJobs {
		t.Errorf("%d jobs, want %d", len(jobs), maxClientJobs)
	}
	for _, j := range jobs {
		if j.State != "cancelled" {
			t.Errorf("job after Close: %+v, want it cancelled", j)
		}
	}
}

// A job outlasts the patience of the queue, which is meant for requests with an open connection.
func TestJobsWaitForTheirTurn(t *testing.T) {
	h := everywhere(t, Options{Limits: Limits{Wait: time.Millisecond}})
	var leave []func()
	for range h.gate.lanes[longLane].slots {
		leave = append(leave, mustEnter(t, h.gate, modest, longLane))
	}
	started := decode[jobAnswer](t, call(h, "/v1/jobs", `{"kind":"patterns","distances":[3]}`).Body.String())
	time.Sleep(100 * time.Millisecond)
	waiting := decode[jobAnswer](t, call(h, "/v1/jobs/"+started.ID, "").Body.String())
	if waiting.State != "waiting" {
		t.Errorf("a job that found the server busy: %+v, want it to wait", waiting)
	}
	for _, done := range leave {
		done()
	}
	if events := call(h, "/v1/jobs/"+started.ID+"/events", "").Body.String(); !strings.Contains(events, "event: done") {
		t.Errorf("events %s, want done", events)
	}
}

// The list keeps maxJobs jobs: the oldest that have ended are dropped, those that have not are
// kept. It refuses a client, or all of them, that have too many that have not ended.
func TestTheListOfJobsIsBounded(t *testing.T) {
	j := newJobs()
	add := func(id int, client byte, state string) error {
		b := &job{client: netip.AddrFrom4([4]byte{10, 0, 0, client}), changed: make(chan struct{})}
		b.answer = jobAnswer{ID: fmt.Sprint(id), State: state}
		return j.add(b)
	}
	if err := add(0, 1, "running"); err != nil {
		t.Fatal(err)
	}
	for id := 1; id <= 2*maxJobs; id++ {
		if err := add(id, 1, "done"); err != nil || len(j.list) > maxJobs {
			t.Fatalf("job %d: %v, %d in the list, want at most %d", id, err, len(j.list), maxJobs)
		}
	}
	if j.find("0") == nil || j.find("1") != nil || j.find(fmt.Sprint(2*maxJobs)) == nil {
		t.Error("want the running job and the last one, not the first that has ended")
	}
	for n := 1; n < maxUnfinished; n++ {
		if err := add(1000+n, byte(1+n/maxClientJobs), "waiting"); err != nil {
			t.Fatalf("%d jobs that have not ended: %v", n, err)
		}
	}
	if err := add(2000, 100, "waiting"); !errors.Is(err, errBusy) {
		t.Errorf("beyond %d jobs that have not ended: %v, want %v", maxUnfinished, err, errBusy)
	}
	j.list = nil
	j.stop()
	if err := add(3000, 1, "waiting"); !errors.Is(err, errBusy) {
		t.Errorf("when the server closes: %v, want %v", err, errBusy)
	}
}

// Without the token a client gets only health, readiness, the description and the page.
func TestToken(t *testing.T) {
	h := New(elife(t, false), Options{Token: "sesame", Limits: unheld})
	for _, c := range []struct {
		path, header string
		status       int
	}{
		{"/healthz", "", 200}, {"/readyz", "", 200}, {"/v1/ready", "", 200}, {"/v1/openapi.json", "", 200},
		{"/search?q=cell", "", 401}, {"/v1/search?q=cell", "", 401}, {"/metrics", "", 401},
		{"/v1/status", "Bearer sesam", 401},
		{"/search?q=cell", "sesame", 401}, {"/search?q=cell", "Bearer sesame ", 401},
		{"/search?q=cell", "Bearer ", 401},
		{"/search?q=cell", "Bearer sesame", 200}, {"/metrics", "Bearer sesame", 200},
		{"/plain?q=cell", "", 401}, {"/plain?q=cell", "Basic YTpi", 401}, {"/search?q=cell", "Basic bWU6c2VzYW1l", 401},
		{"/plain?q=cell", "Basic bWU6c2VzYW1l", 200}, {"/plain?q=cell", "Bearer sesame", 200}, // me:sesame
	} {
		r := local(httptest.NewRequest("GET", c.path, nil))
		r.Header.Set("Authorization", c.header)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.status || (w.Code == 401) != (w.Header().Get("WWW-Authenticate") != "") {
			t.Errorf("%s with Authorization %q: status %d, WWW-Authenticate %q; want %d", c.path, c.header,
				w.Code, w.Header().Get("WWW-Authenticate"), c.status)
		}
	}
}

// Only origins that the options name may send requests and read the answers.
func TestCrossOrigin(t *testing.T) {
	h := New(elife(t, false), Options{Origins: []string{"https://friend.example"}, Limits: unheld})
	for origin, want := range map[string]string{"https://friend.example": "https://friend.example",
		"https://foe.example": ""} {
		for _, method := range []string{"OPTIONS", "GET"} {
			r := local(httptest.NewRequest(method, "/v1/search?q=cell", nil))
			r.Header.Set("Origin", origin)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if got := w.Header().Get("Access-Control-Allow-Origin"); got != want || (want == "") != (w.Code == 403) {
				t.Errorf("%s from %s: status %d, allowed origin %q, want %q", method, origin, w.Code, got, want)
			}
		}
	}
}

// A search for a tree is labelled with what answered it. No search is labelled auto, which names a
// request.
func TestMetricsOfTrees(t *testing.T) {
	h := New(elife(t, false), Options{Limits: unheld})
	queries := []string{"+droplets cell -mouse", "(cell AND membrane) OR (mouse AND neurons)", "cell membrane"}
	for _, q := range queries {
		if w := call(h, "/v1/search?q="+url.QueryEscape(q), ""); w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", q, w.Code, w.Body)
		}
	}
	text := call(h, "/metrics", "").Body.String()
	for _, want := range []string{
		`collocate_searches_total{algorithm="tree",strategy="tree-conjunction"} 1`,
		`collocate_searches_total{algorithm="exhaustive",strategy="tree-lists"} 1`,
		`collocate_searches_total{algorithm="bmm",strategy="`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("after %q: no %s in\n%s", queries, want, text)
		}
	}
	if strings.Contains(text, `algorithm="auto"`) {
		t.Errorf("a search is labelled auto:\n%s", text)
	}
}

// Metrics count requests, searches and algorithms; the access log has a line per request with its
// ID.
func TestMetricsAndAccessLog(t *testing.T) {
	var log bytes.Buffer
	h := New(elife(t, false), Options{Access: slog.New(slog.NewJSONHandler(&log, nil)), Limits: unheld})
	call(h, "/search?q=cell", "")
	call(h, "/v1/search?q=", "")
	r := local(httptest.NewRequest("GET", "/healthz", nil))
	r.Header.Set("X-Request-Id", "from-proxy.1")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if id := w.Header().Get("X-Request-Id"); id != "from-proxy.1" {
		t.Errorf("request ID %q, want that of the request, from-proxy.1", id)
	}
	text := call(h, "/metrics", "").Body.String()
	for _, want := range []string{
		`collocate_requests_total{verb="search",index="index",status="200"} 1`,
		`collocate_requests_total{verb="search",index="index",status="400"} 1`,
		`collocate_request_seconds_bucket{verb="search",le="+Inf"} 2`,
		`collocate_search_seconds_count{engine="auto"} 1`,
		`collocate_searches_total{algorithm="bmm",strategy="`, `collocate_waiting{lane="short"} 0`, "collocate_ready 1",
		fmt.Sprintf("collocate_index_documents{index=\"index\"} %d\n", h.first().current.Load().s.Index().Docs()),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("metrics without %s:\n%s", want, text)
		}
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	var third struct {
		ID, Method, Path string
		Status           int
	}
	if err := json.Unmarshal([]byte(lines[2]), &third); err != nil || third.ID != "from-proxy.1" ||
		third.Path != "/healthz" || third.Status != 200 {
		t.Errorf("third line of the access log %s (%v), want from-proxy.1, /healthz, 200", lines[2], err)
	}
}

// While an index is replaced, no request is refused, no answer mixes two indexes, and the old index
// is closed when its last request has ended.
func TestReload(t *testing.T) {
	open := func(word string) *search.Searcher {
		dir := t.TempDir()
		corpus := filepath.Join(dir, "c.jsonl")
		var lines strings.Builder
		for i := range 50 {
			fmt.Fprintf(&lines, `{"id": "%s-%d", "text": "bears %[1]s"}`+"\n", word, i)
		}
		write(t, corpus, lines.String())
		analyzer, err := text.ParseAnalyzer("english")
		if err != nil {
			t.Fatal(err)
		}
		folder := filepath.Join(dir, "index")
		if err := index.Build(t.Context(), folder, &text.Corpus{Paths: []string{corpus}},
			index.BuildOptions{Analyzer: analyzer, StoreText: true}); err != nil {
			t.Fatal(err)
		}
		s, err := search.Open(folder)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	h := New(open("zero"), Options{Threads: 2, Limits: Limits{Wait: time.Minute}})
	done := make(chan bool)
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				w := call(h, "/search?q=bears&snippets=1&k=20", "")
				a := decode[api.Answer](t, w.Body.String())
				if w.Code != http.StatusOK || len(a.Hits) != 20 {
					t.Errorf("status %d %s, want 200 and 20 hits", w.Code, w.Body)
					return
				}
				for _, hit := range a.Hits {
					word, _, _ := strings.Cut(a.Hits[0].ID, "-")
					if !strings.HasPrefix(hit.ID, word+"-") || hit.Snippet.Text != "bears "+word {
						t.Errorf("an answer from two indexes: %+v", a)
						return
					}
				}
			}
		})
	}
	for i := range 20 / trials.Every(5) {
		old := h.first().current.Load()
		h.Reload(open(fmt.Sprint("number", i)))
		if n := h.first().current.Load().number; n != i+2 {
			t.Errorf("generation %d, want %d", n, i+2)
		}
		for start := time.Now(); old.users.Load() > 0; time.Sleep(time.Millisecond) {
			if time.Since(start) > 10*time.Second {
				t.Fatalf("the old index still has %d users after 10 s", old.users.Load())
			}
		}
	}
	close(done)
	clients.Wait()
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}
