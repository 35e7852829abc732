package dict

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// The examples in the comments of the formats.
func TestFormatsAsDocumented(t *testing.T) {
	if got := appendPlain(nil, 3, slices.Values([]int{0, 2})); !slices.Equal(got, []uint64{0, 5, 0, 0, 0, 0, 0, 0}) {
		t.Errorf("the plain vector 101 is %v, want one line of 0, 5 and zeros", got)
	}
	var r rrrWriter
	r.add(16, slices.Values([]int{1, 15}))
	r.finish()
	if !slices.Equal(r.records, []uint64{0, 0x11}) || !slices.Equal(r.offsets, []uint64{0x01, 0, 0}) {
		t.Errorf("rrr of bits 1 and 15 is %x, %x, want 0, 11 and 1, 0, 0", r.records, r.offsets)
	}
	s := newTailsWriter(newAlphabet([]byte("abc")))
	for _, tail := range []string{"ab", "", "c"} {
		s.add([]byte(tail))
	}
	if !slices.Equal(s.words, []uint64{0x309}) || !slices.Equal(s.starts, []uint32{0}) {
		t.Errorf("tails are %x, %x, want 309 and 0", s.words, s.starts)
	}
}

// Both kinds of bit vectors agree with a slice of bools, at every density and around the borders of
// blocks.
func TestVectorsAnswerLikeBools(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{0, 1, 14, 15, 16, 239, 240, 241, 448, 449, 5000} {
		for _, density := range []float64{0, 0.01, 0.3, 0.5, 0.9, 1} {
			const count = 3
			var bools [count][]bool
			p := &plain{per: linesFor(n)}
			var w rrrWriter
			for v := range count {
				var ones []int
				for i := range n {
					one := rng.Float64() < density
					bools[v] = append(bools[v], one)
					if one {
						ones = append(ones, i)
					}
				}
				p.lines = appendPlain(p.lines, n, slices.Values(ones))
				w.add(n, slices.Values(ones))
			}
			w.finish()
			r := &rrr{records: w.records, offsets: w.offsets, per: supersFor(n), tables: rrrOnce()}
			for _, vec := range []vectors{p, r} {
				for v := range count {
					ones, zeros := 0, 0
					for i, one := range bools[v] {
						if rank, got := vec.rank(v, i); rank != ones || got != one {
							t.Fatalf("%T, n %d, density %v: rank(%d) = %d, %v; want %d, %v", vec, n,
								density, i, rank, got, ones, one)
						}
						if one {
							if at, ok := vec.selectOne(v, ones); at != i || !ok {
								t.Fatalf("%T, n %d, density %v: select(%d) = %d, want %d", vec, n, density, ones, at, i)
							}
							ones++
						} else {
							if v == 0 && vec == vectors(p) {
								if at, ok := p.selectZero(zeros, n); at != i || !ok {
									t.Fatalf("n %d, density %v: select zero %d = %d, want %d", n, density, zeros, at, i)
								}
							}
							zeros++
						}
					}
					if _, ok := vec.selectOne(v, ones); ok {
						t.Fatalf("%T, n %d: select finds more than %d ones", vec, n, ones)
					}
				}
				if _, ok := vec.rank(count, 0); ok {
					t.Fatalf("%T, n %d: a one in vector %d of %d", vec, n, count, count)
				}
			}
		}
	}
}

func TestTailsOfAnyAlphabet(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for _, size := range []int{1, 2, 3, 26, 31, 32, 127, 255, 256} {
		var chars []byte
		for c := range size {
			chars = append(chars, byte(c))
		}
		w := newTailsWriter(newAlphabet(chars))
		var want []string
		for range 500 {
			b := make([]byte, rng.IntN(20)*rng.IntN(2))
			for i := range b {
				b[i] = chars[rng.IntN(size)]
			}
			want = append(want, string(b))
			w.add(b)
		}
		for i, s := range want {
			if got := w.append([]byte("+"), i); string(got) != "+"+s {
				t.Fatalf("alphabet of %d: tail %d is %q, want %q", size, i, got, s)
			}
			if !w.equal(i, []byte(s)) || w.equal(i, []byte(s+"\x00")) ||
				s != "" && w.equal(i, []byte(s[1:])) && s[1:] != s {
				t.Fatalf("alphabet of %d: tail %d, %q, is not equal to itself, or is to another string", size,
					i, s)
			}
		}
		if w.equal(len(want)+tailsEvery, nil) {
			t.Errorf("alphabet of %d: a tail after the last one", size)
		}
	}
}

// Blocks that are decoded by computation are those of the table.
func TestBlocksOnTheFly(t *testing.T) {
	tables := rrrOnce()
	for b := range 1 << blockBits {
		k := bits.OnesCount(uint(b))
		if got := computeBlock(k, tables.offset[b]); got != uint16(b) {
			t.Fatalf("class %d, offset %d: %015b, want %015b", k, tables.offset[b], got, b)
		}
	}
	w := generated(5000, 9)
	for _, k := range []Kind{XBW, XBWPaper} {
		d, ok := build(t, w, k).OnTheFly()
		if !ok {
			t.Fatalf("%v: OnTheFly is false, want true", k)
		}
		check(t, w, d, nil)
	}
	if _, ok := build(t, w, Hash).OnTheFly(); ok {
		t.Error("hash: OnTheFly is true, want false")
	}
}
