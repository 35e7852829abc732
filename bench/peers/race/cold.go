package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// coldQueries is the number of queries for a new process.
const coldQueries = 20

// coldTimes are the times of new processes of an engine in nanoseconds: wall time from the start to
// the first answer, and times inside the engine for the first query and for all queries.
type coldTimes struct{ start, first, all []int64 }

// startCold calls raceCold for our index and those of the peers; cold lists the peers' folders.
func startCold(index, peers, queries, cold, ks string, rounds int) error {
	ours, err := ourSpec(index)
	if err != nil {
		return err
	}
	specs := append([]string{ours}, strings.Split(strings.Trim(peers, ";"), ";")...)
	dirs := append([]string{index}, strings.Split(cold, ",")...)
	if len(dirs) != len(specs) {
		return fmt.Errorf("-cold has %d folders for %d peers: want one for each", len(dirs)-1, len(specs)-1)
	}
	qs, err := drawQueries(index, queries, coldQueries, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		return err
	}
	k, _, _ := strings.Cut(ks, ",")
	return raceCold(dirs, specs, qs, k, rounds)
}

// raceCold starts a new process of each engine in every round and times its first queries: with the
// index in the page cache, and after its files were dropped from there.
func raceCold(dirs, specs []string, qs [][]string, k string, rounds int) error {
	fmt.Printf("%d new processes each; OR, k %[3]s, %[2]d queries; medians in milliseconds\n\n",
		rounds, len(qs), k)
	fmt.Println("| files | engine | start to first answer | first query | all queries |")
	fmt.Println("| --- | --- | --- | --- | --- |")
	for _, cached := range []bool{true, false} {
		state, prepare := "dropped", dropFiles
		if cached {
			state, prepare = "cached", readFiles
		}
		times := make([]coldTimes, len(specs))
		for range rounds {
			for e, spec := range specs {
				if err := prepare(dirs[e]); err != nil {
					return err
				}
				if err := times[e].ask(spec, k, qs); err != nil {
					return fmt.Errorf("%s: %w", spec, err)
				}
			}
		}
		for e, spec := range specs {
			name, _, _ := strings.Cut(spec, "=")
			t := times[e]
			fmt.Printf("| %s | %s | %.1f | %.2f | %.2f |\n", state, name,
				milliseconds(t.start), milliseconds(t.first), milliseconds(t.all))
		}
	}
	return nil
}

// milliseconds returns the median.
func milliseconds(nanos []int64) float64 { return float64(median(nanos)) / 1e6 }

func (t *coldTimes) ask(spec, k string, qs [][]string) error {
	start := time.Now()
	p, err := startPeer(spec)
	if err != nil {
		return err
	}
	defer p.close()
	sum := int64(0)
	for i, q := range qs {
		a, err := p.ask("or", k, q)
		if err != nil {
			return err
		}
		if sum += a.nanos; i == 0 {
			t.start = append(t.start, time.Since(start).Nanoseconds())
			t.first = append(t.first, a.nanos)
		}
	}
	t.all = append(t.all, sum)
	return nil
}

// indexFiles lists the files of an index.
func indexFiles(dir string) (files []string, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	return slices.Sorted(slices.Values(files)), err
}

// readFiles reads an index into the page cache.
func readFiles(dir string) error {
	files, err := indexFiles(dir)
	for _, f := range files {
		if err == nil {
			_, err = os.ReadFile(f)
		}
	}
	return err
}

// dropFiles asks the system to drop an index from the page cache, as GNU dd does with nocache.
func dropFiles(dir string) error {
	files, err := indexFiles(dir)
	for _, f := range files {
		if err != nil {
			return err
		}
		err = exec.Command("dd", "if="+f, "iflag=nocache", "count=0", "status=none").Run()
	}
	return err
}
