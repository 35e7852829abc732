package encoder

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/collocate/collocate/internal/given"
)

// Reranker scores texts for a query with a model outside, such as a cross-encoder: it has a second
// look at the best documents of a search. Several goroutines may use it.
type Reranker struct {
	o      Options
	scores func(ctx context.Context, query string, texts []string) ([]float32, error)
	close  func() error
	name   string
	turns  turns
}

// OpenReranker returns a Reranker for a server or a command, as Open returns an Encoder. Requests
// and answers are those of the usual servers, shortened here:
//
//	{"model": "...", "query": "cats", "documents": ["a cat", "a dog"], "top_n": 2}
//	{"results": [{"index": 1, "relevance_score": 0.1}, {"index": 0, "relevance_score": 0.9}]}
//
// A bare list of the results, with "score" for "relevance_score" or not, is an answer, too, and so
// is a list of numbers in the order of the documents. Of the options Query, Document and Cache have
// no effect.
func OpenReranker(target string, o Options) (*Reranker, error) {
	from, name, err := openTarget(target, &o)
	if err != nil {
		return nil, fmt.Errorf("reranker: %w", err)
	}
	scores := func(ctx context.Context, query string, texts []string) ([]float32, error) {
		request, err := json.Marshal(struct {
			Model     string   `json:"model,omitempty"`
			Query     string   `json:"query"`
			Documents []string `json:"documents"`
			TopN      int      `json:"top_n"`
			Return    bool     `json:"return_documents"`
		}{o.Model, query, texts, len(texts), false})
		if err != nil {
			return nil, err
		}
		answer, err := from.ask(ctx, request, 1<<20+len(texts)<<12)
		if err != nil {
			return nil, err
		}
		return parseScores(answer, len(texts))
	}
	r, err := NewReranker(name, scores, o)
	if err != nil {
		return nil, errors.Join(err, from.close())
	}
	r.close = from.close
	return r, nil
}

// NewReranker returns a Reranker for a function that returns a score for each text. The name is for
// errors.
func NewReranker(name string, scores func(ctx context.Context, query string, texts []string) ([]float32, error),
	o Options) (*Reranker, error) {
	if err := o.fill(); err != nil {
		return nil, fmt.Errorf("reranker: %w", err)
	}
	return &Reranker{o: o, scores: scores, close: func() error { return nil }, name: name, turns: newTurns(&o)}, nil
}

// Close ends the command or the connections. A nil Reranker needs none.
func (r *Reranker) Close() error {
	if r == nil {
		return nil
	}
	return r.close()
}

// Scores returns a score for each text, higher for one that answers the query better. It asks for
// Options.Batch of them at a time. If too many requests wait, the error wraps ErrBusy.
func (r *Reranker) Scores(ctx context.Context, query string, texts []string) ([]float32, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	if len(texts) == 0 {
		return nil, nil
	}
	if !r.turns.enter() {
		return nil, fmt.Errorf("reranker %s: %w", r.name, ErrBusy)
	}
	defer r.turns.leave()
	var all []float32
	for from := 0; from < len(texts); from += r.o.Batch {
		var some []string
		for _, t := range texts[from:min(from+r.o.Batch, len(texts))] {
			some = append(some, cut(t))
		}
		scores, err := within(ctx, &r.turns, r.o.Timeout, func(ctx context.Context) ([]float32, error) {
			return r.scores(ctx, cut(query), some)
		})
		if err == nil {
			err = checkScores(scores, len(some))
		}
		if err != nil {
			return nil, fmt.Errorf("reranker %s: %w", r.name, err)
		}
		all = append(all, scores...)
	}
	return all, nil
}

func checkScores(scores []float32, n int) error {
	if len(scores) != n {
		return fmt.Errorf("%d scores for %d texts", len(scores), n)
	}
	for i, s := range scores {
		if math.IsNaN(float64(s)) || math.IsInf(float64(s), 0) {
			return fmt.Errorf("score %d of the answer is %v: want a finite number", i+1, s)
		}
	}
	return nil
}

// parseScores reads an answer of scores for n texts.
func parseScores(b []byte, n int) ([]float32, error) {
	var numbers []float32
	if json.Unmarshal(b, &numbers) == nil && numbers != nil {
		return numbers, nil
	}
	var answer struct {
		Results json.RawMessage `json:"results"`
		Error   json.RawMessage `json:"error"`
	}
	if b = bytes.TrimSpace(b); len(b) > 0 && b[0] == '[' {
		answer.Results = b
	} else if err := json.Unmarshal(b, &answer); err != nil {
		return nil, fmt.Errorf("the answer is not JSON as of an endpoint for re-ranking: %w", err)
	}
	switch {
	case len(answer.Error) > 0 && string(answer.Error) != "null":
		return nil, fmt.Errorf("it answers with an error: %s", shown(answer.Error))
	case answer.Results == nil:
		return nil, errors.New(`the answer has no "results": want that of an endpoint for re-ranking, or a list of numbers`)
	}
	var list []struct {
		Index     *int     `json:"index"`
		Relevance *float32 `json:"relevance_score"`
		Score     *float32 `json:"score"`
	}
	if err := json.Unmarshal(answer.Results, &list); err != nil {
		return nil, fmt.Errorf("the results of the answer: %w", err)
	}
	if len(list) != n {
		return nil, fmt.Errorf("the answer has %d scores: want %d, one for each text", len(list), n)
	}
	scores, seen := make([]float32, n), make([]bool, n)
	for i, one := range list {
		if one.Index == nil || *one.Index < 0 || *one.Index >= n || seen[*one.Index] {
			return nil, fmt.Errorf("result %d of the answer: want each index of 0 to %d once", i+1, n-1)
		}
		seen[*one.Index] = true
		if one.Relevance == nil {
			one.Relevance = one.Score
		}
		if one.Relevance == nil {
			return nil, fmt.Errorf(`result %d of the answer has no "relevance_score"`, i+1)
		}
		scores[*one.Index] = *one.Relevance
	}
	return scores, nil
}
