package text

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// The beginnings of files are recognised as these expressions say, without package regexp.
func TestAnnotationsAsExpressions(t *testing.T) {
	for _, c := range []struct {
		is   func([]byte) bool
		want *regexp.Regexp
		of   []string // pieces of texts
	}{
		{isStructureTag, regexp.MustCompile(`^</?(text|s|p|sp|doc|sentence|corpus|body|div|head|file)(\s[^<>]*)?/?>$`),
			[]string{"<", "/", ">", "s", "p", "doc", "text", " ", "\t", "id=1", "x", "<doc", "/>"}},
		// A comment ends at the first -->.
		{isHTML, regexp.MustCompile(`(?i)^\s*(<\?xml[^>]*>\s*)?(<!--[a-z <>]*-->\s*)*<(!doctype\s+html|html)\b`),
			[]string{" ", "\n", "<?xml", ">", "<!-- a <b> -->", "<!doctype", "<!DOCTYPE", "html", "HTML", "<html", "<Html>", "5", "_"}},
		{isXML, regexp.MustCompile(`^\s*<(\?xml|TEI)\b`),
			[]string{" ", "\n", "<?xml", ">", "<TEI", ".2", "x", " version"}},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		found := 0
		for range 20000 {
			var b strings.Builder
			for range rng.IntN(7) {
				b.WriteString(c.of[rng.IntN(len(c.of))])
			}
			text := b.String()
			want := c.want.MatchString(text)
			if want {
				found++
			}
			if got := c.is([]byte(text)); got != want {
				t.Fatalf("%q: %v, want %v by %v", text, got, want, c.want)
			}
		}
		if found < 20 {
			t.Errorf("only %d texts match %v", found, c.want)
		}
	}
}
