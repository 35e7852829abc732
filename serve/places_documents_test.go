package serve

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/points"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// mapped returns a server of an index of documents with positions, kinds and times, some of which
// lack one of them, were replaced or were deleted, and the points that they are: all, and those of
// 2020.
func mapped(t *testing.T, o Options) (h http.Handler, all, of2020 *points.Set) {
	t.Helper()
	schema, err := fields.ParseList([]string{"name:text", "kind:keyword", "year:number", "seen:date", "at:geo", "x:number", "y:number"})
	if err != nil {
		t.Fatal(err)
	}
	a, err := text.ParseAnalyzer("unicode")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "ix")
	w, err := segments.NewWriter(dir, segments.Options{Analyzer: a, Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	type doc struct {
		kinds    []string
		year     int
		lat, lon float64
		none     bool
	}
	rng := rand.New(rand.NewPCG(53, 1))
	docs := map[int]doc{}
	var order []int // of the last versions
	for round := range 3 {
		for range 150 {
			id := rng.IntN(300)
			d := doc{year: 2019 + rng.IntN(3), lat: 50 + float64(rng.IntN(200))/1e4, lon: 8 + float64(rng.IntN(200))/1e4,
				none: rng.IntN(6) == 0}
			values := []fields.Values{{[]byte("x")}, nil, {[]byte(fmt.Sprint(d.year))}, {[]byte(fmt.Sprintf("%d-05-01", d.year))}, nil, nil, nil}
			for _, kind := range []string{"bank", "cafe", fmt.Sprint("kind", round), "pub"} {
				if rng.IntN(3) == 0 {
					d.kinds = append(d.kinds, kind)
					values[1] = append(values[1], []byte(kind))
				}
			}
			if !d.none {
				values[4] = fields.Values{[]byte(fmt.Sprintf("%v,%v", d.lat, d.lon))}
				values[5], values[6] = fields.Values{[]byte(fmt.Sprint(d.lon))}, fields.Values{[]byte(fmt.Sprint(d.lat))}
			}
			if err := w.Add(text.Document{ID: fmt.Sprint(id), Fields: values}); err != nil {
				t.Fatal(err)
			}
			if _, old := docs[id]; old {
				for i, other := range order {
					if other == id {
						order = append(order[:i], order[i+1:]...)
						break
					}
				}
			}
			docs[id], order = d, append(order, id)
		}
		gone := order[len(order)/2]
		if _, err := w.Delete(fmt.Sprint(gone)); err != nil {
			t.Fatal(err)
		}
		order = append(order[:len(order)/2], order[len(order)/2+1:]...)
		delete(docs, gone)
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	s, err := search.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	sets := [2]*points.Set{}
	for i := range sets {
		var b points.Builder
		for _, id := range order {
			d := docs[id]
			if d.none || i == 1 && d.year != 2020 {
				continue
			}
			for _, kind := range d.kinds {
				b.Add(d.lon, d.lat, kind)
			}
		}
		sets[i] = b.Set()
		sets[i].CRS = points.WGS84
	}
	o.Name = "docs"
	return New(s, o), sets[0], sets[1]
}

// Documents of an index are asked about as the same points in a file are, whatever was replaced or
// deleted, with and without a filter, also in a job.
func TestPlacesOfDocuments(t *testing.T) {
	h, all, some := mapped(t, Options{})
	for filter, set := range map[string]*points.Set{"": all, "year:2020": some} {
		plain := New(nil, Options{Points: set})
		for _, path := range []string{"/points?limit=1000", "/points?feature=cafe", "/area", "/summary",
			"/patterns?distance=150&min_prevalence=0.1", "/patterns?distance=150&significance=9&null=shift",
			"/instances?distance=150&feature=cafe&feature=bank", "/quotients?distance=150",
			"/local?distance=150&feature=cafe&feature=bank&rounds=9", "/curve?of=cafe&near=bank&max_distance=300&rounds=9",
			"/co-occurrence?max_distance=300&steps=3", "/enrichment?distance=150&rounds=9"} {
			sign := "?"
			if strings.Contains(path, "?") {
				sign = "&"
			}
			got := call(h, "/v1/indexes/docs/places"+path+sign+"feature_field=kind&filter="+filter, "")
			want := call(plain, "/v1/places"+path, "")
			if got.Code != http.StatusOK || withoutTime(t, got.Body.String()) != withoutTime(t, want.Body.String()) {
				t.Errorf("%s of documents with %q: %d %.400s\nwant %.400s", path, filter, got.Code, got.Body, want.Body)
			}
		}
		// Two number fields are plane coordinates, without a unit.
		plane := *set
		plane.CRS = nil
		for _, path := range []string{"/points?limit=1000", "/patterns?distance=0.002&min_prevalence=0.1", "/area?clip=false"} {
			got := call(h, "/v1/indexes/docs/places"+path+"&position_field=x,y&feature_field=kind&filter="+filter, "")
			want := call(New(nil, Options{Points: &plane}), "/v1/places"+path, "")
			if got.Code != http.StatusOK || withoutTime(t, got.Body.String()) != withoutTime(t, want.Body.String()) {
				t.Errorf("%s of plane documents with %q: %d %.400s\nwant %.400s", path, filter, got.Code, got.Body, want.Body)
			}
		}
		curve := decode[jobAnswer](t, call(h, "/v1/indexes/docs/jobs",
			`{"kind":"quotients","distance":150,"feature_field":"kind","filter":"`+filter+`"}`).Body.String())
		call(h, "/v1/jobs/"+curve.ID+"/events", "") // until it ends
		answer := decode[struct{ Answer json.RawMessage }](t, call(h, "/v1/jobs/"+curve.ID, "").Body.String()).Answer
		if want := call(plain, "/v1/places/quotients?distance=150", "").Body.String(); string(answer)+"\n" != want {
			t.Errorf("quotients as a job of documents with %q: %.400s\nwant %.400s", filter, answer, want)
		}
		job := func(h http.Handler, path, more string) string {
			w := call(h, path, `{"kind":"patterns","distances":[100,150],"significance":9`+more+`}`)
			started := decode[jobAnswer](t, w.Body.String())
			if w.Code != http.StatusAccepted {
				t.Fatalf("%s: %d %s", path, w.Code, w.Body)
			}
			call(h, "/v1/jobs/"+started.ID+"/events", "") // until it ends
			return withoutTime(t, string(decode[struct{ Runs json.RawMessage }](t, call(h, "/v1/jobs/"+started.ID, "").Body.String()).Runs))
		}
		got := job(h, "/v1/indexes/docs/jobs", `,"feature_field":"kind","filter":"`+filter+`"`)
		if want := job(plain, "/v1/jobs", ""); got != want || len(got) < 100 {
			t.Errorf("a job of documents with %q: %.400s\nwant %.400s", filter, got, want)
		}
	}
	times := call(h, "/v1/indexes/docs/places/points?time_field=seen&limit=1", "").Body.String()
	if !strings.Contains(times, `"time":[`) {
		t.Errorf("points without times: %s", times)
	}
	for path, want := range map[string]string{
		"/v1/places/points?feature_field=kind":                              "below /v1/indexes/NAME",
		"/v1/indexes/docs/places?feature_field=name":                        "is no field of type keyword: want kind",
		"/v1/indexes/docs/places?position_field=kind":                       "is no field of type geo: want at",
		"/v1/indexes/docs/places?position_field=x,kind":                     "is no field of type number: want year or x or y",
		"/v1/indexes/docs/places?position_field=x,":                         "is no field of type number",
		"/v1/indexes/docs/places?time_field=year":                           "is no field of type date: want seen",
		"/v1/indexes/docs/places?filter=year:1900":                          "no document that matches",
		"/v1/indexes/docs/places?filter=year:(":                             "filter",
		"/v1/indexes/docs/places/patterns?distance=-1":                      "distance",
		"/v1/indexes/docs/places/local?distance=1&feature=cafe&feature=zoo": "no feature",
	} {
		if w := call(h, path, ""); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s, want 400 with %q", path, w.Code, w.Body, want)
		}
	}
	var wide points.Builder
	for i := range 8 {
		wide.Add(float64(20*i), 50, []string{"a", "b"}[i%2])
	}
	world := wide.Set()
	world.CRS = points.WGS84
	for _, path := range []string{"area", "curve?of=a&near=b", "patterns?distance=5000&significance=9"} {
		w := call(New(nil, Options{Points: world}), "/v1/places/"+path, "")
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "km apart, too far for a plane") {
			t.Errorf("%s of the world: %d %s, want 400", path, w.Code, w.Body)
		}
	}
	if w := call(h, "/v1/indexes/other/places", ""); w.Code != http.StatusNotFound {
		t.Errorf("another index: %d", w.Code)
	}
	if w := call(h, "/v1/jobs", `{"kind":"patterns","distances":[9],"feature_field":"kind"}`); w.Code != http.StatusBadRequest {
		t.Errorf("a job of documents of no index that is named: %d %s", w.Code, w.Body)
	}
}

// withoutTime returns an answer without how long it took.
func withoutTime(t *testing.T, answer string) string {
	t.Helper()
	return micros.ReplaceAllString(answer, "")
}

var micros = regexp.MustCompile(`,"micros":\d+`)
