package api

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/words"
)

// Ngrams asks for the most frequent sequences of words.
type Ngrams struct {
	N        string `ask:"n" also:"length" flag:"length" short:"n" python:"n" default:"2-5" help:"number of words, such as 3 or 2-5, up to 9"`
	Of       string `ask:"of" help:"only n-grams that have this word, or one that matches the wildcards of whal* or the expression /whales?/; any of several"`
	Top      int    `ask:"top" also:"k" default:"50" range:"0.." at:"python: default=0, a table shows its ends; http: most=1000, one answer is held in memory; mcp: most=500, an assistant reads less" help:"number of n-grams; 0 means all"`
	MinCount uint64 `ask:"min_count" default:"5" range:"1.." help:"leave out n-grams that occur less often"`
	MinDocs  int    `ask:"min_docs" range:"0.." help:"leave out n-grams of fewer documents"`
	Selection
	Reading `not:"http root mcp: the index has its words already"`
}

// NgramsQuestion declares the parameters of Ngrams.
var NgramsQuestion = about(OfText,
	declare[Ngrams]("ngrams", "list the most frequent sequences of words", noShards, noGPU),
	func(q *Ngrams, ctx context.Context, e *Env) (*NgramCounts, error) { return q.Do(ctx, e, nil) })

// NgramCounts is the answer to Ngrams.
type NgramCounts struct {
	Words     uint64        `json:"words"`     // of the documents
	Documents uint64        `json:"documents"` // that were read
	Found     int           `json:"found"`     // n-grams that occur often enough
	Ngrams    []words.Ngram `json:"ngrams"`    // the most frequent first
}

// Do counts the n-grams. Each, unless it is nil, is called for each instead of collecting them.
func (q *Ngrams) Do(ctx context.Context, e *Env, each func(words.Ngram) error) (*NgramCounts, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	o := words.NgramOptions{MinCount: q.MinCount, MinDocs: q.MinDocs, Top: e.top(q.Top), Each: each, Analyzer: e.Analyzer,
		Threads: e.Threads, Memory: e.Memory, TempDir: e.TempDir}
	var err error
	if o.Min, o.Max, err = lengths(q.N); err != nil {
		return nil, err
	}
	if q.Of != "" {
		if o.Of, err = words.ParseQuery(q.Of, e.Analyzer); err != nil {
			return nil, wrong("of", err)
		}
	}
	corpus, err := e.documents(ctx, &q.Selection)
	if err != nil {
		return nil, err
	}
	list, stats, err := words.Ngrams(ctx, corpus, o)
	if err != nil {
		return nil, err
	}
	return &NgramCounts{stats.Words, stats.Documents, stats.Found, append([]words.Ngram{}, list...)}, nil
}

// lengths parses "3" or "2-5".
func lengths(s string) (lo, hi int, err error) {
	from, to, isRange := strings.Cut(s, "-")
	if !isRange {
		to = from
	}
	lo, err1 := strconv.Atoi(from)
	hi, err2 := strconv.Atoi(to)
	if err1 != nil || err2 != nil || lo < 1 || hi < lo || hi > 9 {
		return 0, 0, &Error{"n", s, errors.New("want a number of words such as 3, or a range such as 2-5, up to 9")}
	}
	return lo, hi, nil
}

// Wordlist asks for words with their frequencies and dispersion.
type Wordlist struct {
	Top      int    `ask:"top" default:"50" range:"0.." at:"python: default=0, a table shows its ends; http: most=1000, one answer is held in memory; mcp: most=500, an assistant reads less" help:"number of words; 0 means all"`
	MinCount uint64 `ask:"min_count" default:"1" help:"leave out words that occur less often"`
	PartsOf
	Selection
	Reading `not:"http root mcp: the index has its words already"`
}

// WordlistQuestion declares the parameters of Wordlist.
var WordlistQuestion = about(OfText, declare[Wordlist]("wordlist",
	"list the most frequent words, and how evenly they are distributed over documents",
	noShards, noGPU), (*Wordlist).Do)

// WordCounts is the answer to Wordlist.
type WordCounts struct {
	Words     uint64       `json:"words"`     // of the documents, with those that are not listed
	Distinct  int          `json:"distinct"`  // different words, with those that are not listed
	Documents int          `json:"documents"` // that were read
	Parts     int          `json:"parts"`     // that dispersion is measured over
	List      []words.Word `json:"list"`      // the most frequent first
}

// Do counts the words.
func (q *Wordlist) Do(ctx context.Context, e *Env) (*WordCounts, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	parts, err := q.PartsOf.Over()
	if err != nil {
		return nil, err
	}
	corpus, err := e.documents(ctx, &q.Selection)
	if err != nil {
		return nil, err
	}
	list, err := words.List(ctx, corpus, words.ListOptions{Analyzer: e.Analyzer, MinCount: q.MinCount, Parts: parts,
		Threads: e.Threads, Memory: e.Memory})
	if err != nil {
		return nil, err
	}
	if top := e.top(q.Top); top > 0 {
		list.Words = list.Words[:min(len(list.Words), top)]
	}
	return &WordCounts{list.Total, list.Distinct, list.Documents, list.Parts, append([]words.Word{}, list.Words...)}, nil
}
