package weighbench

import (
	"os"
	"slices"
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
			t.Errorf("no %q on the page", want)
		}
	}
	if got := r.Sections[1].Tables[0].Rows; len(got) != 2 || got[1][0] != "0.008" {
		t.Errorf("rows %v", got)
	}
	if _, err := Run(t.Context(), Options{}); err == nil {
		t.Error("nothing was measured, without an error")
	}
}

// A table that is too large is not built, but its size is in the figures.
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
		t.Errorf("rows %v", rows)
	}
	for _, row := range append(rows, r.Sections[3].Tables[0].Rows...) {
		if len(row) != len(r.Sections[0].Tables[0].Header) && len(row) != len(r.Sections[3].Tables[0].Header) {
			t.Errorf("row %v", row)
		}
	}
	// The published XBW, decoded in two ways; STT does not fit.
	if blocks := r.Sections[3].Tables[1]; len(blocks.Rows) != 2*len(threadsEach) ||
		len(blocks.Rows[0]) != len(blocks.Header) {
		t.Errorf("blocks %v", blocks)
	}
	if got := steps(1200, 100, 4); !slices.Equal(got, []int{120, 1200}) {
		t.Errorf("sizes %v", got)
	}
}

// Texts to measure with are made of the words, all of which are found.
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
		if found := m.Round(text, d); found != n || text.Len() != n {
			t.Errorf("%s: %d of %d words found", name, found, text.Len())
		}
		first := m.Total()
		if m.Round(text, d); first <= 0 || m.Total() > first {
			t.Errorf("%s: %v, and then %v", name, first, m.Total())
		}
	}
	if f, u := ByFrequency(w, n, 1).Chars(), Uniform(w, n, 1).Chars(); f >= u {
		t.Errorf("frequent words have %d characters, all words %d", f, u)
	}
}

// The k most frequent words are a vocabulary, so that words of larger ones are longer; real counts
// are kept to; and rearranged texts have the same words.
func TestRankedVocabularies(t *testing.T) {
	r := Generated(20_000)
	var last float64
	for _, k := range []int{200, 2000, 20_000} {
		mean, variance := wordLengths(r.Draw(k, 20_000, 1, false))
		if mean <= last || variance <= 0 {
			t.Errorf("%d words: mean length %v, variance %v; fewer words %v", k, mean, variance, last)
		}
		last = mean
		if frequent, _ := wordLengths(r.Draw(k, 20_000, 1, true)); frequent >= mean {
			t.Errorf("%d words: by frequency %v, equally often %v", k, frequent, mean)
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
		t.Errorf("%d of 10000 words are one that has nine counts of ten", n)
	}
	sorted := byWordLength(text)
	if sorted.Len() != text.Len() || sorted.Chars() != text.Chars() ||
		string(sorted.Word(0)) != "the" || string(sorted.Word(9999)) != "rare" {
		t.Errorf("rearranged: %d words, %d characters, %q to %q", sorted.Len(), sorted.Chars(),
			sorted.Word(0), sorted.Word(9999))
	}
	if _, err := r.Top(20_001); err == nil {
		t.Error("more words than there are")
	}
	path, err := c.textFile(t.Context(), t.TempDir(), 10_000)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if len(data) < 9990 || len(data) > 10_010 ||
		strings.Count(string(data), "the") < 10*strings.Count(string(data), "rare")/2 ||
		err != nil {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if q := Quick(); len(Items()) == 0 || len(DictItems()) == 0 || len(q.Sizes) == 0 {
		t.Error("nothing quick")
	}
}
