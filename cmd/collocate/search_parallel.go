package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/search"
)

// parallelFlags are the flags of a search on several cores or a GPU.
type parallelFlags struct {
	partition, policy, schedule string
	size, row, slack            int
	blocks                      search.Blocks
	recall                      bool
	batch                       search.Batch
}

func (f *parallelFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.partition, "partition", "documents",
		"how lists are partitioned for several cores: "+strings.Join(search.Partitions(), ", ")+
			"; the last two are approximate")
	fl.IntVar(&f.size, "partition-size", 0, "postings of the longest list in a partition, or documents; 0 chooses")
	fl.IntVar(&f.row, "partitions", 0, "partitions in a row that a core searches with one heap; 0 means all that it gets")
	fl.StringVar(&f.policy, "policy", "early",
		"how cores share the threshold: "+strings.Join(search.Policies(), ", ")+
			"; the last is approximate")
	fl.IntVar(&f.slack, "slack", 0,
		"documents by which the lists of an adjusted partition may begin early; 5 in the thesis")
	fl.IntVar(&f.blocks.Threads, "block-threads", 0,
		"wand, maxscore and bmw on a GPU: threads per block, 32, 64 or 128 (default 32)")
	fl.IntVar(&f.blocks.Slice, "slice", 0,
		"wand, maxscore and bmw on a GPU: postings of a list in shared memory at a time, 32, 64, 96 or 128; 0 chooses")
	fl.BoolVar(&f.blocks.Insert, "insert", false,
		"wand, maxscore and bmw on a GPU: grow heaps by insertion, as the thesis does, instead of sorting the first k answers")
	fl.BoolVar(&f.blocks.Start, "start-threshold", false,
		"wand, maxscore and bmw on a GPU: answer --mode and by a high initial threshold, as the thesis does, instead of by intersection")
	fl.BoolVar(&f.blocks.Compressed, "compressed", false,
		"wand, maxscore and bmw on a GPU: read lists in the compressed blocks of the index, instead of document numbers of 4 bytes")
	fl.BoolVar(&f.recall, "recall", false, "print the share of the exact answers that was found")
	fl.StringVar(&f.schedule, "batch", "auto",
		"how topics of --topics share the cores: sync gives each core a topic, async gives each topic all cores, auto combines both")
	group(cmd, "Engine", "batch")
	group(cmd, "The papers' algorithms", "partition", "partition-size", "partitions", "policy", "slack",
		"recall", "block-threads", "slice", "insert", "start-threshold", "compressed")
	choices(cmd, map[string][]string{
		"partition": search.Partitions(), "policy": search.Policies(), "batch": search.Schedules(),
	})
}

// parallel returns the parallel options of the flags. If a flag chooses a partition, the index is
// partitioned even if one core would be faster.
func (f *parallelFlags) parallel(a *app, s *searchFlags) (*search.Parallel, error) {
	p := &search.Parallel{Threads: a.threads, Engine: a.engine, Size: f.size, Row: f.row,
		Slack: f.slack, Blocks: f.blocks}
	var err error
	if p.Partition, err = search.ParsePartition(f.partition); err != nil {
		return nil, usageError{err}
	}
	if p.Policy, err = search.ParsePolicy(f.policy); err != nil {
		return nil, usageError{err}
	}
	f.batch.Threads = a.threads
	if f.batch.Schedule, err = search.ParseSchedule(f.schedule); err != nil {
		return nil, usageError{err}
	}
	if f.size < 0 || f.row < 0 || f.slack < 0 {
		return nil, usagef("--partition-size %d, --partitions %d, --slack %d: want 0 or more", f.size, f.row, f.slack)
	}
	if f.slack > 0 && p.Partition != search.Adjusted {
		return nil, usagef("--slack needs --partition adjusted")
	}
	if a.engine != engine.GPU && f.blocks != (search.Blocks{}) {
		return nil, usagef("--block-threads, --slice, --insert, --start-threshold and --compressed need --engine gpu")
	}
	if x := s.ask.Algorithm; f.blocks != (search.Blocks{}) && (x == search.Auto || x == search.Tiles) {
		return nil, usagef("--block-threads, --slice, --insert, --start-threshold and --compressed need --algorithm wand, maxscore or bmw")
	}
	if s.set("batch") && s.topics == "" {
		return nil, usagef("--batch needs --topics")
	}
	cut := s.set("partition") || s.set("partition-size") || s.set("partitions") || s.set("policy")
	switch {
	case a.engine == engine.Sequential && cut:
		return nil, usagef("--partition, --partition-size, --partitions and --policy have no effect with --engine sequential, which does not partition; leave them out")
	case a.engine == engine.Sequential:
		f.batch.Threads = 1
	case a.engine == engine.GPU:
		f.batch.Engine = engine.GPU
	case cut:
		p.Engine = engine.Multicore
	}
	return p, nil
}

// exact reports whether the answers are guaranteed to be the best.
func exact(found *search.Result) bool {
	return !found.Stats.Pruned && (found.Stats.Parallel == nil || found.Stats.Parallel.Exact)
}

// recallOf returns the share of the exact answers that were found, or nil without --recall.
func (f *parallelFlags) recallOf(ctx context.Context, s *search.Searcher, r search.Request,
	found *search.Result) (*float64, error) {
	if !f.recall {
		return nil, nil
	}
	if found.Stats.Pruned {
		return nil, usagef("--recall needs the exact answers, and this index is pruned: search the unpruned index, too, and compare the runs")
	}
	recall := 1.0
	if !exact(found) {
		r.Parallel = nil
		best, err := s.Search(ctx, r)
		if err != nil {
			return nil, fmt.Errorf("recall: %w", err)
		}
		recall = search.Recall(found.Hits, best.Hits)
	}
	return &recall, nil
}

// printRecall prints the recall if it was computed, and warns of approximate answers.
func (a *app) printRecall(recall *float64, found *search.Result) {
	switch {
	case recall != nil:
		fmt.Fprintf(a.stdout, "recall %.4f\n", *recall)
	case found.Stats.Pruned:
		a.summary(prunedAnswers)
	case !exact(found):
		a.summary("these answers are approximate; --recall measures how many of the best are among them")
	}
}

const prunedAnswers = "these answers are approximate: the index is pruned"

func printParallel(w io.Writer, p *search.ParallelStats) {
	if p == nil {
		return
	}
	kind := "exact"
	if !p.Exact {
		kind = "approximate"
	}
	partitions := counted(p.Partitions, fmt.Sprintf("%v partition", p.Partition))
	of := counted(p.Size, "posting")
	if p.Partition == search.Documents {
		partitions, of = counted(p.Partitions, "partition"), counted(p.Size, "document")
	}
	fmt.Fprintf(w, "%s, %s of %s, policy %v: %s\n", counted(p.Threads, "thread"), partitions, of,
		p.Policy, kind)
}
