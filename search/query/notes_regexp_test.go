package query

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// What looks like a field, and what is in quotes, is what these expressions say, without package
// regexp.
func TestNotesAsExpressions(t *testing.T) {
	phrases := regexp.MustCompile(`"[^"]*"`)
	fieldLike := regexp.MustCompile(`(?:^|[\s(+#!-])([A-Za-z][\w.-]*):["\[({\w<>*]`)
	pieces := []string{`"`, "*", ":", " ", "(", "+", "-", ".", "year", "id", "5", "_", "a", "[", "é"}
	rng := rand.New(rand.NewPCG(1, 2))
	named := 0
	for range 50000 {
		var b strings.Builder
		for range rng.IntN(9) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		text := b.String()
		if want := strings.Contains(strings.Join(phrases.FindAllString(text, -1), ""), "*"); want !=
			strings.Contains(insideQuotes(text), "*") {
			t.Fatalf("%q: * in quotes: want %v", text, want)
		}
		name := ""
		if m := fieldLike.FindStringSubmatch(phrases.ReplaceAllString(text, `""`)); m != nil {
			name = m[1]
		}
		if name == "id" {
			continue // others may follow
		}
		if name != "" {
			named++
		}
		if got := fieldWithout(text, Options{}); got != name {
			t.Fatalf("%q: field %q, want %q", text, got, name)
		}
	}
	if named < 300 {
		t.Errorf("only %d texts have a field", named)
	}
}
