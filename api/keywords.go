package api

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/words"
)

// Keywords asks for the words that set a corpus apart from another, or documents of an index from
// others.
type Keywords struct {
	Query     string        `ask:"q" also:"query" flag:"query" python:"query" help:"of an index: compare the documents that match this query best"`
	Against   string        `ask:"against" help:"of an index: compare them with the best for this query, not with all others; a document that both find belongs to the first"`
	Mode      search.Mode   `ask:"mode" default:"or" help:"of an index: or: any of the words of a query; and: all of them"`
	Docs      int           `ask:"docs" default:"100" range:"0..100000" help:"of an index: number of documents of each query, the best ones; 0 means all that match"`
	Reference []string      `ask:"reference" not:"http root mcp: a question names no files there: documents of the index are compared" help:"the corpus to compare with: files and folders"`
	By        words.Keyness `ask:"by" default:"lrc" help:"measure of keyness, by which words are sorted"`
	Top       int           `ask:"top" also:"k" default:"20" range:"1.." at:"http: most=1000, one answer is held in memory; mcp: most=500, an assistant reads less" help:"number of words"`
	MinCount  uint64        `ask:"min_count" default:"5" help:"leave out words that occur less often in both together"`
	Negative  bool          `ask:"negative" help:"list the words that are rarer here instead"`
	Documents bool          `ask:"documents" not:"http root mcp: it compares corpora, not documents of an index" help:"of corpora: compare numbers of documents instead of occurrences"`
	N         int           `ask:"ngram" short:"n" default:"1" range:"1..9" not:"http root mcp: it compares corpora, not documents of an index" help:"of corpora: compare sequences of this number of words"`
	Reading   `not:"http root mcp: the index has its words already"`
}

// KeywordsQuestion declares the parameters of Keywords.
var KeywordsQuestion = about(OfText, declare[Keywords]("keywords",
	"list the words that set a corpus apart from another, or the best documents for a query from others",
	noShards),
	func(q *Keywords, ctx context.Context, e *Env) (*KeywordsAnswer, error) { return q.Do(ctx, e, nil) })

// KeywordsAnswer is the answer to Keywords.
type KeywordsAnswer struct {
	Query   string   `json:"query"`             // of documents of an index
	Against string   `json:"against,omitempty"` // the query for the other documents
	Notes   []string `json:"notes,omitempty"`   // say which documents were left out

	Docs     int    `json:"docs"`     // documents of an index that are compared
	Matching int64  `json:"matching"` // documents that match the query
	Total    uint64 `json:"words"`    // words of these documents, or of the corpus
	// ReferenceDocs is the number of documents that they were compared with.
	ReferenceDocs int `json:"reference_docs"`
	// ReferenceMatching is the number of documents that match the other query.
	ReferenceMatching int64 `json:"reference_matching,omitempty"`

	ReferenceTotal uint64          `json:"reference_words"` // words of the others
	Compared       int             `json:"compared"`        // distinct words that occur often enough
	By             words.Keyness   `json:"by"`              // the measure
	Keywords       []words.Keyword `json:"keywords"`        // the highest first
}

// References are the files to compare with.
func (q *Keywords) References() []string { return q.Reference }

// Do compares words that are counted already, documents of an index, or corpora. Each, unless it is
// nil, is called for each keyword instead of collecting them.
func (q *Keywords) Do(ctx context.Context, e *Env, each func(words.Keyword) error) (a *KeywordsAnswer, err error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	a = &KeywordsAnswer{Query: q.Query, Against: q.Against, By: q.By}
	o := words.KeyOptions{By: q.By, Top: q.Top, MinCount: max(q.MinCount, 1), Negative: q.Negative, Each: each,
		Memory: e.Memory, TempDir: e.TempDir}
	counts := e.Counts
	switch {
	case e.Searcher != nil && (q.Documents || q.N > 1 || len(q.Reference) > 0):
		return nil, wrongf("query", "an index is asked by a query: documents, ngram and reference are for corpora")
	case e.Searcher != nil:
		counts, err = q.ofIndex(ctx, e, a)
	case q.Query != "" || q.Against != "":
		return nil, wrongf("query", "it needs an index: corpora are compared as a whole")
	case counts != nil && (q.Documents || q.N > 1):
		return nil, wrongf("ngram", "it and documents need corpora, not words that are counted already")
	case counts == nil && e.Reference == nil:
		return nil, wrongf("reference", "want the corpus to compare with, or an index and a query")
	}
	if err != nil {
		return nil, err
	}
	if counts != nil {
		a.Total, a.ReferenceTotal = counts[0].Total, counts[1].Total
		a.Keywords, a.Compared, err = words.Keywords(ctx, counts[0], counts[1], o)
	} else {
		var stats words.KeyStats
		a.Keywords, stats, err = words.KeywordsOf(ctx, e.Corpus, e.Reference, words.CorpusKeyOptions{KeyOptions: o,
			N: q.N, Documents: q.Documents, Analyzer: e.Analyzer, Threads: e.Threads, Engine: e.Engine, Device: e.Device})
		a.Total, a.ReferenceTotal, a.Compared = stats.N1, stats.N2, stats.Compared
	}
	if err == nil && a.Compared == 0 && q.MinCount > 1 {
		a.Notes = append(a.Notes, fmt.Sprintf("no word occurs %d times in both together: a smaller min_count lists rarer ones", q.MinCount))
	}
	a.Keywords = append([]words.Keyword{}, a.Keywords...)
	for i := range a.Keywords {
		k := &a.Keywords[i]
		k.LRC, k.G2, k.LogRatio, k.Diff = writable(k.LRC), writable(k.G2), writable(k.LogRatio), writable(k.Diff)
	}
	return a, err
}

// ofIndex counts the words of the best documents for the query, or of all that match it, and those
// of the others. A document that is found for both queries belongs to the first.
func (q *Keywords) ofIndex(ctx context.Context, e *Env, a *KeywordsAnswer) (*[2]words.Frequencies, error) {
	ix := e.Searcher.Index()
	var first []*docset.Set // the documents of the first query
	find := func(param, query string, matching *int64) (f words.Frequencies, docs int, err error) {
		ask := Search{Query: query, K: max(q.Docs, 1), Mode: q.Mode, Count: true}
		about := AboutIndex(e.Searcher)
		about.Model = e.Model
		r, _, err := ask.Request(about)
		if wrong := new(Error); errors.As(err, &wrong) {
			return f, 0, &Error{param, wrong.Said, wrong.Err}
		}
		if err != nil {
			return f, 0, err
		}
		if !ix.HasText() {
			return f, 0, words.ErrNoText
		}
		sets, n, err := q.best(ctx, e, r, matching)
		if err != nil {
			return f, 0, err
		}
		if *matching > int64(n) {
			a.Notes = append(a.Notes, fmt.Sprintf("of %d documents that match %q, the best %d are compared: "+
				"docs chooses how many, up to 100000, or 0 for all", *matching, query, n))
		}
		for i, set := range sets {
			if first != nil {
				set.AndNot(first[i])
			}
			docs += set.Count()
		}
		if first == nil {
			first = sets
		}
		f, err = words.FrequenciesOf(ctx, ix, sets,
			cooccur.VocabularyOptions{Analyzer: e.Analyzer, Threads: e.Threads, Memory: e.Memory})
		if err == nil && f.Total == 0 {
			err = fmt.Errorf("%w: no document that matches %q has words", ErrNothing, query)
			if docs < n {
				err = fmt.Errorf("%w: the best documents for %q are all among those for %q", ErrNothing, query, q.Query)
			}
		}
		return f, docs, err
	}
	var both [2]words.Frequencies
	var err error
	if both[0], a.Docs, err = find("q", q.Query, &a.Matching); err != nil {
		return nil, err
	}
	if q.Against != "" {
		both[1], a.ReferenceDocs, err = find("against", q.Against, &a.ReferenceMatching)
		return &both, err
	}
	a.ReferenceDocs = ix.Docs() - a.Docs
	both[1], err = words.OtherFrequencies(ctx, ix, both[0], q.Negative)
	if err == nil && both[1].Total == 0 {
		err = fmt.Errorf("%w: %q matches all documents", ErrNothing, q.Query)
	}
	return &both, err
}

// best returns the best documents for a request, one set per segment, and their number; or all that
// match it.
func (q *Keywords) best(ctx context.Context, e *Env, r search.Request,
	matching *int64) (sets []*docset.Set, n int, err error) {
	if q.Docs == 0 {
		all, err := e.Searcher.Match(ctx, r)
		if err != nil {
			return nil, 0, err
		}
		for _, set := range all.Sets {
			n += set.Count()
		}
		*matching = int64(n)
		return all.Sets, n, nil
	}
	found, err := e.Searcher.Search(ctx, r)
	if err != nil {
		return nil, 0, err
	}
	*matching = found.Total
	for _, s := range e.Searcher.Index().Segments() {
		set := docset.New(s.Docs())
		for _, hit := range found.Hits {
			if doc := int64(hit.Doc) - int64(s.Base); doc >= 0 && doc < int64(s.Docs()) {
				set.Add(uint32(doc))
			}
		}
		sets = append(sets, set)
	}
	return sets, len(found.Hits), nil
}

// Dispersion asks where words occur in a corpus or an index.
type Dispersion struct {
	Of      []string `ask:"of" also:"word" path:"word" commas:"" needed:"" help:"a word, a prefix or a phrase, as in concordance, of which there may be several; of an index, words"`
	Parts   int      `ask:"parts" default:"50" range:"2..1000" not:"python: numpy.histogram counts the places" help:"number of equal parts in which occurrences are counted"`
	Reading `not:"http root mcp: the index has its words already"`
}

// DispersionQuestion declares the parameters of Dispersion.
var DispersionQuestion = about(OfIndex, declare[Dispersion]("dispersion",
	"tell where words occur, from the beginning of a corpus to its end", noShards, noGPU).
	in("http: /v1/words/{word}/dispersion"), (*Dispersion).Do)

// Spreads is the answer to Dispersion.
type Spreads struct {
	Words uint64     `json:"words"` // of the corpus, or of the index
	Rows  []SpreadOf `json:"rows"`  // for each word

	Plot *words.Plot `json:"-"` // of a corpus
}

// SpreadOf says where a word occurs.
type SpreadOf struct {
	Query  string    `json:"query"`            // as it was given
	Word   string    `json:"word,omitempty"`   // of an index, as its analyzer made it
	Docs   uint64    `json:"docs,omitempty"`   // of an index, documents that have it
	Places []float64 `json:"places,omitempty"` // of a corpus: 0 is its beginning, 1 its end
	Bars   []uint64  `json:"bars"`             // occurrences in each part
	words.Dispersion
}

// SpreadOfOne is the answer to Dispersion about one word.
type SpreadOfOne struct {
	SpreadOf
	Total uint64 `json:"words"` // of the corpus, or of the index
}

// One returns the answer about the first word.
func (s *Spreads) One() *SpreadOfOne { return &SpreadOfOne{s.Rows[0], s.Words} }

// Do finds the places of words in a corpus, or counts them in the parts of an index.
func (q *Dispersion) Do(ctx context.Context, e *Env) (*Spreads, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	if len(q.Of) == 0 {
		return nil, wrongf("of", "want a word")
	}
	if e.Corpus == nil {
		return q.ofIndex(ctx, e)
	}
	parsed := make([]*words.Query, len(q.Of))
	for i, s := range q.Of {
		var err error
		if parsed[i], err = words.ParseQuery(s, e.Analyzer); err != nil {
			return nil, wrong("of", err)
		}
	}
	plot, err := words.PlotOf(ctx, e.Corpus, e.Analyzer, q.Of, e.Threads)
	if err != nil {
		return nil, err
	}
	if e.Note != nil && e.Corpus.Source == nil { // otherwise the corpus cannot be read again
		unknown, err := plot.Unknown(ctx, e.Corpus, e.Threads, parsed)
		if err != nil {
			return nil, err
		}
		e.unknown(unknown)
	}
	s := &Spreads{Words: plot.Words, Plot: plot}
	for i, row := range plot.Rows {
		in := plot.Spread(i, max(q.Parts, 2))
		s.Rows = append(s.Rows, SpreadOf{Query: row.Query, Places: row.Places, Bars: in.Counts,
			Dispersion: words.Disperse(in.Counts, in.Sizes)})
	}
	return s, nil
}

func (q *Dispersion) ofIndex(ctx context.Context, e *Env) (*Spreads, error) {
	if e.Searcher == nil {
		return nil, ErrNoIndex
	}
	s := &Spreads{}
	for _, said := range q.Of {
		var t text.Tokens
		if err := e.Analyzer.Analyze([]byte(said), &t); err != nil {
			return nil, err
		}
		if len(t.Words) != 1 {
			return nil, wrongf("of", "%q: the analyzer of the index makes %d words of it: want one", said, len(t.Words))
		}
		word := string(t.Word(0))
		if strings.ContainsAny(said, "*?") && !strings.ContainsAny(word, "*?") {
			return nil, wrongf("of", "%q is a pattern: want one word", said)
		}
		in, err := words.SpreadOverIndex(ctx, e.Searcher.Index(), []byte(word), q.Parts)
		if err != nil {
			return nil, err
		}
		row := SpreadOf{Query: said, Word: word, Docs: in.Documents, Bars: in.Counts,
			Dispersion: words.Disperse(in.Counts, in.Sizes)}
		if row.Count == 0 {
			return nil, &words.UnknownWord{Word: said}
		}
		s.Words, s.Rows = 0, append(s.Rows, row)
		for _, n := range in.Sizes {
			s.Words += n
		}
	}
	return s, nil
}
