package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/text"
)

// topicCorpus writes documents of a few subjects in random order, with random IDs. Each subject has
// its own words. Line d is about subject topics[d].
func topicCorpus(t testing.TB, rng *rand.Rand, docs, subjects int) (path string, topics []int) {
	t.Helper()
	var b strings.Builder
	for range docs {
		topic := rng.IntN(subjects)
		topics = append(topics, topic)
		fmt.Fprintf(&b, "%016x\t", rng.Uint64())
		for range rng.IntN(20) + 10 {
			if rng.IntN(3) == 0 {
				fmt.Fprintf(&b, "w%d ", int(rng.ExpFloat64()*100)) // a word of all subjects
			} else {
				fmt.Fprintf(&b, "s%d-%d ", topic, int(rng.ExpFloat64()*20))
			}
		}
		b.WriteByte('\n')
	}
	path = filepath.Join(t.TempDir(), "topics.tsv")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path, topics
}

func reorder(t testing.TB, r *Reader, o ReorderOptions) *Reader {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "reordered")
	if err := Reorder(context.Background(), r, dir, o); err != nil {
		t.Fatal(err)
	}
	return open(t, dir)
}

// sameButForOrder checks that b holds the documents of a, perhaps in another order, and returns the
// number in b of each document of a. IDs must be unique.
func sameButForOrder(t testing.TB, a, b *Reader) (place []uint32) {
	t.Helper()
	if err := b.Check(context.Background(), CheckOptions{}); err != nil {
		t.Fatal(err)
	}
	if a.Docs() != b.Docs() || a.Terms() != b.Terms() || a.Postings() != b.Postings() || a.Tokens() != b.Tokens() ||
		a.Analyzer() != b.Analyzer() || a.HasText() != b.HasText() {
		t.Fatalf("counts and flags %+v, want %+v", b.meta, a.meta)
	}
	taken := make([]bool, a.Docs())
	for d := range a.Docs() {
		id, err := a.DocID(d)
		if err != nil {
			t.Fatal(err)
		}
		p, found, err := b.FindDoc(id)
		if err != nil || !found || taken[p] {
			t.Fatalf("FindDoc(%q) = %d, %v, %v; want one that no other ID has", id, p, found, err)
		}
		taken[p] = true
		if a.Lengths()[d] != b.Lengths()[p] {
			t.Fatalf("document %q: length %d, want %d", id, b.Lengths()[p], a.Lengths()[d])
		}
		if a.HasText() && d%5 == 0 {
			want, err1 := a.Text(d)
			got, err2 := b.Text(p)
			if err1 != nil || err2 != nil || !bytes.Equal(got, want) {
				t.Fatalf("text of %q: %q, %v; want %q, %v", id, got, err2, want, err1)
			}
		}
		place = append(place, uint32(p))
	}
	lists := func(r *Reader, place func(uint32) uint32) (words []string, lists [][]uint64) {
		var c Cursor
		for w, err := range r.Words() {
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Open(w.Term, &c); err != nil {
				t.Fatal(err)
			}
			var list []uint64
			for d := c.Doc(); d != End; d = c.Next() {
				list = append(list, uint64(place(d))<<32|uint64(c.TF()))
			}
			slices.Sort(list)
			words, lists = append(words, string(w.Text)), append(lists, list)
		}
		return words, lists
	}
	wordsA, listsA := lists(a, func(d uint32) uint32 { return place[d] })
	wordsB, listsB := lists(b, func(d uint32) uint32 { return d })
	if !slices.Equal(wordsA, wordsB) {
		t.Fatalf("words %q, want %q", wordsB, wordsA)
	}
	for i, want := range listsA {
		if !slices.Equal(listsB[i], want) {
			t.Fatalf("list of %q: %x, want %x (document<<32 | frequency)", wordsA[i], listsB[i], want)
		}
	}
	return place
}

// Reordering brings documents about the same subject together, changes nothing else, and makes the
// index smaller.
func TestReorderBringsSubjectsTogether(t *testing.T) {
	path, topics := topicCorpus(t, rand.New(rand.NewPCG(51, 52)), 8000, 16)
	a := open(t, build(t, path, BuildOptions{StoreText: true}))
	b := reorder(t, a, ReorderOptions{})
	place := sameButForOrder(t, a, b)
	byPlace := make([]int, len(topics))
	for d, p := range place {
		byPlace[p] = topics[d]
	}
	changes := 0
	for i := 1; i < len(byPlace); i++ {
		if byPlace[i] != byPlace[i-1] {
			changes++
		}
	}
	if changes > 800 { // at random: 15/16 of 8000
		t.Errorf("the subject changes %d times in %d documents, want at most 800", changes, len(topics))
	}
	if before, after := len(a.postings), len(b.postings); after*10 > before*9 {
		t.Errorf("%d of %d bytes of postings, want at most 90%%", after, before)
	}
}

// Documents keep their order if another one would cost more space for the IDs, which are
// consecutive numbers, than it saves. The files are then those of an index that is not reordered.
func TestReorderLeavesGoodOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(63, 64))
	for _, docs := range []int{3000, sampleFrom + 1} {
		var lines strings.Builder
		for range docs {
			for range rng.IntN(10) {
				fmt.Fprintf(&lines, "w%d ", int(rng.ExpFloat64()*30))
			}
			lines.WriteByte('\n')
		}
		path := filepath.Join(t.TempDir(), "random.txt")
		if err := os.WriteFile(path, []byte(lines.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, stored := range []bool{true, false} {
			dir := build(t, path, BuildOptions{StoreText: stored})
			want := readDir(t, dir)
			for _, made := range []struct{ by, dir string }{
				{"build", build(t, path, BuildOptions{StoreText: stored, Reorder: true})},
				{"reorder", reorder(t, open(t, dir), ReorderOptions{}).dir},
			} {
				got := readDir(t, made.dir)
				if stored && made.by == "reorder" { // divides text into other blocks
					for _, files := range []map[string][]byte{got, want} {
						delete(files, textFile)
						delete(files, metaFile)
					}
				}
				sameFiles(t, fmt.Sprintf("%d documents, text %t, %s", docs, stored, made.by), got, want)
			}
		}
	}
}

// The order of a bisection has at most 128 ascending parts, and renumber gives each document its
// place and part in that order.
func TestRenumberABisection(t *testing.T) {
	rng := rand.New(rand.NewPCG(65, 66))
	for _, docs := range []int{1, 15, 33, 1000, 1700, 4099, 20_000} {
		f := &forwardIndex{docs: docs, words: 50, starts: []uint64{0}}
		for range docs {
			for range rng.IntN(8) {
				f.list = append(f.list, uint16(rng.IntN(f.words)))
			}
			f.starts = append(f.starts, uint64(len(f.list)))
		}
		order, err := f.bisect(context.Background(), 2, nil)
		if err != nil {
			t.Fatal(err)
		}
		to := renumber(order)
		if to.parts > 128 {
			t.Errorf("%d documents: %d parts, want at most 128", docs, to.parts)
		}
		for i, d := range order {
			part := int(to.partOf(uint32(i)))
			if to.place[d] != uint32(i) || i < int(to.starts[part]) || i >= int(to.starts[part+1]) {
				t.Fatalf("%d documents: document %d at place %d has place %d in part %d, from %d to %d", docs, d,
					i, to.place[d], part, to.starts[part], to.starts[part+1])
			}
		}
	}
}

// Reordering keeps the contents of random indexes of all sizes, also of empty ones.
func TestReorderKeepsEverything(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 54))
	(&plainIndex{}).reordered(t)
	for range trials.Of(10) {
		randomIndex(rng, 3000, 100).reordered(t)
	}
	for n := 0; n < 36; n += trials.Every(5) {
		randomIndex(rng, n+1, 10).reordered(t)
	}
}

func (p *plainIndex) reordered(t *testing.T) {
	a := p.write(t)
	sameButForOrder(t, a, reorder(t, a, ReorderOptions{Threads: 3, always: true}))
}

// The order does not depend on the number of threads. Building with Reorder gives the same files as
// building and then reordering: with text, which is rewritten, and without, when the lists are
// written in the final order at once or, with little memory, afterwards.
func TestReorderIsDeterministic(t *testing.T) {
	path, _ := topicCorpus(t, rand.New(rand.NewPCG(55, 56)), 12_000/trials.Every(8), 50)
	for _, stored := range []bool{true, false} {
		r := open(t, build(t, path, BuildOptions{StoreText: stored}))
		want := readDir(t, reorder(t, r, ReorderOptions{Threads: 1}).dir)
		same := func(what string, dir string) {
			t.Helper()
			sameFiles(t, fmt.Sprintf("text %t, %s", stored, what), readDir(t, dir), want)
		}
		for _, threads := range []int{2, 3, 7} {
			same(fmt.Sprint(threads, " threads"), reorder(t, r, ReorderOptions{Threads: threads}).dir)
		}
		for _, memory := range []int64{0, 3 << 20} {
			o := BuildOptions{StoreText: stored, Reorder: true, Threads: 2, Memory: memory}
			same(fmt.Sprint("build in ", memory, " bytes"), build(t, path, o))
		}
	}
}

// The error for a duplicate ID in a build that reorders has the documents' numbers in the corpus.
func TestReorderNamesDuplicatesByCorpus(t *testing.T) {
	var lines strings.Builder
	for d := range 3000 {
		id := d
		if d == 2500 {
			id = 700
		}
		fmt.Fprintf(&lines, "{\"id\": \"x%d\", \"text\": \"w%d w%d\"}\n", id, d%13, d%17)
	}
	path := filepath.Join(t.TempDir(), "twice.jsonl")
	if err := os.WriteFile(path, []byte(lines.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	words, err := text.ParseAnalyzer("whitespace")
	if err != nil {
		t.Fatal(err)
	}
	c := &text.Corpus{Paths: []string{path}}
	err = Build(context.Background(), filepath.Join(t.TempDir(), "ix"), c,
		BuildOptions{Analyzer: words, Reorder: true})
	var twice *DuplicateIDError
	if !errors.As(err, &twice) || twice.First != 700 || twice.Second != 2500 {
		t.Errorf("error %v; want one that names documents 700 and 2500", err)
	}
}

// Documents that share an ID are found in ascending order after Reorder, and after a build that
// reorders.
func TestReorderOfSharedIDs(t *testing.T) {
	path, topics := topicCorpus(t, rand.New(rand.NewPCG(57, 58)), 3000, 20)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	for d := range topics {
		if d%3 == 0 {
			copy(lines[d], fmt.Sprintf("%016x", d%300)) // an ID of ten documents
		}
	}
	if err := os.WriteFile(path, bytes.Join(lines, nil), 0o644); err != nil {
		t.Fatal(err)
	}
	plain := BuildOptions{AllowDuplicateIDs: true}
	ordered := BuildOptions{AllowDuplicateIDs: true, Reorder: true}
	for name, r := range map[string]*Reader{
		"reordered":       reorder(t, open(t, build(t, path, plain)), ReorderOptions{always: true}),
		"built reordered": open(t, build(t, path, ordered)),
	} {
		if err := r.Check(context.Background(), CheckOptions{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		docs, err := r.FindDocs(fmt.Sprintf("%016x", 3))
		if err != nil || len(docs) != 10 || !slices.IsSorted(docs) {
			t.Errorf("%s: documents %d, %v; want ten in ascending order", name, docs, err)
		}
	}
}

// Reordering that is cancelled, has too little memory or meets damage is an error and leaves the
// index as it was.
func TestReorderRefuses(t *testing.T) {
	path, _ := topicCorpus(t, rand.New(rand.NewPCG(57, 58)), 5000, 5)
	dir := build(t, path, BuildOptions{StoreText: true})
	before := readDir(t, dir)
	r := open(t, dir)
	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	if err := Reorder(stopped, r, dir, ReorderOptions{}); err != context.Canceled {
		t.Errorf("cancelled: error %v, want %v", err, context.Canceled)
	}
	err := Reorder(context.Background(), r, dir, ReorderOptions{Memory: 1000})
	if err == nil || !strings.Contains(err.Error(), "of memory for") ||
		!strings.Contains(err.Error(), "ReorderOptions.Memory is 1kB") {
		t.Errorf("1000 bytes of memory: error %v, want one that names the limit", err)
	}
	files := readDir(t, dir)
	files[postingsFile][len(files[postingsFile])/2] ^= 1
	damaged, err := openMemory(files)
	if err != nil {
		t.Fatal(err)
	}
	if err := Reorder(context.Background(), damaged, dir, ReorderOptions{}); err == nil {
		t.Error("reordering a damaged index: no error")
	}
	sameFiles(t, "after three errors", readDir(t, dir), before)
	if entries, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(entries) != 1 {
		t.Errorf("entries %v, %v; want only the index", entries, err)
	}
	// An index can be reordered in place.
	if err := Reorder(context.Background(), r, dir, ReorderOptions{}); err != nil {
		t.Fatal(err)
	}
	sameButForOrder(t, r, open(t, dir))
}

// Text that is reordered in several buckets is the same.
func TestReorderedTextFromManyBuckets(t *testing.T) {
	path, _ := topicCorpus(t, rand.New(rand.NewPCG(59, 60)), 3000, 5)
	r := open(t, build(t, path, BuildOptions{StoreText: true}))
	for _, bucket := range []int{1000, 20_000} {
		dir := filepath.Join(t.TempDir(), "ix")
		w, err := Create(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Abort()
		order := make([]uint32, r.Docs())
		for d, p := range rand.New(rand.NewPCG(61, 62)).Perm(len(order)) {
			order[d] = uint32(p)
		}
		if err := r.rewrite(context.Background(), w, order, nil,
			ReorderOptions{Threads: 2, textBucket: bucket}); err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		sameButForOrder(t, r, open(t, dir))
	}
}

// A build that is to be reordered, but lacks the memory for it, ends before the index is written.
func TestReorderingIsRefusedBeforeTheBuild(t *testing.T) {
	var b strings.Builder
	for d := range 40_000 {
		fmt.Fprintf(&b, "a%d b%d c%d d%d e%d f%d g%d h%d\n", d%20, d/3%20, d/7%20, d/11%20, d/13%20, d/17%20, d/19%20, d/23%20)
	}
	dir := filepath.Join(t.TempDir(), "ix")
	for _, o := range []BuildOptions{{Reorder: true}, {Reorder: true, StoreText: true}, {Reorder: true, Threads: 9}} {
		o.Memory = 3_500_000
		if o.Threads = max(o.Threads, 1); o.Threads > 1 {
			o.Memory = 1_000_000 // not even enough for the threads
		}
		c := &text.Corpus{Paths: []string{"-"}, Stdin: strings.NewReader(b.String()), Options: text.Options{Format: text.Lines}}
		written := false
		o.Progress = func(int64, int64) { written = true }
		err := Build(t.Context(), dir, c, o)
		if err == nil || !strings.Contains(err.Error(), "reordering needs") || !strings.Contains(err.Error(), "Options.Memory is") {
			t.Fatalf("%+v: error %v, want one that names the memory", o, err)
		}
		if written {
			t.Errorf("%+v: postings were written before the error", o)
		}
	}
}
