package ask

import (
	"fmt"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/query"
)

// Mode says which documents are answers.
type Mode uint8

// Or wants any of the words, And all of them.
const (
	Or Mode = iota
	And
)

func (m Mode) String() string {
	if m == And {
		return "and"
	}
	return "or"
}

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (m Mode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (m *Mode) UnmarshalText(name []byte) (err error) {
	*m, err = ParseMode(string(name))
	return err
}

// ParseMode knows or and and.
func ParseMode(s string) (Mode, error) {
	switch s {
	case "or":
		return Or, nil
	case "and":
		return And, nil
	}
	return 0, fmt.Errorf("unknown mode %q: want or, and", s)
}

// Word is a word of a query, as the index has it, with its weight.
type Word struct {
	Text   string
	Weight float64 // 1 for a word said once; 0 means 1
}

// MaxK is the largest number of answers that can be asked for.
const MaxK = 1 << 20

// Request is a query and how to answer it. Only Text, Words or Query must be given.
type Request struct {
	// The size is a multiple of 16 bytes: see TestRequestSize.

	// Text is plain words, cut by the analyzer that made the index. Quotes and operators have no
	// meaning in it: query.Parse makes a Query of them.
	Text string
	// Words are used instead if there are any. The same word twice is one word with the sum of
	// the weights.
	Words []Word
	// Query is used instead of both if it is not nil: a tree of package query. Mode has no effect
	// on it.
	Query query.Node
	// K is how many answers are wanted; 0 means 10.
	K int
	// From is how many of the best answers are left out, for pages.
	From int
	// Mode: any word or all words.
	Mode Mode
	// Algorithm does the work; all give the same result.
	Algorithm Algorithm
	// Trace keeps how the threshold rose, in Stats.Thresholds, if one core does the work.
	Trace bool
	// Count wants Result.Total.
	Count bool
	// AtLeast is a score below which documents may be missing from the answers; 0 means none may.
	// It is for callers that merge the answers of several indexes and know k documents that are as
	// good. Where it spares nothing it has no effect.
	AtLeast float32
	// Patterns, for a shard, are the counts of the query's patterns in the whole index; nil means
	// none.
	Patterns *[]Pattern
	_        uint64 // for the size
	// Model scores; nil means BM25{}.
	Model model.Model
	// Parallel spreads the work over cores, or names the GPU; nil means one core.
	Parallel *Parallel
	// Within are the documents that may be answers; nil means all.
	Within *Within
	// Facets ask for counts of the values that the answers have in some fields.
	Facets []Facet
	// Sort orders the answers by a field; nil means by score.
	Sort *Sort
	// Expand adds words of the best documents to the query; nil means none.
	Expand *Expand
	// Proximity lets neighbours in the text count more; nil means that they do not.
	Proximity *Proximity
}

// IsTree says whether a request wants more than the best documents for some words.
func (r *Request) IsTree() bool {
	return r.Query != nil || r.Count || r.From != 0 || r.Gathers() ||
		r.Expand != nil || r.Proximity != nil
}

// Gathers says whether a request has a use for all of its answers, not only for the best.
func (r *Request) Gathers() bool { return len(r.Facets) > 0 || r.Sort != nil }

// Within limits answers to some documents.
type Within struct {
	// Sets has a set for each segment of the index, of which nil stands for all documents. It must
	// not change before the request is answered.
	Sets []*docset.Set
}

// Of is the set of a segment.
func (w *Within) Of(segment int) *docset.Set {
	if w == nil {
		return nil
	}
	return w.Sets[segment]
}

// Hit is an answer.
type Hit struct {
	Doc   uint32
	Score float32
}

// Result is what a request found.
type Result struct {
	Hits  []Hit // best first
	Total int64 // of all answers, if Request.Count wants it
	// Facets has the counts that Request.Facets wants, in that order.
	Facets []FacetCounts
	// Keys are those of the hits, if Request.Sort orders them.
	Keys []SortKey
	// Expanded has the words that were searched for, if Request.Expand added some.
	Expanded []Word
	Stats    Stats
}

// Stats is what a search had to do.
type Stats struct {
	Algorithm Algorithm `json:"algorithm"` // the one that Auto chose, or the one that was asked for
	// Strategy is the strategy that the algorithm took.
	Strategy Strategy `json:"strategy,omitempty"`
	// Words that the index knows, the postings in their lists, and the blocks these are stored in.
	Words    int   `json:"words"`
	Postings int64 `json:"postings"`
	Blocks   int64 `json:"blocks"`
	// Scored postings; Decoded ones are those of the blocks in which any was; the other blocks were
	// Skipped. A strategy that tries again, or comes back to a block, counts it each time: Scored
	// and Decoded may exceed Postings, and Skipped is at least 0.
	Scored  int64 `json:"scored"`
	Decoded int64 `json:"decoded"`
	Skipped int64 `json:"skipped"`
	// Entered counts documents that entered the k best, for good or not.
	Entered int64 `json:"entered"`
	// Pruned says that the index is pruned, so that better documents may be missing.
	Pruned bool `json:"pruned,omitempty"`
	// Thresholds is the score to beat over time, if asked for: some 20 to 100 points.
	Thresholds []Threshold `json:"thresholds,omitempty"`
	// Parallel says how the work was spread over cores; nil if it was not.
	Parallel *ParallelStats `json:"parallel,omitempty"`
	// GPU says what the device did; nil if it did nothing.
	GPU *GPUStats `json:"gpu,omitempty"`
}

// Threshold says that after the given number of documents had entered the k best, when the search
// had come to that document, only higher scores could enter.
type Threshold struct {
	Entered int64   `json:"entered"`
	Doc     uint32  `json:"doc"`
	Score   float32 `json:"score"`
}

// Pattern is one of a query, as in eclips*, with the words that it stands for in an index.
type Pattern struct {
	Field string        `json:"field,omitempty"` // "" is the text
	Text  string        `json:"text"`
	Words []PatternWord `json:"words,omitempty"` // in byte order
	// DF and CF are what the pattern counts as: of its words the highest DF, and the sum of their
	// CF.
	DF uint32 `json:"df"`
	CF uint64 `json:"cf"`
}

// PatternWord is a word with its counts.
type PatternWord struct {
	Text string `json:"text"`
	DF   uint32 `json:"df"`
	CF   uint64 `json:"cf"`
}
