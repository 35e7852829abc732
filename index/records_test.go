package index

import (
	"math/rand/v2"
	"testing"
)

// TermsIn yields what Term returns, for every range.
func TestTermsInAreTerms(t *testing.T) {
	r := randomIndex(rand.New(rand.NewPCG(3, 8)), 200, 60).write(t)
	for from := 0; from <= r.Terms(); from++ {
		for to := from; to <= r.Terms()+1; to++ {
			next := from
			for got, err := range r.TermsIn(from, to) {
				want, err2 := r.Term(next)
				if err != nil || err2 != nil || got != want {
					t.Fatalf("[%d, %d): word %d: got %+v (%v), want %+v (%v)", from, to, next, got, err, want, err2)
				}
				next++
			}
			if next != min(to, r.Terms()) {
				t.Fatalf("[%d, %d) ends at %d", from, to, next)
			}
		}
	}
}
