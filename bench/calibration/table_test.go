package main

import (
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

// docs/places.md quotes the results, and these hold the level that it promises: at most 7%, or what
// two standard errors of fewer simulations allow.
func TestTheGuideQuotesTheResults(t *testing.T) {
	data, err := os.ReadFile("results.tsv")
	if err != nil {
		t.Fatal(err)
	}
	text, err := tables(string(data))
	if err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile("../../docs/places.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range strings.Split(text, "\n\n") {
		if !strings.Contains(string(guide), strings.TrimSpace(table)) {
			t.Errorf("docs/places.md does not have this table of results.tsv:\n%s", table)
		}
	}
	list, err := parse(string(data))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		for _, share := range []string{r.places, r.curve} {
			v, err := strconv.ParseFloat(share, 64)
			if err != nil {
				t.Fatal(err)
			}
			n, err := strconv.ParseFloat(r.simulations, 64)
			if err != nil {
				t.Fatal(err)
			}
			most := 7.0
			if n < 1000 {
				most += 200 * math.Sqrt(0.05*0.95/(3*n)) // three pairs each
			}
			if r.planted == "0" && v > most {
				t.Errorf("%s, %s, %s: %v%%, want at most %.1f%%", r.process, r.area, r.window, v, most)
			}
		}
	}
}
