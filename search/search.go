package search

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/text"
)

// Searcher answers queries on one index. Several goroutines may use it at once.
type Searcher struct {
	index    *index.Reader
	analyzer text.Analyzer
	short    text.ShortAnalyzer // the same, or nil
	c        collection
	own      bool // Close closes the index

	mu       sync.Mutex
	weighers map[Model]weigher
	last     atomic.Pointer[knownModel] // that was used
	queries  sync.Pool                  // of *query
	known    *wordCache

	gpu *onGPU // the index on a device, if it is on one
}

// wordSets is how many sets of words a searcher remembers, in one megabyte and, if it has met so many words, 100 bytes for each. The web
// queries of the tests have 31,220 words: with a quarter of the sets ANDs take a fifth longer.
const wordSets = 1 << 14

// Open opens the index in a folder for searching.
func Open(dir string) (*Searcher, error) {
	r, err := index.Open(dir)
	if err != nil {
		return nil, err
	}
	s, err := New(r)
	if err != nil {
		r.Close()
		return nil, err
	}
	s.own = true
	return s, nil
}

// New searches an open index. Closing the Searcher does not close it.
func New(r *index.Reader) (*Searcher, error) {
	a, err := text.ParseAnalyzer(r.Analyzer())
	if err != nil {
		return nil, fmt.Errorf("search: words of the index: %w", err)
	}
	short, _ := a.(text.ShortAnalyzer)
	low, _, exact := r.ClassLengths()
	s := &Searcher{
		index: r, analyzer: a, short: short, known: newWordCache(wordSets),
		c: collection{
			docs: uint64(r.Docs()), tokens: uint64(r.Tokens()),
			lengths: r.Lengths(), classLength: low, buckets: &buckets{classes: r.Classes(), lengths: low}, groups: &lengthGroups{}, codeTF: index.TFOfCode(), stored: r.StoredModel(),
		},
		weighers: map[Model]weigher{},
	}
	if exact {
		s.c.classes = r.Classes()
	}
	return s, nil
}

// Close releases what Open opened.
func (s *Searcher) Close() error {
	err := s.closeGPU()
	if s.own {
		err = errors.Join(err, s.index.Close())
	}
	return err
}

// Index is the index that is searched.
func (s *Searcher) Index() *index.Reader { return s.index }

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

// Request is a query with how to answer it. Only Text or Words must be given.
type Request struct {
	// The order of the fields makes 80 bytes of them: see TestRequestSize.

	// Text is cut into words by the analyzer that made the index.
	Text string
	// Words are used instead if there are any. The same word twice is one word with the sum of
	// the weights.
	Words []Word
	// K is how many answers are wanted; 0 means 10.
	K int
	// Mode: any word or all words.
	Mode Mode
	// Algorithm does the work; all give the same result.
	Algorithm Algorithm
	// Trace keeps how the threshold rose, in Stats.Thresholds, if one core does the work.
	Trace bool
	// Model scores; nil means BM25{}.
	Model Model
	// Parallel spreads the work over cores, or names the GPU; nil means one core.
	Parallel *Parallel
}

// Hit is an answer.
type Hit struct {
	Doc   uint32
	Score float32
}

// Result is what a request found.
type Result struct {
	Hits  []Hit // best first
	Stats Stats
}

// Stats is what a search had to do.
type Stats struct {
	Algorithm Algorithm `json:"algorithm"` // the one that Auto chose, or the one that was asked for
	// Words that the index knows, the postings in their lists, and the blocks these are stored in.
	Words    int   `json:"words"`
	Postings int64 `json:"postings"`
	Blocks   int64 `json:"blocks"`
	// Scored postings; Decoded ones are those of the blocks in which any was; the other blocks were Skipped.
	Scored  int64 `json:"scored"`
	Decoded int64 `json:"decoded"`
	Skipped int64 `json:"skipped"`
	// Entered counts documents that entered the k best, for good or not.
	Entered int64 `json:"entered"`
	// Thresholds is the score to beat over time, if asked for: some 20 to 100 points.
	Thresholds []Threshold `json:"thresholds,omitempty"`
	// Parallel says how the work was spread over cores; nil if it was not.
	Parallel *ParallelStats `json:"parallel,omitempty"`
	// GPU says what the device did; nil if it did nothing.
	GPU *GPUStats `json:"gpu,omitempty"`
}

// Threshold says that after so many documents had entered the k best, when the search had come
// to that document, only higher scores could enter.
type Threshold struct {
	Entered int64   `json:"entered"`
	Doc     uint32  `json:"doc"`
	Score   float32 `json:"score"`
}

// Search answers a request.
func (s *Searcher) Search(ctx context.Context, r Request) (*Result, error) {
	if r.Parallel.wantsGPU() {
		return s.searchGPU(ctx, r)
	}
	q, err := s.prepare(ctx, &r)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	defer s.release(q)
	q.begin(r.Algorithm)
	if r.Parallel.spread(q) {
		return s.searchParallel(q, r.Parallel)
	}
	return q.finish()
}

// finish answers a query that was prepared.
func (q *query) finish() (*Result, error) {
	if err := q.run(q.stats.Algorithm); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	return &Result{Hits: q.heap.hits(), Stats: q.finalStats()}, nil
}

// ID is the external ID of a document.
func (s *Searcher) ID(doc uint32) (string, error) { return s.index.DocID(int(doc)) }

// Algorithm is one of those in the package comment.
type Algorithm uint8

// Auto chooses by the lists and k.
const (
	Auto Algorithm = iota
	Exhaustive
	TAAT
	MaxScore
	WAND
	BMW
	VBMW
	BMM
	// Tiles is the GPU's own, and its default.
	Tiles
)

var algorithms = [...]struct {
	name string
	or   func(*query) error
	and  func(*query) error
}{
	Auto:       {name: "auto"},
	Exhaustive: {"exhaustive", exhaustive, exhaustive},
	TAAT:       {"taat", taat, taat},
	MaxScore:   {"maxscore", maxScore, blockMaxAnd},
	WAND:       {"wand", wand, blockMaxAnd},
	BMW:        {"bmw", blockMaxWand, blockMaxAnd},
	VBMW:       {"vbmw", variableBlockMaxWand, blockMaxAnd},
	BMM:        {"bmm", blockMaxMaxScore, blockMaxAnd},
}

// Algorithms lists the names that ParseAlgorithm takes.
func Algorithms() []string {
	var names []string
	for _, a := range algorithms {
		names = append(names, a.name)
	}
	return append(names, tilesName)
}

func (a Algorithm) String() string {
	if int(a) < len(algorithms) {
		return algorithms[a].name
	}
	if a == Tiles {
		return tilesName
	}
	return fmt.Sprintf("Algorithm(%d)", uint8(a))
}

// MarshalText makes an Algorithm its name in JSON.
func (a Algorithm) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// ParseAlgorithm is the inverse of String.
func ParseAlgorithm(name string) (Algorithm, error) {
	for a := range algorithms {
		if algorithms[a].name == name {
			return Algorithm(a), nil
		}
	}
	if name == tilesName {
		return Tiles, nil
	}
	return 0, fmt.Errorf("unknown algorithm %q: want %s", name, strings.Join(Algorithms(), ", "))
}
