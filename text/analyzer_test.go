package text

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
	"golang.org/x/text/unicode/norm"

	"github.com/collocate/collocate/internal/cpu"
	"github.com/collocate/collocate/internal/cpu/cputest"
	"github.com/collocate/collocate/internal/trials"
)

func analyzer(tb testing.TB, name string) Analyzer {
	tb.Helper()
	an, err := ParseAnalyzer(name)
	if err != nil {
		tb.Fatal(err)
	}
	return an
}

func analyze(tb testing.TB, name, doc string) []string {
	tb.Helper()
	var t Tokens
	if err := analyzer(tb, name).Analyze([]byte(doc), &t); err != nil {
		tb.Fatal(err)
	}
	return wordList(&t)
}

func wordList(t *Tokens) []string {
	list := make([]string, len(t.Words))
	for i := range list {
		list[i] = string(t.Word(i))
	}
	return list
}

// The words of each analyzer on short examples.
func TestAnalyzersByExample(t *testing.T) {
	for _, tt := range []struct{ name, doc, want string }{
		{"whitespace", "The cat's\tpaw.\n\n No.5 ", "The|cat's|paw.|No.5"},
		{"whitespace", "a\rb \r c\r\nd\r", "ab|c|d"},
		{"whitespace", "a\x00b\vc\fd \xff\xfe \u00a0", "a\x00b\vc\fd|\xff\xfe|\u00a0"},
		{"whitespace", "", ""},
		{"whitespace", " \t\n\r", ""},
		{"ascii", "The cat's 2nd PAW_z\x00naïve", "the|cat|s|nd|paw|z|na|ve"},
		{"ascii", "@[`{AZaz", "azaz"},
		{"ascii", "", ""},
		{"unicode", "The cat's 2nd PAW_z, naïve", "the|cat's|2nd|paw_z|naïve"},
		{"unicode", "U.S.A. 3.14 1,000 a:b a;b 1:2 1.a a.1", "u.s.a|3.14|1,000|a:b|a|b|1|2|1|a|a|1"},
		{"unicode", "_ __ _a a_ a__b _1", "_a|a_|a__b|_1"},
		{"unicode", "co-op don't 'quoted' can''t", "co|op|don't|quoted|can|t"},
		{"unicode", "Straße ΟΔΟΣ ὁδός ΜÉ K ſ İstanbul", "straße|οδοσ|ὁδόσ|μé|k|s|istanbul"},
		{"unicode", "e\u0301A a\u0301.b 東京 カタカナ 한국어", "éa|á.b|東|京|カタカナ|한국어"},
		{"unicode", "Ame\u0301lie AMÉLIE J\u030c \u01f0 \u1112\u1161\u11ab 한 \u212b",
			"amélie|amélie|\u01f0|\u01f0|한|한|å"},
		{"unicode@1", "Ame\u0301lie AMÉLIE", "ame\u0301lie|amélie"},
		{"unicode", "don't DON’T l’été 'quoted’ 1’000", "don't|don't|l'été|quoted|1'000"},
		{"unicode@2", "don't DON’T", "don't|don’t"},
		{"unicode@1", "don't DON’T", "don't|don’t"},
		{"unicode", "q\u0307\u0323 q\u0323\u0307", "q\u0323\u0307|q\u0323\u0307"},
		{"german", "Ha\u0308user Häuser", "haus|haus"},
		{"german@1", "Ha\u0308user", "ha\u0308us"},
		{"turkish", "I\u0307STANBUL", "istanbul"},
		{"porter", "The dog's dogs' dog’s bosses' it's", "the|dog|dog|dog|boss|it"},
		{"porter@1", "The dog's", "the|dog'"},
		{"porter+stop", "The dog's it's", "dog"},
		{"unicode", "a\xffb \xc3 caf\xc3\xa9\xc3", "a|b|café"},
		{"unicode", "☃ 🎉 … — ½ Ⅷ", "½|ⅷ"},
		{"english", "The running cats' hopes", "the|run|cat|hope"},
		{"english", "Don’t stop", "don't|stop"},
		{"english+stop", "The cats are running and we don't stop", "cat|run|stop"},
		{"porter", "generically", "gener"},
		{"french", "L'avion des françaises qu’il", "avion|de|français|il"},
		{"french+stop", "L'avion des françaises", "avion|français"},
		{"german", "Häuser Straße aufeinanderfolgend", "haus|strass|aufeinanderfolg"},
		{"german+stop", "die Häuser", "haus"},
		{"russian", "КНИГИ книгами", "книг|книг"},
		{"spanish", "corriendo", "corr"},
		{"turkish", "IŞIK İSTANBUL", "ışık|istanbul"},
		{"finnish", "taloissa", "talo"},
	} {
		got := strings.Join(analyze(t, tt.name, tt.doc), "|")
		if got != tt.want {
			t.Errorf("%s of %q:\n got %q\nwant %q", tt.name, tt.doc, got, tt.want)
		}
	}
}

// Analyzers are found by their names, with +stop where there is a list and @1 where there is an
// older version, and the error for another name quotes it.
func TestAnalyzerNames(t *testing.T) {
	for _, name := range Analyzers() {
		if got := analyzer(t, name).Name(); got != name {
			t.Errorf("analyzer %q calls itself %q", name, got)
		}
		an, err := ParseAnalyzer(name + "+stop")
		switch name {
		case "whitespace", "ascii", "unicode", "lucene-english", "irish", "tamil", "turkish":
			if err == nil {
				t.Errorf("ParseAnalyzer(%s+stop): no error", name)
			}
		default:
			if err != nil || an.Name() != name+"+stop" {
				t.Errorf("ParseAnalyzer(%s+stop): %v, %v; want an analyzer of that name", name, an, err)
			}
		}
	}
	for _, name := range []string{"unicode@1", "unicode@2", "english@1", "english+stop@1",
		"unicode+stop:a,b", "unicode@2+stop:a,b"} {
		if got := analyzer(t, name).Name(); got != name {
			t.Errorf("analyzer %q calls itself %q", name, got)
		}
	}
	for _, name := range []string{"", "ascii@1", "unicode@3", "english@2", "english@1+stop", "klingon",
		"english+", "english+stop+stop", "+stop", "English"} {
		if _, err := ParseAnalyzer(name); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", name)) {
			t.Errorf("ParseAnalyzer(%q): error %v, want one that quotes the name", name, err)
		}
	}
}

// A file that records the name of an analyzer means the version of its time.
func TestRecordedAnalyzers(t *testing.T) {
	for _, c := range []struct {
		name    string
		version int
		want    string
	}{
		{"unicode", 1, "unicode@1"}, {"unicode", 2, "unicode@2"}, {"unicode", Version, "unicode"},
		{"unicode@1", 2, "unicode@1"}, {"unicode@1", 1, "unicode@1"}, {"english", 2, "english"},
		{"english+stop", 1, "english+stop@1"}, {"ascii", 1, "ascii"}, {"my own", 1, "my own"}, {"", 2, ""},
		{"unicode+stop:a,b", 2, "unicode@2+stop:a,b"}, {"german+stop:a,b", 2, "german+stop:a,b"},
	} {
		if got := Recorded(c.name, c.version); got != c.want {
			t.Errorf("%q of version %d is %q, want %q", c.name, c.version, got, c.want)
		}
	}
}

// NFC changes no character of the ranges for which isComposed is true.
func TestComposedRanges(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !isComposed(r) || !utf8.ValidRune(r) {
			continue
		}
		s := string(r)
		p := norm.NFC.PropertiesString(s)
		if !norm.NFC.IsNormalString(s) || p.CCC() != 0 || !p.BoundaryBefore() {
			t.Fatalf("isComposed(%U) is true, but NFC may change it", r)
		}
	}
}

// The definitions of the analyzers as plain loops.

// gloveWords is get_word of GloVe's common.c, which reads byte by byte into an array of 1000.
func gloveWords(doc []byte) (list []string, source []Span) {
	in := bytes.NewReader(doc)
	for {
		word, first, last := []byte{}, -1, 0
		c, err := byte(0), error(nil)
		for {
			c, err = in.ReadByte()
			at := len(doc) - in.Len() - 1
			if err == nil && c == '\r' {
				continue
			}
			if err != nil || c == ' ' || c == '\t' || c == '\n' {
				break
			}
			if first < 0 {
				first = at
			}
			last = at
			if len(word) < 999 {
				word = append(word, c)
			}
		}
		if i := len(word); i == 999 && word[i-1]&0x80 == 0x80 {
			if word[i-1]&0xC0 == 0xC0 {
				word = word[:i-1]
			} else if word[i-2]&0xE0 == 0xE0 {
				word = word[:i-2]
			} else if word[i-3]&0xF8 == 0xF0 {
				word = word[:i-3]
			}
		}
		if len(word) > 0 {
			list = append(list, string(word))
			source = append(source, Span{uint32(first), uint32(last + 1)})
		}
		if err != nil {
			return list, source
		}
	}
}

func asciiWords(doc []byte) (list []string, source []Span) {
	isLetter := func(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
	for i := 0; i < len(doc); i++ {
		start := i
		for i < len(doc) && isLetter(doc[i]) {
			i++
		}
		if i > start {
			list = append(list, strings.ToLower(string(doc[start:i])))
			source = append(source, Span{uint32(start), uint32(i)})
		}
	}
	return list, source
}

// libraryWords has the library uax29 split the text between bytes that are not UTF-8.
func libraryWords(doc []byte) (list []string, source []Span) {
	for at := 0; at < len(doc); {
		end := at
		for end < len(doc) {
			r, n := utf8.DecodeRune(doc[end:])
			if r == utf8.RuneError && n == 1 {
				break
			}
			end += n
		}
		for it := words.FromBytes(doc[at:end]); it.Next(); {
			word := string(it.Value())
			if strings.ContainsFunc(word, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
				folded := norm.NFC.String(strings.Map(foldRune, norm.NFC.String(word)))
				list = append(list, strings.ReplaceAll(folded, "’", "'"))
				source = append(source, Span{uint32(at + it.Start()), uint32(at + it.End())})
			}
		}
		at = end + 1
	}
	return list, source
}

var definitions = map[string]func([]byte) ([]string, []Span){
	"whitespace": gloveWords,
	"ascii":      asciiWords,
	"unicode":    libraryWords,
}

// checkTokens checks what must hold for every analyzer and every text, at each level of vector
// instructions.
func checkTokens(an Analyzer, doc []byte, t *Tokens) error {
	levels := cpu.Levels()
	if definitions[an.Name()] == nil {
		levels = levels[:1]
	}
	for _, l := range levels {
		restore := cputest.With(l)
		err := checkThese(an, doc, t)
		restore()
		if err != nil {
			return fmt.Errorf("%v: %w", l, err)
		}
	}
	return nil
}

func checkThese(an Analyzer, doc []byte, t *Tokens) error {
	before := bytes.Clone(doc)
	t.WantSource = true
	if err := an.Analyze(doc, t); err != nil {
		return err
	}
	if !bytes.Equal(before, doc) {
		return fmt.Errorf("Analyze changed the document to %q", doc)
	}
	if len(t.Source) != len(t.Words) {
		return fmt.Errorf("%d words, %d sources", len(t.Words), len(t.Source))
	}
	for _, list := range []struct {
		spans []Span
		limit int
	}{{t.Words, len(t.Bytes)}, {t.Source, len(doc)}} {
		end := uint32(0)
		for i, s := range list.spans {
			if s.Start < end || s.End <= s.Start || int(s.End) > list.limit {
				return fmt.Errorf("span %d is %v, want a non-empty one from %d to %d", i, s, end, list.limit)
			}
			end = s.End
		}
	}
	list, source := wordList(t), slices.Clone(t.Source)
	if define := definitions[an.Name()]; define != nil {
		wantList, wantSource := define(doc)
		if !slices.Equal(list, wantList) {
			return fmt.Errorf("words\n%q, want\n%q", list, wantList)
		}
		if !slices.Equal(source, wantSource) {
			return fmt.Errorf("sources\n%v, want\n%v", source, wantSource)
		}
	}
	t.WantSource = false
	if err := an.Analyze(doc, t); err != nil {
		return err
	}
	if !slices.Equal(list, wordList(t)) {
		return fmt.Errorf("words without WantSource\n%q, want\n%q", wordList(t), list)
	}
	return checkShort(an, doc, list)
}

// randomText mixes white space, joiners, controls, combining marks, several scripts, bytes that are
// not UTF-8, and runs long enough to cross blocks.
func randomText(r *rand.Rand, size int) []byte {
	alphabets := []string{
		"abcXYZ   ", "a.b':,;_-1 2\t\n", "\r\n \t\x00\v\f\x7f_", "aé\u0301\u200d’ñ ßΣ \u0323J\u030cI\u0307\u0345",
		"東カ한ไא\"'אa ", "\xff\xc3\xe2\x82\xf0\x9f a", "🎉🇩🇪\u3000\u00a0 x", "word and then another one ",
	}
	var b []byte
	for len(b) < size {
		alphabet := alphabets[r.IntN(len(alphabets))]
		if r.IntN(50) == 0 {
			b = append(b, bytes.Repeat([]byte(alphabet[:1+r.IntN(3)]), 300+r.IntN(200))...)
		}
		for range r.IntN(40) {
			if i := r.IntN(len(alphabet)); r.IntN(4) > 0 {
				_, n := utf8.DecodeRuneInString(alphabet[i:])
				b = append(b, alphabet[i:i+n]...)
			} else {
				b = append(b, alphabet[i])
			}
		}
	}
	return b
}

// Analyzers keep their definitions on random texts and on English prose.
func TestAnalyzersKeepTheirDefinitions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var tokens Tokens
	for _, name := range append(Analyzers(), "english+stop") {
		an := analyzer(t, name)
		rounds := trials.Cases(100)
		if definitions[name] != nil {
			rounds = trials.Cases(1000)
		}
		for range rounds {
			doc := randomText(r, r.IntN(400))
			if err := checkTokens(an, doc, &tokens); err != nil {
				t.Fatalf("%s of %q: %v", name, doc, err)
			}
		}
	}
	for _, doc := range sampleDocs(t)[:trials.Of(300)] {
		for name := range definitions {
			if err := checkTokens(analyzer(t, name), doc, &tokens); err != nil {
				t.Fatalf("%s of %q: %v", name, doc, err)
			}
		}
	}
}

// The unicode analyzer keeps its definition on all pairs of ASCII bytes, alone and between letters
// and digits, which the word boundary rules of UAX #29 look at.
func TestUnicodeRulesForASCII(t *testing.T) {
	var tokens Tokens
	an := analyzer(t, "unicode")
	for a := range 128 {
		for b := a % trials.Every(5); b < 128; b += trials.Every(5) {
			for _, frame := range []string{"%c%c", "x%c%cx", "1%c%c1", "x%c%c1", "é%c%cx", "x%c%cé"} {
				doc := fmt.Appendf(nil, frame, a, b)
				if err := checkTokens(an, doc, &tokens); err != nil {
					t.Fatalf("%q: %v", doc, err)
				}
			}
		}
	}
}

// The border of a block does not split a word of ASCII letters that goes on with another character.
func TestNonASCIIAfterASCII(t *testing.T) { cputest.Levels(t, testNonASCIIAfterASCII) }

func testNonASCIIAfterASCII(t *testing.T) {
	var tokens Tokens
	an := analyzer(t, "unicode")
	for n := range 200 {
		for _, frame := range []string{"%sé", "%sé y", "!%sé y", " %sé", "a %sé_ b", "a b. %sé\x80c d",
			"%s é", "%s_ é x"} {
			doc := fmt.Appendf(nil, frame, strings.Repeat("x", n))
			if err := checkTokens(an, doc, &tokens); err != nil {
				t.Fatalf("%q: %v", doc, err)
			}
		}
	}
}

// The whitespace analyzer keeps 999 bytes of a word and no part of a character, as GloVe does.
func TestLongWords(t *testing.T) {
	var tokens Tokens
	an := analyzer(t, "whitespace")
	for _, char := range []string{"a", "é", "東", "🎉", "\x80", "\xc3"} {
		for lead := 0; lead < 70; lead += trials.Every(9) {
			for size := 990; size < 1010; size++ {
				doc := strings.Repeat(" ", lead) + strings.Repeat("b", lead%5) +
					strings.Repeat(char, size/len(char)) + " end"
				if err := checkTokens(an, []byte(doc), &tokens); err != nil {
					t.Fatalf("%d blanks, then %d bytes of %q: %v", lead, size, char, err)
				}
			}
		}
	}
}

// Analyzers do not allocate on ASCII text if Tokens are reused.
func TestAnalyzersDoNotAllocate(t *testing.T) {
	doc := []byte(strings.Repeat("The quick brown fox's 3.14 foxes_jumped over; the LAZY dog.\n", 100))
	for _, name := range []string{"whitespace", "ascii", "unicode", "english", "english+stop"} {
		an := analyzer(t, name)
		for _, source := range []bool{false, true} {
			tokens := Tokens{WantSource: source}
			n := testing.AllocsPerRun(20, func() {
				if err := an.Analyze(doc, &tokens); err != nil {
					t.Fatal(err)
				}
			})
			if n != 0 {
				t.Errorf("%s (source %v): %v allocations per document, want none", name, source, n)
			}
		}
	}
}

// Words from the cache of stems are those that stemming gives.
func TestStemCache(t *testing.T) {
	docs := append(sampleDocs(t)[:trials.Of(300)],
		[]byte(strings.Repeat("x", 64)+" "+strings.Repeat("x", 65)+"s "+strings.Repeat("running",
			3)))
	for _, name := range append(languages(), "english+stop", "german+stop") {
		l := analyzer(t, name).(*language)
		var plain, tokens Tokens
		for _, doc := range docs {
			if err := l.words.segment(doc, &plain); err != nil {
				t.Fatal(err)
			}
			var want []string
			for i := range plain.Words {
				word := string(plain.Word(i))
				if len(word) <= maxStem {
					word = l.reduce(word)
				}
				if word != "" {
					want = append(want, word)
				}
			}
			if err := l.Analyze(doc, &tokens); err != nil {
				t.Fatal(err)
			}
			if got := wordList(&tokens); !slices.Equal(got, want) {
				t.Fatalf("%s of %q: %q\nwant %q", name, doc, got, want)
			}
		}
	}
}

// Several analyzers can use the same Tokens in turn.
func TestTokensServeAllAnalyzers(t *testing.T) {
	doc := []byte("The Katzen liefen schnell, running houses")
	var shared Tokens
	for range 2 {
		for _, name := range append(Analyzers(), "english+stop", "german+stop") {
			if err := analyzer(t, name).Analyze(doc, &shared); err != nil {
				t.Fatal(err)
			}
			if got, want := wordList(&shared), analyze(t, name, string(doc)); !slices.Equal(got, want) {
				t.Errorf("%s: words %q with shared Tokens, want %q", name, got, want)
			}
		}
	}
}

func FuzzAnalyzers(f *testing.F) {
	names := append(Analyzers(), "english+stop", "french+stop")
	for i := range names {
		f.Add(uint8(i), []byte("The cat's 3.14 PAW_z, l'avion\r\nnaïve ’ ΟΔΟΣ İI \xff\x00 e\u0301"))
	}
	f.Fuzz(func(t *testing.T, which uint8, doc []byte) {
		var tokens Tokens
		an := analyzer(t, names[int(which)%len(names)])
		if err := checkTokens(an, doc, &tokens); err != nil {
			t.Fatal(err)
		}
	})
}
