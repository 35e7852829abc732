// Command race sends the same queries to Collocate and its peers in turn, and prints their times.
// See ../README.md; ../run prepares everything and calls it.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("race: ")
	var (
		index   = flag.String("index", "", "folder of our index")
		serves  = flag.String("serve", "", "serve this index as a peer, and do nothing else")
		peers   = flag.String("peers", "", "peers as NAME=COMMAND, separated by semicolons")
		queries = flag.String("queries", "", "file of queries: lines, id:text, or JSON lines with a field query")
		most    = flag.Int("most", 500, "number of queries, drawn at random")
		rounds  = flag.Int("rounds", 5, "runs of each query after a warm-up; the median counts")
		ks      = flag.String("k", "10,100,1000", "numbers of answers")
		modes   = flag.String("modes", "or,and", "modes")
		least   = flag.Bool("least", false, "the least time of a query's rounds counts instead of the median, for a busy machine")
		csv     = flag.String("csv", "", "also write every query's median times to this file")
	)
	games := flag.Bool("game", false,
		"the whole search benchmark game: phrases, counts, filters and facets; -queries is its file")
	cold := flag.String("cold", "",
		"first queries of new processes, with and without the page cache: the folders of the peers' indexes,\n"+
			"in the order of -peers, separated by commas")
	only := flag.String("only", "", "of the game: only these commands, separated by commas")
	flag.Parse()
	if *serves != "" {
		if err := serve(context.Background(), *serves, os.Stdin, os.Stdout); err != nil {
			log.Fatal(err)
		}
		return
	}
	if *games {
		if err := playGame(*index, *peers, *queries, *most, *rounds, *only, *csv); err != nil {
			log.Fatal(err)
		}
		return
	}
	if *cold != "" {
		if err := startCold(*index, *peers, *queries, *cold, *ks, *rounds); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := race(*index, *peers, *queries, *most, *rounds, *ks, *modes, *csv, *least); err != nil {
		log.Fatal(err)
	}
}

func race(index, peers, queries string, most, rounds int, ks, modes, csv string, least bool) error {
	engines, err := start(index, peers)
	if err != nil {
		return err
	}
	defer closeAll(engines)
	rng := rand.New(rand.NewPCG(1, 2))
	qs, err := drawQueries(index, queries, most, rng)
	if err != nil {
		return err
	}
	fmt.Printf("%d queries, %d rounds, %s, %d cores; microseconds inside the engine, one thread\n\n", len(qs), rounds, runtime.Version(), runtime.NumCPU())

	var details *bufio.Writer
	if csv != "" {
		f, err := os.Create(csv)
		if err != nil {
			return err
		}
		defer f.Close()
		details = bufio.NewWriter(f)
		defer details.Flush()
		fmt.Fprintln(details, "mode,k,terms,query,engine,nanoseconds")
	}
	report := newReport(engines)
	for _, mode := range strings.Split(modes, ",") {
		for _, k := range strings.Split(ks, ",") {
			results, err := measure(engines, qs, mode, k, rounds, rng, least)
			if err != nil {
				return err
			}
			report.add(mode, k, qs, results)
			if details != nil {
				for i, q := range qs {
					for e, engine := range engines {
						fmt.Fprintf(details, "%s,%s,%d,%q,%s,%d\n", mode, k, len(q),
							strings.Join(q, " "), engine.name(), results[i].nanos[e])
					}
				}
			}
		}
	}
	report.print(os.Stdout)
	return nil
}

// drawQueries reads queries of words that are in the index, and returns up to most of them in
// random order.
func drawQueries(index, queries string, most int, rng *rand.Rand) ([][]string, error) {
	knows, err := vocabulary(index)
	if err != nil {
		return nil, err
	}
	qs, err := readQueries(queries, knows)
	if err != nil {
		return nil, err
	}
	rng.Shuffle(len(qs), func(i, j int) { qs[i], qs[j] = qs[j], qs[i] })
	return qs[:min(most, len(qs))], nil
}

// start starts our engine and the peers; ours is the first in the list.
func start(index, peers string) (list []engine, err error) {
	defer func() {
		if err != nil {
			closeAll(list)
		}
	}()
	ours, err := startOurs(index)
	if err != nil {
		return nil, err
	}
	list = append(list, ours)
	for _, spec := range strings.Split(peers, ";") {
		if spec == "" {
			continue
		}
		p, err := startPeer(spec)
		if err != nil {
			return list, err
		}
		list = append(list, p)
	}
	return list, nil
}

func closeAll(list []engine) {
	for _, e := range list {
		e.close()
	}
}

// outcome has the times and answers of one query, by engine.
type outcome struct {
	nanos []int64 // median or, with -least, least time of the rounds
	docs  [][]hit // answers of the last round
}

// measure sends every query to every engine in every round. The engines take turns, in an order
// that changes from round to round, so that noise of the machine affects all alike. In its turn an
// engine gets all queries, so that its caches are as they would be in service. The first round is
// warm-up.
func measure(engines []engine, qs [][]string, mode, k string, rounds int, rng *rand.Rand,
	least bool) ([]outcome, error) {
	times := make([][][]int64, len(qs))
	out := make([]outcome, len(qs))
	for i := range qs {
		times[i] = make([][]int64, len(engines))
		out[i].docs = make([][]hit, len(engines))
	}
	for round := range rounds + 1 {
		for _, e := range rng.Perm(len(engines)) {
			for i, q := range qs {
				a, err := engines[e].ask(mode, k, q)
				if err != nil {
					return nil, fmt.Errorf("%s: %s %s %v: %w", engines[e].name(), mode, k, q, err)
				}
				if round > 0 {
					times[i][e] = append(times[i][e], a.nanos)
				}
				out[i].docs[e] = a.hits
			}
		}
	}
	for i := range qs {
		for e := range engines {
			nanos := median(times[i][e])
			if least {
				nanos = slices.Min(times[i][e])
			}
			out[i].nanos = append(out[i].nanos, nanos)
		}
	}
	return out, nil
}
