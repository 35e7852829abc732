package vectors

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/collocate/collocate/cooccur"
)

// The zero values of options are the documented defaults, and a negative number stands for 0 where
// 0 is a value of its own.
func TestZeroOptions(t *testing.T) {
	r := matrixOf(t, animals(), cooccur.Options{Window: 3})
	cores := runtime.GOMAXPROCS(0)
	glove := GloVeOptions{Dim: 100, Epochs: 25, XMax: 100, Alpha: 0.75, Rate: 0.05, Threads: cores, Memory: 2e9}
	flat := glove
	flat.Alpha = 0
	for _, c := range []struct{ given, want GloVeOptions }{
		{GloVeOptions{}, glove},
		{GloVeOptions{Alpha: -1}, flat},
	} {
		got := c.given
		if err := got.settle(r); err != nil {
			t.Fatal(err)
		}
		if got.Dim != c.want.Dim || got.Epochs != c.want.Epochs || got.XMax != c.want.XMax ||
			got.Alpha != c.want.Alpha || got.Rate != c.want.Rate || got.Threads != c.want.Threads ||
			got.Memory != c.want.Memory {
			t.Errorf("%+v means %+v, want %+v", c.given, got, c.want)
		}
	}
	for _, o := range []GloVeOptions{{Dim: -1}, {Epochs: -1}, {XMax: -1}, {Rate: -1}, {Alpha: math.NaN()}} {
		if err := o.settle(r); err == nil {
			t.Errorf("%+v: want an error", o)
		}
	}
	for _, c := range []struct{ given, want SVDOptions }{
		{SVDOptions{Dim: 4}, SVDOptions{Smoothing: 0.75, Eigen: 0.5}},
		{SVDOptions{Dim: 4, Smoothing: -1, Eigen: -1, Power: -1}, SVDOptions{Power: -1}},
		{SVDOptions{Dim: 4, Smoothing: 1, Eigen: 1, Power: 1}, SVDOptions{Smoothing: 1, Eigen: 1, Power: 1}},
	} {
		got := c.given
		if err := got.settle(r); err != nil {
			t.Fatal(err)
		}
		if got.Smoothing != c.want.Smoothing || got.Eigen != c.want.Eigen || got.Power != c.want.Power ||
			got.Threads != cores || got.Memory != 2e9 {
			t.Errorf("%+v means %+v, want %+v", c.given, got, c.want)
		}
	}
	// Dim is checked against the number of words, so its default shows in the error.
	if err := new(SVDOptions).settle(r); r.Len() >= 100 || err == nil {
		t.Errorf("the zero SVDOptions for %d words: %v, want an error about 100 dimensions", r.Len(), err)
	}
	// Without scaling by singular values, components have the same length.
	v, err := TrainSVD(t.Context(), r, SVDOptions{Dim: 3, Eigen: -1})
	if err != nil {
		t.Fatal(err)
	}
	var squares [3]float64
	for row := range slices.Chunk(v.Data, 3) {
		for k, x := range row {
			squares[k] += float64(x) * float64(x)
		}
	}
	for k, s := range squares {
		if math.Abs(s-1) > 1e-5 {
			t.Errorf("the squares of component %d add up to %v, want 1", k, s)
		}
	}
}
