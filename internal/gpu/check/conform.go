package check

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/collocate/collocate/internal/gpu"
)

// Suite compares one part of the program on a device with the CPU.
type Suite struct {
	Name string
	Run  func(t *Trial) error
}

// Trial is one run of a suite.
type Trial struct {
	Ctx   context.Context
	Dev   *gpu.Device
	S     *gpu.Stream
	Tmp   *gpu.Arena
	Sizes []int // to try
	Rng   *rand.Rand
	cases int
	sum   hash.Hash
}

// Same compares a result of the device with the expected one.
func Same[T cmp.Ordered](t *Trial, what string, got, want []T) error {
	t.cases++
	if len(got) != len(want) {
		return fmt.Errorf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			return fmt.Errorf("%s: value %d of %d is %v, want %v", what, i, len(got), got[i], want[i])
		}
	}
	return binary.Write(t.sum, binary.LittleEndian, got)
}

// Conform runs the suites. Differences are in a suite's result; an error of the device ends the
// run.
func Conform(ctx context.Context, dev *gpu.Device, suites []Suite, sizes []int) ([]Result, error) {
	var out []Result
	for i, suite := range suites {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		r, err := runSuite(ctx, dev, suite, sizes, uint64(i))
		out = append(out, r)
		if errors.Is(err, gpu.ErrDead) || errors.Is(err, context.Canceled) {
			return out, err
		}
	}
	return out, nil
}

func runSuite(ctx context.Context, dev *gpu.Device, suite Suite, sizes []int, seed uint64) (_ Result, err error) {
	r := Result{Name: suite.Name}
	s, err := dev.NewStream()
	if err != nil {
		return r, err
	}
	tmp, err := gpu.NewArena(dev, int64(slices.Max(sizes))*40+(16<<20))
	if err == nil {
		t := &Trial{Ctx: ctx, Dev: dev, S: s, Tmp: tmp, Sizes: sizes,
			Rng: rand.New(rand.NewPCG(seed, 99)), sum: sha256.New()}
		err = suite.Run(t)
		r.Cases, r.Digest = t.cases, hex.EncodeToString(t.sum.Sum(nil))
		err = errors.Join(err, tmp.Free())
	}
	err = errors.Join(err, s.Free())
	if err != nil {
		r.Error = err.Error()
	}
	return r, err
}

// NewReceipt begins a receipt. The device's driver compiles every kernel of the program.
func NewReceipt(dev *gpu.Device) (*Receipt, error) {
	r := &Receipt{Device: dev.Info(), Started: time.Now().UTC().Truncate(time.Second),
		PTX: map[string]string{}, Loads: map[string]float64{}}
	for _, src := range gpu.Sources() {
		start := time.Now()
		kernels, err := src.Entries()
		if err != nil {
			return nil, err
		}
		for _, k := range kernels {
			if _, err := dev.Kernel(src, k.Name); err != nil {
				return nil, err
			}
		}
		r.PTX[src.Name] = sumOf(src)
		r.Loads[src.Name] = round(time.Since(start).Seconds(), 4)
	}
	return r, nil
}

// sumOf returns the hash of the PTX. If the PTX cannot be read it returns the error's text, which
// matches no receipt.
func sumOf(s *gpu.Source) string {
	text, err := s.Text()
	if err != nil {
		return err.Error()
	}
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

// put makes a device buffer with the given values; the caller frees it.
func put[T any](t *Trial, values []T) (gpu.Buffer[T], error) {
	b, err := gpu.Alloc[T](t.Dev, len(values))
	if err != nil {
		return b, err
	}
	return b, b.Upload(t.S, values)
}

// get waits for the stream and returns the first n values.
func get[T any](t *Trial, b gpu.Buffer[T], n int) ([]T, error) {
	out := make([]T, n)
	return out, b.Download(t.Ctx, t.S, out)
}

// with runs f on a device buffer with the given values, and frees it.
func with[T any](t *Trial, values []T, f func(b gpu.Buffer[T]) error) error {
	b, err := put(t, values)
	if err == nil {
		err = f(b)
	}
	return errors.Join(err, b.Free())
}
