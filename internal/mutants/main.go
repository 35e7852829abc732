// Command mutants looks for guards that no test needs. It breaks one guard, margin, lock or copy at
// a time, runs the tests of its package, and lists the mutants that survive:
//
//	go run ./internal/mutants -n 40 ./index/segments ./serve
//	go run ./internal/mutants -files 'gate|turn' -n 0 ./serve     # every mutant of two files
//
// Mutants are compiled with go build's overlay, so the tree is never touched. Those that do not
// compile are not counted. Each takes a compilation of the package and a run of its tests with
// -short, so only a sample is tried; -seed draws another. -long tries survivors again with all
// tests. A survivor is a test to write, or a mutant that changes nothing: only a reader can tell.
// -v also lists the killed ones, with what killed them: on a busy machine that may be the timeout.
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
	kinds := f.String("kinds", "", "only mutants whose descriptions match this regular expression")
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
		if err := t.try(ctx, w, p, all); err != nil {
			return err
		}
	}
	return nil
}

// onePackage is a package in the output of `go list`.
type onePackage struct {
	ImportPath, Dir string
	GoFiles         []string
}

func listPackages(ctx context.Context, patterns []string) (out []onePackage, err error) {
	if len(patterns) == 0 {
		return nil, errors.New("no packages given, such as ./index/segments")
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-json=ImportPath,Dir,GoFiles", "--"}, patterns...)...)
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
	all = slices.DeleteFunc(all, func(m mutant) bool { return !t.kinds.MatchString(m.what) })
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
	untried  fate = ""
	invalid  fate = "does not compile"
	survived fate = "survived"
	late     fate = "timeout" // killed by it
)

// try runs the tests for each mutant and reports those that survive, and the numbers.
func (t *trial) try(ctx context.Context, w io.Writer, p onePackage, all []mutant) error {
	// A test that fails without a mutant would kill them all.
	got, err := t.test(ctx, p, mutant{}, 0)
	if err == nil && got != survived {
		err = errors.New("its tests fail, or do not compile, without any mutant")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.ImportPath, err)
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
		if f != survived && f != invalid {
			killed++
		}
		for ; shown < len(all) && fates[shown] != untried; shown++ {
			if t.verbose {
				fmt.Fprintf(w, "%v: %s\n", all[shown], fates[shown])
			} else if fates[shown] == survived {
				fmt.Fprintln(w, all[shown])
			}
		}
	}
	next := make(chan int)
	failed := make([]error, t.jobs)
	var group sync.WaitGroup
	for j := range t.jobs {
		group.Go(func() {
			for i := range next {
				if f, err := t.test(ctx, p, all[i], 1+j); err != nil {
					failed[j] = err
				} else {
					done(i, f)
				}
			}
		})
	}
	for i := range all {
		next <- i
	}
	close(next)
	group.Wait()
	fmt.Fprintf(w, "%s: %d mutants, %d killed (%d by the timeout), %d survived; %d did not compile\n",
		p.ImportPath, killed+count[survived], killed, count[late], count[survived], count[invalid])
	return errors.Join(failed...)
}

// test compiles a package with a mutant and runs its tests. Calls with different numbers may run at
// the same time.
func (t *trial) test(ctx context.Context, p onePackage, m mutant, number int) (fate, error) {
	if err := ctx.Err(); err != nil {
		return invalid, err
	}
	source := filepath.Join(t.dir, fmt.Sprint(number, ".go"))
	overlay := filepath.Join(t.dir, fmt.Sprint(number, ".json"))
	binary := filepath.Join(t.dir, fmt.Sprint(number, ".test"))
	replace := map[string]string{}
	if m.path != "" {
		if err := os.WriteFile(source, m.apply(), 0o666); err != nil {
			return invalid, err
		}
		replace[m.path] = source
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return invalid, err
	}
	if err := os.WriteFile(overlay, text, 0o666); err != nil {
		return invalid, err
	}
	args := []string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", overlay, "-o", binary}
	env := os.Environ()
	if t.race {
		args, env = append(args, "-race"), append(env, "CGO_ENABLED=1")
	}
	build := exec.CommandContext(ctx, "go", append(args, p.ImportPath)...)
	build.Dir, build.Env = p.Dir, env
	if err := build.Run(); err != nil {
		return invalid, ctx.Err()
	}
	if _, err := os.Stat(binary); err != nil {
		return invalid, fmt.Errorf("%s has no tests", p.ImportPath)
	}
	got, err := t.runTests(ctx, p, binary, true)
	if got == survived && t.long {
		got, err = t.runTests(ctx, p, binary, false)
	}
	return got, err
}

// complaints matches what tests say if they fail.
var complaints = regexp.MustCompile(`--- FAIL: (\S+)|WARNING: (DATA RACE)|(?:panic|fatal error): (.*)`)

// runTests runs the tests in a temporary folder of their own. Tests that are killed leave files
// behind, and may leave processes.
func (t *trial) runTests(ctx context.Context, p onePackage, binary string, short bool) (fate, error) {
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
	if t.tests != "" {
		args = append(args, "-test.run="+t.tests)
	}
	cmd := exec.CommandContext(limited, binary, args...)
	cmd.Dir = p.Dir
	cmd.Env = append(os.Environ(), "TMPDIR="+temp)
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
