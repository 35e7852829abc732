package api

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// Questions about the selected documents of an index have the answers of a corpus that consists of
// these documents alone.
func TestSelectionIsACorpusOfItsOwn(t *testing.T) {
	ctx := context.Background()
	an, err := text.ParseAnalyzer("unicode")
	if err != nil {
		t.Fatal(err)
	}
	schema, err := fields.ParseList([]string{"body:text", "kind:keyword"})
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "some.index")
	w, err := segments.NewWriter(folder, segments.Options{Analyzer: an, Schema: schema, StoreText: true})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var chosen []text.Document
	for i := range 90 {
		var b strings.Builder
		for range 30 {
			fmt.Fprintf(&b, "w%d ", r.IntN(3+i%9))
		}
		kind := string(rune('a' + i%3))
		values, err := schema.Values(map[string][]string{"body": {b.String()}, "kind": {kind}})
		if err != nil {
			t.Fatal(err)
		}
		d := text.Document{ID: fmt.Sprint(i), Text: []byte(b.String()), Fields: values}
		if err := w.Add(d); err != nil {
			t.Fatal(err)
		}
		if kind != "b" && i != 12 {
			chosen = append(chosen, text.Document{ID: d.ID, Text: d.Text})
		}
		if i%40 == 39 { // three segments
			if err := w.Commit(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := w.Delete("12"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Commit(), w.Close()); err != nil {
		t.Fatal(err)
	}
	s, err := search.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if n := len(s.Index().Segments()); n < 2 {
		t.Fatalf("%d segments: want several", n)
	}
	index := &Env{Searcher: s, Analyzer: an}
	corpus := &Env{Analyzer: an, Corpus: &text.Corpus{Source: func(context.Context) iter.Seq2[[]text.Document, error] {
		return func(yield func([]text.Document, error) bool) { yield(chosen, nil) }
	}}}

	for name, ask := range map[string]func(*Env, Selection) (any, error){
		"concordance": func(e *Env, of Selection) (any, error) {
			q := Concordance{Query: "w7", Top: 1000, Window: 3, Sort: []string{"R1"}, Selection: of}
			return q.Do(ctx, e, nil)
		},
		"ngrams": func(e *Env, of Selection) (any, error) {
			q := Ngrams{N: "2", MinCount: 1, Top: 1000, Selection: of}
			return q.Do(ctx, e, nil)
		},
		"wordlist": func(e *Env, of Selection) (any, error) {
			q := Wordlist{MinCount: 1, Selection: of}
			return q.Do(ctx, e)
		},
		"collocations": func(e *Env, of Selection) (any, error) {
			q := CollocationsQuestion.New(Command).(*Collocations)
			q.Selection, q.MinCount = of, 1
			found, err := q.Do(ctx, e)
			if err != nil {
				return nil, err
			}
			return found.Pairs, nil
		},
	} {
		got, err := ask(index, Selection{"kind:a OR kind:c"})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want, err := ask(corpus, Selection{})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s of the selection:\n%+v\nof a corpus of its documents:\n%+v", name, got, want)
		}
		if all, err := ask(index, Selection{}); err != nil || reflect.DeepEqual(all, want) {
			t.Errorf("%s without a selection is the same, %v", name, err)
		}
		for _, filter := range []string{"(", "year:>2000 x:("} {
			if _, err := ask(index, Selection{filter}); parameterOf(err) != "filter" {
				t.Errorf("%s within %q: %v, want an error about filter", name, filter, err)
			}
		}
		if _, err := ask(corpus, Selection{"kind:a"}); parameterOf(err) != "filter" {
			t.Errorf("%s of a corpus within a filter: %v, want an error about filter", name, err)
		}
	}
}

func parameterOf(err error) string {
	var wrong *Error
	errors.As(err, &wrong)
	if wrong == nil {
		return ""
	}
	return wrong.Param
}
