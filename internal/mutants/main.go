// Command mutants looks for guards that no test needs. It breaks one guard, margin, lock or copy at
// a time, runs the tests of its package, and lists the mutants that survive:
//
//	go run ./internal/mutants -n 40 ./index/segments ./serve
//	go run ./internal/mutants -files 'gate|turn' -n 0 ./serve     # every mutant of two files
//	go run ./internal/mutants -kinds '^(guard|lock)' -n 0 ./index # every guard and lock
//	go run ./internal/mutants -by ./search/internal/eval,./search ./search/internal/eval
//
// Mutants are compiled with go build's overlay, so the tree is never touched: most into one test
// binary with a switch for each, the others (constants) into one each. Those that do not compile
// are not counted. For each mutant the tests with -short run that reach it: that make a guard's
// condition true, or both sides of a border equal. -long tries survivors again with all tests. -n
// draws a sample, and -seed another.
//
// A survivor is a test to write, code to delete, or a mutant that changes nothing: only a reader
// can tell. What readers said of the last kind is in the package's file testdata/mutants.txt, and
// these are left out; -all tries them again. -v also lists the killed ones, with what killed them:
// on a busy machine that may be the timeout.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// trial says which mutants are tried, and how.
type trial struct {
	n       int
	seed    uint64
	jobs    int
	files   *regexp.Regexp
	kinds   *regexp.Regexp
	by      *onePackage // whose tests run, if not those of the mutants' package
	all     bool        // also those judged before
	tests   string
	timeout time.Duration
	long    bool
	race    bool
	verbose bool
	dir     string // for overlays and test binaries
}

func run(ctx context.Context, w io.Writer, args []string) error {
	f := flag.NewFlagSet("mutants", flag.ExitOnError)
	var t trial
	f.IntVar(&t.n, "n", 40, "mutants of each package; 0 means all")
	f.Uint64Var(&t.seed, "seed", 1, "seed of the sample")
	f.IntVar(&t.jobs, "jobs", 2, "mutants at a time")
	files := f.String("files", "", "only files whose names match this regular expression")
	kinds := f.String("kinds", "", "only mutants whose kind (guard, margin, lock, copy, border) and description, such as "+
		"'guard file.go:17: no if x > 0', match this regular expression")
	by := f.String("by", "", "run the tests of these packages instead, which use the mutants' one, "+
		"separated by commas: each for the survivors of those before")
	f.BoolVar(&t.all, "all", false, "also try the mutants that "+judgedFile+" in the package lists")
	f.StringVar(&t.tests, "run", "", "only tests that match, as go test -run")
	f.DurationVar(&t.timeout, "timeout", 2*time.Minute, "time for the tests of a mutant; more kills it")
	f.BoolVar(&t.long, "long", false, "try survivors again without -short")
	f.BoolVar(&t.race, "race", false, "compile with the race detector, which kills mutants without locks")
	f.BoolVar(&t.verbose, "v", false, "also list the killed mutants, with what killed each")
	list := f.Bool("list", false, "only list the mutants")
	f.Parse(args)
	var err1, err2 error
	t.files, err1 = regexp.Compile(*files)
	t.kinds, err2 = regexp.Compile(*kinds)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	packages, err := listPackages(ctx, f.Args())
	if err != nil {
		return err
	}
	testers := []*onePackage{nil}
	if *by != "" {
		testers = nil
		for name := range strings.SplitSeq(*by, ",") {
			found, err := listPackages(ctx, []string{name})
			if err != nil {
				return err
			}
			testers = append(testers, &found[0])
		}
	}
	if t.dir, err = os.MkdirTemp("", "mutants-"); err != nil {
		return err
	}
	defer os.RemoveAll(t.dir)
	for _, p := range packages {
		all, err := t.sample(p)
		if err != nil {
			return err
		}
		if *list {
			for _, m := range all {
				fmt.Fprintln(w, m)
			}
			continue
		}
		for _, t.by = range testers {
			if all, err = t.try(ctx, w, p, all); err != nil {
				return err
			}
		}
	}
	return nil
}

// onePackage is a package in the output of `go list`.
type onePackage struct {
	ImportPath, Dir, Name              string
	GoFiles, TestGoFiles, XTestGoFiles []string
}

func listPackages(ctx context.Context, patterns []string) (out []onePackage, err error) {
	if len(patterns) == 0 {
		return nil, errors.New("no packages given, such as ./index/segments")
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-json=ImportPath,Dir,Name,GoFiles,TestGoFiles,XTestGoFiles", "--"}, patterns...)...)
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for d := json.NewDecoder(strings.NewReader(string(text))); ; {
		var p onePackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		out = append(out, p)
	}
}

// sample draws mutants of a package, in the order of its files and lines.
func (t *trial) sample(p onePackage) ([]mutant, error) {
	judged, err := judgments(p.Dir)
	if err != nil {
		return nil, err
	}
	var all []mutant
	for _, name := range p.GoFiles {
		if !t.files.MatchString(name) {
			continue
		}
		found, err := mutantsOf(filepath.Join(p.Dir, name))
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	all = slices.DeleteFunc(all, func(m mutant) bool {
		return !t.kinds.MatchString(string(m.kind)+" "+m.String()) || !t.all && judged[m.title()] != ""
	})
	if t.n == 0 || len(all) <= t.n {
		return all, nil
	}
	order := rand.New(rand.NewPCG(t.seed, 0)).Perm(len(all))[:t.n]
	slices.Sort(order)
	some := make([]mutant, t.n)
	for i, k := range order {
		some[i] = all[k]
	}
	return some, nil
}

// fate is what became of a mutant: one of these, or else what killed it.
type fate string

const (
	untried   fate = ""
	invalid   fate = "does not compile"
	survived  fate = "survived"
	unreached fate = "no test reaches it" // so it survives
	late      fate = "timeout"            // killed by it
)

// try runs the tests for each mutant, reports those that survive, and the numbers, and returns the
// survivors.
func (t *trial) try(ctx context.Context, w io.Writer, p onePackage, all []mutant) (left []mutant, err error) {
	if tester := t.tester(p); len(tester.TestGoFiles)+len(tester.XTestGoFiles) == 0 {
		return nil, fmt.Errorf("%s has no tests", tester.ImportPath)
	}
	together, err := t.weave(ctx, p, all)
	if err != nil {
		return nil, err
	}
	failing, err := t.follow(ctx, p, together)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.ImportPath, err)
	}
	for _, name := range failing {
		fmt.Fprintf(w, "%s fails without any mutant, and is left out\n", name)
	}
	var mu sync.Mutex
	count, killed := map[fate]int{}, 0
	fates := make([]fate, len(all))
	shown := 0
	done := func(i int, f fate) { // survivors are printed as soon as those before are known
		mu.Lock()
		defer mu.Unlock()
		fates[i] = f
		count[f]++
		if f != survived && f != unreached && f != invalid {
			killed++
		}
		for ; shown < len(all) && fates[shown] != untried; shown++ {
			switch f := fates[shown]; {
			case t.verbose || f == unreached:
				fmt.Fprintf(w, "%v: %s\n", all[shown], f)
			case f == survived:
				fmt.Fprintln(w, all[shown])
			}
		}
	}
	err = t.each(len(all), func(i, job int) error {
		f, err := t.test(ctx, p, together, all[i], i, job, failing)
		if err == nil {
			done(i, f)
		}
		return err
	})
	fmt.Fprintf(w, "%s: %d mutants, %d killed (%d by the timeout), %d survived (%d not reached); "+
		"%d did not compile\n", p.ImportPath, killed+count[survived]+count[unreached], killed, count[late],
		count[survived]+count[unreached], count[unreached], count[invalid])
	for i, f := range fates {
		if f == survived || f == unreached {
			left = append(left, all[i])
		}
	}
	return left, err
}

// tester is the package whose tests run for the mutants of a package.
func (t *trial) tester(p onePackage) onePackage {
	if t.by != nil {
		return *t.by
	}
	return p
}

// each calls a function for the numbers below n, several at a time, with the number of the job.
func (t *trial) each(n int, do func(i, job int) error) error {
	next := make(chan int)
	failed := make([]error, t.jobs)
	var group sync.WaitGroup
	for j := range t.jobs {
		group.Go(func() {
			for i := range next {
				if failed[j] == nil {
					failed[j] = do(i, j)
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	group.Wait()
	return errors.Join(failed...)
}

// test runs the tests of a mutant: those that reach it, if it is woven in, else all of them.
func (t *trial) test(ctx context.Context, p onePackage, w *woven, m mutant, i, job int, failing []string) (
	fate, error) {
	if err := ctx.Err(); err != nil {
		return invalid, err
	}
	got, binary, tests := unreached, w.binary, w.testsOf(i)
	skip := strings.Join(failing, "|")
	var env []string
	switch {
	case !w.has[i]:
		binary, tests = filepath.Join(t.dir, fmt.Sprint(job, ".test")), t.tests
		files := map[string][]byte{m.path: m.apply()}
		if _, err := t.compile(ctx, p, binary, fmt.Sprint(job), files); err != nil {
			return invalid, ctx.Err()
		}
		got = survived
	case len(w.reach[i]) > 0:
		got = survived
	}
	if w.has[i] {
		env = []string{fmt.Sprint(chosenVar, "=", i+1)}
	}
	var err error
	if got == survived {
		got, err = t.runTests(ctx, p, binary, true, tests, skip, env...)
	}
	if (got == survived || got == unreached) && t.long && err == nil {
		var again fate
		if again, err = t.runTests(ctx, p, binary, false, t.tests, skip, env...); again != survived {
			got = again
		}
	}
	return got, err
}

// compile compiles the tests of a package with some files replaced. Calls with different names may
// run at the same time. It returns what the compiler says.
func (t *trial) compile(ctx context.Context, p onePackage, binary, name string, files map[string][]byte) (
	string, error) {
	folder := filepath.Join(t.dir, name)
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return "", err
	}
	replace := map[string]string{}
	for path, text := range files {
		source := filepath.Join(folder, filepath.Base(path))
		if err := os.WriteFile(source, text, 0o666); err != nil {
			return "", err
		}
		replace[path] = source
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(folder, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o666); err != nil {
		return "", err
	}
	args := []string{"test", "-c", "-vet=off", "-gcflags=" + p.ImportPath + "=-e", "-ldflags=-s -w", "-overlay", overlay, "-o", binary}
	env := os.Environ()
	if t.race {
		args, env = append(args, "-race"), append(env, "CGO_ENABLED=1")
	}
	build := exec.CommandContext(ctx, "go", append(args, t.tester(p).ImportPath)...)
	build.Dir, build.Env = p.Dir, env
	said, err := build.CombinedOutput()
	return string(said), err
}

// complaints matches what tests say if they fail.
var complaints = regexp.MustCompile(`--- FAIL: (\S+)|WARNING: (DATA RACE)|(?:panic|fatal error): (.*)`)

// runTests runs the tests in a temporary folder of their own. Tests that are killed leave files
// behind, and may leave processes.
func (t *trial) runTests(ctx context.Context, p onePackage, binary string, short bool, tests, skip string,
	env ...string) (fate, error) {
	limited, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	temp, err := os.MkdirTemp(t.dir, "")
	if err != nil {
		return invalid, err
	}
	defer os.RemoveAll(temp)
	args := []string{"-test.failfast", "-test.count=1"}
	if short {
		args = append(args, "-test.short")
	}
	if tests != "" {
		args = append(args, "-test.run="+tests)
	}
	if skip != "" {
		args = append(args, "-test.skip=^("+skip+")$")
	}
	cmd := exec.CommandContext(limited, binary, args...)
	cmd.Dir = t.tester(p).Dir
	cmd.Env = append(append(os.Environ(), "TMPDIR="+temp), env...)
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	endChildren := group(cmd)
	err = cmd.Run()
	endChildren()
	if err == nil {
		return survived, ctx.Err()
	}
	if limited.Err() != nil {
		return late, ctx.Err()
	}
	if m := complaints.FindStringSubmatch(out.String()); m != nil {
		return fate(m[1] + m[2] + m[3]), nil
	}
	return fate(err.Error()), nil
}
