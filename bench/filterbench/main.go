// Command filterbench compares queries within filters with the same queries without one:
//
//	go run ./bench/filterbench -index DIR -queries search-benchmark-game.jsonl
//
// Each query is answered without a filter and within random shares of the documents, and for
// comparison without a filter for as many answers as should contain k of the share: within 1%, the
// ten best are about as deep in the order as the best 1,000. All take turns within one process, in
// an order that changes, and a time is the least of all rounds. So other work on the machine hardly
// matters. Printed are, for each share, the geometric mean of the ratios to the time without a
// filter, how many are above -over, how many of these also take longer than as deep a search, and
// these queries with their times, strategies and postings decoded. -part even and odd take every
// second query, so that what was tuned with one half can be tested with the other.
package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "filterbench:", err)
		os.Exit(1)
	}
}

// way is a way to ask each query: within a share of the documents, or for more answers.
type way struct {
	name   string
	within *search.Within
	k      int
}

func run(w io.Writer, args []string) error {
	f := flag.NewFlagSet("filterbench", flag.ExitOnError)
	dir := f.String("index", "", "index with one segment, made with the analyzer ascii")
	queries := f.String("queries", "", "queries of the search benchmark game")
	class := f.String("class", "union", "the class of queries, a tag of the game")
	k := f.Int("k", 10, "answers")
	shares := f.String("shares", "0.1,1,10", "shares of the documents, in percent")
	rounds := f.Int("rounds", 50, "rounds, of which the least time counts")
	over := f.Float64("over", 2, "list queries with a higher ratio")
	part := f.String("part", "all", "queries to ask: all, even or odd ones")
	raw := f.Bool("raw", false, "print all times instead: query, way, microseconds, strategy")
	f.Parse(args)
	ix, err := index.Open(*dir)
	if err != nil {
		return err
	}
	defer ix.Close()
	s, err := search.New(ix)
	if err != nil {
		return err
	}
	defer s.Close()
	list, err := readGame(*queries, *class)
	if err != nil {
		return err
	}
	if list, err = partOf(list, *part); err != nil {
		return err
	}
	ways := []way{{"all", nil, *k}}
	for text := range strings.SplitSeq(*shares, ",") {
		percent, err := strconv.ParseFloat(text, 64)
		if err != nil || !(percent > 0 && percent <= 100) {
			return fmt.Errorf("share %q: want percents, such as 0.1", text)
		}
		deep := min(int(math.Ceil(float64(*k)*100/percent)), ix.Docs())
		ways = append(ways, way{text + "%", shareOf(ix.Docs(), percent), *k},
			way{fmt.Sprint("k=", deep), nil, deep})
	}
	least, stats, err := measure(s, list, ways, *rounds)
	if err != nil {
		return err
	}
	if *raw {
		for q, text := range list {
			for i, way := range ways {
				fmt.Fprintf(w, "%s\t%s\t%.2f\t%v\n", text, way.name, least[q][i], stats[q][i].Strategy)
			}
		}
		return nil
	}
	fmt.Fprintf(w, "%d queries of the class %s, %d documents, least of %d rounds, %s\n\n", len(list),
		*class, ix.Docs(), *rounds, runtime.Version())
	report(w, list, ways, least, stats, *over)
	return nil
}

// partOf returns all queries, or those with an even or odd index.
func partOf(list []string, part string) (some []string, err error) {
	switch part {
	case "all":
		return list, nil
	case "even", "odd":
		for i, text := range list {
			if (i%2 == 0) == (part == "even") {
				some = append(some, text)
			}
		}
		return some, nil
	}
	return nil, fmt.Errorf("part %q: want all, even or odd", part)
}

// shareOf returns a random share of the documents, given in percent.
func shareOf(docs int, percent float64) *search.Within {
	set := docset.New(docs)
	for doc := range docs {
		if hash := uint32(doc) * 2654435761; float64(hash)*100 < percent*(1<<32) {
			set.Add(uint32(doc))
		}
	}
	return &search.Within{Sets: []*docset.Set{set}}
}

// readGame returns the queries of a class.
func readGame(path, class string) (list []string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var q struct {
			Query string
			Tags  []string
		}
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if slices.Contains(q.Tags, class) {
			list = append(list, q.Query)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errors.New("no query of the class " + class)
	}
	return list, nil
}

// measure returns the least microseconds of each query in each way, and what was done. All queries
// are asked before one is asked again: repeated at once, branches would be predicted and data be in
// the caches.
func measure(s *search.Searcher, list []string, ways []way, rounds int) (least [][]float64,
	stats [][]search.Stats, err error) {
	for range list {
		least = append(least, slices.Repeat([]float64{math.Inf(1)}, len(ways)))
		stats = append(stats, make([]search.Stats, len(ways)))
	}
	ctx := context.Background()
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range rounds {
		runtime.GC()
		for _, q := range rng.Perm(len(list)) {
			for _, i := range rng.Perm(len(ways)) {
				if ways[i].k > ways[0].k && round%8 > 0 { // slow, and only for comparison
					continue
				}
				r := search.Request{Model: search.BM25{Variant: bm25.Lucene}, Text: list[q],
					Within: ways[i].within, K: ways[i].k}
				start := time.Now()
				found, err := s.Search(ctx, r)
				if err != nil {
					return nil, nil, fmt.Errorf("%s: %w", list[q], err)
				}
				least[q][i] = min(least[q][i], float64(time.Since(start).Nanoseconds())/1e3)
				stats[q][i] = found.Stats
			}
		}
	}
	return least, stats, nil
}

// report prints a table of the ways, and a table of the queries with a high ratio for each share.
func report(w io.Writer, list []string, ways []way, least [][]float64, stats [][]search.Stats,
	over float64) {
	fmt.Fprintf(w, "| | geometric mean of ratios | sum of times, ms | above %g | of these, by 10 us or more"+
		" | of these, longer than as deep | worst |\n", over)
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- |")
	for i, way := range ways {
		logs, sum, above, more, longer, worst := 0.0, 0.0, 0, 0, 0, 0.0
		for _, times := range least {
			ratio := times[i] / times[0]
			logs += math.Log(ratio)
			sum += times[i] / 1e3
			worst = max(worst, ratio)
			if ratio > over {
				above++
				if times[i]-times[0] >= 10 {
					more++
				}
				if way.within != nil && times[i] > times[i+1] {
					longer++
				}
			}
		}
		fmt.Fprintf(w, "| %s | %.3f | %.2f | %d | %d | %d | %.1f |\n", way.name,
			math.Exp(logs/float64(len(list))), sum, above, more, longer, worst)
	}
	for i, way := range ways {
		if way.within == nil {
			continue
		}
		ratio := func(q int) float64 { return least[q][i] / least[q][0] }
		var above []int
		for q := range list {
			if ratio(q) > over {
				above = append(above, q)
			}
		}
		slices.SortFunc(above, func(a, b int) int { return cmp.Compare(ratio(b), ratio(a)) })
		deep := ways[i+1].name
		fmt.Fprintf(w, "\n| above %g within %s | ratio | us within | us of all | us of all, %s"+
			" | longer than as deep | strategies | postings decoded |\n", over, way.name, deep)
		fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- | --- |")
		for _, q := range above {
			within, all, deeper := stats[q][i], stats[q][0], stats[q][i+1]
			longer := ""
			if least[q][i] > least[q][i+1] {
				longer = "yes"
			}
			fmt.Fprintf(w, "| %s | %.1f | %.0f | %.0f | %.0f | %s | %v, %v, %v | %d, %d, %d |\n", list[q],
				ratio(q), least[q][i], least[q][0], least[q][i+1], longer, within.Strategy, all.Strategy,
				deeper.Strategy, within.Decoded, all.Decoded, deeper.Decoded)
		}
	}
}
