package vectors

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/engine"
)

// TestAgainstStanford trains with Stanford's programs on the same matrix and prints both times and
// both correlations with human judgments. COLLOCATE_STANFORD names a folder with the programs glove
// and shuffle, corpus.txt (one document per line) and files EN-*.txt with two words and a number on
// each line.
func TestAgainstStanford(t *testing.T) {
	dir := os.Getenv("COLLOCATE_STANFORD")
	if dir == "" {
		t.Skip("COLLOCATE_STANFORD names no folder with Stanford's programs")
	}
	corpus, err := os.ReadFile(filepath.Join(dir, "corpus.txt"))
	if err != nil {
		t.Fatal(err)
	}
	opt := cooccur.Options{Window: 10}
	r := matrixWith(t, string(corpus), cooccur.VocabularyOptions{MinCount: 5}, opt)
	fmt.Printf("%d words, %d cells\n", r.Len(), r.Entries())
	tmp := t.TempDir()
	vocab, bin := filepath.Join(tmp, "vocab.txt"), filepath.Join(tmp, "m.bin")
	var lines bytes.Buffer
	for id := range r.Len() {
		fmt.Fprintf(&lines, "%s %d\n", r.Word(id), r.Count(id))
	}
	if err := os.WriteFile(vocab, lines.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	writeGloVe(t, r, bin)
	shuffled := filepath.Join(tmp, "shuffled.bin")
	run(t, bin, shuffled, filepath.Join(dir, "shuffle"), "-verbose", "0", "-memory", "8", "-seed", "1",
		"-temp-file", filepath.Join(tmp, "temp"))
	const dim, epochs, xmax = 100, 15, 10
	stanford := func(threads, epochs, seed int) (string, time.Duration) {
		out := filepath.Join(tmp, fmt.Sprint("stanford", threads, "x", epochs, "x", seed))
		start := time.Now()
		run(t, "", "", filepath.Join(dir, "glove"), "-input-file", shuffled, "-vocab-file", vocab,
			"-save-file", out, "-threads", fmt.Sprint(threads), "-iter", fmt.Sprint(epochs), "-x-max",
			fmt.Sprint(xmax), "-vector-size", fmt.Sprint(dim), "-binary", "0", "-verbose", "1", "-seed", fmt.Sprint(seed))
		return out + ".txt", time.Since(start)
	}
	ours := func(kind engine.Kind, threads, epochs int, seed uint64) (v *Vectors, epoch time.Duration) {
		var last time.Time
		epoch = time.Hour
		v, err := TrainGloVe(t.Context(), r, GloVeOptions{Dim: dim, Epochs: epochs, XMax: xmax, Seed: seed,
			Threads: threads, Engine: kind, Memory: 8e9, Progress: func(i int, loss float64) {
				if i > 1 {
					epoch = min(epoch, time.Since(last))
				}
				last = time.Now()
				if threads == 0 && kind == engine.Multicore && seed == 1 {
					fmt.Printf("ours: epoch %d, loss %.6f\n", i, loss)
				}
			}})
		if err != nil {
			t.Fatal(err)
		}
		return v, epoch
	}
	// The time of two epochs less that of one is the time of an epoch, without reading and writing.
	_, one := stanford(1, 1, 1)
	_, two := stanford(1, 2, 1)
	_, ours1 := ours(engine.Multicore, 1, 3, 1)
	_, ours2 := ours(engine.Multicore, 2, 3, 1)
	fmt.Printf("an epoch: Stanford %.2f s on one thread; ours %.2f s on one, %.2f s on two\n",
		(two - one).Seconds(), ours1.Seconds(), ours2.Seconds())
	// Correlations differ from seed to seed, so those of three seeds are averaged.
	var theirs, glove []*Vectors
	for seed := range 3 {
		path, took := stanford(runtime.GOMAXPROCS(0), epochs, seed+1)
		v, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		theirs = append(theirs, v)
		start := time.Now()
		v, _ = ours(engine.Multicore, 0, epochs, uint64(seed+1))
		glove = append(glove, v)
		fmt.Printf("%d epochs: Stanford %.1f s, ours %.1f s\n", epochs, took.Seconds(),
			time.Since(start).Seconds())
	}
	svd, err := TrainSVD(t.Context(), r, SVDOptions{Dim: dim, Seed: 1, Memory: 8e9})
	if err != nil {
		t.Fatal(err)
	}
	exact, err := TrainSVD(t.Context(), r, SVDOptions{Dim: dim, Seed: 2, Power: 12, Memory: 8e9})
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("COLLOCATE_TEST_GPU") != "" {
		if gpu, epoch := ours(engine.GPU, 0, epochs, 1); !slices.Equal(gpu.Data, glove[0].Data) {
			t.Error("the vectors of the GPU are not those of the cores")
		} else {
			fmt.Printf("on the GPU an epoch takes %.4f s\n", epoch.Seconds())
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "EN-*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files EN-*.txt of judgments in %s, %v", dir, err)
	}
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		list, err := ReadJudged(f, path)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		_, known := svd.Similarity(list)
		a, b := meanSimilarity(theirs, list), meanSimilarity(glove, list)
		c, _ := svd.Similarity(list)
		d, _ := exact.Similarity(list)
		fmt.Printf("%-24s %4d of %4d: Stanford %.4f, glove %.4f, svd %.4f, svd after 12 power iterations %.4f\n",
			filepath.Base(path), known, len(list), a, b, c, d)
		if b < a-0.01 && known > 300 {
			t.Errorf("%s: correlation %.4f, want at most 0.01 below Stanford's %.4f", path, b, a)
		}
	}
}

func meanSimilarity(of []*Vectors, list []Judged) (mean float64) {
	for _, v := range of {
		s, _ := v.Similarity(list)
		mean += s / float64(len(of))
	}
	return mean
}

// run runs a program with files as its input and output.
func run(t *testing.T, in, out string, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	var said bytes.Buffer
	cmd.Stderr, cmd.Stdout = &said, &said
	if in != "" {
		from, err := os.Open(in)
		if err != nil {
			t.Fatal(err)
		}
		defer from.Close()
		to, err := os.Create(out)
		if err != nil {
			t.Fatal(err)
		}
		defer to.Close()
		cmd.Stdin, cmd.Stdout = from, to
	}
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, said.String())
	}
	if in == "" {
		fmt.Print(said.String())
	}
}

// writeGloVe writes a matrix as GloVe's cooccur does.
func writeGloVe(t *testing.T, r *cooccur.Reader, path string) {
	t.Helper()
	f, err := cooccur.Create(path, cooccur.GloVe, r.Vocabulary(), r.Options())
	if err != nil {
		t.Fatal(err)
	}
	for id := range r.Len() {
		cols, values, err := r.Row(id)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Rows(&cooccur.Rows{First: id, Ends: []int{len(cols)}, Cols: cols, Values: values}); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
}
