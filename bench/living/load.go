package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// load sends queries to an index at a given rate, first without changes, then while documents are
// added.
func load(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("load", flag.ExitOnError)
	queries := f.String("queries", "", "a file with one query per line")
	add := f.String("add", "", "a file with one document per line, which are added repeatedly")
	rate := f.Float64("rate", 1000, "queries a second")
	commits := f.Float64("commits", 100, "commits a minute")
	docs := f.Int("docs", 20, "documents that each commit adds")
	length := f.Duration("for", 20*time.Second, "duration of each part")
	workers := f.Int("workers", runtime.GOMAXPROCS(0), "number of concurrent queries")
	f.Parse(args)
	if f.NArg() != 1 || *queries == "" || *add == "" {
		return errors.New("load: want -queries FILE, -add FILE and an index")
	}
	asked, err := readQueries(*queries, 1<<30)
	if err != nil {
		return err
	}
	lines, err := readLines(*add)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(filepath.Dir(f.Arg(0)), ".living-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, os.DirFS(f.Arg(0))); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(dir, "lock")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	s, err := search.Open(dir)
	if err != nil {
		return err
	}
	l := &loaded{now: &generation{Searcher: s}}
	defer func() { l.now.Close() }()
	if _, err := l.ask(ctx, asked, *rate, *workers, *length/4); err != nil { // warms caches
		return err
	}
	quiet, err := l.ask(ctx, asked, *rate, *workers, *length)
	if err != nil {
		return err
	}
	quiet.print("quiet")
	writing, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- l.write(writing, dir, lines, *docs, *commits) }()
	busy, err := l.ask(ctx, asked, *rate, *workers, *length)
	stop()
	if err := errors.Join(err, <-done); err != nil {
		return err
	}
	busy.print("while others commit")
	fmt.Printf("%d commits, the longest %.0f ms, %d generations seen, %d segments at most; p99 %.2f times the quiet one\n",
		l.commits, l.longest.Seconds()*1e3, l.seen.Load(), l.most, busy.at(99)/quiet.at(99))
	return nil
}

// loaded is an index that is searched and changed.
type loaded struct {
	mu  sync.Mutex
	now *generation

	seen    atomic.Int64 // number of generations
	commits int
	longest time.Duration // of a commit
	most    int           // largest number of segments
}

// generation is a generation of the index with its current users.
type generation struct {
	*search.Searcher
	users sync.WaitGroup
}

// use returns the newest generation, which stays open until the caller calls users.Done.
func (l *loaded) use() *generation {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now.users.Add(1)
	return l.now
}

// refresh opens a newer generation if there is one, and closes the old one after its last user.
func (l *loaded) refresh() error {
	s, err := l.now.Refresh()
	if s == nil || err != nil {
		return err
	}
	l.mu.Lock()
	old := l.now
	l.now = &generation{Searcher: s}
	l.mu.Unlock()
	l.seen.Add(1)
	l.most = max(l.most, len(s.Index().Segments()))
	old.users.Wait()
	return old.Close()
}

// write adds documents and commits them, at a rate of commits per minute.
func (l *loaded) write(ctx context.Context, dir string, lines []string, docs int, commits float64) error {
	w, err := segments.NewWriter(dir, segments.Options{Background: true})
	if err != nil {
		return err
	}
	defer w.Close()
	tick := time.NewTicker(time.Duration(float64(time.Minute) / commits))
	defer tick.Stop()
	for n := 0; ; {
		select {
		case <-ctx.Done():
			return errors.Join(w.Wait(), w.Close())
		case <-tick.C:
		}
		for range docs {
			id := fmt.Sprint("new", n%1000) // later documents replace earlier ones
			if err := w.Add(text.Document{ID: id, Text: []byte(lines[n%len(lines)])}); err != nil {
				return err
			}
			n++
		}
		start := time.Now()
		if err := w.Commit(); err != nil {
			return err
		}
		l.commits++
		l.longest = max(l.longest, time.Since(start))
		if err := l.refresh(); err != nil {
			return err
		}
	}
}

// ask sends queries that arrive as a Poisson process of the given rate per second. Latencies count
// from the arrival, so they include waiting for other queries.
func (l *loaded) ask(ctx context.Context, asked []string, rate float64, workers int, length time.Duration) (*latencies, error) {
	type arrival struct {
		at   time.Time
		text string
	}
	arrivals := make(chan arrival, 1<<16)
	each := make([]latencies, workers)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			for a := range arrivals {
				g := l.use()
				_, err := g.Search(ctx, search.Request{Text: a.text})
				g.users.Done()
				if err != nil {
					errs[i] = errors.Join(errs[i], err)
				}
				each[i] = append(each[i], time.Since(a.at).Seconds()*1e3)
			}
		})
	}
	rng := rand.New(rand.NewPCG(1, 2))
	next, end := time.Now(), time.Now().Add(length)
	for i := 0; next.Before(end) && ctx.Err() == nil; i++ {
		time.Sleep(time.Until(next))
		arrivals <- arrival{next, asked[i%len(asked)]}
		next = next.Add(time.Duration(rng.ExpFloat64() / rate * 1e9))
	}
	close(arrivals)
	wg.Wait()
	var all latencies
	for _, e := range each {
		all = append(all, e...)
	}
	slices.Sort(all)
	return &all, errors.Join(append(errs, ctx.Err())...)
}

// latencies are in milliseconds.
type latencies []float64

// at returns a percentile of sorted latencies.
func (l latencies) at(percent float64) float64 {
	if len(l) == 0 {
		return 0
	}
	return l[min(len(l)-1, int(float64(len(l))*percent/100))]
}

func (l latencies) print(what string) {
	fmt.Printf("%s: %d queries without an error, p50 %.3f ms, p99 %.3f ms, p99.9 %.3f ms\n",
		what, len(l), l.at(50), l.at(99), l.at(99.9))
}

func readLines(path string) (out []string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); line != "" {
			out = append(out, line)
		}
	}
	return out, lines.Err()
}
