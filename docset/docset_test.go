package docset

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
)

// A set behaves like a map of documents.
func TestSetIsAMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n := 1 + rng.IntN(300)
		a, b := map[uint32]bool{}, map[uint32]bool{}
		s, o := New(n), New(n)
		for range rng.IntN(200) {
			d := rng.Uint32N(uint32(n))
			if s.Add(d) == a[d] {
				t.Fatalf("Add(%d) = %v, want %v", d, a[d], !a[d])
			}
			a[d] = true
			d = rng.Uint32N(uint32(n))
			o.Add(d)
			b[d] = true
		}
		for range rng.IntN(50) {
			d := rng.Uint32N(uint32(n))
			if s.Remove(d) != a[d] {
				t.Fatalf("Remove(%d) = %v, want %v", d, !a[d], a[d])
			}
			delete(a, d)
		}
		if rng.IntN(2) == 0 {
			from := rng.Uint32N(uint32(n))
			to := from + rng.Uint32N(uint32(n)-from+1)
			s.AddRange(from, to)
			for d := from; d < to; d++ {
				a[d] = true
			}
		}
		var more []uint32
		for range rng.IntN(60) {
			more = append(more, rng.Uint32N(uint32(n)))
			a[more[len(more)-1]] = true
		}
		s.AddAll(more)
		holds(t, s, func(d uint32) bool { return a[d] })
		in := s.Clone()
		for name, op := range map[string]struct {
			do   func(s *Set)
			want func(d uint32) bool
		}{
			"and":     {func(s *Set) { s.And(o) }, func(d uint32) bool { return a[d] && b[d] }},
			"and not": {func(s *Set) { s.AndNot(o) }, func(d uint32) bool { return a[d] && !b[d] }},
			"or":      {func(s *Set) { s.Or(o) }, func(d uint32) bool { return a[d] || b[d] }},
			"add all in": {func(s *Set) { s.AddAllIn(more, o) }, func(d uint32) bool {
				return a[d] || b[d] && slices.Contains(more, d)
			}},
			"add bits": {func(s *Set) { s.AddBits(0, bytesOf(o), nil) },
				func(d uint32) bool { return a[d] || b[d] }},
			"add bits in": {func(s *Set) {
				clear(s.words)
				s.recount()
				s.AddBits(0, bytesOf(o), in)
			}, func(d uint32) bool { return a[d] && b[d] }},
			"not": {func(s *Set) { s.Not() }, func(d uint32) bool { return !a[d] }},
		} {
			c := s.Clone()
			op.do(c)
			t.Log(name)
			holds(t, c, op.want)
			again, err := FromWords(c.Words(), n)
			if err != nil {
				t.Fatal(err)
			}
			holds(t, again, op.want)
		}
		holds(t, s, func(d uint32) bool { return a[d] })
	}
}

func holds(t *testing.T, s *Set, want func(uint32) bool) {
	t.Helper()
	var docs []uint32
	for d := range uint32(s.Len()) {
		if s.Has(d) != want(d) {
			t.Fatalf("Has(%d) = %v, want %v", d, s.Has(d), want(d))
		}
		if want(d) {
			docs = append(docs, d)
		}
	}
	if got := slices.Collect(s.All()); !slices.Equal(got, docs) || s.Count() != len(docs) {
		t.Fatalf("%d documents, %v, want %d, %v", s.Count(), got, len(docs), docs)
	}
	few := docs
	if len(docs) > s.Len()/fewShare {
		few = nil
	}
	if got := s.Few(); !slices.Equal(got, few) {
		t.Fatalf("Few() = %v, want %v", got, few)
	}
	at := 0
	for d := range uint32(s.Len()) {
		next := uint32(s.Len())
		if at < len(docs) {
			next = docs[at]
		}
		if s.Next(d) != next {
			t.Fatalf("Next(%d) = %d, want %d", d, s.Next(d), next)
		}
		if next == d {
			at++
		}
	}
}

func bytesOf(s *Set) (list []byte) {
	for _, w := range s.words {
		list = binary.LittleEndian.AppendUint64(list, w)
	}
	return list
}

func TestFullAndDamaged(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 128} {
		holds(t, Full(n), func(uint32) bool { return true })
	}
	if _, err := FromWords([]uint64{1 << 10}, 10); err == nil {
		t.Error("a document after the last: no error")
	}
	if _, err := FromWords([]uint64{0, 0}, 10); err == nil {
		t.Error("too many words: no error")
	}
}

// After every way to change a set, Few lists its documents if it is sparse, and Version is new.
func TestFewAfterEveryChange(t *testing.T) {
	const n = 1000
	s, other := New(n), New(n)
	other.AddRange(3, 7)
	versions := map[uint64]bool{s.Version(): true, other.Version(): true}
	for i, change := range []func(){
		func() { s.Add(5) },
		func() { s.AddAll([]uint32{1, 999}) },
		func() { s.AddAllIn([]uint32{4, 9}, other) },
		func() { s.AddRange(64, 66) },
		func() { s.AddBits(128, []byte{2, 0, 0, 0, 0, 0, 0, 0}, nil) },
		func() { s.Remove(999) },
		func() { s.Or(other) },
		func() { s.AndNot(other) },
		func() { s.Add(3) },
		func() { s.And(other) },
		func() { s.Not() },
		func() { s.Not() },
	} {
		change()
		if v := s.Version(); versions[v] || v != s.Version() {
			t.Fatalf("the version after change %d is not new, or not the same twice", i)
		} else {
			versions[v] = true
		}
		want := slices.Collect(s.All())
		if len(want) > n/fewShare {
			want = nil
		}
		for range 2 {
			if got := s.Few(); !slices.Equal(got, want) {
				t.Fatalf("Few after change %d: %v, want %v", i, got, want)
			}
		}
	}
	if versions[s.Clone().Version()] {
		t.Error("a clone has the version of its origin")
	}
	if s.Clone().Few() == nil {
		t.Error("Few of a clone is nil")
	}
}
