package cooccur

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/text"
)

func written(t testing.TB, v *Vocabulary) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := v.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Words of equal counts: GloVe's order compares signed chars up to the final zero, so é comes
// before ASCII letters and before the end of a word.
func TestOrderOfTies(t *testing.T) {
	corpus := corpusOf(t, "a aa aé é Z ~ b b")
	for order, want := range map[Order]string{
		GloVeOrder: "b 2,é 1,Z 1,aé 1,a 1,aa 1,~ 1,",
		ByteOrder:  "b 2,Z 1,a 1,aa 1,aé 1,~ 1,é 1,",
	} {
		v, _, err := CountWords(t.Context(), corpus, VocabularyOptions{Order: order})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(written(t, v), "\n", ","); got != want {
			t.Errorf("order %d: %s, want %s", order, got, want)
		}
	}
}

// compareC compares as GloVe's C code does: signed chars of zero-terminated strings, up to the
// first difference.
func compareC(a, b string) int {
	a, b = a+"\x00", b+"\x00"
	i := 0
	for a[i] != 0 && a[i] == b[i] {
		i++
	}
	return int(int8(a[i])) - int(int8(b[i]))
}

// GloVeOrder compares as GloVe's C code does, and the prefixes of words compare as the words do.
func TestOrderIsThatOfC(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		word := rapid.SliceOfN(rapid.SampledFrom([]byte{1, 'a', 'b', 0x7f, 0x80, 0xff}), 0, 18)
		a, b := word.Draw(r, "a"), word.Draw(r, "b")
		want := cmp.Compare(compareC(string(a), string(b)), 0)
		if got := GloVeOrder.compare(a, b); got != want {
			r.Fatalf("compare(%q, %q) = %d, want %d", a, b, got, want)
		}
		for _, o := range []Order{GloVeOrder, ByteOrder} {
			if p, q := o.prefix(keyOf(a, 0, len(a)), a), o.prefix(keyOf(b, 0, len(b)), b); p != q &&
				(p < q) != (o.compare(a, b) < 0) {
				r.Fatalf("order %d: prefixes %x of %q and %x of %q do not compare as the words do", o, p, a, q, b)
			}
		}
	})
}

// Counts and order of words are those of a map, for all engines, threads and options, with words of
// all lengths and with NUL bytes.
func TestCountsAgreeWithAMap(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		letter := rapid.SampledFrom([]byte("ab\x00\xc3\xa9"))
		word := rapid.Custom(func(r *rapid.T) string {
			n := rapid.SampledFrom([]int{1, 1, 2, 7, 8, 9, 14, 15, 16, 17, 40}).Draw(r, "n")
			return string(rapid.SliceOfN(letter, n, n).Draw(r, "word"))
		})
		words := rapid.SliceOfN(word, 0, 300).Draw(r, "words")
		// A file with several NUL bytes may be taken for binary data, so the first word that has
		// any keeps one, and no other does.
		nul := false
		for i, w := range words {
			if at := strings.IndexByte(w, 0); at >= 0 && !nul {
				nul = true
				words[i] = w[:at+1] + strings.ReplaceAll(w[at+1:], "\x00", "\x01")
			} else {
				words[i] = strings.ReplaceAll(w, "\x00", "\x01")
			}
		}
		want := map[string]uint64{}
		for _, w := range words {
			want[w]++
		}
		var lines []string
		for w := range slices.Chunk(words, 7) {
			lines = append(lines, strings.Join(w, " "))
		}
		corpus := corpusOf(t, lines...)
		opt := VocabularyOptions{
			MinCount: uint64(rapid.IntRange(0, 3).Draw(r, "min")),
			MaxSize:  rapid.IntRange(0, 20).Draw(r, "max"),
			Engine:   rapid.SampledFrom([]engine.Kind{engine.Sequential, engine.Multicore}).Draw(r, "engine"),
			Threads:  rapid.IntRange(1, 3).Draw(r, "threads"),
			Order:    rapid.SampledFrom([]Order{GloVeOrder, ByteOrder}).Draw(r, "order"),
		}
		v, stats, err := CountWords(t.Context(), corpus, opt)
		if err != nil {
			r.Fatal(err)
		}
		if stats.Words != int64(len(words)) || stats.Distinct != int64(len(want)) {
			r.Fatalf("%+v, want %d words, %d distinct", stats, len(words), len(want))
		}
		type pair struct {
			word  string
			count uint64
		}
		var list []pair
		for w, n := range want {
			if n >= opt.MinCount {
				list = append(list, pair{w, n})
			}
		}
		slices.SortFunc(list, func(a, b pair) int {
			return cmp.Or(cmp.Compare(b.count, a.count), opt.Order.compare([]byte(a.word), []byte(b.word)))
		})
		if opt.MaxSize > 0 {
			list = list[:min(len(list), opt.MaxSize)]
		}
		if v.Len() != len(list) {
			r.Fatalf("%+v: %d words, want %d", opt, v.Len(), len(list))
		}
		for id, p := range list {
			found, ok := v.Lookup([]byte(p.word))
			if string(v.Word(id)) != p.word || v.Count(id) != p.count || !ok || found != id {
				r.Fatalf("word %d: %q %d (found %d, %t), want %v", id, v.Word(id), v.Count(id), found, ok, p)
			}
		}
	})
}

// With little memory the workers' tables are emptied into a shared one. If that does not fit
// either, it is an error.
func TestVocabularyInLittleMemory(t *testing.T) {
	var docs []string
	for i := range 400 {
		var b strings.Builder
		for k := range 1000 {
			fmt.Fprintf(&b, "word-%d ", (i*1000+k)%40_000)
		}
		docs = append(docs, b.String())
	}
	corpus := corpusOf(t, docs...)
	want, _, err := CountWords(t.Context(), corpus, VocabularyOptions{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := CountWords(t.Context(), corpus, VocabularyOptions{Threads: 2, Memory: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if written(t, got) != written(t, want) {
		t.Errorf("8 MB: vocabulary %.60q, want %.60q", written(t, got), written(t, want))
	}
	for _, threads := range []int{1, 2} {
		_, _, err = CountWords(t.Context(), corpus, VocabularyOptions{Threads: threads, Memory: 1 << 20})
		if err == nil || !strings.Contains(err.Error(), "do not fit in") {
			t.Errorf("%d threads, 1 MB: error %v, want that the words do not fit", threads, err)
		}
	}
}

// Words of more than 15 bytes, which have a table of their own, are counted and found also if there
// are thousands.
func TestManyLongWords(t *testing.T) {
	const n = 5000
	var docs []string
	for i := range 2 * n {
		docs = append(docs, fmt.Sprintf("longer-than-fifteen-bytes-%d", i%n))
	}
	for _, kind := range []engine.Kind{engine.Sequential, engine.Multicore} {
		v, _, err := CountWords(t.Context(), corpusOf(t, docs...), VocabularyOptions{Engine: kind, Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		if v.Len() != n {
			t.Fatalf("%v: %d words, want %d", kind, v.Len(), n)
		}
		for i := range n {
			if id, ok := v.Lookup([]byte(docs[i])); !ok || string(v.Word(id)) != docs[i] || v.Count(id) != 2 {
				t.Fatalf("%v: Lookup(%s) = %d, %v, which is %q with count %d; want it with count 2", kind, docs[i],
					id, ok, v.Word(id), v.Count(id))
			}
		}
		var got cells
		if _, err := Matrix(t.Context(), corpusOf(t, strings.Join(docs[:n], " ")), v,
			Options{Window: 1, Side: Right, Weighting: Count, Engine: kind}, &got); err != nil || len(got.m) != n-1 {
			t.Errorf("%v: %d cells, %v; want %d", kind, len(got.m), err, n-1)
		}
	}
}

// The word <unk>, which GloVe reserves, is an error unless KeepUnk is set.
func TestUnkIsRefused(t *testing.T) {
	corpus := corpusOf(t, "a <unk> b <unk>")
	if _, _, err := CountWords(t.Context(), corpus, VocabularyOptions{}); err == nil ||
		!strings.Contains(err.Error(), "<unk> (2 times)") {
		t.Errorf("error %v, want one with <unk> (2 times)", err)
	}
	if v, _, err := CountWords(t.Context(), corpus, VocabularyOptions{KeepUnk: true}); err != nil || v.Len() != 3 {
		t.Errorf("KeepUnk: vocabulary %v, %v; want 3 words", v, err)
	}
}

// Words are counted with the analyzer of the options.
func TestOtherAnalyzers(t *testing.T) {
	ascii, err := text.ParseAnalyzer("ascii")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []engine.Kind{engine.Sequential, engine.Multicore} {
		v, stats, err := CountWords(t.Context(), corpusOf(t, "The cat, the DOG;", "the-end"),
			VocabularyOptions{Analyzer: ascii, Engine: kind})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(written(t, v), "\n", ","); got != "the 3,cat 1,dog 1,end 1," ||
			stats.Documents != 2 {
			t.Errorf("%v: %s, %+v; want the 3,cat 1,dog 1,end 1, of 2 documents", kind, got, stats)
		}
	}
}

// Errors in vocabulary files name the file, the line and what was expected.
func TestReadVocabularyNamesWhatIsWrong(t *testing.T) {
	for in, want := range map[string]string{
		"a 3\nb 2\na 1\n":        `v.txt:3: word "a" is already on line 1`,
		"a 3\n\nb 2\n":           `v.txt:2: want a word, a blank and its count, got ""`,
		"a 3\nb\n":               `v.txt:2: want a word, a blank and its count, got "b"`,
		"a 3\nb c 2\n":           `v.txt:2: want one word and its count, got several blanks in "b c 2"`,
		"a x\n":                  `v.txt:1: count of "a": want a whole number, got "x"`,
		"a -1\n":                 `v.txt:1: count of "a": want a whole number, got "-1"`,
		"a 18446744073709551616": `v.txt:1: count of "a": want a whole number, got "18446744073709551616"`,
		" 3\n":                   `v.txt:1: want a word, a blank and its count, got " 3"`,
	} {
		if _, err := ReadVocabulary(strings.NewReader(in), "v.txt"); err == nil || err.Error() != want {
			t.Errorf("%q: error %v, want %s", in, err, want)
		}
	}
}

// A vocabulary file that is read is written as it was, but with LF for CR LF, and its words are
// found.
func TestVocabularyRoundTrip(t *testing.T) {
	const file = "b 7\nlonger-than-fifteen-bytes 3\né 3\na\fb 1\n"
	v, err := ReadVocabulary(strings.NewReader(strings.ReplaceAll(file, "\n", "\r\n")), "v.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := written(t, v); got != file {
		t.Errorf("written %q, want %q", got, file)
	}
	if id, ok := v.Lookup([]byte("a\fb")); !ok || id != 3 || v.Total() != 14 {
		t.Errorf("Lookup: %d, %t; Total %d; want 3, true; 14", id, ok, v.Total())
	}
	for _, missing := range []string{"", "c", "longer-than-fifteen-byteS"} {
		if _, ok := v.Lookup([]byte(missing)); ok {
			t.Errorf("Lookup(%q): found, want not", missing)
		}
	}
	if _, err := vocabularyOf("a b").WriteTo(new(bytes.Buffer)); err == nil {
		t.Error("writing a word with a blank: no error")
	}
}

// FuzzReadVocabulary reads any bytes; a vocabulary that is accepted can be written and read again.
func FuzzReadVocabulary(f *testing.F) {
	f.Add([]byte("the 3\nof 2\n"))
	f.Add([]byte("a 1\r\nlonger-than-fifteen-bytes 1"))
	f.Add([]byte("\n\x00 0\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := ReadVocabulary(bytes.NewReader(data), "v.txt")
		if err != nil {
			return
		}
		first := written(t, v)
		again, err := ReadVocabulary(strings.NewReader(first), "v.txt")
		if err != nil {
			t.Fatalf("%q was written and is refused: %v", first, err)
		}
		if second := written(t, again); second != first || again.Total() != v.Total() {
			t.Errorf("written %q with total %d, then %q with %d", first, v.Total(), second, again.Total())
		}
	})
}
