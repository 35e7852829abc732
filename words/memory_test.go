package words

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/collocate/collocate/text"
)

// drawnLines writes lines of drawn words, of which small numbers are frequent, and returns the
// corpus.
func drawnLines(t *testing.T, seed uint64, words int) *text.Corpus {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for i := range words {
		fmt.Fprintf(&b, "w%d%c", r.IntN(1+r.IntN(500)), " \n"[i%9/8])
	}
	path := filepath.Join(t.TempDir(), "drawn.txt")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return &text.Corpus{Paths: []string{path}, Options: text.Options{Format: text.Lines}}
}

// Lists that do not fit in memory are those that do, whatever their order and their limits, and
// Each gets what is otherwise returned.
func TestListsBeyondMemory(t *testing.T) {
	ctx := context.Background()
	corpus, reference := drawnLines(t, 1, 20_000), drawnLines(t, 2, 10_000)
	an, _ := text.ParseAnalyzer("unicode")
	q, err := ParseQuery("w1* w2", an)
	if err != nil {
		t.Fatal(err)
	}
	const little = 200_000
	for _, o := range []ConcordanceOptions{
		{Top: 1 << 20}, {Top: 1500}, {Top: 1 << 20, Sort: []string{"R1", "M"}},
		{Top: 2000, Sort: []string{"L1"}}, {Top: 1 << 20, Sample: 2500}, {Top: 10, Sample: 3000, Sort: []string{"L2"}},
	} {
		want, err := Concord(ctx, corpus, q, o)
		if err != nil || len(want.Lines) < 10 {
			t.Fatalf("%d lines, %v", len(want.Lines), err)
		}
		o.Memory, o.TempDir = little, t.TempDir()
		got, err := Concord(ctx, corpus, q, o)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: the lines differ with little memory, %v", o, err)
		}
		var each []Line
		o.Each = func(l Line) error { each = append(each, l); return nil }
		if got, err = Concord(ctx, corpus, q, o); err != nil || len(got.Lines) > 0 || got.Total != want.Total ||
			!reflect.DeepEqual(each, want.Lines) {
			t.Errorf("%+v: the lines that Each got differ, %v", o, err)
		}
	}
	for _, o := range []NgramOptions{{MinCount: 1}, {MinCount: 2, Top: 20_000}, {MinCount: 1, Min: 3, Max: 3, Top: 5}} {
		want, stats, err := Ngrams(ctx, corpus, o)
		if err != nil || len(want) < 5 {
			t.Fatalf("%d n-grams, %v", len(want), err)
		}
		o.Memory, o.TempDir = 2<<20, t.TempDir() // less would not hold the pairs of a level
		got, found, err := Ngrams(ctx, corpus, o)
		stats.Spilled = found.Spilled
		if err != nil || found != stats || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: the n-grams differ with little memory: %+v, want %+v, %v", o, found, stats, err)
		}
		var each []Ngram
		o.Each = func(g Ngram) error { each = append(each, g); return nil }
		if got, _, err = Ngrams(ctx, corpus, o); err != nil || len(got) > 0 || !reflect.DeepEqual(each, want) {
			t.Errorf("%+v: the n-grams that Each got differ, %v", o, err)
		}
	}
	for _, o := range []CorpusKeyOptions{
		{KeyOptions: KeyOptions{Top: 1 << 20, MinCount: 1, By: KeyLogRatio}}, {Documents: true, KeyOptions: KeyOptions{By: KeyG2}},
		{N: 3, KeyOptions: KeyOptions{Top: 1 << 20, MinCount: 1, By: KeyG2}},
		{N: 2, Documents: true, KeyOptions: KeyOptions{Top: 7, By: KeyLogRatio, Negative: true}},
	} {
		want, stats, err := KeywordsOf(ctx, corpus, reference, o)
		if err != nil || len(want) == 0 {
			t.Fatalf("%d keywords, %v", len(want), err)
		}
		o.Memory, o.TempDir = 3<<20, t.TempDir()
		got, found, err := KeywordsOf(ctx, corpus, reference, o)
		if err != nil || found != stats || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: the keywords differ with little memory: %+v, want %+v, %v", o, found, stats, err)
		}
		var each []Keyword
		o.Each = func(k Keyword) error { each = append(each, k); return nil }
		if got, _, err = KeywordsOf(ctx, corpus, reference, o); err != nil || len(got) > 0 || !reflect.DeepEqual(each, want) {
			t.Errorf("%+v: the keywords that Each got differ, %v", o, err)
		}
	}
}

// What cannot be held is refused by name.
func TestKeywordsThatDoNotFit(t *testing.T) {
	f := Frequencies{Total: 1000, Counts: map[string]uint64{}}
	for i := range 1000 {
		f.Counts[fmt.Sprint("w", i)] = 1
	}
	_, _, err := Keywords(context.Background(), f, f, KeyOptions{MinCount: 1, Memory: 10_000})
	if err == nil || !strings.Contains(err.Error(), "words.KeyOptions.Memory") {
		t.Errorf("error %v, want one that names the bound", err)
	}
}
