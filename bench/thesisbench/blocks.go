package thesisbench

import (
	"fmt"
	"strconv"

	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/search"
)

// blocks measures the parameters that the thesis chose by experiment (4.5.1 to 4.5.5): threads in a
// block, postings in a slice, how a heap grows, and how many lists
// of answers a launch merges.
func (b *bench) blocks() error {
	if b.Device == nil {
		return nil
	}
	t := report.Table{Name: "blocks",
		Title:  "Heterogeneous WAND with OR, sh-r, partitions of 64, 10 in a row, ms",
		Header: []string{"threads a block", "postings a slice", "heap grows by", "lists merged at a time"}}
	for _, c := range b.classes {
		t.Header = append(t.Header, c.name)
	}
	for _, threads := range blockThreads {
		for _, slice := range []int{32, 64, 128} {
			for _, thesis := range []search.Blocks{{}, {Insert: true}, {Insert: true, Pairs: true}} {
				line := []string{strconv.Itoa(threads), strconv.Itoa(slice), "sorting", "up to 64"}
				if thesis.Insert {
					line[2] = "insertion"
				}
				if thesis.Pairs {
					line[3] = "2"
				}
				thesis.Threads, thesis.Slice = threads, slice
				for i := range b.classes {
					f, err := b.parallel(i, sections[0].part,
						search.Parallel{Partition: search.Heterogeneous, Policy: search.SharedFull,
							Size: 64, Row: 10, Blocks: thesis})
					if err != nil {
						return err
					}
					line = append(line, format(f.ms))
				}
				t.Rows = append(t.Rows, line)
			}
		}
	}
	b.report.Add(report.Section{Title: "4.5 Blocks of threads", Tables: []report.Table{t},
		Text: fmt.Sprintf("The thesis uses %d threads per block for single queries, the best of its trials, insertion, and merges of two lists. It only gives the times of table 7.4.", blockThreads[0])})
	return nil
}
