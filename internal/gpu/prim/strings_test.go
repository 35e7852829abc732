package prim

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/internal/gpu/gputest"
)

// TestSortStrings sorts words with long common prefixes, prefixes of each other, words with zero
// bytes, empty ones and repeated ones.
func TestSortStrings(t *testing.T) {
	dev, s := gputest.Device(t)
	tmp := gputest.Arena(t, dev, 16<<20)
	rng := rand.New(rand.NewPCG(19, 20))
	word := func() []byte {
		switch rng.IntN(4) {
		case 0:
			return []byte(fmt.Sprintf("prefix-that-is-long-%d", rng.IntN(50)))
		case 1:
			return bytes.Repeat([]byte{'a'}, rng.IntN(20))
		case 2:
			w := make([]byte, rng.IntN(12))
			for i := range w {
				w[i] = byte(rng.IntN(2)) * 255
			}
			return w
		default:
			return []byte{byte(rng.IntN(256)), byte(rng.IntN(256)), byte(rng.IntN(256))}
		}
	}
	for _, n := range []int{0, 1, 2, 5, 1000, 1024, 1025, 2048, 5000, 9999} {
		var text []byte
		refs := make([]uint64, n)
		for i := range refs {
			w := word()
			var err error
			if refs[i], err = StringRef(uint64(len(text)), len(w)); err != nil {
				t.Fatal(err)
			}
			text = append(text, w...)
		}
		value := func(ref uint64) []byte { return text[ref>>24:][:ref&(1<<24-1)] }
		want := slices.Clone(refs)
		slices.SortStableFunc(want, func(a, b uint64) int { return bytes.Compare(value(a), value(b)) })

		in, heads := gputest.Upload(t, s, refs), gputest.Alloc[uint8](t, s, n)
		if err := SortStrings(s, tmp, gputest.Upload(t, s, text), in, heads); err != nil {
			t.Fatal(err)
		}
		got, first := gputest.Download(t, s, in), gputest.Download(t, s, heads)
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("%d strings: number %d is %q (%#x), want %q (%#x)", n, i, value(got[i]),
					got[i], value(want[i]), want[i])
			}
			if head := i == 0 || !bytes.Equal(value(want[i-1]), value(want[i])); (first[i] == 1) != head {
				t.Fatalf("%d strings: head %d is %d, want %v", n, i, first[i], head)
			}
		}
	}
	if _, err := StringRef(1<<40, 1); err == nil {
		t.Error("an offset of 2^40 was accepted")
	}
	if _, err := StringRef(0, 1<<24); err == nil {
		t.Error("a length of 2^24 was accepted")
	}
}
