package extsort

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
)

// In memory or in runs, with a limit or without: the records are those of a stable sort, each time
// they are read, and no more than the room is taken.
func TestSorter(t *testing.T) {
	for _, limit := range []int{0, 1, 700, 5000, 100_000} {
		for _, room := range []int64{0, 1 << 14, 1 << 18} {
			t.Run(fmt.Sprintf("limit %d, room %d", limit, room), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(limit), uint64(room)))
				dir := t.TempDir()
				// Records are a key of few values and a number, which is not compared.
				byKey := func(a, b []byte) int { return bytes.Compare(a[:len(a)-4], b[:len(b)-4]) }
				s := &Sorter{Compare: byKey, Room: room, Dir: dir, Limit: limit}
				var want [][]byte
				for i := range 20_000 {
					record := strconv.AppendInt(nil, int64(r.IntN(3000)), 10)
					record = append(record, make([]byte, r.IntN(20))...)
					record = binary.BigEndian.AppendUint32(record, uint32(i))
					want = append(want, record)
					if err := s.Add(record); err != nil {
						t.Fatal(err)
					}
					if most := room + mostChunk; room > 0 && s.bytes > most {
						t.Fatalf("%d bytes are held, want at most %d", s.bytes, most)
					}
				}
				slices.SortStableFunc(want, byKey)
				if limit > 0 {
					want = want[:min(limit, len(want))]
				}
				for range 2 {
					var got [][]byte
					for record, err := range s.All() {
						if err != nil {
							t.Fatal(err)
						}
						got = append(got, bytes.Clone(record))
					}
					if !slices.EqualFunc(got, want, bytes.Equal) || s.Len() != len(want) {
						t.Fatalf("%d records, Len %d, want %d, or their order differs", len(got),
							s.Len(), len(want))
					}
				}
				if room == 1<<14 && (limit == 0 || limit >= 700) != (s.Runs() > 0) {
					t.Errorf("%d runs in a file", s.Runs())
				}
				s.Close()
				if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
					t.Errorf("files left: %v, %v", left, err)
				}
			})
		}
	}
}

// A prefix is beyond the limit only if no record that begins with it can be wanted.
func TestBeyond(t *testing.T) {
	s := &Sorter{Limit: 2}
	defer s.Close()
	if s.Beyond([]byte("zzz")) {
		t.Error("without records something is beyond the limit")
	}
	for i := range 3000 {
		if err := s.Add(fmt.Appendf(nil, "%04d", i)); err != nil {
			t.Fatal(err)
		}
	}
	for prefix, want := range map[string]bool{"0000": false, "0001": false, "00": false, "0002": true, "1": true} {
		if got := s.Beyond([]byte(prefix)); got != want {
			t.Errorf("Beyond(%s) = %v", prefix, got)
		}
	}
}
