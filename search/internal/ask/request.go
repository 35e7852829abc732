package ask

import (
	"encoding/json"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/internal/choice"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// Mode says which documents match: those with any of the words, or with all of them.
type Mode uint8

// Or matches documents with any of the words, And those with all of them.
const (
	Or Mode = iota
	And
)

var modeNames = choice.New[Mode]("mode", "or", "and")

func (m Mode) String() string { return modeNames.Of(m) }

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (m Mode) MarshalText() ([]byte, error) { return modeNames.Text(m) }

// UnmarshalText is the inverse of MarshalText.
func (m *Mode) UnmarshalText(name []byte) error { return modeNames.Set(m, string(name)) }

// ParseMode is the inverse of String.
func ParseMode(name string) (Mode, error) { return named(modeNames.Parse(name)) }

// Word is a word of a query, in the form in which the index has it, with its weight.
type Word struct {
	Text   string  // as the analyzer of the index makes it
	Weight float64 // factor of its scores: 2 for a word that a query has twice; 0 means 1
}

// MaxK is the largest allowed number of results.
const MaxK = 1 << 20

// NoHits as the K of a request asks for the total and the facets only.
const NoHits = -1

// Request is a query and how to answer it. One of Text, Words and Query says what to find; without
// any there are no hits.
type Request struct {
	// The size is a multiple of 16 bytes: see TestRequestSize.

	// Text is plain words, tokenized by the analyzer of the index. Quotes and operators have no
	// meaning in it; query.Parse makes a Query from text with operators.
	Text string
	// Words are used instead of Text if there are any. A repeated word is one word with the sum of
	// the weights.
	Words []Word
	// Query is used instead of both if it is not nil: a tree of package query. It ignores Mode.
	Query query.Node
	// K is the number of results; 0 means 10. NoHits means none: nothing is ranked, and Total and
	// Facets are all that is computed.
	K int
	// From is the number of best answers to skip, for paging.
	From int
	// Mode requires any of the words or all of them.
	Mode Mode
	// Collapse makes documents hits instead of their passages.
	Collapse Collapse
	// Algorithm evaluates the query; all give the same result.
	Algorithm Algorithm
	// Trace records how the threshold rose, in Stats.Thresholds, if one core evaluates the query.
	Trace bool
	// Count requests Result.Total, the number of all matching documents.
	Count bool
	// AtLeast is a score below which documents may be missing from the result; 0 means none may. It
	// is for callers that merge the results of several indexes and already have k documents with at
	// least this score. It has no effect where it saves no work.
	AtLeast float32
	// Patterns are, for a shard, the counts of the query's patterns in the whole index; nil means
	// that they are not given.
	Patterns *[]Pattern
	// After begins with the hits that follow one that is known, as a cursor does; nil begins with
	// the best. It needs a From of 0. Total and Facets are still those of all matching documents.
	After *After
	// Model is the scoring model; nil means BM25{}.
	Model model.Model
	// Parallel spreads the work over cores, or names the GPU; nil means one core.
	Parallel *Parallel
	// Within are the documents that may match; nil means all.
	Within *Within
	// Filter limits the answers to documents that it matches, found apart from the query, which
	// stays plain words: Expand and Proximity need these. nil means none.
	Filter query.Node
	// Facets requests the counts of field values over all matching documents.
	Facets []Facet
	// Sort orders the hits by a field; nil means by score.
	Sort *Sort
	// Expand adds words from the best documents to the query; nil means none.
	Expand *Expand
	// Synonyms of the query's words, instead of those that the index has; nil means these, and
	// rules without any none. They are not for Words.
	Synonyms *text.Synonyms
	// Proximity rewards query words that are adjacent in a document; nil means no reward.
	Proximity *Proximity
	// Boosts raise scores by values of fields, in this order.
	Boosts []Boost

	// Nearest ranks by the similarity of vectors, beside the words if there are any; nil means by
	// words alone.
	Nearest *Nearest
}

// IsTree reports whether a request needs more than the top k documents for some words.
func (r *Request) IsTree() bool {
	return r.Query != nil || r.Filter != nil || r.Count || r.From != 0 || r.K == NoHits || r.After != nil ||
		r.Gathers() || r.Expand != nil || r.Proximity != nil || len(r.Boosts) > 0 ||
		r.Collapse != NoCollapse || r.Nearest != nil ||
		r.Synonyms != nil && r.Synonyms.Len() > 0
}

// Gathers reports whether a request needs all matching documents, not only the best.
func (r *Request) Gathers() bool { return len(r.Facets) > 0 || r.Sort != nil }

// After is the place of a hit in the order of a request's answers.
type After struct {
	Score float32 `json:"score"` // of the hit; it does not matter if a request has a Sort
	// Doc is the number of the hit's document. It may be any number, since a hit of another shard
	// has one that this index does not have.
	Doc int64   `json:"doc"`
	Key SortKey `json:"key"` // of the hit, if the request has a Sort
}

// Precedes reports whether the hit comes before a document, in the order of scores.
func (a *After) Precedes(doc uint32, score float32) bool {
	return score < a.Score || score == a.Score && int64(doc) > a.Doc
}

// Within limits answers to some documents.
type Within struct {
	// Sets has a set for each segment of the index, of its number of documents; a nil set means all
	// documents of the segment. They must not change before the request is answered.
	Sets []*docset.Set
}

// Check returns an error if there is not a set for each of an index's segments, or that of one
// segment is of another number of documents: a generation of the index that is older or newer has
// other documents of the same numbers.
func (w *Within) Check(segments, segment, docs int) error {
	switch {
	case w == nil:
	case len(w.Sets) != segments:
		return Refuse("Within: %d sets: want %d, one for each segment of the index, as Match finds them",
			len(w.Sets), segments)
	case w.Sets[segment] != nil && w.Sets[segment].Len() != docs:
		return Refuse("Within: a set of %d documents for segment %d, which has %d: want those that Match finds",
			w.Sets[segment].Len(), segment, docs)
	}
	return nil
}

// Of returns the set of a segment.
func (w *Within) Of(segment int) *docset.Set {
	if w == nil || segment >= len(w.Sets) { // Check refuses the latter
		return nil
	}
	return w.Sets[segment]
}

// Hit is a document of the result.
type Hit struct {
	Doc   uint32  // number of the document in the index, from 0
	Score float32 // by the model; higher is better
}

// Result is the answer to a request.
type Result struct {
	Hits  []Hit // best first
	Total int64 // number of matching documents, if Request.Count is set or K is NoHits
	// Facets has the counts for Request.Facets, in the same order.
	Facets []FacetCounts
	// Keys are the sort keys of the hits, if Request.Sort is set.
	Keys []SortKey
	// Expanded has the words of the expanded query, if Request.Expand is set.
	Expanded []Word
	Stats    Stats // the work of the search
}

// Stats counts the work done by a search.
type Stats struct {
	// Algorithm is the one requested, or chosen by Auto. It is Auto itself, which JSON omits, if a
	// strategy for trees was used that is none of the algorithms.
	Algorithm Algorithm `json:"algorithm,omitempty"`
	// Strategy is the strategy that the algorithm used; all of them, if segments, shards or workers
	// used different ones.
	Strategy Strategy `json:"strategy,omitempty"`
	// Words is the number of distinct query words that score and that the index has, Postings the
	// total length of their lists, and Blocks the number of blocks in which these are stored. A
	// word that a tree searches for in two fields has two lists and counts twice.
	Words    int   `json:"words"`
	Postings int64 `json:"postings"`
	Blocks   int64 `json:"blocks"`
	// Scored counts the postings that were scored, Decoded the postings of the blocks that contain
	// any of them, and Skipped the other blocks. A strategy that retries, or returns to a block,
	// counts it each time: Scored and Decoded may exceed Postings, and Skipped is at least 0.
	// Strategies for trees count neither these nor Blocks: see Counted.
	Scored  int64 `json:"scored"`
	Decoded int64 `json:"decoded"`
	Skipped int64 `json:"skipped"`
	// Entered counts documents that entered the k best, even if later evicted.
	Entered int64 `json:"entered"`
	// Pruned says that the index is pruned, so that better documents may be missing.
	Pruned bool `json:"pruned,omitempty"`
	// Thresholds is the threshold over time, if Request.Trace is set: some 20 to 100 points.
	Thresholds []Threshold `json:"thresholds,omitempty"`
	// Parallel says how the work was spread over cores; nil if it was not.
	Parallel *ParallelStats `json:"parallel,omitempty"`
	// GPU says what the device did; nil if it did nothing.
	GPU *GPUStats `json:"gpu,omitempty"`
}

// Counted reports whether Blocks, Scored, Decoded and Skipped were counted: strategies for trees
// leave them 0, and JSON leaves them out.
func (s *Stats) Counted() bool { return s.Blocks > 0 || s.Postings == 0 }

// Add adds the work on another part of the index, such as a shard. Algorithm becomes Auto if the
// parts used different ones. Thresholds and Parallel, which describe one search, stay as they are.
func (s *Stats) Add(part *Stats) {
	if s.Algorithm != part.Algorithm {
		s.Algorithm = Auto
	}
	s.Strategy |= part.Strategy
	s.Words = max(s.Words, part.Words)
	s.Postings += part.Postings
	s.Blocks += part.Blocks
	s.Scored += part.Scored
	s.Decoded += part.Decoded
	s.Skipped += part.Skipped
	s.Entered += part.Entered
	s.Pruned = s.Pruned || part.Pruned
	switch a, b := s.GPU, part.GPU; {
	case a == nil:
		s.GPU = b
	case b != nil:
		a.Items += b.Items
		a.Candidates += b.Candidates
		a.Rescored += b.Rescored
		a.Time += b.Time
	}
}

// How names the algorithm and, in brackets, its strategy, or the strategy alone if it is none of
// the algorithms.
func (s *Stats) How() string {
	switch {
	case s.Strategy == NoStrategy:
		return s.Algorithm.String()
	case s.Algorithm == Auto:
		return s.Strategy.String()
	}
	return s.Algorithm.String() + " (" + s.Strategy.String() + ")"
}

// MarshalJSON leaves out what was not counted.
func (s Stats) MarshalJSON() ([]byte, error) {
	type all Stats
	if s.Counted() {
		return json.Marshal(all(s))
	}
	return json.Marshal(struct {
		all
		Blocks  int64 `json:"blocks,omitempty"`
		Scored  int64 `json:"scored,omitempty"`
		Decoded int64 `json:"decoded,omitempty"`
		Skipped int64 `json:"skipped,omitempty"`
	}{all: all(s)})
}

// Threshold is a point in time: after Entered documents had entered the k best, when the search had
// reached Doc, only scores above Score could enter.
type Threshold struct {
	Entered int64   `json:"entered"` // documents that had entered the k best so far
	Doc     uint32  `json:"doc"`     // number of the document that the search had reached
	Score   float32 `json:"score"`   // the threshold from then on
}

// Pattern is a pattern of a query, such as eclips*, with the words that it expands to in an index.
type Pattern struct {
	Field string        `json:"field,omitempty"` // "" means the text
	Text  string        `json:"text"`            // the pattern, as the query has it
	Words []PatternWord `json:"words,omitempty"` // the words that fit it, in byte order
	// DF is the highest DF of its words, CF the sum of their CF. The pattern is scored by these.
	DF uint32 `json:"df"`
	CF uint64 `json:"cf"`
}

// PatternWord is a word with its counts.
type PatternWord struct {
	Text string `json:"text"` // as the index has it
	DF   uint32 `json:"df"`   // number of documents that contain it
	CF   uint64 `json:"cf"`   // number of its occurrences in all documents
}
