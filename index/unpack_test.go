package index

import (
	"math/rand/v2"
	"testing"
)

// Every width, packed and unpacked by the generated decoders, gives the numbers back.
func TestEveryWidthRoundTrips(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for w := range uint(32) {
		var v, out [BlockSize]uint32
		for i := range v {
			v[i] = rng.Uint32() & (1<<w - 1)
		}
		v[rng.IntN(BlockSize)] = 1<<w - 1
		if got := width(v[:]); got != w {
			t.Fatalf("width %d, want %d", got, w)
		}
		packed := packBlock(nil, &v, w)
		if len(packed) != int(16*w) {
			t.Fatalf("width %d: %d bytes", w, len(packed))
		}
		unpackPlain[w](packed, &out)
		for i := range out {
			if out[i] != v[i]+1 {
				t.Fatalf("width %d: number %d is %d, want %d", w, i, out[i], v[i]+1)
			}
		}
		at := rng.Uint32()
		unpackGaps[w](packed, &out, at)
		for i := range out {
			if at += v[i] + 1; out[i] != at {
				t.Fatalf("width %d: sum %d is %d, want %d", w, i, out[i], at)
			}
		}
		for n := range BlockSize {
			tail := packTail(nil, v[:n], w)
			if len(tail) != tailBytes(n, w) {
				t.Fatalf("width %d: %d numbers take %d bytes", w, n, len(tail))
			}
			unpackTail(append(tail, make([]byte, tailPad)...), w, n, &out)
			for i := range n {
				if out[i] != v[i]+1 {
					t.Fatalf("width %d, %d numbers: number %d is %d, want %d", w, n, i, out[i], v[i]+1)
				}
			}
		}
	}
}

func BenchmarkUnpack(b *testing.B) {
	for _, w := range []uint{2, 7, 12} {
		var v, out [BlockSize]uint32
		packed := packBlock(nil, &v, w)
		b.Run("plain", func(b *testing.B) {
			for b.Loop() {
				unpackPlain[w](packed, &out)
			}
		})
		b.Run("gaps", func(b *testing.B) {
			for b.Loop() {
				unpackGaps[w](packed, &out, 7)
			}
		})
	}
}
