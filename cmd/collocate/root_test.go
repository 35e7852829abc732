package main

import (
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"weak"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/trec"
	"github.com/collocate/collocate/weigh"
)

// The help of every command can be printed: each flag is in a group that help has. It has examples
// that begin with the program's name.
func TestEveryVerbHasExamples(t *testing.T) {
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
		if err := cmd.UsageFunc()(cmd); err != nil {
			t.Errorf("%s --help: %v", cmd.CommandPath(), err)
		}
		if !cmd.Runnable() || cmd.Parent() != nil && cmd.Parent().Name() == "completion" {
			return
		}
		if !strings.Contains(cmd.Example, "collocate ") || cmd.Short == "" {
			t.Errorf("%s: has no examples or no short description", cmd.CommandPath())
		}
	}
	visit(newRoot(newApp(strings.NewReader(""), io.Discard, io.Discard)))
}

// A call that begins with a verb makes only the command of that name in the list of verbs.
func TestVerbsHaveTheNamesOfTheList(t *testing.T) {
	a := newApp(strings.NewReader(""), io.Discard, io.Discard)
	for _, v := range verbs() {
		if got := v.make(a).Name(); got != v.name {
			t.Errorf("%s is listed as %s", got, v.name)
		}
		if got := verbsFor([]string{v.name, "--help"}); len(got) != 1 || got[0].name != v.name {
			t.Errorf("%s: %d verbs are made, want 1", v.name, len(got))
		}
	}
	for _, args := range [][]string{nil, {"help", "index"}, {"--engine", "gpu", "search"}, {"idnex"}} {
		if got := verbsFor(args); len(got) != len(verbs()) {
			t.Errorf("%q: %d verbs are made, want all", args, len(got))
		}
	}
}

// Each thread that reads text needs memory, so --memory bounds their number.
func TestThreadsThatFitMemory(t *testing.T) {
	a := newApp(strings.NewReader(""), io.Discard, io.Discard)
	a.threads = 8
	for _, c := range []struct {
		memory string
		want   int
	}{{"16MB", 1}, {"64MB", 2}, {"2GB", 8}} {
		if err := a.memory.Set(c.memory); err != nil {
			t.Fatal(err)
		}
		if got := a.textThreads(); got != c.want {
			t.Errorf("--memory %s: %d threads, want %d", c.memory, got, c.want)
		}
	}
}

// The help of eval lists every measure.
func TestHelpListsMeasures(t *testing.T) {
	root := newRoot(newApp(strings.NewReader(""), io.Discard, io.Discard))
	cmd, _, err := root.Find([]string{"eval"})
	if err != nil {
		t.Fatal(err)
	}
	listed := strings.FieldsFunc(cmd.Long, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' })
	_, err = trec.ParseMeasures("unknown")
	_, names, found := strings.Cut(err.Error(), "some of ")
	if !found {
		t.Fatalf("the error %q lists no measures", err)
	}
	for _, name := range strings.Split(names, ", ") {
		if !slices.Contains(listed, name) {
			t.Errorf("the help of eval does not list %s", name)
		}
	}
}

// Help describes every format, model, and analyzer that is not a language.
func TestNamesInHelpAreDescribed(t *testing.T) {
	whole := []string{"unicode"} // besides the languages the only one with a version 1
	for _, name := range text.Analyzers() {
		if _, err := text.ParseAnalyzer(name + "@1"); err != nil {
			whole = append(whole, name)
		}
	}
	model, format, analyzer := api.SearchQuestion.Find("model"), api.ReadingQuestion.Find("format"), api.ReadingQuestion.Find("analyzer")
	for _, c := range []struct {
		names []string
		words map[string]string
	}{{format.Values, format.Words}, {whole, analyzer.Words}, {model.Values, model.Words}} {
		for _, name := range c.names {
			if c.words[name] == "" {
				t.Errorf("%s has no description: want a few words, in text/format.go, search/internal/model/model.go or api/names.go", name)
			}
		}
	}
	root := newRoot(newApp(strings.NewReader(""), io.Discard, io.Discard))
	for _, verb := range []string{"index", "search"} {
		cmd, _, err := root.Find([]string{verb})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range text.Analyzers() {
			usage := cmd.Flags().Lookup("encoding").Usage
			if text.OfBytes(name) != strings.Contains(usage, name) {
				t.Errorf("%s --encoding: %q should name %s if it is an analyzer of bytes", verb, usage, name)
			}
		}
	}
	_, unlisted, _ := strings.Cut(analyzerHelp(), "no list for ")
	unlisted, _, _ = strings.Cut(unlisted, ")")
	for _, name := range text.Analyzers() {
		_, err := text.ParseAnalyzer(name + "+stop")
		none := err != nil && !slices.Contains(whole, name)
		if none != strings.Contains(unlisted, name) {
			t.Errorf("%s has no list of stop words: %v; help says none for %s", name, none, unlisted)
		}
	}
}

// The help of weigh explains its methods, and a variant that is only for searching is wrong usage.
func TestWeighExplainsItsChoices(t *testing.T) {
	a := newApp(strings.NewReader(""), io.Discard, io.Discard)
	long := newWeighCmd(a).Long
	for _, name := range weigh.Methods() {
		if !strings.Contains(long, "\n  "+name+" ") {
			t.Errorf("the help of weigh does not explain the method %s", name)
		}
	}
	for _, name := range bm25.SearchVariants() {
		_, err := weightVariant(name)
		if weighs := slices.Contains(bm25.Variants(), name); weighs != (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
		if _, usage := errors.AsType[usageError](err); err != nil && !usage {
			t.Errorf("%s: %v, want a usage error", name, err)
		}
	}
}

// Commands can be collected as garbage once they have run: a cluster's worker runs many in turn.
func TestNothingKeepsACommandLine(t *testing.T) {
	run := func() weak.Pointer[app] {
		a := newApp(strings.NewReader(""), io.Discard, io.Discard)
		if err := newRoot(a, "version").ExecuteContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		return weak.Make(a)
	}
	ran := run()
	runtime.GC()
	if ran.Value() != nil {
		t.Error("something still refers to the command line")
	}
}

// Before the first heading of flags, help is one screen: what the verb does, how it is called,
// examples, and the flags that most people need.
func TestHelpIsOneScreen(t *testing.T) {
	const most = 50
	root := newRoot(newApp(strings.NewReader(""), io.Discard, io.Discard))
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			look(sub)
		}
		var b strings.Builder
		cmd.SetOut(&b)
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(b.String(), "\nGlobal Flags:")
		if head, common, any := strings.Cut(first, "\nFlags:\n"); any {
			common, _, _ = strings.Cut(common, "\n\n")
			first = head + "\nFlags:\n" + common
		}
		if n := strings.Count(first, "\n") + 1; n > most && cmd != root { // root lists all verbs
			t.Errorf("%s --help: %d lines to the end of the common flags, more than %d: put what few need "+
				"behind a line More: in Long", cmd.CommandPath(), n, most)
		}
	}
	look(root)
}
