package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/nearest"
	"github.com/collocate/collocate/search/query"
)

type (
	// Nearest ranks documents by the similarity of their vectors to that of a query: alone, if the
	// request has no words, or together with their score. Both are exact.
	//
	//	type Nearest struct {
	//		Field  string      // a vector field; "" means the only one
	//		Vector []float32   // of the query
	//		Like   string      // the ID of a document whose vector is that of the query
	//		Filter query.Node  // the documents that are admitted; nil means all
	//		Fusion Fusion      // of the similarity and the score of the words
	//		Weight     float64 // of the similarity; 0 means 1
	//		WordWeight float64 // of the words; 0 means 1
	//		Depth  int         // of the lists of ReciprocalRanks; 0 means 100
	//	}
	//
	// Every admitted document with a vector, or that the words match, is an answer: the query of
	// the request only adds to scores. Methods: Check reports invalid fields, Usual fills in those
	// that are 0.
	Nearest = ask.Nearest
	// Fusion says how the similarity of vectors and the score of words become one score. Methods:
	// String returns the name; MarshalText and UnmarshalText write and read it.
	Fusion = ask.Fusion
)

// WeightedSum adds score and similarity, each times its weight. SumOfShares divides them before by
// the best score and the largest absolute similarity that an admitted document has.
// ReciprocalRanks adds weight/(60 + rank) in the lists of the best by words and by vectors.
const (
	WeightedSum     = ask.WeightedSum
	SumOfShares     = ask.SumOfShares
	ReciprocalRanks = ask.ReciprocalRanks
)

// Fusions lists the names of the values of Fusion.
func Fusions() []string { return ask.Fusions() }

// VectorScore is the part of a vector in the score of a document.
type VectorScore struct {
	Field      string  `json:"field"`                // with the vectors
	Metric     string  `json:"metric"`               // by which they are compared
	Missing    bool    `json:"missing,omitempty"`    // the document has no vector
	Similarity float32 `json:"similarity"`           // 0 if the vector is missing
	Words      float32 `json:"words"`                // score of the query's words
	Weight     float64 `json:"weight"`               // of the similarity in the sum, shares included
	WordWeight float64 `json:"word_weight"`          // of the words
	Fusion     string  `json:"fusion,omitempty"`     // how both were combined; "" without words
	Number     int     `json:"number,omitempty"`     // of the vector in the document, from 1, if the field takes several
	Rank       int     `json:"rank,omitempty"`       // among the best by vectors, for rrf
	WordsRank  int     `json:"words_rank,omitempty"` // among the best by words, for rrf
}

// VectorField returns the vector field of a name, or the only one if the name is empty.
func VectorField(schema *fields.Schema, name string) (*fields.Field, error) {
	return fieldOf(schema, name, fields.Vector)
}

// SparseField returns the field of weighted tokens of a name, or the only one if the name is empty.
func SparseField(schema *fields.Schema, name string) (*fields.Field, error) {
	return fieldOf(schema, name, fields.Sparse)
}

func fieldOf(schema *fields.Schema, name string, t fields.Type) (*fields.Field, error) {
	at, err := schema.One(t, name)
	if err != nil {
		return nil, ask.Refuse("%v: %w", t, err)
	}
	return &schema.Fields[at], nil
}

// CheckNearest returns an error if a request for vectors cannot be answered with a schema.
func CheckNearest(schema *fields.Schema, r *Request) error {
	n := r.Nearest
	if n == nil {
		return nil
	}
	if err := n.Check(); err != nil {
		return err
	}
	switch {
	case r.Sort != nil:
		return ask.Refuse("vector: hits are sorted by a field: leave the sort or the vector out")
	case len(r.Boosts) > 0:
		return ask.Refuse("vector: boosts are not supported beside a vector: leave one of them out")
	case r.Collapse == SumOfPassages:
		return ask.Refuse("vector: sums of passages are not supported beside a vector: collapse to the best")
	}
	f, err := VectorField(schema, n.Field)
	if err != nil {
		return err
	}
	if n.Like != "" {
		if len(n.Vector) > 0 {
			return ask.Refuse("like: there is a vector beside it: give one of them")
		}
		return nil
	}
	if err := f.CheckQuery(n.Vector); err != nil {
		return ask.Refuse("vector: field %q: %w", f.Name, err)
	}
	return nil
}

// meaning answers one request with a vector.
type meaning struct {
	s       *Searcher
	n       Nearest
	field   *fields.Field
	words   Request // without the vector; nothing else is left of pages and facets
	given   bool    // there are words
	within  *Within // documents that are admitted
	parts   []nearest.Part
	all     []segments.Segment
	queries []*nearest.Query // several if those of Like are: the most similar pair counts
	threads int
	stats   Stats
	onGPU   bool // the request names the GPU
	gpu     GPUStats

	expanded []Word // the words, if the request expands them
}

// meaning prepares a request.
func (s *Searcher) meaning(ctx context.Context, r *Request) (*meaning, error) {
	if err := CheckNearest(s.index.Schema(), r); err != nil {
		return nil, err
	}
	m := &meaning{s: s, n: r.Nearest.Usual(), words: *r, within: r.Within, all: s.index.Segments(), threads: 1}
	var err error
	if m.field, err = VectorField(s.index.Schema(), m.n.Field); err != nil {
		return nil, err
	}
	if m.n.Like == "" {
		m.queries = []*nearest.Query{nearest.NewQuery(m.field, m.n.Vector)}
	} else if m.queries, err = m.like(m.n.Like); err != nil {
		return nil, err
	}
	if r.Parallel != nil && !ask.WantsGPU(r.Parallel) {
		m.threads = r.Parallel.Threads
	}
	if m.onGPU = ask.WantsGPU(r.Parallel); m.onGPU {
		m.words.Parallel = nil
		if m.words.Algorithm == Tiles {
			m.words.Algorithm = Auto
		}
	}
	w := &m.words
	m.given = strings.TrimSpace(w.Text) != "" || len(w.Words) > 0 || w.Query != nil
	w.Nearest, w.From, w.After, w.Count, w.Facets, w.AtLeast, w.Collapse = nil, 0, nil, false, nil, 0, NoCollapse
	if m.n.Filter != nil {
		if m.within, err = s.Match(ctx, Request{Query: m.n.Filter, Within: r.Within}); err != nil {
			return nil, err
		}
	}
	w.Within = m.within
	if m.given && w.Expand != nil { // once, from the best of all that is admitted
		if *w, err = s.expanded(ctx, *w); err != nil {
			return nil, err
		}
		m.expanded = w.Words
	}
	for i, segment := range m.all {
		c, err := segment.Vectors(m.field.Name)
		if err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		m.parts = append(m.parts, nearest.Part{Column: c, Base: segment.Base,
			Within: both(m.within.Of(i), segment.Live)})
	}
	return m, nil
}

// like returns the vectors of the first document with an ID. A vector of zeros, which some metrics
// admit, is one like others.
func (m *meaning) like(id string) (list []*nearest.Query, err error) {
	doc, found, err := m.s.index.FindDoc(id)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	if !found {
		return nil, ask.Refuse("like: no document has the ID %q", id)
	}
	at, local := m.place(uint32(doc))
	c, err := m.all[at].Vectors(m.field.Name)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	if !c.Has(int(local)) {
		return nil, ask.Refuse("like: the document %q has no vector in the field %s", id, m.field.Name)
	}
	for row, end := c.Rows(int(local), int(local)+1); row < end; row++ {
		v, err := c.Vector(row, nil)
		if err != nil {
			return nil, fmt.Errorf("search: %w", err)
		}
		list = append(list, nearest.NewQuery(m.field, v[:m.field.Dim]))
	}
	return list, nil
}

// both returns the bitmap of the documents that are in two sets, of which nil means all.
func both(a, b *docset.Set) []uint64 {
	switch {
	case a == nil && b == nil:
		return nil
	case a == nil:
		return b.Words()
	case b == nil:
		return a.Words()
	}
	c := a.Clone()
	c.And(b)
	return c.Words()
}

// searchNearest answers a request with a vector.
func (s *Searcher) searchNearest(ctx context.Context, r Request) (*Result, error) {
	if r.K == 0 {
		r.K = 10
	}
	switch {
	case r.K != NoHits && (r.K < 0 || r.K > MaxK):
		return nil, ask.Refuse("search: K = %d: want 1 to %d", r.K, MaxK)
	case r.K != NoHits && (r.From < 0 || r.From > MaxK-r.K):
		return nil, ask.Refuse("search: answers from %d: want 0 to %d", r.From, MaxK-r.K)
	case r.From > 0 && r.After != nil:
		return nil, ask.Refuse("search: both From and After: give one")
	}
	m, err := s.meaning(ctx, &r)
	if err != nil {
		return nil, err
	}
	out := &Result{Hits: []Hit{}}
	if r.Count || len(r.Facets) > 0 || r.K == NoHits {
		if out, err = m.gather(ctx, &r); err != nil {
			return nil, err
		}
	}
	if r.K != NoHits {
		if out.Hits, err = m.page(ctx, &r); err != nil {
			return nil, err
		}
	}
	out.Expanded = m.expanded
	out.Stats.Add(&m.stats)
	if m.onGPU {
		out.Stats.GPU = &m.gpu
	}
	return out, nil
}

// gather counts the answers and the values of their fields.
func (m *meaning) gather(ctx context.Context, r *Request) (*Result, error) {
	matching := m.within
	if m.field.Optional {
		matching = &Within{Sets: make([]*docset.Set, len(m.all))}
		for i, p := range m.parts {
			set := docset.Full(p.Column.Docs())
			if has := p.Column.All(); has != nil {
				var err error
				if set, err = docset.FromWords(slices.Clone(has), p.Column.Docs()); err != nil {
					return nil, err
				}
			}
			if within := m.within.Of(i); within != nil {
				set.And(within)
			}
			matching.Sets[i] = set
		}
		if m.given {
			words, err := m.s.Match(ctx, m.words)
			if err != nil {
				return nil, err
			}
			for i := range matching.Sets {
				if set := words.Of(i); set != nil {
					matching.Sets[i].Or(set)
				}
			}
		}
	}
	return m.s.Search(ctx, Request{Query: query.All{}, Within: matching, K: NoHits, Count: true, Facets: r.Facets})
}

// page returns the hits of a page.
func (m *meaning) page(ctx context.Context, r *Request) ([]Hit, error) {
	want := r.K + r.From
	for ask := want; ; ask = min(MaxK, roundFactor*ask) {
		hits, err := m.best(ctx, ask)
		if err != nil {
			return nil, err
		}
		n := len(hits)
		if r.After != nil {
			hits = slices.DeleteFunc(hits, func(h Hit) bool { return !r.After.Precedes(h.Doc, h.Score) })
		}
		if len(hits) >= want || n < ask || ask == MaxK {
			hits = hits[:min(want, len(hits))]
			return hits[min(r.From, len(hits)):], nil
		}
	}
}

// best returns the k best answers.
func (m *meaning) best(ctx context.Context, k int) ([]Hit, error) {
	if !m.given {
		return m.similar(ctx, k)
	}
	if m.n.Fusion == ReciprocalRanks {
		return m.byRanks(ctx, k)
	}
	return m.bySum(ctx, k)
}

// similar returns the k documents with the most similar vectors.
func (m *meaning) similar(ctx context.Context, k int) ([]Hit, error) {
	list, err := m.wanted(ctx, nearest.Best(k))
	return list.Hits[:min(k, len(list.Hits))], err
}

// wanted returns the documents that are wanted because of their vectors.
func (m *meaning) wanted(ctx context.Context, w nearest.Want) (list nearest.List, err error) {
	if t, ok := ctx.Value(togetherKey{}).(*together); ok {
		list, err = t.wanted(ctx, m, w)
	} else {
		var lists []nearest.List
		var reports []nearest.Report
		lists, reports, err = m.s.nearestOf(ctx, m.onGPU, m.parts, m.queries,
			slices.Repeat([]nearest.Want{w}, len(m.queries)), m.threads)
		list = nearest.Merge(lists)
		for _, r := range reports {
			m.report(r)
		}
	}
	if err != nil {
		return list, fmt.Errorf("search: %w", err)
	}
	return list, nil
}

// byWords returns the k best documents by words alone.
func (m *meaning) byWords(ctx context.Context, k int) ([]Hit, error) {
	r := m.words
	r.K = k
	if m.onGPU && m.s.onGPU() {
		r.Parallel = &Parallel{Engine: engine.GPU}
	}
	found, err := m.s.Search(ctx, r)
	if err != nil {
		return nil, err
	}
	m.stats.Add(&found.Stats)
	if g := found.Stats.GPU; g != nil {
		m.report(nearest.Report{Candidates: g.Candidates, Summed: g.Rescored, Why: g.Fallback})
	}
	return found.Hits, nil
}

// weights returns the weights of words and similarity in the sum.
func (m *meaning) weights(ctx context.Context) (wordWeight, weight float64, err error) {
	if m.n.Fusion != SumOfShares {
		return m.n.WordWeight, m.n.Weight, nil
	}
	words, err := m.byWords(ctx, 1)
	if err != nil {
		return 0, 0, err
	}
	vectors, err := m.similar(ctx, 1)
	if err != nil {
		return 0, 0, err
	}
	return ask.Share(m.n.WordWeight, mostOf(words)), ask.Share(m.n.Weight, mostOf(vectors)), nil
}

// byRanks returns the k best answers by reciprocal rank fusion.
func (m *meaning) byRanks(ctx context.Context, k int) ([]Hit, error) {
	words, vectors, err := m.lists(ctx)
	if err != nil {
		return nil, err
	}
	sums := map[uint32]float64{}
	for i, h := range words {
		sums[h.Doc] = ask.OfRank(m.n.WordWeight, i+1)
	}
	for i, h := range vectors {
		sums[h.Doc] += ask.OfRank(m.n.Weight, i+1)
	}
	hits := make([]Hit, 0, len(sums))
	for doc, sum := range sums {
		hits = append(hits, Hit{Doc: doc, Score: float32(sum)})
	}
	sortHits(hits)
	return hits[:min(k, len(hits))], nil
}

// lists returns the lists that are fused by ranks.
func (m *meaning) lists(ctx context.Context) (words, vectors []Hit, err error) {
	if words, err = m.byWords(ctx, m.n.Depth); err == nil {
		vectors, err = m.similar(ctx, m.n.Depth)
	}
	return words, vectors, err
}

func sortHits(hits []Hit) {
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc))
	})
}

// Bounds of one round of bySum: the documents that are the best by words, and the most documents
// that are looked at because of their vectors.
const (
	firstByWords = 300
	mostByVector = 100_000
)

// sumMargin exceeds the relative roundings of a sum and of what is computed from it.
const sumMargin = 1.0 / (1 << 20)

// bySum returns the k best answers by the weighted sum. The best by words, with their similarities,
// give a score T to beat. Any other document has at most the score t of the last of them, so its
// similarity must be at least (T - wordWeight·t)/weight. All documents with such a similarity are
// looked up in the words. If they are too many, more of the best by words are taken.
//
// Of SumOfShares the largest similarity M is known only after that, which divides the weight. With
// the largest of the best by words instead, which is at most M, the similarity above is lower, and
// with the largest that there can be, the Gap wider. So the documents are among those that are
// wanted, as is one with M.
func (m *meaning) bySum(ctx context.Context, k int) ([]Hit, error) {
	shares := m.n.Fusion == SumOfShares
	for depth := max(firstByWords, roundFactor*k); ; depth = roundFactor * depth {
		depth = min(depth, MaxK)
		words, err := m.byWords(ctx, depth)
		if err != nil {
			return nil, err
		}
		t, most := 0.0, 0 // no other document has any of the words
		if len(words) == depth {
			t = float64(words[depth-1].Score)
			if most = mostByVector; depth == MaxK {
				most = 0
			}
		}
		known := make(map[uint32]float32, len(words))
		near := float32(math.Inf(-1))
		for _, h := range words {
			sim, _, err := m.similarity(h.Doc)
			if err != nil {
				return nil, err
			}
			known[h.Doc] = sim
			near = max(near, sim)
		}
		wordWeight, weight := m.n.WordWeight, m.n.Weight
		least := weight // of the weights that are possible
		if shares {
			wordWeight = ask.Share(wordWeight, mostOf(words))
			switch {
			case len(words) == 0: // the best by vectors are the answers
			case near <= 0 || m.field.Metric == fields.Dot: // nothing bounds M
				best, err := m.similar(ctx, 1)
				if err != nil {
					return nil, err
				}
				near = mostOf(best)
				weight = ask.Share(weight, near)
				least = weight
			default:
				weight = ask.Share(weight, near)
				least /= mostSimilar
			}
		}
		sums := m.sums(words, known, wordWeight, weight)
		beat := math.Inf(-1)
		if len(sums) >= k {
			beat = float64(sums[k-1].Score)
		}
		w := nearest.Want{K: k, Gap: wordWeight * t / least * (1 + sumMargin), Most: most}
		w.Floor = (beat-wordWeight*t)/weight - sumMargin*(math.Abs(beat)+wordWeight*t)/weight
		if math.IsInf(beat, -1) {
			w.Floor = beat
		}
		if shares {
			w.Floor = min(w.Floor, float64(near))
		}
		list, err := m.wanted(ctx, w)
		if err != nil {
			return nil, err
		}
		if shares && len(list.Hits) > 0 && (len(words) == 0 || list.Hits[0].Score > near) {
			weight = ask.Share(m.n.Weight, list.Hits[0].Score)
			sums = m.sums(words, known, wordWeight, weight)
		}
		if list.Many {
			continue
		}
		vectors := slices.DeleteFunc(list.Hits, func(h Hit) bool { _, ok := known[h.Doc]; return ok })
		if sums, err = m.addWords(ctx, sums, vectors, wordWeight, weight, t > 0); err != nil {
			return nil, err
		}
		sortHits(sums)
		sums = sums[:min(k, len(sums))]
		// Documents without a vector that are not among the best by words reach wordWeight·t.
		if m.field.Optional && t > 0 && depth < MaxK &&
			(len(sums) < k || float64(sums[k-1].Score) <= wordWeight*t*(1+sumMargin)) {
			continue
		}
		return sums, nil
	}
}

// mostSimilar exceeds every similarity but a dot product.
const mostSimilar = 1 + 1.0/(1<<10)

// mostOf returns the score of the first hit, 0 if there is none.
func mostOf(hits []Hit) float32 {
	if len(hits) == 0 {
		return 0
	}
	return hits[0].Score
}

// sums returns the best by words with their sums, best first.
func (m *meaning) sums(words []Hit, known map[uint32]float32, wordWeight, weight float64) []Hit {
	sums := make([]Hit, len(words))
	for i, h := range words {
		sums[i] = Hit{Doc: h.Doc, Score: ask.Sum(wordWeight, h.Score, weight, known[h.Doc])}
	}
	sortHits(sums)
	return sums
}

// addWords adds documents that were found by their vectors, with the scores of the words that some
// of them may have.
func (m *meaning) addWords(ctx context.Context, sums, vectors []Hit, wordWeight, weight float64, some bool) ([]Hit, error) {
	scores := map[uint32]float32{}
	if some && len(vectors) > 0 {
		docs := make([]uint32, len(vectors))
		for i, h := range vectors {
			docs[i] = h.Doc
		}
		var err error
		if scores, err = m.scores(ctx, docs); err != nil {
			return nil, err
		}
	}
	for _, h := range vectors {
		sums = append(sums, Hit{Doc: h.Doc, Score: ask.Sum(wordWeight, scores[h.Doc], weight, h.Score)})
	}
	return sums, nil
}

// scores returns the scores of words in some documents; those without a word are left out.
func (m *meaning) scores(ctx context.Context, docs []uint32) (map[uint32]float32, error) {
	r := m.words
	r.Within = &Within{Sets: make([]*docset.Set, len(m.all))}
	for i, segment := range m.all {
		r.Within.Sets[i] = docset.New(segment.Docs())
	}
	for _, doc := range docs {
		at, local := m.place(doc)
		r.Within.Sets[at].Add(local)
	}
	list := make(map[uint32]float32, len(docs))
	for from := 0; from < len(docs); from += MaxK {
		r.K = min(MaxK, len(docs))
		found, err := m.s.Search(ctx, r)
		if err != nil {
			return nil, err
		}
		m.stats.Add(&found.Stats)
		for _, h := range found.Hits {
			list[h.Doc] = h.Score
		}
		if len(found.Hits) < r.K {
			break
		}
		last := found.Hits[len(found.Hits)-1]
		r.After = &After{Score: last.Score, Doc: int64(last.Doc)}
	}
	return list, nil
}

// place returns the segment of a document and its number there.
func (m *meaning) place(doc uint32) (segment int, local uint32) {
	at, found := slices.BinarySearchFunc(m.all, doc, func(s segments.Segment, doc uint32) int {
		return cmp.Compare(s.Base, doc)
	})
	if !found {
		at--
	}
	return at, doc - m.all[at].Base
}

// similarity returns the similarity of a document, 0 if it has no vector, and the number of its
// vector that has it, from 1.
func (m *meaning) similarity(doc uint32) (sim float32, number int, err error) {
	at, local := m.place(doc)
	c := m.parts[at].Column
	if !c.Has(int(local)) {
		return 0, 0, nil
	}
	for i, q := range m.queries {
		s, at, err := nearest.Similarity(q, c, int(local))
		if err != nil {
			return 0, 0, fmt.Errorf("search: %w", err)
		}
		if i == 0 || s > sim {
			sim, number = s, at+1
		}
	}
	return sim, number, nil
}

// explainNearest explains the scores of documents for a request with a vector.
func (s *Searcher) explainNearest(ctx context.Context, r Request, docs []uint32) ([]*Explanation, error) {
	m, err := s.meaning(ctx, &r)
	if err != nil {
		return nil, err
	}
	list, err := s.Explanations(ctx, m.words, docs)
	if err != nil || len(docs) == 0 {
		return nil, err
	}
	v := VectorScore{Field: m.field.Name, Metric: m.field.Metric.String(), Weight: m.n.Weight, WordWeight: m.n.WordWeight}
	var scores map[uint32]float32
	ranks := [2]map[uint32]int{{}, {}}
	if m.given {
		v.Fusion = m.n.Fusion.String()
		if scores, err = m.scores(ctx, docs); err != nil {
			return nil, err
		}
		if m.n.Fusion == ReciprocalRanks {
			words, vectors, err := m.lists(ctx)
			if err != nil {
				return nil, err
			}
			for i, hits := range [][]Hit{vectors, words} {
				for rank, h := range hits {
					ranks[i][h.Doc] = rank + 1
				}
			}
		} else if v.WordWeight, v.Weight, err = m.weights(ctx); err != nil {
			return nil, err
		}
	}
	for i, e := range list {
		one := v
		at, local := m.place(docs[i])
		one.Missing = !m.parts[at].Column.Has(int(local))
		if one.Similarity, one.Number, err = m.similarity(docs[i]); err != nil {
			return nil, err
		}
		if !m.field.Many {
			one.Number = 0
		}
		one.Words = scores[docs[i]]
		one.Rank, one.WordsRank = ranks[0][docs[i]], ranks[1][docs[i]]
		switch {
		case !m.given:
			e.Score, one.Weight, one.WordWeight = one.Similarity, 1, 0
		case m.n.Fusion == ReciprocalRanks:
			e.Score = float32(ask.OfRank(one.WordWeight, one.WordsRank) + ask.OfRank(one.Weight, one.Rank))
		default:
			e.Score = ask.Sum(one.WordWeight, one.Words, one.Weight, one.Similarity)
		}
		e.Vector = &one
	}
	return list, nil
}
