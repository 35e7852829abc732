package main

import (
	"maps"
	"os"
	"strconv"
	"strings"
	"testing"
)

// level is the largest share of pairs, in percent, that a test may find where there is no
// dependence. beyond has the shares that are above it, each by at most a tenth; docs/places.md
// names them.
const level = 7.0

var beyond = map[string]float64{"clustered L estimated curve": 7.5}

// docs/places.md quotes the results, and these hold the level that it promises.
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
	found := make(map[string]float64)
	for _, r := range list {
		for test, share := range map[string]string{"places": r.places, "curve": r.curve} {
			v, err := strconv.ParseFloat(share, 64)
			if err != nil {
				t.Fatal(err)
			}
			if r.planted == "0" && v > level {
				found[strings.Join([]string{r.process, r.area, r.window, test}, " ")] = v
			}
			if r.planted == "0" && v > level*1.1 {
				t.Errorf("%s, %s, %s, %s: %v%%, want at most %v%%", r.process, r.area, r.window, test, v, level*1.1)
			}
		}
	}
	if !maps.Equal(found, beyond) {
		t.Errorf("above %v%% are %v, want %v", level, found, beyond)
	}
}
