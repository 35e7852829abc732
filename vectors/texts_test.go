package vectors

import (
	"errors"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// Vectors of texts are, by definition, sums over the words of weight times vector, without the part
// along the mean of the corpus.
func TestVectorsOfTexts(t *testing.T) {
	counts := []uint64{60, 25, 10, 5, 0}
	v, err := New([]string{"the", "cat", "sat", "mat", "unseen"}, 3,
		[]float32{1, 2, 3, -1, 0.5, 2, 4, -2, 1, 0.25, 3, -1, 1, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	made, err := v.ForTexts(func(i int) uint64 { return counts[i] }, "unicode")
	if err != nil {
		t.Fatal(err)
	}
	weight := func(i int) float64 { return math.Log(1 + 100/(10*float64(counts[i]))) }
	var mean [3]float64
	for i := range 4 {
		for k, x := range v.Of(i) {
			mean[k] += float64(counts[i]) / 100 * weight(i) * float64(x)
		}
	}
	want := make([]float64, 3)
	for _, i := range []int{1, 2, 1} { // cat sat cat
		for k, x := range v.Of(i) {
			want[k] += weight(i) * float64(x)
		}
	}
	along, square := 0.0, 0.0
	for k := range want {
		along += want[k] * mean[k]
		square += mean[k] * mean[k]
	}
	of, err := made.Texts()
	if err != nil {
		t.Fatal(err)
	}
	got := of("Cat sat, cat! Zebra unseen.")
	for k := range want {
		if want[k] -= along / square * mean[k]; math.Abs(float64(got[k])-want[k]) > 1e-5 {
			t.Errorf("component %d: %v; want %v", k, got[k], want[k])
		}
	}
	for _, unknown := range []string{"", "zebra", "unseen", "  "} {
		if got := of(unknown); got != nil {
			t.Errorf("%q has the vector %v; want none", unknown, got)
		}
	}

	path := filepath.Join(t.TempDir(), "t.vec")
	if err := made.Write(path); err != nil {
		t.Fatal(err)
	}
	read, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	if of, err = read.Texts(); err != nil || !reflect.DeepEqual(of("Cat sat, cat! Zebra unseen."), got) {
		t.Errorf("from a file: %v; want the same vector", err)
	}
	for _, ending := range []string{".txt", ".w2v", ".bin", ".npy"} {
		if err := made.Write(path + ending); err == nil || !strings.Contains(err.Error(), "only files that end in .vec") {
			t.Errorf("%s: %v", ending, err)
		}
	}
	if _, err := v.Texts(); !errors.Is(err, ErrTexts) {
		t.Errorf("vectors of words: %v; want ErrTexts", err)
	}
	for name, err := range map[string]error{
		"no analyzer":      second(v.ForTexts(func(int) uint64 { return 1 }, "")),
		"unknown analyzer": second(v.ForTexts(func(int) uint64 { return 1 }, "klingon")),
		"no counts":        second(v.ForTexts(func(int) uint64 { return 0 }, "unicode")),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func second(_ *Vectors, err error) error { return err }
