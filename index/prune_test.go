package index

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/collocate/collocate/text"
)

// The zero value keeps what a top of 10 and an epsilon of 0.5 keep.
func TestPruneByDefault(t *testing.T) {
	// Documents of very different lengths, so that a word's weights differ much.
	rng := rand.New(rand.NewPCG(7, 8))
	var lines []byte
	for range 300 {
		for range 1 + rng.IntN(1+rng.IntN(300)) {
			lines = fmt.Appendf(lines, "w%d ", rng.IntN(1+rng.IntN(60)))
		}
		lines = append(lines, '\n')
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "corpus.txt")
	if err := os.WriteFile(path, lines, 0o666); err != nil {
		t.Fatal(err)
	}
	c := &text.Corpus{Paths: []string{path}, Options: text.Options{Format: text.Lines}}
	if err := Build(context.Background(), filepath.Join(dir, "whole"), c, BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	whole := open(t, filepath.Join(dir, "whole"))
	kept := map[PruneOptions]int64{}
	for _, o := range []PruneOptions{{}, {Top: 10, Epsilon: 0.5}, {Top: 11}, {Epsilon: 0.51}} {
		small := filepath.Join(dir, fmt.Sprint("pruned", len(kept)))
		if err := Prune(context.Background(), whole, small, o); err != nil {
			t.Fatal(err)
		}
		kept[o] = open(t, small).Postings()
	}
	zero := kept[PruneOptions{}]
	for o, n := range kept {
		if same := o == (PruneOptions{}) || o == (PruneOptions{Top: 10, Epsilon: 0.5}); (n == zero) != same {
			t.Errorf("%+v keeps %d postings, and the zero value %d", o, n, zero)
		}
	}
}

// A pruned list holds the postings that the definition keeps, by the weights of the whole index.
// The counts of words stay those of the whole index, also after reordering.
func TestPrune(t *testing.T) {
	path, _ := topicCorpus(t, rand.New(rand.NewPCG(7, 8)), 3000, 4)
	an, err := text.ParseAnalyzer("whitespace")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "whole")
	c := &text.Corpus{Paths: []string{path}, Options: text.Options{Format: text.Lines}}
	if err := Build(context.Background(), dir, c, BuildOptions{Analyzer: an, StoreText: true}); err != nil {
		t.Fatal(err)
	}
	whole := open(t, dir)
	const top, epsilon = 20, 0.8
	small := filepath.Join(t.TempDir(), "pruned")
	if err := Prune(context.Background(), whole, small,
		PruneOptions{Top: top, Epsilon: epsilon, Threads: 3}); err != nil {
		t.Fatal(err)
	}
	pruned := open(t, small)
	if err := pruned.Check(context.Background(), CheckOptions{}); err != nil {
		t.Fatal(err)
	}
	if !pruned.Pruned() || whole.Pruned() || pruned.Terms() != whole.Terms() || pruned.Tokens() != whole.Tokens() {
		t.Fatalf("pruning %+v gave %+v; want the flag, and as many words and tokens", whole.meta, pruned.meta)
	}
	if got := pruned.Stats(); got.FullPostings != whole.Postings() || got.Postings*10 > got.FullPostings*9 {
		t.Errorf("%d of %d postings, want at most 90%% of %d", got.Postings, got.FullPostings, whole.Postings())
	}
	type posting struct{ doc, tf uint32 }
	list := func(r *Reader, term Term) (out []posting) {
		var c Cursor
		if err := r.Open(term, &c); err != nil {
			t.Fatal(err)
		}
		for b := range c.Blocks() {
			docs := c.Load(b)
			for i, tf := range c.TFs()[:len(docs)] {
				out = append(out, posting{docs[i], tf})
			}
		}
		return out
	}
	weight := func(p posting) float64 { return 1 / (1 + float64(xOf(whole.coef, p.tf, whole.Length(int(p.doc))))) }
	for w, err := range whole.Words() {
		if err != nil {
			t.Fatal(err)
		}
		all := list(whole, w.Term)
		want := all
		if len(all) > top {
			ranked := make([]float64, len(all))
			for i, p := range all {
				ranked[i] = weight(p)
			}
			slices.Sort(ranked)
			limit := epsilon * ranked[len(ranked)-top]
			want = slices.DeleteFunc(slices.Clone(all), func(p posting) bool { return weight(p) < limit*(1-1e-12) })
		}
		got, err := pruned.Lookup(w.Text)
		if err != nil {
			t.Fatal(err)
		}
		if got.FullDF() != w.Term.DF || got.CF != w.Term.CF || int(got.DF) != len(want) {
			t.Fatalf("%q: %+v, want %d postings of %+v", w.Text, got, len(want), w.Term)
		}
		if !slices.Equal(list(pruned, got), want) {
			t.Fatalf("%q: %v, want %v", w.Text, list(pruned, got), want)
		}
	}
	other := reorder(t, pruned, ReorderOptions{Threads: 2})
	sameButForOrder(t, pruned, other)
	for w, err := range whole.Words() {
		if err != nil {
			t.Fatal(err)
		}
		got, err := other.Lookup(w.Text)
		if err != nil || got.FullDF() != w.Term.DF || got.CF != w.Term.CF {
			t.Fatalf("%q in another order: %+v, %v; want %+v", w.Text, got, err, w.Term)
		}
	}
}

// A word of a pruned index with higher counts than before pruning is an error.
func TestDamagedCountsOfAPrunedIndex(t *testing.T) {
	d := &dictionary{terms: 1, full: []uint64{0, 3, 9}}
	for _, bad := range []Term{{DF: 4, CF: 4}, {DF: 1, CF: 10}} {
		if err := d.complete(&bad); err == nil {
			t.Errorf("%+v, with DF and CF %d before pruning: no error", bad, d.full[1:])
		}
	}
}
