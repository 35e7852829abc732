package serve

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/encoder"
)

// anEncoder returns an encoder whose vectors of 4 numbers depend on the text, and the number of
// requests that its server got.
func anEncoder(t *testing.T) (*encoder.Encoder, *int) {
	t.Helper()
	asked := new(int)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked++
		var q struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
			t.Error(err)
		}
		var list [][]float32
		for _, text := range q.Input {
			if strings.Contains(text, "broken") {
				http.Error(w, "the model is broken", http.StatusBadRequest)
				return
			}
			list = append(list, []float32{1, float32(strings.Count(text, "o")), 0.25, -float32(len(text))})
		}
		json.NewEncoder(w).Encode(list)
	}))
	t.Cleanup(s.Close)
	e, err := encoder.Open(s.URL, encoder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e, asked
}

// Queries are encoded by the server that gets them, one index or a root, and then answered like
// those that bring the vector.
func TestQueriesAreEncoded(t *testing.T) {
	c := newClusterOf(t, withVectors(t, "v:vector:4:optional"), 3, 1, RootOptions{})
	e, asked := anEncoder(t)
	for _, v := range []*Server{c.root, c.whole} {
		v.o.Encoder = e
		for _, pair := range [][2]string{
			{"q=moon+dust&encode=also", "q=moon+dust&vector=1,2,0.25,-9"},
			{"q=moon+dust&encode=only", "vector=1,2,0.25,-9"},
			{"q=moon+dust&encode=only&filter=place:here&count=1", "vector=1,2,0.25,-9&filter=place:here&count=1"},
		} {
			got, want := call(v, "/v1/search?"+pair[0], ""), call(v, "/v1/search?"+pair[1], "")
			if got.Code != 200 || hitsOnly(t, got) != hitsOnly(t, want) {
				t.Errorf("%s: %d %s, want %s", pair[0], got.Code, got.Body, want.Body)
			}
		}
		*asked = 0
		batch := post(v, "/search", `[{"q": "sun", "encode": "also"}, {"q": "star", "encode": "only"}, {"q": "ring"},
			{"q": "a", "encode": "also", "vector": [1, 2, 3, 4]}]`)
		if *asked > 1 || batch.Code != 200 || !strings.Contains(batch.Body.String(), "a vector is given") {
			t.Errorf("batch: %d requests, %d %s", *asked, batch.Code, batch.Body)
		}
		*asked = 0
		batch = post(v, "/search", `[{"q": "broken sun", "encode": "also"}, {"q": "broken star", "encode": "only"}, {"q": "ring"}]`)
		if n := strings.Count(batch.Body.String(), "the model is broken"); *asked != 1 || batch.Code != 200 || n < 2 {
			t.Errorf("broken batch: %d requests, %d %s", *asked, batch.Code, batch.Body)
		}
		w := call(v, "/v1/search?q=broken&encode=also", "")
		if p := decode[problem](t, w.Body.String()); w.Code != 503 || p.Code != "no_encoder" || !strings.Contains(p.Detail, "the model is broken") {
			t.Errorf("broken: %d %s", w.Code, w.Body)
		}
		v.o.Encoder = nil
		w = call(v, "/v1/search?q=moon&encode=also", "")
		if p := decode[problem](t, w.Body.String()); w.Code != 400 || p.Parameter != "encode" || !strings.Contains(p.Detail, "there is no encoder") {
			t.Errorf("without an encoder: %d %s", w.Code, w.Body)
		}
	}
}

// hitsOnly returns the documents and scores of an answer.
func hitsOnly(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	a := decode[struct {
		Hits []struct {
			ID    string
			Score float64
		}
		Total *int64
	}](t, w.Body.String())
	if len(a.Hits) == 0 {
		t.Errorf("no hits: %s", w.Body)
	}
	b, _ := json.Marshal(a)
	return string(b)
}

// Documents that are put in without a vector get one from the encoder, in passages each its own.
// If the encoder fails, the rest of the request is not added, and what came before it stays.
func TestDocumentsAreEncoded(t *testing.T) {
	e, asked := anEncoder(t)
	h := writable(t, Options{Encoder: e})
	for name, cut := range map[string]string{"whole": "", "cut": `"passages": {"words": 5, "field": "body"}, `} {
		must(t, h, "PUT", "/v1/indexes/"+name, `{`+cut+`"fields":[{"name":"body","type":"text"},{"name":"v","type":"vector","dim":4}]}`, 201)
		docs := "/v1/indexes/" + name + "/documents"
		must(t, h, "POST", docs+"?refresh=true", `{"id":"own","body":"a moon","v":[9,0,0,0]}
{"id":"made","body":"a moon moon and some more words about it"}`, 200)
		if *asked == 0 {
			t.Error("the encoder was not asked")
		}
		body := must(t, h, "POST", docs, `{"id":"third","body":"moon"}
{"id":"fourth","body":"broken"}
{"id":"fifth","body":"moon"}`, 503)
		if p := decode[problem](t, body); p.Code != "no_encoder" || !strings.Contains(p.Detail, `document "fourth"`) {
			t.Errorf("%s: %s", name, body)
		}
		must(t, h, "POST", "/v1/indexes/"+name+"/commit", "", 200)
		near := func(vector string) string {
			list := ids(decode[api.Answer](t, must(t, h, "GET", "/v1/indexes/"+name+"/search?k=1&vector="+vector, "", 200)))
			return list[0]
		}
		if got := near("1,0,0,0"); !strings.HasPrefix(got, "own") {
			t.Errorf("%s: nearest to its own vector is %s", name, got)
		}
		if got := near("1,2,0.25,-4"); !strings.HasPrefix(got, "third") {
			t.Errorf("%s: nearest to the vector of moon is %s", name, got)
		}
		if name == "cut" { // the second passage has other words than the first
			if got := near("1,4,0.25,-22"); got != "made#1" && got != "made#2" {
				t.Errorf("nearest to a passage: %s", got)
			}
		}
		if got := find(t, h, name, "moon"); slices.ContainsFunc(got, func(id string) bool { return strings.HasPrefix(id, "fif") }) {
			t.Errorf("%s: %q has a document after the one that failed", name, got)
		}
	}
	*asked = 0
	var many strings.Builder
	for i := range 70 {
		fmt.Fprintf(&many, `{"id":"many%d","body":"moon and %d"}`+"\n", i, i)
		if i%10 == 0 {
			many.WriteString("no object\n")
		}
	}
	body := must(t, h, "POST", "/v1/indexes/whole/documents?refresh=true", many.String(), 200)
	if a := decode[writeAnswer](t, body); *asked != 3 || a.Added != 70 || a.Failed != 7 || a.Errors[0].Line != 2 {
		t.Errorf("70 documents in %d requests: %s", *asked, body)
	}
	near := must(t, h, "GET", "/v1/indexes/whole/search?k=1&q=37&encode=also&word_weight=9", "", 200)
	if !slices.Equal(ids(decode[api.Answer](t, near)), []string{"many37"}) {
		t.Errorf("a document of a batch: %s", near)
	}
	*asked = 0
	for name, schema := range map[string]string{"plain": `{"fields":[{"name":"body","type":"text"}]}`, "bare": ""} {
		must(t, h, "PUT", "/v1/indexes/"+name, schema, 201)
		must(t, h, "POST", "/v1/indexes/"+name+"/documents?refresh=true",
			`{"id":"a","body":"broken moon","text":"broken moon"}`, 200)
	}
	if *asked > 0 {
		t.Error("the encoder was asked for an index without vectors")
	}
}
