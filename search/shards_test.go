package search

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/searchtest"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// cut writes the shards of an index and opens them.
func cut(t testing.TB, r *index.Reader, n int, dir string) (shards []*Searcher) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		to := filepath.Join(dir, fmt.Sprintf("shard-%d-%d", n, i))
		if err := index.WriteShard(context.Background(), r, to, i, n, index.MergeOptions{}); err != nil {
			t.Fatal(err)
		}
		s, err := Open(to)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		shards = append(shards, s)
	}
	return shards
}

// askShards searches one shard after the other and merges the answers. The k-th score so far is
// passed on to the next shard as AtLeast.
func askShards(t testing.TB, shards []*Searcher, r Request) (best []Hit, total int64) {
	t.Helper()
	for _, s := range shards {
		found, err := s.Search(context.Background(), r)
		if err != nil {
			t.Fatalf("%+v: %v", r, err)
		}
		total += found.Total
		base := s.Index().Segments()[0].Shard().Base
		for _, h := range found.Hits {
			best = append(best, Hit{Doc: base + h.Doc, Score: h.Score})
		}
		slices.SortFunc(best, func(a,
			b Hit) int {
			return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc))
		})
		if best = best[:min(len(best), r.K)]; len(best) == r.K {
			r.AtLeast = best[r.K-1].Score
		}
	}
	return best, total
}

// Shards, in any order, answer as the whole index does, to the bit: for all modes, algorithms,
// numbers of answers, and all models but Cosine.
func TestShardsAreOneIndex(t *testing.T) {
	indexes := 100
	if testing.Short() {
		indexes = 20
	}
	root := searchtest.Scratch(t)
	rng := rand.New(rand.NewPCG(31, 32))
	algorithms := []Algorithm{Auto, Exhaustive, TAAT, MaxScore, WAND, BMW, VBMW, BMM}
	for i := range indexes {
		p := searchtest.RandomPlain(rng, []int{1, 20, 300, 3000, 20000}[rng.IntN(5)], 1+rng.IntN(12))
		dir := searchtest.IndexDir(root, i)
		p.Write(t, dir)
		whole := open(t, dir)
		n := min(1+rng.IntN(6), len(p.Lengths))
		shards := cut(t, whole.Index().Segments()[0].Reader, n, dir+"-shards")
		for _, s := range shards {
			if err := s.Index().Check(context.Background(), index.CheckOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		rng.Shuffle(len(shards), func(i, j int) { shards[i], shards[j] = shards[j], shards[i] })
		for range 8 {
			m := searchtest.TestModels[rng.IntN(len(searchtest.TestModels))]
			if _, cosine := m.(Cosine); cosine {
				continue
			}
			r := Request{
				Words: searchtest.RandomWords(rng, p), K: []int{1, 2, 10, 100, 1000}[rng.IntN(5)],
				Mode:      Mode(rng.IntN(2)),
				Algorithm: algorithms[rng.IntN(len(algorithms))], Model: m,
			}
			if rng.IntN(4) == 0 {
				r.Parallel = &Parallel{Threads: 2, Engine: engine.Multicore}
			}
			want, err := whole.Search(context.Background(), r)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := askShards(t, shards, r); !slices.Equal(got, want.Hits) {
				t.Fatalf("index %d, %d shards, %+v:\n got %v\nwant %v", i, n, r, got, want.Hits)
			}
		}
		whole.Close()
		for _, s := range shards {
			s.Close()
		}
		os.RemoveAll(dir)
		os.RemoveAll(dir + "-shards")
	}
}

// Shards answer structured queries as the whole index does: phrases, filters, exclusions, counts
// and fields.
func TestShardsAnswerStructuredQueries(t *testing.T) {
	var lines []byte
	rng := rand.New(rand.NewPCG(33, 34))
	words := []string{"moon", "sun", "star", "dust", "ring", "comet", "of", "the"}
	for i := range 400 {
		title, body := words[rng.IntN(4)], ""
		for range 3 + rng.IntN(20) {
			body += " " + words[int(float64(len(words))*rng.Float64()*rng.Float64())]
		}
		lines = fmt.Appendf(lines, "{\"id\":\"d%d\",\"title\":%q,\"body\":%q,\"year\":%d}\n", i,
			title, body, 1990+rng.IntN(30))
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "corpus.jsonl")
	if err := os.WriteFile(file, lines, 0o644); err != nil {
		t.Fatal(err)
	}
	whole := buildFields(t, file, filepath.Join(dir, "whole"))
	r := whole.Index().Segments()[0].Reader
	shards := cut(t, r, 3, dir)
	for _, q := range []string{
		"moon dust", `"moon star"`, "+moon -sun", "title:moon dust", "year:>=2010 sun",
		`"of the"~2 moon`, "moon NEAR/3 sun",
		"unknownword moon", "id:d7", "title:sun^3 star",
	} {
		tree, err := query.Parse(q, query.Options{Fields: whole.Fields()})
		if err != nil {
			t.Fatal(q, err)
		}
		for _, k := range []int{1, 10, 500} {
			request := Request{Query: tree, K: k, Count: true}
			want, err := whole.Search(context.Background(), request)
			if err != nil {
				t.Fatal(q, err)
			}
			got, total := askShards(t, shards, request)
			if !slices.Equal(got, want.Hits) || total != want.Total {
				t.Errorf("%s, %d answers:\n got %v of %d\nwant %v of %d", q, k, got, total, want.Hits, want.Total)
			}
		}
	}
	// Shards that were built from parts have the same files, except for the reference to the whole.
	all := strings.SplitAfter(string(lines), "\n")
	var parts []*index.Reader
	for i := range 3 {
		part := strings.Join(all[400*i/3:400*(i+1)/3], "")
		file := filepath.Join(dir, fmt.Sprintf("part-%d.jsonl", i))
		if err := os.WriteFile(file, []byte(part), 0o644); err != nil {
			t.Fatal(err)
		}
		parts = append(parts, buildFields(t, file,
			filepath.Join(dir, fmt.Sprint("part-", i))).Index().Segments()[0].Reader)
	}
	for i := range 3 {
		joined := filepath.Join(dir, fmt.Sprint("joined-", i))
		if err := index.JoinShard(context.Background(), parts, i, joined, index.MergeOptions{}); err != nil {
			t.Fatal(err)
		}
		cut := shards[i].Index().Dir()
		for _, name := range []string{"terms", "postings", "skips", "documents", "positions",
			"columns", "fields/title/terms"} {
			a, err1 := os.ReadFile(filepath.Join(joined, name))
			b, err2 := os.ReadFile(filepath.Join(cut, name))
			if err1 != nil || err2 != nil || !bytes.Equal(a, b) {
				t.Errorf("shard %d: %s differs: %v, %v", i, name, err1, err2)
			}
		}
		s := open(t, joined)
		of, want := s.Index().Segments()[0].Shard(), shards[i].Index().Segments()[0].Shard()
		of.WholeBytes, of.WholeChecksum, want.WholeBytes, want.WholeChecksum = 0, 0, 0, 0
		if of != want {
			t.Errorf("shard %+v, want %+v", of, want)
		}
	}
	for _, refused := range []Request{
		{Text: "moon", Model: Cosine{}}, {Text: "moon", Model: BM25F{}}, {Query: query.Prefix{Text: "mo"}},
	} {
		if _, err := shards[0].Search(context.Background(), refused); err == nil {
			t.Errorf("%+v: no error, but a shard lacks the statistics for it", refused)
		}
	}
	// A shard cannot be converted, which would lose the counts of the whole.
	part := shards[0].Index().Segments()[0].Reader
	other := filepath.Join(dir, "other")
	for name, err := range map[string]error{
		"reorder": index.Reorder(context.Background(), part, other, index.ReorderOptions{}),
		"prune":   index.Prune(context.Background(), part, other, index.PruneOptions{}),
		"merge":   index.Merge(context.Background(), other, []index.Source{{Reader: part}}, index.MergeOptions{}),
		"shard":   index.WriteShard(context.Background(), part, other, 0, 2, index.MergeOptions{}),
	} {
		if err == nil {
			t.Errorf("%s of a shard: no error", name)
		}
	}
}

// buildFields builds an index with fields and positions.
func buildFields(t *testing.T, corpus, dir string) *Searcher {
	t.Helper()
	schema, err := fields.ParseList([]string{"title:text", "body:text", "year:number"})
	if err != nil {
		t.Fatal(err)
	}
	c := text.Corpus{Paths: []string{corpus}, Options: text.Options{Schema: schema}}
	a, err := text.ParseAnalyzer("unicode")
	if err != nil {
		t.Fatal(err)
	}
	if err := index.Build(context.Background(), dir, &c, index.BuildOptions{Analyzer: a, Positions: true}); err != nil {
		t.Fatal(err)
	}
	return open(t, dir)
}

// Each shard on a device answers as on the cores, and all together as the whole index: one by one
// with AtLeast, and in a batch.
func TestShardsOnGPU(t *testing.T) {
	root := searchtest.Scratch(t)
	rng := rand.New(rand.NewPCG(35, 36))
	for i, docs := range []int{40, 300} {
		if i%trials.Every(2) > 0 {
			continue
		}
		p := searchtest.RandomPlain(rng, docs, 6)
		dir := searchtest.IndexDir(root, i)
		p.Write(t, dir)
		whole := open(t, dir)
		defer whole.Close()
		shards := cut(t, whole.Index().Segments()[0].Reader, 3, dir+"-shards")
		for n, s := range shards {
			dev, _ := gputest.Named(t)
			if err := s.OpenGPU(t.Context(), GPUOptions{Device: dev.Which(0)}); err != nil {
				t.Fatalf("shard %d: %v", n, err)
			}
		}
		var requests []Request
		for n := 0; n < 12; n += trials.Every(5) {
			r := Request{Words: searchtest.RandomWords(rng, p), K: []int{1, 5, 10}[n%3], Mode: Mode(n / 6)}
			if n%4 == 3 {
				r.Model = Dirichlet{}
			}
			want, err := whole.Search(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			r.Parallel = &Parallel{Engine: engine.GPU}
			if got, _ := askShards(t, shards, r); !slices.Equal(got, want.Hits) {
				t.Fatalf("%d documents, %+v:\n got %v\nwant %v", docs, r, got, want.Hits)
			}
			requests = append(requests, r)
		}
		onDevice := 0
		for _, s := range shards {
			n := 0
			for got, err := range s.SearchBatch(t.Context(), slices.Values(requests), Batch{Engine: engine.GPU}) {
				if err != nil {
					t.Fatal(err)
				}
				r := requests[n]
				r.Parallel = nil
				want, err := s.Search(t.Context(), r)
				if err != nil || !slices.Equal(got.Hits, want.Hits) {
					t.Fatalf("%+v: %v\n got %v\nwant %v", r, err, got.Hits, want.Hits)
				}
				if g := got.Stats.GPU; g != nil && g.Fallback == "" {
					onDevice++
				}
				n++
			}
		}
		if onDevice == 0 {
			t.Error("the device answered nothing")
		}
	}
}
