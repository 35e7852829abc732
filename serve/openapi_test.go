package serve

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/internal/sample"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/points"
	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/vectors"
)

// everywhere returns a server with an index, a matrix, vectors and points.
func everywhere(t testing.TB, o Options) *Server {
	t.Helper()
	dir := t.TempDir()
	corpus, err := sample.Elife(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := elife(t, true)
	matrix := filepath.Join(dir, "words.cooc")
	opt := cooccur.Options{Window: 5}
	var out *cooccur.File
	begin := func(v *cooccur.Vocabulary) (cooccur.Sink, error) {
		var err error
		out, err = cooccur.Create(matrix, cooccur.CSR, v, opt)
		return out, err
	}
	unicode, err := text.ParseAnalyzer("unicode")
	if err != nil {
		t.Fatal(err)
	}
	from := &text.Corpus{Paths: []string{corpus}}
	if _, _, err := cooccur.Make(t.Context(), from,
		cooccur.VocabularyOptions{Analyzer: unicode, MinCount: 5}, opt, begin); err != nil {
		t.Fatal(err)
	}
	if err := out.Commit(); err != nil {
		t.Fatal(err)
	}
	if o.Matrix, err = cooccur.Open(matrix); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Matrix.Close() })
	o.Vectors, err = vectors.New([]string{"membrane", "the", "cell", "bank"}, 2, []float32{1, 0.5, -1, 0, 1, 0.4, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	var b points.Builder
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		x, y := 100*r.Float64(), 100*r.Float64()
		b.Add(x, y, "café")
		b.Add(x+r.Float64(), y, "bank")
		b.Add(100*r.Float64(), 100*r.Float64(), "park")
	}
	o.Points = b.Set()
	o.Writable, o.Deletable, o.Dir, o.CommitEvery = true, true, t.TempDir(), 5*time.Millisecond
	v := New(s, o)
	t.Cleanup(func() { v.Close() })
	must(t, v, "PUT", "/v1/indexes/living", `{"store_text":true}`, 201)
	return v
}

func readSpec(t testing.TB) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(new(Server).describeAPI())
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return doc
}

// The OpenAPI description has every route of the server under /v1, and no others.
func TestSpecListsAllRoutes(t *testing.T) {
	var described, served []string
	for path, item := range readSpec(t).Paths.Map() {
		for method := range item.Operations() {
			described = append(described, method+" "+path)
		}
	}
	for _, r := range new(Server).makeRoutes() {
		if strings.HasPrefix(r.path, "/v1/") {
			served = append(served, r.method+" "+r.path)
		}
	}
	slices.Sort(described)
	slices.Sort(served)
	if described = slices.Compact(described); !slices.Equal(described, served) {
		t.Errorf("routes in the description %q\nroutes of the server %q", described, served)
	}
}

// operation is an operation of the description.
type operation struct {
	path, method string
	*openapi3.Operation
}

func operations(doc *openapi3.T) (list []operation) {
	for _, path := range doc.Paths.InMatchingOrder() {
		for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
			if o := doc.Paths.Find(path).GetOperation(method); o != nil {
				o.Parameters = append(o.Parameters, doc.Paths.Find(path).Parameters...)
				list = append(list, operation{path, method, o})
			}
		}
	}
	return list
}

// draw makes random requests that follow a description.
type draw struct{ *rand.Rand }

var drawnWords = []string{"cell", "membrane", "the", "café", "bank", "park", "nosuchword", "a/b",
	"%", " ", "é", "or", "", "-1", "{}"}

func (d draw) word() string { return drawnWords[d.IntN(len(drawnWords))] }

// value returns a value that the schema allows, or sometimes another.
func (d draw) value(s *openapi3.Schema) any {
	if d.IntN(12) == 0 {
		return []any{d.word(), -1, 1e300, true, nil, []any{}, map[string]any{"q": 1}}[d.IntN(7)]
	}
	switch {
	case len(s.Enum) > 0:
		return s.Enum[d.IntN(len(s.Enum))]
	case s.Type.Is("boolean"):
		return d.IntN(2) == 0
	case s.Type.Is("integer"):
		return d.IntN(30)
	case s.Type.Is("number"):
		return float64(d.IntN(40)) / 20
	case s.Type.Is("array"):
		list := []any{}
		for range d.IntN(4) {
			list = append(list, d.value(s.Items.Value))
		}
		return list
	case s.Type.Is("object"):
		o := map[string]any{}
		for name, p := range s.Properties {
			if slices.Contains(s.Required, name) || d.IntN(3) == 0 {
				o[name] = d.value(p.Value)
			}
		}
		return o
	}
	return d.word()
}

// request returns a random request for an operation; ok reports whether the description allows it.
func (d draw) request(doc *openapi3.T, o operation) (r *http.Request, ok bool) {
	ok = true
	path, query := o.path, url.Values{}
	for _, p := range o.Parameters {
		p, schema := p.Value, p.Value.Schema.Value
		if !p.Required && d.IntN(3) > 0 || p.Required && p.In == "query" && d.IntN(20) == 0 {
			ok = ok && !p.Required
			continue
		}
		v := d.value(schema)
		if schema.Example != nil && d.IntN(4) > 0 {
			v = schema.Example
		}
		if p.Name == "feature" && d.IntN(2) == 0 {
			v = []any{"café", "park"}
		}
		if list, isList := v.([]any); isList && len(list) == 0 && p.In == "query" {
			ok = ok && !p.Required // the parameter is absent
			continue
		}
		if schema.Type.Is("string") { // in a URL every value is a string
			ok = ok && (len(schema.Enum) == 0 || schema.VisitJSON(fmt.Sprint(v)) == nil)
		} else {
			ok = ok && schema.VisitJSON(plain(v)) == nil
		}
		if p.In == "path" {
			name := fmt.Sprint(v)
			if name == "" {
				name = "x"
			}
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(name))
			continue
		}
		if list, isList := v.([]any); isList {
			for _, v := range list {
				query.Add(p.Name, fmt.Sprint(v))
			}
		} else {
			query.Set(p.Name, fmt.Sprint(v))
		}
	}
	if d.IntN(20) == 0 {
		query.Set("nonsense", "1")
		ok = ok && o.Parameters == nil // paths without parameters ignore the query
	}
	var body io.Reader
	if o.RequestBody != nil {
		schema := doc.Components.Schemas["Query"].Value
		lines := d.IntN(4)
		if m := o.RequestBody.Value.Content["application/json"]; m != nil {
			schema, lines = m.Schema.Value, 1
		}
		var text strings.Builder
		for range lines {
			v := plain(d.value(schema))
			ok = ok && schema.VisitJSON(v) == nil
			json.NewEncoder(&text).Encode(v)
		}
		body = strings.NewReader(text.String())
	}
	r = httptest.NewRequest(o.method, path+"?"+query.Encode(), body)
	return local(r), ok
}

// plain returns a value as it is after writing and reading JSON.
func plain(v any) (out any) {
	text, _ := json.Marshal(v)
	json.Unmarshal(text, &out)
	return out
}

// fits returns an error if the description does not have such an answer.
func fits(doc *openapi3.T, o operation, w *httptest.ResponseRecorder) error {
	promised := o.Responses.Status(w.Code)
	if promised == nil {
		return fmt.Errorf("status %d is not described", w.Code)
	}
	kind := w.Header().Get("Content-Type")
	if w.Code == http.StatusNoContent && len(promised.Value.Content) == 0 {
		return nil
	}
	media := promised.Value.Content[kind]
	if media == nil {
		return fmt.Errorf("content type %q is not described", kind)
	}
	check := func(s *openapi3.Schema, text string) error {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			return err
		}
		return s.VisitJSON(v)
	}
	switch kind {
	case "application/json", "application/problem+json":
		return check(media.Schema.Value, w.Body.String())
	case "application/x-ndjson":
		for line := range strings.Lines(w.Body.String()) {
			schema := doc.Components.Schemas["Answer"].Value
			if strings.HasPrefix(line, `{"type":`) {
				schema = doc.Components.Schemas["Error"].Value
			}
			if err := check(schema, line); err != nil {
				return err
			}
		}
	case "text/event-stream":
		for line := range strings.Lines(w.Body.String()) {
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				if err := check(doc.Components.Schemas["Job"].Value, data); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Answers to random requests are those that the description has, and requests that it does not
// allow are refused.
func TestAnswersFitTheSpec(t *testing.T) {
	doc := readSpec(t)
	h := everywhere(t, Options{Threads: 2, MaxK: 50, Limits: Limits{Hold: -1, Words: 20, Queries: 3}})
	seen := map[string]bool{}
	ops := operations(doc)
	// Names that random paths would not hit.
	job := decode[jobAnswer](t, post(h, "/v1/jobs", `{"kind":"patterns","distances":[1,2]}`).Body.String())
	hit := decode[api.Answer](t, call(h, "/v1/search?q=cell&k=1", "").Body.String()).Hits[0].ID
	for _, o := range ops {
		// A seed per operation, so that adding one does not change the requests to the others.
		seed := crc32.ChecksumIEEE([]byte(o.OperationID))
		d := draw{rand.New(rand.NewPCG(2, uint64(seed)))}
		tries := 60
		if o.method != "GET" && o.RequestBody == nil {
			tries = 12 // many of them write to disk
		}
		for i := range trials.Of(tries) {
			r, ok := d.request(doc, o)
			if i%3 == 0 {
				path, index := o.path, []string{"index", "living"}[i/3%2]
				if o.OperationID == "dropIndex" {
					index = "doomed"
					send(h, "PUT", "/v1/indexes/doomed", "")
				}
				if strings.HasPrefix(o.OperationID, "deleteDocument") {
					send(h, "POST", "/v1/indexes/living/documents", `{"id":"`+hit+`","text":"cell"}`)
				}
				for _, name := range []struct{ in, real string }{{"/jobs/{id}", job.ID},
					{"/documents/{id}", hit}, {"/words/{word}", "membrane"}, {"/indexes/{index}", index}} {
					folder, _, _ := strings.Cut(name.in, "{")
					path = strings.Replace(path, name.in, folder+url.PathEscape(name.real), 1)
				}
				if !strings.Contains(path, "{") {
					r.URL.RawPath = path
					r.URL.Path, _ = url.PathUnescape(path)
				}
			}
			if i%3 == 0 && strings.HasPrefix(o.OperationID, "deleteMatching") {
				r.URL.RawQuery, ok = "q=bank", true
			}
			if i == 0 && strings.HasPrefix(o.OperationID, "search") && o.method == "GET" {
				r.URL.RawQuery, ok = "q=cell&k=3&snippets=1&explain=1&count=1&stats=1", true
			}
			if i == 0 && strings.HasPrefix(o.OperationID, "patterns") {
				r.URL.RawQuery, ok = "distance=1&min_prevalence=0.5", true
			}
			if i == 0 && o.OperationID == "curve" {
				r.URL.RawQuery, ok = "max_distance=2&steps=3&rounds=9", true
			}
			if i == 0 && strings.HasPrefix(o.OperationID, "startJob") {
				body := `{"kind":"wordlist"}`
				r.URL.RawQuery, ok = "", true
				r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
				r.Header.Set("Content-Type", "application/json")
			}
			if i == 0 && o.OperationID == "analogy" {
				r.URL.RawQuery, ok = "a=the&b=cell&c=bank", true
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if err := fits(doc, o, w); err != nil {
				t.Errorf("%s %s: %v: %.300s", r.Method, r.URL, err, w.Body)
			}
			told := r.URL.Query().Get("job") != "" || // a job reads its body later
				strings.Contains(w.Body.String(), `{"type":"/docs#`) // of a query in a batch
			if !ok && w.Code < 300 && !told {
				t.Errorf("%s %s: status %d, want an error, since the description does not allow it", r.Method,
					r.URL, w.Code)
			}
			seen[strings.TrimSuffix(o.OperationID, "In")+" "+fmt.Sprint(w.Code/100)] = true
		}
	}
	for _, o := range ops {
		if !seen[strings.TrimSuffix(o.OperationID, "In")+" 2"] && !testing.Short() {
			t.Errorf("no request to %s succeeded, want at least one", o.OperationID)
		}
	}
}

func post(h http.Handler, path, body string) *httptest.ResponseRecorder { return call(h, path, body) }

// FuzzAPI sends random requests to any path; the answer must be one that the description has.
func FuzzAPI(f *testing.F) {
	doc := readSpec(f)
	h := everywhere(f, Options{Threads: 1, MaxK: 50,
		Limits: Limits{Hold: -1, Words: 20, Queries: 3, Time: 5 * time.Second}})
	ops := operations(doc)
	for i := range ops {
		f.Add(uint64(i), uint64(1))
	}
	f.Fuzz(func(t *testing.T, which, seed uint64) {
		o := ops[which%uint64(len(ops))]
		r, _ := draw{rand.New(rand.NewPCG(which, seed))}.request(doc, o)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if err := fits(doc, o, w); err != nil {
			t.Errorf("%s %s: %v: %.300s", r.Method, r.URL, err, w.Body)
		}
	})
}
