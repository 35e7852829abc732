// Package densetest makes fields of vectors for tests.
package densetest

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/dense"
	"github.com/collocate/collocate/internal/sections"
)

// Column makes the vectors of a field. A nil vector is that of a document without one; several
// vectors of a document are one after the other.
func Column(t testing.TB, f fields.Field, vectors [][]float32) *dense.Column {
	t.Helper()
	s := &fields.Schema{Fields: []fields.Field{f, {Name: "t"}}}
	b := dense.NewBuilder(s, t.TempDir(), 1<<20)
	defer b.Close()
	batch := b.Batch(0)
	for i, v := range vectors {
		doc := make([]fields.Values, 2)
		for v := range slices.Chunk(v, f.Dim) {
			doc[0] = append(doc[0], fields.VectorValue(v))
		}
		if err := batch.Add(doc); err != nil {
			t.Fatalf("document %d: %v", i, err)
		}
	}
	var out bytes.Buffer
	w, err := sections.NewPaged(&out, "COLOVEC\n", 1)
	if err == nil {
		err = b.Put(batch)
	}
	if err == nil {
		err = b.Write(w, len(vectors))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	file, err := sections.Parse(out.Bytes(), "COLOVEC\n", 1)
	if err != nil {
		t.Fatal(err)
	}
	set, err := dense.Open(file, s, len(vectors))
	if err == nil {
		err = set.Check()
	}
	if err != nil {
		t.Fatal(err)
	}
	return set.Column(f.Name)
}

// Vectors are of one of several shapes: spread evenly, in clusters, nearly equal, with few
// large numbers, or of very different lengths.
func Vectors(r *rand.Rand, f *fields.Field, n int) [][]float32 {
	shape := r.IntN(5)
	centres := make([][]float32, 4)
	for i := range centres {
		centres[i] = Gauss(r, f.Dim, 1)
	}
	list := make([][]float32, n)
	for i := range list {
		if f.Optional && r.IntN(3) == 0 {
			continue
		}
		v := Gauss(r, f.Dim, 1)
		switch shape {
		case 1, 2:
			c := centres[r.IntN(len(centres))]
			for k := range v {
				v[k] = c[k] + v[k]*[]float32{0.3, 1e-5}[shape-1]
			}
		case 3:
			v[r.IntN(len(v))] *= 1000
		case 4:
			by := float32(math.Pow(10, r.Float64()*12-6))
			for k := range v {
				v[k] *= by
			}
		}
		if f.Precision == fields.Int8 {
			for k := range v {
				v[k] = float32(max(-128, min(127, math.Round(float64(v[k])*60))))
			}
			v[0] = max(v[0], 1)
		}
		if f.Precision == fields.Float16 {
			for k := range v {
				v[k] = float32(max(-6e4, min(6e4, float64(v[k]))))
			}
		}
		list[i] = v
	}
	if n > 3 { // duplicates, for ties
		list[n-1], list[n/2] = list[0], list[0]
	}
	if f.Many { // of a document up to 80, so that some fill more than a block
		all := slices.Clone(list)
		for i, v := range list {
			for n := r.IntN([]int{2, 4, 80}[r.IntN(3)]); v != nil && n > 0; n-- {
				list[i] = slices.Concat(list[i], all[r.IntN(len(all))])
			}
		}
	}
	return list
}

// Gauss returns normally distributed numbers.
func Gauss(r *rand.Rand, n int, by float64) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64() * by)
	}
	return v
}
