package search

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/collocate/collocate/search/internal/searchtest"
)

// callAll calls every exported method of a Searcher that returns an error or an iterator of
// results, except Close, with ctx and otherwise zero arguments. It returns their errors by name.
func callAll(s *Searcher, ctx context.Context) map[string]error {
	errs := map[string]error{}
	v := reflect.ValueOf(s)
	context := reflect.TypeFor[context.Context]()
	for i := range v.NumMethod() {
		name, method := v.Type().Method(i).Name, v.Method(i)
		if name == "Close" {
			continue
		}
		var args []reflect.Value
		for j := range method.Type().NumIn() {
			in := method.Type().In(j)
			switch {
			case in == context && ctx != nil:
				args = append(args, reflect.ValueOf(ctx))
			case in == reflect.TypeFor[iter.Seq[Request]]():
				args = append(args, reflect.ValueOf(slices.Values([]Request{{Text: "a"}})))
			default:
				args = append(args, reflect.Zero(in))
			}
		}
		for _, out := range method.Call(args) {
			switch got := out.Interface().(type) {
			case iter.Seq2[*Result, error]:
				for _, err := range got {
					errs[name] = err
				}
			case error:
				errs[name] = got
			default:
				if out.Type() == reflect.TypeFor[error]() {
					errs[name] = nil
				}
			}
		}
	}
	for _, err := range MapAll(ctx, s, make([]Request, 2*autoProbe), Batch{}, GPUOptions{},
		func(int, *Result) (int, error) { return 0, nil }) {
		if errs["MapAll"] = err; err != nil {
			break
		}
	}
	return errs
}

// All calls after Close return ErrClosed, and do not read unmapped memory.
func TestCallsAfterClose(t *testing.T) {
	s := buildLines(t, "whitespace", "a b", "c")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	errs := callAll(s, context.Background())
	for name, err := range errs {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s after Close: error %v, want %v", name, err, ErrClosed)
		}
	}
	if len(errs) < 15 {
		t.Errorf("only %d methods were called", len(errs))
	}
	if s.Fields() != nil {
		t.Error("a closed Searcher has fields")
	}
	if err := s.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
}

// A Searcher that was never opened returns errors.
func TestZeroSearcher(t *testing.T) {
	for name, err := range callAll(new(Searcher), context.Background()) {
		if err == nil {
			t.Errorf("%s of a zero Searcher: no error", name)
		}
	}
	if err := new(Searcher).Close(); err != nil {
		t.Error(err)
	}
	if _, err := New(nil); err == nil {
		t.Error("New(nil): no error")
	}
	if _, err := NewOver(nil); err == nil {
		t.Error("NewOver(nil): no error")
	}
}

// Every call that takes a context returns the error of a cancelled one, however small the index,
// and an error for nil.
func TestContexts(t *testing.T) {
	s := buildLines(t, "whitespace", "a b", "c")
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	v := reflect.TypeOf(s)
	for name, err := range callAll(s, cancelled) {
		m, ok := v.MethodByName(name)
		if ok && (m.Type.NumIn() < 2 || m.Type.In(1) != reflect.TypeFor[context.Context]()) {
			continue
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a cancelled context: error %v", name, err)
		}
	}
	for name, err := range callAll(s, nil) { //nolint:staticcheck // that is the case
		m, ok := v.MethodByName(name)
		if ok && (m.Type.NumIn() < 2 || m.Type.In(1) != reflect.TypeFor[context.Context]()) {
			continue
		}
		if err == nil {
			t.Errorf("%s without a context: no error", name)
		}
	}
}

// Close waits for searches in progress: each of them gives the right answer or ErrClosed.
func TestCloseDuringSearches(t *testing.T) {
	dir := searchtest.IndexLines(t, "whitespace", "a b", "a", "b c")
	for range 50 {
		s := open(t, dir)
		var wg sync.WaitGroup
		started := make(chan bool, 4)
		for i := range 4 {
			wg.Go(func() {
				for n := 0; ; n++ {
					var err error
					docs := 2
					if i%2 == 0 {
						var found *Result
						if found, err = s.Search(context.Background(), Request{Text: "a"}); err == nil {
							docs = len(found.Hits)
						}
					} else {
						_, err = s.IDs([]uint32{0, 1, 2})
					}
					if err != nil && !errors.Is(err, ErrClosed) || docs != 2 {
						t.Errorf("%d documents, error %v", docs, err)
					}
					if n == 0 {
						started <- true
					}
					if err != nil {
						return
					}
				}
			})
		}
		<-started
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if s.index.Segments() != nil {
			t.Fatal("Close has not released the index")
		}
		wg.Wait()
	}
}

// A loop over the results of a batch may close the Searcher. The index is released when the loop
// ends.
func TestCloseInsideABatch(t *testing.T) {
	s := buildLines(t, "whitespace", "a b", "a", "b c")
	n := 0
	for _, err := range s.SearchBatch(context.Background(),
		slices.Values(slices.Repeat([]Request{{Text: "a"}}, 100)), Batch{Threads: 2}) {
		if n++; err != nil {
			break
		}
		if n == 1 {
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if s.index.Segments() == nil {
				t.Fatal("the index was released during the batch")
			}
		}
	}
	if n == 0 || s.index.Segments() != nil {
		t.Errorf("%d results; the index was not released", n)
	}
}
