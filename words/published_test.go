package words

import (
	"math"
	"testing"
)

// The table of Dunning (1993), "Accurate methods for the statistics of surprise and coincidence":
// bigrams of 31,777 words of a Swiss newspaper. Each is a comparison of two corpora: the second
// word after the first word, and after all others.
func TestLogLikelihoodOfDunning(t *testing.T) {
	for _, row := range []struct {
		bigram             string
		ab, aOnly, bOnly   float64
		neither, published float64
	}{
		{"the swiss", 110, 2442, 111, 29114, 270.72},
		{"can be", 29, 13, 123, 31612, 263.90},
		{"previous year", 31, 23, 139, 31584, 256.84},
		{"mineral water", 10, 0, 3, 31764, 167.23},
		{"at the", 76, 104, 2476, 29121, 157.21},
		{"real terms", 16, 16, 51, 31694, 157.03},
		{"natural gas", 9, 0, 5, 31763, 146.80},
		{"owing to", 16, 0, 865, 30896, 115.02},
		{"health insurance", 10, 9, 41, 31717, 104.53},
		{"stiff competition", 8, 2, 27, 31740, 100.96},
	} {
		g2 := KeyG2.Score(row.ab, row.ab+row.aOnly, row.bOnly, row.bOnly+row.neither, 1)
		near(t, row.bigram, g2, row.published, 0.005)
	}
}

// The example of CQPweb's and UCREL's calculators: 52 of 50,000 words against 57 of 75,000.
func TestLogLikelihoodOfTheWizard(t *testing.T) {
	near(t, "G2", KeyG2.Score(52, 50_000, 57, 75_000, 1), 2.65, 0.005)
}

// Keywords of 1,177 German articles on resistant germs against 341,805 other articles, by document
// frequency, of 20,109 compared. Values of the reference implementation of Evert (2022), as the
// tests of R's package corpora have them (tests/keyness.R; every 90th of its rows by G2, and the
// first).
func TestKeywordsOfEvert(t *testing.T) {
	for _, row := range []struct {
		lemma   string
		f1, f2  float64
		g2, lrc float64
	}{
		{"Antibiotikum", 944, 367, 10290.404741, 9.132239},
		{"Keim", 936, 805, 9325.545870, 8.071781},
		{"resistent", 778, 244, 8397.956504, 9.365925},
		{"Infektion", 780, 699, 7503.594957, 7.984664},
		{"Darm", 174, 252, 1427.082522, 6.958776},
		{"Händedesinfektion", 73, 5, 796.003356, 9.519279},
		{"ärztlich", 124, 1651, 531.888370, 3.766072},
		{"selben", 27, 0, 307.056330, 8.793000},
		{"Linezolid", 14, 0, 159.058474, 7.467076},
		{"solange", 9, 0, 102.213523, 6.361979},
		{"Falschdiagnose", 3, 1, 29.564058, 0.988364},
		{"Billigpersonal", 2, 1, 18.890004, 0},
	} {
		const n1, n2, compared = 1177, 341805, 20109
		near(t, row.lemma+": G2", KeyG2.Score(row.f1, n1, row.f2, n2, compared), row.g2, 1e-6*row.g2)
		near(t, row.lemma+": LRC", KeyLRC.Score(row.f1, n1, row.f2, n2, compared), row.lrc, 2e-6)
		// The other way round the signs change.
		near(t, row.lemma+": G2 of the rest", KeyG2.Score(row.f2, n2, row.f1, n1, compared), -row.g2, 1e-6*row.g2)
		near(t, row.lemma+": LRC of the rest", KeyLRC.Score(row.f2, n2, row.f1, n1, compared), -row.lrc, 2e-6)
		if p := chiTail(row.g2); p > 2e-5 || math.IsNaN(p) {
			t.Errorf("%s: p is %v, want at most 2e-5", row.lemma, p)
		}
	}
}
