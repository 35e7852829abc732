package collocate

import (
	"context"
	"time"

	"github.com/collocate/collocate/search"
)

// Complete returns the n words with the most documents that begin with prefix, for a box that
// completes what is typed; n of 0 means 10. Of a text field it takes the words of that field; ""
// means those of all text. Words are as their analyzer makes them: an analyzer that stems has
// stems.
func (x *Index) Complete(ctx context.Context, field, prefix string, n int) (list []search.Completion, err error) {
	err = x.read(ctx, "complete", func(s *search.Searcher) (int, error) {
		list, err = s.Complete(ctx, field, prefix, n)
		return len(list), err
	})
	return list, err
}

// Similar returns up to three words of the index with a spelling similar to that of a word, the
// nearest first, whether or not the index has the word itself. Request.Query is checked by itself:
// see Result.Notes.
func (x *Index) Similar(ctx context.Context, field, word string) (list []string, err error) {
	err = x.read(ctx, "similar", func(s *search.Searcher) (int, error) {
		list, err = s.Similar(ctx, field, word)
		return len(list), err
	})
	return list, err
}

// read calls fn with the searcher of the current generation, if there is one.
func (x *Index) read(ctx context.Context, call string, fn func(*search.Searcher) (found int, err error)) (err error) {
	if err := checked(ctx); err != nil {
		return named(call, err)
	}
	found := 0
	if x.observed() {
		defer func(start time.Time) { x.observe(Event{Call: call, Documents: found, Err: err}, start) }(time.Now())
	}
	g := x.current.get()
	if g == nil {
		return named(call, ErrClosed)
	}
	defer g.release()
	found, err = fn(g.searcher)
	return named(call, err)
}
