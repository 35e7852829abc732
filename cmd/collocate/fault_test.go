package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/collocate/collocate/internal/disk"
	"github.com/collocate/collocate/internal/faultfs"
	"github.com/collocate/collocate/internal/trials"
)

// writers are the command lines of every verb that writes a file, with {} for the folder of inputs
// and results. Each overwrites the result of an earlier run.
var writers = []struct {
	name, args, result string
}{
	{"index", "index {}/new.txt --analyzer ascii --store-text --out {}/ix", "ix"},
	{"index --reorder", "index {}/new.txt --analyzer ascii --store-text --reorder --out {}/ix", "ix"},
	{"index reorder", "index reorder {}/other --out {}/ix", "ix"},
	{"index prune", "index prune {}/other --out {}/ix --top 1", "ix"},
	{"index export", "index export {}/other --ciff {}/out.ciff", "out.ciff"},
	{"index export npz", "index export {}/other --npz {}/out.npz", "out.npz"},
	{"index import", "index import {}/other.ciff --out {}/ix", "ix"},
	{"weigh tsv", "weigh {}/new.txt --out {}/out.tsv", "out.tsv"},
	{"weigh npz", "weigh {}/new.txt --out {}/out.npz", "out.npz"},
	{"weigh parquet", "weigh {}/new.txt --out {}/out.parquet", "out.parquet"},
	{"weigh weights", "weigh {}/new.txt --out {}/out.weights", "out.weights"},
	{"vocab", "vocab {}/new.txt --out {}/out.txt", "out.txt"},
	{"cooccur cooc", "cooccur {}/new.txt --window 2 --out {}/out.cooc", "out.cooc"},
	{"cooccur bin", "cooccur {}/new.txt --window 2 --out {}/out.bin", "out.bin"},
	{"cooccur mtx", "cooccur {}/new.txt --window 2 --out {}/out.mtx", "out.mtx"},
	{"cooccur npz", "cooccur {}/new.txt --window 2 --out {}/out.npz", "out.npz"},
	{"cooccur parquet", "cooccur {}/new.txt --window 2 --out {}/out.parquet", "out.parquet"},
	{"cooccur tsv", "cooccur {}/new.txt --window 2 --out {}/out.tsv", "out.tsv"},
	{"embed", "embed {}/m.cooc --dim 2 --epochs 1 --out {}/out.vec", "out.vec"},
	{"cooccur convert", "cooccur convert {}/m.cooc --out {}/out.parquet", "out.parquet"},
	{"collocations", "collocations {}/new.txt --min-count 1 --out {}/out.csv", "out.csv"},
	{"collocations --network", "collocations {}/new.txt --min-count 1 --network {}/out.svg", "out.svg"},
	{"words", "words {}/m.cooc --out {}/out.csv", "out.csv"},
	{"wordlist", "wordlist {}/new.txt --out {}/out.parquet", "out.parquet"},
	{"dict build", "dict build {}/new.txt --out {}/out.dict", "out.dict"},
	{"search --run", "search {}/other --topics {}/topics.txt --run {}/out.run", "out.run"},
	{"fuse", "fuse {}/a.run {}/b.run --out {}/out.run", "out.run"},
	{"generate text", "generate text --bytes 10kB --out {}/out.txt", "out.txt"},
	{"places --svg", "places {}/points.csv -d 5 -p 0.1 --svg {}/out.svg", "out.svg"},
	{"places --geopackage", "places {}/points.csv -d 5 -p 0.1 --geopackage {}/out.gpkg", "out.gpkg"},
	{"places --html", "places {}/points.csv -d 5 -p 0.1 --html {}/out.html", "out.html"},
	{"keywords", "keywords {}/new.txt --reference {}/old.txt --out {}/out.csv", "out.csv"},
	{"concordance", "concordance {}/new.txt cat --out {}/out.csv", "out.csv"},
	{"ngrams", "ngrams {}/new.txt -n 2 --min-count 1 --out {}/out.csv", "out.csv"},
	{"neighbours", "neighbours {}/m.cooc cat --min-value 0 --out {}/out.csv", "out.csv"},
	{"neighbours --network", "neighbours {}/m.cooc cat --min-value 0 --network {}/out.svg", "out.svg"},
	{"cooccur --save-vocab", "cooccur {}/new.txt --window 2 --out {}/m.cooc --save-vocab {}/out.txt", "out.txt"},
	{"weigh --index", "weigh {}/new.txt --index {}/ix", "ix"},
	{"index backup", "index backup {}/other --out {}/ix", "ix"},
	{"index compact", "index compact {}/other --out {}/ix", "ix"},
	{"places --out", "places {}/points.csv -d 5 -p 0.1 --out {}/out.csv", "out.csv"},
	{"places --rules-csv", "places {}/points.csv -d 5 -p 0.1 --min-confidence 0.1 --rules-csv {}/out.csv", "out.csv"},
	{"places pairs --local", "places pairs {}/points.csv -d 5 --of A --near B --local {}/out.csv", "out.csv"},
	{"places pairs --local-svg", "places pairs {}/points.csv -d 5 --of A --near B --local-svg {}/out.svg", "out.svg"},
	{"dispersion", "dispersion {}/new.txt --of cat --svg {}/out.svg", "out.svg"},
	{"generate points", "generate points --count 100 --out {}/out.csv", "out.csv"},
	{"generate vectors", "generate vectors --count 10 --out {}/out.jsonl", "out.jsonl"},
	{"generate queries", "generate queries --count 10 --out {}/out.tsv", "out.tsv"},
	{"beir --run", "beir {}/beir --index {}/beir.index --run {}/out.run", "out.run"},
	{"places curve --csv", "places curve {}/points.csv --csv {}/out.csv", "out.csv"},
	{"places curve --svg", "places curve {}/points.csv --svg {}/out.svg", "out.svg"},
	{"places --geojson", "places {}/points.csv -d 5 -p 0.1 --planar --geojson {}/out.json", "out.json"},
}

// inMemory returns a temporary folder, in memory where that is possible. The tests of faults sync
// thousands of files. They test the order of operations, not the disk.
func inMemory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "collocate-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// execute runs a command line in this process.
func execute(line, dir string) error {
	a := newApp(strings.NewReader(""), io.Discard, io.Discard)
	a.threads = 1
	args := append(strings.Fields(strings.ReplaceAll(line, "{}", dir)), "-q", "--threads", "1")
	return newRoot(a, args...).ExecuteContext(context.Background())
}

// content returns the contents of a file, or of all files in a folder, by name. It lists hidden
// files separately.
func content(t *testing.T, path string) (all map[string]string, hidden []string) {
	t.Helper()
	all = map[string]string{}
	err := filepath.Walk(path, func(name string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		if strings.HasPrefix(info.Name(), ".") {
			hidden = append(hidden, name)
		}
		if info.Name() == "lock" && info.Size() == 0 {
			return nil // who replaces an index locks it like a writer; the empty file may stay
		}
		if !info.IsDir() {
			data, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			all[strings.TrimPrefix(name, path)] = string(data)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all, hidden
}

func equalContent(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for name, data := range a {
		if b[name] != data {
			return false
		}
	}
	return true
}

// scene is a folder with inputs and an earlier result, and the contents of the old and the new
// result.
type scene struct {
	dir, line, result string
	old, new          map[string]string
}

// stage makes a scene in dir.
func stage(t *testing.T, dir, line, result string) *scene {
	t.Helper()
	files := map[string]string{
		"old.txt": "the old rose\nthe rose\n", "new.txt": "the cat sat\nthe dog sat\nthe cat\n",
		"a.run": "1 Q0 d1 1 2 a\n1 Q0 d2 2 1 a\n", "b.run": "1 Q0 d2 1 3 b\n",
		"topics.txt": "1:cat\n2:dog\n", "points.csv": "x,y,feature\n0,0,A\n1,1,B\n9,9,A\n8,7,B\n",
		"beir/corpus.jsonl":   `{"_id":"d1","title":"a","text":"the cat sat"}` + "\n",
		"beir/queries.jsonl":  `{"_id":"q1","text":"cat"}` + "\n",
		"beir/qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\n",
	}
	mkdir(t, dir, "beir/qrels")
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	must := func(line string) {
		if err := execute(line, dir); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
	}
	must("index {}/new.txt --analyzer ascii --store-text --out {}/other")
	must("index export {}/other --ciff {}/other.ciff")
	must("cooccur {}/new.txt --window 2 --out {}/m.cooc")
	// The old result is an index of other documents, or else any file.
	s := &scene{dir: dir, line: line, result: filepath.Join(dir, result)}
	must(line)
	s.new, _ = content(t, s.result)
	if result == "ix" {
		must("index {}/old.txt --analyzer ascii --store-text --out {}/ix")
	} else if err := os.WriteFile(s.result, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	s.old, _ = content(t, s.result)
	if equalContent(s.old, s.new) {
		t.Fatal("the old and the new result are the same")
	}
	return s
}

// Every flag of a verb that names a result is used by a writer, or left out for a reason. Verbs
// that are made from declarations share their code, so one of them, words, is enough.
func TestEveryResultHasAWriter(t *testing.T) {
	leftOut := map[string]string{ // by the beginning of the verb
		"bench": "takes minutes", "dict bench": "needs a GPU", "gpu": "needs a GPU, or minutes",
		"cluster": "needs the parts of workers, or an engine such as Spark", "serve": "appends to logs",
		"shard": "writes several folders, each as an index is written",
	}
	var made []string
	for _, v := range verbs()[len(ownVerbs()):] {
		made = append(made, v.name)
	}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		verb := strings.TrimPrefix(cmd.CommandPath(), "collocate ")
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !slices.Contains(outputFlags, f.Name) || f.Value.Type() != "string" || slices.Contains(made, verb) && verb != "words" {
				return
			}
			uses := func(args string) bool {
				return strings.HasPrefix(args, verb+" ") && strings.Contains(args, " --"+f.Name+" ")
			}
			for _, w := range writers {
				if uses(w.args) {
					return
				}
			}
			for begin := range leftOut {
				if strings.HasPrefix(verb+" ", begin+" ") {
					return
				}
			}
			t.Errorf("%s --%s: want a line in writers, or the reason why it has none", verb, f.Name)
		})
		for _, c := range cmd.Commands() {
			visit(c)
		}
	}
	visit(newRoot(newApp(strings.NewReader(""), io.Discard, io.Discard)))
}

// Every disk operation of every writer fails once. Then the verb returns an error, and the result
// is the old or the new one, complete. Once the verb has run again, no temporary file is left.
func TestEveryFaultOfEveryWriter(t *testing.T) {
	points := map[disk.Op]int{}
	step := trials.Every(7)
	for i := 0; i < len(writers); i += trials.Every(6) {
		w := writers[i]
		t.Run(w.name, func(t *testing.T) {
			s := stage(t, inMemory(t), w.args, w.result)
			for n := 1; ; n += step {
				fault := &faultfs.Failing{N: n}
				restore := disk.Use(fault)
				err := execute(s.line, s.dir)
				restore()
				op := fault.Failed()
				if op == "" {
					if err != nil {
						t.Fatalf("without a fault: %v", err)
					}
					break
				}
				points[op]++
				got, _ := content(t, s.result)
				switch {
				case op == disk.Remove: // failing to remove the old result is no error
				case op == disk.Exchange: // two renames replace it, or there is an error
				case err == nil:
					t.Fatalf("call %d, %s: no error", n, op)
				case !errors.Is(err, faultfs.ErrFault):
					t.Fatalf("call %d, %s: the error is %v, want one that wraps the fault", n, op, err)
				}
				if !equalContent(got, s.old) && !equalContent(got, s.new) {
					t.Fatalf("call %d, %s (%v): the result is neither the old nor the new one", n, op, err)
				}
				if err == nil && !equalContent(got, s.new) {
					t.Fatalf("call %d, %s: no error, and the result is the old one", n, op)
				}
				// Restore the old result for the next fault.
				os.RemoveAll(s.result)
				if err := restoreTo(s.result, s.old); err != nil {
					t.Fatal(err)
				}
			}
			if got, hidden := content(t, s.dir); len(hidden) > 0 {
				t.Errorf("%v left behind besides %d files", hidden, len(got))
			}
		})
	}
	total := 0
	for _, n := range points {
		total += n
	}
	t.Logf("%d fault points: %v", total, points)
}

func restoreTo(path string, files map[string]string) error {
	for name, data := range files {
		if name != "" {
			if err := os.MkdirAll(path, 0o777); err != nil {
				return err
			}
		}
		if err := os.WriteFile(path+name, []byte(data), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// snapshots calls at before each disk operation, with the number of operations before it.
type snapshots struct {
	*faultfs.Crash
	mu    sync.Mutex
	calls int
	at    func(calls int)
}

func (s *snapshots) Before(op disk.Op, path string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at(s.calls)
	s.calls++
	return s.Crash.Before(op, path)
}

// The machine crashes after every disk operation of every writer, and what was not synced is lost.
// Then the result is the old or the new one, and the verb can be run again. A writer runs only
// once: what a crash would leave is copied before each operation.
func TestACrashAfterEveryCall(t *testing.T) {
	crashes, step := 0, trials.Every(7)
	for i := 0; i < len(writers); i += trials.Every(6) {
		w := writers[i]
		t.Run(w.name, func(t *testing.T) {
			base := inMemory(t)
			s := stage(t, mkdir(t, base, "scene"), w.args, w.result)
			crash, err := faultfs.NewCrash(s.dir, math.MaxInt)
			if err != nil {
				t.Fatal(err)
			}
			left := func(n int, newNames bool) string {
				return filepath.Join(base, fmt.Sprintf("left-%d-%t", n, newNames))
			}
			hook := &snapshots{Crash: crash, at: func(n int) {
				for _, newNames := range []bool{false, true} {
					if n%step > 0 {
						continue
					}
					if err := crash.Leave(left(n, newNames), newNames); err != nil {
						t.Errorf("crash after call %d: %v", n, err)
					}
				}
			}}
			restore := disk.Use(hook)
			err = execute(s.line, s.dir)
			restore()
			if err != nil {
				t.Fatal(err)
			}
			if hook.calls < 4 {
				t.Errorf("%d disk operations, want at least 4", hook.calls)
			}
			for n := 0; n < hook.calls; n += step {
				for _, newNames := range []bool{false, true} {
					crashes++
					got, _ := content(t, filepath.Join(left(n, newNames), w.result))
					if !equalContent(got, s.old) && !equalContent(got, s.new) {
						t.Fatalf("crash after call %d, new names %t: the result is neither the old nor the new one", n,
							newNames)
					}
					if newNames && n%4 == 0 {
						if err := execute(s.line, left(n, newNames)); err != nil {
							t.Fatalf("crash after call %d: the next run: %v", n, err)
						}
						if _, hidden := content(t, left(n, newNames)); len(hidden) > 0 {
							t.Fatalf("crash after call %d: the next run leaves %v", n, hidden)
						}
					}
					os.RemoveAll(left(n, newNames))
				}
			}
		})
	}
	t.Logf("%d crashes", crashes)
}

func mkdir(t *testing.T, base, name string) string {
	t.Helper()
	dir := filepath.Join(base, name)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}
