package device

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// The kernels prepare the same terms, to the bit, from words on the device and from words that come
// with the batch, for any multiplicity. The bound of a word is within its possible scores.
func TestGPUKnownWords(t *testing.T) {
	trials.Long(t, "many launches in the interpreter")
	rng := rand.New(rand.NewPCG(17, 3))
	p := severalTiles(rng, 20)
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	use(t, s, Options{})
	g := s.gpu
	w, err := s.e.Weigher(nil)
	if err != nil {
		t.Fatal(err)
	}
	var a resolver
	var resolved []resolvedRequest
	var at []int32
	for i := range 30 {
		r := ask.Request{K: 1 + rng.IntN(50), Mode: ask.Mode(i % 2)}
		for _, j := range rng.Perm(len(p.Words))[:1+i%len(p.Words)] {
			r.Words = append(r.Words, ask.Word{Text: p.Words[j], Weight: float64(int(1) << rng.IntN(4))})
		}
		a.terms = nil
		q := a.resolve(g, &r)
		q.lead = 0 // none is short
		resolved, at = append(resolved, q), append(at, int32(i))
	}
	f, err := g.lanes.take(g)
	if err != nil {
		t.Fatal(err)
	}
	defer g.lanes.give(f)
	m := g.pack.find(codedAs(nil))
	made := func(known uint32) (queries []byte, terms []gpuTerm) {
		f.p.begin(len(at), m, w, false, f.host.Values(), f.hostOwn.Values(), &f.limits)
		if f.p.known != uint32(len(g.pack.lists)) {
			t.Fatalf("%d words are known, want %d", f.p.known, len(g.pack.lists))
		}
		if f.p.known = known; !f.p.place(resolved, at, &f.limits) {
			t.Fatal("no room")
		}
		if err := f.start(m); err != nil {
			t.Fatal(err)
		}
		queries, terms = make([]byte, len(at)*longQueryBytes), make([]gpuTerm, f.p.used.words)
		if err := f.queries.Slice(0, len(queries)).Download(t.Context(), f.stream, queries); err != nil {
			t.Fatal(err)
		}
		if err := f.terms.Slice(0, len(terms)).Download(t.Context(), f.stream, terms); err != nil {
			t.Fatal(err)
		}
		return queries, terms
	}
	queries, terms := made(uint32(len(g.pack.lists)))
	alike, same := made(0)
	if f.p.used.own != f.p.used.words || !slices.Equal(queries, alike) || !slices.Equal(terms, same) {
		t.Fatal("terms of known words differ from those of words that come with the batch")
	}
	for i := range resolved {
		sum, worth := 0.0, uint64(0)
		for j := range resolved[i].words {
			x := &terms[j]
			sum, worth = sum+float64(x.Inverse), worth+256*uint64(x.Mult)
			if x.Inverse < x.Weight/100 || x.Inverse > x.Weight+x.Plus {
				t.Errorf("request %d: a word of weight %v has bound %v", i, x.Weight, x.Inverse)
			}
		}
		for j := range resolved[i].words {
			x := &terms[j]
			if want := float64(x.Inverse) / sum * (1 << 24); float64(x.Mult) < want-64 ||
				float64(x.Mult) > want+64 || worth >= 1<<32 {
				t.Errorf("request %d: a step of word %d is worth %d, want %v; all are worth %d", i,
					j, x.Mult, want, worth)
			}
		}
		terms = terms[resolved[i].words:]
	}
}
