package gpu_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/gputest"
)

// Goroutines copy at once through the stages that they share, more than one stage each, and several
// goroutines fill a stage. Each gets its own data back.
func TestLargeCopiesAtOnce(t *testing.T) {
	dev, _ := gputest.Device(t)
	var wg sync.WaitGroup
	for g := range 3 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(31, uint64(g)))
			sent := make([]uint64, 5<<20/8+g) // bytes; a stage has 4 MiB
			for i := range sent {
				sent[i] = rng.Uint64()
			}
			got := make([]uint64, len(sent))
			s, err := dev.NewStream()
			if err != nil {
				t.Error(err)
				return
			}
			x, err := gpu.Alloc[uint64](dev, len(sent))
			if err == nil {
				err = errors.Join(x.Upload(s, sent), x.Download(t.Context(), s, got), x.Free())
			}
			if err = errors.Join(err, s.Free()); err != nil || !slices.Equal(got, sent) {
				t.Errorf("copy %d comes back different (%v)", g, err)
			}
		})
	}
	wg.Wait()
}
