package bm25

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

var allVariants = []Variant{Papers, Lucene, Lucene7, Plus, L}

// The example of the package comment.
func ExampleParams_Scorer() {
	s, err := Params{}.Scorer(2, 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	word := s.Term(1, 1)
	fmt.Printf("%.4f\n", word.Score(2, 3))
	// Output: 0.8356
}

// No change may alter these bits: indexes, engines and devices rely on them.
func TestScoreBitsArePinned(t *testing.T) {
	want := map[Variant]uint32{Papers: 0x4069b2d7, Lucene: 0x3ff5a910, Lucene7: 0x4069609c,
		Plus: 0x40c2bb5a, L: 0x406fd804}
	for _, v := range allVariants {
		s, err := Params{K1: 0.9, B: 0.4, Variant: v}.Scorer(1400, 230_000)
		if err != nil {
			t.Fatal(err)
		}
		word := s.Term(123, 1)
		if got := math.Float32bits(word.Score(3, 117)); got != want[v] {
			t.Errorf("%v: %#x (%v), want %#x", v, got, math.Float32frombits(got), want[v])
		}
	}
}

func anyTerm(t *rapid.T) (*Scorer, Term, uint64, uint64) {
	p := Params{
		K1:      rapid.Float64Range(0, 20).Draw(t, "k1"),
		B:       rapid.Float64Range(0, 1).Draw(t, "b"),
		Variant: rapid.SampledFrom(allVariants).Draw(t, "variant"),
	}
	docs := rapid.Uint64Range(1, 1<<33).Draw(t, "N")
	tokens := docs * rapid.Uint64Range(1, 5000).Draw(t, "Lave")
	df := rapid.Uint64Range(1, docs).Draw(t, "df")
	s, err := p.Scorer(docs, tokens)
	if err != nil {
		t.Fatal(err)
	}
	return s, s.Term(df, 1), df, tokens
}

// count draws a number above 0, of all sizes up to that of uint32.
func count(t *rapid.T, name string) uint32 {
	return rapid.Uint32Range(1, math.MaxUint32).Draw(t, name) >> rapid.IntRange(0, 31).Draw(t, name+" shift")
}

func TestScoreIsTheFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, word, df, tokens := anyTerm(t)
		tf, length := max(1, count(t, "tf")), max(1, count(t, "length"))
		want := s.Exact(df, uint64(tf), float64(length), tokens)
		got := float64(word.Score(tf, length))
		if math.Abs(got-want) > 1e-6*want+1e-30 {
			t.Fatalf("score %v, want %v by the formula", got, want)
		}
	})
}

// Bounds of blocks rely on monotonic scores, to the last bit. The test compares neighbouring
// arguments, where rounding would show, then distant ones.
func TestScoreIsMonotoneInFloat32(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, word, _, _ := anyTerm(t)
		tf, length := max(1, count(t, "tf")), count(t, "length")
		check := func(tf2, length2 uint32) {
			small, large := word.Score(tf, max(length, length2)), word.Score(tf2, min(length, length2))
			if !(small <= large) || !(large <= word.Weight+word.Plus) || small < 0 {
				t.Fatalf("tf %d..%d, lengths %d, %d: scores %v, %v, limit %v, want them ascending", tf, tf2,
					length, length2, small, large, word.Weight+word.Plus)
			}
		}
		for step := uint32(0); step < 40 && tf < math.MaxUint32-step && length < math.MaxUint32-step; step++ {
			check(tf+step, length)
			check(tf, length+step)
			check(tf+step, length+step)
		}
		check(max(tf, count(t, "tf2")), count(t, "length2"))
	})
}

// A word that occurs twice in a query has twice the weight, and a word of every document none.
func TestMultiplicityAndUbiquity(t *testing.T) {
	s, _ := Params{}.Scorer(10, 100)
	once, twice := s.Term(3, 1), s.Term(3, 2)
	if twice.Weight != 2*once.Weight {
		t.Errorf("a word that occurs twice in a query has the weight %v, want twice %v", twice.Weight, once.Weight)
	}
	everywhere := s.Term(10, 1)
	if got := everywhere.Score(5, 10); got != 0 {
		t.Errorf("a word of every document has the weight %v, want 0", got)
	}
	tooMany := s.Term(11, 1)
	if got := tooMany.Score(5, 10); got != 0 {
		t.Errorf("a word with df > N has the weight %v, want 0", got)
	}
}

func TestExtremesAreNumbers(t *testing.T) {
	for _, v := range allVariants {
		for _, p := range []Params{{K1: Zero, B: 1}, {K1: 1e6, B: 1}, {K1: 1.2, B: Zero},
			{K1: Zero, B: 0.3}, {}} {
			p.Variant = v
			for _, n := range []uint64{0, 1, math.MaxUint64} {
				s, err := p.Scorer(n, n)
				if err != nil {
					t.Fatal(err)
				}
				word := s.Term(1, 1)
				for _, tf := range []uint32{1, math.MaxUint32} {
					for _, length := range []uint32{0, 1, math.MaxUint32} {
						if got := word.Score(tf, length); !(got >= 0) || math.IsInf(float64(got), 0) {
							t.Errorf("%+v N=%d tf=%d L=%d: %v, want a finite number, 0 or more", p, n, tf, length, got)
						}
					}
				}
			}
		}
	}
}

func TestBadParamsAreRefused(t *testing.T) {
	for _, p := range []Params{{K1: -1}, {K1: math.NaN()}, {K1: math.Inf(1)}, {K1: 1, B: -0.1},
		{K1: 1, B: 1.1}, {K1: 1, B: math.NaN()}, {Variant: 9}} {
		if _, err := p.Scorer(1, 1); err == nil {
			t.Errorf("%+v: no error", p)
		}
	}
}

// Terrier's BM25 has Robertson and Spärck Jones' weight as idf, with a binary logarithm, and k3 8.
func TestTerrier(t *testing.T) {
	s, err := Params{Variant: Terrier}.Scorer(1000, 150_000)
	if err != nil {
		t.Fatal(err)
	}
	for _, df := range []float64{1, 40, 499, 500, 900, 1000} {
		for _, times := range []float64{0.3, 1, 2, 7} {
			term := s.Term(uint64(df), times)
			const tf, length = 3, 200
			k := 1.2 * (0.25 + 0.75*length/150)
			want := max(0, math.Log2((1000-df+0.5)/(df+0.5))) * 2.2 * tf / (k + tf) * 9 * times / (8 + times)
			if got := float64(term.Score(tf, length)); math.Abs(got-want) > 1e-5 {
				t.Errorf("df %v, %v times: %v, want %v", df, times, got, want)
			}
		}
	}
	full, _ := Params{}.Scorer(1000, 150_000)
	less, _ := Params{K3: 4}.Scorer(1000, 150_000)
	if got, want := less.Term(40, 3), full.Term(40, 5*3.0/7); got != want {
		t.Errorf("k3: %v, want %v", got, want)
	}
}

// Every variant against its row in the table of the package comment, in plain float64 and with the
// logarithm of package math. A variant without a formula here fails.
func TestVariantsAreTheirFormulas(t *testing.T) {
	const n, tokens, k1, b = 1000.0, 150_000.0, 0.9, 0.4
	log := math.Log
	saturated := func(tf, length float64) float64 {
		return tf / (k1*((1-b)+b*length*n/tokens) + tf)
	}
	lucene := func(df float64) float64 { return log(1 + (n-df+0.5)/(df+0.5)) }
	formulas := map[Variant]func(df, tf, length float64) float64{
		Papers: func(df, tf, l float64) float64 { return log(n/df) * (k1 + 1) * saturated(tf, l) },
		Lucene: func(df, tf, l float64) float64 { return lucene(df) * saturated(tf, l) },
		Lucene7: func(df, tf, l float64) float64 {
			return lucene(df) * (k1 + 1) * saturated(tf, l)
		},
		Plus: func(df, tf, l float64) float64 {
			return log((n+1)/df) * ((k1+1)*saturated(tf, l) + 1)
		},
		L: func(df, tf, l float64) float64 {
			c := tf/((1-b)+b*l*n/tokens) + 0.5
			return log((n+1)/(df+0.5)) * (k1 + 1) * c / (k1 + c)
		},
		Terrier: func(df, tf, l float64) float64 {
			return max(0, math.Log2((n-df+0.5)/(df+0.5))) * (k1 + 1) * saturated(tf, l)
		},
		LuceneLossy: func(df, tf, l float64) float64 {
			return lucene(df) * saturated(tf, float64(LossyLength(uint32(l))))
		},
	}
	for v := range Variant(variantNames.Len()) {
		formula := formulas[v]
		if formula == nil {
			t.Errorf("%v: no formula to compare it with", v)
			continue
		}
		s, err := Params{K1: k1, B: b, Variant: v}.Scorer(n, tokens)
		if err != nil {
			t.Fatal(err)
		}
		for _, df := range []uint64{1, 7, 40, 499, 501, 999, 1000} {
			term := s.Term(df, 1)
			for _, tf := range []uint32{1, 2, 9, 300} {
				for _, length := range []uint32{1, 41, 150, 20_000} {
					got := float64(term.Score(tf, length))
					want := formula(float64(df), float64(tf), float64(length))
					if math.Abs(got-want) > 1e-6*(1+want) {
						t.Errorf("%v, df %d, tf %d, length %d: %v, want %v", v, df, tf, length, got, want)
					}
				}
			}
		}
	}
}

func TestVariantNames(t *testing.T) {
	if got, want := len(SearchVariants()), variantNames.Len()+1; got != want { // atire is another name
		t.Errorf("%d names, want %d", got, want)
	}
	for _, name := range SearchVariants() {
		v, err := ParseVariant(name)
		if err != nil || (v.String() != name && name != "atire") {
			t.Errorf("%s: %v, %v", name, v, err)
		}
	}
	if _, err := ParseVariant("bm42"); err == nil {
		t.Error("bm42: no error")
	}
}

// Log agrees with math.Log, and its bits do not change.
func TestLogIsTheLogarithm(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		x := math.Float64frombits(r.Uint64() &^ (1 << 63))
		// On amd64, math.Log is wrong for subnormal numbers.
		if math.IsNaN(x) || math.IsInf(x, 0) || x < 0x1p-1022 {
			continue
		}
		if r.IntN(2) == 0 {
			x = 1 + r.NormFloat64()*0.01
		}
		got, want := Log(x), math.Log(x)
		if math.Abs(got-want) > 2.3e-16*math.Abs(want) {
			t.Fatalf("Log(%v) = %v, want %v", x, got, want)
		}
	}
	for x, bits := range map[float64]uint64{2: 0x3fe62e42fefa39ef, 10: 0x40026bb1bbb55516,
		0.5: 0xbfe62e42fefa39ef, 1: 0, 3e-310: 0xc086459f44103e87} {
		if got := math.Float64bits(Log(x)); got != bits {
			t.Errorf("Log(%v) = %#x, want %#x", x, got, bits)
		}
	}
	if !math.IsInf(Log(0), -1) || !math.IsNaN(Log(-1)) || !math.IsNaN(Log(math.NaN())) ||
		!math.IsInf(Log(math.Inf(1)), 1) {
		t.Errorf("Log of 0, -1, NaN and Inf is %v, %v, %v and %v, want -Inf, NaN, NaN and +Inf", Log(0), Log(-1),
			Log(math.NaN()), Log(math.Inf(1)))
	}
}

// 1/tf is correctly rounded, which monotonicity needs.
func TestReciprocalIsCorrectlyRounded(t *testing.T) {
	for _, tf := range []uint32{1, 2, 3, 7, 255, 256, 257, 1 << 20, math.MaxUint32} {
		f, _ := new(big.Rat).SetInt64(int64(tf)).Float32()
		want, _ := new(big.Rat).Inv(new(big.Rat).SetFloat64(float64(f))).Float32()
		if got := Reciprocal(tf); got != want {
			t.Errorf("1/%d = %v, want %v", tf, got, want)
		}
	}
}

func BenchmarkScore(b *testing.B) {
	s, _ := Params{}.Scorer(1e6, 2e8)
	word := s.Term(1000, 1)
	var sum float32
	for i := 0; b.Loop(); i++ {
		sum += word.Score(uint32(i&7)+1, uint32(i&511)+50)
	}
	_ = sum
}

// Each parameter that is 0 is replaced by its default.
func TestDefaults(t *testing.T) {
	for p, want := range map[Params]Params{
		{}: {K1: 1.2, B: 0.75}, {B: 0.4}: {K1: 1.2, B: 0.4}, {K1: 2}: {K1: 2, B: 0.75},
		{K1: Zero, B: Zero}: {K1: Zero, B: Zero},
	} {
		if got := p.WithDefaults(); got != want {
			t.Errorf("%v with defaults is %v, want %v", p, got, want)
		}
	}
}

// Zero gives the same weights as 0, to the bit, in all variants.
func TestZero(t *testing.T) {
	for _, v := range allVariants {
		for _, p := range []Params{{K1: 0, B: 0.3}, {K1: 0.7, B: 0}, {K1: 0, B: 0}} {
			p.Variant = v
			said := Params{K1: Explicit(p.K1), B: Explicit(p.B), Variant: v}
			if back := (Params{K1: Shown(said.K1), B: Shown(said.B), Variant: v}); back != p {
				t.Errorf("%v, made explicit, is shown as %v", p, back)
			}
			exact, err := p.scorer(1000, 150_000)
			if err != nil {
				t.Fatal(err)
			}
			s, err := said.Scorer(1000, 150_000)
			if err != nil {
				t.Fatal(err)
			}
			want, got := exact.Term(40, 2), s.Term(40, 2)
			for tf := uint32(1); tf < 300; tf += 7 {
				for length := tf; length < 100_000; length = length*3 + 1 {
					if got, want := got.Score(tf, length), want.Score(tf, length); got != want {
						t.Fatalf("%v, tf %d, length %d: %v, want %v", p, tf, length, got, want)
					}
				}
			}
		}
	}
}

// LossyLength is Lucene's SmallFloat.byte4ToInt(intToByte4(length)).
func TestLossyLength(t *testing.T) {
	for length, want := range map[uint32]uint32{0: 0, 1: 1, 23: 23, 24: 24, 39: 39, 40: 40, 41: 40,
		42: 42, 55: 54, 56: 56, 59: 56, 60: 60, 95: 88, 96: 96, 100: 96, 279: 264, 280: 280,
		1 << 20: 983064, math.MaxInt32: 2013265944} {
		if got := LossyLength(length); got != want {
			t.Errorf("LossyLength(%d) = %d, want %d", length, got, want)
		}
	}
	last := uint32(0)
	for length := range uint32(5000) {
		if got := LossyLength(length); got < last || got > length {
			t.Fatalf("LossyLength(%d) = %d, want %d to %d", length, got, last, length)
		} else {
			last = got
		}
	}
}
