package check

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
)

// Primitives are the suites of package prim.
var Primitives = []Suite{
	{"scan", eachSize(tryScan)},
	{"select", eachSize(trySelect)},
	{"sort", eachSize(trySort)},
	{"merge sort", eachSize(tryMergeSort)},
	{"histogram", eachSize(tryHistogram)},
	{"hash table", eachSize(tryTable)},
	{"reduce by key", eachSize(tryReduce)},
	{"load balance", eachSize(tryBalance)},
	{"top k", eachSize(tryTopK)},
	{"warp heap", eachSize(tryHeap)},
	{"strings", eachSize(tryStrings)},
}

// eachSize returns a suite that tests one size after the other.
func eachSize(try func(t *Trial, n int) error) func(*Trial) error {
	return func(t *Trial) error {
		for _, n := range t.Sizes {
			if err := try(t, n); err != nil {
				return err
			}
		}
		return nil
	}
}

// holds compares the beginning of a buffer with the expected values.
func holds[T cmp.Ordered](t *Trial, what string, b gpu.Buffer[T], want []T) error {
	got, err := get(t, b, len(want))
	if err != nil {
		return err
	}
	return Same(t, what, got, want)
}

func words[T prim.Word](rng *rand.Rand, n int) []T {
	v := make([]T, n)
	for i := range v {
		v[i] = T(rng.Uint64())
	}
	return v
}

func tryScan(t *Trial, n int) error {
	v := words[uint32](t.Rng, n)
	wide, want := make([]uint64, n), make([]uint64, n)
	var sum uint64
	for i, x := range v {
		want[i] = sum
		sum += uint64(x)
	}
	return with(t, v, func(in gpu.Buffer[uint32]) error {
		return with(t, wide, func(out gpu.Buffer[uint64]) error {
			if err := prim.ExclusiveScan(t.S, t.Tmp, in, out); err != nil {
				return err
			}
			return holds(t, fmt.Sprintf("scan of %d", n), out, want)
		})
	})
}

func trySelect(t *Trial, n int) error {
	v, flags := words[uint64](t.Rng, n), make([]uint8, n)
	var want []uint64
	for i := range flags {
		flags[i] = uint8(t.Rng.IntN(3))
		if flags[i] != 0 {
			want = append(want, v[i])
		}
	}
	return with(t, v, func(in gpu.Buffer[uint64]) error {
		return with(t, flags, func(f gpu.Buffer[uint8]) error {
			return with(t, make([]uint64, n+1), func(out gpu.Buffer[uint64]) error {
				if err := prim.Select(t.S, t.Tmp, in, f, out.Slice(1, n+1), out.Slice(0, 1)); err != nil {
					return err
				}
				got, err := get(t, out, n+1)
				if err != nil {
					return err
				}
				return Same(t, fmt.Sprintf("select of %d", n), got[1:1+min(got[0], uint64(n))], want)
			})
		})
	})
}

func trySort(t *Trial, n int) error {
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
	return with(t, keys, func(k gpu.Buffer[uint64]) error {
		return with(t, keys, func(k2 gpu.Buffer[uint64]) error {
			return with(t, index, func(v gpu.Buffer[uint32]) error {
				return with(t, index, func(v2 gpu.Buffer[uint32]) error {
					_, sorted, err := prim.SortPairs(t.S, t.Tmp, k, k2, v, v2, low, high)
					if err != nil {
						return err
					}
					return holds(t, fmt.Sprintf("sort of %d by bits %d to %d", n, low, high), sorted, want)
				})
			})
		})
	})
}

func tryMergeSort(t *Trial, n int) error {
	keys, index := words[uint32](t.Rng, n), make([]uint32, n)
	for i := range index {
		index[i] = uint32(i)
		if t.Rng.IntN(2) == 0 {
			keys[i] &= 0xff00 // equal keys
		}
	}
	want := slices.Clone(index)
	slices.SortStableFunc(want, func(a, b uint32) int { return cmp.Compare(keys[a], keys[b]) })
	return with(t, keys, func(k gpu.Buffer[uint32]) error {
		return with(t, keys, func(k2 gpu.Buffer[uint32]) error {
			return with(t, index, func(v gpu.Buffer[uint32]) error {
				return with(t, index, func(v2 gpu.Buffer[uint32]) error {
					_, sorted, err := prim.MergeSortPairs(t.S, k, k2, v, v2)
					if err != nil {
						return err
					}
					return holds(t, fmt.Sprintf("merge sort of %d", n), sorted, want)
				})
			})
		})
	})
}

func tryHistogram(t *Trial, n int) error {
	bins := 1 + t.Rng.IntN(20_000)
	v, want := words[uint32](t.Rng, n), make([]uint32, bins)
	for i := range v {
		v[i] %= uint32(bins)
		want[v[i]]++
	}
	return with(t, v, func(in gpu.Buffer[uint32]) error {
		return with(t, make([]uint32, bins), func(out gpu.Buffer[uint32]) error {
			return with(t, []uint64{0}, func(outside gpu.Buffer[uint64]) error {
				if err := prim.Histogram(t.S, in, out, outside); err != nil {
					return err
				}
				return holds(t, fmt.Sprintf("histogram of %d", n), out, want)
			})
		})
	})
}

func tryTable(t *Trial, n int) error {
	for _, bucketed := range []bool{false, true} {
		if err := tryOneTable(t, n, bucketed); err != nil {
			return err
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
		gotKeys, err := get(t, table.Keys, slots)
		if err != nil {
			return err
		}
		gotSums, err := get(t, table.Sums, slots)
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
