package search

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/collocate/collocate/search/internal/tree"
	"github.com/collocate/collocate/search/query"
)

// The counts of a pattern are those of the words of all shards, each word once. It may expand to
// MaxExpansions words.
func TestMergePatterns(t *testing.T) {
	word := func(text string, df uint32, cf uint64) PatternWord {
		return PatternWord{Text: text, DF: df, CF: cf}
	}
	one := []Pattern{{Text: "mo*", Words: []PatternWord{word("moon", 3, 9), word("most", 5, 5)}},
		{Field: "title", Text: "mo*"}}
	two := []Pattern{{Text: "mo*", Words: []PatternWord{word("moon", 3, 9), word("moor", 1, 1)}},
		{Field: "title", Text: "mo*", Words: []PatternWord{word("moon", 2, 2)}}}
	want := []Pattern{{Text: "mo*", DF: 5, CF: 15}, {Field: "title", Text: "mo*", DF: 2, CF: 2}}
	if got, err := MergePatterns(one, two); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	var many []Pattern
	for i := range tree.MaxExpansions + 1 {
		many = append(many, Pattern{Text: "m*", Words: []PatternWord{word(fmt.Sprint("m", i), 1, 1)}})
	}
	if _, err := MergePatterns(many[1:]); err != nil {
		t.Error(err)
	}
	if _, err := MergePatterns(many); !errors.Is(err, ErrRequest) {
		t.Errorf("%d words: error %v, want %v", len(many), err, ErrRequest)
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
