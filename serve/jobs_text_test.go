package serve

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// A question about texts or places gives the same answer as a job, of an index that has a name,
// too; what is wrong with it is said at once, and a list of jobs has no results.
func TestQuestionsAsJobs(t *testing.T) {
	h := everywhere(t, Options{})
	name := decode[struct{ Name string }](t, call(h, "/v1/status", "").Body.String()).Name
	for _, c := range []struct{ at, body, path string }{
		{"/v1/jobs", `{"kind":"wordlist","top":7,"min_count":1}`, "/v1/wordlist?top=7&min_count=1"},
		{"/v1/indexes/" + name + "/jobs", `{"kind":"ngrams","n":"2","top":5,"min_count":1}`, "/v1/ngrams?n=2&top=5&min_count=1"},
		{"/v1/jobs", `{"kind":"concordance","q":"the","sort":["R1"]}`, "/v1/concordance?q=the&sort=R1"},
		{"/v1/jobs", `{"kind":"keywords","q":"cell","docs":0}`, "/v1/keywords?q=cell&docs=0"},
		{"/v1/jobs", `{"kind":"summary"}`, "/v1/places/summary"},
		{"/v1/jobs", `{"kind":"area"}`, "/v1/places/area"},
		{"/v1/jobs", `{"kind":"quotients","distance":1.5}`, "/v1/places/quotients?distance=1.5"},
		{"/v1/jobs", `{"kind":"curve","of":"café","near":["park"],"max_distance":3,"rounds":19}`,
			"/v1/places/curve?of=café&near=park&max_distance=3&rounds=19"},
		{"/v1/jobs", `{"kind":"local","distance":2,"feature":["park","café"]}`,
			"/v1/places/local?distance=2&feature=park&feature=café"},
	} {
		w := call(h, c.at, c.body)
		started := decode[jobAnswer](t, w.Body.String())
		if w.Code != http.StatusAccepted {
			t.Errorf("%s: status %d %s, want 202", c.body, w.Code, w.Body)
			continue
		}
		events := call(h, "/v1/jobs/"+started.ID+"/events", "").Body.String() // until the job ends
		if !strings.Contains(events, "event: done\ndata: {") || strings.Contains(events, `"answer"`) {
			t.Errorf("%s: events %s, want done without the answer", c.body, events)
		}
		got := decode[struct{ Answer json.RawMessage }](t, call(h, "/v1/jobs/"+started.ID, "").Body.String())
		want := strings.TrimSpace(call(h, c.path, "").Body.String())
		if string(got.Answer) != want || len(want) < 50 {
			t.Errorf("%s: answer %s, want %s", c.body, got.Answer, want)
		}
	}
	if list := call(h, "/v1/jobs", "").Body.String(); strings.Contains(list, `"answer"`) {
		t.Errorf("a list of jobs has answers: %s", list)
	}
	for body, says := range map[string]string{
		`{"kind":"wordlist","topp":7}`:         "topp",
		`{"kind":"wordlist","top":-1}`:         "top",
		`{"kind":"wordlist","top":7,"top":8}`:  "twice",
		`{"kind":"wordlists"}`:                 "want patterns, ",
		`{"kind":"wordlist","top":7} {}`:       "nothing after",
		`{"kind":"ngrams","n":"2","top":1.5}`:  "top",
		`{"kind":"curve","off":"café"}`:        "off",
		`{"kind":"curve","of":{"a":1}}`:        "want a text",
		`{"kind":"quotients","distance":-1}`:   "distance",
		`{"kind":"summary","seed":1,"seed":2}`: "twice",
		`{"kind":"summary"} {}`:                "nothing after",
	} {
		w := call(h, "/v1/jobs", body)
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), says) {
			t.Errorf("%s: status %d %s, want 400 with %q", body, w.Code, w.Body, says)
		}
	}
	if w := call(h, "/v1/indexes/nothing/jobs", `{"kind":"wordlist"}`); w.Code != http.StatusNotFound {
		t.Errorf("no such index: status %d, want 404", w.Code)
	}
}
