package query

import (
	"strings"
	"testing"
)

// Notes are made of a * in a phrase, and of what looks like a field if there are none.
func TestNotes(t *testing.T) {
	for text, want := range map[string]int{
		`"solar ecl*"`: 1, `+"ecl* x" -"y*"`: 1, `ecl*`: 0, `"solar eclipse" ecl*`: 0, `"a" * "b"`: 0,
		``: 0, `"open*`: 0,
		`title:sun`: 1, `a +(year:[1 TO 2])`: 1, `id:a`: 0, `id:a title:b`: 1, `"see note:this"`: 0,
		`http://x.org`: 0, `note: this`: 0, `12:30`: 0, `title:sun "a*"`: 2,
	} {
		if got := Notes(text, Options{}); len(got) != want {
			t.Errorf("%s: %q", text, got)
		}
	}
	if got := Notes(strings.Repeat("x", 300)+":sun", Options{}); len(got) != 1 || len(got[0]) > 150 {
		t.Errorf("a long name is quoted whole: %q", got)
	}
	if got := Notes("title:sun", Options{Fields: []string{"title"}}); got != nil {
		t.Errorf("an index with fields: %q", got)
	}
}

// The parts of a filter must all match, whatever the mode of the query, unless it says OR.
func TestFilter(t *testing.T) {
	o := Options{Fields: []string{"lang", "year"}}
	for text, want := range map[string]string{
		"lang:en year:2020":    "#(lang:en AND year:2020)",
		"lang:en OR lang:de":   "#(lang:en lang:de)",
		"lang:en year:1 OR a":  "#(lang:en AND (year:1 a))",
		"+lang:en -year:2020":  "#(lang:en AND -year:2020)",
		"-lang:en":             "#(-lang:en)",
		"#lang:en":             "#(#lang:en)",
		"lang:(en de)":         "#lang:(en AND de)",
		"lang:en AND year:>=1": "#(lang:en AND year:[1 TO *])",
	} {
		for _, o.And = range []bool{false, true} {
			n, err := ParseFilter(text, o)
			if err != nil || n.String() != want {
				t.Errorf("%s: %v, %v, want %s", text, n, err, want)
			}
		}
	}
	if n, err := ParseFilter("  ", o); n != nil || err != nil {
		t.Errorf("an empty filter: %v, %v", n, err)
	}
	if q := Within(Words("a b", false), nil); q.String() != `a\ b` {
		t.Errorf("no filter: %v", q)
	}
	_, err := ParseFilter("a lang:en", Options{})
	if err == nil || !strings.Contains(err.Error(), "column 3: lang: the index has no fields") {
		t.Errorf("a field without fields: %v", err)
	}
	if n, err := ParseFilter(`a "lang:en" id:x`, Options{}); err != nil {
		t.Errorf("no fields: %v, %v", n, err)
	}
}
