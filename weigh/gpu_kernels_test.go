package weigh

import (
	"math/rand/v2"
	"testing"

	"github.com/collocate/collocate/text"
)

// Every kernel is compiled for the block size that it is launched with.
func TestGPUKernelShapes(t *testing.T) {
	own := map[string]int{
		"weigh_count_middle": 128, "weigh_count_large": 512, "weigh_count_wide": wideThreads,
		"weigh_count_huge": wideThreads,
	}
	for name, m := range gpuKernels {
		kernels, err := m.source.Entries()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(kernels) == 0 {
			t.Errorf("%s has no kernels", name)
		}
		for _, k := range kernels {
			want := m.threads
			if n, ok := own[k.Name]; ok {
				want = n
			}
			if k.MaxThreads != want {
				t.Errorf("%s is compiled for blocks of %d threads, launched with %d", k.Name, k.MaxThreads, want)
			}
		}
	}
}

// Words are copied with a blank after each, whatever is between them.
func TestAppendWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		tok := &text.Tokens{Bytes: []byte("it's one,two three\tfour\nfive  six--seven and so on")}
		want, at := "", rng.IntN(3)
		for at < len(tok.Bytes) {
			end := min(at+1+rng.IntN(6), len(tok.Bytes))
			tok.Words = append(tok.Words, text.Span{Start: uint32(at), End: uint32(end)})
			want += string(tok.Bytes[at:end]) + " "
			at = end + rng.IntN(4)
		}
		if got := string(appendWords([]byte("x"), tok)); got != "x"+want {
			t.Fatalf("words %v: got %q, want %q", tok.Words, got, "x"+want)
		}
	}
}
