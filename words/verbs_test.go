package words

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/text"
)

// randomText returns random documents of the words a to h, of which the first are more frequent.
func randomText(docs int, seed uint64) (lines []string) {
	rng := rand.New(rand.NewPCG(seed, 7))
	for range docs {
		var words []string
		for range rng.IntN(30) {
			words = append(words, string(rune('a'+min(rng.IntN(8), rng.IntN(8)))))
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return lines
}

// plainNgrams counts n-grams by their definition.
func plainNgrams(docs []string, lo, hi int, minCount uint64, minDocs int) (list []Ngram) {
	counts, in := map[string]uint64{}, map[string]map[int]bool{}
	for d, doc := range docs {
		w := strings.Fields(doc)
		for n := lo; n <= hi; n++ {
			for i := 0; i+n <= len(w); i++ {
				g := strings.Join(w[i:i+n], " ")
				counts[g]++
				if in[g] == nil {
					in[g] = map[int]bool{}
				}
				in[g][d] = true
			}
		}
	}
	for g, c := range counts {
		if c >= minCount && len(in[g]) >= minDocs {
			list = append(list, Ngram{len(strings.Fields(g)), g, c, len(in[g])})
		}
	}
	slices.SortFunc(list, func(a, b Ngram) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Text, b.Text))
	})
	return list
}

// N-grams are those of the definition, in memory and with temporary files and several passes.
func TestNgrams(t *testing.T) {
	for _, docs := range []int{0, 1, 40, 300} {
		lines := randomText(docs, uint64(docs))
		corpus := corpusOf(t, text.Lines, strings.Join(lines, "\n"))
		for _, o := range []NgramOptions{
			{Min: 1, Max: 4, MinCount: 1}, {Min: 2, Max: 5, MinCount: 3, MinDocs: 2},
			{Min: 3, Max: 3, MinCount: 2, Top: 7}, {Min: 1, Max: 4, MinCount: 1, Top: 100},
			{Min: 1, Max: 5, MinCount: 2, Memory: 40_000, Threads: 1},
		} {
			o.Analyzer = analyzer(t, "whitespace")
			got, stats, err := Ngrams(t.Context(), corpus, o)
			if err != nil {
				t.Fatal(err)
			}
			want := plainNgrams(lines, o.Min, o.Max, o.MinCount, o.MinDocs)
			if stats.Found != len(want) {
				t.Errorf("%d documents, %+v: found %d, want %d", docs, o, stats.Found, len(want))
			}
			if o.Top > 0 {
				want = want[:min(len(want), o.Top)]
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d documents, %+v: %d n-grams, the first %v, want %d, the first %v", docs, o,
					len(got), got[:min(3, len(got))], len(want), want[:min(3, len(want))])
			}
			if o.Memory > 0 && docs == 300 && !stats.Spilled {
				t.Errorf("%+v: nothing was spilled", o)
			}
		}
	}
}

// NgramOptions.Of keeps the n-grams that have a match at any of their words.
func TestNgramsOfWord(t *testing.T) {
	lines := randomText(40, 40)
	corpus := corpusOf(t, text.Lines, strings.Join(lines, "\n"))
	some := strings.Fields(lines[0])[0]
	for query, match := range map[string]func(string) bool{
		some:                     func(w string) bool { return w == some },
		some[:1] + "*":           func(w string) bool { return w[0] == some[0] },
		"/" + some + "|nothing/": func(w string) bool { return w == some },
		"nothing":                func(string) bool { return false },
	} {
		o := NgramOptions{Min: 1, Max: 5, MinCount: 2, Analyzer: analyzer(t, "whitespace")}
		all := plainNgrams(lines, o.Min, o.Max, o.MinCount, 0)
		want := slices.DeleteFunc(all, func(g Ngram) bool { return !slices.ContainsFunc(strings.Fields(g.Text), match) })
		o.Of, _ = ParseQuery(query, o.Analyzer)
		got, stats, err := Ngrams(t.Context(), corpus, o)
		if err != nil || !slices.Equal(got, want) || stats.Found != len(want) {
			t.Errorf("%s: %d n-grams of %d, want %d, %v", query, len(got), stats.Found, len(want), err)
		}
		if query == some && len(want) == 0 {
			t.Errorf("%s: no n-gram to compare", query)
		}
	}
}

// The n-grams that tie with the last one are compared, but not all are held in memory.
func TestNgramsThatTie(t *testing.T) {
	var doc strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&doc, "w%d ", (i*7+4321)%5000)
	}
	list, stats, err := Ngrams(t.Context(), corpusOf(t, text.Lines, doc.String()),
		NgramOptions{Min: 1, Max: 1, MinCount: 1, Top: 3})
	want := []Ngram{{1, "w0", 1, 1}, {1, "w1", 1, 1}, {1, "w10", 1, 1}}
	if err != nil || !slices.Equal(list, want) || stats.Found != 5000 {
		t.Errorf("%v of %d, %v; want %v of 5000", list, stats.Found, err, want)
	}
	if cap(list) > 2000 {
		t.Errorf("memory for %d n-grams, of which 3 are wanted", cap(list))
	}
}

func TestNgramsRefuse(t *testing.T) {
	corpus := corpusOf(t, text.Lines, "a b")
	phrase, _ := ParseQuery(`"a b"`, analyzer(t, "unicode"))
	if _, _, err := Ngrams(t.Context(), corpus, NgramOptions{Of: phrase}); err == nil {
		t.Error("n-grams of a phrase: no error")
	}
	for _, o := range []NgramOptions{{Min: 3, Max: 2}, {Min: 1, Max: 10}, {Min: -1, Max: 2}} {
		if _, _, err := Ngrams(t.Context(), corpus, o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
}

// The list of words has the counts and dispersion of the definition, whatever the threads and
// parts.
func TestList(t *testing.T) {
	lines := randomText(200, 3)
	corpus := corpusOf(t, text.Lines, strings.Join(lines, "\n"))
	for _, threads := range []int{1, 3} {
		list, err := List(t.Context(), corpus, ListOptions{Analyzer: analyzer(t, "whitespace"), Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		var sizes []uint64
		for _, l := range lines {
			sizes = append(sizes, uint64(len(strings.Fields(l))))
		}
		for _, w := range list.Words {
			var counts []uint64
			for _, l := range lines {
				n := uint64(0)
				for _, f := range strings.Fields(l) {
					if f == w.Word {
						n++
					}
				}
				counts = append(counts, n)
			}
			if want := Disperse(counts, sizes); w.Dispersion != want || w.Count != want.Count {
				t.Errorf("%s: %+v, want %+v", w.Word, w.Dispersion, want)
			}
		}
		groups, err := List(t.Context(), corpus,
			ListOptions{Analyzer: analyzer(t, "whitespace"), Threads: threads,
				Parts: Parts{Group: regexp.MustCompile(`.$`)}})
		if err != nil || groups.Parts != 10 {
			t.Errorf("%d groups by the last digit, %v, want 10", groups.Parts, err)
		}
	}
	// Four equal parts of one document.
	one := corpusOf(t, text.File, "a a a b\na c c b\nd d d b\nd e e b\n")
	list, err := List(t.Context(), one, ListOptions{Analyzer: analyzer(t, "whitespace"), Parts: Parts{Equal: 4}})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range list.Words {
		if w.Parts != 4 {
			t.Errorf("%s: %d parts, want 4", w.Word, w.Parts)
		}
		if w.Word == "b" && (w.DP != 0 || w.Range != 4) || w.Word == "c" && w.Range != 1 {
			t.Errorf("%+v: want b evenly in 4 parts and c in 1", w)
		}
	}
}

func TestQueries(t *testing.T) {
	an := analyzer(t, "english")
	for _, bad := range []string{"", "  ", `"`, `"a b`, "...", `"*"`, "*", "***", "/(/", "/a)(b/",
		"fox AND hen", "(fox OR hen)x OR y", "NOT fox", "fox NEAR/3 hen", "fox BEFORE/10 hen", "fox && hen",
		`"the fox"~2`, `"the fox"^2 hen`, "!fox", "fo*^2"} {
		if _, err := ParseQuery(bad, an); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
	for _, good := range []string{`"the fox" ~2`, `"NEAR/3"`, "near/3", "BEFORE", "fox!", "2^10"} {
		if _, err := ParseQuery(good, an); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
}

const fable = `The fox saw the grapes. The grapes were high.
A foxy fox jumped for the grapes, and the Fox missed.
Nothing here.
Foxes say that grapes are sour.`

// A concordance of a corpus and of its index are the same.
func TestConcordance(t *testing.T) {
	for _, name := range []string{"unicode", "english"} {
		an := analyzer(t, name)
		corpus := corpusOf(t, text.Lines, fable)
		for kind, r := range map[string]*segments.Reader{"one": indexOf(t, corpus, an),
			"living": livingOf(t, corpus, an)} {
			compareConcordances(t, kind+" "+name, corpus, an, r)
		}
	}
	q, _ := ParseQuery("grapes", analyzer(t, "unicode"))
	got, err := Concord(t.Context(), corpusOf(t, text.Lines, fable), q,
		ConcordanceOptions{Window: 2, Sort: []string{"R1"}})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, l := range got.Lines {
		lines = append(lines, l.Left+"|"+l.Match+"|"+l.Right)
	}
	if want := []string{"for the|grapes|, and the", "say that|grapes|are sour.",
		"saw the|grapes|. The grapes", "grapes. The|grapes|were high."}; !slices.Equal(lines,
		want) {
		t.Errorf("lines sorted by R1: %q, want %q", lines, want)
	}
}

// In a query, ' and ’ are the same, also in an index. Quotes and full stops at the ends of a
// document are shown, and none is cut between the bytes of a character.
func TestConcordanceOfTypographicText(t *testing.T) {
	const lines = "“It’s late,” he said… it's not “late”\nＡ “don’t”。\n我爱你。\n"
	for _, name := range []string{"unicode", "english"} {
		an := analyzer(t, name)
		corpus := corpusOf(t, text.Lines, lines)
		r := indexOf(t, corpus, an)
		for query, want := range map[string][]string{
			"don't":      {"Ａ “|don’t|”。"},
			"it's":       {"“|It’s|late,” he said… it's not “late”", "“It’s late,” he said…|it's|not “late”"},
			"/it.s/":     {"“|It’s|late,” he said… it's not “late”", "“It’s late,” he said…|it's|not “late”"},
			"don't*":     {"Ａ “|don’t|”。"},
			"*n't":       {"Ａ “|don’t|”。"},
			"\"it’s *\"": {"“|It’s late|,” he said… it's not “late”", "“It’s late,” he said…|it's not|“late”"},
			"你":          {"我爱|你|。"},
		} {
			q, err := ParseQuery(query, an)
			if err != nil {
				t.Fatal(err)
			}
			a, err := Concord(t.Context(), corpus, q, ConcordanceOptions{})
			if err != nil {
				t.Fatal(err)
			}
			b, err := ConcordIndex(t.Context(), r, q, ConcordanceOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for kind, found := range map[string]*Concordance{"corpus": a, "index": b} {
				var got []string
				for _, l := range found.Lines {
					got = append(got, l.Left+"|"+l.Match+"|"+l.Right)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%s, %s: %s: %q, want %q", name, kind, query, got, want)
				}
			}
		}
	}
}

// Stems differ from their words also in the first letters. An index of stems still finds all that
// wildcards match.
func TestWildcardsInIndexOfStems(t *testing.T) {
	words := strings.Fields("trying its dying skies Mädchen Öl über éxito één événement ёлка " +
		"والبيت bhfear țară İstanbul வோர் Kelvin")
	corpus := corpusOf(t, text.Lines, strings.Join(words, "\n"))
	analyzers := text.Analyzers()
	for i := 0; i < len(analyzers); i += trials.Every(4) {
		name := analyzers[i]
		if name == "ascii" { // Ö is not a word to it
			continue
		}
		an := analyzer(t, name)
		r := indexOf(t, corpus, an)
		for _, word := range words {
			letters := []rune(word)
			n := len(letters)
			for _, query := range []string{word + "*", string(letters[:n-1]) + "*",
				string(letters[:1]) + "*" + string(letters[n-1:])} {
				q, err := ParseQuery(query, an)
				if err != nil {
					t.Fatal(err)
				}
				want, err := Concord(t.Context(), corpus, q, ConcordanceOptions{})
				if err != nil {
					t.Fatal(err)
				}
				got, err := ConcordIndex(t.Context(), r, q, ConcordanceOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(plain(got.Lines), plain(want.Lines)) {
					t.Errorf("%s, %s: %q in the index, %q in the corpus", name, query, plain(got.Lines), plain(want.Lines))
				}
				if len(want.Lines) == 0 {
					t.Errorf("%s, %s: no line", name, query)
				}
			}
		}
	}
}

func TestAppendLower(t *testing.T) {
	for _, s := range []string{"", "Fox", "ÖL und Öl", "\u212Aelvin İI ſ", "A\xffB\xe2\x84", "日本A", "\u1E9Eẞ"} {
		if got, want := appendLower([]byte("x"), []byte(s)), "x"+string(bytes.ToLower([]byte(s))); string(got) != want {
			t.Errorf("%q in lower case: %q, want %q", s, got, want)
		}
	}
}

// With and Without look at the words near the match, not at the match itself.
func TestConcordanceContext(t *testing.T) {
	an := analyzer(t, "unicode")
	corpus := corpusOf(t, text.Lines, fable)
	r := indexOf(t, corpus, an)
	for _, c := range []struct {
		query, with, without string
		window, want         int
	}{{"grapes", "", "", 2, 4}, {"grapes", "grapes", "", 2, 2}, {"grapes", "high sour", "", 2, 2},
		{"grapes", "", "high sour", 2, 2}, {"grapes", `"were high"`, "", 1, 0},
		{"grapes", `"were high"`, "", 2, 1}, {"grapes", "*s", "", 2, 2}, {"grapes", "s*", "*igh", 2, 2}} {
		o := ConcordanceOptions{Window: c.window}
		q, err := o.parseQueries(c.query, c.with, c.without, an)
		if err != nil {
			t.Fatal(err)
		}
		a, err := Concord(t.Context(), corpus, q, o)
		if err != nil {
			t.Fatal(err)
		}
		b, err := ConcordIndex(t.Context(), r, q, o)
		if err != nil {
			t.Fatal(err)
		}
		if a.Total != c.want || !slices.Equal(plain(a.Lines), plain(b.Lines)) {
			t.Errorf("%+v: %q in the corpus, %q in the index, want %d lines", c, plain(a.Lines),
				plain(b.Lines), c.want)
		}
	}
	o := ConcordanceOptions{}
	for _, bad := range [][2]string{{"/(/", ""}, {"", "AND"}} {
		if _, err := o.parseQueries("fox", bad[0], bad[1], an); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

// If nothing is found, a concordance lists the unknown words of the query, with similar ones.
func TestConcordanceOfUnknownWords(t *testing.T) {
	an := analyzer(t, "unicode")
	corpus := corpusOf(t, text.Lines, fable)
	for _, r := range []*segments.Reader{indexOf(t, corpus, an), livingOf(t, corpus, an)} {
		for query, want := range map[string]string{"grapse": "[{grapse [grapes]}]", "grapes": "[]",
			`"grapes fox"`: "[]", "zebr*": "[]", `"foxi zebra"`: "[{foxi [fox foxy]} {zebra []}]",
			"fox's": "[{fox's [foxes fox foxy]}]"} {
			q, err := ParseQuery(query, an)
			if err != nil {
				t.Fatal(err)
			}
			a, err := Concord(t.Context(), corpus, q, ConcordanceOptions{})
			if err != nil {
				t.Fatal(err)
			}
			b, err := ConcordIndex(t.Context(), r, q, ConcordanceOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(a.Unknown) != want || fmt.Sprint(b.Unknown) != want {
				t.Errorf("%s: %v in the corpus, %v in the index, want %s", query, a.Unknown, b.Unknown, want)
			}
		}
	}
}

func plain(lines []Line) (list []string) {
	for _, l := range lines {
		list = append(list, fmt.Sprint(l.Document, l.Place, l.Left, "|", l.Match, "|", l.Right))
	}
	return list
}

// Words that only the first corpus has are its keywords; those as frequent in both are none.
func TestKeywords(t *testing.T) {
	count := func(s string) (f Frequencies) {
		v, stats, err := cooccur.CountWords(t.Context(), corpusOf(t, text.Lines, s), cooccur.VocabularyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		f = Frequencies{uint64(stats.Words), map[string]uint64{}}
		for id := range v.Len() {
			f.Counts[string(v.Word(id))] = v.Count(id)
		}
		return f
	}
	a := count(strings.Repeat("the whale swam ", 200))
	b := count(strings.Repeat("the horse ran ", 300))
	list, compared, err := Keywords(t.Context(), a, b, KeyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if compared != 5 || len(list) != 2 || list[0].Word != "swam" || list[1].Word != "whale" ||
		list[0].F2 != 0 || list[0].LRC < 3 {
		t.Errorf("%d compared, %+v, want 5, and swam and whale", compared, list)
	}
	list, _, err = Keywords(t.Context(), a, b, KeyOptions{Negative: true, By: KeyG2})
	if err != nil || len(list) != 2 || list[0].Word != "horse" || list[0].G2 >= 0 {
		t.Errorf("negative: %+v, %v, want horse and ran", list, err)
	}
	// A word that a small corpus does not have is not typical of it, and one that a large corpus
	// has is not missing there.
	small := count("the whale swam in the sea")
	large := count(strings.Repeat("the horse ran and ran ", 200) + "a foal neighed")
	for _, c := range []struct {
		here, there Frequencies
		negative    bool
	}{{small, large, false}, {large, small, true}} {
		list, _, err = Keywords(t.Context(), c.here, c.there,
			KeyOptions{By: KeyLogRatio, Negative: c.negative, Top: 100, MinCount: 1})
		if err != nil || len(list) != 5 {
			t.Errorf("negative %v: %+v, %v: want the 5 words of the small corpus", c.negative, list, err)
		}
	}
	if _, _, err := Keywords(t.Context(), a, Frequencies{}, KeyOptions{}); err == nil {
		t.Error("an empty reference corpus: no error")
	}
}

// The count of a pair is the number of occurrences of the second word in the span of each
// occurrence of the first, also where both are the same word. With both sides it is the sum of the
// sides.
func TestCountsOfPairsFollowTheDefinition(t *testing.T) {
	const window = 3
	docs := randomText(60, 4)
	docs = append(docs, "very very very good", "very", "a b a")
	corpus := corpusOf(t, text.Lines, strings.Join(docs, "\n"))
	for _, side := range []cooccur.Side{cooccur.Both, cooccur.Left, cooccur.Right} {
		want, inDocs := map[[2]string]float64{}, map[[2]string]int{}
		for _, doc := range docs {
			list, seen := strings.Fields(doc), map[[2]string]bool{}
			for i, u := range list {
				for j, v := range list {
					far := j - i
					if far == 0 || far < -window || far > window || far > 0 && side == cooccur.Left ||
						far < 0 && side == cooccur.Right {
						continue
					}
					pair := [2]string{u, v}
					want[pair]++
					if !seen[pair] {
						seen[pair] = true
						inDocs[pair]++
					}
				}
			}
		}
		if side == cooccur.Both && want[[2]string{"very", "very"}] != 6 {
			t.Fatalf("very is in the span of very %v times, want 6", want[[2]string{"very", "very"}])
		}
		own := 0
		list, _, err := CollocationsOf(t.Context(), corpus, CorpusOptions{
			Options: Options{MinCount: 1, Top: 1e6}, Window: window, Side: side, MinDocs: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list.Pairs {
			pair := [2]string{p.Word1, p.Word2}
			if p.Count != want[pair] || p.Spread.Range != inDocs[pair] {
				t.Errorf("%v: %v co-occur %v times in %d documents, want %v in %d", side, pair, p.Count,
					p.Spread.Range, want[pair], inDocs[pair])
			}
			if p.Word1 == p.Word2 {
				own++
			}
		}
		if own < 5 {
			t.Errorf("%v: %d words co-occur with themselves, want some", side, own)
		}
	}
}

// Associations of a small matrix are the best of all pairs, by every measure and on any number of
// threads. A weighted matrix has no p-values.
func TestCollocations(t *testing.T) {
	corpus := corpusOf(t, text.Lines, strings.Join(randomText(100, 5), "\n"))
	r := matrixOf(t, corpus, cooccur.Options{Window: 3, Weighting: cooccur.Count})
	for m := range measures {
		var want []Association
		for i := range r.Len() {
			for j := i; j < r.Len(); j++ {
				if a, ok, err := pairOf(r, i, j, Options{By: []Measure{m}}); err != nil {
					t.Fatal(err)
				} else if ok && a.Count >= 4 {
					want = append(want, a)
				}
			}
		}
		if m == LRC {
			for i, a := range want {
				c := Counts{O: a.Count, F1: float64(a.F1), F2: float64(a.F2), Span: 6, N: float64(r.Corpus().Kept)}
				want[i].Scores[0] = LRC.Score(c, len(want))
			}
		}
		slices.SortFunc(want, func(a, b Association) int {
			return cmp.Or(cmp.Compare(b.Scores[0], a.Scores[0]), cmp.Compare(a.ID1, b.ID1), cmp.Compare(a.ID2, b.ID2))
		})
		for _, threads := range []int{1, 3} {
			got, err := Collocations(t.Context(), r,
				Options{By: []Measure{m}, MinCount: 4, Top: 8, Threads: threads, P: true})
			if err != nil {
				t.Fatal(err)
			}
			if got.Compared != len(want) {
				t.Errorf("%v: %d compared, want %d", m, got.Compared, len(want))
			}
			for i, a := range got.Pairs {
				if a.Word1 != want[i].Word1 || a.Word2 != want[i].Word2 || a.Scores[0] != want[i].Scores[0] {
					t.Errorf("%v: pair %d is %s %s %g, want %s %s %g", m, i, a.Word1, a.Word2,
						a.Scores[0], want[i].Word1, want[i].Word2, want[i].Scores[0])
				}
				if a.Q < a.P || a.Bonferroni < a.Q {
					t.Errorf("%v: p %g, q %g, Bonferroni %g, want ascending", m, a.P, a.Q, a.Bonferroni)
				}
			}
		}
	}
	for _, parts := range []Parts{{}, {Equal: 5}, {Group: regexp.MustCompile(`.$`)}} {
		got, err := Collocations(t.Context(), r, Options{Top: 100})
		if err != nil {
			t.Fatal(err)
		}
		if err := Spread(t.Context(), r, corpus, got.Pairs, SpreadOptions{Parts: parts, Threads: 2}); err != nil {
			t.Fatal(err)
		}
		for _, a := range got.Pairs {
			if a.Spread.Range < 1 || a.Spread.Range > a.Spread.Parts || a.Spread.DP < 0 || a.Spread.DP > 1 {
				t.Errorf("%s %s: %+v is no dispersion", a.Word1, a.Word2, a.Spread)
			}
		}
	}
	other := corpusOf(t, text.Lines, "a b a b")
	got, _ := Collocations(t.Context(), r, Options{})
	if err := Spread(t.Context(), r, other, got.Pairs, SpreadOptions{}); err == nil ||
		!strings.Contains(err.Error(), "another corpus") {
		t.Errorf("Spread over another corpus: %v, want an error that says so", err)
	}
	weighted := matrixOf(t, corpus, cooccur.Options{Window: 3})
	for _, o := range []Options{{P: true}, {By: []Measure{G2}}, {By: []Measure{LogDice, LRC}}} {
		if _, err := Neighbours(weighted, 0, o); err == nil || !strings.Contains(err.Error(), "weighted") {
			t.Errorf("%+v of a weighted matrix: %v, want an error that says so", o, err)
		}
	}
	whole := matrixOf(t, corpus, cooccur.Options{Window: cooccur.WholeDocument, Weighting: cooccur.Count})
	if _, err := Neighbours(whole, 0, Options{By: []Measure{MI}}); err == nil {
		t.Error("MI where the window is the whole document: no error")
	}
	if _, err := Neighbours(whole, 0, Options{}); err != nil {
		t.Error(err)
	}
}

// The places in a plot are shares of the corpus, on any number of threads.
func TestPlot(t *testing.T) {
	corpus := corpusOf(t, text.Lines, "a b a\nc\nb b a a\n")
	for _, threads := range []int{1, 3} {
		p, err := PlotOf(t.Context(), corpus, analyzer(t, "whitespace"), []string{"a", `"b a"`}, threads)
		if err != nil {
			t.Fatal(err)
		}
		if p.Words != 8 || !slices.Equal(p.Rows[0].Places, []float64{0, 0.25, 0.75, 0.875}) ||
			!slices.Equal(p.Rows[1].Places, []float64{0.125, 0.625}) {
			t.Errorf("%+v: want 8 words, a at 0, 2, 6 and 7, b a at 1 and 5", p)
		}
		if !slices.Equal(p.Borders, []float64{0.375, 0.5, 1}) || !slices.Equal(p.Rows[0].Bars(2), []int{2, 2}) {
			t.Errorf("%+v: want borders after 3, 4 and 8 words, and 2 matches of a in each half", p)
		}
	}
	if _, err := PlotOf(t.Context(), corpusOf(t, text.Lines, ""), analyzer(t, "whitespace"),
		[]string{"a"}, 1); err == nil {
		t.Error("an empty corpus: no error")
	}
}

func FuzzParseQuery(f *testing.F) {
	f.Add(`"grey wol*" moon * "as * as"`)
	f.Add(`*ing g*y /gr[ae]y/ "/a|the/ *y" don't`)
	f.Fuzz(func(t *testing.T, s string) {
		for _, name := range []string{"whitespace", "english"} {
			q, err := ParseQuery(s, analyzer(t, name))
			if err != nil {
				continue
			}
			doc := []byte("The grey wolf saw the grey moon, as grey as he. " + s)
			tokens := text.Tokens{WantSource: true}
			if err := q.analyzer.Analyze(doc, &tokens); err != nil {
				t.Fatal(err)
			}
			for i := range tokens.Words {
				q.match(doc, &tokens, i, len(tokens.Words))
			}
		}
	})
}

// indexOf builds and opens an index of a corpus, with its text.
func indexOf(t *testing.T, corpus *text.Corpus, an text.Analyzer) *segments.Reader {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "index")
	if err := index.Build(t.Context(), dir, corpus, index.BuildOptions{Analyzer: an, StoreText: true}); err != nil {
		t.Fatal(err)
	}
	return openIndex(t, dir)
}

// livingOf is indexOf with each document in a segment of its own, and a deleted document.
func livingOf(t *testing.T, corpus *text.Corpus, an text.Analyzer) *segments.Reader {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "living")
	w, err := segments.NewWriter(dir, segments.Options{Analyzer: an, StoreText: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	add := func(d text.Document) {
		if err := w.Add(d); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
	}
	add(text.Document{ID: "gone", Text: []byte("The fox and the grapes.")})
	for d, err := range corpus.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		add(d)
	}
	if _, err := w.Delete("gone"); err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	return openIndex(t, dir)
}

func openIndex(t *testing.T, dir string) *segments.Reader {
	t.Helper()
	r, err := segments.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func compareConcordances(t *testing.T, name string, corpus *text.Corpus, an text.Analyzer, r *segments.Reader) {
	t.Helper()
	foxes := 3
	if strings.HasSuffix(name, "english") {
		foxes = 4
	}
	for query, want := range map[string]int{"fox": foxes, "fox*": 5, `"the grapes"`: 3,
		`"fox * the"`: 1, `"the f*"`: 2, "nothing fox": foxes + 1, "unicorn": 0, "uni*": 0,
		"*s": 5, "f*x": 3, "*o*y": 1, "*fox*": 5, "f*x*x": 0, "/FOX(y|es)?/": 5, "/ox/": 0, "/.*r/": 2,
		`"the /g.*/"`: 3, `"the *s"`: 3, "JUMP*": 1} {
		q, err := ParseQuery(query, an)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range []ConcordanceOptions{{}, {Threads: 2, Sort: []string{"R1", "L1"}},
			{Sample: 2, Seed: 4}, {Top: 1}} {
			a, err := Concord(t.Context(), corpus, q, o)
			if err != nil {
				t.Fatal(err)
			}
			b, err := ConcordIndex(t.Context(), r, q, o)
			if err != nil {
				t.Fatal(err)
			}
			if a.Total != want || !a.All {
				t.Errorf("%s: %s has %d matches, want %d", name, query, a.Total, want)
			}
			if b.All && b.Total != want {
				t.Errorf("%s: %s has %d matches in the index, want %d", name, query, b.Total, want)
			}
			if fmt.Sprint(plain(a.Lines)) != fmt.Sprint(plain(b.Lines)) {
				t.Errorf("%s: %s: %v in the corpus, %v in the index", name, query, a.Lines, b.Lines)
			}
			if o.Sample > 0 && len(a.Lines) != min(want, o.Sample) || o.Top > 0 && len(a.Lines) != min(want, o.Top) {
				t.Errorf("%s: %+v: %d lines of %d", query, o, len(a.Lines), want)
			}
		}
	}
}

// The counts of a word over parts of an index add up, however it is segmented. Deleted documents
// are not counted.
func TestSpreadOverIndex(t *testing.T) {
	corpus := corpusOf(t, text.Lines, fable)
	for _, r := range []*segments.Reader{indexOf(t, corpus, analyzer(t, "unicode")),
		livingOf(t, corpus, analyzer(t, "unicode"))} {
		for _, parts := range []int{1, 2, 3, 100} {
			s, err := SpreadOverIndex(t.Context(), r, []byte("grapes"), parts)
			if err != nil {
				t.Fatal(err)
			}
			sum := func(list []uint64) (n uint64) {
				for _, x := range list {
					n += x
				}
				return n
			}
			if s.Documents != 3 || sum(s.Counts) != 4 || sum(s.Sizes) != 28 || len(s.Counts) != parts {
				t.Errorf("%d parts: %+v, want 3 documents, 4 occurrences and 28 words", parts, s)
			}
		}
	}
}

// A sequence in a file reads back, and errors of the disk are returned as they are.
func TestSequenceInFile(t *testing.T) {
	s, err := newSequence(true, t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	const n = sequenceBuffer/4 + 3
	for x := range uint32(n) {
		if err := s.add(x); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.done(); err != nil {
		t.Fatal(err)
	}
	next := s.reader()
	for want := range uint32(n) {
		if got, err := next(); err != nil || got != want {
			t.Fatalf("number %d: %d, %v", want, got, err)
		}
	}
	s.n++
	next = s.reader()
	for range n {
		if _, err := next(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := next(); err != errSequence {
		t.Errorf("a number beyond the end of the file: %v, want %v", err, errSequence)
	}
	if err := s.file.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.reader()(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a closed file: %v, want %v", err, fs.ErrClosed)
	}
}

// Where a word is wanted, a pattern is refused: an analyzer would drop its signs, and the answer
// would be about another word. A concordance takes patterns, and refuses what only other languages
// have.
func TestSignsThatAnalyzersDropAreRefused(t *testing.T) {
	an := analyzer(t, "unicode")
	for _, word := range []string{"frei*", "*heit", "fr?i", "/frei.*/", "frei^2", "frei~", "#frei", "frei|los"} {
		if got, err := OneWord(word, an); err == nil || !strings.Contains(err.Error(), "is a pattern") {
			t.Errorf("%s: %q, %v; want an error that says that it is a pattern", word, got, err)
		}
	}
	for word, want := range map[string]string{"Freiheit": "freiheit", "(frei)": "frei", "don’t": "don't", "frei,": "frei"} {
		if got, err := OneWord(word, an); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", word, got, err, want)
		}
	}
	r := matrixOf(t, corpusOf(t, text.Lines, "frei wie ein vogel"), cooccur.Options{Analyzer: an})
	if id, err := Find(r, "frei*"); err == nil {
		t.Errorf("frei* is found as %s, want an error", r.Word(id))
	}
	for query, want := range map[string]string{
		"#year:>2050 freiheit": "#year:>2050", "#lang:de freiheit": "#lang:de", "+frei heit": "+frei",
		"-frei": "-frei", "(frei heit)": "(frei", "frei^2": "frei^2", "frei~1": "frei~1",
		"fr?i": "fr?i", "frei?*": "frei?*", "frei|los": "frei|los",
	} {
		if _, err := ParseQuery(query, an); err == nil || !strings.HasPrefix(err.Error(), want+": ") {
			t.Errorf("%s: %v; want an error about %s", query, err, want)
		}
	}
	for _, query := range []string{"frei*", "#freiheit", `/fr(e|o)i?h.*/`, `"how are you?"`, "co-op", "what?", "don't"} {
		if _, err := ParseQuery(query, an); err != nil {
			t.Errorf("%s: %v", query, err)
		}
	}
	if _, err := ParseQuery("-frei", analyzer(t, "whitespace")); err != nil {
		t.Errorf("a word with signs: %v", err)
	}
}

// Pages of lines after one another are the lines of one long page, in a corpus and its index, in
// any order; Count counts all matches from any page.
func TestConcordancePages(t *testing.T) {
	an := analyzer(t, "unicode")
	corpus := corpusOf(t, text.Lines, strings.Repeat(fable+"\n", 7))
	r := livingOf(t, corpus, an)
	q, err := ParseQuery("*o* grapes", an)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []ConcordanceOptions{{Window: 3}, {Window: 3, Sort: []string{"R1", "L1"}},
		{Window: 3, Sort: []string{"M"}, Sample: 17, Seed: 4}} {
		whole := o
		whole.Top = 1000
		want, err := Concord(t.Context(), corpus, q, whole)
		if err != nil {
			t.Fatal(err)
		}
		if want.Total < 40 {
			t.Fatalf("%d lines: want more to divide", want.Total)
		}
		for _, size := range []int{1, 5, 16, len(want.Lines)} {
			ofCorpus, ofIndex := o, o
			var a, b []Line
			for from := 0; from <= len(want.Lines); from += size {
				ofCorpus.From, ofCorpus.Top = from, size
				ofIndex.From, ofIndex.Top, ofIndex.Count = from, size, true
				x, err := Concord(t.Context(), corpus, q, ofCorpus)
				if err != nil {
					t.Fatal(err)
				}
				y, err := ConcordIndex(t.Context(), r, q, ofIndex)
				if err != nil {
					t.Fatal(err)
				}
				if a, b = append(a, x.Lines...), append(b, y.Lines...); y.Total != want.Total || !y.All {
					t.Errorf("%+v: %d matches, all %v: want %d", ofIndex, y.Total, y.All, want.Total)
				}
			}
			if !slices.Equal(a, want.Lines) || !slices.Equal(plain(b), plain(want.Lines)) {
				t.Errorf("%+v: pages of %d lines differ from one of all %d", o, size, len(want.Lines))
			}
		}
	}
	last := ConcordanceOptions{From: math.MaxInt - 3, Top: math.MaxInt}
	if found, err := Concord(t.Context(), corpus, q, last); err != nil || len(found.Lines) > 0 {
		t.Errorf("after the last line: %d lines, %v", len(found.Lines), err)
	}
	if _, err := Concord(t.Context(), corpus, q, ConcordanceOptions{From: -1}); err == nil {
		t.Error("from -1: no error")
	}
}

// parseQueries parses a query for an analyzer and returns it. If with and without are not empty, it
// also parses these and sets With and Without.
func (o *ConcordanceOptions) parseQueries(query, with, without string,
	an text.Analyzer) (q *Query, err error) {
	if q, err = ParseQuery(query, an); err != nil {
		return nil, err
	}
	if with != "" {
		if o.With, err = ParseQuery(with, an); err != nil {
			return nil, fmt.Errorf("with: %w", err)
		}
	}
	if without != "" {
		if o.Without, err = ParseQuery(without, an); err != nil {
			return nil, fmt.Errorf("without: %w", err)
		}
	}
	return q, nil
}
