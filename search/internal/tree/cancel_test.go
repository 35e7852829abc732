package tree

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/searchtest"
	"github.com/collocate/collocate/search/query"
)

// A search that is given up at any look at its context returns the context's error, or its whole
// answer, and leaves nothing behind that changes later answers.
func TestTreesGivenUp(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	var lines []string
	for range 20_000 {
		var line []string
		for range 1 + rng.IntN(12) {
			f := rng.Float64()
			line = append(line, searchtest.TreeWords[int(f*f*float64(len(searchtest.TreeWords)))])
		}
		lines = append(lines, strings.Join(line, " "))
	}
	e, err := eval.NewEngine(searchtest.IndexWithPositions(t, "whitespace", lines...))
	if err != nil {
		t.Fatal(err)
	}
	given := 0
	for range trials.Of(1000) {
		r := &ask.Request{Query: searchtest.RandomTree(rng, 3, nil), K: 1 + rng.IntN(20), Count: rng.IntN(2) == 0}
		answer := func(ctx context.Context) (any, error) {
			copied := *r
			found, err := Search(ctx, Of(e), &copied)
			if err != nil {
				return nil, err
			}
			found.Stats = ask.Stats{}
			return found, nil
		}
		whole := &impatient{t.Context(), 1 << 30}
		want, failed := answer(whole)
		looks := 1<<30 - whole.left
		for range 3 {
			got, err := answer(&impatient{t.Context(), rng.IntN(looks + 1)})
			if errors.Is(err, context.Canceled) {
				given++
				continue
			}
			if (err == nil) != (failed == nil) || err == nil && !reflect.DeepEqual(got, want) {
				t.Fatalf("%v: given up: %v, %v, want %v, %v", r.Query, got, err, want, failed)
			}
		}
		if got, err := answer(t.Context()); (err == nil) != (failed == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%v after searches that were given up: %v, %v, want %v", r.Query, got, err, want)
		}
	}
	if given == 0 {
		t.Error("no search was given up")
	}
	t.Log(given, "searches were given up")
}

// However wide a tree is, or how long its words, it is answered soon: a fault here takes minutes.
func TestHugeTrees(t *testing.T) {
	e, err := eval.NewEngine(searchtest.IndexWithPositions(t, "whitespace", "a b c", "b c"))
	if err != nil {
		t.Fatal(err)
	}
	many := strings.TrimSpace(strings.Repeat("a b ", 5000))
	var list []string
	for i := range 10_000 {
		list = append(list, fmt.Sprint("w", i))
	}
	distinct := strings.Join(list, " ")
	for _, text := range []string{distinct, `"` + distinct + `"`, strings.ReplaceAll(distinct, " ", " AND "), many, `"` + many + `"`, `"` + many + `"~1000000`,
		strings.ReplaceAll(many, "a b", "a OR b AND") + " c", "+" + strings.ReplaceAll(many, " ", " +"),
		strings.ReplaceAll(many, " ", " NEAR/5 "), strings.ReplaceAll(many, " ", " BEFORE/5 "),
		strings.Repeat("a", 100_000), strings.Repeat("a", 10_000) + "~2", strings.Repeat("a?*", 10_000) + "b",
		strings.Repeat("a*", 5000) + "b",
		"id:(" + many + ")"} {
		n, err := query.Parse(text, query.Options{})
		if err != nil {
			t.Fatalf("%.30s: %v", text, err)
		}
		if _, err := Search(t.Context(), Of(e), &ask.Request{Query: n, Count: true}); err != nil {
			t.Errorf("%.30s: %v", text, err)
		}
	}
}
