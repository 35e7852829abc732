package spelling

import (
	"slices"
	"testing"
)

func TestSuggestions(t *testing.T) {
	vocabulary := []string{"to", "too", "Tom", "tomb", "watson", "water", "it’s", "its", "café"}
	for word, want := range map[string][]string{
		"tom":      {"Tom", "to", "too"}, // capitals are ignored; then by frequency
		"watsn":    {"watson", "water"},
		"it's":     {"it’s", "its"},
		"cafe":     {"café"},
		"zebra":    nil,
		"":         nil,
		"watersoo": nil,
	} {
		s := New(word)
		for i, w := range vocabulary {
			s.Look([]byte(w), uint64(100-i))
		}
		if got := s.Best(); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"abc", "abc", 0}, {"abc", "abd", 1}, {"abc", "ab", 1}, {"abc", "xabc", 1},
		{"straße", "strase", 1}, {"abc", "cba", 2}} {
		if got := distance([]rune(c.a), []byte(c.b), make([]int, len([]rune(c.a))+1), 2); got != c.want {
			t.Errorf("%q, %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
