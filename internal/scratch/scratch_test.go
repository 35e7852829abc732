package scratch

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"github.com/collocate/collocate/internal/sections"
)

// What was written is read back, also after Drop, and nothing is left behind.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	f, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]uint32, 300_000)
	for i := range want {
		want[i] = uint32(i * i)
	}
	if err := sections.Put(f, want); err != nil || f.Size() != int64(4*len(want)) {
		t.Fatal(f.Size(), err)
	}
	p, err := f.Map(2 * PageBytes)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	for range 3 {
		got, err := sections.View[uint32](p.Data)
		if err != nil || !slices.Equal(got, want) {
			t.Fatal("the data differ", err)
		}
		p.TouchSorted(len(got), 0, uint32(len(got)-1), 4)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

// Few numbers in memory and many in a file come back.
func TestNumbers(t *testing.T) {
	for _, n := range []int{0, 1, maxHeld, maxHeld + 1, 3*maxHeld + 7} {
		numbers := Numbers{Dir: t.TempDir()}
		var want []uint64
		for i := range n {
			want = append(want, uint64(i)<<33)
			if err := numbers.Add(want[i]); err != nil {
				t.Fatal(err)
			}
		}
		var got, plain bytes.Buffer
		w, _ := sections.NewWriter(&got, "TESTFILE", 1)
		v, _ := sections.NewWriter(&plain, "TESTFILE", 1)
		if err := numbers.Copy(w, "n"); err != nil {
			t.Fatal(err)
		}
		if err := v.Section("n", sections.Bytes(want)); err != nil {
			t.Fatal(err)
		}
		if w.Close() != nil || v.Close() != nil || !bytes.Equal(got.Bytes(), plain.Bytes()) {
			t.Errorf("%d numbers: the section differs from one written at once", n)
		}
	}
}
