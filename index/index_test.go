package index

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/collocate/collocate/internal/trials"
)

// plainIndex is an index held in plain slices, with which the tests compare an index on disk.
type plainIndex struct {
	lengths []uint32
	ids     []string
	words   []string
	docs    [][]uint32
	tfs     [][]uint32
}

// randomIndex makes an index of 1 to maxDocs documents. Its lists have one posting up to one for
// every document, small and huge frequencies, scattered and clustered documents.
func randomIndex(rng *rand.Rand, maxDocs, maxTerms int) *plainIndex {
	p := &plainIndex{}
	n := rng.IntN(maxDocs) + 1
	long := rng.IntN(4) == 0 // more than 256 different lengths, if there are enough documents
	for d := range n {
		l := rng.IntN(200)
		if long {
			l = int(rng.ExpFloat64() * 3000)
		}
		p.lengths = append(p.lengths, uint32(l))
		p.ids = append(p.ids, fmt.Sprintf("doc-%x.%d", rng.IntN(1000), d))
	}
	terms := map[string]bool{}
	for range rng.IntN(maxTerms) {
		terms[randomWord(rng)] = true
	}
	for w := range terms {
		p.words = append(p.words, w)
	}
	slices.Sort(p.words)
	for range p.words {
		density := rng.Float64()
		density *= density * density
		switch rng.IntN(8) {
		case 0:
			density = 1
		case 1:
			density = 2 / float64(n)
		}
		var docs, tfs []uint32
		inside := true
		for d := range n {
			if rng.IntN(300) == 0 {
				inside = !inside
			}
			if inside && rng.Float64() < density || d == n-1 && docs == nil {
				docs = append(docs, uint32(d))
				tf := uint32(rng.ExpFloat64()*1.5) + 1
				if rng.IntN(100) == 0 {
					tf = rng.Uint32N(1<<uint(rng.IntN(31)+1)) + 1
				}
				tfs = append(tfs, tf)
			}
		}
		p.docs = append(p.docs, docs)
		p.tfs = append(p.tfs, tfs)
	}
	return p
}

func randomWord(rng *rand.Rand) string {
	b := make([]byte, rng.IntN(12)+1)
	if rng.IntN(20) == 0 {
		b = make([]byte, rng.IntN(60)+1)
	}
	for i := range b {
		b[i] = "aaabcd\x00\xff"[rng.IntN(8)]
	}
	return string(b)
}

// write writes the index to a fresh folder and opens it.
func (p *plainIndex) write(t testing.TB) *Reader {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ix")
	p.writeTo(t, dir)
	return open(t, dir)
}

func (p *plainIndex) writeTo(t testing.TB, dir string) {
	t.Helper()
	p.writeWithin(t, dir, 0)
}

func (p *plainIndex) writeWithin(t testing.TB, dir string, memory int64) {
	t.Helper()
	w, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	w.setMemory(memory, "")
	if err := w.SetDocuments(Documents{Analyzer: "ascii", Lengths: p.lengths,
		ID: func(d int) string { return p.ids[d] }}); err != nil {
		t.Fatal(err)
	}
	for i, word := range p.words {
		// Long lists are added in pieces.
		for from := 0; from < len(p.docs[i]); from += 1000 {
			to := min(from+1000, len(p.docs[i]))
			if err := w.Add([]byte(word), p.docs[i][from:to], p.tfs[i][from:to]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, dir string) *Reader {
	t.Helper()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

// A reader returns the words, lists, lengths and IDs that were written.
func TestReadsBackWhatWasWritten(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range trials.Of(30) {
		p := randomIndex(rng, 3000, 100)
		r := p.write(t)
		if err := r.Check(context.Background(), CheckOptions{Threads: 2}); err != nil {
			t.Fatal(err)
		}
		if r.Docs() != len(p.lengths) || r.Terms() != len(p.words) ||
			!slices.Equal(r.Lengths(), p.lengths) || r.Analyzer() != "ascii" {
			t.Fatalf("%d documents, %d words, analyzer %q, lengths %d; want %d, %d, ascii, %d",
				r.Docs(), r.Terms(), r.Analyzer(), r.Lengths(), len(p.lengths), len(p.words), p.lengths)
		}
		var c Cursor
		at := 0
		for w, err := range r.Words() {
			if err != nil {
				t.Fatal(err)
			}
			if string(w.Text) != p.words[at] || w.Term.ID != at {
				t.Fatalf("word %d is %q with number %d, want %q", at, w.Text, w.Term.ID, p.words[at])
			}
			got, err := r.Lookup([]byte(p.words[at]))
			if err != nil || got != w.Term {
				t.Fatalf("Lookup(%q) = %+v, %v; want %+v", p.words[at], got, err, w.Term)
			}
			if err := r.Open(got, &c); err != nil {
				t.Fatal(err)
			}
			for i, d := range p.docs[at] {
				if c.Doc() != d || c.TF() != p.tfs[at][i] {
					t.Fatalf("word %d, posting %d: (%d, %d), want (%d, %d)", at, i, c.Doc(), c.TF(), d, p.tfs[at][i])
				}
				c.Next()
			}
			if c.Doc() != End || c.Next() != End || c.Err() != nil {
				t.Fatalf("word %d: document %d and error %v after the last posting, want End", at, c.Doc(), c.Err())
			}
			at++
		}
		if at != len(p.words) {
			t.Fatalf("%d words, want %d", at, len(p.words))
		}
		for range 100 {
			w := randomWord(rng)
			got, err := r.Lookup([]byte(w))
			if _, known := slices.BinarySearch(p.words, w); err != nil || known != (got.DF > 0) {
				t.Fatalf("Lookup(%q) = %+v, %v; want DF > 0: %v", w, got, err, known)
			}
		}
		for d, want := range p.ids {
			if got, err := r.DocID(d); err != nil || got != want {
				t.Fatalf("DocID(%d) = %q, %v; want %q", d, got, err, want)
			}
			if got, ok, err := r.FindDoc(want); err != nil || !ok || got != d {
				t.Fatalf("FindDoc(%q) = %d, %v, %v; want %d", want, got, ok, err, d)
			}
		}
		if _, ok, err := r.FindDoc("nobody"); ok || err != nil {
			t.Fatalf("FindDoc(nobody): found %v, error %v; want neither", ok, err)
		}
	}
}

// The blocks of a list hold its postings, however it was opened, and TFsAt reads the frequencies at
// any positions in a block.
func TestBlocksHaveTheListsPostings(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	p := randomIndex(rng, 3000, 60)
	r := p.write(t)
	var c Cursor
	for id := range p.words {
		term, err := r.Term(id)
		if err != nil {
			t.Fatal(err)
		}
		for _, open := range []func(Term, *Cursor) error{r.OpenBlocks, r.OpenDocs} {
			r.Prefetch(term)
			if err := open(term, &c); err != nil {
				t.Fatal(err)
			}
			docs, tfs := p.docs[id], p.tfs[id]
			for b := range c.Blocks() {
				c.Prefetch(b + 1)
				got := c.Load(b)
				n := len(got)
				var places, some []uint32
				for i := range n {
					if rng.IntN(3) == 0 {
						places, some = append(places, uint32(i)), append(some, tfs[i])
					}
				}
				out := make([]uint32, len(places))
				c.TFsAt(b, places, out)
				if !slices.Equal(out, some) {
					t.Fatalf("word %d, block %d: frequencies at %v are %v, want %v", id, b, places, out, some)
				}
				if !slices.Equal(got, docs[:n]) || !slices.Equal(c.TFs(), tfs[:n]) {
					t.Fatalf("word %d, block %d: %v and %v, want %v and %v", id, b, got, c.TFs(), docs[:n], tfs[:n])
				}
				docs, tfs = docs[n:], tfs[n:]
			}
			if len(docs) > 0 || c.Err() != nil {
				t.Fatalf("word %d: the last %d postings are missing, error %v", id, len(docs), c.Err())
			}
		}
	}
}

// Seek moves to the first document at or after the target, from any document to any target.
func TestSeekFindsTheFirstAtOrAfter(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range trials.Of(20) {
		p := randomIndex(rng, 20000, 12)
		r := p.write(t)
		var c Cursor
		for id := range p.words {
			term, err := r.Term(id)
			if err != nil {
				t.Fatal(err)
			}
			for range 5 {
				if err := r.Open(term, &c); err != nil {
					t.Fatal(err)
				}
				target := uint32(0)
				stride := rng.IntN(3000) + 1
				for c.Doc() != End {
					target += uint32(rng.IntN(stride))
					at, _ := slices.BinarySearch(p.docs[id], max(target, c.Doc()))
					want, tf := uint32(End), uint32(0)
					if at < len(p.docs[id]) {
						want, tf = p.docs[id][at], p.tfs[id][at]
					}
					if got := c.Seek(target); got != want || c.Doc() != want || c.TF() != tf {
						t.Fatalf("Seek(%d) = %d with frequency %d, want %d with %d", target, got, c.TF(), want, tf)
					}
					if rng.IntN(3) == 0 {
						c.Next()
					}
				}
				if c.Err() != nil {
					t.Fatal(c.Err())
				}
			}
		}
	}
}

// The bounds of a block, of its 32 blocks and of its list hold for every posting, for any score
// that rises with the frequency and falls with the length.
func TestBoundsHold(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	tfOf := TFOfCode()
	for range trials.Of(15) {
		p := randomIndex(rng, 20000, 12)
		r := p.write(t)
		low, n, exact := r.ClassLengths()
		covers := func(b Bound, tf, length uint32) bool {
			for i := range BoundPairs {
				code, class := b.Pair(i)
				if tfOf[code] >= tf && low[class] <= length {
					return true
				}
			}
			return false
		}
		for d, class := range r.Classes() {
			l := p.lengths[d]
			if int(class) >= n || low[class] > l || exact && low[class] != l || int(class)+1 < n && low[class+1] <= l {
				t.Fatalf("length %d is in class %d of %d, which begins at %d (exact %v)", l, class, n,
					low[class], exact)
			}
		}
		var c Cursor
		for id := range p.words {
			term, err := r.Term(id)
			if err != nil {
				t.Fatal(err)
			}
			open := r.Open
			if rng.IntN(2) == 0 {
				open = r.OpenDocs // with looser bounds
			}
			if err := open(term, &c); err != nil {
				t.Fatal(err)
			}
			for i, d := range p.docs[id] {
				b := i / BlockSize
				for _, bound := range []Bound{c.Bounds[b], c.Super[b/SuperBlocks], c.Bound} {
					if !covers(bound, p.tfs[id][i], p.lengths[d]) {
						t.Fatalf("posting %d: frequency %d, length %d is not covered by %x", i,
							p.tfs[id][i], p.lengths[d], bound)
					}
				}
			}
		}
	}
}

// An index without the flag for NFC was made by analyzers that did not normalise words, and one
// without the flag for apostrophes by a unicode that kept ’ apart from '. They are searched with
// those versions of the analyzers.
func TestAnalyzerOfAnOldIndex(t *testing.T) {
	for name, want := range map[string][3]string{ // without either flag, without the second, with both
		"unicode":      {"unicode@1", "unicode@2", "unicode"},
		"english+stop": {"english+stop@1", "english+stop", "english+stop"},
		"ascii":        {"ascii", "ascii", "ascii"},
		"my own":       {"my own", "my own", "my own"},
	} {
		for i, missing := range []uint64{flagNormal | flagApostrophes, flagApostrophes, 0} {
			dir := filepath.Join(t.TempDir(), "ix")
			w, err := Create(dir)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.SetDocuments(Documents{Analyzer: name}); err != nil {
				t.Fatal(err)
			}
			w.meta.flags &^= missing
			if err := w.Commit(); err != nil {
				t.Fatal(err)
			}
			if got := open(t, dir).Analyzer(); got != want[i] {
				t.Errorf("without the flags %d, the analyzer of an index made with %s is %s, want %s", missing, name, got, want[i])
			}
		}
	}
}
