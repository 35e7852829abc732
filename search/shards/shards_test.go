package shards

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/internal/tree"
	"github.com/collocate/collocate/search/query"
)

// The counts of a pattern are those of the words of all shards, each word once. It may expand to
// MaxExpansions words.
func TestMergePatterns(t *testing.T) {
	word := func(text string, df uint32, cf uint64) search.PatternWord {
		return search.PatternWord{Text: text, DF: df, CF: cf}
	}
	one := []search.Pattern{{Text: "mo*", Words: []search.PatternWord{word("moon", 3, 9), word("most", 5, 5)}},
		{Field: "title", Text: "mo*"}}
	two := []search.Pattern{{Text: "mo*", Words: []search.PatternWord{word("moon", 3, 9), word("moor", 1, 1)}},
		{Field: "title", Text: "mo*", Words: []search.PatternWord{word("moon", 2, 2)}}}
	want := []search.Pattern{{Text: "mo*", DF: 5, CF: 15}, {Field: "title", Text: "mo*", DF: 2, CF: 2}}
	if got, err := MergePatterns(one, two); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	var many []search.Pattern
	for i := range tree.MaxExpansions + 1 {
		many = append(many, search.Pattern{Text: "m*", Words: []search.PatternWord{word(fmt.Sprint("m", i), 1, 1)}})
	}
	if _, err := MergePatterns(many[1:]); err != nil {
		t.Error(err)
	}
	if _, err := MergePatterns(many); !errors.Is(err, search.ErrRequest) {
		t.Errorf("%d words: error %v, want %v", len(many), err, search.ErrRequest)
	}
}

// HasPatterns finds patterns at any depth of a query.
func TestHasPatterns(t *testing.T) {
	for text, want := range map[string]bool{
		"moon sun": false, `"full moon"`: false, "mo*": true, "sun -mo*": true, "+mo?n": true, "title:(sun OR moon~)": true,
		"sun mo*^2": true,
	} {
		q, err := query.Parse(text, query.Options{AnyField: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := HasPatterns(q); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// The notes of shards are those of the index: what every one of them lacks.
func TestMergedNotes(t *testing.T) {
	got := MergeNotes(
		[]string{"no word a", "no word b (did you mean c, d?)", "no word e"},
		[]string{"no word b (did you mean d, x, y?)", "no word e"},
		[]string{"no word e", "no word b"})
	want := []string{"no word b (did you mean c, d, x?)", "no word e"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := MergeNotes([]string{"a"}, nil); got != nil {
		t.Errorf("a shard without notes: %q", got)
	}
}
