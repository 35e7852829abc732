package worker

import (
	"context"

	"github.com/collocate/collocate/cmd/internal/pipe"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/search"
)

// openIndex opens the index in a folder or a bucket. The reply has its statistics and the number by
// which later calls refer to it.
func (w *Worker) openIndex(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var a struct {
		Path       string `json:"path"`
		Generation uint64 `json:"generation"`
	}
	if err := c.Decode(&a); err != nil {
		return pipe.Reply{}, err
	}
	o, err := openAt(ctx, a.Path, a.Generation)
	if err != nil {
		return pipe.Reply{}, err
	}
	s := o.s
	w.mu.Lock()
	w.last++
	number := w.last
	w.open[number] = o
	w.mu.Unlock()
	return pipe.Reply{Result: map[string]any{"index": number, "stats": s.Index().Stats(),
		"fields": s.Fields(), "stored": storedNames(s)}}, nil
}

// storedNames returns the names of the stored fields.
func storedNames(s *search.Searcher) []string {
	if schema := s.Index().Schema(); schema != nil {
		return schema.Names(fields.IsStored)
	}
	return nil
}

// stored returns the stored fields of the documents in the array docs, one object per document.
func (w *Worker) stored(_ context.Context, c *pipe.Call) (pipe.Reply, error) {
	var a struct {
		indexArgs
		Names []string `json:"names"`
	}
	if err := c.Decode(&a); err != nil {
		return pipe.Reply{}, err
	}
	s, docs, done, err := w.documentsOf(c, a.Index)
	if err != nil {
		return pipe.Reply{}, err
	}
	defer done()
	schema := s.Index().Schema()
	if len(storedNames(s)) == 0 {
		return pipe.Reply{}, pipe.Valuef("the index stores no fields: build it with schema=")
	}
	show, err := schema.Shown(a.Names)
	if err != nil {
		return pipe.Reply{}, pipe.ValueError{Err: err}
	}
	list := make([]map[string]any, len(docs))
	for i, doc := range docs {
		values, err := s.Stored(doc)
		if err != nil {
			return pipe.Reply{}, err
		}
		list[i] = map[string]any{}
		for _, at := range show {
			if f := &schema.Fields[at]; len(values[at]) > 0 {
				list[i][f.Name] = f.JSON(values[at])
			}
		}
	}
	return pipe.Reply{Result: list}, nil
}

// indexArgs says which index a call is about.
type indexArgs struct {
	Index int `json:"index"`
}

// use returns the index of a call, which stays open until done is called.
func (w *Worker) use(number int) (s *search.Searcher, done func(), err error) {
	w.mu.Lock()
	o := w.open[number]
	w.mu.Unlock()
	if o == nil {
		return nil, nil, pipe.Valuef("the index is closed")
	}
	o.RLock()
	if o.s == nil {
		o.RUnlock()
		return nil, nil, pipe.Valuef("the index is closed")
	}
	return o.s, o.RUnlock, nil
}

// closeIndex closes an index once no call uses it.
func (w *Worker) closeIndex(_ context.Context, c *pipe.Call) (pipe.Reply, error) {
	var a indexArgs
	if err := c.Decode(&a); err != nil {
		return pipe.Reply{}, err
	}
	w.mu.Lock()
	o := w.open[a.Index]
	delete(w.open, a.Index)
	w.mu.Unlock()
	if o == nil {
		return pipe.Reply{}, nil
	}
	o.Lock()
	defer o.Unlock()
	return pipe.Reply{}, o.close()
}

// ids returns the IDs of documents.
func (w *Worker) ids(_ context.Context, c *pipe.Call) (pipe.Reply, error) {
	return w.ofDocuments(c, func(s *search.Searcher, doc int, dst []byte) ([]byte, error) {
		return s.Index().AppendDocID(dst, doc)
	})
}

// texts returns the stored texts of documents.
func (w *Worker) texts(_ context.Context, c *pipe.Call) (pipe.Reply, error) {
	return w.ofDocuments(c, func(s *search.Searcher, doc int, dst []byte) ([]byte, error) {
		if !s.Index().HasText() {
			return nil, pipe.Valuef("the index stores no text: build it with store_text=True")
		}
		text, err := s.Index().Text(doc)
		return append(dst, text...), err
	})
}

// documentsOf returns the index of a call and the documents in its array docs.
func (w *Worker) documentsOf(c *pipe.Call, number int) (s *search.Searcher, docs []uint32, done func(), err error) {
	if docs, err = pipe.Get[uint32](c.Message, "docs"); err != nil {
		return nil, nil, nil, err
	}
	if s, done, err = w.use(number); err != nil {
		return nil, nil, nil, err
	}
	for _, doc := range docs {
		if int(doc) >= s.Index().Numbers() {
			done()
			return nil, nil, nil, pipe.Valuef("document %d does not exist: the index has %d documents", doc, s.Index().Numbers())
		}
	}
	return s, docs, done, nil
}

// ofDocuments returns a string for each of the documents in the array docs.
func (w *Worker) ofDocuments(c *pipe.Call,
	of func(s *search.Searcher, doc int, dst []byte) ([]byte, error)) (pipe.Reply, error) {
	var a indexArgs
	if err := c.Decode(&a); err != nil {
		return pipe.Reply{}, err
	}
	s, docs, done, err := w.documentsOf(c, a.Index)
	if err != nil {
		return pipe.Reply{}, err
	}
	defer done()
	var j joined
	for _, doc := range docs {
		if j.bytes, err = of(s, int(doc), j.bytes); err != nil {
			return pipe.Reply{}, err
		}
		j.end()
	}
	return pipe.Reply{Arrays: j.arrays("strings", "ends")}, nil
}

// find returns the numbers of documents by their IDs, and -1 for unknown IDs.
func (w *Worker) find(_ context.Context, c *pipe.Call) (pipe.Reply, error) {
	var a indexArgs
	if err := c.Decode(&a); err != nil {
		return pipe.Reply{}, err
	}
	s, done, err := w.use(a.Index)
	if err != nil {
		return pipe.Reply{}, err
	}
	defer done()
	ids, err := split(c.Message, "ids", "ends")
	if err != nil {
		return pipe.Reply{}, err
	}
	docs := make([]int64, len(ids))
	for i, id := range ids {
		doc, found, err := s.Index().FindDoc(asString(id))
		if err != nil {
			return pipe.Reply{}, err
		}
		if docs[i] = int64(doc); !found {
			docs[i] = -1
		}
	}
	return pipe.Reply{Arrays: []pipe.Array{pipe.NewArray("docs", docs)}}, nil
}
