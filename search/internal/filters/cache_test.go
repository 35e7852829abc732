package filters

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/collocate/collocate/docset"
)

// A filter is kept from its second use on. The first use leaves only its key.
func TestSecondUse(t *testing.T) {
	c, set := Sized(10_000), docset.Full(640)
	if sets, again := c.Find("a"); sets != nil || again {
		t.Fatalf("before the first use: %v, %v", sets, again)
	}
	c.Keep("a", nil)
	if sets, again := c.Find("a"); sets != nil || !again {
		t.Fatalf("at the second use: %v, %v; want none yet, and that it is wanted", sets, again)
	}
	if n, _ := c.Held(); n != 0 {
		t.Errorf("the documents of %d filters are kept after one use, want none", n)
	}
	c.Keep("a", []*docset.Set{set})
	c.Keep("a", nil) // by somebody who asked for the first time meanwhile
	if sets, again := c.Find("a"); len(sets) != 1 || sets[0] != set || again {
		t.Fatalf("at the third use: %v, %v", sets, again)
	}
	if n, _ := c.Held(); n != 1 {
		t.Errorf("%d filters are kept, want 1", n)
	}
}

// The filters that were not used for the longest time make room, and the bytes are those of what is
// there.
func TestRoom(t *testing.T) {
	const bytes = entryBytes + 1 + 80 // of a filter with a key of one byte and 640 documents
	c := Sized(5 * bytes)
	for _, key := range []string{"a", "b", "c", "d", "e"} {
		c.Keep(key, []*docset.Set{docset.New(640)})
	}
	c.Find("a")
	c.Keep("f", []*docset.Set{docset.New(640)}) // b goes
	for key, want := range map[string]bool{"a": true, "b": false, "c": true, "f": true} {
		if sets, _ := c.Find(key); (sets != nil) != want {
			t.Errorf("%s is kept: %v, want %v", key, sets != nil, want)
		}
	}
	if n, held := c.Held(); n != 5 || held != 5*bytes {
		t.Errorf("%d filters in %d bytes, want 5 in %d", n, held, 5*bytes)
	}
	c.Keep("large", []*docset.Set{docset.New(640), docset.New(640), docset.New(640)})
	if sets, again := c.Find("large"); sets != nil || again {
		t.Error("a filter of more than a quarter of the room is kept")
	}
	if n, _ := c.Held(); n != 5 {
		t.Errorf("%d filters are left after one that is too large, want 5", n)
	}
}

// An entry that was dropped while its lists were made is not counted, even if its key has come
// back.
func TestResize(t *testing.T) {
	c := Sized(3000)
	old, now := &entry{key: "a", bytes: 300}, &entry{key: "a", bytes: 200}
	c.add(old)
	c.drop(c.entries["a"])
	c.resize(old, 1000)
	c.add(now)
	c.resize(old, 1000)
	if _, held := c.Held(); held != 200 || now.bytes != 200 {
		t.Errorf("%d bytes are held, %d of the entry, want 200", held, now.bytes)
	}
	c.resize(now, 700)
	if _, held := c.Held(); held != 700 || now.bytes != 700 {
		t.Errorf("%d bytes are held, %d of the entry, want 700", held, now.bytes)
	}
	if c.resize(now, 3001); len(c.entries) != 0 {
		t.Error("an entry that needs more than all memory stays")
	}
}

// Whatever many askers do at once, the room is never exceeded, and what is found is what was kept
// under that key.
func TestManyAskers(t *testing.T) {
	c := Sized(4000)
	var sets [30][]*docset.Set
	for i := range sets {
		set := docset.New(640)
		set.AddRange(0, uint32(i))
		sets[i] = []*docset.Set{set}
	}
	var all sync.WaitGroup
	for seed := range uint64(8) {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(seed, 44))
			for range 3000 {
				i := int(rng.Float64() * rng.Float64() * 30)
				key := fmt.Sprint("filter ", i)
				found, again := c.Find(key)
				switch {
				case found != nil && found[0].Count() != i:
					t.Errorf("%s has %d documents, want %d", key, found[0].Count(), i)
				case again:
					c.Keep(key, sets[i])
				case found == nil:
					c.Keep(key, nil)
				}
				if _, held := c.Held(); held > 4000 {
					t.Errorf("%d bytes are held, want at most 4000", held)
				}
			}
		})
	}
	all.Wait()
	sum := 0
	for at := c.order.Front(); at != nil; at = at.Next() {
		sum += at.Value.(*entry).bytes
	}
	if _, held := c.Held(); held != sum || len(c.entries) != c.order.Len() {
		t.Errorf("%d bytes are counted and %d there, in %d entries under %d keys", held, sum, c.order.Len(), len(c.entries))
	}
}
