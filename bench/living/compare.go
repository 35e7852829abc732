package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/collocate/collocate/search"
)

// compare runs the same queries on indexes of the same documents.
func compare(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("compare", flag.ExitOnError)
	queries := f.String("queries", "", "a file with one query per line, with or without an ID and a colon or tab before it")
	n := f.Int("n", 400, "number of queries, evenly spaced in the file")
	rounds := f.Int("rounds", 9, "runs of each query")
	ks := f.String("k", "10,100,1000", "numbers of answers")
	f.Parse(args)
	if f.NArg() < 2 || *queries == "" {
		return errors.New("compare: want -queries FILE and two indexes or more")
	}
	wanted, err := numbers(*ks)
	if err != nil {
		return err
	}
	asked, err := readQueries(*queries, *n)
	if err != nil {
		return err
	}
	var indexes []*search.Searcher
	for _, dir := range f.Args() {
		s, err := search.Open(dir)
		if err != nil {
			return err
		}
		defer s.Close()
		indexes = append(indexes, s)
	}
	debug.SetGCPercent(400)
	runtime.LockOSThread()
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(out, "mode\tk\tqueries\t")
	for i := range indexes {
		fmt.Fprintf(out, "%s, µs\t", f.Arg(i))
	}
	fmt.Fprintf(out, "ratios\t\n")
	for _, mode := range []search.Mode{search.Or, search.And} {
		for _, k := range wanted {
			means, n, err := measure(ctx, indexes, asked, mode, k, *rounds)
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "%v\t%d\t%d\t", mode, k, n)
			for _, m := range means {
				fmt.Fprintf(out, "%.1f\t", m)
			}
			for _, m := range means[1:] {
				fmt.Fprintf(out, " %.3f", m/means[0])
			}
			fmt.Fprintf(out, "\t\n")
			out.Flush()
		}
	}
	return nil
}

// measure returns the mean time of a query on each index, in microseconds, over the n queries that
// have an answer. The time of a query is the least CPU time of this thread in several rounds, in
// which the indexes take turns.
func measure(ctx context.Context, indexes []*search.Searcher, asked []string, mode search.Mode,
	k, rounds int) (means []float64, n int, err error) {
	means = make([]float64, len(indexes))
	for _, text := range asked {
		var first []search.Hit
		least := make([]time.Duration, len(indexes))
		for round := range rounds + 1 {
			for j := range indexes {
				i := (j + round) % len(indexes)
				r := search.Request{Text: text, K: k, Mode: mode}
				start := clock()
				found, err := indexes[i].Search(ctx, r)
				took := clock() - start
				if err != nil {
					return nil, 0, err
				}
				if round == 0 { // warm-up
					if i == 0 {
						first = found.Hits
					} else if !slices.Equal(found.Hits, first) {
						return nil, 0, fmt.Errorf("query %q, k %d, %v: the answers of index %d differ from those of the first",
							text, k, mode, i)
					}
					continue
				}
				if least[i] == 0 || took < least[i] {
					least[i] = took
				}
			}
		}
		if len(first) == 0 {
			continue
		}
		n++
		for i, t := range least {
			means[i] += float64(t.Nanoseconds()) / 1e3
		}
	}
	for i := range means {
		means[i] /= float64(max(n, 1))
	}
	return means, n, nil
}

// readQueries reads up to n evenly spaced queries of a file.
func readQueries(path string, n int) (out []string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		line := lines.Text()
		if i := strings.IndexAny(line, ":\t"); i >= 0 {
			line = line[i+1:]
		}
		out = append(out, line)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if step := len(out) / max(n, 1); step > 1 {
		kept := out[:0]
		for i := 0; i < len(out) && len(kept) < n; i += step {
			kept = append(kept, out[i])
		}
		out = kept
	}
	return out, nil
}
