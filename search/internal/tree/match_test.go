package tree

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/searchtest"
	"github.com/collocate/collocate/search/query"
)

// placesIn returns the positions of each word of a phrase in a document, whose words are letters.
func placesIn(doc, phrase string) (places [][]uint32) {
	for i := range phrase {
		list := []uint32{}
		for p := range doc {
			if doc[p] == phrase[i] {
				list = append(list, uint32(p))
			}
		}
		places = append(places, list)
	}
	return places
}

func termsOf(phrase string) (terms []model.Term) {
	for i := range phrase {
		terms = append(terms, model.Term{Text: phrase[i : i+1]})
	}
	return terms
}

// defined is the definition of matcher.count: of all choices of distinct positions that fit, the
// one that ends first counts, then the one that ends first among those after it, and so on.
func defined(m *matcher, places [][]uint32) (n uint32) {
	fits := func(chosen []int) bool {
		least, most := 1<<30, -1<<30
		for i, p := range chosen {
			if slices.Contains(chosen[:i], p) || m.ordered && i > 0 && p < chosen[i-1] {
				return false
			}
			moved := p - int(m.want(i))
			least, most = min(least, moved), max(most, moved)
		}
		return most-least <= m.slop
	}
	var all [][]int
	var choose func(chosen []int)
	choose = func(chosen []int) {
		if len(chosen) == len(places) {
			if fits(chosen) {
				all = append(all, slices.Clone(chosen))
			}
			return
		}
		for _, p := range places[len(chosen)] {
			choose(append(chosen, int(p)))
		}
	}
	choose(nil)
	for after := -1; ; n++ {
		end := -1
		for _, chosen := range all {
			if slices.Min(chosen) > after && (end < 0 || slices.Max(chosen) < end) {
				end = slices.Max(chosen)
			}
		}
		if end < 0 {
			return n
		}
		after = end
	}
}

// Phrases with a slop, NEAR and BEFORE occur as often as their definition says, also if words are
// repeated, at every slop.
func TestMatchesAsDefined(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	s := &sweep{steps: steps{ctx: t.Context()}}
	for range trials.Of(2_000) {
		letters := 1 + rng.IntN(4)
		text := func(n int) string {
			b := make([]byte, n)
			for i := range b {
				b[i] = 'a' + byte(rng.IntN(letters))
			}
			return string(b)
		}
		doc, phrase := text(rng.IntN(13)), text(2+rng.IntN(4))
		if letters == 1 {
			doc = doc[:min(len(doc), 7)]
		}
		for slop := range 8 {
			for _, m := range []matcher{{places: true, slop: slop}, {near: true, slop: slop},
				{near: true, ordered: true, slop: slop}} {
				m.prepare(termsOf(phrase))
				places := placesIn(doc, phrase)
				if got, want := m.count(places, s), defined(&m, places); got != want {
					t.Fatalf("%q in %q, %+v: %d matches, want %d", phrase, doc, m, got, want)
				}
			}
		}
	}
}

// Long phrases of repeated words in long documents take a bounded number of steps: at most one for
// each word of the phrase and each word of the document, and far fewer if the phrase occurs.
func TestStepsOfLongPhrases(t *testing.T) {
	const length = 80_000
	docs := map[string]func(p int) byte{
		"one word": func(int) byte { return 'a' },
		"a rare word at the end": func(p int) byte {
			if p == length-1 {
				return 'b'
			}
			return 'a'
		},
		"a word in eight":   func(p int) byte { return 'a' + byte(min(1, p%8)) },
		"two halves":        func(p int) byte { return 'a' + byte(p/(length/2)) },
		"growing distances": func(p int) byte { return 'a' + byte((p/(1+p/1000))%2) },
		"rare words of both": func(p int) byte {
			switch p % 1001 {
			case 0:
				return 'a'
			case 500:
				return 'b'
			}
			return 'c'
		},
	}
	for name, letter := range docs {
		b := make([]byte, length)
		for p := range b {
			b[p] = letter(p)
		}
		doc := string(b)
		for _, n := range []int{2, 32, 240} {
			for _, phrase := range []string{strings.Repeat("a", n), strings.Repeat("ab", n/2),
				strings.Repeat("a", n-1) + "b"} {
				lists := placesIn(doc, phrase[:1]+phrase[len(phrase)-1:])
				places := make([][]uint32, n)
				for i := range places {
					if places[i] = lists[1]; phrase[i] == phrase[0] {
						places[i] = lists[0]
					}
				}
				for _, slop := range []int{1, 10, 1000, 1_000_000} {
					for _, m := range []matcher{{places: true, slop: slop}, {near: true, slop: slop},
						{near: true, ordered: true, slop: slop}} {
						m.prepare(termsOf(phrase))
						s := &sweep{steps: steps{ctx: t.Context()}}
						found := m.count(places, s)
						if most := int64(n) * (length + int64(n) + 2); s.all > most {
							t.Errorf("%s, %d words, %+v: %d steps for %d matches, want at most %d", name, n, m,
								s.all, found, most)
						}
						if slop == 1_000_000 && s.all > 4*length+4*int64(n) {
							t.Errorf("%s, %d words, %+v: %d steps for %d matches, though any distance will do",
								name, n, m, s.all, found)
						}
					}
				}
			}
		}
	}
}

// impatient is a context that ends after some looks at it.
type impatient struct {
	context.Context
	left int
}

func (c *impatient) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func (c *impatient) Deadline() (time.Time, bool) { return time.Time{}, false }

// A search that is given up ends in the middle of a document, whatever the phrase and the way in
// which it is evaluated.
func TestPhrasesEndWithTheContext(t *testing.T) {
	words := make([]string, 60_000)
	for i := range words {
		words[i] = []string{"a", "b"}[(i/(1+i/1000))%2]
	}
	e, err := eval.NewEngine(searchtest.IndexWithPositions(t, "whitespace", strings.Join(words, " "), "a b", "a", "c",
		strings.Repeat("d ", 60_000)))
	if err != nil {
		t.Fatal(err)
	}
	phrase := strings.TrimSpace(strings.Repeat("a b ", 40))
	for _, q := range []query.Node{
		query.Phrase{Text: phrase, Slop: 3}, query.Phrase{Text: phrase},
		query.Near{Words: strings.Fields(phrase), Within: 90},
		query.Near{Words: strings.Fields(phrase), Within: 90, Ordered: true},
		query.Phrase{Text: strings.Repeat("d ", 100)},
	} {
		for _, tree := range []query.Node{q, query.Or{Parts: []query.Node{q, query.Term{Text: "c"}}},
			query.And{Parts: []query.Node{q, query.Term{Text: "a"}}},
			query.Or{Parts: []query.Node{query.Term{Text: "c"}, query.Not{Part: q}}},
			query.And{Parts: []query.Node{query.Term{Text: "a"}, query.Not{Part: q}}}} {
			for name, call := range map[string]func(context.Context) error{
				"search": func(ctx context.Context) error {
					_, err := Search(ctx, Of(e), &ask.Request{Query: tree})
					return err
				},
				"count": func(ctx context.Context) error {
					_, err := Count(ctx, Of(e), &ask.Request{Query: tree})
					return err
				},
				"explain": func(ctx context.Context) error {
					_, err := Explain(ctx, Of(e), &ask.Request{Query: tree}, []uint32{0})
					return err
				},
			} {
				whole := &impatient{t.Context(), 1 << 30}
				if err := call(whole); err != nil {
					t.Fatal(tree, err)
				}
				looks := 1<<30 - whole.left
				for left := range looks {
					ctx := &impatient{t.Context(), left}
					if err := call(ctx); !errors.Is(err, context.Canceled) {
						t.Errorf("%s, %.40v: given up at look %d of %d: %v", name, tree, left+1, looks, err)
					}
					if ctx.left < -8 {
						t.Errorf("%s, %.40v: %d looks after it was given up", name, tree, -ctx.left)
					}
				}
			}
		}
	}
}
