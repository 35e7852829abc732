package index

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/collocate/collocate/internal/trials"
)

// quickUvarint reads what binary.AppendUvarint wrote, or says that it has more than 8 bytes.
func TestQuickUvarintsAreUvarints(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 100000 / trials.Every(10) {
		want := rng.Uint64() >> rng.IntN(64)
		b := binary.AppendUvarint(nil, want)
		size := len(b)
		for range 8 {
			b = append(b, byte(rng.Uint32())) // what follows does not matter
		}
		got, n := quickUvarint(b)
		if size > 8 {
			if n <= 8 {
				t.Fatalf("%d, of %d bytes, was read as %d of %d; want more than 8 bytes", want, size, got, n)
			}
		} else if got != want || n != size {
			t.Fatalf("%d, of %d bytes, was read as %d of %d", want, size, got, n)
		}
	}
}
