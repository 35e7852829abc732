package search

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// Phrases and Nears are marked where a definition that tries all positions finds them: a phrase as
// a whole, and words of others one by one.
func TestPhrasesAreMarkedAsPhrases(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 7))
	letters := func(n int) []string {
		list := make([]string, n)
		for i := range list {
			list[i] = string(rune('a' + rng.IntN(4)))
		}
		return list
	}
	var lines []string
	for range 30 {
		lines = append(lines, strings.Join(letters(1+rng.IntN(12)), " "))
	}
	s := newWithPositions(t, "whitespace", append(lines, "a b c d")...)
	for range trials.Cases(3000) {
		words := letters(1 + rng.IntN(3))
		var node query.Node
		var fits func(at []int) bool
		slop, exact := rng.IntN(3), false
		switch rng.IntN(3) {
		case 0:
			node = query.Phrase{Text: strings.Join(words, " "), Slop: slop}
			exact = slop == 0
			fits = func(at []int) bool {
				moved := slices.Clone(at)
				for i := range moved {
					moved[i] -= i
				}
				return slices.Max(moved)-slices.Min(moved) <= slop
			}
		case 1:
			slop++
			node = query.Near{Words: words, Within: slop}
			fits = func(at []int) bool { return slices.Max(at)-slices.Min(at) <= slop }
		default:
			slop++
			node = query.Near{Words: words, Within: slop, Ordered: true}
			fits = func(at []int) bool { return slices.IsSorted(at) && at[len(at)-1]-at[0] <= slop }
		}
		doc := rng.IntN(len(lines))
		sn, err := s.Snippet(t.Context(), Request{Query: node}, uint32(doc), 1000)
		if err != nil {
			t.Fatal(err)
		}
		if want := marksByDefinition(lines[doc], words, exact, fits); sn.Text != lines[doc] || !slices.Equal(sn.Marks, want) {
			t.Errorf("%v in %q: %q, marks %v, want %v", node, lines[doc], sn.Marked("[", "]"), sn.Marks, want)
		}
	}
}

// marksByDefinition tries all positions of words in a line of letters with blanks between them.
func marksByDefinition(line string, words []string, exact bool, fits func(at []int) bool) (marks []text.Span) {
	in := strings.Fields(line)
	marked := make([]bool, len(line)+1)
	var place func(at []int)
	place = func(at []int) {
		switch {
		case len(at) < len(words):
			for i, w := range in {
				if w == words[len(at)] && !slices.Contains(at, i) {
					place(append(slices.Clone(at), i))
				}
			}
		case !fits(at):
		case exact:
			for i := 2 * at[0]; i <= 2*at[len(at)-1]; i++ {
				marked[i] = true
			}
		default:
			for _, i := range at {
				marked[2*i] = true
			}
		}
	}
	place(nil)
	for i, m := range marked {
		if m && (i == 0 || !marked[i-1]) {
			marks = append(marks, text.Span{Start: uint32(i), End: uint32(i + 1)})
		} else if m {
			marks[len(marks)-1].End++
		}
	}
	return marks
}

// A phrase that no document has marks nothing, and its words are marked if the query has them too.
func TestWordsOfPhrases(t *testing.T) {
	s := newWithPositions(t, "english", "Solar power. A solar  eclipse of the sun, and solar eclipses.", "zebra")
	for q, want := range map[string]string{
		`"solar eclipse"`:            "Solar power. A [solar eclipse] of the sun, and [solar eclipses].",
		`"solar eclipse" solar`:      "[Solar] power. A [solar eclipse] of the sun, and [solar eclipses].",
		`"solar zebra" power`:        "Solar [power]. A solar eclipse of the sun, and solar eclipses.",
		`"solar unknown" power`:      "Solar [power]. A solar eclipse of the sun, and solar eclipses.",
		`"eclipse sun"~2`:            "Solar power. A solar [eclipse] of the [sun], and solar eclipses.",
		`"eclips* sun" -"solar sun"`: "Solar power. A solar eclipse of the sun, and solar eclipses.",
		`power -"solar eclipse"`:     "Solar [power]. A solar eclipse of the sun, and solar eclipses.",
	} {
		node, err := query.Parse(q, query.Options{})
		if err != nil {
			t.Fatal(err)
		}
		sn, err := s.Snippet(t.Context(), Request{Query: node}, 0, 200)
		if err != nil {
			t.Fatal(err)
		}
		if got := sn.Marked("[", "]"); got != want {
			t.Errorf("%s: %q, want %q", q, got, want)
		}
	}
	if got := fmt.Sprint(s.Highlights(t.Context(), Request{Text: "solar"}, []uint32{0}, "title", 10)); !strings.Contains(got, `unknown text field "title"`) {
		t.Errorf("highlights in an index without fields: %s", got)
	}
}
