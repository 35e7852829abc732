package search

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// boostIndex makes an index with fields, in some segments.
func boostIndex(t *testing.T, rng *rand.Rand, docs, parts int) *Searcher {
	t.Helper()
	schema, err := fields.ParseList(strings.Split("body:text,year:number,views:number,day:date,place:geo,tag:keyword", ","))
	if err != nil {
		t.Fatal(err)
	}
	a, _ := text.ParseAnalyzer("unicode")
	dir := t.TempDir()
	w, err := segments.NewWriter(dir, segments.Options{Analyzer: a, Schema: schema, Positions: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for d := range docs {
		var words []string
		for range 1 + rng.IntN(12) {
			words = append(words, string(rune('a'+min(rng.IntN(8), rng.IntN(8)))))
		}
		one := func(s string) fields.Values {
			if rng.IntN(5) == 0 {
				return nil
			}
			return fields.Values{[]byte(s)}
		}
		err := w.Add(text.Document{ID: fmt.Sprint(d), Fields: []fields.Values{
			{[]byte(strings.Join(words, " "))}, one(fmt.Sprint(1990 + rng.IntN(40))),
			one(fmt.Sprint(rng.IntN(1000))), one(fmt.Sprintf("2024-%02d-%02d", 1+rng.IntN(12), 1+rng.IntN(28))),
			one(fmt.Sprintf("%d.5,%d", rng.IntN(80)-40, rng.IntN(300)-150)), one("x"),
		}})
		if err != nil {
			t.Fatal(err)
		}
		if (d+1)%max(1, docs/parts) == 0 {
			if err := w.Commit(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	return open(t, dir)
}

// Boosted answers are those of the definition: every match with its score by the model, raised by
// the formulas, sorted. Whatever the query, the boosts, the page and the segments.
func TestBoostsAreTheirDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range trials.Of(15) {
		s := boostIndex(t, rng, 20+rng.IntN(400), 1+rng.IntN(4))
		for range 6 {
			checkBoosted(t, rng, s)
		}
	}
}

func checkBoosted(t *testing.T, rng *rand.Rand, s *Searcher) {
	t.Helper()
	known := []string{"decay(year, 2010, 3)", "2*saturation(views, 50)", "0.5*log(views, 1000)",
		"+3*decay(day, 2024-06-01, 30d)", "decay(place, 10.5, 20, 500km)", "+saturation(views, 5)"}
	var names []string
	for range 1 + rng.IntN(3) {
		names = append(names, known[rng.IntN(len(known))])
	}
	boosts, err := ParseBoosts(strings.Join(names, ", "))
	if err != nil {
		t.Fatal(err)
	}
	own := rng.IntN(3) == 0
	if own {
		boosts = append(boosts, Boost{Name: "mine", Fields: []string{"views", "year"}, Most: float64(rng.IntN(2) * 4),
			Value: func(v []float64) float64 { return math.Mod(v[0]+v[1], 5) }})
	}
	r := Request{Text: []string{"a", "a b", "b c d", "g h"}[rng.IntN(4)], K: 1 + rng.IntN(12), From: rng.IntN(3) * rng.IntN(9)}
	if rng.IntN(3) == 0 {
		if r.Query, err = query.Parse(`a -b tag:x`, query.Options{Fields: s.Fields()}); err != nil {
			t.Fatal(err)
		}
	}
	whole := r
	whole.K, whole.From = MaxK, 0
	found, err := s.Search(t.Context(), whole)
	if err != nil {
		t.Fatal(err)
	}
	want := found.Hits
	for i := range want {
		stored, err := s.Stored(want[i].Doc)
		if err != nil {
			t.Fatal(err)
		}
		score := float64(want[i].Score)
		for j := range boosts {
			score = plainBoost(score, &boosts[j], stored)
		}
		want[i].Score = float32(score)
	}
	slices.SortFunc(want, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc))
	})
	r.Boosts, r.Count = boosts, true
	got, err := s.Search(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	page := want[min(r.From, len(want)):]
	page = page[:min(r.K, len(page))]
	if !slices.Equal(got.Hits, page) || got.Total != int64(len(want)) {
		t.Fatalf("%q boosted by %v: %v of %d, want %v of %d", r.Text, names, got.Hits, got.Total, page, len(want))
	}
	if len(page) > 1 { // go on after a hit
		r.From, r.After = 0, &After{Score: page[0].Score, Doc: int64(page[0].Doc)}
		rest, err := s.Search(t.Context(), r)
		if err != nil || !slices.Equal(rest.Hits[:len(page)-1], page[1:]) {
			t.Fatalf("%q boosted by %v: after the first: %v, want %v (%v)", r.Text, names, rest.Hits, page[1:], err)
		}
		r.After = nil
	}
	for _, h := range page[:min(1, len(page))] {
		e, err := s.Explain(t.Context(), r, h.Doc)
		if err != nil || e.Score != h.Score || len(e.Boosts) != len(boosts) {
			t.Fatalf("%q boosted by %v: explained as %+v, want %v (%v)", r.Text, names, e, h, err)
		}
	}
}

// plainBoost is the definition of a boost, from stored values.
func plainBoost(score float64, b *Boost, stored []fields.Values) float64 {
	number := func(i int) float64 {
		if len(stored[i]) == 0 {
			return math.NaN()
		}
		v, _ := fields.ParseNumber(stored[i][0])
		return v
	}
	v := math.NaN()
	name := strings.TrimLeft(b.Name, "+0123456789.*")
	switch {
	case b.Name == "mine":
		v = math.Mod(number(2)+number(1), 5)
		if b.Most > 0 {
			v = min(v, b.Most)
		}
	case strings.HasPrefix(name, "decay(year"):
		v = 3 / (3 + math.Abs(number(1)-2010))
	case name == "saturation(views, 50)":
		v = number(2) / (number(2) + 50)
	case name == "saturation(views, 5)":
		v = number(2) / (number(2) + 5)
	case strings.HasPrefix(name, "log"):
		v = min(1, bm25.Log(1+number(2))/bm25.Log(1001))
	case strings.HasPrefix(name, "decay(day") && len(stored[3]) > 0:
		ms, _ := fields.ParseDate(stored[3][0])
		from, _ := fields.ParseDate([]byte("2024-06-01"))
		const month = 30 * 24 * 3600e3
		v = month / (month + math.Abs(float64(ms-from)))
	case strings.HasPrefix(name, "decay(place") && len(stored[4]) > 0:
		p, _ := fields.ParsePoint(stored[4][0])
		lat, lon := p.Degrees()
		const degree = math.Pi / 180
		high, wide := math.Sin((lat-10.5)*degree/2), math.Sin((lon-20)*degree/2)
		square := high*high + math.Cos(10.5*degree)*math.Cos(lat*degree)*wide*wide
		v = 500e3 / (500e3 + math.Round(2*6371008.8*math.Asin(math.Sqrt(square))))
	}
	if !(v > 0) {
		v = 0
	}
	if b.Add {
		return score + b.Weight*v
	}
	return score * (1 + cmp.Or(b.Weight, 1)*v)
}

// Wrong boosts are errors that say what to write.
func TestWrongBoosts(t *testing.T) {
	s := boostIndex(t, rand.New(rand.NewPCG(1, 1)), 10, 1)
	for text, want := range map[string]string{
		"":                                "want decay(FIELD, ORIGIN, SCALE)",
		"year":                            "want decay(FIELD, ORIGIN, SCALE)",
		"decay(year, 2010":                "want decay(FIELD, ORIGIN, SCALE)",
		"gauss(year, 2010, 5)":            "want decay(FIELD, ORIGIN, SCALE)",
		"decay(year, 2010)":               "want decay(FIELD, ORIGIN, SCALE)",
		"decay(year, 2010, 0)":            "want a number above 0",
		"decay(year, x, 5)":               `"x"`,
		"-1*decay(year, 2010, 5)":         "want a number above 0",
		"decay(month, 5, 1)":              `unknown field "month"`,
		"decay(tag, 5, 1)":                "tag is a keyword field",
		"decay(day, 2024-01-01, 5)":       "such as 30d",
		"decay(place, 1, 2, 5)":           "such as 10km",
		"decay(place, 1, 2km)":            "want decay(FIELD, LATITUDE, LONGITUDE, SCALE)",
		"log(day, 5)":                     "want a number field",
		"decay(place, 100, 2, 5km)":       "100",
		"saturation(views, 5), log(other": "want decay(FIELD, ORIGIN, SCALE)",
	} {
		boosts, err := ParseBoosts(text)
		if err == nil {
			_, err = s.Search(t.Context(), Request{Text: "a", Boosts: boosts})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", text, err, want)
		}
	}
}
