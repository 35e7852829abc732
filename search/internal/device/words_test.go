package device

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/text"
)

// Words with the same hash are stored next to each other while there is space, and none is confused
// with another.
func TestGPUWordsOfOneHash(t *testing.T) {
	long := []string{"as-long-as-no-key-can-be-1", "as-long-as-no-key-can-be-2"}
	s := buildLines(t, "whitespace", "a b c", "b c d e", "f g h c i "+long[0])
	g := &Index{s: s.e, words: newWordTable(), pack: &gpuStore{resident: &resident{tiles: 1}}}
	words := append(strings.Fields("a b c d e f g h unheard i"), long...)
	df := []uint32{1, 2, 3, 1, 1, 1, 1, 1, 0, 1, 1, 0}
	for round := range 3 {
		for i, w := range words {
			key := keyOf(w)
			if i >= len(words)-len(long) {
				key = wordKey{1, longKey << 56}
			}
			known := g.words.find(key, 7, w)
			if want := round > 0 && i < 2*tableProbes; (known != nil) != want {
				t.Errorf("round %d: %q is remembered: %v, want %v", round, w, known != nil, want)
			}
			got, err := g.lookUp(key, 7, w)
			if err != nil || got.word.Load().text != w || got.df != df[i] {
				t.Fatalf("%q: %+v, %v; want df %d", w, got, err, df[i])
			}
			// The word can be stored in another line as well.
			if got, err = g.lookUp(key, 1000, w); err != nil ||
				g.words.find(key, 1000, w) != got && i < 2*tableProbes ||
				got.word.Load().text != w {
				t.Fatalf("%q: %+v, %v", w, got, err)
			}
		}
	}
}

func keyOf(word string) wordKey {
	var t keyText
	t.set([]byte(word))
	return t.key(0, len(word))
}

// Short words have different keys, which do not depend on the text around them.
func TestGPUWordKeys(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	seen := map[wordKey]string{}
	var around keyText
	for range 20000 {
		text := make([]byte, 1+rng.IntN(40))
		for i := range text {
			text[i] = "ab\x00\xff"[rng.IntN(4)]
		}
		start := rng.IntN(len(text))
		end := start + rng.IntN(len(text)-start+1)
		word := string(text[start:end])
		around.set(text)
		key := around.key(start, end)
		if again := keyOf(word); again != key {
			t.Fatalf("%q: key %x, alone %x", word, key, again)
		}
		if old, ok := seen[key]; ok && old != word {
			t.Fatalf("%q and %q have the same key", word, old)
		}
		if len(word) > keyBytes != key.long() || len(word) != key.size() ||
			!key.long() && string(key.appendTo(nil)) != word {
			t.Fatalf("%q: key %x", word, key)
		}
		seen[key] = word
	}
}

// Short texts are split into the same words as by the general analyzer, and words that are stored
// only as keys are looked up by them.
func TestGPUAsksShortTexts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 11))
	for _, analyzer := range []string{"whitespace", "unicode", "ascii"} {
		s := buildLines(t, analyzer, "a b c", "b c it's", "as-long-as-no-key-can-be aslongasnokeycanbe")
		g := &Index{s: s.e, words: newWordTable(), pack: &gpuStore{resident: &resident{tiles: 1}}}
		g.short, _ = s.e.Analyzer.(text.ShortAnalyzer)
		requests := make([]ringRequest, spreadBy)
		short, long := &resolver{}, &resolver{}
		for range 300 {
			for i := range requests {
				text := make([]byte, rng.IntN(70))
				alphabet := []string{"abc     ", "aB' ", "aslongno-", "a b \xc3\xa9_"}[rng.IntN(4)]
				for j := range text {
					text[j] = alphabet[rng.IntN(len(alphabet))]
				}
				requests[i].text = string(text)
				if rng.IntN(8) == 0 {
					requests[i].text = []string{"it's a b a", "as-long-as-no-key-can-be b",
						"aslongasnokeycanbe C", "unheard"}[rng.IntN(4)]
				}
			}
			got, want := make([]resolvedRequest, spreadBy), make([]resolvedRequest, spreadBy)
			short.terms, long.terms = nil, nil
			short.resolveAll(g, requests, got)
			keep := g.short
			g.short = nil
			long.resolveAll(g, requests, want)
			g.short = keep
			if !slices.Equal(short.counts, long.counts) || len(short.words) != len(long.words) {
				t.Fatalf("%s: %d words, want %d", analyzer, len(short.words), len(long.words))
			}
			for i, w := range short.words {
				l := long.words[i]
				if w.key != l.key || w.hash != l.hash ||
					w.key.long() && !bytes.Equal(short.bytes[w.at:w.at+w.key.size()],
						long.bytes[l.at:l.at+l.key.size()]) {
					t.Fatalf("%s: word %d is %+v, want %+v", analyzer, i, w, l)
				}
			}
			for i := range got {
				if !slices.Equal(got[i].terms(), want[i].terms()) ||
					got[i].postings != want[i].postings || got[i].general != want[i].general {
					t.Fatalf("%s: %q: %+v, want %+v", analyzer, requests[i].text, got[i], want[i])
				}
				for _, e := range got[i].terms() {
					if w := e.word.Load(); w.info.DF == 0 ||
						!strings.Contains(requests[i].text, w.text) && analyzer == "whitespace" {
						t.Fatalf("%q: word %q", requests[i].text, w.text)
					}
				}
			}
		}
	}
}

// A full table is replaced by an empty one.
func TestGPUWordTableFull(t *testing.T) {
	table := newWordTable()
	kept := 0
	for i := range tableWords + 10 {
		w := fmt.Sprint(i)
		key := keyOf(w)
		table.add(key, key.hash(), &gpuWord{text: w})
	}
	for i := range tableWords + 10 {
		w := fmt.Sprint(i)
		key := keyOf(w)
		if e := table.find(key, key.hash(), w); e != nil {
			if kept++; e.word.Load().text != w {
				t.Fatalf("%q was found for %q", e.word.Load().text, w)
			}
		}
	}
	if kept == 0 || kept > tableWords/2 {
		t.Errorf("%d of %d words were kept, want 1 to %d", kept, tableWords+10, tableWords/2)
	}
}
