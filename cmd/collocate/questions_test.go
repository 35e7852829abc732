package main

import (
	"io"
	"strings"
	"testing"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/api/flags"
)

// A question that the command can ask is a verb, with a declared flag for each of its parameters;
// one that a GPU can answer takes --engine gpu.
func TestQuestionsAreVerbs(t *testing.T) {
	root := newRoot(newApp(strings.NewReader(""), io.Discard, io.Discard))
	for _, q := range api.Questions() {
		if q.Without(api.Command) != "" {
			continue
		}
		name := q.In(api.Command)
		cmd, _, err := root.Find(strings.Fields(name))
		if err != nil || cmd.CommandPath() != "collocate "+name {
			t.Errorf("there is no verb %s (error %v): want a file in cmd/collocate and a line in verbs.go", name, err)
			continue
		}
		for _, p := range q.At(api.Command) {
			if p.Flag == "" {
				continue
			}
			f := cmd.Flags().Lookup(p.Flag)
			if f == nil || flags.Param(f) == nil {
				t.Errorf("%s: --%s is not made from the declaration", name, p.Flag)
			} else if f.DefValue != p.Default && p.Default != "" {
				t.Errorf("%s: --%s is %s by default, want %s", name, p.Flag, f.DefValue, p.Default)
			}
			for _, older := range p.Also {
				if cmd.Flags().Lookup(strings.ReplaceAll(older, "_", "-")) != f {
					t.Errorf("%s: --%s is not --%s", name, older, p.Flag)
				}
			}
		}
		if gpu := q.Without(api.GPU) == ""; gpu != (cmd.Annotations[gpuAnnotation] != "") {
			t.Errorf("%s takes --engine gpu: %v, want %v", name, !gpu, gpu)
		}
	}
}
