package index

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/trials"
)

// Numbers in IDs count by their value.
func TestOrderOfIDs(t *testing.T) {
	ascending := []string{"", "-7", "0", "00", "01", "1", "2", "9", "10", "10a", "11",
		"99999999999999999999998", "99999999999999999999999",
		"a", "a.txt:9", "a.txt:10", "a1b2", "a1b10", "a01b11", "a2", "b", "ä"}
	for i, a := range ascending {
		for j, b := range ascending {
			if got, want := compareIDs([]byte(a), []byte(b)), slices.Compare([]int{i}, []int{j}); got != want {
				t.Errorf("compare %q, %q: %d, want %d", a, b, got, want)
			}
		}
	}
}

// IDs of all kinds, in any order, some of them several times, come back and are found.
func TestIDsOfAllKinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 72))
	kinds := []func(d int) string{
		func(d int) string { return fmt.Sprintf("file.txt:%d", d+1) },
		func(d int) string { return fmt.Sprintf("elife-%05d.%d", d/17, d%17) },
		func(d int) string { return fmt.Sprintf("%03d", d) },
		func(d int) string { return fmt.Sprintf("%d", 1_000_000-d*7) },
		func(int) string { return fmt.Sprintf("%x", rng.Uint64()) },
		func(int) string { return "the same" },
		func(int) string { return "" },
		func(d int) string { return fmt.Sprintf("my file.txt:%d", d) },
		func(d int) string { return fmt.Sprintf("%09d\t", rng.IntN(40)) },
		func(int) string { return []string{"", "0", "00", "000", "1", "01", "x9", "x09", "x10"}[rng.IntN(9)] },
		func(d int) string { return fmt.Sprintf("%019d", d) },
		func(d int) string { return fmt.Sprintf("9999999999999999%02d", d%100) },
		func(int) string { return randomWord(rng) },
	}
	for round := range 40 / trials.Every(3) {
		p := &plainIndex{}
		n := rng.IntN(300)
		for d := range n {
			kind := kinds[round%len(kinds)]
			if round >= 2*len(kinds) {
				kind = kinds[rng.IntN(len(kinds))]
			}
			p.ids = append(p.ids, kind(d))
			p.lengths = append(p.lengths, 1)
		}
		if round%2 == 1 {
			rng.Shuffle(n, func(i, j int) { p.ids[i], p.ids[j] = p.ids[j], p.ids[i] })
		}
		r := p.write(t)
		if err := r.Check(context.Background(), CheckOptions{}); err != nil {
			t.Fatal(err)
		}
		for d, want := range p.ids {
			if got, err := r.DocID(d); err != nil || got != want {
				t.Fatalf("DocID(%d) = %q, %v; want %q", d, got, err, want)
			}
			if got, ok, err := r.FindDoc(want); err != nil || !ok || got != slices.Index(p.ids, want) {
				t.Fatalf("FindDoc(%q) = %d, %v, %v; want %d", want, got, ok, err, slices.Index(p.ids, want))
			}
		}
		isBad := func(id string) bool { return id == "" || strings.ContainsAny(id, " \t\n\v\f\r") }
		if id, bad, err := r.BadID(); err != nil || bad != slices.ContainsFunc(p.ids, isBad) || bad && !isBad(id) {
			t.Fatalf("BadID() = %q, %v, %v of %q", id, bad, err, p.ids)
		}
		for range 50 {
			id := kinds[rng.IntN(len(kinds))](rng.IntN(400))
			if got, ok, err := r.FindDoc(id); err != nil || ok != slices.Contains(p.ids, id) {
				t.Fatalf("FindDoc(%q) = %d, %v, %v", id, got, ok, err)
			}
		}
	}
}

// Consecutive numbers cost next to nothing.
func TestRunsOfIDsAreShort(t *testing.T) {
	p := &plainIndex{lengths: make([]uint32, 32_000)}
	for d := range p.lengths {
		p.ids = append(p.ids, fmt.Sprintf("news/2024-05-17.jsonl:%d", d+1))
	}
	r := p.write(t)
	if n := len(r.ids.blob); n > len(p.ids) {
		t.Errorf("%d IDs take %d bytes", len(p.ids), n)
	}
	if len(r.ids.ranks) > 0 {
		t.Error("the IDs are in order, but their order is stored")
	}
}
