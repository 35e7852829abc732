package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/internal/trials"
)

// IDs are in natural order: numbers in them compare by value.
func TestOrderOfIDs(t *testing.T) {
	ascending := []string{"", "-7", "0", "00", "01", "1", "2", "9", "10", "10a", "11",
		"99999999999999999999998", "99999999999999999999999",
		"a", "a.txt:9", "a.txt:10", "a1b2", "a1b10", "a01b11", "a2", "b", "ä"}
	for i, a := range ascending {
		for j, b := range ascending {
			if got, want := compareIDs([]byte(a), []byte(b)), slices.Compare([]int{i}, []int{j}); got != want {
				t.Errorf("compareIDs(%q, %q) = %d, want %d", a, b, got, want)
			}
		}
	}
}

// IDs of all kinds are read back and found, in any order and with duplicates.
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
			t.Fatalf("BadID() = %q, %v, %v; want an empty ID or one with spaces, if there is one in %q", id,
				bad, err, p.ids)
		}
		for range 50 {
			id := kinds[rng.IntN(len(kinds))](rng.IntN(400))
			if got, ok, err := r.FindDoc(id); err != nil || ok != slices.Contains(p.ids, id) {
				t.Fatalf("FindDoc(%q) = %d, %v, %v; want found %v", id, got, ok, err, slices.Contains(p.ids, id))
			}
		}
	}
}

// A long run of consecutive numbers is one block. Its IDs and those beside it are found, IDs
// between them are not, and SharedIDs agrees.
func TestLongRunsOfIDs(t *testing.T) {
	run := func(format string, from, n int) (ids []string) {
		for i := range n {
			ids = append(ids, fmt.Sprintf(format, from+i))
		}
		return ids
	}
	ids := slices.Concat(run("a%db", 1, 40), run("doc%d", 1, 5000), run("doc%07d", 6001, 3000),
		run("x%02d", 95, 33), run("x%d", 500, 31), []string{"y", "z01b9"}, run("z01b%d", 10, 1090))
	r := writeIDs(t, ids)
	if err := r.checkIDs(context.Background()); err != nil {
		t.Fatal(err)
	}
	if len(r.ids.ranks) > 0 || r.meta.flags&flagRunBlocks == 0 || len(r.ids.starts) > 12 {
		t.Errorf("%d IDs in %d blocks, %d bytes of ranks, flags %#x; want at most 11 blocks, no ranks, flag %#x",
			len(ids), len(r.ids.starts)-1, len(r.ids.ranks), r.meta.flags, flagRunBlocks)
	}
	rng := rand.New(rand.NewPCG(73, 74))
	for range 3000 {
		d := rng.IntN(len(ids))
		if got, err := r.DocID(d); err != nil || got != ids[d] {
			t.Fatalf("DocID(%d) = %q, %v; want %q", d, got, err, ids[d])
		}
		if got, ok, err := r.FindDoc(ids[d]); err != nil || !ok || got != d {
			t.Fatalf("FindDoc(%q) = %d, %v, %v; want %d", ids[d], got, ok, err, d)
		}
		if got, err := r.FindDocs(ids[d]); err != nil || !slices.Equal(got, []uint32{uint32(d)}) {
			t.Fatalf("FindDocs(%q) = %d, %v; want %d", ids[d], got, err, d)
		}
	}
	between := []string{"", "a1c", "a39", "a41b", "doc", "doc0", "doc07", "doc17x", "doc-", "docx",
		"doc5001", "doc6001", "doc0009001", "doc99999999999999999999", "x95x", "x128", "x531", "y0",
		"z1b50", "z001b50", "z01b1100", "zz"}
	for _, id := range between {
		if _, ok, err := r.FindDoc(id); ok || err != nil {
			t.Errorf("FindDoc(%q): found %v, error %v; want neither", id, ok, err)
		}
	}
	shared := []int{3, 41, 57, 58, 4000, 5100, 8038, 8060, 8075, len(ids) - 50}
	some := slices.Clone(between)
	for _, d := range shared {
		some = append(some, ids[d])
	}
	var got []int
	for d, err := range r.SharedIDs(writeIDs(t, some)) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, int(d))
	}
	if !slices.Equal(got, shared) {
		t.Errorf("documents %d are shared, want %d", got, shared)
	}
}

// FuzzIDs reads arbitrary bytes as blocks of IDs; no method may panic.
func FuzzIDs(f *testing.F) {
	f.Add([]byte("\x02d1\x00\x63"), []byte{0, 5}, []byte{0, 100}, byte(100))
	f.Add([]byte("\x02d1\x00\x28\x03doc\x14x"), []byte{0, 5, 11}, []byte{0, 41, 43}, byte(43))
	f.Add([]byte("\x00\x00\x02d9\x00\xff\xff\xff\x7f"), []byte{0, 9}, []byte(nil), byte(20))
	f.Fuzz(func(t *testing.T, blob, starts, firsts []byte, docs byte) {
		s := &idStore{file: &sections.File{}, docs: int(docs), blob: blob}
		blocks := (s.docs + idsPerBlock - 1) / idsPerBlock
		if len(firsts) > 0 {
			blocks = min(len(firsts)-1, blocks)
		}
		if len(starts) < blocks+1 {
			return
		}
		for _, at := range starts[:blocks+1] {
			s.starts = append(s.starts, uint64(at))
		}
		for _, rank := range firsts[:min(blocks+1, len(firsts))] {
			s.firsts = append(s.firsts, uint32(rank))
		}
		for d := range s.docs + 1 {
			if id, err := s.get(nil, d); err == nil {
				s.find(id)
				s.findAll(id)
			}
		}
		for _, id := range []string{"", "d", "d5", "d5x", "doc", "doc99999999999999999999"} {
			s.find([]byte(id))
		}
		s.bad()
		sharedIDs(s, s, func(uint32) bool { return true })
		(&Reader{ids: s}).checkIDs(context.Background())
	})
}

// Consecutive numbers take less than a byte per ID.
func TestRunsOfIDsAreShort(t *testing.T) {
	p := &plainIndex{lengths: make([]uint32, 32_000)}
	for d := range p.lengths {
		p.ids = append(p.ids, fmt.Sprintf("news/2024-05-17.jsonl:%d", d+1))
	}
	r := p.write(t)
	if n := len(r.ids.blob); n > len(p.ids) {
		t.Errorf("%d IDs take %d bytes, want at most one each", len(p.ids), n)
	}
	if len(r.ids.ranks) > 0 {
		t.Errorf("%d bytes of ranks for IDs in order, want none", len(r.ids.ranks))
	}
}

// A duplicate ID is found wherever it is, also that of the first document.
func TestDuplicateIDs(t *testing.T) {
	for _, c := range []struct {
		ids           []string
		first, second int // -1: no duplicate
	}{
		{[]string{"a", "a"}, 0, 1}, {[]string{"b", "a", "c", "b"}, 0, 3}, {[]string{"c", "a", "b", "a"}, 1, 3},
		{[]string{"a", "b", "a1", "a01"}, -1, -1},
	} {
		s, err := sections.NewWriter(new(bytes.Buffer), "IDSIDSID", 1)
		if err != nil {
			t.Fatal(err)
		}
		w := idWriter{docs: len(c.ids), id: func(d int) []byte { return []byte(c.ids[d]) }, room: 1 << 20,
			tempDir: t.TempDir(), unique: true}
		err = w.write(s)
		twice, ok := errors.AsType[*DuplicateIDError](err)
		if ok != (c.first >= 0) || ok && (int(twice.First) != c.first || int(twice.Second) != c.second) {
			t.Errorf("%q: error %v, want documents %d and %d (-1: no error)", c.ids, err, c.first, c.second)
		}
	}
}

// IDs that are sorted in files, in many runs, give the same bytes and errors as IDs sorted in
// memory.
func TestIDsSortedInFiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(77, 78))
	most := 0
	for round := range 12 {
		n := 1 + rng.IntN(4000)
		ids := make([][]byte, n)
		for d := range ids {
			ids[d] = fmt.Appendf(nil, "%x-%d", rng.IntN(50), rng.IntN(4*n))
		}
		file := func(room int64, unique bool) ([]byte, int, error) {
			var out bytes.Buffer
			s, err := sections.NewWriter(&out, "IDSIDSID", 1)
			if err != nil {
				t.Fatal(err)
			}
			w := idWriter{docs: n, id: func(d int) []byte { return ids[d] }, room: room, tempDir: t.TempDir(),
				unique: unique}
			err = w.write(s)
			runs := 0
			if w.sorted != nil {
				runs = w.sorted.Runs()
			}
			return out.Bytes(), runs, errors.Join(err, s.Close())
		}
		want, _, err := file(1<<30, false)
		if err != nil {
			t.Fatal(err)
		}
		got, runs, err := file(2000, false)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("round %d: %d IDs in %d runs: %d bytes, %v; want the %d bytes of IDs sorted in memory", round,
				n, runs, len(got), err, len(want))
		}
		most = max(most, runs)
		_, _, wantErr := file(1<<30, true)
		_, _, err = file(2000, true)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("round %d: unique IDs in %d runs: error %v, want %v", round, runs, err, wantErr)
		}
	}
	if most < 10 {
		t.Errorf("at most %d runs, want at least 10", most)
	}
}

// IDs announced as runs of consecutive numbers give the same file as the same IDs one by one.
func TestKnownRunsOfIDs(t *testing.T) {
	rng := rand.New(rand.NewPCG(75, 76))
	twice := 0
	for range 300 / trials.Every(3) {
		var ids []string
		var runs []int // the consecutive IDs from each on
		number := rng.Uint64N(200)
		stem := "a"
		if rng.IntN(8) == 0 {
			number = 999_999_999_999_999_500 // 18 digits become 19
		}
		for len(ids) < 6_000 {
			n := 1 + rng.IntN(1<<rng.IntN(12))
			if len(ids) > 3_000 {
				stem = "b"
			}
			switch rng.IntN(4) {
			case 0:
				number += rng.Uint64N(3) // otherwise the run continues the last one
			case 1:
				if rng.IntN(100) == 0 {
					number-- // a duplicate
				}
			}
			for i := range n {
				ids, runs = append(ids, fmt.Sprintf("%s%d", stem, number)), append(runs, n-i)
				number++
			}
		}
		file := func(run func(int) int) ([]byte, error) {
			var out bytes.Buffer
			s, err := sections.NewWriter(&out, "IDSIDSID", 1)
			if err != nil {
				t.Fatal(err)
			}
			w := idWriter{docs: len(ids), id: func(d int) []byte { return []byte(ids[d]) }, run: run,
				room: 1 << 30, tempDir: t.TempDir(), unique: true}
			err = w.write(s)
			return out.Bytes(), errors.Join(err, s.Close())
		}
		want, wantErr := file(nil)
		got, err := file(func(d int) int { return runs[d] })
		if wantErr != nil {
			twice++
			a, _ := errors.AsType[*DuplicateIDError](wantErr)
			if b, ok := errors.AsType[*DuplicateIDError](err); !ok || *a != *b {
				t.Fatalf("error %v, want %v", err, wantErr)
			}
		} else if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("announced runs: %d bytes, %v; want the %d bytes of IDs one by one", len(got), err, len(want))
		}
	}
	if twice == 0 {
		t.Error("no round has a duplicate ID, want at least one")
	}
}
