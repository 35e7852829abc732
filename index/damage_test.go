package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/text"
)

// damageable returns the files of a small index with lists of all kinds and stored text.
func damageable(t testing.TB) map[string][]byte {
	t.Helper()
	rng := rand.New(rand.NewPCG(21, 22))
	p := randomIndex(rng, 2, 2)
	for p.lengths = nil; len(p.lengths) < 300; {
		p.lengths = append(p.lengths, uint32(rng.IntN(400)))
	}
	p.ids = nil
	for d := range p.lengths {
		p.ids = append(p.ids, strings.Repeat("x", d%20)+string(rune('a'+d%26)))
	}
	p.words, p.docs, p.tfs = nil, nil, nil
	for i, df := range []int{1, 1, 2, 3, 10, 1, 128, 129, 1, 4, 1, 1, 1, 1, 1, 1, 1, 290, 300} {
		p.words = append(p.words, strings.Repeat("w", i/4)+string(rune('a'+i)))
		docs := rng.Perm(len(p.lengths))[:df]
		slices.Sort(docs)
		var list, tfs []uint32
		for _, d := range docs {
			list = append(list, uint32(d))
			tf := uint32(rng.IntN(4) + 1)
			if rng.IntN(50) == 0 {
				tf = rng.Uint32N(1e6) + 1
			}
			tfs = append(tfs, tf)
		}
		p.docs, p.tfs = append(p.docs, list), append(p.tfs, tfs)
	}
	slices.Sort(p.words)
	dir := filepath.Join(t.TempDir(), "ix")
	w, err := Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	if w.text, err = newTextWriter(w.dir, textFile, w.memory); err != nil {
		t.Fatal(err)
	}
	b := &text.Batch{}
	for _, id := range p.ids {
		b.Docs = append(b.Docs, text.Document{Text: []byte("the text of " + id)})
	}
	if err := w.text.add(b); err != nil {
		t.Fatal(err)
	}
	if err := w.SetDocuments(Documents{Analyzer: "ascii", Lengths: p.lengths,
		ID: func(d int) string { return p.ids[d] }}); err != nil {
		t.Fatal(err)
	}
	for i, word := range p.words {
		if err := w.Add([]byte(word), p.docs[i], p.tfs[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	return readDir(t, dir)
}

func openMemory(files map[string][]byte) (*Reader, error) {
	r := &Reader{dir: "memory", files: map[string]*sections.File{}}
	return r, r.open(func(name string) (content, error) { return content{data: files[name]}, nil })
}

// hash is a hash of a sequence of numbers and bytes.
type hash uint64

func (h *hash) note(n ...uint32) {
	for _, x := range n {
		*h = (*h ^ hash(x)) * 0x9e3779b97f4a7c15
	}
}

func (h *hash) write(b []byte) {
	for _, x := range b {
		h.note(uint32(x))
	}
}

// digest calls every method that reads an index, going on after errors, and returns a hash of the
// results.
func digest(r *Reader, c *Cursor, seekBy uint32) hash {
	h := hash(1)
	for w, err := range r.Words() {
		if err != nil {
			return 0
		}
		h.write(w.Text)
		t, _ := r.Lookup(w.Text)
		h.note(uint32(t.ID), t.DF, uint32(t.CF))
		if r.Open(w.Term, c) != nil {
			continue
		}
		for d := c.Doc(); d != End; d = c.Next() {
			h.note(d, c.TF(), r.Lengths()[d], uint32(r.Classes()[d]))
		}
		if r.Open(w.Term, c) != nil {
			continue
		}
		for d := c.Doc(); d != End; d = c.Seek(d + seekBy) {
			h.note(d, c.TF(), r.Lengths()[d])
		}
		for b := range c.Blocks() {
			h.note(c.Last[b], uint32(c.Bounds[b]), uint32(c.Super[b/SuperBlocks]),
				uint32(len(c.Load(b))), uint32(len(c.TFs())))
			var tfs [BlockSize + KeepSlack]uint32
			if n := len(c.Load(b)); n > 0 {
				c.TFsAt(b, []uint32{0, uint32(n - 1)}, tfs[:])
			}
			h.note(tfs[:2]...)
			if words, base := c.Words(b); words != nil {
				var docs [BlockSize]uint32
				h.note(uint32(FindBits(words, base, &docs)),
					uint32(c.KeepTFs(b, words, words, tfs[:])), docs[7], tfs[7])
			}
		}
		h.write(c.Levels)
		top, _ := r.Top(w.Term)
		h.write(sections.Bytes(top))
		for b := range c.Blocks() {
			h.note(c.TFIn(b, c.Last[b]), c.TFIn(b, c.Last[b]-1))
		}
	}
	r.Lookup([]byte("wwwz"))
	r.Lookup([]byte("\x00"))
	for _, d := range []int{0, 1, 17, r.Docs() / 2, r.Docs() - 1} {
		id, err := r.DocID(d)
		if err == nil {
			found, _, _ := r.FindDoc(id)
			h.note(uint32(found))
		}
		h.write([]byte(id))
	}
	if r.HasText() {
		s, _ := r.Text(r.Docs() / 3)
		h.write(s)
	}
	r.Stats()
	return h
}

// answers calls every method that reads an index until the first error, and returns a hash of the
// results. It does not verify all checksums first, just as a search does not.
func answers(r *Reader, c *Cursor) (h hash, err error) {
	h = 1
	for w, err := range r.Words() {
		if err != nil {
			return 0, err
		}
		h.write(w.Text)
		t, err := r.Lookup(w.Text)
		if err != nil {
			return 0, err
		}
		h.note(uint32(t.ID), t.DF, uint32(t.CF))
		if err := r.Open(w.Term, c); err != nil {
			return 0, err
		}
		for d := c.Doc(); d != End; d = c.Next() {
			h.note(d, c.TF(), r.Lengths()[d], uint32(r.Classes()[d]))
		}
		if c.err != nil {
			return 0, c.err
		}
		for b := range c.Blocks() {
			h.note(c.Last[b], uint32(c.Bounds[b]), uint32(c.Super[b/SuperBlocks]))
		}
		if c.LowX != nil {
			h.write(sections.Bytes(c.LowX))
			h.write(sections.Bytes(c.SuperX))
			h.write(sections.Bytes(c.Ranked[:]))
		}
		h.write(c.Levels)
		if c.LevelX != nil {
			h.write(sections.Bytes(c.LevelX[:]))
		}
		top, err := r.Top(w.Term)
		if err != nil {
			return 0, err
		}
		h.write(sections.Bytes(top))
	}
	for _, word := range []string{"wwwz", "\x00"} {
		t, err := r.Lookup([]byte(word))
		if err != nil {
			return 0, err
		}
		h.note(t.DF)
	}
	for d := range r.Docs() {
		id, err := r.DocID(d)
		if err != nil {
			return 0, err
		}
		found, ok, err := r.FindDoc(id)
		if err != nil || !ok {
			return 0, errors.Join(err, fmt.Errorf("ID %q of document %d is not found", id, d))
		}
		h.note(uint32(found))
		h.write([]byte(id))
	}
	for d := 0; d < r.Docs(); d += 50 {
		s, err := r.Text(d)
		if err != nil {
			return 0, err
		}
		h.write(s)
	}
	h.write([]byte(r.Analyzer()))
	h.note(uint32(r.Docs()), uint32(r.Terms()), uint32(r.Postings()), uint32(r.Tokens()))
	return h, nil
}

// After a random change of one byte, opening or reading the index fails, or all results are the
// same. COLLOCATE_TEST_CHANGES sets the number of changes.
func TestDamageGivesNoWrongAnswer(t *testing.T) {
	good := damageable(t)
	r, err := openMemory(good)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(context.Background(), CheckOptions{}); err != nil {
		t.Fatal(err)
	}
	want, err := answers(r, new(Cursor))
	if err != nil {
		t.Fatal(err)
	}
	changes := 2000
	if n, err := strconv.Atoi(os.Getenv("COLLOCATE_TEST_CHANGES")); err == nil {
		changes = n
	}
	var refused, failed, equal atomic.Int64
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for worker := range workers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(23, uint64(worker)))
			files := map[string][]byte{}
			var names []string
			for name, data := range good {
				files[name] = bytes.Clone(data)
				names = append(names, name)
			}
			slices.Sort(names)
			var c Cursor
			for range changes / workers {
				name := names[rng.IntN(len(names))]
				data := files[name]
				at := rng.IntN(len(data))
				old := data[at]
				data[at] ^= byte(1 + rng.IntN(255))
				if r, err := openMemory(files); err != nil {
					refused.Add(1)
				} else if got, err := answers(r, &c); err != nil {
					failed.Add(1)
				} else if equal.Add(1); got != want {
					t.Errorf("byte %d of %s changed from %#x to %#x: no error, but other results", at, name, old,
						data[at])
				}
				data[at] = old
			}
		})
	}
	wg.Wait()
	t.Logf("%d changes: %d errors of open, %d of reading, %d without effect", changes, refused.Load(),
		failed.Load(), equal.Load())
	if changes >= 1000 && (refused.Load() == 0 || failed.Load() == 0) {
		t.Errorf("of %d changes open found %d and reading %d, want some each", changes, refused.Load(),
			failed.Load())
	}
}

// With up to 20 bytes of a file changed and the checksums repaired, neither reading nor Check may
// panic.
func TestDamageWithoutChecksums(t *testing.T) {
	good := damageable(t)
	rng := rand.New(rand.NewPCG(25, 26))
	var c Cursor
	for range trials.Of(3000) {
		files := maps.Clone(good)
		name := []string{termsFile, postingsFile, skipsFile, docsFile, levelsFile}[rng.IntN(5)]
		files[name] = bytes.Clone(good[name])
		tables := len(files[name]) - 32 - 40*8
		for range rng.IntN(20) + 1 {
			at := 64 + rng.IntN(max(tables-64, 1))
			files[name][at] = []byte{0, 1, 31, 127, 128, 255, byte(rng.Uint32())}[rng.IntN(7)]
		}
		repair(files)
		r, err := openMemory(files)
		if err != nil {
			continue
		}
		digest(r, &c, rng.Uint32N(100)+1)
		r.checkLengths()
		r.checkIDs(context.Background())
		r.checkLists(context.Background(), CheckOptions{Threads: 1})
		checkText(context.Background(), r.text)
	}
}

// repair recomputes the checksums and stamps of changed files.
func repair(files map[string][]byte) {
	meta := bytes.Clone(files[metaFile])
	files[metaFile] = meta
	f, err := sections.Parse(meta, magics[metaFile], formatVersion)
	if err != nil {
		return
	}
	stamps, err := f.Section("files")
	if err != nil {
		return
	}
	list, err := parseStamps(stamps)
	if err != nil {
		return
	}
	var fixed []byte
	for _, s := range list {
		if data := files[s.name]; sections.Repair(data) {
			s = stampOf(s.name, data)
		}
		fixed = s.append(fixed)
	}
	copy(stamps, fixed)
	sections.Repair(meta)
}

// FuzzDamage changes bytes of an index, repairs the checksums and reads everything. Each change is
// 4 bytes: a file, an offset in it (2), and the new value.
func FuzzDamage(f *testing.F) {
	good := damageable(f)
	f.Add([]byte{0, 1, 0, 255, 2, 0, 1, 3})
	f.Add([]byte{5, 0, 0, 31, 1, 1, 44, 128, 4, 2, 10, 0})
	f.Add([]byte{6, 0, 3, 200, 3, 0, 9, 77})
	f.Fuzz(func(t *testing.T, changes []byte) {
		files := map[string][]byte{}
		for name, data := range good {
			files[name] = bytes.Clone(data)
		}
		names := []string{termsFile, postingsFile, skipsFile, docsFile, textFile, levelsFile, metaFile}
		for ; len(changes) >= 4; changes = changes[4:] {
			data := files[names[int(changes[0])%len(names)]]
			if len(data) < 64+32 {
				continue
			}
			at := 64 + (int(changes[1])<<8+int(changes[2]))%(len(data)-64-32)
			data[at] = changes[3]
		}
		repair(files)
		r, err := openMemory(files)
		if err != nil {
			return
		}
		var c Cursor
		answers(r, &c)
		digest(r, &c, 3)
		r.Check(context.Background(), CheckOptions{Threads: 1})
	})
}

// With any byte of the tables behind the blocks of stored text changed and the checksums repaired,
// reading text does not panic.
func TestDamagedTextTables(t *testing.T) {
	good := damageable(t)
	for at := max(64, len(good[textFile])-1024); at < len(good[textFile]); at++ {
		for _, value := range []byte{1, 255} {
			files := maps.Clone(good)
			data := bytes.Clone(good[textFile])
			data[at] ^= value
			files[textFile] = data
			files[metaFile] = bytes.Clone(good[metaFile])
			repair(files)
			r, err := openMemory(files)
			if err != nil {
				continue
			}
			for _, d := range []int{0, r.Docs() / 2, r.Docs() - 1} {
				r.Text(d)
			}
		}
	}
}

// The error for a file that is truncated names it; a file of another index is an error too.
func TestForeignAndTruncatedFiles(t *testing.T) {
	good := damageable(t)
	for name, data := range good {
		for _, cut := range []int{0, 1, 63, len(data) / 2, len(data) - 1} {
			files := maps.Clone(good)
			files[name] = data[:cut]
			if _, err := openMemory(files); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s truncated to %d bytes: error %v, want one that names it", name, cut, err)
			}
		}
	}
	other := readDir(t, build(t, firstOf(corpusFile(t, rand.New(rand.NewPCG(1, 2)), 10)),
		BuildOptions{StoreText: true}))
	other[levelsFile] = readDir(t, randomIndex(rand.New(rand.NewPCG(3, 4)), 9000, 12).write(t).dir)[levelsFile]
	for name := range good {
		if name == metaFile {
			continue
		}
		files := maps.Clone(good)
		files[name] = other[name]
		if _, err := openMemory(files); err == nil ||
			!strings.Contains(err.Error(), "it belongs to another index") {
			t.Errorf("%s of another index: error %v, want one that says so", name, err)
		}
	}
}

func firstOf[A, B any](a A, _ B) A { return a }

// FuzzBlock decodes arbitrary bytes as a block. All decoders must agree on what they accept, and
// documents must ascend.
func FuzzBlock(f *testing.F) {
	var gaps, tfs [BlockSize]uint32
	for i := range gaps {
		gaps[i], tfs[i] = uint32(i*i%37), uint32(i%5)
	}
	gaps[7] = 1 << 20 // not dense
	f.Add(appendBlock(nil, 5, &gaps, &tfs, BlockSize, allPlaces(BlockSize)), 128, uint32(5))
	f.Add(appendBlock(nil, ^uint32(0), &gaps, &tfs, 20, allPlaces(20)), 20, ^uint32(0))
	for i := range gaps {
		gaps[i], tfs[i] = uint32(i%3), uint32(i%9/8*300)
	}
	f.Add(appendBlock(nil, 70, &gaps, &tfs, BlockSize, allPlaces(BlockSize)), 128, uint32(70)) // dense
	f.Fuzz(func(t *testing.T, data []byte, n int, at uint32) {
		n = 1 + int(uint(n)%BlockSize)
		if at != ^uint32(0) {
			at %= maxDocs
		}
		var out, quick [BlockSize]uint32
		if unpackDocs(data, n, at, &out) && out[n-1] < maxDocs {
			if n == BlockSize && quickDocs(data, at, &quick) && quick != out {
				t.Fatalf("quickDocs decodes %v, unpackDocs %v", quick, out)
			}
			for i, d := range out[:n] {
				if i > 0 && d <= out[i-1] || i == 0 && at != ^uint32(0) && d <= at {
					t.Fatalf("document %d of %v is not above the one before (the first: not above %d)", i,
						out[:n], int32(at))
				}
			}
		}
		if !unpackTFs(data, n, &out) || n < BlockSize {
			return
		}
		if quickTFs(data, &quick) && quick != out {
			t.Fatalf("quickTFs decodes %v, unpackTFs %v", quick, out)
		}
		places, tfs := []uint32{uint32(len(data)) % BlockSize, at % BlockSize, 127}, make([]uint32, 3)
		if readTFs(data, places, tfs) {
			for i, p := range places {
				if tfs[i] != out[p] {
					t.Fatalf("readTFs at %d gives %d, unpackTFs %d", p, tfs[i], out[p])
				}
			}
		}
	})
}
