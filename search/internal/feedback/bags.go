package feedback

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/text"
)

// WithWords returns the request with the words that the given feedback documents add.
func WithWords(r ask.Request, words []ask.Word, docs []Doc, c Collection,
	e ask.Expand) (ask.Request, error) {
	add := RM3
	if e.Method == ask.Bo1 {
		add = Bo1
	}
	var err error
	r.Words, err = add(words, docs, c, e)
	r.Text, r.Expand, r.Mode = "", nil, ask.Or
	return r, err
}

// WordsOf returns the distinct words of a request with their weights.
func WordsOf(r *ask.Request, a text.Analyzer) (list []ask.Word, err error) {
	add := func(word string, weight float64) {
		at := slices.IndexFunc(list, func(w ask.Word) bool { return w.Text == word })
		if at < 0 {
			at, list = len(list), append(list, ask.Word{Text: word})
		}
		list[at].Weight += weight
	}
	if len(r.Words) > 0 {
		for _, w := range r.Words {
			add(w.Text, cmp.Or(w.Weight, 1))
		}
		return list, nil
	}
	var tokens text.Tokens
	if err := a.Analyze([]byte(r.Text), &tokens); err != nil {
		return nil, fmt.Errorf("analyze the query: %w", err)
	}
	for i := range tokens.Words {
		add(string(tokens.Word(i)), float64(tokens.Count(i)))
	}
	return list, nil
}

// Bags returns the words of documents, from their stored texts or, if there are none, from the
// lists of all words.
func Bags(ctx context.Context, r *segments.Reader, a text.Analyzer, hits []ask.Hit) ([]Doc, error) {
	docs := make([]Doc, len(hits))
	for i, h := range hits {
		docs[i] = Doc{TF: map[string]int{}, Score: float64(h.Score)}
	}
	if !r.HasText() {
		return docs, bagsOfLists(ctx, r, hits, docs)
	}
	var tokens text.Tokens
	for i, h := range hits {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		body, err := r.Text(int(h.Doc))
		if err != nil {
			return nil, err
		}
		if err := a.Analyze(body, &tokens); err != nil {
			return nil, fmt.Errorf("document %d: %w", h.Doc, err)
		}
		for t := range tokens.Words {
			docs[i].TF[string(tokens.Word(t))] += int(tokens.Count(t))
		}
	}
	return docs, nil
}

// bagsOfLists looks up the documents in the lists of all words.
func bagsOfLists(ctx context.Context, r *segments.Reader, hits []ask.Hit, docs []Doc) error {
	order := make([]int, len(hits)) // cursors only move forwards
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(hits[a].Doc, hits[b].Doc) })
	for _, segment := range r.Segments() {
		var own []int
		for _, i := range order {
			if doc := hits[i].Doc; doc >= segment.Base &&
				doc-segment.Base < uint32(segment.Docs()) {
				own = append(own, i)
			}
		}
		if err := bagsOf(ctx, segment, own, hits, docs); err != nil {
			return err
		}
	}
	return nil
}

// bagsOf is bagsOfLists for the documents of one segment.
func bagsOf(ctx context.Context, from segments.Segment, own []int, hits []ask.Hit,
	docs []Doc) error {
	if len(own) == 0 {
		return nil
	}
	n := 0
	var c index.Cursor
	for word, err := range from.Words() {
		if err != nil {
			return err
		}
		if n++; n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := from.OpenBlocks(word.Term, &c); err != nil {
			return err
		}
		for _, i := range own {
			local := hits[i].Doc - from.Base
			found := c.Seek(local)
			if found == local {
				docs[i].TF[string(word.Text)] = int(c.TF())
			} else if found == index.End {
				break
			}
		}
		if err := c.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Of makes an index a Collection. Deleted documents count until they are merged
// away, as they do for scores.
type Of struct{ *segments.Reader }

func (c Of) Docs() (n uint64) {
	for _, segment := range c.Segments() {
		n += uint64(segment.Docs())
	}
	return n
}

func (c Of) Count(word string) (df, cf uint64, err error) {
	for _, segment := range c.Segments() {
		t, err := segment.Lookup([]byte(word))
		if err != nil {
			return 0, 0, err
		}
		df, cf = df+uint64(t.FullDF()), cf+t.CF
	}
	return df, cf, nil
}
