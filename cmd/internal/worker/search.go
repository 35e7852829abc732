package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cmd/internal/pipe"
	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
)

// maxHits is the most hits of a call, of 8 bytes each. Callers split larger batches.
const maxHits = 1 << 25

// searchArgs says how queries are evaluated.
type searchArgs struct {
	indexArgs
	api.Search
	filter  string // Search.Filter, which is evaluated once for all queries
	threads int
	query   *string // one query; nil: queries are in the array texts
	size    int     // of snippets, in bytes
	only    query.Node
}

// UnmarshalJSON reads the parameters of api.Search and those of the call. Queries are plain words
// unless syntax is true.
func (a *searchArgs) UnmarshalJSON(b []byte) error {
	api.SearchQuestion.Fill(&a.Search)
	a.Plain = true
	err := api.Object(json.NewDecoder(bytes.NewReader(b)), func(name string, raw json.RawMessage) error {
		var to any
		syntax := false
		switch name {
		case "index":
			to = &a.Index
		case "threads":
			to = &a.threads
		case "query":
			to = &a.query
		case "after":
			to = &a.After
		case "size":
			to = &a.size
		case "syntax":
			to = &syntax
			defer func() { a.Plain = !syntax }()
		default:
			return api.SearchQuestion.SetJSON(api.Python, &a.Search, name, raw)
		}
		return api.Decode(name, raw, to)
	})
	a.filter, a.Filter = a.Filter, ""
	if err == nil {
		err = atLeast("threads", a.threads, 0)
	}
	return err
}

// request returns the request, without a query.
func (a *searchArgs) request(s *search.Searcher) (r search.Request, err error) {
	r, _, err = a.Prepare(api.AboutIndex(s))
	if r.From = a.From; r.K != search.NoHits {
		r.K = a.K
	}
	return r, err
}

// ask sets the query of a request. An empty one finds nothing.
func (a *searchArgs) ask(about *api.About, r *search.Request, text string) error {
	if strings.TrimSpace(text+string(a.Sparse)) == "" && r.Nearest == nil {
		return nil
	}
	if err := a.Ask(about, r, text); err != nil {
		if wrong := new(query.Error); errors.As(err, &wrong) {
			return pipe.Valuef("query %q: %w", text, wrong)
		}
		return err
	}
	return nil
}

// limit limits a request to the documents that match the filter. The documents are found apart
// from the query, which therefore has the same scores as without a filter.
func (a *searchArgs) limit(ctx context.Context, s *search.Searcher, r *search.Request) (err error) {
	if a.filter == "" {
		return nil
	}
	a.only, err = query.ParseFilter(a.filter, query.Options{Fields: s.Fields()})
	if err != nil {
		return pipe.Valuef("filter=%q: %w", a.filter, err)
	}
	if a.only == nil {
		return pipe.Valuef("filter=%q: has no words", a.filter)
	}
	if r.Within, err = s.Match(ctx, search.Request{Query: a.only}); err != nil {
		return fmt.Errorf("filter=%q: %w", a.filter, err)
	}
	return nil
}

// noteFilter notes, once for all queries, what the index lacks of a filter that no document
// matches.
func (a *searchArgs) noteFilter(ctx context.Context, c *pipe.Call, s *search.Searcher,
	r *search.Request) error {
	if a.only == nil {
		return nil
	}
	for _, set := range r.Within.Sets {
		if set == nil || set.Count() > 0 {
			return nil
		}
	}
	notes, err := s.Notes(ctx, search.Request{Query: a.only}, &search.Result{})
	for _, note := range notes {
		c.Note(note)
	}
	if err == nil && len(notes) == 0 {
		c.Note(fmt.Sprintf("no document matches the filter %s", a.filter))
	}
	return err
}

// note adds notes about parts of a query that may not mean what the user intended.
func (a *searchArgs) note(c *pipe.Call, text string, fields []string) {
	if !a.Plain {
		for _, note := range query.Notes(text, query.Options{Fields: fields}) {
			c.Note(note)
		}
	}
}

// took is the result of a search besides its arrays: the time of the search alone, and the IDs of
// hits if there are few.
type took struct {
	Seconds float64  `json:"seconds"`
	IDs     []string `json:"ids,omitempty"`
	// What else was asked for.
	Total    *int64               `json:"total,omitempty"`
	Next     string               `json:"next,omitempty"` // cursor, if there may be further hits
	Facets   []search.FacetCounts `json:"facets,omitempty"`
	Expanded []api.ExpandedWord   `json:"expanded,omitempty"`
}

// search answers one query, or those in the array texts. The hits of query i are those from
// offsets[i] to offsets[i+1].
func (w *Worker) search(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	var a searchArgs
	if err := c.Decode(&a); err != nil {
		return pipe.Reply{}, err
	}
	s, done, err := w.use(a.Index)
	if err != nil {
		return pipe.Reply{}, err
	}
	defer done()
	r, err := a.request(s)
	if err != nil {
		return pipe.Reply{}, err
	}
	if err := a.limit(ctx, s, &r); err != nil {
		return pipe.Reply{}, err
	}
	about := api.AboutIndex(s)
	if a.query != nil {
		if err := a.ask(about, &r, *a.query); err != nil {
			return pipe.Reply{}, err
		}
		a.note(c, *a.query, about.Fields)
		var d api.Details
		if err := a.Resume(about, &r, &d); err != nil {
			return pipe.Reply{}, err
		}
		if a.After != "" && r.After == nil && r.K != search.NoHits {
			r.K, r.From = a.K, d.From
		}
		return searchOne(ctx, c, s, r, &d, a.only)
	}
	if a.Count || len(a.Facet) > 0 || a.K == 0 {
		return pipe.Reply{}, pipe.Valuef("count, facet and a k of 0 are for one query, not for several at once")
	}
	queries, err := split(c.Message, "texts", "ends")
	if err != nil {
		return pipe.Reply{}, err
	}
	if err := a.noteFilter(ctx, c, s, &r); err != nil {
		return pipe.Reply{}, err
	}
	width := min(r.K, s.Index().Docs())
	if len(queries)*width > maxHits {
		return pipe.Reply{}, pipe.Valuef("%d queries with up to %d hits: want at most %d hits per call", len(queries), width, maxHits)
	}
	offsets := make([]int64, len(queries)+1)
	docs := make([]uint32, len(queries)*width)
	scores := make([]float32, len(queries)*width)
	requests := make([]search.Request, len(queries))
	for i, q := range queries {
		requests[i] = r
		if err := a.ask(about, &requests[i], asString(q)); err != nil {
			return pipe.Reply{}, fmt.Errorf("query %d: %w", i, err)
		}
		a.note(c, asString(q), about.Fields)
	}
	within, err := candidates(c.Message, s, len(queries), r.Within)
	if err != nil {
		return pipe.Reply{}, err
	}
	// A set of candidates has a bit for each document of the index: it is made when it is needed.
	asked := func(yield func(search.Request) bool) {
		for i := range requests {
			one := requests[i]
			if within != nil {
				one.Within = within(i)
			}
			if !yield(one) {
				return
			}
		}
	}
	start := time.Now()
	// Each core writes hits to where they belong if every query has k hits.
	hits := search.MapBatch(ctx, s, asked, search.Batch{Threads: a.threads},
		func(i int, found *search.Result) (int, error) {
			for j, h := range found.Hits {
				docs[i*width+j], scores[i*width+j] = h.Doc, h.Score
			}
			return len(found.Hits), nil
		})
	i, at := 0, 0
	for n, err := range hits {
		if err != nil {
			return pipe.Reply{}, fmt.Errorf("query %d: %w", i, err)
		}
		if at < i*width { // an earlier query had fewer than k hits
			copy(docs[at:], docs[i*width:i*width+n])
			copy(scores[at:], scores[i*width:i*width+n])
		}
		at += n
		i++
		offsets[i] = int64(at)
	}
	return pipe.Reply{Result: took{Seconds: time.Since(start).Seconds()}, Arrays: []pipe.Array{
		pipe.NewArray("offsets", offsets), pipe.NewArray("docs", docs[:at]), pipe.NewArray("scores", scores[:at]),
	}}, nil
}

// candidates returns a function that gives the documents which may answer query i, to rerank them:
// those in the array within from within_ends[i-1] to within_ends[i] that are also among others. It
// returns nil if the call has no such array.
func candidates(m *pipe.Message, s *search.Searcher, queries int,
	others *search.Within) (func(i int) *search.Within, error) {
	if _, ok := m.Array("within"); !ok {
		return nil, nil
	}
	docs, err := pipe.Get[uint32](m, "within")
	if err != nil {
		return nil, err
	}
	ends, err := pipe.Get[int64](m, "within_ends")
	if err != nil {
		return nil, err
	}
	if len(ends) != queries {
		return nil, pipe.Valuef("%d lists of candidates for %d queries: want one for each", len(ends), queries)
	}
	at := int64(0)
	for _, end := range ends {
		if end < at || end > int64(len(docs)) {
			return nil, pipe.Valuef("candidates end at %d: want %d to %d", end, at, len(docs))
		}
		at = end
	}
	for _, doc := range docs {
		if int(doc) >= s.Index().Numbers() {
			return nil, pipe.Valuef("document %d does not exist: the index has %d documents", doc, s.Index().Numbers())
		}
	}
	segments := s.Index().Segments()
	return func(i int) *search.Within {
		sets := make([]*docset.Set, len(segments))
		for j := range segments {
			sets[j] = docset.New(segments[j].Docs())
		}
		from := int64(0)
		if i > 0 {
			from = ends[i-1]
		}
		for _, doc := range docs[from:ends[i]] {
			j := sort.Search(len(segments), func(j int) bool { return segments[j].Base > doc }) - 1
			sets[j].Add(doc - segments[j].Base)
		}
		for j := range sets {
			if set := others.Of(j); set != nil {
				sets[j].And(set)
			}
		}
		return &search.Within{Sets: sets}
	}, nil
}

// searchOne answers one query. It also notes what the index lacks of it and of its filter only; in
// a batch that would be many notes.
func searchOne(ctx context.Context, c *pipe.Call, s *search.Searcher, r search.Request, d *api.Details,
	only query.Node) (pipe.Reply, error) {
	start := time.Now()
	found, err := s.Search(ctx, r)
	if err != nil {
		return pipe.Reply{}, err
	}
	seconds := time.Since(start).Seconds()
	r.Filter = only
	notes, err := s.Notes(ctx, r, found)
	if err != nil {
		return pipe.Reply{}, err
	}
	for _, note := range notes {
		c.Note(note)
	}
	told := took{Seconds: seconds, Facets: found.Facets}
	if n := len(found.Hits); n > 0 && n == r.K {
		last := found.Hits[n-1]
		var key *search.SortKey
		if r.Sort != nil {
			key = &found.Keys[n-1]
		}
		told.Next = d.Next(&api.Hit{Rank: r.From + d.First + n, Doc: last.Doc, Score: last.Score}, key)
	}
	if r.Count {
		told.Total = &found.Total
	}
	for _, w := range found.Expanded {
		told.Expanded = append(told.Expanded, api.ExpandedWord{Word: w.Text, Weight: w.Weight})
	}
	docs, scores := make([]uint32, len(found.Hits)), make([]float32, len(found.Hits))
	for i, h := range found.Hits {
		docs[i], scores[i] = h.Doc, h.Score
	}
	arrays := []pipe.Array{pipe.NewArray("docs", docs), pipe.NewArray("scores", scores)}
	const few = 100 // if there are more hits, most of their IDs are never used
	if len(docs) > few {
		return pipe.Reply{Result: told, Arrays: arrays}, nil
	}
	ids := make([]string, len(docs))
	for i, doc := range docs {
		if ids[i], err = s.Index().DocID(int(doc)); err != nil {
			return pipe.Reply{}, err
		}
		if !utf8.ValidString(ids[i]) { // JSON cannot represent it
			return pipe.Reply{Result: told, Arrays: arrays}, nil
		}
	}
	told.IDs = ids
	return pipe.Reply{Result: told, Arrays: arrays}, nil
}

// aboutHits reads the parameters of a call about the hits of one query.
func (w *Worker) aboutHits(c *pipe.Call) (a searchArgs, r search.Request, docs []uint32,
	s *search.Searcher, done func(), err error) {
	if err = c.Decode(&a); err != nil {
		return
	}
	if a.query == nil {
		err = pipe.Valuef("query is missing")
		return
	}
	if docs, err = pipe.Get[uint32](c.Message, "docs"); err != nil {
		return
	}
	if s, done, err = w.use(a.Index); err != nil {
		return
	}
	if r, err = a.request(s); err == nil {
		err = a.ask(api.AboutIndex(s), &r, *a.query)
	}
	if err != nil {
		done()
		return
	}
	for _, doc := range docs {
		if int(doc) >= s.Index().Numbers() {
			done()
			err = pipe.Valuef("document %d does not exist: the index has %d documents", doc, s.Index().Numbers())
			return
		}
	}
	return
}

// snippets returns the passages of documents that contain the words of a query.
func (w *Worker) snippets(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	a, r, docs, s, done, err := w.aboutHits(c)
	if err != nil {
		return pipe.Reply{}, err
	}
	defer done()
	if !s.Index().HasText() {
		return pipe.Reply{}, pipe.Valuef("the index stores no text for snippets: build it with store_text=True")
	}
	if err := within("size", a.size, 1, 1<<20); err != nil {
		return pipe.Reply{}, err
	}
	list, err := s.Snippets(ctx, r, docs, a.size)
	return pipe.Reply{Result: list}, err
}

// explain returns how the scores of documents are computed.
func (w *Worker) explain(ctx context.Context, c *pipe.Call) (pipe.Reply, error) {
	_, r, docs, s, done, err := w.aboutHits(c)
	if err != nil {
		return pipe.Reply{}, err
	}
	defer done()
	list, err := s.Explanations(ctx, r, docs)
	return pipe.Reply{Result: list}, err
}
