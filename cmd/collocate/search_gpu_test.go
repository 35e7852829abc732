package main

import (
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/collocate/collocate/bench/thesisbench"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/search"
)

// Many topics under auto: the cores begin, the GPU goes on if that pays, and whoever answers, the results are those of one core. Here
// the GPU is the interpreter, which auto would never take.
func TestAutoTakesTheGPU(t *testing.T) {
	t.Setenv(gpu.EmulateEnv, "emulator")
	if realGPU(0) {
		t.Error("the interpreter is taken for a GPU")
	}
	shape := thesisbench.Zipf(300, 20, 1)
	dir := filepath.Join(t.TempDir(), "index")
	if err := shape.Build(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	n := autoProbe + 50
	requests := func(from, to int) iter.Seq[search.Request] {
		return func(yield func(search.Request) bool) {
			for i := from; i < to; i++ {
				r := search.Request{K: 5, Words: []search.Word{{Text: shape.Classes[i%20].Word(0)}, {Text: shape.Classes[i*7%20].Word(0)}}}
				if !yield(r) {
					return
				}
			}
		}
	}
	answers := func(pays bool) (out []string, onGPU int) {
		s, err := search.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		a := newApp(strings.NewReader(""), io.Discard, io.Discard)
		a.quiet = true
		m := &manyTopics{a: a, s: s, n: n, requests: requests, pays: func(time.Duration, int64) bool { return pays }}
		for text, err := range resultsOf(t.Context(), m, func(i int, r *search.Result) (string, error) {
			if r.Stats.GPU != nil {
				return fmt.Sprint("g ", i, r.Hits), nil
			}
			return fmt.Sprint("c ", i, r.Hits), nil
		}) {
			if err != nil {
				t.Fatal(err)
			}
			if text[0] == 'g' {
				onGPU++
			}
			out = append(out, text[2:])
		}
		return out, onGPU
	}
	want, none := answers(false)
	got, some := answers(true)
	if none != 0 || some != n-autoProbe {
		t.Errorf("the GPU answered %d topics, and %d where it does not pay", some, none)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || len(got) != n {
		t.Errorf("%d results differ from %d of the cores", len(got), len(want))
	}
	if gpuPays(3*time.Second, 1e9) || !gpuPays(3*time.Second, 1e6) {
		t.Error("whether the GPU pays depends on the size of the index")
	}
}
