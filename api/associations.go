package api

import (
	"context"
	"errors"
	"regexp"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/words"
)

// Measures says how pairs of words are ranked.
type Measures struct {
	By           []words.Measure `ask:"by" default:"logdice" help:"measures of association; the list is sorted by the first"`
	MinFrequency uint64          `ask:"min_frequency" also:"min_freq" help:"leave out pairs with a word that occurs less often"`
	P            bool            `ask:"p" help:"also p-values of g2, plain and corrected for the number of pairs: q (Benjamini-Hochberg), Bonferroni"`
}

// options returns the options of the library.
func (q *Measures) options(e *Env, top int, minCount float64) (words.Options, error) {
	if len(q.By) == 0 { // an empty list means the usual measure, which the answer then names
		q.By = []words.Measure{words.LogDice}
	}
	o := words.Options{By: q.By, Top: top, MinCount: minCount, MinFreq: q.MinFrequency, P: q.P, Threads: e.Threads}
	if most := len(words.Measures()); len(q.By) > most {
		return o, wrongf("by", "%d measures: want at most %d", len(q.By), most)
	}
	return o, nil
}

// PartsOf says over which parts of a corpus dispersion is measured.
type PartsOf struct {
	Parts int    `ask:"parts" range:"0..100000" help:"measure dispersion over this number of equal parts of the corpus, not over documents; 0 means documents"`
	Group string `ask:"group" help:"treat documents whose IDs have the same match of this regular expression, such as '^[^.]+', as one"`
}

// PartsQuestion declares the parameters of PartsOf.
var PartsQuestion = part[PartsOf]("parts", "over what dispersion is measured")

// Over returns the parts.
func (q *PartsOf) Over() (p words.Parts, err error) {
	if q.Parts == 1 {
		return p, &Error{"parts", "1", errors.New("want 2 to 100000, or 0 for documents")}
	}
	if q.Parts > 0 && q.Group != "" {
		return p, wrongf("group", "it and parts exclude each other")
	}
	p.Equal = q.Parts
	if q.Group != "" {
		if p.Group, err = regexp.Compile(q.Group); err != nil {
			return p, wrong("group", err)
		}
	}
	return p, nil
}

// Collocations asks for the strongly associated pairs of words of a corpus or of a matrix.
type Collocations struct {
	Of       string  `ask:"of" help:"only the pairs of this word"`
	Top      int     `ask:"top" also:"k" default:"20" range:"1.." at:"http: most=1000, one answer is held in memory; mcp: most=500, an assistant reads less" help:"number of pairs"`
	MinCount float64 `ask:"min_count" also:"min_value" default:"5" range:"0.." help:"leave out pairs that co-occur less often, or have a smaller value"`
	MinDocs  int     `ask:"min_docs" range:"0.." help:"leave out pairs of fewer documents; 0 means 3, or 1 for corpora of less than 10"`
	Measures
	Window int          `ask:"window" default:"5" range:"1..65534" help:"number of words on each side"`
	Side   cooccur.Side `ask:"side" default:"both" help:"neighbours to count; both: all; left: those before the word; right: those after it"`
	Corpus []string     `ask:"corpus" group:"Corpus" not:"http root mcp python: a question names no files there" help:"files and folders that a matrix of counts was made from: also show the number of documents of each pair"`
	PartsOf
	Selection
	Reading `not:"http root mcp: the index has its words already"`
}

// CollocationsQuestion declares the parameters of Collocations.
var CollocationsQuestion = about(OfText, declare[Collocations]("collocations",
	"list pairs of words that occur near each other more often than by chance",
	noShards), (*Collocations).Do)

// PairOfWords is a pair with its counts and scores.
type PairOfWords struct {
	Word1  string             `json:"word1"`                // the word that was asked for, or the more frequent one
	Word2  string             `json:"word2"`                // the other
	Count  float64            `json:"count"`                // how often they co-occur, or the value of a weighted cell
	F1     uint64             `json:"f1"`                   // how often the first occurs
	F2     uint64             `json:"f2"`                   // how often the second occurs
	Score  float64            `json:"score"`                // by the first measure
	Scores map[string]float64 `json:"scores"`               // by the name of the measure
	P      *float64           `json:"p,omitempty"`          // p-value of the log-likelihood ratio
	Q      *float64           `json:"q,omitempty"`          // false discovery rate
	Bonf   *float64           `json:"bonferroni,omitempty"` // P, corrected for the number of pairs
	Docs   *int               `json:"docs,omitempty"`       // documents, or parts, that have the pair
	DPnorm *float64           `json:"dp_norm,omitempty"`    // how evenly it is distributed; 0 is even
}

// Associations is the answer to Collocations.
type Associations struct {
	By        []string      `json:"by"`                  // the measures, of which the first orders the pairs
	Compared  int           `json:"compared"`            // pairs that met the minimum counts
	Words     int64         `json:"words,omitempty"`     // of the corpus
	Documents int64         `json:"documents,omitempty"` // of the corpus
	MinDocs   int           `json:"min_docs,omitempty"`  // the given or default minimum
	Pairs     []PairOfWords `json:"pairs"`               // the strongest first

	List *words.Associations `json:"-"` // what the library returned
}

func pairOf(a *words.Association, by []words.Measure, p bool) PairOfWords {
	x := PairOfWords{Word1: a.Word1, Word2: a.Word2, Count: a.Count, F1: a.F1, F2: a.F2,
		Score: writable(a.Scores[0]), Scores: map[string]float64{}}
	for i, m := range by {
		x.Scores[m.String()] = writable(a.Scores[i])
	}
	if p {
		x.P, x.Q, x.Bonf = &a.P, &a.Q, &a.Bonferroni
	}
	if a.Spread != nil {
		even := writable(a.Spread.DPnorm)
		x.Docs, x.DPnorm = &a.Spread.Range, &even
	}
	return x
}

// Do ranks the pairs of the matrix, if there is one and no corpus, or of the documents. The corpus
// of a matrix, if it is known as Env.Reference, is read once more for the documents of each pair.
func (q *Collocations) Do(ctx context.Context, e *Env) (*Associations, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	o, err := q.Measures.options(e, q.Top, q.MinCount)
	if err != nil {
		return nil, err
	}
	parts, err := q.PartsOf.Over()
	if err != nil {
		return nil, err
	}
	a := &Associations{Pairs: []PairOfWords{}}
	if e.Matrix != nil && e.Corpus == nil && e.Searcher == nil {
		if _, err := q.Selection.of(ctx, e); err != nil {
			return nil, err
		}
		if err := o.Check(e.Matrix); err != nil {
			return nil, wrong("by", err)
		}
		if q.Of == "" {
			a.List, err = words.Collocations(ctx, e.Matrix, o)
		} else {
			id, unknown := words.Find(e.Matrix, q.Of)
			if unknown != nil {
				return nil, unknown
			}
			a.List, err = words.Neighbours(e.Matrix, id, o)
		}
		if err == nil {
			err = spread(ctx, e, a.List.Pairs, parts)
		}
	} else {
		corpus, missing := e.documents(ctx, &q.Selection)
		if missing != nil {
			return nil, missing
		}
		o.MinCount = max(o.MinCount, 1) // 0 would mean the default
		var stats words.CorpusStats
		a.List, stats, err = words.CollocationsOf(ctx, corpus, words.CorpusOptions{Options: o, Of: q.Of,
			Analyzer: e.Analyzer, Window: q.Window, Side: q.Side, MinDocs: q.MinDocs, Parts: parts,
			Memory: e.Memory, TempDir: e.TempDir, Engine: e.Engine, Device: e.Device, Progress: e.Progress})
		a.Words, a.Documents, a.MinDocs = int64(stats.Words), int64(stats.Documents), stats.MinDocs
	}
	if err != nil {
		return nil, err
	}
	a.Compared, a.By = a.List.Compared, namesOfMeasures(q.By)
	for i := range e.shown(a.List.Pairs) {
		a.Pairs = append(a.Pairs, pairOf(&a.List.Pairs[i], q.By, q.P))
	}
	return a, nil
}

func namesOfMeasures(by []words.Measure) (names []string) {
	for _, m := range by {
		names = append(names, m.String())
	}
	return names
}

// spread sets the documents of pairs of a matrix, if its corpus is known.
func spread(ctx context.Context, e *Env, pairs []words.Association, parts words.Parts) error {
	if e.Reference == nil {
		return nil
	}
	return words.Spread(ctx, e.Matrix, e.Reference, pairs,
		words.SpreadOptions{Analyzer: e.Analyzer, Parts: parts, Threads: e.Threads})
}

// NeighboursOf asks for the words that are most strongly associated with given ones.
type NeighboursOf struct {
	Words    []string `ask:"words" also:"word" path:"word" flag:"" commas:"" needed:"" help:"the words, to which the matrix's analyzer is applied"`
	Top      int      `ask:"top" also:"k" default:"10" range:"1.." at:"http: most=1000, one answer is held in memory; mcp: most=500, an assistant reads less" help:"number of associated words"`
	MinCount float64  `ask:"min_count" also:"min_value" range:"0.." help:"leave out pairs that co-occur less often, or have a smaller value"`
	Measures
	Links   bool     `ask:"links" not:"command python: network and the matrix have them; mcp: they are for drawing" help:"also links between the associated words, of which there are then at most 100"`
	Corpus  []string `ask:"corpus" group:"Corpus" not:"http root mcp python: a question names no files there" help:"files and folders that the matrix of counts was made from: also show the number of documents of each pair"`
	PartsOf `not:"http root mcp python: they need the corpus of the matrix"`
	Files   `not:"http root mcp python: they need the corpus of the matrix"`
}

// NeighboursQuestion declares the parameters of NeighboursOf.
var NeighboursQuestion = about(OfMatrix, declare[NeighboursOf]("neighbours",
	"list the words that occur near a word more often than by chance, by a measure of association",
	noShards, "gpu: a row of a matrix is small").
	in("http: /v1/words/{word}/company; python: Cooccurrence.neighbours; mcp: company"), (*NeighboursOf).answer)

// Companies has an answer for each word.
type Companies struct {
	Words []Company `json:"words"` // in the order of the question
}

// One returns the answer about the first word.
func (c *Companies) One() *Company { return &c.Words[0] }

// answer is Do for doors that answer about all words or not at all.
func (q *NeighboursOf) answer(ctx context.Context, e *Env) (*Companies, error) {
	list, err := q.Do(ctx, e)
	if err != nil {
		return nil, err
	}
	if e.Door == HTTP && q.MinCount > 0 {
		list[0].Notes = []string{"min_count is the least number of co-occurrences; min_frequency is that of occurrences"}
	}
	return &Companies{list}, nil
}

// Word is a word of a matrix with its frequencies.
type Word struct {
	Word  string `json:"word"`  // as it is in the matrix
	Count uint64 `json:"count"` // occurrences in the matrix's corpus
	Rank  int    `json:"rank"`  // by count, counted from 1
	// Docs is the number of documents of the index that contain it. The index may have another
	// analyzer than the matrix, such as a stemmer: the word is analyzed as a query.
	Docs uint32 `json:"docs"`
}

// Company is a word with those that are associated with it.
type Company struct {
	Word
	By         string      `json:"by"`              // the measure that the list is sorted by
	Total      int         `json:"total"`           // associated words that met the minimum counts
	Neighbours []Neighbour `json:"neighbours"`      // the strongest first
	Links      []Link      `json:"links,omitempty"` // between the neighbours, if requested
	Notes      []string    `json:"notes,omitempty"` // what may not be as intended

	List *words.Associations `json:"-"` // what the library returned
}

// Neighbour is a word that is associated with another.
type Neighbour struct {
	ID     int                `json:"id"`                   // its number in the matrix
	Word   string             `json:"word"`                 // the word
	Count  uint64             `json:"count"`                // how often it occurs in the matrix's corpus
	Value  float64            `json:"value"`                // how often the two co-occur, or the cell of a weighted matrix
	Score  float64            `json:"score"`                // by the first measure
	Scores map[string]float64 `json:"scores,omitempty"`     // by all measures, if there are several
	P      *float64           `json:"p,omitempty"`          // p-value of the log-likelihood ratio
	Q      *float64           `json:"q,omitempty"`          // false discovery rate
	Bonf   *float64           `json:"bonferroni,omitempty"` // p-value after Bonferroni's correction
	Docs   *int               `json:"docs,omitempty"`       // documents, or parts, that have both
	DPnorm *float64           `json:"dp_norm,omitempty"`    // how evenly these are distributed; 0 is even
}

// Link joins two neighbours, by their places in the list.
type Link struct {
	From  int     `json:"from"`  // place of one of them, counted from 0
	To    int     `json:"to"`    // place of the other
	Score float64 `json:"score"` // by the first measure
}

// Do ranks the words beside each word that is in the matrix. The error also names those that are
// not, and then comes with the answers for the others.
func (q *NeighboursOf) Do(ctx context.Context, e *Env) (list []Company, err error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	if e.Matrix == nil {
		return nil, ErrNoMatrix
	}
	o, err := q.Measures.options(e, q.Top, q.MinCount)
	if err != nil {
		return nil, err
	}
	if q.Links && q.Top > 100 {
		return nil, wrongf("links", "want top to be at most 100")
	}
	parts, err := q.PartsOf.Over()
	if err != nil {
		return nil, err
	}
	if err := o.Check(e.Matrix); err != nil {
		return nil, wrong("by", err)
	}
	var unknown []error
	found := map[int]*words.Associations{} // by word, so that a repeated word is looked up once
	var distinct []*words.Associations
	var pairs []words.Association // of all words, so that spread reads the corpus once
	for _, word := range q.Words {
		id, err := words.Find(e.Matrix, word)
		if _, ok := errors.AsType[*words.UnknownWord](err); ok {
			unknown = append(unknown, err)
			continue
		}
		if err != nil {
			return nil, wrong("words", err)
		}
		near := found[id]
		if near == nil {
			if near, err = words.Neighbours(e.Matrix, id, o); err != nil {
				return nil, err
			}
			found[id] = near
			distinct = append(distinct, near)
			pairs = append(pairs, near.Pairs...)
		}
		c := Company{By: q.By[0].String(), Total: near.Compared, List: near}
		if c.Word, err = e.word(id); err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	if err := spread(ctx, e, pairs, parts); err != nil {
		return nil, err
	}
	for _, near := range distinct {
		n := len(near.Pairs)
		near.Pairs, pairs = pairs[:n:n], pairs[n:]
	}
	for i := range list {
		if err := q.describe(ctx, e, &list[i], o); err != nil {
			return nil, err
		}
	}
	return list, errors.Join(unknown...)
}

// describe fills in the neighbours of a word, and the links between them.
func (q *NeighboursOf) describe(ctx context.Context, e *Env, c *Company, o words.Options) (err error) {
	c.Neighbours = []Neighbour{}
	for i := range e.shown(c.List.Pairs) {
		a := &c.List.Pairs[i]
		p := pairOf(a, q.By, q.P)
		n := Neighbour{ID: a.ID2, Word: a.Word2, Count: a.F2, Value: a.Count, Score: p.Score,
			P: p.P, Q: p.Q, Bonf: p.Bonf, Docs: p.Docs, DPnorm: p.DPnorm}
		if len(q.By) > 1 {
			n.Scores = p.Scores
		}
		c.Neighbours = append(c.Neighbours, n)
	}
	if q.Links {
		c.Links, err = links(ctx, e.Matrix, c.Neighbours, o)
	}
	return err
}

// links returns the cells between the words of a list, above the diagonal, that are among the 200
// strongest of their first word.
func links(ctx context.Context, m *cooccur.Reader, list []Neighbour, o words.Options) ([]Link, error) {
	place := map[int]int{}
	for i, w := range list {
		place[w.ID] = i
	}
	o.By, o.Top = o.By[:1], 200
	found := []Link{}
	for i, w := range list {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		near, err := words.Neighbours(m, w.ID, o)
		if err != nil {
			return nil, err
		}
		for _, n := range near.Pairs {
			if j, ok := place[n.ID2]; ok && j > i {
				found = append(found, Link{i, j, writable(n.Scores[0])})
			}
		}
	}
	return found, nil
}

// shown returns the pairs that are described.
func (e *Env) shown(pairs []words.Association) []words.Association {
	if e.Shown > 0 {
		return pairs[:min(e.Shown, len(pairs))]
	}
	return pairs
}

// word describes a word of the matrix.
func (e *Env) word(id int) (w Word, err error) {
	m := e.Matrix
	w = Word{Word: string(m.Word(id)), Count: m.Count(id), Rank: id + 1}
	if e.Searcher == nil {
		return w, nil
	}
	var t text.Tokens
	if err := e.Analyzer.Analyze([]byte(w.Word), &t); err != nil || len(t.Words) != 1 {
		return w, err
	}
	df, _, err := e.Searcher.Index().Lookup(t.Word(0))
	w.Docs = uint32(df)
	return w, err
}
