package numberedid

import (
	"fmt"
	"testing"
)

// Follower expects the IDs that Append makes, for any stem and number of digits.
func TestFollowersAreAppended(t *testing.T) {
	for _, first := range []string{"0", "7", "a.txt:1", "a 095", "doc0000998", "9", "x9999990", "99é0",
		"1:999999999999999990"} {
		n := Of([]byte(first))
		var f Follower
		if !f.After([]byte(first)) {
			t.Fatalf("%s has no number", first)
		}
		for i := range uint64(2000) {
			want := n.Append([]byte(first[:n.Stem]), i+1)
			if f.Is(append(want, '0')) || f.IsString(string(want)+"0") {
				t.Fatalf("%s: Follower accepted %s0 as the next ID", first, want)
			}
			is := f.IsString
			if i%2 == 0 {
				is = func(id string) bool { return f.Is([]byte(id)) }
			}
			if !is(string(want)) {
				t.Fatalf("%s: Follower did not accept %s as the next ID", first, want)
			}
		}
	}
}

// Skip does the same as accepting each ID.
func TestSkip(t *testing.T) {
	for _, first := range []string{"0", "a.txt:1", "doc0000998", "x9999990", "1:999999999999999990"} {
		for n := range uint64(2000) {
			var f, g Follower
			f.After([]byte(first))
			g.After([]byte(first))
			for range n {
				g.id = Step(g.id)
			}
			if !f.Skip(n) || !f.Is(g.id) {
				t.Fatalf("%s: %s is not expected after skipping %d IDs", first, g.id, n)
			}
		}
	}
}

// IDs that do not end with a number of at most 18 digits have no follower.
func TestNoNumber(t *testing.T) {
	for _, id := range []string{"", "a", "1a", "12 ", fmt.Sprintf("%019d", 1)} {
		var f Follower
		if f.After([]byte(id)) || f.Is([]byte(id)) || f.IsString(id) || f.Skip(1) {
			t.Errorf("%q has a follower", id)
		}
	}
}
