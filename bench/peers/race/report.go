package main

import (
	"fmt"
	"io"
	"slices"
)

// report collects the rows of two tables: times, and how many answers agree.
type report struct {
	engines []engine
	times   []string
	agree   []string
}

func newReport(engines []engine) *report { return &report{engines: engines} }

// classes are classes of queries by number of terms.
var classes = []struct {
	name     string
	from, to int
}{{"all", 1, 1 << 30}, {"1", 1, 1}, {"2", 2, 2}, {"3", 3, 3}, {"4-5", 4, 5}, {"6-9", 6, 9},
	{"10-14", 10, 14}, {"15-19", 15, 19}, {"20-29", 20, 29}, {"30+", 30, 1 << 30}}

func (r *report) add(mode, k string, qs [][]string, results []outcome) {
	for _, c := range classes {
		times := make([][]int64, len(r.engines))
		for i, q := range qs {
			if len(q) < c.from || len(q) > c.to {
				continue
			}
			for e := range r.engines {
				times[e] = append(times[e], results[i].nanos[e])
			}
		}
		if len(times[0]) == 0 {
			continue
		}
		for e, engine := range r.engines {
			r.times = append(r.times,
				fmt.Sprintf("| %s | %s | %s | %d | %s | %.1f | %.1f | %.1f | %.2f | %.2f |", mode,
					k, c.name, len(times[e]), engine.name(),
					mean(times[e])/1e3, percentile(times[e], 50)/1e3, percentile(times[e], 99)/1e3,
					mean(times[e])/mean(times[0]), percentile(times[e], 99)/percentile(times[0], 99)))
		}
	}
	for e := 1; e < len(r.engines); e++ {
		same, share := 0, 0.0
		for i := range qs {
			s := overlap(results[i].docs[0], results[i].docs[e])
			share += s
			if s == 1 {
				same++
			}
		}
		r.agree = append(r.agree, fmt.Sprintf("| %s | %s | %s | %.1f%% | %.2f%% |", mode, k, r.engines[e].name(),
			100*float64(same)/float64(len(qs)), 100*share/float64(len(qs))))
	}
}

func (r *report) print(w io.Writer) {
	fmt.Fprintln(w, "| mode | k | terms | queries | engine | mean | p50 | p99 | mean, ratio to ours | p99, ratio to ours |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
	for _, row := range r.times {
		fmt.Fprintln(w, row)
	}
	fmt.Fprintln(w, "\nThe same documents as ours:")
	fmt.Fprintln(w, "\n| mode | k | engine | queries with the same set | documents in common |")
	fmt.Fprintln(w, "| --- | --- | --- | --- | --- |")
	for _, row := range r.agree {
		fmt.Fprintln(w, row)
	}
}

// overlap returns the share of documents that two answers have in common.
func overlap(a, b []hit) float64 {
	if len(a) == 0 && len(b) == 0 {
		return 1
	}
	docs := map[int]bool{}
	for _, h := range a {
		docs[h.doc] = true
	}
	common := 0
	for _, h := range b {
		if docs[h.doc] {
			common++
		}
	}
	return float64(common) / float64(max(len(a), len(b)))
}

func mean(v []int64) float64 {
	sum := int64(0)
	for _, x := range v {
		sum += x
	}
	return float64(sum) / float64(len(v))
}

func percentile(v []int64, p int) float64 {
	s := slices.Sorted(slices.Values(v))
	return float64(s[min(len(s)*p/100, len(s)-1)])
}

func median(v []int64) int64 {
	return slices.Sorted(slices.Values(v))[len(v)/2]
}
