package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/shards"
)

// The protocol between a root and the servers of shards. Every server speaks it: an index that is
// not a shard counts as the only one. JSON keeps scores to the bit, since they are written with
// enough digits to read the same float32 again.

// shardAbout describes the shard of a server.
type shardAbout struct {
	Number    int    `json:"number"` // counted from 0
	Of        int    `json:"of"`
	First     uint32 `json:"first_document"`
	Documents int    `json:"documents"` // of the shard
	Numbers   int    `json:"numbers"`   // Documents and those that were deleted, which keep their numbers
	Whole     string `json:"whole"`     // identifies the index and into how many shards it was cut
	WholeDocs uint64 `json:"whole_documents"`

	Analyzer string          `json:"analyzer,omitempty"`
	Text     bool            `json:"text,omitempty"`
	Schema   json.RawMessage `json:"schema,omitempty"`
	Bytes    int64           `json:"bytes,omitempty"`
	Postings int64           `json:"postings,omitempty"`
	Tokens   int64           `json:"tokens,omitempty"`
}

// aboutShard describes the index that a generation serves, as a shard.
func aboutShard(s *search.Searcher) (a shardAbout) {
	ix := s.Index()
	a = shardAbout{Of: 1, Documents: ix.Docs(), Numbers: ix.Numbers(), WholeDocs: uint64(ix.Docs())}
	a.Whole = ix.Identity()
	if list := ix.Segments(); len(list) == 1 {
		if part := list[0].Shard(); part.Of > 0 {
			a.Number, a.Of, a.First, a.WholeDocs = part.Number, part.Of, part.Base, part.Docs
			a.Whole = fmt.Sprintf("%08x-%x-%d", part.WholeChecksum, part.WholeBytes, ix.Generation())
		}
	}
	if a.Of > 1 { // shards of two cuts of an index overlap
		a.Whole += fmt.Sprintf("-in-%d", a.Of)
	}
	return a
}

// shardHeader is the header of requests for documents that names the shard that a root expects.
const shardHeader = "Collocate-Shard"

// key identifies a shard.
func (a *shardAbout) key() string { return a.Whole + "/" + strconv.Itoa(a.Number) }

// end is the number of the first document after the shard.
func (a *shardAbout) end() uint64 { return uint64(a.First) + uint64(max(a.Documents, a.Numbers)) }

// valid checks what a server says about its shard.
func (a *shardAbout) valid() error {
	switch {
	case a.Whole == "" || a.Of < 1 || a.Number < 0 || a.Number >= a.Of || a.Documents < 0:
	case a.Number == 0 && a.First != 0 || a.end() > 1<<32:
	case a.Of == 1 && uint64(a.Documents) == a.WholeDocs:
		return nil
	case a.Of > 1 && a.end() <= a.WholeDocs && (a.Number < a.Of-1 || a.end() == a.WholeDocs):
		return nil
	}
	return fmt.Errorf("it describes a shard that cannot be: %v", a)
}

func (a *shardAbout) String() string {
	return fmt.Sprintf("shard %d of %d with documents %d to %d of %d", a.Number, a.Of, a.First,
		int64(a.end())-1, a.WholeDocs)
}

// same reports whether two servers have the same documents of the same index.
func (a *shardAbout) same(b *shardAbout) bool {
	return a.Whole == b.Whole && a.Number == b.Number && a.First == b.First &&
		a.Documents == b.Documents && a.end() == b.end() && a.WholeDocs == b.WholeDocs
}

// apart reports whether two different shards of an index can stand beside each other: they have no
// documents in common, and no document between neighbours is in neither.
func (a *shardAbout) apart(b *shardAbout) bool {
	if a.Number > b.Number {
		a, b = b, a
	}
	return a.WholeDocs == b.WholeDocs && a.end() <= uint64(b.First) &&
		(a.Number+1 != b.Number || a.end() == uint64(b.First))
}

// shardAsk is a query of a root.
type shardAsk struct {
	Whole   string       `json:"whole"` // the index to search; another one is a conflict
	Ask     searchParams `json:"ask"`
	AtLeast float32      `json:"at_least,omitempty"`
	// After asks for the hits after one of any shard, numbered as in the whole index.
	After *search.After `json:"after,omitempty"`
	Docs  []uint32      `json:"docs,omitempty"` // describe these documents, numbered as in the whole index, instead of searching
	Bags  bool          `json:"bags,omitempty"` // return only the words of Docs
	// Words are the words of the query after its expansion.
	Words []search.Word `json:"words,omitempty"`
	// Patterns are the patterns of the query with the counts of all shards. With Find, a shard
	// returns only the words that match them in the shard.
	Patterns *[]search.Pattern `json:"patterns,omitempty"`
	Find     bool              `json:"find_patterns,omitempty"`
	// Notes asks what the shard lacks of a query that no shard has found anything for.
	Notes bool `json:"notes,omitempty"`
}

// shardAnswer is the answer of a shard. Documents are numbered as in the whole index.
type shardAnswer struct {
	Documents int           `json:"documents"` // of the shard
	Hits      []api.Hit     `json:"hits"`
	Total     int64         `json:"total,omitempty"`
	Stats     *search.Stats `json:"stats,omitempty"`
	// Facets count all values; Keys are the sort keys of the hits.
	Facets []search.FacetCounts `json:"facets,omitempty"`
	Keys   []search.SortKey     `json:"keys,omitempty"`
	Bags   *shards.Bags         `json:"bags,omitempty"`
	// Patterns are the patterns of the query with the words of the shard.
	Patterns []search.Pattern `json:"patterns,omitempty"`
	Notes    []string         `json:"notes,omitempty"`
}

// maxShardAnswer is the longest answer of a shard that a root reads, in bytes.
const maxShardAnswer = 1 << 28

// room returns how long the answer to a query can be, in bytes: more than any index of real
// documents needs, and little enough that a server out of control cannot fill the root's memory.
func (q *shardAsk) room(mine *shardAbout) int64 {
	room, docs := int64(1<<20), int64(len(q.Docs))
	switch {
	case q.Find:
		room += 16 << 20 // at most 1,024 words for each pattern
	case q.Bags:
		room += docs << 23
	case docs > 0:
		room += docs << 18
		if len(q.Ask.Show) > 0 {
			room += 64<<20 + docs<<20
		}
	default:
		hit := int64(8 << 10)
		if q.Ask.Sort != "" {
			hit *= int64(2 + strings.Count(q.Ask.Sort, ","))
		}
		room += int64(q.Ask.K) * hit
		room += int64(len(q.Ask.Facet)) * max(16<<20, 256*int64(mine.Documents))
	}
	return min(room, maxShardAnswer)
}

// fits checks that an answer can be the one of a shard to a query. A server with other documents,
// or one that is out of order, would mix wrong hits with those of others.
func (a *shardAnswer) fits(q *shardAsk, mine *shardAbout) error {
	most := len(q.Docs)
	if most == 0 {
		most = q.Ask.K
	}
	switch {
	case a.Documents != mine.Documents:
		return fmt.Errorf("it answers for %d documents, but has %d", a.Documents, mine.Documents)
	case q.Find:
		return nil
	case q.Bags && (a.Bags == nil || len(a.Bags.Docs) != len(q.Docs)):
		return fmt.Errorf("it has not answered with the words of %d documents", len(q.Docs))
	case q.Bags:
		return nil
	case len(a.Hits) > most || len(q.Docs) > 0 && len(a.Hits) != most:
		return fmt.Errorf("it answers with %d hits, want %d", len(a.Hits), most)
	case q.Ask.Sort != "" && len(a.Keys) != len(a.Hits):
		return fmt.Errorf("it answers with %d hits and %d sort keys", len(a.Hits), len(a.Keys))
	case slices.ContainsFunc(a.Keys, func(k search.SortKey) bool { return len(k.Then) != strings.Count(q.Ask.Sort, ",") }):
		return errors.New("it answers with sort keys of another number of fields")
	case (q.Ask.Count || q.Ask.K == 0 && len(q.Docs) == 0) && (a.Total < int64(len(a.Hits)) || a.Total > int64(a.Documents)):
		return fmt.Errorf("it has found %d of %d documents", a.Total, a.Documents)
	case len(a.Facets) != len(q.Ask.Facet):
		return fmt.Errorf("it answers with %d facets, want %d", len(a.Facets), len(q.Ask.Facet))
	}
	docs := make([]uint32, len(a.Hits))
	for i, h := range a.Hits {
		if h.Doc < mine.First || uint64(h.Doc) >= mine.end() {
			return fmt.Errorf("it answers with document %d, but has %d to %d", h.Doc, mine.First,
				int64(mine.end())-1)
		}
		if len(q.Docs) > 0 && h.Doc != q.Docs[i] {
			return fmt.Errorf("it describes document %d, not %d", h.Doc, q.Docs[i])
		}
		docs[i] = h.Doc
	}
	slices.Sort(docs)
	for i := 1; i < len(docs); i++ {
		if docs[i] == docs[i-1] {
			return fmt.Errorf("it answers with document %d twice", docs[i])
		}
	}
	return nil
}

// shard answers GET /internal/shard.
func (x *exchange) shard() {
	if x.draining.Load() {
		x.fail(http.StatusServiceUnavailable, errStopping)
		return
	}
	if n := len(x.list()); n > 1 { // the root would silently get the first
		x.fail(http.StatusConflict, fmt.Errorf("the server has %d indexes: a root needs servers of one", n))
		return
	}
	if err := x.g.fault.Load(); err != nil {
		x.fail(http.StatusServiceUnavailable, *err)
		return
	}
	a := x.g.shard
	a.Analyzer, a.Text = x.g.analyzerName, x.g.hasText
	if x.g.schema != nil {
		a.Schema = x.g.schema.JSON()
	}
	stats := x.g.s.Index().Stats()
	a.Bytes, a.Postings, a.Tokens = stats.Bytes, stats.Postings, stats.Tokens
	x.reply(http.StatusOK, a)
}

// shardSearch answers POST /internal/shard/search.
func (x *exchange) shardSearch() {
	body, ok := x.readBody()
	if !ok {
		return
	}
	var q shardAsk
	if err := json.Unmarshal(body, &q); err != nil {
		x.fail(http.StatusBadRequest, fmt.Errorf("body: %v", err))
		return
	}
	if q.Whole != x.g.shard.Whole {
		x.fail(http.StatusConflict, fmt.Errorf("it has shard %d of %d of index %s, not of %s",
			x.g.shard.Number, x.g.shard.Of, x.g.shard.Whole, q.Whole))
		return
	}
	if n := x.g.shard.Number; !askedFor(x.r.URL.RawQuery, n) {
		x.fail(http.StatusConflict, fmt.Errorf("this is shard %d of the index", n))
		return
	}
	q.Ask.ofRoot = true
	if err := x.check(&q.Ask); err != nil {
		x.fail(http.StatusBadRequest, err)
		return
	}
	var answer *shardAnswer
	in := q.Ask.lane()
	x.gate.isRoot(x.client)
	err := x.work(in, x.o.Limits.Time, func(ctx context.Context) (err error) {
		answer, err = x.answerShard(ctx, &q, in)
		return err
	})
	if err != nil {
		x.failed(err)
		return
	}
	answer.Documents = x.g.shard.Documents
	x.reply(http.StatusOK, answer)
}

// askedFor reports whether a root with these parameters expects this shard. Older roots send no
// parameter.
func askedFor(parameters string, shard int) bool {
	number, says := strings.CutPrefix(parameters, "shard=")
	return !says || number == strconv.Itoa(shard)
}

func (x *exchange) answerShard(ctx context.Context, q *shardAsk, in lane) (*shardAnswer, error) {
	r, base := &q.Ask.request, x.g.shard.First
	if q.Find {
		patterns, err := x.g.s.Patterns(ctx, *r)
		return &shardAnswer{Hits: []api.Hit{}, Patterns: patterns}, err
	}
	r.Patterns = q.Patterns
	if q.Notes {
		notes, err := x.g.s.Notes(ctx, *r, &search.Result{})
		return &shardAnswer{Hits: []api.Hit{}, Notes: notes}, err
	}
	found := &search.Result{Expanded: q.Words}
	if len(q.Docs) > 0 {
		for _, doc := range q.Docs {
			if doc < base || uint64(doc) >= x.g.shard.end() {
				return nil, fmt.Errorf("%w: document %d belongs to another shard", index.ErrShard,
					doc)
			}
			found.Hits = append(found.Hits, search.Hit{Doc: doc - base})
		}
		if q.Bags {
			return x.bagsOf(ctx, found.Hits)
		}
		q.Ask.details.Limit = len(q.Docs)
	} else {
		if len(q.Words) > 0 {
			r.Words, r.Text, r.Expand, r.Mode = q.Words, "", nil, search.Or
		}
		for i := range r.Facets {
			r.Facets[i].N = search.AllValues // the root cannot know yet which are the most frequent
		}
		r.Parallel = &search.Parallel{Threads: x.mayUse(in), Engine: q.Ask.engine}
		r.AtLeast = q.AtLeast
		if q.After != nil {
			after := *q.After
			after.Doc -= int64(base)
			r.After = &after
		}
		start := time.Now()
		var err error
		if found, err = x.g.s.Search(ctx, *r); err != nil {
			return nil, err
		}
		x.metrics.searched(q.Ask.engine, &found.Stats, time.Since(start))
		q.Ask.details = api.Details{Limit: r.K, Stats: q.Ask.Stats} // details follow when it is known which hits win
	}
	q.Ask.details.WithoutNotes = true
	a, err := api.Describe(ctx, x.g.s, *r, found, q.Ask.details)
	if err != nil {
		return nil, err
	}
	for i := range a.Hits {
		a.Hits[i].Doc += base
	}
	return &shardAnswer{Hits: a.Hits, Total: found.Total, Stats: a.Stats, Facets: found.Facets,
		Keys: found.Keys}, nil
}

// bagsOf returns the words of documents.
func (x *exchange) bagsOf(ctx context.Context, hits []search.Hit) (*shardAnswer, error) {
	docs := make([]uint32, len(hits))
	for i, h := range hits {
		docs[i] = h.Doc
	}
	bags, err := shards.BagsOf(ctx, x.g.s, docs)
	return &shardAnswer{Bags: bags}, err
}

// about is what queries are checked against: an index, or that of the shards of a root.
type about struct {
	analyzerName string
	hasText      bool
	schema       *fields.Schema
	docs         int
}

func (a *about) fieldNames() []string {
	if a.schema == nil {
		return nil
	}
	return a.schema.Names(func(f *fields.Field) bool { return f.Type != fields.Stored && f.Type != fields.Vector })
}

// errNoShards is the error of a root without reachable shards, errNoAnswer of one whose shards
// answer with errors only, and errMayHaveIt of one that cannot ask all.
var (
	errNoShards  = errors.New("no shard can be reached")
	errNoAnswer  = errors.New("no shard has answered the query")
	errMayHaveIt = errors.New("a shard that may have the document cannot be reached")
)
