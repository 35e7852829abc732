package weigh

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/collocate/collocate/internal/numberedid"
	"github.com/collocate/collocate/internal/trials"
)

// IDs are read back unchanged whether or not they are numbered consecutively, in memory and in
// files, in any order.
func TestNumberedIDs(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	for round := range 60 / trials.Every(5) {
		room := int64(1 << 30)
		if round%2 == 1 {
			room = 1
		}
		store := &docStore{dir: t.TempDir(), room: room}
		var want []string
		at := rng.IntN(120)
		for seq := range 5 {
			d := newDocBatch(seq, 10)
			odd := rng.IntN(60) // index of an ID that interrupts the numbering, if in the batch
			for i := range rng.IntN(40) {
				id := fmt.Sprintf("c.txt:%0*d", round%4, at)
				if at++; i == odd {
					id = []string{"", "c", "c.txt:1", fmt.Sprintf("%019d", 1), id + "0"}[rng.IntN(5)]
				}
				d.add(id, i)
				want = append(want, id)
			}
			if err := store.add(d); err != nil {
				t.Fatal(err)
			}
		}
		v, err := store.documents(0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if (v.records != nil) != (room == 1 && len(want) > 0) {
			t.Fatalf("%d documents with room for %d bytes: in a file: %v", len(want), room, v.records != nil)
		}
		c, inverted := idCursor{v: v}, &Inversion{docs: v}
		for i := range want {
			first := numberedid.Of([]byte(want[i]))
			for k := range inverted.IDRun(i) {
				if id := string(first.Append([]byte(want[i][:first.Stem]), uint64(k))); k > 0 && id != want[i+k] {
					t.Fatalf("IDRun(%d) implies that document %d is %q, and it is %q", i, i+k, id, want[i+k])
				}
			}
		}
		for i, id := range want {
			if got := c.at(i); string(got) != id || v.id(i) != id {
				t.Fatalf("document %d is %q and %q, want %q", i, got, v.id(i), id)
			}
		}
		for range 2 * len(want) {
			i := rng.IntN(len(want))
			for range 2 { // the second time, the cursor is already at this document
				if got := c.at(i); string(got) != want[i] {
					t.Fatalf("document %d is %q, want %q", i, got, want[i])
				}
			}
		}
		var all bytes.Buffer
		if err := v.putIDs(&all); err != nil {
			t.Fatal(err)
		}
		if int64(all.Len()) != v.idBytes() {
			t.Errorf("idBytes is %d, and putIDs wrote %d bytes", v.idBytes(), all.Len())
		}
		v.close()
		store.close()
	}
}
