package serve

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/collocate/collocate/encoder"
)

// A server with a reranker has it score the best documents again, alone and in a batch; a root and
// a server without one refuse, and a reranker that fails is an error of its own.
func TestDocumentsAreRankedAgain(t *testing.T) {
	c := newClusterOf(t, withVectors(t, "v:vector:4:optional"), 2, 1, RootOptions{})
	var asked []string
	r, err := encoder.NewReranker("mine", func(ctx context.Context, query string, texts []string) ([]float32, error) {
		if strings.Contains(query, "broken") {
			return nil, errors.New("the model is broken")
		}
		asked = append(asked, query)
		scores := make([]float32, len(texts))
		for i, s := range texts {
			scores[i] = -float32(len(s)) // short ones first
		}
		return scores, nil
	}, encoder.Options{Batch: 100, AtOnce: 1})
	if err != nil {
		t.Fatal(err)
	}
	c.whole.o.Reranker = r
	type answer struct {
		Hits []struct {
			ID     string
			Score  float64
			Before *float64
		}
		More bool
		Next string
	}
	first := decode[answer](t, call(c.whole, "/v1/search?q=moon+dust&k=30", "").Body.String())
	w := call(c.whole, "/v1/search?q=moon+dust&k=5&from=2&rerank=30", "")
	again := decode[answer](t, w.Body.String())
	if w.Code != 200 || len(again.Hits) != 5 || !again.More || again.Next != "" {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	was := map[string]float64{}
	for _, h := range first.Hits {
		was[h.ID] = h.Score
	}
	for i, h := range again.Hits {
		if before, ok := was[h.ID]; !ok || h.Before == nil || *h.Before != before || i > 0 && h.Score > again.Hits[i-1].Score {
			t.Errorf("hit %d: %+v, found with %v", i, h, before)
		}
	}
	asked = nil
	vectors := call(c.whole, "/v1/search?q=moon&vector=1,2,0.25,-9&k=2&rerank=4", "")
	batch := post(c.whole, "/search", `[{"q": "moon dust", "k": 5, "from": 2, "rerank": 30}, {"q": "sun", "rerank": 3}, {"q": "sun"}]`)
	lines := strings.Split(strings.TrimSpace(batch.Body.String()), "\n")
	if vectors.Code != 200 || len(lines) != 3 || strings.Join(asked, ",") != "moon,moon dust" {
		t.Fatalf("a vector: %d; a batch: %s, asked %q", vectors.Code, batch.Body, asked)
	}
	for i, h := range decode[answer](t, lines[0]).Hits {
		if h.ID != again.Hits[i].ID {
			t.Errorf("hit %d of a batch: %+v, want %+v", i, h, again.Hits[i])
		}
	}
	if p := decode[problem](t, lines[1]); p.Parameter != "rerank" {
		t.Errorf("3 of 10: %s", lines[1])
	}
	for _, c := range []struct {
		on          *Server
		query, code string
		status      int
		want        string
	}{
		{c.whole, "q=moon+broken&k=1&rerank=10", "no_reranker", 503, "reranker mine: the model is broken"},
		{c.whole, "q=moon&rerank=10&sort=place", "", 400, "hits are sorted by a field"},
		{c.whole, "q=moon&rerank=2000", "", 400, "2000"},
		{c.whole, "q=moon&k=0&rerank=10", "", 400, "no documents are asked for"},
		{c.root, "q=moon&rerank=10", "", 400, "it does not have the texts of documents"},
	} {
		w := call(c.on, "/v1/search?"+c.query, "")
		p := decode[problem](t, w.Body.String())
		if w.Code != c.status || c.code != "" && p.Code != c.code || !strings.Contains(p.Detail, c.want) {
			t.Errorf("%s: %d %s; want %d, %q", c.query, w.Code, w.Body, c.status, c.want)
		}
	}
	c.whole.o.Reranker = nil
	if w := call(c.whole, "/v1/search?q=moon&rerank=10", ""); w.Code != 400 || !strings.Contains(w.Body.String(), "there is no reranker") {
		t.Errorf("without a reranker: %d %s", w.Code, w.Body)
	}
}
