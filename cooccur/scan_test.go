package cooccur

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/text"
)

// scanned returns the words of a document by the fast scanner.
func scanned(t testing.TB, doc []byte) (words []string) {
	t.Helper()
	if err := newScanner(nil).scan(&text.Document{Text: doc}, appendWords(&words)); err != nil {
		t.Fatal(err)
	}
	return words
}

func appendWords(words *[]string) emit {
	return func(keys []wordKey, buf []byte) error {
		if len(keys) > maxPieceWords {
			return fmt.Errorf("%d words at once, want at most %d", len(keys), maxPieceWords)
		}
		for _, k := range keys {
			var word [inlineMax + 1]byte
			*words = append(*words, string(k.bytes(&word, buf)))
		}
		return nil
	}
}

// analyzed returns the words of a document by the whitespace analyzer.
func analyzed(t testing.TB, doc []byte) (words []string) {
	t.Helper()
	var tokens text.Tokens
	if err := analyzerOf(nil).Analyze(doc, &tokens); err != nil {
		t.Fatal(err)
	}
	for i := range tokens.Words {
		words = append(words, string(tokens.Word(i)))
	}
	return words
}

var scanCases = []string{
	"", " ", "a", "a b", "\t a\n\nb ", "a\rb\r\n c", "\r", "x\x00y \x01 \x1f\x0c z\vz",
	"fifteen-bytes-- sixteen-bytes--- seventeen-bytes-",
	strings.Repeat("ab ", 5000),
	strings.Repeat("é", 3000),
	strings.Repeat("x", 998) + "é and",
	strings.Repeat("x", 997) + "é", strings.Repeat("x", 997) + "€", strings.Repeat("x", 996) + "😀",
	strings.Repeat("x", 998) + "€", strings.Repeat("x", 999), strings.Repeat("x", 1000),
	strings.Repeat("word ", 819) + strings.Repeat("y", 70) + " end",
}

// The fast scanner gives the words of the whitespace analyzer.
func TestScannerIsTheWhitespaceAnalyzer(t *testing.T) {
	for _, doc := range scanCases {
		if got, want := scanned(t, []byte(doc)), analyzed(t, []byte(doc)); !slices.Equal(got, want) {
			t.Errorf("%.40q...: %d words %.80q, want %d %.80q", doc, len(got), got, len(want), want)
		}
	}
}

// Documents scanned together give the same words as one by one, whichever of them share a piece of
// text.
func TestScannerSharesPieces(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 / trials.Every(5) {
		var docs []text.Document
		var want []string
		for range rng.IntN(12) {
			doc := []byte(scanCases[rng.IntN(len(scanCases))])
			if rng.IntN(3) == 0 {
				doc = bytes.Repeat([]byte("some words\t"), rng.IntN(2*pieceSize/10))
			}
			docs = append(docs, text.Document{Text: doc})
			want = append(want, scanned(t, doc)...)
		}
		var got []string
		if err := newScanner(nil).scanAll(docs, appendWords(&got)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%d documents: %d words %.80q, want %d %.80q", len(docs), len(got), got, len(want), want)
		}
	}
}

func FuzzScanner(f *testing.F) {
	for _, doc := range scanCases {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if got, want := scanned(t, doc), analyzed(t, doc); !slices.Equal(got, want) {
			t.Errorf("%q\n got %q\nwant %q", doc, got, want)
		}
		// Repeated, so that it is divided into pieces.
		long := bytes.Repeat(append(bytes.Clone(doc), ' '), 1+2*pieceSize/(len(doc)+1))
		if got, want := scanned(t, long), analyzed(t, long); !slices.Equal(got, want) {
			t.Errorf("%q repeated: %d words, want %d", doc, len(got), len(want))
		}
	})
}
