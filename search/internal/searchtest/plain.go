package searchtest

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
)

// Plain is an index as plain slices. It is the oracle: it searches by the definition.
type Plain struct {
	Lengths []uint32
	Words   []string
	Docs    [][]uint32
	TFs     [][]uint32
	// Analyzer is the one that the index names; "" means whitespace.
	Analyzer string

	weighers map[weigherOf]model.Weigher // a cache, because some take long to make
}

type weigherOf struct {
	model model.Model
	index *index.Reader
}

// weigher returns the weigher of a model for the index that Write wrote.
func (p *Plain) weigher(t testing.TB, m model.Model, ix *index.Reader) model.Weigher {
	t.Helper()
	if w := p.weighers[weigherOf{m, ix}]; w != nil {
		return w
	}
	c := model.NewCollection(ix)
	w, err := model.WeigherOf(m, &c)
	if err != nil {
		t.Fatal(err)
	}
	if p.weighers == nil {
		p.weighers = map[weigherOf]model.Weigher{}
	}
	p.weighers[weigherOf{m, ix}] = w
	return w
}

// RandomPlain returns an index of up to maxDocs documents with lists of all kinds: from one posting
// to every document, clustered, with huge frequencies, with many equal scores.
func RandomPlain(rng *rand.Rand, maxDocs, words int) *Plain {
	p := &Plain{}
	n := rng.IntN(maxDocs) + 1
	kinds := []int{1, 3, 60, 2000}[rng.IntN(4)] // few distinct lengths cause ties
	for range n {
		p.Lengths = append(p.Lengths, uint32(rng.IntN(kinds)*(1+rng.IntN(3))+1))
	}
	for w := range words {
		density := rng.Float64()
		density *= density
		switch rng.IntN(8) {
		case 0:
			density = 1
		case 1:
			density = 2 / float64(n)
		}
		maxTF := []int{1, 2, 8, 300}[rng.IntN(4)]
		var docs, tfs []uint32
		inside := true
		for d := range n {
			if rng.IntN(200) == 0 {
				inside = !inside
			}
			if inside && rng.Float64() < density || d == n-1 && docs == nil {
				docs = append(docs, uint32(d))
				tf := uint32(rng.ExpFloat64()*float64(maxTF)/4) + 1
				if rng.IntN(500) == 0 {
					tf = rng.Uint32N(1<<uint(rng.IntN(30)+1)) + 1
				}
				tfs = append(tfs, tf)
			}
		}
		p.Words = append(p.Words, fmt.Sprintf("w%03d", w))
		p.Docs = append(p.Docs, docs)
		p.TFs = append(p.TFs, tfs)
	}
	return p
}

// Scratch returns a temporary folder, in memory if possible: thousands of indexes are written
// there.
func Scratch(t testing.TB) string {
	if dir, err := os.MkdirTemp("/dev/shm", "search"); err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		return dir
	}
	return t.TempDir()
}

// Write writes the index into a folder.
func (p *Plain) Write(t testing.TB, dir string) {
	t.Helper()
	w, err := index.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	id := func(d int) string { return "doc" + strconv.Itoa(d) }
	analyzer := cmp.Or(p.Analyzer, "whitespace")
	if err := w.SetDocuments(index.Documents{Analyzer: analyzer, Lengths: p.Lengths, ID: id}); err != nil {
		t.Fatal(err)
	}
	for i, word := range p.Words {
		if err := w.Add([]byte(word), p.Docs[i], p.TFs[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

// Search searches by the definition: it scores all documents, sorts them and keeps the first k. The
// index is the one that Write wrote.
func (p *Plain) Search(t testing.TB, ix *index.Reader, words []ask.Word, k int, mode ask.Mode,
	m model.Model) []ask.Hit {
	t.Helper()
	return best(p.scores(t, ix, p, words, mode, m), k)
}

// scores returns the documents that have the words, in the order of their numbers, with their
// scores. The weights of words are those in the whole index.
func (p *Plain) scores(t testing.TB, ix *index.Reader, whole *Plain, words []ask.Word,
	mode ask.Mode, m model.Model) []ask.Hit {
	t.Helper()
	type known struct {
		ask.Word
		list int
	}
	var query []known
	var missing bool
	for _, w := range words {
		if i := slices.IndexFunc(query, func(o known) bool { return o.Text == w.Text }); i >= 0 {
			query[i].Weight += w.Weight
			continue
		}
		list := slices.Index(p.Words, w.Text)
		if list < 0 {
			missing = true
			continue
		}
		query = append(query, known{w, list})
	}
	if mode == ask.And && missing {
		return nil
	}
	if m == nil {
		m = model.BM25{}
	}
	weigher := whole.weigher(t, m, ix)
	var terms []model.Term
	for _, w := range query {
		info := index.Term{DF: uint32(len(whole.Docs[w.list]))}
		for _, tf := range whole.TFs[w.list] {
			info.CF += uint64(tf)
		}
		terms = append(terms, model.Term{Weight: w.Weight, Info: info})
	}
	sums := make([]float32, len(p.Lengths))
	has := make([]int, len(p.Lengths))
	for i, w := range query {
		sc := weigher.ScorerOf(&terms[i], weigher.QueryNorm(terms))
		for j, d := range p.Docs[w.list] {
			sums[d] += sc.Score(p.TFs[w.list][j], p.Lengths[d])
			has[d]++
		}
	}
	least := 1
	if mode == ask.And {
		least = max(1, len(query))
	}
	var hits []ask.Hit
	for d, n := range has {
		if n >= least {
			hits = append(hits, ask.Hit{Doc: uint32(d), Score: sums[d]})
		}
	}
	return hits
}

// best returns the k best of some documents. It never sorts more than a few times k of them.
func best(hits []ask.Hit, k int) []ask.Hit {
	order := func(a, b ask.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc))
	}
	top, cut := hits[:0], false // if cut, the first k of top are sorted, and others were dropped
	for _, h := range hits {
		if cut && order(h, top[k-1]) > 0 {
			continue
		}
		if top = append(top, h); len(top) > 4*k && k > 0 {
			slices.SortFunc(top, order)
			top, cut = top[:k], true
		}
	}
	slices.SortFunc(top, order)
	return top[:min(k, len(top))]
}

// SearchPositions is the definition of homogeneous and adjusted partitions: each partition is
// searched as an index of its postings alone, and the best of all partitions are returned.
func (p *Plain) SearchPositions(t testing.TB, ix *index.Reader, r ask.Request, size int) []ask.Hit {
	t.Helper()
	longest := 0
	for i, w := range p.Words {
		if slices.ContainsFunc(r.Words, func(o ask.Word) bool { return o.Text == w }) {
			longest = max(longest, len(p.Docs[i]))
		}
	}
	all := map[uint32]float32{}
	for i := range (longest + size - 1) / size {
		part := p.partition(r.Words, i, size, r.Parallel.Partition == ask.Adjusted, r.Parallel.Slack)
		for _, h := range part.scores(t, ix, p, r.Words, r.Mode, r.Model) {
			if old, ok := all[h.Doc]; !ok || h.Score > old {
				all[h.Doc] = h.Score
			}
		}
	}
	var hits []ask.Hit
	for d, score := range all {
		hits = append(hits, ask.Hit{Doc: d, Score: score})
	}
	return best(hits, r.K)
}

// TestModels are all models, some with several parameters. Those that are not named are among them
// with their usual ones.
var TestModels = withOthers(
	model.BM25{}, model.BM25{K1: 0.9, B: 0.4, Variant: bm25.Lucene},
	model.BM25{K1: 1.2, B: model.Zero, Variant: bm25.Lucene7},
	model.BM25{Variant: bm25.Terrier}, model.BM25{K3: 2}, model.BM25{Variant: bm25.LuceneLossy},
	model.BM25{K1: 2, B: 1, Variant: bm25.Plus}, model.BM25{K1: 1.5, B: 0.75, Variant: bm25.L},
	model.BM25{K1: model.Zero, B: 1},
	OwnRising, OwnWild,
	model.Boolean{}, model.Cosine{}, model.Dirichlet{}, model.Dirichlet{Mu: 50}, model.DPH{},
)

// withOthers adds the models of which the list has none.
func withOthers(list ...model.Model) []model.Model {
	for _, name := range model.Models() {
		m, err := model.ParseModel(name)
		if err != nil {
			panic(err)
		}
		if !slices.ContainsFunc(list, func(x model.Model) bool { return reflect.TypeOf(x) == reflect.TypeOf(m) }) {
			list = slices.Insert(list, 0, m)
		}
	}
	return list
}

// OwnRising and OwnWild are models of one's own: one with bounds, and one without, whose scores
// rise and fall and are sometimes none.
var (
	OwnRising = &model.Own{Name: "rising", Monotonic: true, Word: func(w model.WordStats) func(tf, length uint32) float64 {
		rare := float64(w.All) / float64(w.Documents)
		return func(tf, length uint32) float64 { return rare * float64(tf) / (float64(tf) + float64(length)) }
	}}
	OwnWild = &model.Own{Name: "wild", Word: func(w model.WordStats) func(tf, length uint32) float64 {
		return func(tf, length uint32) float64 { return math.Sqrt(float64(tf%7) - 2 + float64(length%5)) }
	}}
)

func RandomWords(rng *rand.Rand, p *Plain) []ask.Word {
	n := 1 + rng.IntN(4)
	if rng.IntN(6) == 0 {
		n = 1 + rng.IntN(2*len(p.Words))
	}
	var words []ask.Word
	for range n {
		w := ask.Word{Weight: 1}
		if rng.IntN(12) == 0 {
			w.Text = "unknown"
		} else {
			w.Text = p.Words[rng.IntN(len(p.Words))]
		}
		if rng.IntN(10) == 0 {
			w.Weight = float64(rng.IntN(5)) + 0.5
		}
		words = append(words, w)
	}
	return words
}

func IndexDir(root string, i int) string { return filepath.Join(root, fmt.Sprint(i)) }

// partition returns an index that has only the postings of a partition, of the lists of the words.
func (p *Plain) partition(words []ask.Word, i, size int, adjusted bool, slack int) *Plain {
	part := &Plain{Lengths: p.Lengths, Words: p.Words, Docs: slices.Clone(p.Docs), TFs: slices.Clone(p.TFs)}
	first := uint32(0)
	for w, docs := range p.Docs {
		if slices.ContainsFunc(words, func(o ask.Word) bool { return o.Text == p.Words[w] }) && i*size < len(docs) {
			first = max(first, docs[i*size])
		}
	}
	for w, docs := range p.Docs {
		from := min(i*size, len(docs))
		n := min(size, len(docs)-from)
		if adjusted {
			later, _ := slices.BinarySearch(docs, uint32(max(0, int(first)-slack)))
			from = max(from, later)
			n = min(n, len(docs)-from)
		}
		part.Docs[w], part.TFs[w] = docs[from:from+n], p.TFs[w][from:from+n]
	}
	return part
}

func Head(h []ask.Hit) []ask.Hit { return h[:min(len(h), 20)] }
