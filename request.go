package collocate

import (
	"cmp"
	"context"
	"encoding"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// Request is a query and what its hits should carry. The zero values of all but Query are useful.
type Request struct {
	// Query is in the language of package search/query: words, "phrases", +must, -not, field:value,
	// ranges, patterns. What people type into a box is one.
	Query string
	// Tree is a query built in code, with the types of package search/query, instead of Query.
	Tree query.Node
	// Filter is another query, all of whose parts hits must meet without counting in their scores,
	// such as `year:>=2020 lang:en tags:(news OR sky)`.
	Filter string
	// All requires all words of Query instead of any.
	All bool
	// Synonyms of words of the query, such as those of text.ParseSynonyms, are found in place of
	// those that the analyzer of the index declares; nil means the latter.
	Synonyms *text.Synonyms
	// K is the number of hits; 0 means 10, and search.NoHits only counts the matches. From is the
	// number of best hits to skip.
	K, From int
	// After goes on after the last hit of an earlier answer, given its Next. The request must ask
	// the same, and no commit may have changed the index since (ErrChanged).
	After string
	// Nearest ranks by the similarity of vectors: alone, if there is neither Query nor Tree, or
	// together with the score of their words. Filter then chooses among all documents.
	Nearest *search.Nearest
	// Model scores documents; nil means search.BM25{}, by which a word that all documents have
	// scores 0 (with Variant: bm25.Lucene it does not), and weights of fields do not count.
	// search.BM25F{} uses them.
	Model search.Model
	// Boosts raise scores by values of fields, such as those of search.ParseBoosts.
	Boosts []search.Boost
	// Sort orders hits by a field instead of by score; see search.ParseSort.
	Sort *search.Sort
	// Facets count the values of fields over all matches; see search.ParseFacet.
	Facets []search.Facet
	// Count computes the number of matches.
	Count bool
	// Stored loads the stored fields of the hits.
	Stored bool
	// Snippet is the size in bytes of an excerpt of each hit, from all its text, with the words and
	// phrases of the query marked; 0 means none.
	Snippet int
	// Highlight names text fields of which hits carry an excerpt each, in Hit.Highlights. Its size
	// is Snippet, or 200 bytes if that is 0.
	Highlight []string
	// Explain tells for each hit where its score comes from.
	Explain bool
	// With changes the request to the engine, for what is not above: algorithm, cores or GPU,
	// expansion, proximity, passages. It may be nil. Filter limits what it leaves.
	With func(*search.Request)
}

// Result is the answer to a Request.
type Result struct {
	Hits   []Hit                // best first
	Total  int64                // number of matches, if Request.Count is set
	Facets []search.FacetCounts // for Request.Facets
	Stats  search.Stats         // the work of the search
	// Notes are sentences about what may be wrong with the query: words that no document has and
	// similar ones that some have, names of fields that do not exist.
	Notes []string

	// For Next.
	asked Request
	index string
	last  search.After
}

// Hit is a document that was found.
type Hit struct {
	ID    string  // as the document was added
	Score float32 // by the model
	// Snippet is set if Request.Snippet is. Its method HTML escapes the text.
	Snippet *search.Snippet
	// Highlights are those of Request.Highlight by the names of the fields, where the document has
	// the field.
	Highlights map[string]*search.Snippet
	// Explanation is set if Request.Explain is.
	Explanation *search.Explanation

	schema *fields.Schema
	stored []fields.Values
}

// Search answers a request. Errors of the request itself wrap search.ErrRequest.
func (x *Index) Search(ctx context.Context, r Request) (found *Result, err error) {
	if err := checked(ctx); err != nil {
		return nil, named("search", err)
	}
	if x.observed() {
		defer func(start time.Time) {
			e := Event{Call: "search", Query: r.text(), Err: err}
			if found != nil {
				e.Documents, e.Stats = len(found.Hits), &found.Stats
			}
			x.observe(e, start)
		}(time.Now())
	}
	g := x.current.get()
	if g == nil {
		return nil, named("search", ErrClosed)
	}
	defer g.release()
	found, err = answer(ctx, g.searcher, &r)
	if err != nil {
		return nil, fmt.Errorf("collocate: %w", err)
	}
	return found, nil
}

func answer(ctx context.Context, s *search.Searcher, r *Request) (*Result, error) {
	request, notes, err := requestOf(s, r)
	if err != nil {
		return nil, err
	}
	found, err := s.Search(ctx, request)
	if err != nil {
		return nil, err
	}
	out := &Result{Total: found.Total, Facets: found.Facets, Stats: found.Stats}
	if out.Hits, err = hitsOf(ctx, s, r, request, found.Hits); err != nil {
		return nil, err
	}
	if n := len(found.Hits); n > 0 && n == cmp.Or(request.K, defaultK) {
		out.asked, out.index = *r, s.Index().Identity()
		out.last = search.After{Score: found.Hits[n-1].Score, Doc: int64(found.Hits[n-1].Doc)}
		if request.Sort != nil {
			out.last.Key = found.Keys[n-1]
		}
	}
	missed, err := s.Notes(ctx, request, found)
	out.Notes = append(notes, missed...)
	return out, err
}

// hitsOf gives hits what a request asks for.
func hitsOf(ctx context.Context, s *search.Searcher, r *Request, request search.Request,
	found []search.Hit) ([]Hit, error) {
	if len(found) == 0 {
		for _, field := range r.Highlight { // a wrong name is an error also where nothing is found
			if _, err := s.Highlights(ctx, request, nil, field, defaultHighlight); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	schema, out := s.Index().Schema(), make([]Hit, len(found))
	if err := setIDs(s.Index(), out, found); err != nil {
		return nil, err
	}
	for i, h := range found {
		out[i].Score, out[i].schema = h.Score, schema
		if r.Stored && schema != nil {
			var err error
			if out[i].stored, err = s.Stored(h.Doc); err != nil {
				return nil, err
			}
		}
	}
	if r.Snippet == 0 && len(r.Highlight) == 0 && !r.Explain {
		return out, nil
	}
	docs := make([]uint32, len(found))
	for i, h := range found {
		docs[i] = h.Doc
	}
	if r.Snippet > 0 {
		list, err := s.Snippets(ctx, request, docs, r.Snippet)
		if err != nil {
			return nil, err
		}
		for i := range list {
			out[i].Snippet = list[i]
		}
	}
	for _, field := range r.Highlight {
		list, err := s.Highlights(ctx, request, docs, field, cmp.Or(r.Snippet, defaultHighlight))
		if err != nil {
			return nil, err
		}
		for i, h := range list {
			if out[i].Highlights == nil {
				out[i].Highlights = make(map[string]*search.Snippet, len(r.Highlight))
			}
			if h != nil {
				out[i].Highlights[field] = h
			}
		}
	}
	if r.Explain {
		list, err := s.Explanations(ctx, request, docs)
		if err != nil {
			return nil, err
		}
		for i := range list {
			out[i].Explanation = list[i]
		}
	}
	return out, nil
}

// setIDs sets the IDs of hits, which share one allocation.
func setIDs(x *segments.Reader, out []Hit, found []search.Hit) (err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	var few [32]int // on the stack
	all, ends := make([]byte, 0, 24*len(found)), few[:0]
	for _, h := range found {
		if all, err = x.AppendDocID(all, int(h.Doc)); err != nil {
			return err
		}
		ends = append(ends, len(all))
	}
	// all is not modified afterwards.
	text, start := unsafe.String(unsafe.SliceData(all), len(all)), 0
	for i, end := range ends {
		out[i].ID, start = text[start:end], end
	}
	return nil
}

// defaultK is the number of hits if Request.K is 0.
const defaultK = 10

// defaultHighlight is the size of an excerpt of a field if Request.Snippet is 0.
const defaultHighlight = 200

// page is the number of hits that All completes at a time, and ranked the number it ranks at a
// time; tests lower the latter.
const page = 1000

var ranked = 100 * page

// All yields every hit of a request, best first, of one generation of the index. K is ignored, and
// Facets and Count are not answered.
func (x *Index) All(ctx context.Context, r Request) iter.Seq2[Hit, error] {
	return func(yield func(Hit, error) bool) {
		err := checked(ctx)
		if err == nil {
			start, n := time.Now(), 0
			err = x.all(ctx, r, func(h Hit, err error) bool {
				n++
				return yield(h, err)
			})
			x.observe(Event{Call: "all", Query: r.text(), Documents: n, Err: err}, start)
		}
		if err != nil {
			yield(Hit{}, named("all", err))
		}
	}
}

func (x *Index) all(ctx context.Context, r Request, yield func(Hit, error) bool) error {
	g := x.current.get()
	if g == nil {
		return ErrClosed
	}
	defer g.release()
	r.K, r.Facets, r.Count = ranked, nil, false
	request, _, err := requestOf(g.searcher, &r)
	if err != nil {
		return err
	}
	for {
		found, err := g.searcher.Search(ctx, request)
		if err != nil {
			return err
		}
		for some := range slices.Chunk(found.Hits, page) {
			hits, err := hitsOf(ctx, g.searcher, &r, request, some)
			if err != nil {
				return err
			}
			for _, h := range hits {
				if !yield(h, nil) {
					return nil
				}
			}
		}
		n := len(found.Hits)
		if n < request.K {
			return nil
		}
		last := &search.After{Score: found.Hits[n-1].Score, Doc: int64(found.Hits[n-1].Doc)}
		if request.Sort != nil {
			last.Key = found.Keys[n-1]
		}
		request.After, request.From = last, 0
	}
}

// text returns the query in the language of package query.
func (r *Request) text() string {
	if r.Tree != nil {
		return r.Tree.String()
	}
	return r.Query
}

// requestOf makes a request to the engine.
func requestOf(s *search.Searcher, r *Request) (search.Request, []string, error) {
	out := search.Request{K: r.K, From: r.From, Model: r.Model, Boosts: r.Boosts, Sort: r.Sort,
		Facets: r.Facets, Count: r.Count, Synonyms: r.Synonyms}
	if r.All {
		out.Mode = search.And
	}
	o := query.Options{And: r.All, Fields: s.Fields()}
	var node, within query.Node
	if r.Filter != "" {
		var err error
		if within, err = query.ParseFilter(r.Filter, o); err != nil {
			return out, nil, fmt.Errorf("%w: filter: %w", search.ErrRequest, err)
		}
	}
	blank := strings.TrimSpace(r.Query) == ""
	if r.Nearest != nil {
		near := *r.Nearest
		if near.Filter == nil {
			near.Filter = within
		} else {
			near.Filter = query.Within(near.Filter, within)
		}
		out.Nearest, within = &near, nil
	}
	switch {
	case r.Tree != nil && !blank:
		return out, nil, fmt.Errorf("%w: both Query and Tree: give one", search.ErrRequest)
	case r.Tree != nil && r.All:
		return out, nil, fmt.Errorf("%w: All is for Query: say And in Tree", search.ErrRequest)
	case r.Tree != nil:
		if err := whole(r.Tree); err != nil {
			return out, nil, err
		}
		out.Query = r.Tree
	case blank && r.Nearest != nil:
	case within == nil && blank:
		return out, nil, fmt.Errorf("%w: an empty query: want words, or * for all documents", search.ErrRequest)
	case within != nil || !query.OnlyWords(r.Query):
		var err error
		if node, err = query.Parse(r.Query, o); err != nil {
			return out, nil, fmt.Errorf("%w: %w", search.ErrRequest, err)
		}
		if !query.Plain(r.Query, node, o) { // plain words are searched as such
			out.Query = node
		}
	}
	out.Text = r.Query
	if r.Snippet < 0 {
		return out, nil, fmt.Errorf("%w: Snippet: %d bytes: want 1 or more", search.ErrRequest, r.Snippet)
	}
	if r.After != "" {
		var err error
		if out.After, err = r.resume(s); err != nil {
			return out, nil, err
		}
	}
	if r.With != nil {
		changed := out // only then the request is allocated
		r.With(&changed)
		if within != nil && changed.Nearest != nil {
			return out, nil, fmt.Errorf("%w: With sets Nearest, which Filter would not reach: set Request.Nearest",
				search.ErrRequest)
		}
		out = changed
	}
	switch {
	case out.Query != nil:
		out.Query = query.Within(out.Query, within)
	case len(out.Words) > 0, strings.TrimSpace(out.Text) != "" && (out.Expand != nil || out.Proximity != nil):
		// These need plain words.
		out.Filter = within
	case within != nil:
		out.Query = query.Within(node, within)
	}
	return out, query.Notes(r.Query, o), nil
}

// DeleteMatching deletes the documents that match a query, all of whose parts they must meet, as in
// Request.Filter. It commits first, so that documents added before are found, and returns how many
// it deleted. Searches find them until Commit.
func (x *Index) DeleteMatching(ctx context.Context, filter string) (n int, err error) {
	if err := x.Commit(ctx); err != nil {
		return 0, err
	}
	err = x.write(func(w *segments.Writer) error {
		g := x.current.get()
		if g == nil {
			return ErrClosed
		}
		defer g.release()
		in := g.searcher
		if x.copy != nil { // others may have committed since
			if err := w.Refresh(); err != nil {
				return err
			}
			s, err := search.Open(w.Dir(), x.options.Analyzers...)
			if err != nil {
				return err
			}
			defer s.Close()
			in = s
		}
		node, err := query.ParseFilter(filter, query.Options{And: true, Fields: in.Fields()})
		switch {
		case err != nil:
			return err
		case node == nil:
			return errors.New("an empty query: to delete all documents, say *")
		}
		found, err := in.Match(ctx, search.Request{Query: node})
		if err != nil || len(found.Sets) == 0 {
			return err
		}
		n, err = w.DeleteDocs(in.Index(), found.Sets)
		return err
	})
	return n, named("delete", err)
}

// Fields returns the stored values of a hit by the names of the fields, as Field.JSON of package
// fields gives them: json.Number for numbers, strings for others, lists where there are several. It
// needs Request.Stored.
func (h *Hit) Fields() map[string]any {
	all := map[string]any{}
	for i, values := range h.stored {
		if v := h.schema.Fields[i].JSON(values); v != nil {
			all[h.schema.Fields[i].Name] = v
		}
	}
	return all
}

// Decode stores the values of a hit in a struct like those that were added, or with a part of their
// fields: in those that have the same names, by the rules of SchemaOf. Fields without a value
// become zero, and so do pointers to what was "". It needs Request.Stored.
func (h *Hit) Decode(into any) error {
	v := reflect.ValueOf(into)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return fmt.Errorf("collocate: decode into %T: want a pointer to a struct", into)
	}
	s, err := shapeOf(v.Type())
	if err != nil {
		return fmt.Errorf("collocate: decode: %w", err)
	}
	if h.stored == nil {
		return errors.New("collocate: decode: the hit has no values: set Request.Stored")
	}
	v = v.Elem()
	if s.id != nil {
		if err := set(v.FieldByIndex(s.id), [][]byte{[]byte(h.ID)}); err != nil {
			return fmt.Errorf("collocate: decode: ID %q: %w", h.ID, err)
		}
	}
	for i, path := range s.paths {
		if s.also[i] {
			continue
		}
		name := s.schema.Fields[i].Name
		at := h.schema.Find(name)
		if at < 0 {
			return fmt.Errorf("collocate: decode into %T: the index has no field %s", into, name)
		}
		if err := set(v.FieldByIndex(path), h.stored[at]); err != nil {
			return fmt.Errorf("collocate: decode: field %s: %w", name, err)
		}
	}
	return nil
}

// set stores values in a field of a struct: the reverse of valuesOf.
func set(to reflect.Value, values fields.Values) error {
	to.SetZero()
	if len(values) == 0 {
		return nil
	}
	if to.Kind() == reflect.Pointer {
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	one := string(values[0])
	switch x := to.Addr().Interface().(type) {
	case *time.Time:
		ms, err := fields.ParseDate(values[0])
		*x = time.UnixMilli(ms).UTC()
		return err
	case *[2]float64:
		p, err := fields.ParsePoint(values[0])
		x[0], x[1] = p.Degrees()
		return err
	case *[]byte:
		*x = []byte(one)
		return nil
	case encoding.TextUnmarshaler:
		return x.UnmarshalText(values[0])
	}
	switch k := to.Kind(); {
	case k == reflect.String:
		to.SetString(one)
	case k == reflect.Bool:
		v, err := strconv.ParseBool(one)
		to.SetBool(v)
		return err
	case k == reflect.Slice && to.Type().Elem().Kind() == reflect.String:
		list := reflect.MakeSlice(to.Type(), len(values), len(values))
		for i, v := range values {
			list.Index(i).SetString(string(v))
		}
		to.Set(list)
	case to.CanInt():
		v, err := strconv.ParseInt(one, 10, to.Type().Bits())
		to.SetInt(v)
		return err
	case to.CanUint():
		v, err := strconv.ParseUint(one, 10, to.Type().Bits())
		to.SetUint(v)
		return err
	case to.CanFloat():
		v, err := fields.ParseNumber(values[0])
		to.SetFloat(v)
		return err
	default:
		return fmt.Errorf("a field of type %v", to.Type())
	}
	return nil
}
