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
	"github.com/collocate/collocate/internal/gpu/prim"
)

// Suite compares one part of the program with the CPU, on a device.
type Suite struct {
	Name string
	Run  func(t *Trial) error
}

// Trial is one suite's run.
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

// Same compares what the device gave with what it should be.
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

// Conform runs the suites. Errors of a suite are in its result; an error of the
// device ends it all.
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
	tmp, err := gpu.NewArena(dev, int64(slices.Max(sizes))*8+(16<<20))
	if err == nil {
		t := &Trial{Ctx: ctx, Dev: dev, S: s, Tmp: tmp, Sizes: sizes, Rng: rand.New(rand.NewPCG(seed, 99)), sum: sha256.New()}
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

// NewReceipt begins a receipt: every kernel of the program is compiled by the
// device's driver.
func NewReceipt(dev *gpu.Device) (*Receipt, error) {
	r := &Receipt{Device: dev.Info(), Started: time.Now().UTC().Truncate(time.Second), PTX: map[string]string{}}
	for _, src := range gpu.Sources() {
		m, err := src.Module()
		if err != nil {
			return nil, err
		}
		for _, k := range m.Kernels {
			if _, err := dev.Kernel(src, k.Name); err != nil {
				return nil, err
			}
		}
		r.PTX[src.Name] = src.Sum()
	}
	return r, nil
}

// Primitives are the suites of package prim.
var Primitives = []Suite{
	{"scan", tryScan}, {"select", trySelect}, {"sort", trySort}, {"histogram", tryHistogram}, {"hash table", tryTable},
}

// Put makes a device buffer of values; the caller frees it.
func Put[T any](t *Trial, values []T) (gpu.Buffer[T], error) {
	b, err := gpu.Alloc[T](t.Dev, len(values))
	if err != nil {
		return b, err
	}
	return b, b.Upload(t.S, values)
}

// Get waits and returns the first n values.
func Get[T any](t *Trial, b gpu.Buffer[T], n int) ([]T, error) {
	out := make([]T, n)
	return out, b.Download(t.Ctx, t.S, out)
}

func words[T prim.Word](rng *rand.Rand, n int) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = T(rng.Uint64())
	}
	return v
}

// with runs f on a device buffer of values, and frees it.
func with[T any](t *Trial, values []T, f func(b gpu.Buffer[T]) error) error {
	b, err := Put(t, values)
	if err == nil {
		err = f(b)
	}
	return errors.Join(err, b.Free())
}

func tryScan(t *Trial) error {
	for _, n := range t.Sizes {
		v := words[uint32](t.Rng, n)
		wide, want := make([]uint64, n), make([]uint64, n)
		var sum uint64
		for i, x := range v {
			want[i] = sum
			sum += uint64(x)
		}
		err := with(t, v, func(in gpu.Buffer[uint32]) error {
			return with(t, wide, func(out gpu.Buffer[uint64]) error {
				if err := prim.ExclusiveScan(t.S, t.Tmp, in, out); err != nil {
					return err
				}
				got, err := Get(t, out, n)
				if err != nil {
					return err
				}
				return Same(t, fmt.Sprintf("scan of %d", n), got, want)
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func trySelect(t *Trial) error {
	for _, n := range t.Sizes {
		v, flags := words[uint64](t.Rng, n), make([]uint8, n)
		var want []uint64
		for i := range flags {
			flags[i] = uint8(t.Rng.IntN(3))
			if flags[i] != 0 {
				want = append(want, v[i])
			}
		}
		err := with(t, v, func(in gpu.Buffer[uint64]) error {
			return with(t, flags, func(f gpu.Buffer[uint8]) error {
				return with(t, make([]uint64, n+1), func(out gpu.Buffer[uint64]) error {
					if err := prim.Select(t.S, t.Tmp, in, f, out.Slice(1, n+1), out.Slice(0, 1)); err != nil {
						return err
					}
					got, err := Get(t, out, n+1)
					if err != nil {
						return err
					}
					return Same(t, fmt.Sprintf("select of %d", n), got[1:1+min(got[0], uint64(n))], want)
				})
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func trySort(t *Trial) error {
	for _, n := range t.Sizes {
		low := t.Rng.IntN(50)
		high := low + 1 + t.Rng.IntN(64-low)
		keys, index := words[uint64](t.Rng, n), make([]uint32, n)
		for i := range index {
			index[i] = uint32(i)
			if t.Rng.IntN(2) == 0 {
				keys[i] &= 0xff00ff00ff00 // equal keys
			}
		}
		digit := func(i uint32) uint64 { return keys[i] >> low & (1<<(high-low-1)<<1 - 1) }
		want := slices.Clone(index)
		slices.SortStableFunc(want, func(a, b uint32) int { return cmp.Compare(digit(a), digit(b)) })
		err := with(t, keys, func(k gpu.Buffer[uint64]) error {
			return with(t, keys, func(k2 gpu.Buffer[uint64]) error {
				return with(t, index, func(v gpu.Buffer[uint32]) error {
					return with(t, index, func(v2 gpu.Buffer[uint32]) error {
						_, sorted, err := prim.SortPairs(t.S, t.Tmp, k, k2, v, v2, low, high)
						if err != nil {
							return err
						}
						got, err := Get(t, sorted, n)
						if err != nil {
							return err
						}
						return Same(t, fmt.Sprintf("sort of %d by bits %d to %d", n, low, high), got, want)
					})
				})
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func tryHistogram(t *Trial) error {
	for _, n := range t.Sizes {
		bins := 1 + t.Rng.IntN(20_000)
		v, want := words[uint32](t.Rng, n), make([]uint32, bins)
		for i := range v {
			v[i] %= uint32(bins)
			want[v[i]]++
		}
		err := with(t, v, func(in gpu.Buffer[uint32]) error {
			return with(t, make([]uint32, bins), func(out gpu.Buffer[uint32]) error {
				return with(t, []uint64{0}, func(outside gpu.Buffer[uint64]) error {
					if err := prim.Histogram(t.S, in, out, outside); err != nil {
						return err
					}
					got, err := Get(t, out, bins)
					if err != nil {
						return err
					}
					return Same(t, fmt.Sprintf("histogram of %d", n), got, want)
				})
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func tryTable(t *Trial) error {
	for _, n := range t.Sizes {
		for _, bucketed := range []bool{false, true} {
			if err := tryOneTable(t, n, bucketed); err != nil {
				return err
			}
		}
	}
	return nil
}

func tryOneTable(t *Trial, n int, bucketed bool) error {
	const slots = 1 << 14
	keys := words[uint64](t.Rng, n)
	sums := map[uint64]uint64{}
	for i := range keys {
		keys[i] %= slots / 2
		sums[keys[i]]++
	}
	table, err := prim.NewTable(t.Dev, slots, max(n, 1), bucketed)
	if err != nil {
		return err
	}
	err = with(t, keys, func(k gpu.Buffer[uint64]) error {
		if err := errors.Join(table.Clear(t.S), table.Add(t.S, k, gpu.Buffer[uint32]{})); err != nil {
			return err
		}
		gotKeys, err := Get(t, table.Keys, slots)
		if err != nil {
			return err
		}
		gotSums, err := Get(t, table.Sums, slots)
		if err != nil {
			return err
		}
		var got, want []uint64
		for i, k := range gotKeys {
			if k != ^uint64(0) {
				got = append(got, k<<32|gotSums[i])
			}
		}
		for k, v := range sums {
			want = append(want, k<<32|v)
		}
		slices.Sort(got)
		slices.Sort(want)
		return Same(t, fmt.Sprintf("hash table of %d", n), got, want)
	})
	return errors.Join(err, table.Free())
}
