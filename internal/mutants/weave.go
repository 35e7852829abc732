package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Compiling a package takes longer than most of its tests. So all mutants that allow for it are
// woven into one test binary, each behind a switch. The tests of a mutant are the binary with its
// number in the environment. The binary also tells which mutants a test reaches, so that for each
// mutant only these tests run. A guard is reached if its condition is met, a border if both sides
// are equal.

const (
	chosenVar = "MUTANT"       // the number of the mutant to switch on
	seenVar   = "MUTANTS_SEEN" // a file that gets the numbers of the mutants reached
)

// switches is a file of the package with mutants.
const switches = `
import ("cmp"; "fmt"; "os"; "strconv"; "sync/atomic")

var mutantChosen, _ = strconv.Atoi(os.Getenv("` + chosenVar + `"))

var mutantFile, _ = os.OpenFile(os.Getenv("` + seenVar + `"), os.O_APPEND|os.O_WRONLY, 0)

var mutantSeen [1 << 14]atomic.Bool

func mutantIs(i int) bool {
	if mutantFile != nil && !mutantSeen[i].Load() {
		mutantFirst(i)
	}
	return i == mutantChosen
}

func mutantFirst(i int) {
	if !mutantSeen[i].Swap(true) {
		fmt.Fprintln(mutantFile, i)
	}
}

func mutantLess[T cmp.Ordered](i int, a, b T) bool { return a < b || a == b && mutantIs(i) }
func mutantMore[T cmp.Ordered](i int, a, b T) bool { return a > b || a == b && mutantIs(i) }
func mutantAtMost[T cmp.Ordered](i int, a, b T) bool { return a < b || a == b && !mutantIs(i) }
func mutantAtLeast[T cmp.Ordered](i int, a, b T) bool { return a > b || a == b && !mutantIs(i) }

func mutantClone[T any](i int, clone func(T) T, v T) T {
	if mutantIs(i) {
		return v
	}
	return clone(v)
}

func mutantNumber(i int, v float64) float64 {
	if mutantIs(i) {
		return 0
	}
	return v
}
`

// woven is a test binary with mutants.
type woven struct {
	binary string
	has    []bool           // for each mutant, whether it is in the binary
	reach  map[int][]string // for each of these, the tests that reach it
}

// weave compiles a package with all mutants that can be switched. Those that do not compile so are
// left out.
func (t *trial) weave(ctx context.Context, p onePackage, all []mutant) (*woven, error) {
	w := &woven{binary: filepath.Join(t.dir, "all.test"), has: make([]bool, len(all))}
	for i, m := range all {
		w.has[i] = m.switched != nil
	}
	for range 20 {
		text, err := t.compile(ctx, p, w.binary, "all", w.files(p, all))
		if err == nil || ctx.Err() != nil {
			return w, ctx.Err()
		}
		if !w.leaveOut(all, text) {
			return nil, fmt.Errorf("%s does not compile: %s", p.ImportPath, text)
		}
	}
	return nil, fmt.Errorf("%s does not compile with mutants", p.ImportPath)
}

// files returns the changed files. Mutants have numbers from 1.
func (w *woven) files(p onePackage, all []mutant) map[string][]byte {
	edits, texts := map[string][]edit{}, map[string][]byte{}
	for i, m := range all {
		if !w.has[i] {
			continue
		}
		texts[m.path] = m.text
		for _, e := range m.switched {
			e.before = strings.Replace(e.before, "#", strconv.Itoa(i+1), 1)
			e.after = strings.Replace(e.after, "#", strconv.Itoa(i+1), 1)
			edits[m.path] = append(edits[m.path], e)
		}
	}
	files := map[string][]byte{filepath.Join(p.Dir, "mutant_switches.go"): []byte("package " + p.Name + switches)}
	for path, text := range texts {
		files[path] = applied(text, edits[path])
	}
	return files
}

// located matches the place of a compiler's message: the base name of a file, and a line.
var located = regexp.MustCompile(`(?m)([^/\s:]+\.go):(\d+)`)

// leaveOut leaves out the mutants at the places of a compiler's messages, if there are any.
func (w *woven) leaveOut(all []mutant, text string) (some bool) {
	bad := map[string]bool{}
	for _, m := range located.FindAllStringSubmatch(text, -1) {
		bad[m[1]+":"+m[2]] = true
	}
	for i, m := range all {
		if w.has[i] && bad[fmt.Sprint(filepath.Base(m.path), ":", m.line)] {
			w.has[i], some = false, true
		}
	}
	return some
}

// follow runs each test alone and notes the mutants it reaches. Tests that fail are left out: they
// would kill every mutant.
func (t *trial) follow(ctx context.Context, p onePackage, w *woven) (failing []string, err error) {
	cmd := exec.CommandContext(ctx, w.binary, "-test.list", cmp.Or(t.tests, "."))
	cmd.Dir = t.tester(p).Dir
	text, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var tests []string
	for _, name := range strings.Fields(string(text)) {
		if !strings.HasPrefix(name, "Benchmark") {
			tests = append(tests, name)
		}
	}
	reached := make([][]int, len(tests))
	failed := make([]bool, len(tests))
	err = t.each(len(tests), func(i, job int) error {
		seen := filepath.Join(t.dir, fmt.Sprint("seen", job))
		if err := os.WriteFile(seen, nil, 0o666); err != nil {
			return err
		}
		got, err := t.runTests(ctx, p, w.binary, true, "^"+tests[i]+"$", "", seenVar+"="+seen)
		if err != nil {
			return err
		}
		failed[i] = got != survived
		text, err := os.ReadFile(seen)
		for _, n := range strings.Fields(string(text)) {
			number, _ := strconv.Atoi(n)
			reached[i] = append(reached[i], number-1)
		}
		return err
	})
	w.reach = map[int][]string{}
	for i, name := range tests {
		if failed[i] {
			failing = append(failing, name)
			continue
		}
		for _, m := range reached[i] {
			w.reach[m] = append(w.reach[m], name)
		}
	}
	for _, names := range w.reach {
		slices.Sort(names)
	}
	return failing, err
}

// testsOf returns the tests that reach a mutant, as go test -run.
func (w *woven) testsOf(i int) string {
	return "^(" + strings.Join(w.reach[i], "|") + ")$"
}
