package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/collocate/collocate/text"
)

// played is a query of the game.
type played struct {
	query, class string
}

// task is a command of the game, on all documents or a share of them.
type task struct {
	command string
	share   int // in 100,000ths of the documents; 0 means all
}

func (t task) String() string {
	if t.share == 0 {
		return t.command
	}
	return fmt.Sprintf("%s of %g%%", t.command, float64(t.share)/1000)
}

// Tasks of the game, and of two tables that only peers with filters and facets take part in.
var (
	gameTasks = []task{{"COUNT", 0}, {"TOP_10", 0}, {"TOP_100", 0}, {"TOP_1000", 0},
		{"TOP_10_COUNT", 0}}
	filterTasks = []task{{"TOP_10", 0}, {"TOP_10", 100}, {"TOP_10", 1000}, {"TOP_10", 10000},
		{"TOP_10", 50000}}
	facetTasks = []task{{"FACET", 0}}
)

// readGame reads the game's queries and tokenizes their words with the analyzer ascii.
func readGame(path string) ([]played, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	analyzer, err := text.ParseAnalyzer("ascii")
	if err != nil {
		return nil, err
	}
	var list []played
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var q struct {
			Query string
			Tags  []string
		}
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if len(q.Tags) == 0 {
			return nil, fmt.Errorf("%s: the query %s has no tag: want its class", path, q.Query)
		}
		said, err := normalized(analyzer, q.Query)
		if err != nil {
			return nil, err
		}
		if said != "" {
			list = append(list, played{said, q.Tags[0]})
		}
	}
	return list, lines.Err()
}

// normalized tokenizes the words of a query as those of documents; it keeps phrases and signs.
func normalized(a text.Analyzer, query string) (string, error) {
	var parts []string
	var tokens text.Tokens
	for query = strings.TrimSpace(query); query != ""; query = strings.TrimSpace(query) {
		sign := ""
		if query[0] == '+' || query[0] == '-' {
			sign, query = query[:1], query[1:]
		}
		rest, quoted := strings.CutPrefix(query, `"`)
		end := " "
		if quoted {
			end = `"`
		}
		part, rest, _ := strings.Cut(rest, end)
		query = rest
		if err := a.Analyze([]byte(part), &tokens); err != nil {
			return "", err
		}
		var words []string
		for i := range tokens.Words {
			words = append(words, string(tokens.Word(i)))
		}
		if len(words) == 0 {
			continue
		}
		if quoted && len(words) > 1 {
			parts = append(parts, sign+`"`+strings.Join(words, " ")+`"`)
			continue
		}
		for _, w := range words {
			parts = append(parts, sign+w)
		}
	}
	return strings.Join(parts, " "), nil
}

// playGame runs the whole game on all engines.
func playGame(index, peers, queries string, most, rounds int, only, csv string) error {
	engines, err := start(index, peers)
	if err != nil {
		return err
	}
	defer closeAll(engines)
	list, err := readGame(queries)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(1, 2))
	rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	list = list[:min(most, len(list))]
	fmt.Printf("%d queries, %d rounds, %s, %d cores; mean of each query's least time inside the "+
		"engine, in microseconds, one thread\n", len(list), rounds, runtime.Version(), runtime.NumCPU())
	b := &board{engines: engines, list: list, rounds: rounds, rng: rng}
	if csv != "" {
		f, err := os.Create(csv)
		if err != nil {
			return err
		}
		defer f.Close()
		b.csv = bufio.NewWriter(f)
		defer b.csv.Flush()
		fmt.Fprintln(b.csv, "class,command,share,query,engine,nanoseconds,count")
	}
	wanted := func(t task) bool { return only == "" || slices.Contains(strings.Split(only, ","), t.command) }
	for _, part := range []struct {
		title string
		tasks []task
		skip  string // engine that does not take part
	}{{"The game", gameTasks, ""}, {"Filters", filterTasks, "tantivy"}, {"Facets", facetTasks, "tantivy"}} {
		tasks := slices.DeleteFunc(slices.Clone(part.tasks), func(t task) bool { return !wanted(t) })
		if part.title == "Filters" && only != "" && !strings.Contains(only, "FILTER") {
			continue
		}
		if part.title == "Filters" {
			tasks = part.tasks
		}
		if len(tasks) > 0 {
			if err := b.play(part.title, tasks, part.skip); err != nil {
				return err
			}
		}
	}
	return nil
}

// board runs tasks and prints their tables.
type board struct {
	engines []engine
	list    []played
	rounds  int
	rng     *rand.Rand
	csv     *bufio.Writer
}

// play runs every query of every task on every engine in every round, and prints means by class.
// The engines take turns in each task, in an order that changes.
func (b *board) play(title string, tasks []task, skip string) error {
	began := time.Now()
	var in []engine
	for _, e := range b.engines {
		if e.name() != skip {
			in = append(in, e)
		}
	}
	list := b.list
	if title == "Facets" {
		list = []played{{"*", "all"}}
		for _, q := range b.list {
			if q.class == "union" {
				list = append(list, q)
			}
		}
	}
	least := make([][][]int64, len(tasks)) // by task, engine and query
	counts := make([][][]answer, len(tasks))
	for t := range tasks {
		for range in {
			least[t] = append(least[t], make([]int64, len(list)))
			counts[t] = append(counts[t], make([]answer, len(list)))
		}
	}
	for round := range b.rounds + 1 {
		for t, task := range tasks {
			for _, e := range b.rng.Perm(len(in)) {
				for i, q := range list {
					a, err := in[e].play(task.command, task.share, q.query)
					if err != nil {
						return fmt.Errorf("%s: %v %s: %w", in[e].name(), task, q.query, err)
					}
					if old := &least[t][e][i]; round == 1 || round > 0 && a.nanos < *old {
						*old = a.nanos
					}
					counts[t][e][i] = a
				}
			}
		}
	}
	fmt.Printf("\n### %s\n\n| class | queries | command |", title)
	for _, e := range in {
		fmt.Printf(" %s |", e.name())
	}
	fmt.Printf(" the best peer takes |\n| --- | --- | --- |%s --- |\n", strings.Repeat(" --- |", len(in)))
	classes := []string{"all"}
	for _, q := range list {
		if !slices.Contains(classes, q.class) {
			classes = append(classes, q.class)
		}
	}
	slices.Sort(classes[1:])
	for _, class := range classes {
		for t, task := range tasks {
			var means []float64
			n := 0
			for e := range in {
				sum := int64(0)
				n = 0
				for i, q := range list {
					if class == "all" || q.class == class {
						sum += least[t][e][i]
						n++
					}
				}
				means = append(means, float64(sum)/float64(max(n, 1))/1e3)
			}
			fmt.Printf("| %s | %d | %v |", class, n, task)
			for _, m := range means {
				fmt.Printf(" %.1f |", m)
			}
			if len(means) > 1 {
				fmt.Printf(" %.2fx |", slices.Min(means[1:])/means[0])
			}
			fmt.Println()
		}
	}
	b.compare(tasks, in, list, counts)
	if b.csv != nil {
		for t, task := range tasks {
			for e := range in {
				for i, q := range list {
					fmt.Fprintf(b.csv, "%s,%s,%d,%q,%s,%d,%d\n", q.class, task.command, task.share, q.query,
						in[e].name(), least[t][e][i], counts[t][e][i].count)
				}
			}
		}
	}
	fmt.Printf("\n%s took %.0f s.\n", title, time.Since(began).Seconds())
	return nil
}

// compare prints how many counts and best documents of the peers are equal to ours.
func (b *board) compare(tasks []task, in []engine, list []played, answers [][][]answer) {
	for e := 1; e < len(in); e++ {
		counted, differ, best, same := 0, 0, 0, 0
		for t := range tasks {
			for i := range list {
				ours, theirs := answers[t][0][i], answers[t][e][i]
				if ours.count >= 0 {
					counted++
					if ours.count != theirs.count {
						if differ++; differ <= 5 {
							fmt.Printf("\n%v %s: ours %d, %s %d\n", tasks[t], list[i].query, ours.count,
								in[e].name(), theirs.count)
						}
					}
				}
				if len(ours.hits) > 0 || len(theirs.hits) > 0 {
					best++
					if overlap(ours.hits, theirs.hits) >= 0.9 {
						same++
					}
				}
			}
		}
		fmt.Printf("\n%s: %d of %d counts equal; 9 in 10 of the documents or more the same in %d of %d answers.\n",
			in[e].name(), counted-differ, counted, same, best)
	}
}
