package weigh

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/dict"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/text"
)

// weight is a line of a result. The weight itself is kept as its bits, for exact comparison.
type weight struct {
	word    string
	df      int
	doc, tf uint32
	bits    uint32
}

func weightsOf(t testing.TB, w *Weights, parts int) (rows []weight) {
	t.Helper()
	for _, part := range w.Parts(t.Context(), parts) {
		for x, err := range part {
			if err != nil {
				t.Fatal(err)
			}
			for i, d := range x.Docs {
				rows = append(rows, weight{string(x.Word), x.DF, d, x.TFs[i], math.Float32bits(x.Weights[i])})
			}
		}
	}
	return rows
}

func weighAll(t testing.TB, docs []text.Document, o Options, seed uint64) *Weights {
	t.Helper()
	if o.Analyzer == nil {
		o.Analyzer = analyzer(t, "whitespace")
	}
	if o.Threads == 0 {
		o.Threads = 1
	}
	w, err := weigh(t.Context(), shuffled(docs, o.Threads, 9, seed), o)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func texts(lines ...string) (docs []text.Document) {
	for i, l := range lines {
		docs = append(docs, text.Document{ID: fmt.Sprint("d", i), Text: []byte(l)})
	}
	return docs
}

func dictionary(t testing.TB, kind dict.Kind, words ...string) dict.Dict {
	t.Helper()
	list, err := dict.ReadWords(strings.NewReader(strings.Join(words, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := dict.Build(t.Context(), list, dict.Options{Kind: kind}, &b); err != nil {
		t.Fatal(err)
	}
	d, err := dict.Parse(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The example of the package comment.
func TestTheExample(t *testing.T) {
	w := weighAll(t, texts("a rose is a rose", "a thorn"), Options{Method: Sequential}, 1)
	got := ""
	for x := range w.Terms(t.Context()) {
		got += fmt.Sprintf("%s %d %.3f\n", x.Word, x.Docs, x.Weights)
	}
	if want := "a [0 1] [0.000 0.000]\nis [0] [0.590]\nrose [0] [0.851]\nthorn [1] [0.841]\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if w.Docs() != 2 || w.Tokens() != 7 || w.TextBytes() != 23 || w.ID(1) != "d1" ||
		!slices.Equal(w.Lengths(), []uint32{5, 2}) {
		t.Errorf("%d documents, %d words, %d bytes, ID(1) %q, lengths %d; want 2, 7, 23, \"d1\", [5 2]",
			w.Docs(), w.Tokens(), w.TextBytes(), w.ID(1), w.Lengths())
	}
}

// The sequential method computes the formula, in all variants.
func TestSequentialIsTheFormula(t *testing.T) {
	docs := randomDocs(3, 100, 200, 60)
	want, lengths := invertPlainly(t, docs, analyzer(t, "whitespace"))
	tokens := uint64(0)
	for _, l := range lengths {
		tokens += uint64(l)
	}
	for _, name := range bm25.Variants() {
		v, err := bm25.ParseVariant(name)
		if err != nil {
			t.Fatal(err)
		}
		p := bm25.Params{K1: 0.9, B: 0.4, Variant: v}
		s, err := p.Scorer(uint64(len(docs)), tokens)
		if err != nil {
			t.Fatal(err)
		}
		got := weightsOf(t, weighAll(t, docs, Options{Method: Sequential, Params: p}, 1), 1)
		if len(got) != len(want) {
			t.Fatalf("%d weights, want %d", len(got), len(want))
		}
		for i, r := range want {
			exact := s.Exact(uint64(r.df), uint64(r.tf), float64(lengths[r.doc]), tokens)
			w := math.Float32frombits(got[i].bits)
			if got[i].word != r.word || got[i].doc != r.doc || got[i].tf != r.tf ||
				math.Abs(float64(w)-exact) > 1e-5*exact {
				t.Fatalf("%s: %+v is %v, want %+v, %v", name, got[i], w, r, exact)
			}
		}
	}
}

// All methods give the same bits, for any number of threads, amount of memory and treatment of
// unknown words.
func TestMethodsAgree(t *testing.T) {
	for seed := range uint64(trials.Of(3)) {
		docs := randomDocs(seed, 120, 30<<(3*seed), 60)
		docs[7].Text, docs[8].Text = nil, []byte("  ")
		var known []string
		all, _ := invertPlainly(t, docs, analyzer(t, "whitespace"))
		for i, r := range all {
			if i%3 == 0 {
				known = append(known, r.word)
			}
		}
		known = append(known, "never", "seen")
		for _, o := range []Options{
			{},
			{Dict: dictionary(t, dict.XBW, known...)},
			{Dict: dictionary(t, dict.Hash, known...), Unknown: Merge},
			{Dict: dictionary(t, dict.XBWPlain, known...), Unknown: Drop,
				Params: bm25.Params{K1: 2, B: 0.3, Variant: bm25.Plus}},
			{Dict: dictionary(t, dict.STT), Unknown: Merge},
			{Dict: dictionary(t, dict.Double), Unknown: Drop},
		} {
			o.Method = Sequential
			want := weightsOf(t, weighAll(t, docs, o, seed), 1)
			for m := range methods {
				for _, threads := range []int{1, 3} {
					o.Method, o.Threads = m, threads
					if m == Sequential {
						o.Threads = 1
					}
					o.Memory = 1e9
					if m == Inverting {
						o.Memory = 1 // a run for every document
					}
					w := weighAll(t, docs, o, seed)
					for _, parts := range []int{1, 4} {
						if got := weightsOf(t, w, parts); !slices.Equal(got, want) {
							t.Fatalf("seed %d, %v, %v, %d threads: %d weights differ from the expected %d",
								seed, m, o.Unknown, threads, len(got), len(want))
						}
					}
					if w.Method() != m && m != Auto {
						t.Errorf("method %v reports %v", m, w.Method())
					}
					if err := w.Close(); err != nil {
						t.Error(err)
					}
				}
			}
		}
	}
}

// The weights of known words do not depend on the treatment of unknown ones.
func TestUnknownWords(t *testing.T) {
	docs := texts("b a x b", "y", "a x y y", "a")
	d := dictionary(t, dict.XBW, "a", "b")
	add := weightsOf(t, weighAll(t, docs, Options{Dict: d, Unknown: Add}, 1), 1)
	merge := weightsOf(t, weighAll(t, docs, Options{Dict: d, Unknown: Merge}, 1), 1)
	drop := weightsOf(t, weighAll(t, docs, Options{Dict: d, Unknown: Drop}, 1), 1)
	known := slices.DeleteFunc(slices.Clone(add), func(w weight) bool { return w.word != "a" && w.word != "b" })
	if !slices.Equal(drop, known) {
		t.Errorf("drop gives %v, want %v", drop, known)
	}
	if !slices.Equal(merge[3:], known) {
		t.Errorf("merge gives %v after the merged word, want %v", merge[3:], known)
	}
	for i, want := range []weight{{"", 3, 0, 1, 0}, {"", 3, 1, 1, 0}, {"", 3, 2, 3, 0}} {
		merge[i].bits = 0
		if merge[i] != want {
			t.Errorf("the merged word in document %d is %v, want %v", i, merge[i], want)
		}
	}
}

// Methods that join words with blanks refuse words with blanks, which an analyzer may make. They
// must not silently cut them.
func TestWordsWithBlanks(t *testing.T) {
	docs := texts("x")
	for m := range methods {
		w, err := weigh(t.Context(), shuffled(docs, 1, 1, 1), Options{Method: m, Threads: 1, Analyzer: blanks{}})
		if m == Primitives || m == Dictionary {
			if !errors.Is(err, errSeparators) {
				t.Errorf("%v: error %v, want %v", m, err, errSeparators)
			}
		} else if err != nil {
			t.Errorf("%v: %v", m, err)
		} else if got := weightsOf(t, w, 1); len(got) != 1 || got[0].word != "new york" {
			t.Errorf("%v: weights %v, want one of \"new york\"", m, got)
		}
	}
}

type blanks struct{}

func (blanks) Name() string { return "blanks" }
func (blanks) Analyze(doc []byte, t *text.Tokens) error {
	t.Bytes, t.Words = []byte("new york"), []text.Span{{Start: 0, End: 8}}
	return nil
}

func TestErrors(t *testing.T) {
	docs := randomDocs(1, 50, 100, 50)
	an := analyzer(t, "whitespace")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for m := range methods {
		_, err := weigh(cancelled, shuffled(docs, 1, 9, 1), Options{Method: m, Threads: 1, Analyzer: an})
		if m != Sequential && !errors.Is(err, context.Canceled) { // shuffled ignores the context
			t.Errorf("%v: error %v, want %v", m, err, context.Canceled)
		}
		if m == MapReduce || m == Primitives || m == Dictionary {
			_, err := weigh(t.Context(), shuffled(docs, 1, 9, 1),
				Options{Method: m, Threads: 1, Analyzer: an, Memory: 1000})
			if err == nil || !strings.Contains(err.Error(), m.String()) {
				t.Errorf("%v in 1000 bytes: error %v, want one that names the method", m, err)
			}
		}
	}
	for name, o := range map[string]Options{
		"k1":        {Analyzer: an, Params: bm25.Params{K1: -1}},
		"no method": {Analyzer: an, Method: methods},
	} {
		if _, err := Weigh(t.Context(), &text.Corpus{}, o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestNames(t *testing.T) {
	for _, name := range Methods() {
		if m, err := ParseMethod(name); err != nil || m.String() != name {
			t.Errorf("ParseMethod(%q) is %v, %v", name, m, err)
		}
	}
	for _, name := range []string{"add", "merge", "drop"} {
		if u, err := ParseUnknown(name); err != nil || u.String() != name {
			t.Errorf("ParseUnknown(%q) is %v, %v", name, u, err)
		}
	}
	if _, err := ParseMethod("magic"); err == nil {
		t.Error("method magic: no error")
	}
	if _, err := ParseUnknown("keep"); err == nil {
		t.Error("treatment keep: no error")
	}
	if got, want := fmt.Sprint(Method(-1), Unknown(7)), "Method(-1) Unknown(7)"; got != want {
		t.Errorf("values without a name are printed as %q, want %q", got, want)
	}
}
