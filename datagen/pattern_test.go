package datagen

import (
	"fmt"
	"testing"
)

func TestFeatureNames(t *testing.T) {
	for f, want := range map[int]string{0: "A", 25: "Z", 26: "AA", 27: "AB", 701: "ZZ", 702: "AAA"} {
		if got := featureName(f); got != want {
			t.Errorf("feature %d is %s, want %s", f, got, want)
		}
		if got, ok := featureNumber(want); got != f || !ok {
			t.Errorf("%s is feature %d, want %d", want, got, f)
		}
	}
}

func TestPatternsTakeFeaturesInTurn(t *testing.T) {
	got := fmt.Sprint(Patterns(4, 2, 3, 0.5))
	if want := "[A+B=0.5 C+D+E=0.5 F+G=0.5 H+I+J=0.5]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func FuzzParsePattern(f *testing.F) {
	for _, s := range []string{"A+B+C=0.6", "AA+B=1", "A+=0.5", "A+B", "=", "a+b=0.5", "A+AAAAAAAAAAAA=1", "A+B=NaN"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePattern(s)
		if err != nil {
			return
		}
		again, err := ParsePattern(p.String())
		if err != nil || again.String() != p.String() {
			t.Errorf("%q reads as %v, which reads as %v, %v", s, p, again, err)
		}
	})
}
