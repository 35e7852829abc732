package generations

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// A document of a simulated index is an ID and a version, which no other document has. A segment
// has one file, with its documents. The manifest says which change made the generation, and which
// documents of each segment are deleted.
type document struct{ id, version int }

const docsFile = "documents"

func encodeDocs(docs []document) (b []byte) {
	for _, d := range docs {
		b = binary.AppendVarint(binary.AppendVarint(b, int64(d.id)), int64(d.version))
	}
	return b
}

func decodeDocs(b []byte) (docs []document) {
	for len(b) > 0 {
		id, n := binary.Varint(b)
		version, m := binary.Varint(b[n:])
		docs, b = append(docs, document{int(id), int(version)}), b[n+m:]
	}
	return docs
}

// contents is a simulated manifest.
type contents struct {
	change int
	gone   map[string]uint64 // deleted documents by segment, as bits
}

func (c contents) encode(segments []Segment) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(c.change))
	for i := range segments {
		b = binary.LittleEndian.AppendUint64(b, c.gone[segments[i].Name])
	}
	return b
}

func contentsOf(g *Generation) contents {
	c := contents{int(binary.LittleEndian.Uint64(g.Manifest)), map[string]uint64{}}
	for i, s := range g.Segments {
		c.gone[s.Name] = binary.LittleEndian.Uint64(g.Manifest[8+8*i:])
	}
	return c
}

// intent is what a change does: versions by ID, 0 for deleted ones.
type intent map[int]int

// truth checks the invariants.
type truth struct {
	w         *world
	line      []*Generation // in the order of their numbers
	since     []time.Duration
	live      map[int]int // version by ID, after the newest generation
	intents   []intent    // of changes, by their number
	committed map[int]int // generations in line by change
}

// made is called when the store has made an object.
func (t *truth) made(name string, data []byte) {
	n, ok := numberOf(generationsFolder, name)
	if !ok {
		return
	}
	g, err := Parse(data)
	if err != nil {
		t.w.fail("%s: %v", name, err)
		return
	}
	if int(n) <= len(t.line) {
		return // out of line: nobody may see it
	}
	if int(n) != len(t.line)+1 {
		t.w.fail("generation %d was made after %d", n, len(t.line))
		return
	}
	t.line, t.since = append(t.line, g), append(t.since, t.w.now)
	c := contentsOf(g)
	if n > 1 && bytes.Equal(g.Manifest, t.line[n-2].Manifest) {
		c.change = 0 // a collector's
	}
	want := maps.Clone(t.live)
	for id, version := range t.intents[c.change] {
		if want[id] = version; version == 0 {
			delete(want, id)
		}
	}
	live := map[int]int{}
	for _, s := range g.Segments {
		for _, file := range []string{begunName, docsFile} {
			o := t.w.store[FileName(s.Name, file)]
			if o == nil || o.removed > 0 {
				t.w.fail("generation %d lists segment %s, whose %s is not there", n, s.Name, file)
				return
			}
		}
		for i, d := range decodeDocs(t.w.store[FileName(s.Name, docsFile)].data) {
			if c.gone[s.Name]>>i&1 == 0 {
				if _, twice := live[d.id]; twice {
					t.w.fail("generation %d has document %d twice", n, d.id)
				}
				live[d.id] = d.version
			}
		}
	}
	if !maps.Equal(live, want) {
		t.w.fail("generation %d has documents %v, want %v: those of generation %d and change %d", n, live, want, n-1, c.change)
	}
	t.live = live
	if t.committed[c.change]++; t.committed[c.change] > 1 && c.change > 0 {
		t.w.fail("change %d was committed twice", c.change)
	}
}

// deleted is called when the store has removed an object.
func (t *truth) deleted(name string) {
	if n, ok := numberOf(generationsFolder, name); ok {
		if t.held(int(n)) && t.line[n-1].Commit != "" {
			t.w.fail("generation %d was removed too early", n)
		}
		return
	}
	segment, _, _ := strings.Cut(strings.TrimPrefix(name, segmentsFolder), "/")
	for n := len(t.line); n > 0 && t.held(n); n-- {
		if t.line[n-1].Has(segment) {
			t.w.fail("segment %s of generation %d was removed", segment, n)
		}
	}
}

// held reports whether a generation is the newest or was so within the grace period.
func (t *truth) held(n int) bool {
	return n == len(t.line) || n < len(t.line) && t.w.now-t.since[n] <= grace
}

// seen checks a generation that a process was given, and returns whether its segments must be
// there.
func (t *truth) seen(g *Generation) {
	if int(g.Number) > len(t.line) || t.line[g.Number-1].Commit != g.Commit {
		t.w.fail("generation %d of commit %s was seen, which was never committed", g.Number, g.Commit)
	}
}

// change registers what a change does.
func (t *truth) change(i intent) int {
	t.intents = append(t.intents, i)
	return len(t.intents) - 1
}

func (t *truth) String() string {
	return fmt.Sprintf("%d generations, documents %v", len(t.line), slices.Sorted(maps.Keys(t.live)))
}
