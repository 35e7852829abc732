package tree

import (
	"math"
	"testing"
)

// The margin covers the rounding of four sums: those of the threshold's documents and those of a
// document that is dropped, each once in the order of the lists and once in that of the query.
func TestMarginCoversAllRounding(t *testing.T) {
	const u = 0x1p-24
	for words := 1; words <= 1<<20; words = words*5/4 + 1 {
		worst := math.Pow((1+u)/(1-u), 2*float64(words-1))
		if left := (1 - marginOf(words)) * worst; left > 1 {
			t.Errorf("%d words: a document %v times the threshold may win", words, left)
		}
	}
}

// Two documents of three kinds of words, added up in two orders as in a search. The one that is
// dropped without a margin wins in the end.
func TestSumsInTwoOrders(t *testing.T) {
	for _, words := range []int{10, 100, 1000} {
		small := words - 2
		// sums adds the first word, many small ones and the last one, and in the order of the
		// query both of these before the small ones.
		sums := func(first, last, each float32) (sofar, final float32) {
			sofar, final = first, first+last
			for range small {
				sofar, final = sofar+each, final+each
			}
			return sofar + last, final
		}
		// From 1 on, half an ulp and a little more is rounded up to an ulp. From 2 on it is lost.
		high, low := sums(1, 1.5, math.Nextafter32(0x1p-24, 1))
		// A document without the first word: its small words add up exactly when they come first,
		// and are rounded up from 2 on. It is scaled down to win just so in the end.
		scale := float32(1)
		var sofar, final float32
		for {
			s, f := sums(0, 2.5*scale, math.Nextafter32(0x1p-23, 1))
			if f <= low {
				break
			}
			sofar, final = s, f
			scale = math.Nextafter32(scale, 0)
		}
		if !(final > low && sofar < high) {
			t.Fatalf("%d words: sums %v and %v, final %v and %v: no example", words, sofar, high, final, low)
		}
		if cut := float64(high) * (1 - marginOf(words)); float64(sofar) < cut {
			t.Errorf("%d words: the document with %v is dropped below %v, and would win with %v over %v",
				words, sofar, cut, final, low)
		}
		if cut := float64(high) * (1 - marginOf(words)/4); words >= 100 && float64(sofar) >= cut {
			t.Errorf("%d words: a quarter of the margin would do for this example", words)
		}
	}
}
