package text

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Every name in Analyzers has a definition for the tests, an entry in doc.go, the right OfBytes,
// and a note in doc.go if it has no stop words.
func TestAnalyzersAreDefinedEverywhere(t *testing.T) {
	comment := passage(t, "doc.go", "// These are the analyzers:", "// For ")
	for _, name := range Analyzers() {
		an := analyzer(t, name)
		_, language := an.(*language)
		if !language && definitions[name] == nil {
			t.Errorf("%s: analyzer_test.go has no definition to compare it with", name)
		}
		word := regexp.MustCompile(`(^|[^\w-])` + name + `([^\w-]|$)`)
		if !word.MatchString(comment) {
			t.Errorf("%s: the table of doc.go does not have it", name)
		}
		// An analyzer of bytes splits text alike in Latin-1 and in UTF-8; one of Unicode does not.
		latin, utf8 := analyze(t, name, "x\xe9y"), analyze(t, name, "x\u00e9y")
		if ofBytes := len(latin) == len(utf8); OfBytes(name) != ofBytes {
			t.Errorf("%s: words %q in Latin-1 and %q in UTF-8, so OfBytes is %v, want %v", name, latin, utf8,
				OfBytes(name), ofBytes)
		}
		if _, err := ParseAnalyzer(name + "+stop"); err != nil && language && name != luceneEnglish {
			if !strings.Contains(comment, "no list for "+noStops) || !strings.Contains(noStops, name) {
				t.Errorf("%s: doc.go does not say that it has no stop words", name)
			}
		}
	}
}

const noStops = "irish, tamil and turkish"

// passage returns the part of a file between two strings, without line breaks and comment signs.
func passage(t *testing.T, file, from, to string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(content), from)
	part, _, ends := strings.Cut(rest, to)
	if !found || !ends {
		t.Fatalf("%s: has no passage from %q to %q", file, from, to)
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(part, "\n//", "\n")), " ")
}
