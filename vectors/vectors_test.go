package vectors

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/text"
)

// matrixOf returns the matrix of a text with one document per line.
func matrixOf(t testing.TB, content string, opt cooccur.Options) *cooccur.Reader {
	t.Helper()
	return matrixWith(t, content, cooccur.VocabularyOptions{}, opt)
}

func matrixWith(t testing.TB, content string, of cooccur.VocabularyOptions, opt cooccur.Options) *cooccur.Reader {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "corpus.txt"), []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	corpus := &text.Corpus{Paths: []string{filepath.Join(dir, "corpus.txt")}, Options: text.Options{Format: text.Lines}}
	path := filepath.Join(dir, "m.cooc")
	var f *cooccur.File
	_, stats, err := cooccur.Make(t.Context(), corpus, of, opt,
		func(v *cooccur.Vocabulary) (_ cooccur.Sink, err error) {
			f, err = cooccur.Create(path, cooccur.CSR, v, opt)
			return f, err
		})
	if err != nil {
		t.Fatal(err)
	}
	f.Describe(stats)
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	r, err := cooccur.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// animals returns sentences in which cat and dog, and car and bus, occur in the same contexts.
func animals() string {
	rng := rand.New(rand.NewPCG(1, 1))
	var b strings.Builder
	for range 3000 {
		if rng.IntN(2) == 0 {
			fmt.Fprintf(&b, "the %s %s the %s\n", []string{"cat", "dog"}[rng.IntN(2)],
				[]string{"ate", "licked", "chased"}[rng.IntN(3)],
				[]string{"bone", "fish", "mouse"}[rng.IntN(3)])
		} else {
			fmt.Fprintf(&b, "a %s %s a %s\n", []string{"car", "bus"}[rng.IntN(2)],
				[]string{"passed", "stopped", "turned"}[rng.IntN(3)],
				[]string{"street", "corner", "bridge"}[rng.IntN(3)])
		}
	}
	return b.String()
}

func TestWordsOfTheSameContextsAreAlike(t *testing.T) {
	r := matrixOf(t, animals(), cooccur.Options{Window: 3})
	var losses []float64
	glove, err := TrainGloVe(t.Context(), r,
		GloVeOptions{Dim: 10, Epochs: 30, XMax: 10, Seed: 1,
			Progress: func(_ int, l float64) { losses = append(losses, l) }})
	if err != nil {
		t.Fatal(err)
	}
	if len(losses) != 30 || losses[29] > losses[0]/4 {
		t.Errorf("losses %v: want 30, the last at most a quarter of the first", losses)
	}
	svd, err := TrainSVD(t.Context(), r, SVDOptions{Dim: 5})
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]*Vectors{"glove": glove, "svd": svd} {
		for a, b := range map[string]string{"cat": "dog", "car": "bus"} {
			x, _ := v.Lookup(a)
			y, _ := v.Lookup(b)
			z, _ := v.Lookup(map[string]string{"cat": "bridge", "car": "bone"}[a])
			if v.Cosine(x, y) < v.Cosine(x, z)+0.2 {
				t.Errorf("%s: cosine of %s and %s is %.3f, want at least 0.2 more than %.3f", name, a, b,
					v.Cosine(x, y), v.Cosine(x, z))
			}
		}
	}
	again, err := TrainGloVe(t.Context(), r, GloVeOptions{Dim: 10, Epochs: 30, XMax: 10, Seed: 1})
	if err != nil || !slices.Equal(again.Data, glove.Data) {
		t.Errorf("the same seed: other vectors, or an error: %v", err)
	}
	other, err := TrainGloVe(t.Context(), r, GloVeOptions{Dim: 10, Epochs: 30, XMax: 10, Seed: 2})
	if err != nil || slices.Equal(other.Data, glove.Data) {
		t.Errorf("another seed: the same vectors, or an error: %v", err)
	}
	for _, o := range []GloVeOptions{{Dim: -1}, {Epochs: -1}, {Rate: -1}, {Memory: 10}} {
		if _, err := TrainGloVe(t.Context(), r, o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	if _, err := TrainSVD(t.Context(), r, SVDOptions{Dim: 1000}); err == nil {
		t.Error("more dimensions than words: no error")
	}
}

// A step of GloVe follows the gradient of the paper's loss, here taken by finite differences.
func TestStepFollowsTheGradient(t *testing.T) {
	const dim = 6
	o := &GloVeOptions{Dim: dim, Seed: 3, Rate: 0.05, Threads: 1}
	w, v := newParameters(2, o, 0), newParameters(2, o, 1)
	c := cell{0, 1, 2.5, 0.7}
	bias := w.dim
	a, aSums := w.of(0)
	b, bSums := v.of(1)
	loss := func() float64 {
		sum := float64(a[bias]) + float64(b[bias]) - float64(c.log)
		for k := range dim {
			sum += float64(a[k]) * float64(b[k])
		}
		return 0.5 * float64(c.weight) * sum * sum
	}
	want := map[*float32]float64{}
	for _, row := range [][]float32{a, b} {
		for _, k := range []int{0, 1, 2, 3, 4, 5, bias} {
			x := row[k]
			row[k] = x + 1e-2
			up := loss()
			row[k] = x - 1e-2
			down := loss()
			row[k] = x
			rate := o.Rate // sums of squares begin at 1
			if k == bias {
				rate = 1
			}
			want[&row[k]] = float64(x) - rate*(up-down)/2e-2
		}
	}
	before := loss()
	if got := train([]cell{c}, w, v, 0.05); math.Abs(got-before) > 1e-5 {
		t.Errorf("loss %g, want %g", got, before)
	}
	for p, x := range want {
		if math.Abs(float64(*p)-x) > 1e-4 {
			t.Errorf("a parameter is %g after the step, want %g", *p, x)
		}
	}
	if a[dim] != 0 || b[dim] != 0 || aSums[dim] != 1 || bSums[dim] != 1 {
		t.Errorf("the padding is %v and %v, its sums %v and %v after a step, want 0 and 1", a[dim], b[dim],
			aSums[dim], bSums[dim])
	}
}

// The decomposition agrees with gonum's dense SVD of the same matrix.
func TestSVDAgainstDense(t *testing.T) {
	r := matrixOf(t, animals(), cooccur.Options{Window: 3})
	o := SVDOptions{Dim: 4, Eigen: 1, Smoothing: 0.75, Power: 6, Threads: 1}
	v, err := TrainSVD(t.Context(), r, o)
	if err != nil {
		t.Fatal(err)
	}
	o.Threads = 3
	if again, err := TrainSVD(t.Context(), r, o); err != nil || !slices.Equal(again.Data, v.Data) {
		t.Errorf("three threads: other vectors than one thread, or an error: %v", err)
	}
	m, err := newPPMI(t.Context(), r, &o)
	if err != nil {
		t.Fatal(err)
	}
	n := r.Len()
	dense := mat.NewDense(n, n, nil)
	at := uint64(0)
	for row, end := range m.rows.ends {
		for ; at < end; at++ {
			dense.Set(row, int(m.rows.other[at]), float64(m.rows.value[at]))
		}
	}
	var svd mat.SVD
	svd.Factorize(dense, mat.SVDThin)
	var u mat.Dense
	svd.UTo(&u)
	s := svd.Values(nil)
	for i := range n {
		for j := range n {
			want, got := 0.0, 0.0
			for k := range o.Dim {
				want += u.At(i, k) * u.At(j, k) * s[k] * s[k]
				got += float64(v.Of(i)[k]) * float64(v.Of(j)[k])
			}
			if math.Abs(got-want) > 1e-4*s[0]*s[0] {
				t.Fatalf("inner product of words %d and %d: %g, want %g", i, j, got, want)
			}
		}
	}
}

// Without a number of iterations, the decomposition goes on until its subspace is nearly the exact
// one, also where singular values fall slowly, as those of words that occur at random do.
func TestSVDIteratesUntilItIsAccurate(t *testing.T) {
	const dim = 20
	rng := rand.New(rand.NewPCG(5, 5))
	var b strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&b, "w%d%c", rng.IntN(rng.IntN(200)+1), " \n"[i%10/9])
	}
	r := matrixOf(t, b.String(), cooccur.Options{Window: 2})
	o := SVDOptions{Dim: dim, Eigen: -1, Seed: 3, Threads: 2}
	outside := func(power int) float64 {
		o.Power = power
		v, err := TrainSVD(t.Context(), r, o)
		if err != nil {
			t.Fatal(err)
		}
		set := o
		if err := set.settle(r); err != nil {
			t.Fatal(err)
		}
		m, err := newPPMI(t.Context(), r, &set)
		if err != nil {
			t.Fatal(err)
		}
		dense := mat.NewDense(m.n, m.n, nil)
		for row := range m.n {
			from, to := m.rows.of(row)
			for k := from; k < to; k++ {
				dense.Set(row, int(m.rows.other[k]), float64(m.rows.value[k]))
			}
		}
		var svd mat.SVD
		svd.Factorize(dense, mat.SVDThin)
		var u mat.Dense
		svd.UTo(&u)
		inside := 0.0
		for k := range dim {
			for l := range dim {
				dot := 0.0
				for i := range m.n {
					dot += u.At(i, k) * float64(v.Of(i)[l])
				}
				inside += dot * dot
			}
		}
		return math.Sqrt(max(0, 1-inside/dim))
	}
	if got := outside(2); got < 0.1 {
		t.Errorf("after 2 iterations %.3f is outside the exact subspace: the matrix is too easy for this test", got)
	}
	if got := outside(0); got > 0.08 {
		t.Errorf("%.3f of the vectors is outside the exact subspace, want at most 0.08", got)
	}
}

func TestFiles(t *testing.T) {
	v, err := New([]string{"a", "bé", "c"}, 2, []float32{1, 0, 0.5, -2e-8, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range endings {
		path := filepath.Join(t.TempDir(), "v"+e)
		if err := v.Write(path); err != nil {
			t.Fatal(err)
		}
		got, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Words, v.Words) || !slices.Equal(got.Data, v.Data) || got.Dim != 2 {
			t.Errorf("%s: %+v, want %+v", e, got, v)
		}
		near, err := got.Similar("a", 2, 1)
		if err != nil || near[0].Word != "bé" || near[1].Word != "c" {
			t.Errorf("%s: %v, %v, want bé and c", e, near, err)
		}
		got.Close()
		data, _ := os.ReadFile(path)
		if e != ".txt" {
			if err := os.WriteFile(path, data[:len(data)-3], 0o666); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(path); err == nil {
				t.Errorf("%s: truncated, and no error", e)
			}
		}
	}
	path := filepath.Join(t.TempDir(), "v.npy")
	if err := v.Write(path); err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string]string{"a\nb\n": "v.words has 2 words, not 3", "": "v.words has 0 words",
		"a\na\nb": `"a" occurs twice`} {
		if err := os.WriteFile(wordsBeside(path), []byte(words), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("words %q: %v, want %s", words, err, want)
		}
	}
	os.Remove(wordsBeside(path))
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "want v.words beside it") {
		t.Errorf("an array without words: %v, want an error that names v.words", err)
	}
	if _, err := v.Analogy("a", "bé", "nothing", 1, 1); err == nil {
		t.Error("an analogy with an unknown word: no error")
	}
	for name, bad := range map[string]string{"widths": "a 1 2\nb 1\n", "twice": "a 1\na 2\n",
		"NaN": "a NaN\n", "empty": "", "a word": "a\n", "promise": "3 1\na 1\n"} {
		if _, err := readText(bufio.NewReader(strings.NewReader(bad))); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := v.Write(filepath.Join(t.TempDir(), "v.xyz")); err == nil {
		t.Error("v.xyz has no format: no error")
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("2 2\na 1 2\nb 3 4\n"))
	f.Add([]byte("1 1\na \x00\x00\x80\x3f\n"))
	f.Add([]byte("\x93NUMPY\x01\x00\x3a\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), } " +
		"\n\x00\x00\x80\x3f\x00\x00\x80\x3f"))
	f.Fuzz(func(t *testing.T, data []byte) {
		array := func(r *bufio.Reader) (*Vectors, error) { return readNPY(r, []byte("a\nb\n"), "words") }
		for _, read := range []func(*bufio.Reader) (*Vectors, error){readText, readBinary, array} {
			if v, err := read(bufio.NewReader(bytes.NewReader(data))); err == nil {
				v.Similar(v.Words[0], 3, 1)
			}
		}
	})
}

func TestEval(t *testing.T) {
	v, err := New([]string{"king", "queen", "man", "woman"}, 2, []float32{1, 1, 1, -1, 0.1, 1, 0.1, -1})
	if err != nil {
		t.Fatal(err)
	}
	questions, err := ReadQuestions(strings.NewReader(": family\nman woman king queen\nman woman king nobody\n"), "q")
	if err != nil {
		t.Fatal(err)
	}
	asked, err := v.NewSearcher(engine.Sequential, engine.Device{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	right, known, err := asked.Analogies(t.Context(), questions)
	if right != 1 || known != 1 || err != nil {
		t.Errorf("%d of %d analogies, %v, want 1 of 1", right, known, err)
	}
	judged, err := ReadJudged(strings.NewReader("king\tMan\t9\nking\twoman\t1\nman\twoman\t0.5\nking\tx\t1\n"), "j")
	if err != nil {
		t.Fatal(err)
	}
	if rho, known := v.Similarity(judged); math.Abs(rho-1) > 1e-12 || known != 3 {
		t.Errorf("correlation %g of %d pairs, want 1 of 3", rho, known)
	}
	// With ties: scipy.stats.spearmanr([1, 2, 2, 3], [1, 3, 2, 4]) is 0.9486832980505138.
	if got := pearson(ranks([]float64{1, 2, 2, 3}),
		ranks([]float64{1, 3, 2, 4})); math.Abs(got-0.9486832980505138) > 1e-12 {
		t.Errorf("Spearman's correlation is %v, want 0.9486832980505138", got)
	}
	if _, err := ReadQuestions(strings.NewReader("a b c\n"), "q"); err == nil {
		t.Error("a question of three words: no error")
	}
	if _, err := ReadJudged(strings.NewReader("a b 1\na b c\n"), "j"); err == nil {
		t.Error("a judgment without a number: no error")
	}
}
