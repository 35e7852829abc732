package thesisbench

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/collocate/collocate/search"
)

// WAND as the thesis has it is exact, on one core and with heterogeneous partitions. MaxScore is
// not: on one core it does not count lists that are not essential where their next document lies
// before the candidate. Adjusted partitions hardly ever have a full heap, so that all lists are
// essential and they count everything. That is why the thesis, which compares partitions with its
// own sequential algorithm, has a lower recall for MaxScore than for WAND.
func TestAsWritten(t *testing.T) {
	shape := Shape{Documents: 400_000, Classes: []Class{{Name: "word", Length: 20_000, Lists: 6}}, Seed: 3}
	dir := filepath.Join(t.TempDir(), "index")
	if err := shape.Build(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	s, err := search.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if !plain(s) {
		t.Fatal("the index is not plain")
	}
	var exact, own, alone [2]float64 // of WAND and MaxScore, with OR
	for q := range 3 {
		for _, mode := range []search.Mode{search.Or, search.And} {
			r := search.Request{Words: []search.Word{{Text: shape.Classes[0].Word(2 * q)},
				{Text: shape.Classes[0].Word(2*q + 1)}}, K: 64, Mode: mode}
			want, err := s.Search(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			m, err := newPaperMatch(s, r, r.K)
			if err != nil {
				t.Fatal(err)
			}
			m.mode = mode
			for i, a := range algorithms {
				one := m.sequential(a)
				cut := m.parallel(a, search.Adjusted, 32, 10)
				name := fmt.Sprintf("query %d, %v, %v", q, mode, a)
				if a == search.WAND && !slices.Equal(one, want.Hits) {
					t.Errorf("%s: one core: the result is not the exact one", name)
				}
				// No heap of MaxScore is full in a block of 2 partitions of 16.
				if (a == search.WAND || mode == search.Or) &&
					!slices.Equal(m.parallel(a, search.Heterogeneous, 16, 2), want.Hits) {
					t.Errorf("%s: heterogeneous partitions: the result is not the exact one", name)
				}
				if mode == search.Or {
					exact[i] += search.Recall(cut, want.Hits) / 3
					own[i] += search.Recall(cut, one) / 3
					alone[i] += search.Recall(one, want.Hits) / 3
				}
			}
		}
	}
	t.Logf("recall: %.3f of the exact result, %.3f of one core's, which has %.3f", exact, own, alone)
	if exact[0] < 0.8 || exact[0] > 0.99 || exact[1] < 0.8 || exact[1] > 0.99 {
		t.Errorf("recall %.3f of the exact result, want 0.8 to 0.99 for both algorithms", exact)
	}
	if alone[1] > 0.8 || own[1] > own[0]-0.1 {
		t.Errorf("recall of one core's result %.3f, and of that itself %.3f: want much less for MaxScore",
			own, alone)
	}
}

// Compressed lists give what plain ones do, with all partitions, sizes and algorithms; partitions
// by document are exact.
func TestCompressedListsGiveTheSame(t *testing.T) {
	shape := Shape{Documents: 60_000, Classes: []Class{{Name: "long", Length: 9000, Lists: 2}, {Name: "rare", Length: 70, Lists: 1},
		{Name: "once", Length: 1, Lists: 1}}, Seed: 4}
	dir := filepath.Join(t.TempDir(), "index")
	if err := shape.Build(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	s, err := search.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, words := range [][]search.Word{{{Text: "long000"}, {Text: "long001"}}, {{Text: "long000"}, {Text: "rare000"}, {Text: "once000"}}} {
		r := search.Request{Words: words, K: 16}
		want, err := s.Search(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := newPaperMatch(s, r, r.K)
		if err != nil {
			t.Fatal(err)
		}
		packed, err := newPackedMatch(s, r, r.K)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range algorithms {
			if !slices.Equal(plain.sequential(a), packed.sequential(a)) {
				t.Errorf("%v: whole lists differ", a)
			}
			for cut := search.Documents; cut <= search.Adjusted; cut++ {
				for _, size := range []int{1, 64, 200} {
					one, two := plain.parallel(a, cut, size, 10), packed.parallel(a, cut, size, 10)
					if !slices.Equal(one, two) || packed.err() != nil {
						t.Errorf("%v, %v, size %d: %v and %v differ, %v", a, cut, size, one, two, packed.err())
					}
					if a == search.WAND && cut <= search.Heterogeneous && !slices.Equal(one, want.Hits) {
						t.Errorf("%v, size %d: the result is not the exact one", cut, size)
					}
				}
			}
		}
	}
}
