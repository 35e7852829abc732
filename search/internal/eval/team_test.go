package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/searchtest"
	"github.com/collocate/collocate/search/internal/topk"
)

// randomParallel returns random options of a parallel search, mostly with small partitions.
func randomParallel(rng *rand.Rand) *ask.Parallel {
	p := &ask.Parallel{
		Engine: engine.Multicore, Threads: 1 + rng.IntN(4),
		Partition: ask.Partition(rng.IntN(4)), Policy: ask.Policy(rng.IntN(4)), Slack: rng.IntN(8),
	}
	if rng.IntN(4) > 0 {
		p.Size = []int{1, 7, 32, 64, 128, 129, 1000, 5000}[rng.IntN(8)]
	}
	if rng.IntN(2) == 0 {
		p.Row = 1 + rng.IntN(5)
	}
	return p
}

// Parallel search with exact options gives the results of the definition, to the bit, with every
// algorithm. Approximate options give the same answers in each run, unless these depend on timing.
// They never give a document twice, or a score above the document's.
func TestParallelSearchGivesTheDefinition(t *testing.T) {
	root := searchtest.Scratch(t)
	rng := rand.New(rand.NewPCG(71, 72))
	for i := range trials.Cases(200) {
		p := searchtest.RandomPlain(rng, []int{1, 20, 300, 3000, 9000}[rng.IntN(5)], 1+rng.IntN(12))
		dir := searchtest.IndexDir(root, i)
		s := write(t, p, dir)
		for range 3 {
			r := ask.Request{
				Words: searchtest.RandomWords(rng, p), K: []int{1, 2, 10, 100, 10000}[rng.IntN(5)],
				Mode:  ask.Mode(rng.IntN(2)),
				Model: searchtest.TestModels[rng.IntN(len(searchtest.TestModels))],
			}
			want := p.Search(t, s.e.Index, r.Words, r.K, r.Mode, r.Model)
			for range 6 {
				r.Algorithm, r.Parallel = ask.Algorithm(rng.IntN(len(algorithms))), randomParallel(rng)
				if len(p.Lengths) > 1000 {
					r.Parallel.Size = max(r.Parallel.Size, 32)
				}
				got, err := s.Search(context.Background(), r)
				if err != nil {
					t.Fatal(err)
				}
				name := fmt.Sprintf("index %d (%d documents), %v, %v, k %d, %v, %v, %+v", i,
					len(p.Lengths), r.Words, r.Model, r.K, r.Mode, r.Algorithm, *r.Parallel)
				if !r.Parallel.Exact() {
					checkApproximate(t, s, p, r, got.Hits, name)
				} else if !slices.Equal(got.Hits, want) {
					t.Fatalf("%s:\n got %v\nwant %v", name, searchtest.Head(got.Hits), searchtest.Head(want))
				}
			}
		}
		s.Close()
		os.RemoveAll(dir)
	}
}

// The results do not depend on the order of partitions. Late documents of the collection may raise
// the bar before early ones are scored, which win if scores are equal.
func TestAnyOrderOfPartitionsGivesTheDefinition(t *testing.T) {
	root := searchtest.Scratch(t)
	rng := rand.New(rand.NewPCG(73, 74))
	for i := range trials.Cases(150) {
		p := searchtest.RandomPlain(rng, []int{20, 300, 2000}[rng.IntN(3)], 1+rng.IntN(5))
		dir := searchtest.IndexDir(root, i)
		s := write(t, p, dir)
		for range 5 {
			r := ask.Request{
				Words: searchtest.RandomWords(rng, p), K: []int{1, 2, 10, 100}[rng.IntN(4)],
				Mode:      ask.Mode(rng.IntN(2)),
				Model:     searchtest.TestModels[rng.IntN(len(searchtest.TestModels))],
				Algorithm: ask.Algorithm(rng.IntN(len(algorithms)-1) + 1),
				Parallel: &ask.Parallel{Partition: ask.Partition(rng.IntN(2)),
					Policy: ask.Policy(rng.IntN(3)), Size: rng.IntN(2) * (1 + rng.IntN(100))},
			}
			q, err := s.e.Prepare(context.Background(), &r)
			if err != nil {
				t.Fatal(err)
			}
			if len(q.Lists) > 0 {
				q.Stats.Algorithm = r.Algorithm
				got, want := inAnyOrder(t, rng, s.e.NewTeam(q, r.Parallel)),
					p.Search(t, s.e.Index, r.Words, r.K, r.Mode, r.Model)
				if !slices.Equal(got, want) {
					t.Fatalf("index %d (%d documents), %v, %v, k %d, %v, %v, %+v:\n got %v\nwant %v",
						i, len(p.Lengths), r.Words, r.Model, r.K, r.Mode, r.Algorithm, *r.Parallel,
						searchtest.Head(got), searchtest.Head(want))
				}
			}
			s.e.Release(q)
		}
		s.Close()
		os.RemoveAll(dir)
	}
}

// inAnyOrder distributes the partitions to three workers, each of which processes its own in
// increasing order.
func inAnyOrder(t *testing.T, rng *rand.Rand, tm *Team) []ask.Hit {
	t.Helper()
	if tm.parts.shared {
		return inAnyShare(t, rng, tm)
	}
	var workers [3]*Query
	var dealt [3][]int
	for i := range tm.parts.count {
		w := rng.IntN(3)
		dealt[w] = append(dealt[w], i)
	}
	for w := range workers {
		q, err := tm.fork()
		if err != nil {
			t.Fatal(err)
		}
		q.team, workers[w] = tm, q
	}
	for len(dealt[0])+len(dealt[1])+len(dealt[2]) > 0 {
		w := rng.IntN(3)
		for range rng.IntN(10) {
			if len(dealt[w]) > 0 {
				if err := tm.search(workers[w], dealt[w][0]); err != nil {
					t.Fatal(err)
				}
				dealt[w] = dealt[w][1:]
			}
		}
	}
	tm.next.Store(int64(tm.parts.count))
	return answerOf(t, tm, workers[:])
}

// inAnyShare lets three workers process small pieces of their own shares and of each other's, in
// random order.
func inAnyShare(t *testing.T, rng *rand.Rand, tm *Team) []ask.Hit {
	t.Helper()
	tm.shares.reset(3, uint32(tm.parts.docs), uint32(1+rng.IntN(100)))
	var workers, active []*Query
	own := map[*Query]int{}
	for w := range 3 {
		if w > 0 {
			if _, ok := tm.shares.join(); !ok {
				break
			}
		}
		q, err := tm.fork()
		if err != nil {
			t.Fatal(err)
		}
		q.team, q.worker = tm, workerState{low: math.MaxUint64}
		workers, own[q] = append(workers, q), w
	}
	for active = slices.Clone(workers); len(active) > 0; {
		at := rng.IntN(len(active))
		more, err := tm.piece(active[at], own[active[at]])
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			active = slices.Delete(active, at, at+1)
		}
	}
	return answerOf(t, tm, workers)
}

func answerOf(t *testing.T, tm *Team, workers []*Query) []ask.Hit {
	t.Helper()
	for _, q := range workers {
		tm.best = append(tm.best, q.Heap.Take(tm.safeBar()))
	}
	r, err := tm.Result()
	if err != nil {
		t.Fatal(err)
	}
	return r.Hits
}

func checkApproximate(t *testing.T, s *Searcher, p *searchtest.Plain, r ask.Request, got []ask.Hit, name string) {
	t.Helper()
	if ask.CutsDocuments(r.Parallel.Partition) && r.Parallel.Policy != ask.SharedHalf {
		want := searchPositions(t, s, p, r)
		if !slices.Equal(got, want) {
			t.Fatalf("%s:\n got %v\nwant %v", name, searchtest.Head(got), searchtest.Head(want))
		}
	}
	full := map[uint32]float32{}
	for _, h := range p.Search(t, s.e.Index, r.Words, len(p.Lengths), r.Mode, r.Model) {
		full[h.Doc] = h.Score
	}
	for i, h := range got {
		if score, ok := full[h.Doc]; !ok || h.Score > score*1.0001 {
			t.Fatalf("%s: document %d has score %v, want at most %v", name, h.Doc, h.Score, score)
		}
		if i > 0 && topk.KeyOf(h.Doc, h.Score) >= topk.KeyOf(got[i-1].Doc, got[i-1].Score) {
			t.Fatalf("%s: out of order: %v", name, searchtest.Head(got))
		}
		if slices.ContainsFunc(got[:i], func(o ask.Hit) bool { return o.Doc == h.Doc }) {
			t.Fatalf("%s: document %d twice", name, h.Doc)
		}
	}
	if len(got) > r.K {
		t.Fatalf("%s: %d answers, want at most %d", name, len(got), r.K)
	}
}

// searchPositions is Plain.SearchPositions for the partitions that a search would make.
func searchPositions(t *testing.T, s *Searcher, p *searchtest.Plain, r ask.Request) []ask.Hit {
	t.Helper()
	q, err := s.e.Prepare(context.Background(), &r)
	if err != nil {
		t.Fatal(err)
	}
	defer s.e.Release(q)
	if len(q.Lists) == 0 {
		return nil
	}
	return p.SearchPositions(t, s.e.Index, r, newPartitions(q, r.Parallel).size)
}

// Heterogeneous partitions, as in the thesis: a partition begins one after the largest document
// that any list has before it. So no document is in two partitions, and none is left out.
func TestHeterogeneousRangesCoverAllDocuments(t *testing.T) {
	rng := rand.New(rand.NewPCG(81, 82))
	root := searchtest.Scratch(t)
	for i := range 60 / trials.Every(5) {
		p := searchtest.RandomPlain(rng, 3000, 5)
		s := write(t, p, searchtest.IndexDir(root, i))
		r := ask.Request{Words: searchtest.RandomWords(rng, p),
			Parallel: &ask.Parallel{Partition: ask.Heterogeneous, Size: 1 + rng.IntN(200)}}
		q, err := s.e.Prepare(context.Background(), &r)
		if err != nil {
			t.Fatal(err)
		}
		if len(q.Lists) > 0 {
			parts := newPartitions(q, r.Parallel)
			next := uint32(0)
			for part := range parts.count {
				if _, err := parts.enter(s.e, q, part); err != nil {
					t.Fatal(err)
				}
				if q.from != next || q.to < q.from {
					t.Fatalf("partition %d has documents [%d, %d), want it to begin at %d", part, q.from, q.to, next)
				}
				next = q.to
				last := uint32(0)
				for _, term := range q.Terms {
					docs := p.Docs[slices.Index(p.Words, term.Text)]
					last = max(last, docs[min((part+1)*parts.size, len(docs))-1])
				}
				if part+1 < parts.count && q.to != last+1 {
					t.Fatalf("partition %d ends before %d, want before %d", part, q.to, last+1)
				}
			}
			if next != uint32(len(p.Lengths)) {
				t.Fatalf("the last partition ends before %d, want %d", next, len(p.Lengths))
			}
		}
		s.e.Release(q)
	}
}

// The bar of the histogram is below the k-th largest score, and close to it.
func TestTallyBoundsTheKthScore(t *testing.T) {
	rng := rand.New(rand.NewPCG(91, 92))
	var h tally
	for range 200 / trials.Every(5) {
		k, most := 1+rng.IntN(50), rng.ExpFloat64()*20
		h.reset(k, most)
		var all []float32
		for range 40 {
			var some []float32
			for range rng.IntN(8) {
				s := float32(most * rng.Float64())
				if rng.IntN(5) == 0 {
					s = float32(int(s))
				}
				some = append(some, s)
			}
			all = append(all, some...)
			bar := h.add(some)
			if len(all) < k {
				if bar != 0 {
					t.Fatalf("the bar is %x with %d of %d scores, want 0", bar, len(all), k)
				}
				continue
			}
			slices.SortFunc(all, func(a,
				b float32) int {
				return int(topk.KeyOf(0, b)>>32) - int(topk.KeyOf(0, a)>>32)
			})
			kth := all[k-1]
			if bar >= topk.KeyOf(^uint32(0), kth) && kth > 0 {
				t.Fatalf("the bar %x is not below the k-th score %v", bar, kth)
			}
			if low := kth - float32(most)/tallySize*1.01; low > 0 && bar < topk.KeyOf(0, low) {
				t.Fatalf("the bar %x is far below the k-th score %v", bar, kth)
			}
		}
	}
}

func TestRecallIsTheShareFound(t *testing.T) {
	hits := func(docs ...uint32) (h []ask.Hit) {
		for _, d := range docs {
			h = append(h, ask.Hit{Doc: d})
		}
		return h
	}
	for _, c := range []struct {
		found, exact []ask.Hit
		want         float64
	}{
		{hits(1, 2, 3, 4), hits(4, 3, 2, 1), 1}, {hits(1, 2, 9, 8), hits(1, 2, 3, 4), 0.5},
		{nil, hits(1), 0}, {nil, nil, 1},
	} {
		if got := ask.Recall(c.found, c.exact); got != c.want {
			t.Errorf("recall %v, want %v", got, c.want)
		}
	}
}

// Many goroutines can use one engine, each with its own options of parallel search.
func TestParallelSearchesRunSideBySide(t *testing.T) {
	rng := rand.New(rand.NewPCG(101, 102))
	p := searchtest.RandomPlain(rng, 20000, 8)
	s := write(t, p, searchtest.IndexDir(searchtest.Scratch(t), 0))
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(103, uint64(g)))
			for range 30 {
				r := ask.Request{Words: searchtest.RandomWords(rng, p), K: 1 + rng.IntN(200),
					Mode: ask.Mode(rng.IntN(2))}
				want, err := s.Search(context.Background(), r)
				if err != nil {
					t.Error(err)
					return
				}
				r.Parallel = randomParallel(rng)
				r.Parallel.Size = 0
				got, err := s.Search(context.Background(), r)
				if err != nil || r.Parallel.Exact() && !slices.Equal(got.Hits, want.Hits) {
					t.Errorf("%+v %+v: %v", r, *r.Parallel, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestParallelRequestsAreChecked(t *testing.T) {
	s := buildLines(t, "whitespace", "a b", "c")
	for _, p := range []ask.Parallel{{Threads: -1}, {Engine: engine.GPU}, {Partition: 9},
		{Policy: 9}, {Size: -1}, {Row: -1}, {Slack: -1}, {Blocks: ask.Blocks{Threads: 64}}} {
		if _, err := s.Search(context.Background(), ask.Request{Text: "a", Parallel: &p}); err == nil {
			t.Errorf("%+v: no error", p)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Search(ctx, ask.Request{Text: "a",
		Parallel: &ask.Parallel{Engine: engine.Multicore}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v, want %v", err, context.Canceled)
	}
	for _, name := range ask.Partitions() {
		if p, err := ask.ParsePartition(name); err != nil || p.String() != name {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
	for _, name := range ask.Policies() {
		if p, err := ask.ParsePolicy(name); err != nil || p.String() != name {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
	if _, err := ask.ParsePolicy("x"); err == nil {
		t.Error("policy x: no error")
	}
}

// In any order of workers, all documents are taken exactly once.
func TestSharesCoverAllDocuments(t *testing.T) {
	rng := rand.New(rand.NewPCG(95, 96))
	var s shares
	for range 2000 / trials.Every(5) {
		docs, workers, least := uint32(1+rng.IntN(3000)), 1+rng.IntN(5), uint32(1+rng.IntN(300))
		s.reset(workers, docs, least)
		active := []int{0}
		var taken [][2]uint32
		for len(active) > 0 {
			if rng.IntN(4) == 0 {
				if own, ok := s.join(); ok {
					active = append(active, own)
				}
			}
			at := rng.IntN(len(active))
			from, to, ok := s.take(active[at])
			if !ok {
				if s.left() {
					t.Fatalf("%d documents, %d workers: nothing to take, but %d are left", docs,
						workers, s.each[0].left())
				}
				active = slices.Delete(active, at, at+1)
				continue
			}
			if from >= to || to-from < least && from+least <= docs && len(active) == 1 && workers == 1 && to != docs {
				t.Fatalf("%d documents, pieces of %d: %d to %d", docs, least, from, to)
			}
			taken = append(taken, [2]uint32{from, to})
		}
		slices.SortFunc(taken, func(a, b [2]uint32) int { return cmp.Compare(a[0], b[0]) })
		next := uint32(0)
		for _, piece := range taken {
			if piece[0] != next {
				t.Fatalf("%d documents, %d workers, pieces of %d: %v", docs, workers, least, taken)
			}
			next = piece[1]
		}
		if next != docs {
			t.Fatalf("%d documents, %d workers, pieces of %d: %v", docs, workers, least, taken)
		}
	}
}

// Workers of a team that fail at once leave one of their errors.
func TestTeamsFailOnce(t *testing.T) {
	team := &Team{}
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() { team.fail(fmt.Errorf("worker %d", worker)) })
	}
	group.Wait()
	if team.err == nil || !team.failed.Load() {
		t.Error("no error is left")
	}
	if _, err := team.Result(); err != team.err {
		t.Errorf("the result is %v, want %v", err, team.err)
	}
}
