package text

import (
	"bytes"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/cpu"
	"github.com/collocate/collocate/internal/cpu/cputest"
	"github.com/collocate/collocate/internal/trials"
)

// checkShort checks that AnalyzeShort finds the same words as Analyze, or declines the text. It may
// not decline short plain text.
func checkShort(an Analyzer, doc []byte, want []string) error {
	short, ok := an.(ShortAnalyzer)
	if !ok {
		return nil
	}
	room := ShortRoom{}
	for i := range room {
		room[i] = 'X' // the previous contents do not matter
	}
	borders, ok := short.AnalyzeShort(doc, &room)
	if !ok {
		if plain := !bytes.ContainsFunc(doc,
			func(r rune) bool { return r < ' ' || r > '~' || r == '_' }); plain &&
			len(doc) <= MaxShort {
			return fmt.Errorf("AnalyzeShort declines %q", doc)
		}
		return nil
	}
	var list []string
	for borders != 0 {
		start := bits.TrailingZeros64(borders)
		borders &= borders - 1
		end := bits.TrailingZeros64(borders)
		borders &= borders - 1
		if end > len(doc) {
			return fmt.Errorf("AnalyzeShort: a word ends at %d of %d bytes", end, len(doc))
		}
		list = append(list, string(room[start:end]))
	}
	if !slices.Equal(list, want) {
		return fmt.Errorf("words of AnalyzeShort\n%q, want\n%q", list, want)
	}
	return nil
}

// Analyzers keep their definitions on texts of every length up to two blocks and more, of all
// bytes, of ASCII, and of characters that join words, with other text around them.
func TestTextsOfEveryLength(t *testing.T) {
	rng := rand.New(rand.NewPCG(64, 1))
	var tokens Tokens
	alphabets := []string{"ab1 ", "aB9Z'.:,;_- ", "a.", "1,a'", " \t\n\r\v\x00\x1f\x7f~aA@[`{/:"}
	for _, chars := range []int{128, 256} {
		all := make([]byte, chars)
		for c := range all {
			all[c] = byte(c)
		}
		alphabets = append(alphabets, string(all))
	}
	for name := range definitions {
		an := analyzer(t, name)
		for n := range 131 {
			for _, alphabet := range alphabets {
				for range 6 {
					around := make([]byte, n+80)
					for i := range around {
						around[i] = alphabet[rng.IntN(len(alphabet))]
					}
					from := rng.IntN(81)
					doc := around[from : from+n]
					if err := checkTokens(an, doc, &tokens); err != nil {
						t.Fatalf("%s of %q: %v", name, doc, err)
					}
				}
			}
		}
	}
}

// Analyzers keep their definitions with any byte at any place between letters, digits or blanks.
func TestEveryByteAtEveryPlace(t *testing.T) {
	var tokens Tokens
	for name := range definitions {
		an := analyzer(t, name)
		for _, n := range []int{1, 8, 21, 63, 64, 129} {
			for _, around := range []string{"a", "7", " ", "Q-"} {
				doc := []byte(strings.Repeat(around, n))[:n]
				for at := range doc {
					if n > block/2 && (at+3)%block > 5 { // only near the borders of blocks
						continue
					}
					was := doc[at]
					for c := at % trials.Every(5); c < 256; c += trials.Every(5) {
						doc[at] = byte(c)
						if err := checkTokens(an, doc, &tokens); err != nil {
							t.Fatalf("%s of %q: %v", name, doc, err)
						}
					}
					doc[at] = was
				}
			}
		}
	}
}

// The kernels give the bits that plain Go gives, of blocks of any number of random bytes, some at
// the end of a page.
func TestKernelsEqualPlainGo(t *testing.T) { cputest.Levels(t, testKernelsEqualPlainGo) }

func testKernelsEqualPlainGo(t *testing.T) {
	if !hasKernels {
		t.Skip("no kernels for this processor")
	}
	rng := rand.New(rand.NewPCG(3, 9))
	for range 20000 / trials.Every(8) {
		doc := atPageEnd(rng.IntN(block + 1))
		if rng.IntN(4) == 0 {
			doc = make([]byte, len(doc))
		}
		for i := range doc {
			doc[i] = byte(rng.Uint32())
			if rng.IntN(3) == 0 {
				doc[i] = "\t\n\r _azAZ09@[`{/:\x80"[rng.IntN(18)]
			}
		}
		var lower, plain [block]byte
		word, space, score, high := wordBitsKernel(&lower[0], bytesOf(doc), len(doc))
		var blanks, letters, plainLetters [block]byte
		letter := letterBitsKernel(&letters[0], bytesOf(doc), len(doc))
		blank, cr := blankBitsKernel(&blanks[0], bytesOf(doc), len(doc))
		restore := cputest.With(cpu.None)
		wantWord, wantSpace, wantScore, plainHigh := wordBits(&plain, doc)
		wantLetter := letterBits(&plainLetters, doc)
		restore()
		wantHigh, wantBlank, wantCR := uint64(0), uint64(0), uint64(0)
		for i, c := range doc {
			if c >= 0x80 {
				wantHigh |= 1 << i
			}
			if c == ' ' || c == '\t' || c == '\n' {
				wantBlank |= 1 << i
			}
			if c == '\r' {
				wantCR |= 1 << i
			}
		}
		if word != wantWord || space != wantSpace || (score != 0) != (wantScore != 0) ||
			high != wantHigh || plainHigh != wantHigh || !bytes.Equal(lower[:len(doc)], plain[:len(doc)]) {
			t.Fatalf("%q: words %x %x %x %x, want %x %x %x %x; %q, want %q", doc, word, space,
				score, high, wantWord, wantSpace, wantScore, wantHigh, lower, plain)
		}
		if letter != wantLetter || !bytes.Equal(letters[:len(doc)], plainLetters[:len(doc)]) {
			t.Fatalf("%q: letters %x, want %x; %q, want %q", doc, letter, wantLetter, letters, plainLetters)
		}
		if blank != wantBlank || cr != wantCR || !bytes.Equal(blanks[:len(doc)], doc) {
			t.Fatalf("%q: blanks %x, carriage returns %x, want %x, %x", doc, blank, cr, wantBlank, wantCR)
		}
	}
}

func bytesOf(doc []byte) *byte {
	if len(doc) == 0 {
		return nil
	}
	return &doc[0]
}
