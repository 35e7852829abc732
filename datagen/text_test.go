package datagen

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/trials"
)

func text(t testing.TB, o TextOptions) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Text(context.Background(), &b, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The bytes are part of the contract: a figure that was published for a seed must be reproducible.
func TestTextIsPinned(t *testing.T) {
	for _, c := range []struct {
		opts TextOptions
		head string
		hash string
	}{
		{TextOptions{Bytes: 3e6}, "pevib podit am tefuwojo ag ca tuliv um ", "060a795aea128619"},
		{TextOptions{Tokens: 300_000, Seed: 7, Lines: true},
			"no ales rahopa sapevig fidil jez nepanutis ked ", "727c453ac17428e6"},
		{TextOptions{Bytes: 1e6, LongWords: true}, "abagig", "9bb9daa152c9b735"},
	} {
		for _, threads := range []int{1, 2, 5} {
			c.opts.Threads = threads
			data := text(t, c.opts)
			if got := string(data[:len(c.head)]); got != c.head {
				t.Errorf("%+v starts with %q, want %q", c.opts, got, c.head)
			}
			if got := fmt.Sprintf("%x", sha256.Sum256(data))[:16]; got != c.hash {
				t.Errorf("%+v has hash %s, want %s; starts with %q", c.opts, got, c.hash, data[:60])
			}
		}
	}
}

func TestTextHasExactlyTheSizeAskedFor(t *testing.T) {
	for _, lines := range []bool{false, true} {
		whole := text(t, TextOptions{Bytes: int64(1_200_000 / trials.Every(4)), Lines: lines})
		for _, n := range []int64{1, 2, 3, 17, 5000, int64(700_001 / trials.Every(4))} {
			b := text(t, TextOptions{Bytes: n, Lines: lines})
			if int64(len(b)) != n || b[n-1] != '\n' {
				t.Errorf("%d bytes that end in %q, want %d and a newline", len(b), b[len(b)-1], n)
			}
			if kept := bytes.TrimRight(b, " \n"); len(kept) > 0 &&
				(!bytes.HasPrefix(whole, kept) || whole[len(kept)] > ' ') {
				t.Errorf("%d bytes: want the beginning of the longer text, cut after a word", n)
			}

			b = text(t, TextOptions{Tokens: n, Lines: lines})
			if got := int64(len(bytes.Fields(b))); got != n || b[len(b)-1] != '\n' {
				t.Errorf("%d tokens, want %d", got, n)
			}
		}
		for _, n := range []int64{1, 2, 500} {
			b := text(t, TextOptions{Docs: n, Lines: lines})
			end := "\n\n"
			if lines {
				end = "\n"
			}
			docs := strings.Split(strings.TrimSuffix(string(b), "\n"), end)
			if int64(len(docs)) != n {
				t.Errorf("%d documents, want %d", len(docs), n)
			}
			for i, d := range docs {
				if d == "" || strings.Join(strings.Fields(d), " ") != d {
					t.Fatalf("document %d is %.40q, want words separated by one blank", i, d)
				}
			}
		}
	}
}

// With long words, 100 MiB have as many words as the paper's text of 100 MB: its megabytes are MiB.
func TestLongWordsFillMiB(t *testing.T) {
	const size = 4 << 20
	words := len(bytes.Fields(text(t, TextOptions{Bytes: size, Seed: 1, LongWords: true})))
	perText := float64(words) / size * (100 << 20)
	if ratio := perText / float64(paperTable[0][1]); math.Abs(ratio-1) > 0.01 {
		t.Errorf("%.0f words in 100 MiB, %.3f of the paper's", perText, ratio)
	}
}

func TestSentencesHave27WordsOnAverage(t *testing.T) {
	b := text(t, TextOptions{Docs: 40_000, Lines: true})
	if mean := float64(len(bytes.Fields(b))) / 40_000; math.Abs(mean-27) > 0.3 {
		t.Errorf("mean %.2f", mean)
	}
}

func TestSeedsDiffer(t *testing.T) {
	if bytes.Equal(text(t, TextOptions{Tokens: 50, Seed: 1}), text(t, TextOptions{Tokens: 50, Seed: 2})) {
		t.Error("two seeds give the same text")
	}
}

func TestBadTextOptions(t *testing.T) {
	for want, o := range map[string]TextOptions{
		"want only one of bytes, tokens and documents": {Bytes: 1, Docs: 1},
		"want at least 0":        {Tokens: -1},
		"want a mu of 0 to 13":   {Mu: math.NaN(), Sigma: 1},
		"want finite parameters": {Law: Law{Head: math.Inf(1)}},
	} {
		if err := Text(context.Background(), &bytes.Buffer{}, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want an error with %q", o, err, want)
		}
	}
}

func TestTextStopsOnFullDiskAndOnCancel(t *testing.T) {
	full := errors.New("disk full")
	err := Text(context.Background(), writerFunc(func([]byte) (int, error) { return 0, full }),
		TextOptions{Bytes: 1e12})
	if !errors.Is(err, full) {
		t.Errorf("got %v, want %v", err, full)
	}
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	err = Text(ctx, writerFunc(func(p []byte) (int, error) {
		if n++; n == 3 {
			cancel()
		}
		return len(p), nil
	}), TextOptions{Bytes: 1e12})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func BenchmarkText(b *testing.B) {
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			b.SetBytes(50e6)
			for b.Loop() {
				w := writerFunc(func(p []byte) (int, error) { return len(p), nil })
				if err := Text(context.Background(), w, TextOptions{Bytes: 50e6, Threads: threads}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
