//go:build unix

// Command memory runs every job with --memory under several bounds and prints its peak resident
// memory. It fails if a peak is more than 1.2 times the bound plus 60 MB.
//
//	go run ./bench/memory                           # on generated text of 200 MB
//	go run ./bench/memory -lines 40M -bounds 1GB    # and 40 million short lines
//	go run ./bench/memory -corpus elife.jsonl.zst
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/collocate/collocate/internal/bytesize"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "memory:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("memory", flag.ExitOnError)
	command := f.String("collocate", "", "the command; built if not given")
	corpus := f.String("corpus", "", "a corpus instead of generated text")
	size := f.String("bytes", "200MB", "size of the generated text")
	lines := f.String("lines", "2M", "number of short lines")
	words := f.Int("words", 8_000_000, "number of words in lines of many distinct words")
	common := f.Int("common", 1_000_000, "number of words in lines of common words")
	bounds := f.String("bounds", "64MB,200MB,1GB", "values of --memory")
	only := f.String("jobs", "", "only jobs whose names match this regular expression")
	f.Parse(args)

	match, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(".", ".memory-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{dir: dir, command: *command, corpus: *corpus, only: match, words: *words,
		common: *common}
	if b.command == "" {
		b.command = filepath.Join(dir, "collocate")
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", b.command,
			"github.com/collocate/collocate/cmd/collocate").CombinedOutput(); err != nil {
			return fmt.Errorf("build: %w: %s", err, out)
		}
	}
	for _, s := range strings.Split(*bounds, ",") {
		var v bytesize.Size
		if err := v.Set(s); err != nil {
			return err
		}
		b.bounds = append(b.bounds, v)
	}
	if err := b.generate(ctx, *size, *lines); err != nil {
		return err
	}
	over, err := b.table(ctx)
	if err == nil && over > 0 {
		err = fmt.Errorf("%d peaks are over the bound", over)
	}
	return err
}

type bench struct {
	dir, command, corpus string
	only                 *regexp.Regexp
	words, common        int
	bounds               []bytesize.Size
}

// job is a call of the command. OUT is replaced by a new path for output, other words in capitals
// by the paths of inputs.
type job struct {
	name, args string
	fails      bool // it must return an error that names the limit
}

var jobs = []job{
	{"index", "index TEXT --out OUT", false},
	{"index, stems and text", "index TEXT --analyzer english --store-text --out OUT", false},
	{"index, short lines", "index LINES --format lines --out OUT", false},
	{"index, lines and text", "index LINES --format lines --store-text --out OUT", false},
	{"index, unsorted IDs", "index TSV --format tsv --out OUT", false},
	{"index, empty lines", "index EMPTY --format lines --out OUT", false},
	{"index, a huge line", "index HUGE --format lines --out OUT", true},
	{"index, a bomb", "index BOMB --format lines --out OUT", true},
	{"index check", "index check INDEX", false},
	{"index stats", "index stats INDEX", false},
	{"index reorder", "index reorder INDEX --out OUT", false},
	{"index export", "index export INDEX --ciff OUT.ciff", false},
	{"index import", "index import CIFF --out OUT", false},
	{"weigh", "weigh TEXT --out OUT.weights", false},
	{"weigh, tsv", "weigh LINES --format lines --out OUT.tsv", false},
	{"weigh, npz", "weigh TEXT --out OUT.npz", false},
	{"weigh, parquet", "weigh LINES --format lines --out OUT.parquet", false},
	{"vocab", "vocab TEXT --out OUT.txt", false},
	{"vocab, short lines", "vocab LINES --format lines --out OUT.txt", false},
	{"cooccur", "cooccur TEXT --min-count 5 --out OUT.cooc", false},
	{"cooccur, glove", "cooccur LINES --format lines --min-count 5 --out OUT.bin", false},
	{"vocab, many words", "vocab WORDS --out OUT.txt", false},
	{"cooccur, many words", "cooccur WORDS --min-count 5 --out OUT.cooc", false},
	{"embed, svd", "embed MATRIX --method svd --dim 20 --power 1 --out OUT.vec", false},
	{"embed, glove", "embed MATRIX --dim 20 --epochs 1 --out OUT.vec", false},
	{"collocations", "collocations WORDS --format lines", false},
	{"ngrams", "ngrams WORDS --format lines", false},
	{"ngrams, all that occur", "ngrams COMMON --format lines --min-count 1 --out OUT.csv", false},
	{"ngrams, all, printed", "ngrams COMMON --format lines --min-count 1 --top 0", false},
	{"wordlist", "wordlist WORDS --format lines", false},
	{"keywords", "keywords WORDS --reference LINES --format lines", false},
	{"keywords, triples", "keywords COMMON --reference LINES --format lines -n 3", false},
	{"keywords, all triples",
		"keywords COMMON --reference LINES --format lines -n 3 --min-count 1 --out OUT.csv", false},
	{"dispersion", "dispersion WORDS --format lines --of w1", false},
	{"concordance", "concordance WORDS w1 --format lines", false},
	{"concordance, all lines", "concordance COMMON t* --format lines --out OUT.csv", false},
	{"concordance, sorted", "concordance COMMON t* --format lines --sort r1,l1 --out OUT.parquet", false},
	{"concordance, sampled", "concordance COMMON t* --format lines --sample 200000 --out OUT.json", false},
	{"dict build", "dict build --corpus TEXT --out OUT.dict", false},
	{"dict build, hash", "dict build --corpus LINES --format lines --kind hash --out OUT.dict", false},
	{"tokens", "tokens TEXT", false},
	{"tokens, a huge line", "tokens HUGE --format lines", true},
	{"generate text", "generate text --bytes 100MB -o OUT.txt", false},
	{"generate points", "generate points --count 2000000 -o OUT.csv", false},
	{"places", "places POINTS.csv -d 3 -p 0.3", false},
	{"places, many points", "places MANY.csv -d 2 -p 0.3", false},
	{"places, pictures and rules", "places POINTS.csv -d 3 -p 0.3 --rules --svg OUT.svg", false},
	{"places, significance", "places POINTS.csv -d 3 -p 0.3 --significance 9", false},
	{"places, nearest", "places POINTS.csv --knn 4 -p 0.3", false},
	{"places sgct", "places POINTS.csv -d 12 -p 0.3 --algorithm sgct", false},
	{"places joinless", "places POINTS.csv -d 12 -p 0.3 --algorithm joinless", false},
	{"places icpi", "places POINTS.csv -d 12 -p 0.3 --algorithm icpi", false},
	{"places miner", "places POINTS.csv -d 12 -p 0.3 --algorithm miner", false},
	{"places summary", "places summary POINTS.csv", false},
	{"places summary, many points", "places summary MANY.csv", false},
	{"places pairs", "places pairs POINTS.csv -d 3", false},
	{"places pairs, many kinds", "places pairs KINDS.csv -d 3", true},
	{"places curve", "places curve POINTS.csv -d 3 --rounds 9", false},
	{"places curve, many points", "places curve MANY.csv -d 1 --rounds 2", false},
	{"places curve, many kinds", "places curve KINDS.csv", true},
	{"places curve, one pair", "places curve KINDS.csv --of k1 --near k2 --rounds 9", false},
	{"places co-occurrence", "places co-occurrence POINTS.csv -d 3", false},
	{"places co-occurrence, many kinds", "places co-occurrence KINDS.csv -d 3", true},
	{"places enrichment", "places enrichment POINTS.csv -d 3 --rounds 9", false},
	{"places enrichment, many kinds", "places enrichment KINDS.csv -d 3", true},
	{"places enrichment, crowded", "places enrichment POINTS.csv -d 100 --rounds 9", true},
}

// generate writes the inputs.
func (b *bench) generate(ctx context.Context, size, lines string) error {
	text := filepath.Join(b.dir, "TEXT")
	calls := []string{
		"generate text --lines --mu 1.4 --docs " + lines + " -o LINES",
		"generate points --count 200000 -o POINTS.csv",
		"generate points --count 2000000 -o MANY.csv",
		"index TEXT --out INDEX --quiet",
		"index export INDEX --ciff CIFF --quiet",
		"cooccur LINES --format lines --max-size 5000 --out MATRIX --out-format csr --quiet",
	}
	if b.corpus == "" {
		calls = append([]string{"generate text --bytes " + size + " -o TEXT"}, calls...)
	} else {
		path, err := filepath.Abs(b.corpus)
		if err == nil {
			err = os.Symlink(path, text)
		}
		if err != nil {
			return err
		}
	}
	for _, c := range calls {
		if out, err := exec.CommandContext(ctx, b.command, b.args(c, "")...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", c, err, out)
		}
	}
	return b.unusual()
}

// args splits a call into arguments and inserts the paths of files.
func (b *bench) args(call, out string) (list []string) {
	for _, a := range strings.Fields(call) {
		switch {
		case strings.HasPrefix(a, "OUT"):
			a = out + a[len("OUT"):]
		case isInput(strings.TrimSuffix(a, ".csv")):
			a = filepath.Join(b.dir, a)
		}
		list = append(list, a)
	}
	return list
}

// isInput reports whether a word is in capitals.
func isInput(a string) bool {
	return a == strings.ToUpper(a) && a != strings.ToLower(a) && a[0] != '-' && (a[0] < '0' || a[0] > '9')
}

// table runs all jobs under all bounds and counts the peaks that are too high.
func (b *bench) table(ctx context.Context) (over int, err error) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "job\tbound\tpeak\tallowed\tseconds\t")
	for _, j := range jobs {
		if !b.only.MatchString(j.name) {
			continue
		}
		for _, bound := range b.bounds {
			peak, took, said, err := b.run(ctx, j, bound)
			if err != nil {
				return over, err
			}
			allowed := bytesize.Size(float64(bound)*1.2) + 60*bytesize.MB
			if peak > allowed {
				over++
				said = "OVER " + said
			}
			fmt.Fprintf(w, "%s\t%v\t%.0fMB\t%.0fMB\t%.1f\t%s\n", j.name, bound, float64(peak)/1e6,
				float64(allowed)/1e6, took.Seconds(), said)
			w.Flush()
		}
	}
	return over, nil
}

// run runs a job and returns its peak resident memory, its time, and its error if it refuses to
// work within the bound.
func (b *bench) run(ctx context.Context, j job, bound bytesize.Size) (peak bytesize.Size,
	took time.Duration, said string, err error) {
	out, err := os.MkdirTemp(b.dir, "out-")
	if err != nil {
		return 0, 0, "", err
	}
	defer os.RemoveAll(out)
	args := append(b.args(j.args, filepath.Join(out, "out")), "--memory", fmt.Sprintf("%dB", int64(bound)))
	cmd := exec.CommandContext(ctx, b.command, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	start := time.Now()
	err = cmd.Run()
	took = time.Since(start)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, 0, "", err
	}
	said = strings.TrimSpace(stderr.String())
	said = said[strings.LastIndexByte(said, '\n')+1:]
	failed := err != nil
	refused := failed && (strings.Contains(said, "memory") || strings.Contains(said, "--max-document"))
	switch {
	case j.fails && !refused:
		return 0, 0, "", fmt.Errorf("%s: want an error that names the limit, got %q", j.name, said)
	case failed && !refused:
		return 0, 0, "", fmt.Errorf("%s: %w: %s", j.name, err, said)
	case !failed:
		said = ""
	}
	return peakOf(cmd.ProcessState), took, strings.ReplaceAll(said, b.dir+string(filepath.Separator), ""), nil
}
