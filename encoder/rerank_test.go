package encoder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// A server of the usual format, of the other usual format, and a command score texts, in several
// requests if they are many, and the scores are in the order of the texts.
func TestScores(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Model, Query string
			Documents    []string
			TopN         int `json:"top_n"`
		}
		if err := json.NewDecoder(r.Body).Decode(&q); err != nil || q.TopN != len(q.Documents) {
			t.Errorf("asked %+v, %v", q, err)
		}
		asked = append(asked, fmt.Sprint(q.Model, " ", q.Query, " ", len(q.Documents), " ", r.Header.Get("Authorization")))
		var list []string
		for i := len(q.Documents) - 1; i >= 0; i-- { // in another order
			name := []string{"relevance_score", "score"}[i%2]
			list = append(list, fmt.Sprintf(`{"index": %d, %q: %d}`, i, name, len(q.Documents[i])))
		}
		io.WriteString(w, `{"results": [`+strings.Join(list, ",")+`]}`)
	}))
	defer server.Close()
	texts := []string{"a", "abcd", "", "ab", "abc"}
	want := []float32{1, 4, 0, 2, 3}
	r, err := OpenReranker(server.URL, Options{Model: "m", Key: "k", Batch: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if got, err := r.Scores(t.Context(), "q", texts); err != nil || !slices.Equal(got, want) {
		t.Errorf("scores %v, %v; want %v", got, err, want)
	}
	if want := []string{"m q 3 Bearer k", "m q 2 Bearer k"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
	c, err := OpenReranker("sed -u s/.*/[5,4.5,-3,2,1]/", Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 2 {
		got, err := c.Scores(t.Context(), "q", texts)
		if want := []float32{5, 4.5, -3, 2, 1}; err != nil || !slices.Equal(got, want) {
			t.Errorf("scores of a command: %v, %v; want %v", got, err, want)
		}
	}
	if got, err := c.Scores(t.Context(), "q", nil); err != nil || len(got) != 0 {
		t.Errorf("without texts: %v, %v", got, err)
	}
}

// A reranker that answers late, wrongly or never is an error that says so and names it.
func TestRerankersThatFail(t *testing.T) {
	answer := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // so that the server notices when the client leaves
		switch answer {
		case "never":
			<-r.Context().Done()
		case "status":
			http.Error(w, "no such model", http.StatusBadRequest)
		default:
			io.WriteString(w, answer)
		}
	}))
	defer server.Close()
	r, err := OpenReranker(server.URL, Options{Timeout: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, c := range [][2]string{
		{"never", "there was no answer within 300ms"},
		{"status", "it answers with status 400: no such model"},
		{"", "the answer is not JSON"},
		{"{}", `the answer has no "results"`},
		{`{"error": "too long"}`, `it answers with an error: "too long"`},
		{"[1]", "1 scores for 2 texts"},
		{`[1, "x"]`, "the results of the answer"},
		{`[1, 1e99]`, "the results of the answer"},
		{`[{"index": 0, "score": 1}]`, "the answer has 1 scores: want 2"},
		{`[{"index": 0, "score": 1}, {"index": 0, "score": 1}]`, "result 2 of the answer: want each index of 0 to 1 once"},
		{`[{"index": 0, "score": 1}, {"index": 2, "score": 1}]`, "result 2 of the answer"},
		{`[{"index": 0, "score": 1}, {"score": 1}]`, "result 2 of the answer"},
		{`[{"index": 0, "score": 1}, {"index": 1}]`, `result 2 of the answer has no "relevance_score"`},
		{strings.Repeat(" ", 2<<20), "the answer has more than"},
	} {
		answer = c[0]
		_, err := r.Scores(t.Context(), "q", []string{"a", "b"})
		if err == nil || !strings.Contains(err.Error(), c[1]) || !strings.HasPrefix(err.Error(), "reranker "+server.URL) {
			t.Errorf("%.40q: %v; want %q", c[0], err, c[1])
		}
	}
	answer = "never"
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Scores(ctx, "q", []string{"a"}); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancelling: %v", err)
	}
	nan, _ := NewReranker("mine", func(context.Context, string, []string) ([]float32, error) {
		return []float32{float32(math.NaN())}, nil
	}, Options{})
	if _, err := nan.Scores(t.Context(), "q", []string{"a"}); err == nil || !strings.Contains(err.Error(), "reranker mine: score 1") {
		t.Errorf("a score that is not a number: %v", err)
	}
	if _, err := OpenReranker("no-such-program-here", Options{}); err == nil || !strings.Contains(err.Error(), "reranker: ") {
		t.Errorf("no program: %v", err)
	}
	one, _ := NewReranker("slow", func(ctx context.Context, _ string, _ []string) ([]float32, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}, Options{AtOnce: 1, Waiting: 1})
	waiting, stop := context.WithCancel(t.Context())
	defer stop()
	for range 2 {
		go one.Scores(waiting, "q", []string{"a"})
	}
	for deadline := time.Now().Add(10 * time.Second); len(one.turns.all) < 2 && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if _, err := one.Scores(t.Context(), "q", []string{"a"}); !errors.Is(err, ErrBusy) {
		t.Errorf("a third request, where one may wait: %v", err)
	}
}
