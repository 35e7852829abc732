package cpu

import (
	"slices"
	"strings"
	"testing"
)

func TestChoosingALevel(t *testing.T) {
	have := []Level{AVX512, AVX2, None}
	for name, want := range map[string]Level{"": AVX512, "avx512": AVX512, "avx2": AVX2, "none": None} {
		if got, err := choose(name, have); got != want || err != nil {
			t.Errorf("%q: %v, %v; want %v", name, got, err, want)
		}
	}
	for name, want := range map[string]string{
		"neon": `"neon" is not available: want one of avx512, avx2, none`,
		"AVX2": `"AVX2" is not a level: want one of avx512, avx2, none`,
	} {
		if got, err := choose(name, have); got != AVX512 || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want avx512 and %s", name, got, err, want)
		}
	}
}

func TestFollowSeesEachLevel(t *testing.T) {
	was := Used()
	defer Use(was)
	var heard []Level
	Follow(func(l Level) { heard = append(heard, l) })
	defer func() { followers = followers[:len(followers)-1] }()
	for _, l := range Levels() {
		Use(l)
	}
	if want := append([]Level{was}, Levels()...); !slices.Equal(heard, want) {
		t.Errorf("heard %v, want %v", heard, want)
	}
}
