package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/cluster/plan"
	"github.com/collocate/collocate/internal/bytesize"
)

func newClusterPlanCmd(a *app) *cobra.Command {
	var n plan.Need
	var p99 time.Duration
	by := plan.Defaults
	memory, disk := bytesize.Size(by.Memory), bytesize.Size(by.Disk)
	cmd := &cobra.Command{
		Use:   "plan --documents N --words N",
		Short: "Say how many machines a collection needs, and what they cost",
		Long: `Say how many machines a collection needs, their memory and disks, how long it takes to index, how
long queries take, how many requests an object store gets, and what a month costs. Each number has
its formula. Constants in the formulas were measured: see docs/cluster.md, also for how far
measurements were from predictions. Prices are assumptions, which flags change.

A part of the index is a shard, which one machine holds or more.`,
		Example: `  collocate cluster plan --documents 1G --words 60 --queries 2000
  collocate cluster plan --documents 50M --words 500 --store-text --queries 100 --p99 50ms --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if n.Documents == 0 || n.Words == 0 {
				return usagef("--documents and --words are missing: say how many documents there are, " +
					"and how many words one has on average ('collocate index stats' tells both of an index)")
			}
			n.P99, by.Memory, by.Disk = p99.Seconds(), float64(memory), float64(disk)
			p, err := plan.Make(n, by)
			if err != nil {
				return usageError{err}
			}
			if a.json {
				values, formulas := map[string]any{}, map[string]string{}
				for _, r := range p {
					values[r.Key], formulas[r.Key] = r.Value, r.Formula
				}
				values["formulas"] = formulas
				return a.printJSON(values)
			}
			w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
			for i := range p {
				fmt.Fprintf(w, "%s\t%s\t%s\n", p[i].Name, p[i].Text(), p[i].Formula)
			}
			return w.Flush()
		},
	}
	fl := cmd.Flags()
	fl.Var((*countFlag)(&n.Documents), "documents", "`number` of documents, such as 50M or 1G")
	fl.Float64Var(&n.Words, "words", 0, "words of a document, on average")
	fl.BoolVar(&n.Text, "store-text", false, "the index stores texts")
	fl.BoolVar(&n.Positions, "positions", false, "the index keeps positions")
	fl.BoolVar(&n.LineIDs, "line-ids", false, "documents have no IDs, only the numbers of their lines")
	fl.Float64Var(&n.Queries, "queries", 0, "queries a second at the busiest time")
	fl.Float64Var(&n.Commits, "commits", 0, "commits an hour")
	fl.IntVar(&n.Replicas, "replicas", 2, "least number of machines with the same part")
	fl.DurationVar(&p99, "p99", 0, "time within which 99 of 100 queries must be answered; 0 is no bound")
	fl.Float64Var(&by.Cores, "cores", by.Cores, "cores of a machine")
	fl.Var(&memory, "machine-memory", "memory of a machine")
	fl.Var(&disk, "disk", "disk of a machine")
	fl.Float64Var(&by.Busy, "busy", by.Busy, "share of the cores that queries may use at the busiest time, 0 to 1")
	fl.Float64Var(&by.Resident, "resident", by.Resident, "share of a machine's memory that an index may take, 0 to 1")
	fl.Float64Var(&by.Hour, "hour-price", by.Hour, "price of a machine for an hour")
	fl.Float64Var(&by.GBMonth, "store-price", by.GBMonth, "price of a GB in the store for a month")
	fl.Float64Var(&by.Puts, "put-price", by.Puts, "price of a million requests that write")
	fl.Float64Var(&by.Gets, "get-price", by.Gets, "price of a million requests that read")
	return cmd
}
