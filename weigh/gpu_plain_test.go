package weigh

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/text"
)

// plainAgrees compares the output of appendPlain with the words that the analyzer finds. It reports
// whether appendPlain handles the document.
func plainAgrees(t *testing.T, doc []byte) (ok bool) {
	t.Helper()
	var tok text.Tokens
	if err := plainAnalyzer.Analyze(doc, &tok); err != nil {
		t.Fatal(err)
	}
	want := append([]byte("before\n"), bytes.Join(wordList(&tok), []byte(" "))...)
	want = append(want, '\n')
	given := bytes.Clone(doc)
	got, n, ok := appendPlain([]byte("before\n"), doc)
	if !ok {
		want, n = []byte("before\n"), len(tok.Words)
	}
	if !bytes.Equal(got, want) || n != len(tok.Words) {
		t.Fatalf("%q: %d words, %q; want %d, %q", doc, n, got, len(tok.Words), want)
	}
	if !bytes.Equal(doc, given) {
		t.Fatalf("appendPlain changed the document %q to %q", given, doc)
	}
	return ok
}

func wordList(tok *text.Tokens) (list [][]byte) {
	for i := range tok.Words {
		list = append(list, tok.Word(i))
	}
	return list
}

func TestPlainDocumentsHaveTheAnalyzersWords(t *testing.T) {
	for doc, plain := range map[string]bool{
		"":                                      false,
		" ":                                     false,
		"a":                                     true,
		"a\n":                                   true,
		"a ":                                    true,
		"a  ":                                   false,
		" a":                                    false,
		"a b\nc":                                true,
		"a\tb":                                  false,
		"a\rb":                                  false,
		"a\x00b":                                false,
		"a\x7fb \x80\x8a\xa0\xff\n\xe2\x80\xa8": true,
		"a\n\nb":                                false,
		"1234567 89":                            true,
		"1234567  89":                           false,
		strings.Repeat("a", 998):                false, // refused, though the analyzer would not cut it
		strings.Repeat("a", 200) + " b":         true,
		strings.Repeat("a", 999) + " b":         false,
		strings.Repeat("word ", 1000):           true,
	} {
		if ok := plainAgrees(t, []byte(doc)); ok != plain {
			t.Errorf("%.40q: handled %v, want %v", doc, ok, plain)
		}
	}
	rng := rand.New(rand.NewPCG(91, 92))
	plain := 0
	for range trials.Of(20_000) {
		doc := make([]byte, rng.IntN(3000))
		letters := "aaaa\x80é"
		if rng.IntN(2) == 0 {
			letters = "\t\r\v\x00\x1f\x7f!"
		}
		long := rng.IntN(100) == 0
		for i := range doc {
			doc[i] = 'x'
			switch {
			case rng.IntN(500) == 0:
				doc[i] = letters[rng.IntN(len(letters))]
			case rng.IntN(6) == 0 && !long && (i > 0 && doc[i-1] > ' ' || rng.IntN(2000) == 0):
				doc[i] = " \n"[rng.IntN(2)]
			}
		}
		if plainAgrees(t, doc) {
			plain++
		}
	}
	if plain < trials.Of(3000) || plain > trials.Of(17_000) {
		t.Errorf("%d of %d documents were plain, want 15%% to 85%%", plain, trials.Of(20_000))
	}
}

func BenchmarkPlain(b *testing.B) {
	doc := []byte(strings.Repeat("these are the words of a\n", 200))
	var dst []byte
	b.Run("plain", func(b *testing.B) {
		b.SetBytes(int64(len(doc)))
		for b.Loop() {
			dst, _, _ = appendPlain(dst[:0], doc)
		}
	})
	b.Run("words", func(b *testing.B) {
		b.SetBytes(int64(len(doc)))
		var tok text.Tokens
		for b.Loop() {
			if err := plainAnalyzer.Analyze(doc, &tok); err != nil {
				b.Fatal(err)
			}
			dst = appendWords(dst[:0], &tok)
		}
	})
}
