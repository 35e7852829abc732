package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/api/flags"
	"github.com/collocate/collocate/search/query"
)

// addFlags adds the flags of a question to a verb. They store into question, which gets its
// defaults.
func addFlags(cmd *cobra.Command, q *api.Question, question any) {
	q.FillAt(api.Command, question)
	flags.Add(cmd.Flags(), q, question)
}

// asFlags makes an error about a parameter of a question a usage error that names the flag.
func asFlags(q *api.Question, err error) error {
	bad := new(api.Error)
	declared := errors.As(err, &bad)
	if wrong := new(query.Error); errors.As(err, &wrong) && !(declared && bad.Param == "filter") {
		return usageError{fmt.Errorf("%w; --plain takes all signs for text", wrong)}
	}
	if !declared {
		return err
	}
	p := q.Find(bad.Param)
	switch {
	case p == nil || p.Flag == "":
		return usageError{bad.Err}
	case p.Short == p.Flag:
		return usageError{errors.New(bad.Text("-" + p.Short))}
	}
	return usageError{errors.New(bad.Text("--" + p.Flag))}
}

// group lists flags under a heading of their own in help.
func group(cmd *cobra.Command, title string, names ...string) {
	for _, name := range names {
		f := cmd.Flags().Lookup(name)
		if f.Annotations == nil {
			f.Annotations = map[string][]string{}
		}
		f.Annotations[flags.Group] = []string{title}
	}
}

// flagGroups are the headings in the order of help. Flags without a group come first.
var flagGroups = []string{"Answer", "Documents over HTTP", "Access", "Limits", "Operation", "Shards", "Buckets",
	"Ranking", "Vectors", "Topics", "Vocabulary", "Spark", "Corpus", "Passages", "Significance", "Rules and instances", "Parts of the map",
	"Pair correlation", "Study area", "Files", "Points",
	"Engine", "The papers' algorithms"}

// groupedFlags returns the help of flags, under a heading for each group.
func groupedFlags(set *pflag.FlagSet) string {
	groups := map[string]*pflag.FlagSet{}
	set.VisitAll(func(f *pflag.Flag) {
		title := ""
		if list := f.Annotations[flags.Group]; len(list) > 0 {
			title = list[0]
		}
		if groups[title] == nil {
			groups[title] = pflag.NewFlagSet(title, pflag.ContinueOnError)
			groups[title].SortFlags = set.SortFlags
		}
		groups[title].AddFlag(f)
	})
	var b strings.Builder
	for _, title := range append([]string{""}, flagGroups...) {
		if groups[title] == nil {
			continue
		}
		if title != "" {
			fmt.Fprintf(&b, "\n%s:\n", title)
		}
		b.WriteString(groups[title].FlagUsages())
		delete(groups, title)
	}
	if len(groups) > 0 {
		panic(fmt.Sprintf("flagGroups has not all of %q", slices.Sorted(maps.Keys(groups))))
	}
	return strings.TrimRight(b.String(), "\n")
}
