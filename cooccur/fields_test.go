package cooccur

import (
	"context"
	"iter"
	"maps"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/text"
)

// withFields returns documents of several fields, in two batches.
func withFields(docs [][]string) *text.Corpus {
	list := make([]text.Document, len(docs))
	for i, fields := range docs {
		d := text.Document{ID: string(rune('a' + i))}
		for k, f := range fields {
			if k > 0 {
				d.Text = append(d.Text, '\n')
				d.Breaks = append(d.Breaks, uint32(len(d.Text)))
			}
			d.Text = append(d.Text, f...)
		}
		list[i] = d
	}
	half := len(list) / 2
	return &text.Corpus{Source: func(context.Context) iter.Seq2[[]text.Document, error] {
		return func(yield func([]text.Document, error) bool) {
			_ = (half == 0 || yield(list[:half], nil)) && yield(list[half:], nil)
		}
	}}
}

// Windows do not cross the borders of fields: a document of fields has the matrix of its fields as
// documents, with every engine and method, in tables and chunks of all sizes.
func TestWindowsDoNotCrossFields(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		words := strings.Fields("a b c d longer-than-fifteen-bytes x")
		v := vocabularyOf(words[:5]...)
		var apart []string
		docs := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) []string {
			return rapid.SliceOfN(rapid.Custom(func(r *rapid.T) string {
				return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 20).Draw(r, "field"), " ")
			}), 1, 4).Draw(r, "fields")
		}), 1, 5).Draw(r, "docs")
		for _, fields := range docs {
			apart = append(apart, fields...)
		}
		opt := Options{
			Window:    rapid.SampledFrom([]int{1, 2, 3, 10, 25}).Draw(r, "window"),
			Side:      rapid.SampledFrom([]Side{Both, Left, Right}).Draw(r, "side"),
			Weighting: rapid.SampledFrom([]Weighting{Distance, Count}).Draw(r, "weighting"),
			Analyzer:  analyzerNamed(t, rapid.SampledFrom([]string{"whitespace", "unicode"}).Draw(r, "analyzer")),
			Threads:   rapid.IntRange(1, 3).Draw(r, "threads"),
		}
		if rapid.Bool().Draw(r, "some") {
			opt.Subsample = 0.05
		}
		if opt.Analyzer.Name() == "unicode" {
			v = vocabularyOf(words[:4]...) // it takes hyphens for borders of words
		}
		brute := opt
		if opt.Window == WholeDocument {
			brute.Window = 100
		}
		var want map[[2]uint32]float64
		var first Stats
		if opt.Subsample == 0 {
			var vocabulary []string
			for id := range v.Len() {
				vocabulary = append(vocabulary, string(v.Word(id)))
			}
			if want = bruteForce(apart, vocabulary, brute); opt.Analyzer.Name() == "unicode" {
				want = bruteForce(hyphensApart(apart), vocabulary, brute)
			}
		}
		for i, c := range []struct {
			kind   engine.Kind
			method Method
			small  bool
		}{{engine.Sequential, Ours, false}, {engine.Sequential, Ours, true}, {engine.Multicore, Ours, false},
			{engine.Multicore, Ours, true}, {engine.Multicore, Paper, false}} {
			o := opt
			if o.Engine, o.Method = c.kind, c.method; c.small && o.Window != WholeDocument {
				o.tableLimit, o.chunkLimit, o.blockSize = 5, 20, 4*o.Window+maxPieceWords+2
			}
			var got cells
			stats, err := Matrix(t.Context(), withFields(docs), v, o, &got)
			if err != nil {
				r.Fatalf("%+v: %v", o, err)
			}
			stats.Engine, stats.Runs = 0, 0
			if i == 0 {
				first = stats
				if want == nil {
					want = got.m
				}
			}
			if !maps.Equal(got.m, want) || stats != first || stats.Documents != int64(len(docs)) {
				r.Fatalf("%q\n%+v\n got %v, %+v\nwant %v, %+v, %d documents", docs, o, got.m, stats, want,
					first, len(docs))
			}
		}
	})
}

func hyphensApart(docs []string) (list []string) {
	for _, d := range docs {
		list = append(list, strings.ReplaceAll(d, "-", " "))
	}
	return list
}

// A GPU hands documents with fields to the cores: one device or two, for a matrix alone or with
// its vocabulary. Standard input, which cannot be read again, is refused.
func TestGPUHandsFieldsToTheCores(t *testing.T) {
	gputest.Named(t)
	device := engine.Device{Memory: 32 << 20}
	corpus := withFields([][]string{{"a b", "b c"}, {"c a"}})
	v := vocabularyOf("a", "b", "c")
	want := bruteForce([]string{"a b", "b c", "c a"}, []string{"a", "b", "c"}, Options{Window: 3})
	for _, also := range [][]engine.Device{nil, {device}} {
		opt := Options{Window: 3, Engine: engine.GPU, Device: device, Also: also}
		var alone, made cells
		stats, err := Matrix(t.Context(), corpus, v, opt, &alone)
		if err != nil || stats.Engine != engine.Multicore || !maps.Equal(alone.m, want) {
			t.Errorf("%d devices: %v, %v, %v; want %v on the cores", 1+len(also), alone.m, stats.Engine, err, want)
		}
		begun := 0
		_, stats, err = Make(t.Context(), corpus, VocabularyOptions{Order: ByteOrder}, opt,
			func(*Vocabulary) (Sink, error) {
				begun++
				return &made, nil
			})
		if err != nil || begun != 1 || stats.Engine != engine.Multicore || !maps.Equal(made.m, want) {
			t.Errorf("%d devices, with the vocabulary: %v, %v, %v after %d vocabularies; want %v on the cores, after one",
				1+len(also), made.m, stats.Engine, err, begun, want)
		}
	}
	in := &text.Corpus{Paths: []string{"-"}, Stdin: strings.NewReader(`{"title":"a b","text":"b c"}`),
		Options: text.Options{Fields: []string{"title", "text"}}}
	_, err := Matrix(t.Context(), in, v, Options{Window: 3, Engine: engine.GPU, Device: device}, &cells{})
	if err == nil || !strings.Contains(err.Error(), errBorders.Error()) {
		t.Errorf("standard input: %v, want %v", err, errBorders)
	}
}
