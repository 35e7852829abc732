package words

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/text"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*max(1, math.Abs(want))) {
		t.Errorf("%s is %.10g, want %.10g", what, got, want)
	}
}

// sharedData returns a path in the folder of shared data beside the repository, and skips the test
// if it is not there.
func sharedData(t testing.TB, parts ...string) string {
	t.Helper()
	path := filepath.Join(append([]string{"..", "..", "shared", "data"}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no shared data here: %v", err)
	}
	return path
}

func corpusOf(t testing.TB, format text.Format, content string) *text.Corpus {
	t.Helper()
	path := filepath.Join(t.TempDir(), "corpus.txt")
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return &text.Corpus{Paths: []string{path}, Options: text.Options{Format: format}}
}

func analyzer(t testing.TB, name string) text.Analyzer {
	t.Helper()
	an, err := text.ParseAnalyzer(name)
	if err != nil {
		t.Fatal(err)
	}
	return an
}

// matrixOf writes the matrix of a corpus and opens it.
func matrixOf(t testing.TB, corpus *text.Corpus, opt cooccur.Options) *cooccur.Reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.cooc")
	var file *cooccur.File
	_, stats, err := cooccur.Make(t.Context(), corpus, cooccur.VocabularyOptions{Analyzer: opt.Analyzer}, opt,
		func(v *cooccur.Vocabulary) (_ cooccur.Sink, err error) {
			file, err = cooccur.Create(path, cooccur.CSR, v, opt)
			return file, err
		})
	if err != nil {
		t.Fatal(err)
	}
	file.Describe(stats)
	if err := file.Commit(); err != nil {
		t.Fatal(err)
	}
	r, err := cooccur.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// The table of a pair with O = 30, f1 = 50, f2 = 200, window 5 on both sides in 100,000 words, by
// hand: E = 50*200*10/100000 = 1; R1 = 500, C1 = 200; O12 = 470, O21 = 170, O22 = 99330.
func TestMeasuresByHand(t *testing.T) {
	c := Counts{O: 30, F1: 50, F2: 200, Span: 10, N: 100_000}
	near(t, "E", c.Expected(), 1, 1e-12)
	for m, want := range map[Measure]float64{
		Value:   30,
		Dice:    60.0 / 250,
		LogDice: 14 + math.Log2(0.24),
		MI:      math.Log2(30),
		PPMI:    math.Log2(30),
		MI3:     math.Log2(27000),
		NPMI:    math.Log2(30) / math.Log2(1e6/30),
		T:       29 / math.Sqrt(30),
		Z:       29,
		DeltaP:  30.0/500 - 170.0/99500,
		DeltaP2: 30.0/200 - 470.0/99800,
		Odds:    30.5 * 99330.5 / (470.5 * 170.5),
		Chi2:    100_000 * math.Pow(30*99330-470*170-50_000, 2) / (500 * 99500 * 200 * 99800),
		G2: 2 * (30*math.Log(30) + 470*math.Log(470/(500*99800/1e5)) + 170*math.Log(170/(99500*200/1e5)) +
			99330*math.Log(99330/(99500*99800/1e5))),
	} {
		near(t, m.String(), m.Score(c, 1), want, 1e-9)
	}
	// A pair rarer than chance.
	c.O = 0.5
	for _, m := range []Measure{MI, NPMI, T, Z, G2, DeltaP} {
		if s := m.Score(c, 1); s >= 0 {
			t.Errorf("%v of a pair rarer than chance is %g, want below 0", m, s)
		}
	}
	if s := PPMI.Score(c, 1); s != 0 {
		t.Errorf("PPMI of a pair rarer than chance is %g, want 0", s)
	}
}

// Spans overlap, so there may be more co-occurrences than words. Scores and p-values stay in range.
func TestCrowdedTables(t *testing.T) {
	for _, c := range []Counts{{O: 30, F1: 5, F2: 6, Span: 10, N: 40},
		{O: 500, F1: 90, F2: 80, Span: 10, N: 200}, {O: 1, F1: 1, F2: 1, Span: 2, N: 2}} {
		for m := range measures {
			if s := m.Score(c, 10); math.IsNaN(s) || math.IsInf(s, 0) {
				t.Errorf("%v of %+v is %g, want a finite number", m, c, s)
			}
		}
		if p := c.PValue(); !(p >= 0 && p <= 1) {
			t.Errorf("p of %+v is %g, want 0 to 1", c, p)
		}
		if p := math.Exp(c.table().fisher()); !(p >= 0 && p <= 1) {
			t.Errorf("Fisher's p of %+v is %g, want 0 to 1", c, p)
		}
	}
}

// Fisher's lady tasting tea, with 3 of 4 cups right: P(at least 3) = (16 + 1)/70.
func TestFisher(t *testing.T) {
	tea := table{o11: 3, r1: 4, c1: 4, n: 8}
	near(t, "p", math.Exp(tea.fisher()), 17.0/70, 1e-12)
	near(t, "p of no association", math.Exp(table{o11: 1, r1: 4, c1: 4, n: 8}.fisher()), 69.0/70, 1e-12)
}

// Values of R's corpora::keyness(7, 1000, 2, 1000): the formulas of Evert (2022), here by hand, and
// the beta quantile of scipy.stats.beta.ppf(0.025, 7, 3). LRC of the clear case is log2 of the odds
// of beta.ppf(0.025, 70, 21).
func TestKeyness(t *testing.T) {
	p := 0.39990642628368783
	near(t, "LRC", KeyLRC.Score(7, 1000, 2, 1000, 1), max(0, math.Log2(p/(1-p))), 1e-9)
	near(t, "LRC of a clear case", KeyLRC.Score(70, 1000, 20, 1000, 1), 1.0733866592333638, 1e-9)
	near(t, "LRC of the opposite", KeyLRC.Score(20, 1000, 70, 1000, 1), -1.0733866592333638, 1e-9)
	near(t, "log ratio", KeyLogRatio.Score(7, 1000, 2, 1000, 1), math.Log2(3.5), 1e-12)
	near(t, "log ratio of none", KeyLogRatio.Score(7, 1000, 0, 1000, 1), math.Log2(14), 1e-12)
	near(t, "%DIFF", KeyDiff.Score(7, 1000, 2, 1000, 1), 250, 1e-12)
	near(t, "G2", KeyG2.Score(7, 1000, 2, 1000, 1),
		2*(7*math.Log(7/4.5)+2*math.Log(2/4.5)+993*math.Log(993/995.5)+998*math.Log(998/995.5)),
		1e-9)
	near(t, "G2", -KeyG2.Score(2, 1000, 7, 1000, 1), KeyG2.Score(7, 1000, 2, 1000, 1), 1e-12)
}

// Gries (2020), "Analyzing dispersion": the word a in five parts of 9, 10, 10, 10 and 11 words. DP
// is 0.18, DPnorm 0.2195, Juilland's D 0.785.
func TestDispersionOfGries(t *testing.T) {
	sizes := []uint64{9, 10, 10, 10, 11}
	d := Disperse([]uint64{1, 2, 3, 4, 5}, sizes)
	near(t, "DP", d.DP, 0.18, 1e-12)
	near(t, "DPnorm", d.DPnorm, 0.18/0.82, 1e-12)
	near(t, "D", d.D, 0.785, 5e-4)
	if d.Range != 5 || d.Parts != 5 || d.Count != 15 {
		t.Errorf("%+v: want 15 occurrences in 5 of 5 parts", d)
	}
	even := Disperse([]uint64{9, 10, 10, 10, 11}, sizes)
	near(t, "DP of an even word", even.DP, 0, 1e-12)
	near(t, "D of an even word", even.D, 1, 1e-6)
	one := Disperse([]uint64{7, 0, 0, 0, 0}, sizes)
	near(t, "DPnorm of a word of the smallest part", one.DPnorm, 1, 1e-12)
	near(t, "D of a word of one part", one.D, 0, 0)
}

func TestAdjust(t *testing.T) {
	// R: p.adjust(c(0.01, 0.02, 0.03, 0.04, 0.05), "BH") is 0.05 five times; of the second list
	// c(0.005, 0.2, 0.03) it is 0.015, 0.2, 0.045.
	a := newAdjusted([]float64{0.05, 0.01, 0.02, 0.04, 0.03})
	for _, p := range []float64{0.01, 0.02, 0.03, 0.04, 0.05} {
		near(t, "q", a.Q(p), 0.05, 1e-12)
	}
	a = newAdjusted([]float64{0.005, 0.2, 0.03})
	for p, want := range map[float64]float64{0.005: 0.015, 0.2: 0.2, 0.03: 0.045} {
		near(t, "q", a.Q(p), want, 1e-12)
	}
	near(t, "Bonferroni", a.Bonferroni(0.03), 0.09, 1e-12)
	near(t, "Bonferroni", a.Bonferroni(0.5), 1, 1e-12)
}

type reference struct {
	Words     uint64
	Documents int
	Pairs     []struct {
		Word1, Word2 string
		O            float64
		F1, F2       uint64
		Documents    int
		Expected     float64
		MI, T        float64
		Dice         float64
		LogDice      float64
		G2           *float64
		G2NLTK       float64 `json:"g2_nltk"`
		P, Q         float64
		Chi2         float64
		Fisher       float64
		LRC          float64
	}
}

// On a whole book all measures agree with scipy and NLTK, and so do the documents of pairs:
// testdata/reference.py says how the values were made.
func TestAWholeBookAgainstScipyAndNLTK(t *testing.T) {
	data, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var want reference
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	corpus := &text.Corpus{Paths: []string{sharedData(t, "glove", "generated-tinyshakespeare",
		"corpus.txt")}, Options: text.Options{Format: text.Blank}}
	r := matrixOf(t, corpus, cooccur.Options{Window: 5, Weighting: cooccur.Count, Analyzer: analyzer(t, "ascii")})
	if r.Corpus().Kept != want.Words {
		t.Fatalf("%d words, want %d", r.Corpus().Kept, want.Words)
	}
	by := []Measure{MI, T, Dice, LogDice, G2, Chi2, Fisher}
	var list []Association
	var ps []float64
	for _, p := range want.Pairs {
		id1, _ := r.Lookup(p.Word1)
		id2, _ := r.Lookup(p.Word2)
		a, ok, err := pairOf(r, id1, id2, Options{By: by, P: true})
		if err != nil || !ok {
			t.Fatalf("%s %s co-occur: %v, %v, want true", p.Word1, p.Word2, ok, err)
		}
		name := p.Word1 + " " + p.Word2
		near(t, name+": O", a.Count, p.O, 0)
		near(t, name+": f1", float64(a.F1), float64(p.F1), 0)
		near(t, name+": f2", float64(a.F2), float64(p.F2), 0)
		for i, v := range []float64{p.MI, p.T, p.Dice, p.LogDice} {
			near(t, name+": "+by[i].String(), a.Scores[i], v, 1e-9)
		}
		c := Counts{O: p.O, F1: float64(p.F1), F2: float64(p.F2), Span: 10, N: float64(want.Words)}
		near(t, name+": expected", c.Expected(), p.Expected, 1e-12)
		near(t, name+": lrc", LRC.Score(c, 1000), p.LRC, 1e-6)
		near(t, name+": fisher", a.Scores[6], p.Fisher, 1e-6)
		if p.G2 != nil {
			near(t, name+": g2", a.Scores[4], *p.G2, 1e-6)
			near(t, name+": g2 of NLTK", a.Scores[4], p.G2NLTK, 1e-6)
			near(t, name+": p", math.Log(c.PValue()), math.Log(p.P), 1e-6)
			near(t, name+": chi2", a.Scores[5], p.Chi2, 1e-6)
			ps = append(ps, c.PValue())
		}
		list = append(list, a)
	}
	adjust := newAdjusted(slices.Clone(ps))
	i := 0
	for _, p := range want.Pairs {
		if p.G2 != nil {
			near(t, p.Word1+" "+p.Word2+": q", adjust.Q(ps[i]), p.Q, 1e-6)
			i++
		}
	}
	if err := Spread(t.Context(), r, corpus, list, SpreadOptions{}); err != nil {
		t.Fatal(err)
	}
	for i, p := range want.Pairs {
		if list[i].Spread.Range != p.Documents || list[i].Spread.Parts != want.Documents {
			t.Errorf("%s %s: %d of %d documents, want %d of %d", p.Word1, p.Word2,
				list[i].Spread.Range, list[i].Spread.Parts, p.Documents, want.Documents)
		}
	}
}

// The same pair has one PMI by the margins of the matrix and another by frequencies, as the comment
// of cooccur.Measure says.
func TestTwoPMIs(t *testing.T) {
	r := matrixOf(t, corpusOf(t, text.Lines, "a b\nc a\n"),
		cooccur.Options{Window: 2, Weighting: cooccur.Count, Analyzer: analyzer(t, "whitespace")})
	a, _ := r.Lookup("a")
	b, _ := r.Lookup("b")
	if value, pmi, err := r.Pair(a, b, cooccur.PMI); err != nil || value != 1 || pmi != 1 {
		t.Errorf("by margins: %v, %v, %v, want 1, 1", value, pmi, err)
	}
	list, err := Neighbours(r, a, Options{By: []Measure{MI}, Top: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list.Pairs {
		if p.Scores[0] != -1 {
			t.Errorf("by frequencies: %s %v, want -1", p.Word2, p.Scores[0])
		}
	}
	if len(list.Pairs) != 2 {
		t.Errorf("%d pairs, want 2", len(list.Pairs))
	}
}

// Patterns are matched with words as the analyzer makes them, unless it makes stems.
func TestPatternsAreOfWholeWords(t *testing.T) {
	stems := map[string]bool{"lucene-english": true}
	for _, name := range text.Analyzers() {
		if _, err := text.ParseAnalyzer(name + "@1"); err == nil && name != "unicode" {
			stems[name] = true // the languages have a first version
		}
		q, err := ParseQuery("run*", analyzer(t, name))
		if err != nil {
			t.Fatal(err)
		}
		want := name
		if stems[name] {
			want = "unicode@2"
		}
		if got := q.folded.Name(); got != want {
			t.Errorf("%s: patterns are matched with words of %s, want %s", name, got, want)
		}
	}
}

// pairOf returns the association of two words of a matrix; ok is false if they never co-occur.
func pairOf(r *cooccur.Reader, id1, id2 int, o Options) (a Association, ok bool, err error) {
	m, err := newMatrix(r, o)
	if err != nil {
		return a, false, err
	}
	cols, values, err := r.Row(id1)
	if err != nil {
		return a, false, err
	}
	i, ok := slices.BinarySearch(cols, uint32(id2))
	if !ok {
		return a, false, nil
	}
	return m.describe(candidate{id1: uint32(id1), id2: uint32(id2), value: values[i]}, 1), true, nil
}
