package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/text"
)

// nameless is an analyzer without a name.
type nameless struct{ text.Analyzer }

func (nameless) Name() string { return "" }

// No index is written with an analyzer that could not be found again.
func TestAnalyzersNeedAName(t *testing.T) {
	an, err := text.ParseAnalyzer("whitespace")
	if err != nil {
		t.Fatal(err)
	}
	path, dir := filepath.Join(t.TempDir(), "a.txt"), filepath.Join(t.TempDir(), "ix")
	if err := os.WriteFile(path, []byte("a b\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	c := &text.Corpus{Paths: []string{path}, Options: text.Options{Format: text.Lines}}
	err = Build(t.Context(), dir, c, BuildOptions{Analyzer: nameless{an}})
	if err == nil || !strings.Contains(err.Error(), "has no name") {
		t.Errorf("got error %v, want that the analyzer has no name", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder of the index was made nevertheless")
	}
}

// A damaged record of a word is an error, not an unknown word: one without documents, one that is
// cut off, and one after records that go on beyond their block into the next.
func TestDamagedRecords(t *testing.T) {
	records := func(df ...uint64) []byte {
		b := []byte{0, 0} // where lists and skip data begin
		for _, n := range df {
			b = binary.AppendUvarint(append(binary.AppendUvarint(b, n), 0), 5)
		}
		return b
	}
	d := &dictionary{terms: termsPerBlock}
	whole := records(slices.Repeat([]uint64{2}, 4*termsPerBlock)...)
	for id := range termsPerBlock {
		term, err := d.record(byteReader{b: whole}, 0, id)
		if err != nil || term.ID != id || term.DF != 2 || term.postings != uint64(5*id) {
			t.Errorf("word %d: %+v, %v; want 2 documents at %d", id, term, err, 5*id)
		}
		for length := range 2 + 3*(id+1) { // the bytes beyond are those of the next block
			if term, err := d.record(byteReader{b: whole[:length]}, 0, id); err != errDictionary {
				t.Errorf("word %d in %d bytes: %+v, %v; want %v", id, length, term, err, errDictionary)
			}
		}
	}
	if term, err := d.record(byteReader{b: records(2, 0, 2)}, 0, 1); err != errDictionary {
		t.Errorf("a word in no document: %+v, %v; want %v", term, err, errDictionary)
	}
}

// Words from any word on, whether the index has it or not, are those that do not come before it.
func TestWordsFrom(t *testing.T) {
	p := &plainIndex{lengths: []uint32{100}, ids: []string{"a"}}
	for i := range 5 * termsPerBlock {
		p.words = append(p.words, fmt.Sprintf("w%03d", 2*i))
		p.docs, p.tfs = append(p.docs, []uint32{0}), append(p.tfs, []uint32{1})
	}
	r := p.write(t)
	for i := -1; i < 10*termsPerBlock+1; i++ {
		first := fmt.Sprintf("w%03d", max(0, i))
		if i < 0 {
			first = "" // before all
		}
		var got []string
		for w, err := range r.WordsFrom([]byte(first)) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(w.Text))
		}
		at, _ := slices.BinarySearch(p.words, first)
		if !slices.Equal(got, p.words[at:]) {
			t.Fatalf("from %q: %q, want %q", first, got, p.words[at:])
		}
	}
}

// An index is cut into at most as many shards as it has documents, and at most MaxShards. A shard
// is not pruned: its words' best weights are not those of the whole index.
func TestWhichShardsThereAre(t *testing.T) {
	oneWord := func(docs int) *Reader {
		p := &plainIndex{lengths: slices.Repeat([]uint32{1}, docs), words: []string{"w"}, docs: [][]uint32{nil},
			tfs: [][]uint32{slices.Repeat([]uint32{1}, docs)}}
		for d := range docs {
			p.ids, p.docs[0] = append(p.ids, fmt.Sprint(d)), append(p.docs[0], uint32(d))
		}
		return p.write(t)
	}
	few, many := oneWord(3), oneWord(MaxShards+1)
	for _, c := range []struct {
		r          *Reader
		number, of int
		ok         bool
	}{
		{few, 0, 1, true}, {few, 0, 3, true}, {few, 2, 3, true}, {many, 0, MaxShards, true},
		{few, 0, 0, false}, {few, 0, -1, false}, {few, -1, 3, false}, {few, 3, 3, false}, {few, 0, 4, false},
		{many, 0, MaxShards + 1, false},
	} {
		dir := filepath.Join(t.TempDir(), "shard")
		err := WriteShard(t.Context(), c.r, dir, c.number, c.of, MergeOptions{})
		if (err == nil) != c.ok || err != nil && !strings.Contains(err.Error(), "want at most") {
			t.Errorf("shard %d of %d of %d documents: %v; it exists: %v", c.number, c.of, c.r.Docs(), err, c.ok)
		}
		if err != nil {
			continue
		}
		err = Prune(t.Context(), open(t, dir), filepath.Join(t.TempDir(), "pruned"), PruneOptions{})
		if !errors.Is(err, ErrShard) {
			t.Errorf("pruning shard %d of %d: got error %v, want %v", c.number, c.of, err, ErrShard)
		}
	}
}

// Parts that are joined are different indexes of one kind, and not too many documents in all.
func TestJoinedPartsAreChecked(t *testing.T) {
	path, _ := corpusFile(t, rand.New(rand.NewPCG(1, 9)), 5)
	one := func() *Reader { return open(t, build(t, path, BuildOptions{})) }
	a, b, another, huge := one(), one(), one(), one()
	another.analyzer = "unicode"
	huge.meta.docs = maxDocs - 5
	cut := filepath.Join(t.TempDir(), "cut")
	if err := WriteShard(t.Context(), a, cut, 0, 2, MergeOptions{}); err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]struct {
		parts  []*Reader
		number int
	}{
		"shard -1 of 2":      {[]*Reader{a, b}, -1},
		"shard 2 of 2":       {[]*Reader{a, b}, 2},
		"shard 0 of 65537":   {slices.Repeat([]*Reader{a}, MaxShards+1), 0},
		"are the same index": {[]*Reader{a, b, a}, 0},
		"their analyzers":    {[]*Reader{a, another}, 0},
		"in all parts":       {[]*Reader{a, huge}, 0},
		ErrShard.Error():     {[]*Reader{a, open(t, cut)}, 0},
	} {
		dir := filepath.Join(t.TempDir(), "joined")
		err := JoinShard(t.Context(), c.parts, c.number, dir, MergeOptions{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if err := JoinShard(t.Context(), []*Reader{a, b}, 1, filepath.Join(t.TempDir(), "joined"), MergeOptions{}); err != nil {
		t.Errorf("the second of two parts: %v", err)
	}
}
