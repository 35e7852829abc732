package main

import (
	"io"
	"strings"
	"testing"
)

// The defaults of flags are those that the zero values of the options stand for in Go, where tests
// named TestZeroOptions compare them with the same numbers.
func TestDefaultsAreThoseOfOptions(t *testing.T) {
	root := newRoot(newApp(strings.NewReader(""), io.Discard, io.Discard))
	for verb, flags := range map[string]map[string]string{
		"search":               {"k": "10", "model": "bm25", "k1": "1.2", "b": "0.75", "mu": "1000"},
		"weigh":                {"analyzer": "unicode", "k1": "1.2", "b": "0.75"},
		"index":                {"analyzer": "unicode"},
		"index prune":          {"top": "10", "epsilon": "0.5"},
		"serve":                {"max-words": "256", "max-queries": "10000", "max-waiting": "512", "max-connections": "16384", "timeout": "10s"},
		"cooccur":              {"analyzer": "whitespace", "window": "15", "side": "both", "weighting": "distance", "subsample": "0"},
		"vocab":                {"analyzer": "whitespace", "min-count": "1", "max-size": "0", "ties": "glove"},
		"neighbours":           {"by": "logdice", "top": "10", "min-count": "0"},
		"collocations":         {"by": "logdice", "top": "20", "min-count": "5", "window": "5", "min-docs": "0", "analyzer": "unicode"},
		"concordance":          {"window": "10", "top": "50"},
		"keywords":             {"by": "lrc", "top": "20", "min-count": "5"},
		"ngrams":               {"length": "2-5", "min-count": "5", "min-docs": "0"},
		"embed":                {"dim": "100", "epochs": "25", "x-max": "100", "alpha": "0.75", "rate": "0.05", "smoothing": "0.75", "shift": "1", "eigen": "0.5", "power": "0"},
		"places curve":         {"max-distance": "0", "steps": "50"},
		"places co-occurrence": {"steps": "50"},
		"places enrichment":    {"rounds": "999"},
	} {
		cmd, _, err := root.Find(strings.Fields(verb))
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range flags {
			switch f := cmd.Flag(name); {
			case f == nil:
				t.Errorf("%s has no flag --%s", verb, name)
			case f.DefValue != want:
				t.Errorf("%s --%s is %q by default, want %q", verb, name, f.DefValue, want)
			}
		}
	}
}
