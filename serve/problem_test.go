package serve

import (
	"fmt"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
)

// Errors are problems with a code, and name the parameter that is at fault.
func TestErrorsAreProblems(t *testing.T) {
	h := everywhere(t, Options{Threads: 1, MaxK: 50, Limits: Limits{Hold: -1, Words: 3},
		Hosts: []string{"*"}})
	h.SetTokens([]Token{{Secret: "reader"}})
	bare := New(nil, Options{Limits: Limits{Hold: -1}})
	for _, c := range []struct {
		of              *Server
		call            string
		status          int
		code, parameter string
	}{
		{h, "GET /v1/search?q=a&kk=1", 400, "unknown_parameter", "kk"},
		{h, "GET /v1/version?kk=1", 400, "unknown_parameter", "kk"},
		{h, "GET /v1/search?q=a&k=-1", 400, "bad_parameter", "k"},
		{h, "GET /v1/search?q=a&k=51", 400, "bad_parameter", "k"},
		{h, "GET /v1/search?q=a+b+c+d", 400, "bad_parameter", "q"},
		{h, "GET /v1/search?q=a+AND", 400, "bad_parameter", "q"},
		{h, "GET /v1/search?q=a&engine=gpu", 400, "bad_parameter", "engine"},
		{h, "GET /v1/search?q=a&sort=nosuchfield", 400, "bad_parameter", "sort"},
		{h, "GET /v1/search?q=a&facet=nosuchfield", 400, "bad_parameter", "facet"},
		{h, "GET /v1/search?q=a&field_weights=nosuchfield%3D2", 400, "bad_parameter", "field_weights"},
		{h, "GET /v1/words?limit=-1", 400, "bad_parameter", "limit"},
		{h, "GET /v1/search?q=%zz", 400, "bad_request", ""},
		{h, "DELETE /v1/documents/17", 403, "read_only_token", ""},
		{h, "GET /v1/documents/nosuch", 404, "no_document", ""},
		{h, "GET /v1/words/nosuchwordatall", 404, "no_word", ""},
		{h, "GET /v1/words/nosuchwordatall/similar", 404, "no_word", ""},
		{h, "GET /v1/analogy?a=a&b=nosuchwordatall&c=c", 404, "no_word", ""},
		{h, "GET /v1/jobs/nosuch", 404, "no_job", ""},
		{h, "GET /v1/indexes/nosuch/search?q=a", 404, "no_index", ""},
		{h, "GET /nowhere", 404, "not_found", ""},
		{h, "PUT /v1/search", 405, "wrong_method", ""},
		{bare, "GET /v1/search?q=a", 404, "no_index", ""},
		{bare, "GET /v1/words", 404, "no_matrix", ""},
		{bare, "GET /v1/places", 404, "no_points", ""},
		{bare, "GET /v1/analogy?a=a&b=b&c=c", 404, "no_vectors", ""},
		{bare, "PUT /v1/indexes/a", 403, "not_allowed", ""},
	} {
		method, path, _ := strings.Cut(c.call, " ")
		r := local(httptest.NewRequest(method, path, nil))
		r.Header.Set("Authorization", "Bearer reader")
		w := httptest.NewRecorder()
		c.of.ServeHTTP(w, r)
		said := decode[problem](t, w.Body.String())
		if w.Code != c.status || said.Status != c.status || said.Code != c.code || said.Parameter != c.parameter ||
			said.Type != "/docs#"+c.code || said.Title == "" || said.Detail == "" || said.Error != said.Detail ||
			w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d %+v, want %d, code %s and parameter %q", c.call, w.Code, said, c.status, c.code, c.parameter)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, local(httptest.NewRequest("GET", "/v1/search?q=a", nil)))
	if said := decode[problem](t, w.Body.String()); w.Code != 401 || said.Code != "no_token" {
		t.Errorf("without a token: %d %+v, want 401 and the code no_token", w.Code, said)
	}
}

// Every status of an error has a general code, no code comes twice, and every one is documented.
func TestProblemCodesAreDocumented(t *testing.T) {
	guide, err := os.ReadFile("../docs/serving.md")
	if err != nil {
		t.Fatal(err)
	}
	var described []string
	for _, code := range readSpec(t).Components.Schemas["Error"].Value.Properties["code"].Value.Enum {
		described = append(described, code.(string))
	}
	var codes []string
	general := map[int]bool{}
	for _, k := range problemKinds {
		if general[k.status] || slices.Contains(codes, k.code) {
			t.Errorf("the code %s is never taken, or comes twice", k.code)
		}
		codes, general[k.status] = append(codes, k.code), k.is == nil
		if row := fmt.Sprintf("| `%s` | %d | ", k.code, k.status); !strings.Contains(string(guide), row) {
			t.Errorf("docs/serving.md lacks the code: want a row %q", row)
		}
	}
	if !slices.Equal(codes, described) {
		t.Errorf("codes in openapi.json %q\nof the server %q", described, codes)
	}
	for _, status := range []int{400, 401, 403, 404, 405, 409, 413, 421, 429, 500, 503} {
		if !general[status] {
			t.Errorf("status %d has no general code", status)
		}
	}
}

// A query of a batch that is wrong fails alone, in its place; the others are answered as they are
// by themselves. That holds for errors that only the search finds, too, and for a root.
func TestWrongQueriesFailAlone(t *testing.T) {
	c := newCluster(t, 2, 1, RootOptions{})
	one := New(elife(t, true), Options{Threads: 2, MaxK: 50, Limits: Limits{Hold: -1, Queries: 2000}})
	queries := []struct{ body, code, parameter string }{
		{`{"q":"cell"}`, "", ""},
		{`{"q":"cell","k":-1}`, "bad_parameter", "k"},
		{`{"q":"cell","kk":1}`, "unknown_parameter", "kk"},
		{`{"q":"membrane","k":2}`, "", ""},
		{`{"q":"cell AND"}`, "bad_parameter", "q"},
		{`7`, "bad_request", ""},
		{`{"q":"neurons"}`, "", ""},
		{`{"q":""}`, "bad_parameter", "q"},
	}
	for name, h := range map[string]*Server{"a server": one, "a root": c.root} {
		for _, path := range []string{"/v1/search", "/search"} {
			var bodies []string
			for range 40 { // more than a part
				for _, q := range queries {
					bodies = append(bodies, q.body)
				}
			}
			all := strings.Join(bodies, "\n")
			if path == "/search" {
				all = "[" + strings.Join(bodies, ",") + "]"
			}
			w := call(h, path, all)
			lines := slices.Collect(strings.Lines(w.Body.String()))
			if w.Code != 200 || len(lines) != len(bodies) {
				t.Fatalf("%s, %s: status %d and %d lines, want 200 and %d", name, path, w.Code, len(lines), len(bodies))
			}
			for i, line := range lines {
				want := queries[i%len(queries)]
				if want.code == "" {
					alone := call(h, path, want.body)
					if path == "/search" {
						alone = call(h, path, "["+want.body+"]")
					}
					if i < len(queries) && line != alone.Body.String() {
						t.Errorf("%s, %s: line %d is %s, want %s", name, path, i+1, line, alone.Body)
					}
					continue
				}
				said := decode[problem](t, line)
				if said.Code != want.code || said.Parameter != want.parameter || said.Status != 400 ||
					!strings.HasPrefix(said.Detail, fmt.Sprintf("query %d: ", i+1)) {
					t.Errorf("%s, %s: line %d is %s, want the code %s", name, path, i+1, line, want.code)
				}
			}
		}
	}
	shard := c.replicas[0][0].Config.Handler // a shard cannot rank by cosine, which the search finds
	w := call(shard, "/v1/search", "{\"q\":\"cell\"}\n{\"q\":\"cell\",\"model\":\"cosine\"}\n{\"q\":\"neurons\"}\n7")
	lines := slices.Collect(strings.Lines(w.Body.String()))
	if len(lines) != 4 || decode[problem](t, lines[1]).Code != "bad_request" ||
		lines[0] != call(shard, "/v1/search", `{"q":"cell"}`).Body.String() ||
		lines[2] != call(shard, "/v1/search", `{"q":"neurons"}`).Body.String() {
		t.Errorf("status %d %s, want answers, but a problem in the second and the fourth line", w.Code, w.Body)
	}
}
