package api

import (
	"math"
	"reflect"
	"testing"

	"github.com/collocate/collocate/search"
)

// A cursor is what a client sends, so it may be anything. One that is read is written and read as
// the same.
func FuzzCursor(f *testing.F) {
	for _, c := range []cursor{
		{},
		{index: "a1b2", question: 7, rank: 10, score: math.Float32bits(1.5), doc: 3},
		{index: "a1b2", question: math.MaxUint64, rank: math.MaxInt32, doc: -1, key: &search.SortKey{Word: "w"}},
	} {
		f.Add(c.text())
	}
	f.Add("")
	f.Add("not a cursor")
	f.Fuzz(func(t *testing.T, s string) {
		c, ok := parseCursor(s)
		if !ok {
			return
		}
		again, ok := parseCursor(c.text())
		if !ok || !reflect.DeepEqual(again, c) {
			t.Errorf("%q: %+v became %+v", s, c, again)
		}
	})
}
