package eval

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// If bytes change after the lists were opened and verified, answers may be wrong or an error, but
// every algorithm terminates. Assertions are off, since wrong postings break them.
func TestSearchEndsThoughTheIndexChanges(t *testing.T) {
	assert.On = false
	defer func() { assert.On = true }()
	rng := rand.New(rand.NewPCG(61, 62))
	root := searchtest.Scratch(t)
	indexes := 60
	if testing.Short() {
		indexes = 12
	}
	for i := range indexes {
		p := searchtest.RandomPlain(rng, 5000, 6)
		dir := searchtest.IndexDir(root, i)
		s := write(t, p, dir)
		good := map[string][]byte{}
		for _, name := range []string{"postings", "skips"} {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			good[name] = b
		}
		for a := ask.Exhaustive; int(a) < len(algorithms); a++ {
			for _, mode := range []ask.Mode{ask.Or, ask.And} {
				ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
				r := ask.Request{Words: searchtest.RandomWords(rng, p), K: 1 + rng.IntN(30), Algorithm: a, Mode: mode}
				q, err := s.e.Prepare(ctx, &r)
				if err != nil {
					t.Fatal(err)
				}
				q.Begin(a)
				for name, b := range good {
					change(t, filepath.Join(dir, name), b, rng)
				}
				if _, err := q.Finish(); errors.Is(err, context.DeadlineExceeded) {
					t.Fatalf("index %d: %v, %v does not end", i, a, mode)
				}
				s.e.Release(q)
				for name, b := range good {
					overwrite(t, filepath.Join(dir, name), b)
				}
				cancel()
			}
		}
		s.Close()
		os.RemoveAll(dir)
	}
}

// change flips some bits of a file in place.
func change(t *testing.T, file string, good []byte, rng *rand.Rand) {
	t.Helper()
	b := append([]byte(nil), good...)
	for range 1 + len(b)/16 {
		b[rng.IntN(len(b))] ^= 1 << rng.IntN(8)
	}
	overwrite(t, file, b)
}

func overwrite(t *testing.T, file string, b []byte) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(b, 0); err != nil {
		t.Fatal(err)
	}
}
