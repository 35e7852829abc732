package cooccur

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/gputest"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/text"
)

// testGPU returns a device: the interpreter, unless the environment names a GPU.
func testGPU(t testing.TB, memory int64) *GPU {
	t.Helper()
	dev, _ := gputest.Device(t)
	s, err := gpu.NewSession(dev, gpuStreams)
	if err != nil {
		t.Fatal(err)
	}
	g := useGPU(s, memory)
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// The GPU gives the matrix of the definition, to the bit, for random corpora and all options,
// whether the device holds everything or only a few words, pairs and sums.
func TestGPUAgreesWithBruteForce(t *testing.T) {
	trials.Long(t, "many launches in the interpreter")
	g := testGPU(t, 32<<20)
	rapid.Check(t, func(r *rapid.T) {
		words := strings.Fields("a b c d é longer-than-fifteen-bytes longer-than-fifteen-bytez")[:rapid.IntRange(0, 7).Draw(r, "words")]
		outside := append([]string{"x", "yy"}, words...)
		docs := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(outside), 0, 40).Draw(r, "doc"), " ")
		}), 1, 8).Draw(r, "docs")
		opt := Options{
			Window: rapid.OneOf(rapid.IntRange(1, 5),
				rapid.SampledFrom([]int{10, 15, 18, 19, 30, deviceWindow})).Draw(r, "window"),
			Side:      rapid.SampledFrom([]Side{Both, Left, Right}).Draw(r, "side"),
			Weighting: rapid.SampledFrom([]Weighting{Distance, Count}).Draw(r, "weighting"),
			Threads:   rapid.IntRange(1, 3).Draw(r, "threads"),
			TempDir:   t.TempDir(),
		}
		if rapid.Bool().Draw(r, "paper") &&
			(opt.Window <= lcmWindow || opt.Weighting == Count && opt.Window <= paperWindow) {
			opt.Method = Paper
			opt.Tables = PaperTables{Streams: rapid.IntRange(0, 4).Draw(r, "streams"),
				Text: 1024 * int64(rapid.IntRange(0, 3).Draw(r, "batch")), Words: 1 << 10,
				Pairs: 1 << 12, Part: rapid.SampledFrom([]int{0, 3, 8}).Draw(r, "part")}
		} else if rapid.Bool().Draw(r, "small") {
			opt.gpuHead = rapid.SampledFrom([]int{1, 2, 4}).Draw(r, "head")
			opt.gpuSums = max(opt.Window, rapid.IntRange(4, 30).Draw(r, "sums"))
			opt.gpuText = 256 * rapid.IntRange(1, 3).Draw(r, "text")
			opt.gpuItems = 2 * opt.gpuText
			if rapid.Bool().Draw(r, "few") {
				opt.gpuCounts = opt.Window * rapid.IntRange(1, 20).Draw(r, "counts")
			}
		}
		want := bruteForce(docs, words, opt)
		corpus, v := corpusOf(t, docs...), vocabularyOf(words...)
		var got cells
		_, err := g.Matrix(context.Background(), corpus, v, opt, &got)
		if err != nil {
			r.Fatalf("%+v: %v", opt, err)
		}
		if !maps.Equal(got.m, want) {
			r.Fatalf("%+v\n got %v\nwant %v", opt, got.m, want)
		}
		if got.rows != v.Len() {
			r.Fatalf("%+v: %d rows, want one for each of %d words", opt, got.rows, v.Len())
		}
	})
}

// When lists of sums run full, equal keys are added up, and what still does not fit is spilled,
// also while the dense matrix is read. The matrix stays that of the definition.
func TestGPUListsRunFull(t *testing.T) {
	trials.Long(t, "many launches in the interpreter")
	g := testGPU(t, 32<<20)
	words := strings.Fields("a b c d e f g h i")
	rng := rand.New(rand.NewPCG(5, 6))
	var docs []string
	for range 4 {
		var doc []string
		for range 30 {
			doc = append(doc, words[min(rng.IntN(9), rng.IntN(9))])
		}
		docs = append(docs, strings.Join(doc, " "))
	}
	v := vocabularyOf(words...)
	for _, x := range []struct {
		docs                       []string
		window, head, sums, counts int
	}{{docs, 3, 1, 17, 0}, {docs, 3, 4, 17, 30}, {docs, 3, 4, 30, 60}, {docs, 3, 4, 70, 30},
		{[]string{"a b c " + strings.Repeat("f g ", 40)}, 3, 4, 30, 30}, // few sums in many runs
		{docs[:1], lcmWindow + 1, 1, 40, 0}} {                           // sums of two planes
		opt := Options{Window: x.window, Threads: 2, TempDir: t.TempDir(), gpuText: 256, gpuItems: 512,
			gpuHead: x.head, gpuSums: x.sums, gpuCounts: x.counts}
		var got cells
		if _, err := g.Matrix(t.Context(), corpusOf(t, x.docs...), v, opt, &got); err != nil {
			t.Fatalf("%+v: %v", opt, err)
		}
		if want := bruteForce(x.docs, words, opt); !maps.Equal(got.m, want) {
			t.Fatalf("%+v\n got %v\nwant %v", opt, got.m, want)
		}
	}
}

// Windows that do not fit in shared memory give the matrix of the definition: counts, sums and wide
// sums, with room for all pairs or for a few, in documents longer and shorter than the window.
func TestGPUFarWindows(t *testing.T) {
	g := testGPU(t, 32<<20)
	words := strings.Fields("a b c d e")
	docs := []string{strings.Repeat("a x b ", 350/trials.Every(5)), "c a", "", strings.Repeat("d e ", 30)}
	v := vocabularyOf(words...)
	for i, opt := range []Options{
		{Window: deviceWindow + 1, Weighting: Count}, {Window: deviceWindow + 1, Side: Right},
		{Window: deviceWindow + 200, Weighting: Count, Side: Left, gpuHead: 2, gpuSums: 20 * deviceWindow},
	} {
		if i%trials.Every(3) > 0 {
			continue
		}
		var got cells
		if _, err := g.Matrix(t.Context(), corpusOf(t, docs...), v, opt, &got); err != nil {
			t.Fatalf("%+v: %v", opt, err)
		}
		if want := bruteForce(docs, words, opt); !maps.Equal(got.m, want) {
			t.Errorf("%+v\n got %v\nwant %v", opt, got.m, want)
		}
	}
}

// messyText returns words that are hard for a tokenizer: with carriage returns, several blanks,
// bytes that are not ASCII, of 15, 16 and about 1,000 bytes, and with long common prefixes.
func messyText(words int, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for range words {
		w := fmt.Sprintf("w%d", min(r.IntN(60), r.IntN(60)))
		switch r.IntN(12) {
		case 0:
			w = strings.Repeat("same-beginning-", 2) + w
		case 1:
			w = strings.Repeat("x", 13+r.IntN(4))
		case 2:
			w = w[:1] + "\r" + w[1:]
		case 3:
			w = string([]byte{0xc3, byte(0xa0 + r.IntN(3))}) + w
		case 4:
			w = strings.ToUpper(w) + "'s"
		case 5:
			if r.IntN(20) == 0 {
				w = strings.Repeat("long", 247+r.IntN(6)) + "é" + w
			}
		}
		b.WriteString(w)
		b.WriteString([]string{" ", " ", " ", "\t", "  ", "\n", "\r\n"}[r.IntN(7)])
	}
	return b.String()
}

// Vocabularies from the GPU are those of the CPU, to the byte, for all kinds of words, formats and
// analyzers.
func TestGPUVocabularies(t *testing.T) {
	trials.Long(t, "many launches in the interpreter")
	g := testGPU(t, 32<<20)
	messy := messyText(4000, 3)
	nul := "a a\x00 a\x00\x00 a b\x00 b b \x80 \x80\x00 é e\n"
	for i, tt := range []struct {
		text   string
		format text.Format
		opt    VocabularyOptions
	}{
		{text: messy},
		{text: messy, opt: VocabularyOptions{Order: ByteOrder, MinCount: 3}},
		{text: messy, opt: VocabularyOptions{MaxSize: 50}},
		{text: messy, opt: VocabularyOptions{Analyzer: analyzerNamed(t, "ascii")}},
		{text: messy, opt: VocabularyOptions{Analyzer: analyzerNamed(t, "unicode"), MinCount: 2}},
		{text: messy, opt: VocabularyOptions{Analyzer: analyzerNamed(t, "english+stop")}},
		{text: messy, format: text.File},
		{text: messy, format: text.Blank, opt: VocabularyOptions{Analyzer: analyzerNamed(t, "ascii")}},
		{text: nul}, {text: nul, opt: VocabularyOptions{Order: ByteOrder}},
		{text: "\xef\xbb\xbfmarked\nno newline at the end"},
		{text: ""}, {text: "\n"}, {text: "\n\n x\n"},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "corpus")
			if err := os.WriteFile(path, []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			corpus := linesOf(path)
			if tt.format != 0 {
				corpus.Options.Format = tt.format
			}
			want, wantStats, err := sequentialWords(t, corpus, tt.opt)
			if err != nil {
				t.Fatal(err)
			}
			got, stats, err := g.CountWords(t.Context(), corpus, tt.opt)
			if err != nil {
				t.Fatal(err)
			}
			var a, b bytes.Buffer
			if _, err := want.WriteTo(&a); err != nil {
				t.Fatal(err)
			}
			if _, err := got.WriteTo(&b); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(a.Bytes(), b.Bytes()) {
				t.Errorf("the vocabularies differ: %d words, want %d", got.Len(), want.Len())
				for i := range min(got.Len(), want.Len()) {
					if !bytes.Equal(got.Word(i), want.Word(i)) {
						t.Fatalf("word %d is %.30q, want %.30q", i, got.Word(i), want.Word(i))
					}
				}
			}
			wantStats.Engine = engine.GPU
			if stats != wantStats {
				t.Errorf("stats %+v, want %+v", stats, wantStats)
			}
		})
	}
}

// sequentialWords makes a vocabulary with the sequential engine.
func sequentialWords(t *testing.T, corpus *text.Corpus, opt VocabularyOptions) (*Vocabulary, VocabularyStats, error) {
	t.Helper()
	opt.Engine = engine.Sequential
	return CountWords(t.Context(), corpus, opt)
}

func analyzerNamed(t *testing.T, name string) text.Analyzer {
	t.Helper()
	a, err := text.ParseAnalyzer(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// The GPU writes the file of the sequential engine, to the byte: with all text on the device, in
// parts, spilled, and with vocabulary and matrix made in one call.
func TestGPUWritesTheSameBytes(t *testing.T) {
	if testing.Short() {
		t.Skip("many launches in the interpreter")
	}
	g := testGPU(t, 32<<20)
	corpus := corpusOf(t, messyText(600, 5)+zipfText(800, 200, 7))
	for i, base := range []Options{
		{Window: 2, Weighting: Count},
		{Window: 10},
		{Window: 20, Side: Left},
		{Window: 3, Side: Right, Subsample: 1e-2, Seed: 5},
		{Window: 4, Analyzer: analyzerNamed(t, "ascii")},
		{Window: 4, Analyzer: analyzerNamed(t, "unicode")},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			vopt := VocabularyOptions{MinCount: 2, Analyzer: base.Analyzer}
			v, _, err := sequentialWords(t, corpus, vopt)
			if err != nil {
				t.Fatal(err)
			}
			want, wantStats := matrixFile(t, v, base, func(o Options, sink Sink) (Stats, error) {
				o.Engine = engine.Sequential
				return Matrix(t.Context(), corpus, v, o, sink)
			})
			for name, small := range map[string]func(*Options){
				"whole":   func(*Options) {},
				"parts":   func(o *Options) { o.gpuItems, o.gpuText = 3000, 1280 },
				"spilled": func(o *Options) { o.gpuHead, o.gpuSums = 8, 60*o.Window },
			} {
				o := base
				o.Threads, o.TempDir = 2, t.TempDir()
				small(&o)
				got, stats := matrixFile(t, v, o, func(o Options, sink Sink) (Stats, error) {
					return g.Matrix(t.Context(), corpus, v, o, sink)
				})
				if !bytes.Equal(got, want) {
					t.Errorf("%s: file of %d bytes, want the %d bytes of the sequential engine", name, len(got),
						len(want))
				}
				if stats.Runs > 0 && name != "spilled" || stats.Runs == 0 && name == "spilled" && base.Analyzer == nil {
					t.Errorf("%s: %d runs, want some only if spilled", name, stats.Runs)
				}
				stats.Engine, stats.Runs = wantStats.Engine, 0
				if stats != wantStats {
					t.Errorf("%s: stats %+v, want %+v", name, stats, wantStats)
				}
			}
			for _, method := range []Method{Ours, Paper} {
				if method == Paper && (base.Window > lcmWindow || base.Subsample > 0 || i == 5) {
					continue
				}
				o := base
				o.Threads, o.Method = 2, method
				sameWhenMade(t, g, corpus, v, vopt, o, want, wantStats)
			}
		})
	}
}

// sameWhenMade makes vocabulary and matrix with one call of Make, and compares the file and the
// stats.
func sameWhenMade(t *testing.T, g *GPU, corpus *text.Corpus, v *Vocabulary, vopt VocabularyOptions,
	o Options, want []byte, wantStats Stats) {
	t.Helper()
	var madeStats Stats
	made, _ := matrixFile(t, v, o, func(o Options, sink Sink) (Stats, error) {
		vs, s, err := g.Make(t.Context(), corpus, vopt, o, func(made *Vocabulary) (Sink, error) {
			if made.Len() != v.Len() {
				return nil, fmt.Errorf("%d words, want %d", made.Len(), v.Len())
			}
			return sink, nil
		})
		if vs.Kept != v.Len() {
			t.Errorf("Make: vocabulary %+v, want %d words", vs, v.Len())
		}
		madeStats = s
		return s, err
	})
	if !bytes.Equal(made, want) {
		t.Errorf("Make, method %v: file of %d bytes, want the %d bytes of the sequential engine", o.Method,
			len(made), len(want))
	}
	if madeStats.Engine = wantStats.Engine; madeStats != wantStats {
		t.Errorf("Make, method %v: stats %+v, want %+v", o.Method, madeStats, wantStats)
	}
}

// matrixFile writes a matrix in GloVe's format and returns the bytes of the file.
func matrixFile(t *testing.T, v *Vocabulary, o Options, run func(Options, Sink) (Stats, error)) ([]byte, Stats) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.bin")
	file, err := Create(path, GloVe, v, o)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Abort()
	stats, err := run(o, file)
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Commit(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b, stats
}

// A corpus that does not fit on the device is read twice. A vocabulary that does not fit is an
// error that names engine.Device.Memory.
func TestGPUCorpusInParts(t *testing.T) {
	trials.Long(t, "many launches in the interpreter")
	g := testGPU(t, 32<<20)
	g.items = 2 * minTextSlot
	corpus := corpusOf(t, zipfText(12_000, 500, 3))
	v, _, err := sequentialWords(t, corpus, VocabularyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Window: 2, Weighting: Count, Threads: 1}
	want, wantStats := matrixFile(t, v, o, func(o Options, sink Sink) (Stats, error) {
		o.Engine = engine.Sequential
		return Matrix(t.Context(), corpus, v, o, sink)
	})
	sameWhenMade(t, g, corpus, v, VocabularyOptions{}, o, want, wantStats)

	small := testGPU(t, 3<<20)
	var many strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&many, "w%d ", i)
	}
	_, _, err = small.CountWords(t.Context(), corpusOf(t, many.String()), VocabularyOptions{Threads: 1})
	if err == nil || !strings.Contains(err.Error(), "raise engine.Device.Memory") {
		t.Errorf("30,000 words in 3 MB: error %v, want one that names engine.Device.Memory", err)
	}
}

// The tables of the paper's engine are emptied before they are full, and no word or pair is lost.
func TestPaperWithSmallTables(t *testing.T) {
	g := testGPU(t, 32<<20)
	corpus := corpusOf(t, strings.ReplaceAll(zipfText(9000, 3000, 9), " ", "  "))
	v, _, err := sequentialWords(t, corpus, VocabularyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	base := Options{Window: 2, Weighting: Count}
	want, wantStats := matrixFile(t, v, base, func(o Options, sink Sink) (Stats, error) {
		o.Engine = engine.Sequential
		return Matrix(t.Context(), corpus, v, o, sink)
	})
	base.Method, base.gpuSums, base.gpuHead, base.Threads, base.TempDir = Paper, 1<<15, 1, 1, t.TempDir()
	got, stats := matrixFile(t, v, base, func(o Options, sink Sink) (Stats, error) {
		return g.Matrix(t.Context(), corpus, v, o, sink)
	})
	if stats.Engine = wantStats.Engine; !bytes.Equal(got, want) || stats != wantStats {
		t.Errorf("same file %v, stats %+v; want true, %+v", bytes.Equal(got, want), stats, wantStats)
	}
	sameWhenMade(t, g, corpus, v, VocabularyOptions{}, base, want, wantStats)
}

// The paper's method on a GPU finds words on the device, so it refuses subsampling and analyzers
// that run on the CPU.
func TestPaperRefusesWhatTheDeviceCannotDo(t *testing.T) {
	g := testGPU(t, 32<<20)
	corpus, v := corpusOf(t, "a b a"), vocabularyOf("a", "b")
	for name, o := range map[string]Options{
		"subsampling": {Subsample: 1e-2},
		"unicode":     {Analyzer: analyzerNamed(t, "unicode")},
	} {
		o.Window, o.Weighting, o.Method = 2, Count, Paper
		_, err := g.Matrix(t.Context(), corpus, v, o, &cells{})
		if err == nil || !strings.Contains(err.Error(), "no subsampling") {
			t.Errorf("%s: error %v, want one that lists what the method takes", name, err)
		}
	}
}

// A document longer than a piece of text stays one document, also with a word longer than a piece.
func TestGPULongDocuments(t *testing.T) {
	g := testGPU(t, 32<<20)
	for _, doc := range []string{
		strings.Repeat("a b\tc  d ", 900),
		strings.Repeat("x", 9000) + " a b a " + strings.Repeat("y", 5000),
		strings.Repeat("a b\r\r c\r", 700) + "a b",
	} {
		for _, format := range []text.Format{text.Lines, text.File} {
			path := filepath.Join(t.TempDir(), "corpus")
			if err := os.WriteFile(path, []byte("a b c\n"+doc+"\nd d\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			corpus := linesOf(path)
			corpus.Options.Format = format
			v, _, err := sequentialWords(t, corpus, VocabularyOptions{})
			if err != nil {
				t.Fatal(err)
			}
			o := Options{Window: 3, Weighting: Count, gpuItems: 3000, gpuText: 1024, Threads: 2}
			var want, got cells
			plain := o
			plain.Engine = engine.Sequential
			wantStats, err := Matrix(t.Context(), corpus, v, plain, &want)
			if err != nil {
				t.Fatal(err)
			}
			stats, err := g.Matrix(t.Context(), corpus, v, o, &got)
			if err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(got.m, want.m) {
				t.Errorf("%.20q: cells %v, want %v", doc, got.m, want.m)
			}
			if stats.Engine = wantStats.Engine; stats != wantStats {
				t.Errorf("%.20q: stats %+v, want %+v", doc, stats, wantStats)
			}
		}
	}
}

// A window too large for the paper's method is an error that leaves no memory allocated on the
// device: closing it would report that.
func TestPaperRefusesWideWindowsWithoutALeak(t *testing.T) {
	g := testGPU(t, 32<<20)
	path := filepath.Join(t.TempDir(), "corpus.txt")
	if err := os.WriteFile(path, []byte("a b c\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	corpus := &text.Corpus{Paths: []string{path}, Options: text.Options{Format: text.Lines}}
	opt := Options{Window: paperWindow + 1, Weighting: Count, Method: Paper}
	_, _, err := g.Make(t.Context(), corpus, VocabularyOptions{}, opt,
		func(*Vocabulary) (Sink, error) { return nil, nil })
	if err == nil || !strings.Contains(err.Error(), "windows of up to") {
		t.Errorf("a window of %d words: error %v, want one that has the largest", opt.Window, err)
	}
}
