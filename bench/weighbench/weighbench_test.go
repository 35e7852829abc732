package weighbench

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/collocate/collocate/datagen"
	"github.com/collocate/collocate/dict"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/internal/trials"
)

// The figures have a line for every method and a row for every size.
func TestFigures(t *testing.T) {
	dev, _ := gputest.Named(t)
	r, err := Run(t.Context(), Options{Sizes: []int64{4000, 8000}, Rounds: 1, Threads: 2, Device: dev, Slow: true})
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	if err := r.Markdown(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"MRP", "CPU auto", "MRM", "PP", "PPD", "ours", "copy up", "4 sort", "copy down",
		"PPD published", "copy dictionary up", "PPD published against MRP (paper: 5.0 to 5.1)",
		"map", "reduce", "merge", "MRP, milliseconds by megabytes of text"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if !strings.Contains(page.String(), "of exactly the text's words") {
		t.Error("the page does not say which words the dictionary has")
	}
	if got := r.Sections[1].Tables[0].Rows; len(got) != 2 || got[1][0] != "0.008" {
		t.Errorf("rows %v, want 2, the last of 0.008 MB", got)
	}
	if _, err := Run(t.Context(), Options{}); err == nil {
		t.Error("Run without sizes returns no error")
	}
}

// A dictionary that was built beforehand lacks some words of the text; the page says how many.
func TestFiguresWithAGivenDictionary(t *testing.T) {
	dev, _ := gputest.Named(t)
	r, err := Run(t.Context(), Options{Sizes: []int64{4000}, Rounds: 1, Threads: 2, Device: dev, DictWords: 150})
	if err != nil {
		t.Fatal(err)
	}
	table := r.Sections[0].Tables[0]
	row := map[string]int{}
	for i, h := range table.Header {
		row[h], _ = strconv.Atoi(table.Rows[0][i])
	}
	lacks, words := row["terms not in the dictionary"], row["words not in the dictionary"]
	if known := row["terms"] - lacks; known < 50 || known > 150 || lacks < 100 || words < lacks ||
		words >= row["words"] {
		t.Errorf("%v: want up to 150 known terms, and some unknown ones", row)
	}
	if !strings.Contains(r.Intro, "of the 150 most frequent words") {
		t.Errorf("the page begins with %q, which does not name the dictionary", r.Intro)
	}
}

// An STT whose table is too large is not built, but its size is in the figures.
func TestDictionaryFigures(t *testing.T) {
	trials.Long(t, "every figure, in the interpreter")
	dev, _ := gputest.Named(t)
	w, err := Words(1200)
	if err != nil {
		t.Fatal(err)
	}
	r, err := RunDict(t.Context(), dev,
		DictOptions{Words: w, Kinds: []dict.Kind{dict.STT, dict.XBW, dict.XBWPaper}, Lookups: 400,
			Memory: 100e3})
	if err != nil {
		t.Fatal(err)
	}
	rows := r.Sections[0].Tables[0].Rows
	if len(rows) != 6 || rows[1][3] != "more than --memory" || rows[3][1] != "1200" {
		t.Errorf("rows %v, want 6, of which the second is too large", rows)
	}
	for _, row := range append(rows, r.Sections[3].Tables[0].Rows...) {
		if len(row) != len(r.Sections[0].Tables[0].Header) && len(row) != len(r.Sections[3].Tables[0].Header) {
			t.Errorf("row %v does not fit its header", row)
		}
	}
	// Only the published XBW has blocks, decoded in two ways: STT is too large.
	if blocks := r.Sections[3].Tables[1]; len(blocks.Rows) != 2*len(threadsEach) ||
		len(blocks.Rows[0]) != len(blocks.Header) {
		t.Errorf("blocks %v, want %d rows", blocks, 2*len(threadsEach))
	}
	if got := steps(1200, 100, 4); !slices.Equal(got, []int{120, 1200}) {
		t.Errorf("sizes %v, want 120 and 1200", got)
	}
}

// All words of the generated texts are in the dictionary.
func TestTexts(t *testing.T) {
	w, err := Words(2000)
	if err != nil {
		t.Fatal(err)
	}
	d, err := build(t.Context(), w, dict.XBW)
	if err != nil {
		t.Fatal(err)
	}
	const n = 70_000 // more than a block of DrawText
	for name, text := range map[string]*dict.Text{
		"frequent": ByFrequency(w, n, 1), "uniform": Uniform(w, n, 1),
		"frequent, many": DrawText(w, n, 1, true), "uniform, many": DrawText(w, n, 1, false),
	} {
		var m Timing
		if found, err := m.Round(t.Context(), text, d); err != nil || found != n || text.Len() != n {
			t.Errorf("%s: %d of %d words found, error %v", name, found, text.Len(), err)
		}
		first := m.Total()
		if _, err := m.Round(t.Context(), text, d); err != nil || first <= 0 || m.Total() > first {
			t.Errorf("%s: a total of %v after one round and %v after two, want no more", name, first, m.Total())
		}
	}
	if f, u := ByFrequency(w, n, 1).Chars(), Uniform(w, n, 1).Chars(); f >= u {
		t.Errorf("words by frequency have %d characters, uniform ones %d; want fewer", f, u)
	}
}

// A vocabulary is the k most frequent words, so larger ones have longer words. Draws follow given
// counts, and rearranged texts have the same words.
func TestRankedVocabularies(t *testing.T) {
	r := Generated(20_000)
	var last float64
	for _, k := range []int{200, 2000, 20_000} {
		mean, variance := wordLengths(r.Draw(k, 20_000, 1, false))
		if mean <= last || variance <= 0 {
			t.Errorf("%d words: mean length %v, variance %v; want longer words than %v", k, mean, variance, last)
		}
		last = mean
		if frequent, _ := wordLengths(r.Draw(k, 20_000, 1, true)); frequent >= mean {
			t.Errorf("%d words: mean length by frequency %v, want less than the uniform %v", k, frequent, mean)
		}
		if w, err := r.Top(k); err != nil || w.Len() != k {
			t.Errorf("the %d most frequent: %v", k, err)
		}
	}
	c := Counted([]datagen.WordCount{{Word: "rare", Count: 1}, {Word: "the", Count: 9}})
	n := 0
	text := c.Draw(2, 10_000, 1, true)
	for i := range text.Len() {
		if string(text.Word(i)) == "the" {
			n++
		}
	}
	if n < 8800 || n > 9200 {
		t.Errorf("%d of 10000 words are the one with 9 of 10 counts, want about 9000", n)
	}
	sorted := byWordLength(text)
	if sorted.Len() != text.Len() || sorted.Chars() != text.Chars() ||
		string(sorted.Word(0)) != "the" || string(sorted.Word(9999)) != "rare" {
		t.Errorf("rearranged: %d words, %d characters, %q to %q", sorted.Len(), sorted.Chars(),
			sorted.Word(0), sorted.Word(9999))
	}
	if _, err := r.Top(20_001); err == nil {
		t.Error("Top of more words than there are returns no error")
	}
	path, err := c.textFile(t.Context(), t.TempDir(), 10_000)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if len(data) < 9990 || len(data) > 10_010 ||
		strings.Count(string(data), "the") < 10*strings.Count(string(data), "rare")/2 ||
		err != nil {
		t.Errorf("%d bytes, %v; want about 10000, mostly of the frequent word", len(data), err)
	}
}
