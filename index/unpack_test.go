package index

import (
	"math/rand/v2"
	"testing"

	"github.com/collocate/collocate/internal/cpu/cputest"
)

// Numbers of every width are the same after packing and unpacking, by all decoders.
func TestEveryWidthRoundTrips(t *testing.T) { cputest.Levels(t, testEveryWidthRoundTrips) }

func testEveryWidthRoundTrips(t *testing.T) {
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
			t.Fatalf("width %d: %d bytes, want %d", w, len(packed), 16*w)
		}
		// Only with room behind the numbers can the widest registers of the processor load them.
		roomy := append(make([]byte, 0, len(packed)+64), packed...)
		for name, unpack := range map[string]func(){
			"plain":         func() { unpackPlain[w](packed, &out) },
			"full":          func() { unpackFull(roomy, w, &out) },
			"full, no room": func() { unpackFull(packed[:len(packed):len(packed)], w, &out) },
		} {
			clear(out[:])
			unpack()
			for i := range out {
				if out[i] != v[i]+1 {
					t.Fatalf("width %d, %s: number %d is %d, want %d", w, name, i, out[i], v[i]+1)
				}
			}
		}
		before := rng.Uint32()
		for name, unpack := range map[string]func(){
			"gaps":          func() { unpackGaps(packed, w, &out, before) },
			"full":          func() { unpackFullGaps(roomy, w, &out, before) },
			"full, no room": func() { unpackFullGaps(packed[:len(packed):len(packed)], w, &out, before) },
		} {
			clear(out[:])
			unpack()
			at := before
			for i := range out {
				if at += v[i] + 1; out[i] != at {
					t.Fatalf("width %d, %s: sum %d is %d, want %d", w, name, i, out[i], at)
				}
			}
		}
		for n := range BlockSize {
			tail := packTail(nil, v[:n], w)
			if len(tail) != tailBytes(n, w) {
				t.Fatalf("width %d: %d numbers take %d bytes, want %d", w, n, len(tail), tailBytes(n, w))
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
		packed := append(packBlock(nil, &v, w), make([]byte, 64)...)
		b.Run("full", func(b *testing.B) {
			for b.Loop() {
				unpackFull(packed, w, &out)
			}
		})
		b.Run("full gaps", func(b *testing.B) {
			for b.Loop() {
				unpackFullGaps(packed, w, &out, 7)
			}
		})
		b.Run("plain", func(b *testing.B) {
			for b.Loop() {
				unpackPlain[w](packed, &out)
			}
		})
		b.Run("gaps", func(b *testing.B) {
			for b.Loop() {
				unpackGaps(packed, w, &out, 7)
			}
		})
	}
}
