package cooccur

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/collocate/collocate/engine"
)

// The weight 1/d is a whole number of units: exactly up to window 18, and beyond, the float64
// nearest to 1/d in units of 2^-62.
func TestUnitsAreExact(t *testing.T) {
	for window := 1; window <= deviceWindow; window++ {
		u := newUnits(Distance, window)
		if u.wide != (window > 18) {
			t.Fatalf("window %d: wide %t, want %t", window, u.wide, window > 18)
		}
		for d := 1; d <= window; d++ {
			if !u.wide && float64(u.of[d])*float64(d) != u.one {
				t.Fatalf("window %d, distance %d: %d units, want a %dth of %v", window, d, u.of[d], d, u.one)
			}
			if u.wide && math.Ldexp(float64(u.of[d]), -62) != 1/float64(d) {
				t.Fatalf("window %d, distance %d: %d units of 2^-62, want 1/%d", window, d, u.of[d], d)
			}
		}
		if u.heaviest < 2e11 {
			t.Errorf("window %d: a word may occur only %d times, want at least 2e11", window, u.heaviest)
		}
	}
}

// A sum of 128 bits is rounded once, to the nearest float64, as big.Float rounds it.
func TestWideValuesAreRoundedOnce(t *testing.T) {
	u := newUnits(Distance, 100)
	r := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		lo, hi := r.Uint64()>>r.IntN(64), r.Uint64()>>r.IntN(64)
		switch r.IntN(4) {
		case 0:
			hi = 0
		case 1:
			lo = 1 << r.IntN(64) // ties and values beside them
			hi = hi &^ 0xff
		}
		n := new(big.Int).Lsh(new(big.Int).SetUint64(hi), 64)
		n.Or(n, new(big.Int).SetUint64(lo))
		want, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(n), -62).Float64()
		if got := u.value(lo, hi); got != want {
			t.Fatalf("value of %x<<64 | %x is %v, want %v", hi, lo, got, want)
		}
	}
}

// More occurrences of a word than its sums can hold are an error.
func TestTooManyOccurrencesAreRefused(t *testing.T) {
	for _, kind := range []engine.Kind{engine.Sequential, engine.Multicore} {
		j, err := newJob(vocabularyOf("a"), Options{Window: 1, Engine: kind})
		if err != nil {
			t.Fatal(err)
		}
		j.heaviest = 3
		corpus := corpusOf(t, "a a a a")
		if kind == engine.Sequential {
			err = j.sequential(t.Context(), corpus, &cells{})
		} else {
			err = j.multicore(t.Context(), corpus, &cells{})
		}
		if err == nil {
			t.Errorf("%v: no error for 4 occurrences, where at most 3 are allowed", kind)
		}
	}
}

// Subsampling keeps about the expected number of words, and depends on the seed.
func TestSubsampling(t *testing.T) {
	corpus := corpusOf(t, zipfText(20_000, 500, 4))
	v, _, err := CountWords(t.Context(), corpus, VocabularyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const threshold = 1e-3
	want := 0.0
	for id := range v.Len() {
		f := float64(v.Count(id)) / float64(v.Total())
		want += float64(v.Count(id)) * min(1, math.Sqrt(threshold/f)+threshold/f)
	}
	kept := map[int64]bool{}
	for seed := range uint64(4) {
		stats, err := Matrix(t.Context(), corpus, v, Options{Window: 2, Subsample: threshold, Seed: seed}, &cells{})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(float64(stats.Kept)-want) > 0.03*want {
			t.Errorf("seed %d: %d of %d words are kept, want about %.0f", seed, stats.Kept, stats.Words, want)
		}
		kept[stats.Kept] = true
	}
	if len(kept) < 2 {
		t.Errorf("four seeds keep %v words, want different numbers", kept)
	}
}
