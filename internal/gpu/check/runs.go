package check

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
)

func tryReduce(t *Trial, n int) error {
	keys, values := make([]uint64, n), words[uint32](t.Rng, n)
	var want []uint64
	for i := range keys {
		if i > 0 {
			keys[i] = keys[i-1]
		}
		if i == 0 || t.Rng.IntN(5) == 0 {
			keys[i]++
			want = append(want, 0)
		}
		want[len(want)-1] += uint64(values[i])
	}
	return with(t, keys, func(k gpu.Buffer[uint64]) error {
		return with(t, keys, func(outKeys gpu.Buffer[uint64]) error {
			return with(t, values, func(v gpu.Buffer[uint32]) error {
				return with(t, make([]uint64, n+1), func(out gpu.Buffer[uint64]) error {
					if err := prim.ReduceByKey(t.S, t.Tmp, k, v, outKeys, out.Slice(1, n+1),
						out.Slice(0, 1)); err != nil {
						return err
					}
					got, err := get(t, out, n+1)
					if err != nil {
						return err
					}
					return Same(t, fmt.Sprintf("reduce by key of %d", n), got[1:1+min(got[0], uint64(n))], want)
				})
			})
		})
	})
}

func tryBalance(t *Trial, n int) error {
	var offsets []uint64
	want := make([]uint32, n)
	for at := 0; at < n || at == 0; {
		offsets = append(offsets, uint64(at))
		size := t.Rng.IntN(4)
		if t.Rng.IntN(50) == 0 {
			size += 3000
		}
		for i := at; i < min(at+size, n); i++ {
			want[i] = uint32(len(offsets) - 1)
		}
		if at += size; n == 0 {
			break
		}
	}
	return with(t, offsets, func(o gpu.Buffer[uint64]) error {
		return with(t, want, func(out gpu.Buffer[uint32]) error {
			if err := out.FillBytes(t.S, 0xee); err != nil {
				return err
			}
			if err := prim.Balance(t.S, o, n, out); err != nil {
				return err
			}
			return holds(t, fmt.Sprintf("load balance of %d", n), out, want)
		})
	})
}

func tryTopK(t *Trial, n int) error {
	scores, want := make([]float32, n), make([]uint32, n)
	for i := range scores {
		scores[i] = float32(t.Rng.IntN(n/3+1)) / 3
		want[i] = uint32(i)
	}
	slices.SortStableFunc(want, func(a, b uint32) int { return cmp.Compare(scores[b], scores[a]) })
	k := min(n, 1+n/10)
	return with(t, scores, func(in gpu.Buffer[float32]) error {
		return with(t, make([]float32, k), func(out gpu.Buffer[float32]) error {
			return with(t, make([]uint32, k), func(places gpu.Buffer[uint32]) error {
				if err := prim.TopK(t.S, t.Tmp, in, k, out, places); err != nil {
					return err
				}
				return holds(t, fmt.Sprintf("the best %d of %d", k, n), places, want[:k])
			})
		})
	})
}

func tryHeap(t *Trial, n int) error {
	n = min(n, 200_000) // one warp
	keys, k := words[uint64](t.Rng, n), 128
	want := slices.Clone(keys)
	slices.SortFunc(want, func(a, b uint64) int { return cmp.Compare(b, a) })
	return with(t, keys, func(in gpu.Buffer[uint64]) error {
		return with(t, make([]uint64, k), func(out gpu.Buffer[uint64]) error {
			return with(t, []uint32{0}, func(size gpu.Buffer[uint32]) error {
				if err := prim.HeapTop(t.S, in, 1, k, out, size); err != nil {
					return err
				}
				got, err := get(t, out, min(k, n))
				if err != nil {
					return err
				}
				slices.SortFunc(got, func(a, b uint64) int { return cmp.Compare(b, a) })
				return Same(t, fmt.Sprintf("heap of %d", n), got, want[:min(k, n)])
			})
		})
	})
}

func tryStrings(t *Trial, n int) error {
	var text []byte
	refs := make([]uint64, n)
	for i := range refs {
		at := len(text)
		text = fmt.Appendf(text, "word%x", t.Rng.IntN(1+n/2)*t.Rng.IntN(3)<<20)
		var err error
		if refs[i], err = prim.StringRef(uint64(at), len(text)-at); err != nil {
			return err
		}
	}
	value := func(ref uint64) []byte { return text[ref>>24:][:ref&(1<<24-1)] }
	want := slices.Clone(refs)
	slices.SortStableFunc(want, func(a, b uint64) int { return bytes.Compare(value(a), value(b)) })
	return with(t, text, func(bytes gpu.Buffer[uint8]) error {
		return with(t, refs, func(in gpu.Buffer[uint64]) error {
			return with(t, make([]uint8, n), func(heads gpu.Buffer[uint8]) error {
				if err := prim.SortStrings(t.S, t.Tmp, bytes, in, heads); err != nil {
					return err
				}
				return holds(t, fmt.Sprintf("sort of %d strings", n), in, want)
			})
		})
	})
}
