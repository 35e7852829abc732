package eval

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/collocate/collocate/internal/trials"
)

// The margin covers the rounding of the two sums of a document that is dropped: that in the order
// of the lists and that in the order of the query. Half of it would not from seven words on.
func TestMarginCoversAllRounding(t *testing.T) {
	const u = 0x1p-24
	for words := 1; words <= 1<<20; words = words*5/4 + 1 {
		worst := math.Pow((1+u)/(1-u), float64(words-1))
		if words <= 2 {
			worst = 1 // both sums are the same
		}
		if left := (1 - marginOf(words)) * worst; left > 1 {
			t.Errorf("%d words: a document %v times the threshold may win", words, left)
		}
		if left := (1 - marginOf(words)/2) * worst; words >= 7 && left <= 1 {
			t.Errorf("%d words: half the margin would do", words)
		}
	}
}

// The sum so far of a document is lower than its score, which beats theta. Without a margin, or
// with a third of it, the document is dropped.
func TestSumsInTwoOrders(t *testing.T) {
	for _, words := range []int{40, 100, 1000} {
		// From 1 on, half an ulp and a little more is rounded up to an ulp. From 2 on it is lost.
		each := math.Nextafter32(0x1p-24, 1)
		sofar, score := float32(1)+1, float32(1)
		for range words - 2 {
			sofar, score = sofar+each, score+each
		}
		score++
		theta := math.Nextafter32(score, 0)
		dropped := func(margin float64) bool { return float64(sofar) <= float64(theta)*(1-margin) }
		if dropped(marginOf(words)) {
			t.Errorf("%d words: the document with %v is dropped, and would win with %v over %v", words,
				sofar, score, theta)
		}
		if !dropped(0) || !dropped(marginOf(words)/3) {
			t.Errorf("%d words: a third of the margin would do for this example", words)
		}
	}
}

// Two scores need no margin: if the sum of their bounds in float64 does not exceed theta, the sum
// of the scores in float32 does not either. Here the sums are as near to theta as they can be.
func TestTwoWordsNeedNoMargin(t *testing.T) {
	if marginOf(2) != 0 || marginOf(1) != 0 {
		t.Error("one or two words have a margin")
	}
	r := rand.New(rand.NewPCG(1, 2))
	near := 0
	for range trials.Cases(100_000) {
		a, theta := r.Float32(), 1+r.Float32()
		bound := float64(theta) - float64(a)
		for _, b := range []float64{math.Nextafter(bound, 0), bound, math.Nextafter(bound, 2),
			math.Nextafter(math.Nextafter(bound, 2), 2)} {
			if float64(a)+b > float64(theta) {
				continue
			}
			score := float32(b)
			if float64(score) > b {
				score = math.Nextafter32(score, 0)
			}
			if float64(theta)-float64(a)-float64(score) < 0x1p-22 {
				near++
			}
			if a+score > theta {
				t.Fatalf("%v and %v add up to %v, above %v, and their bounds do not", a, score, a+score, theta)
			}
		}
	}
	if near == 0 {
		t.Error("no sum is near theta")
	}
}
