package vectors

import (
	"errors"
	"math"
	"reflect"
	"testing"
)

// Points that lie in a plane keep their distances, and the given word is the first.
func TestAroundKeepsDistances(t *testing.T) {
	// The points are on a tilted circle, so they lie in a plane, and their vectors have length 1.
	names := []string{"a", "b", "c", "d", "e", "f"}
	var data []float32
	for i := range names {
		angle := float64(i*i) / 5
		x, y := 0.6*math.Cos(angle), 0.6*math.Sin(angle)
		data = append(data, float32(0.6*x+0.64), float32(y), float32(0.8*x-0.48))
	}
	v, err := New(names, 3, data)
	if err != nil {
		t.Fatal(err)
	}
	p, err := v.Around("c", 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Points) != 6 || p.Points[0].Word != "c" {
		t.Fatalf("%+v: want 6 points, the first c", p)
	}
	if sum := p.Shares[0] + p.Shares[1]; math.Abs(sum-1) > 1e-6 || p.Shares[0] < p.Shares[1] {
		t.Errorf("the axes show %v of the variance, want a sum of 1, the larger share first", p.Shares)
	}
	for _, a := range p.Points {
		for _, b := range p.Points {
			want := math.Sqrt(max(0, 2-2*v.Cosine(v.index[a.Word], v.index[b.Word])))
			if got := math.Hypot(a.X-b.X, a.Y-b.Y); math.Abs(got-want) > 1e-3 {
				t.Errorf("%s and %s are %.4f apart, want %.4f", a.Word, b.Word, got, want)
			}
		}
	}
	again, err := v.Around("c", 5, 2)
	if err != nil || !reflect.DeepEqual(p, again) {
		t.Errorf("two threads: %+v, %v, want %+v as on one", again, err, p)
	}
}

func TestAroundFewWords(t *testing.T) {
	for _, words := range [][]string{{"a"}, {"a", "b"}} {
		v, err := New(words, 2, []float32{3, 4, 3, 4}[:2*len(words)])
		if err != nil {
			t.Fatal(err)
		}
		p, err := v.Around("a", 10, 1)
		if err != nil || len(p.Points) != len(words) || p.Points[0].X != 0 {
			t.Errorf("%+v, %v, want %d points, the first with X 0", p, err, len(words))
		}
		if _, err := v.Around("z", 10, 1); !errors.Is(err, ErrUnknown) {
			t.Errorf("around an unknown word: %v, want ErrUnknown", err)
		}
	}
}
