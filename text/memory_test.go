package text

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
)

// inMemory is a corpus of groups of documents.
func inMemory(groups ...[]Document) *Corpus {
	return &Corpus{Source: func(context.Context) iter.Seq2[[]Document, error] {
		return func(yield func([]Document, error) bool) {
			for _, g := range groups {
				if !yield(g, nil) {
					return
				}
			}
		}
	}}
}

// Documents in memory come as batches in their order, however many threads there are, and as
// often as they are asked for.
func TestSourceGivesDocumentsInOrder(t *testing.T) {
	var groups [][]Document
	var want []string
	for g := range 40 {
		docs := []Document{} // every fifth group is empty
		for i := range g % 5 {
			id := fmt.Sprintf("%d.%d", g, i)
			docs = append(docs, Document{ID: id, Text: []byte("text of " + id)})
			want = append(want, id)
		}
		groups = append(groups, docs)
	}
	c := inMemory(groups...)
	for _, threads := range []int{1, 4} {
		c.Options.Threads = threads
		var mu sync.Mutex
		bySeq := map[int][]string{}
		err := c.Batches(t.Context(), func(_ int, b *Batch) error {
			mu.Lock()
			defer mu.Unlock()
			for _, d := range b.Docs {
				bySeq[b.Seq] = append(bySeq[b.Seq], d.ID)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for seq := range len(bySeq) {
			got = append(got, bySeq[seq]...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d threads: got %v", threads, got)
		}
	}
	var got []string
	for d, err := range c.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, d.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("All gives %v", got)
	}
}

func TestSourceReportsMistakes(t *testing.T) {
	doc := func(text string) []Document { return []Document{{ID: "d1", Text: []byte(text)}} }
	failing := &Corpus{Source: func(context.Context) iter.Seq2[[]Document, error] {
		return func(yield func([]Document, error) bool) {
			if yield(doc("fine"), nil) {
				yield(nil, errors.New("the sender is gone"))
			}
		}
	}}
	long := inMemory(doc("too long"))
	long.Options.MaxDocument = 3
	latin := inMemory(doc("caf\xe9"))
	latin.Options.Encoding = UTF8
	for want, c := range map[string]*Corpus{
		"the sender is gone":         failing,
		"document d1: a document of": long,
		"document d1: not UTF-8":     latin,
	} {
		err := c.Batches(t.Context(), func(int, *Batch) error { return nil })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Batches: got %v, want %q", err, want)
		}
		err = nil
		for _, e := range c.All(t.Context()) {
			err = e
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("All: got %v, want %q", err, want)
		}
	}
	// An error of the caller ends the reading, as does the end of the context.
	mine := errors.New("enough")
	endless := &Corpus{Source: func(ctx context.Context) iter.Seq2[[]Document, error] {
		return func(yield func([]Document, error) bool) {
			for ctx.Err() == nil && yield(doc("again"), nil) {
			}
		}
	}}
	if err := endless.Batches(t.Context(), func(int, *Batch) error { return mine }); err != mine {
		t.Errorf("got %v, want %v", err, mine)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := endless.Batches(ctx, func(int, *Batch) error { cancel(); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want a cancelled context", err)
	}
}
