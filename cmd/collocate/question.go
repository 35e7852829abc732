package main

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/vectors"
)

// withQuestions adds a verb for each question about words that has none of its own.
func withQuestions(own []verb) []verb {
	for _, q := range api.AboutWords(api.Command) {
		name := q.In(api.Command)
		if !slices.ContainsFunc(own, func(v verb) bool { return v.name == name }) {
			own = append(own, verb{name, func(a *app) *cobra.Command { return newQuestionCmd(a, q) }})
		}
	}
	return own
}

// newQuestionCmd makes the verb of a question from its declaration: its flags, and the list in its
// answer as a table.
func newQuestionCmd(a *app, q *api.Question) *cobra.Command {
	ask, out := q.New(api.Command), ""
	of := map[api.Source][2]string{api.OfText: {"CORPUS...|INDEX", "corpus.txt"}, api.OfIndex: {"INDEX", "my.index"},
		api.OfMatrix: {"MATRIX", "corpus.cooc"}, api.OfVectors: {"VECTORS", "corpus.vec"}}[q.Of]
	name, help := q.In(api.Command), strings.ToUpper(q.Help[:1])+q.Help[1:]
	cmd := &cobra.Command{
		Use: name + " " + of[0], Short: help, Long: help + ".", GroupID: groupWords,
		Example: "  collocate " + name + " " + of[1], Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.checkTableFile(out); err != nil {
				return err
			}
			env, done, err := a.asked(cmd, q, ask, args, out)
			if err != nil {
				return err
			}
			defer done()
			return a.answer(cmd.Context(), q, ask, env, out)
		},
	}
	if q.Without(api.GPU) == "" {
		cmd.Annotations = hasGPU
	}
	addFlags(cmd, q, ask)
	for _, p := range q.At(api.Command) {
		if p.Needed {
			must(cmd.MarkFlagRequired(p.Flag))
			cmd.Example += " --" + p.Flag + " whale"
		}
	}
	a.tableFlags(cmd, &out, "also write")
	return cmd
}

// asked opens what a question is asked of.
func (a *app) asked(cmd *cobra.Command, q *api.Question, ask any, args []string, out string) (
	env *api.Env, done func(), err error) {
	if q.Of == api.OfText {
		return a.wordsIn(cmd, api.ReadingOf(ask), args, out)
	}
	if len(args) > 1 {
		return nil, nil, usagef("%s: want one file or folder", strings.Join(args, " "))
	}
	env = a.env()
	switch q.Of {
	case api.OfMatrix:
		if env.Matrix, err = cooccur.Open(args[0]); err != nil {
			return nil, nil, wanting(err, "a .cooc file that 'collocate cooccur' wrote")
		}
		return env, func() { env.Matrix.Close() }, nil
	case api.OfVectors:
		env.Vectors, err = vectors.Open(args[0])
		return env, func() { env.Vectors.Close() }, err
	}
	if env.Searcher, err = search.Open(args[0]); err == nil {
		env.Analyzer = env.Searcher.Analyzer()
	}
	return env, func() { env.Searcher.Close() }, err
}

// answer asks a question and prints the answer.
func (a *app) answer(ctx context.Context, q *api.Question, ask any, env *api.Env, out string) error {
	answer, err := q.Ask(ctx, env, ask)
	if err != nil {
		return asFlags(q, err)
	}
	table, err := tableOf(answer)
	if err != nil {
		return err
	}
	defer table.close()
	if err := table.writeFile(a, out); err != nil {
		return err
	}
	return a.printTable(table, answer)
}

// tableOf returns the first list of structs of an answer, with a column for each of their fields
// that is a number or a text.
func tableOf(answer any) (*resultTable, error) {
	v := reflect.Indirect(reflect.ValueOf(answer))
	for i := range v.NumField() {
		list := v.Field(i)
		if list.Kind() != reflect.Slice || list.Type().Elem().Kind() != reflect.Struct {
			continue
		}
		t := &resultTable{}
		columns := columnsOf(list.Type().Elem())
		for _, f := range columns {
			t.names = append(t.names, f.Name)
		}
		for k := range list.Len() {
			var row []any
			for _, f := range columns {
				switch v := list.Index(k).FieldByIndex(f.Index); {
				case v.CanInt():
					row = append(row, int(v.Int()))
				case v.CanUint():
					row = append(row, v.Uint())
				case v.CanFloat():
					row = append(row, v.Float())
				default:
					row = append(row, v.String())
				}
			}
			if err := t.add(row...); err != nil {
				return nil, err
			}
		}
		return t, nil
	}
	return nil, fmt.Errorf("%T has no list: want --json", answer)
}

// columnsOf returns the fields of a struct that are numbers or texts, by their names in JSON.
func columnsOf(t reflect.Type) (list []reflect.StructField) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch kind := f.Type.Kind(); {
		case f.Anonymous && name == "":
			for _, inner := range columnsOf(f.Type) {
				inner.Index = append([]int{i}, inner.Index...)
				list = append(list, inner)
			}
		case name != "-" && (kind == reflect.String || kind >= reflect.Int && kind <= reflect.Float64):
			f.Name = name
			list = append(list, f)
		}
	}
	return list
}
