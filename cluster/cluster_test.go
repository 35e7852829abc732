package cluster

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/internal/trials"
	"github.com/collocate/collocate/text"
)

// lines returns n lines of words of all frequencies, some of which are not UTF-8.
func lines(n int) string {
	rng := rand.New(rand.NewPCG(41, 42))
	var b strings.Builder
	for range n {
		for range rng.IntN(30) {
			fmt.Fprintf(&b, "w%d ", int(rng.ExpFloat64()*20))
		}
		b.WriteString([]string{"", "caf\xe9", "<unk>", "naïve\ttab"}[rng.IntN(4)] + "\n")
	}
	return b.String()
}

func corpusOf(r io.Reader) *text.Corpus {
	return &text.Corpus{Paths: []string{"-"}, Stdin: r, Options: text.Options{Format: text.Lines, Encoding: text.Bytes}}
}

// mapped maps each of the n parts of a file, and returns the streams.
func mapped(t *testing.T, path string, n int, do func(*text.Corpus, io.Writer) error) (streams []string) {
	t.Helper()
	for i := range n {
		r, err := Split([]string{path}, i, n)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := do(corpusOf(r), &out); err != nil {
			t.Fatal(err)
		}
		r.Close()
		streams = append(streams, out.String())
	}
	return streams
}

// reduced groups the records of streams by key, as a cluster engine would, and reduces each group.
func reduced(t *testing.T, job Job, streams []string, n int64, spill *Spill) (out []string) {
	t.Helper()
	groups := make([][]string, n)
	for _, s := range streams {
		for line := range strings.Lines(s) {
			r, err := parseRecord([]byte(strings.TrimSuffix(line, "\n")))
			if err != nil {
				t.Fatal(err)
			}
			to := (r.Key + n) % n
			groups[to] = append(groups[to], line)
		}
	}
	for _, g := range groups {
		slices.SortStableFunc(g, func(a, b string) int {
			x, _ := parseRecord([]byte(strings.TrimSuffix(a, "\n")))
			y, _ := parseRecord([]byte(strings.TrimSuffix(b, "\n")))
			return int(x.Key - y.Key)
		})
		var b bytes.Buffer
		if _, err := Reduce(context.Background(), job, strings.NewReader(strings.Join(g, "")), spill, &b); err != nil {
			t.Fatal(err)
		}
		out = append(out, b.String())
	}
	return out
}

func inputs(streams []string) (list []Input) {
	for i, s := range streams {
		list = append(list, Input{fmt.Sprint("part ", i), strings.NewReader(s)})
	}
	return list
}

func vocabulary(t *testing.T, v *cooccur.Vocabulary) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := v.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// matrix returns the bytes of the .cooc file with the rows that do makes.
func matrix(t *testing.T, v *cooccur.Vocabulary, opt cooccur.Options,
	do func(cooccur.Sink) (cooccur.Stats, error)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.cooc")
	f, err := cooccur.Create(path, cooccur.CSR, v, opt)
	if err != nil {
		t.Fatal(err)
	}
	stats, err := do(f)
	if err != nil {
		t.Fatal(err)
	}
	f.Describe(stats)
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Merging the parts gives the vocabulary and the matrix file of one machine, with and without
// reducing them first, in memory and through spilled files.
func TestPartsMakeTheWhole(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "corpus.txt")
	if err := os.WriteFile(path, []byte(lines(3000/trials.Every(12))), 0o644); err != nil {
		t.Fatal(err)
	}
	one := func() *text.Corpus {
		return &text.Corpus{Paths: []string{path}, Options: text.Options{Format: text.Lines, Encoding: text.Bytes}}
	}
	vo := cooccur.VocabularyOptions{MinCount: 2, KeepUnk: true}
	whole, stats, err := cooccur.CountWords(ctx, one(), vo)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 3, 7} {
		spilled := &Spill{Dir: filepath.Join(t.TempDir(), "spill"), Buckets: 5, Memory: 1}
		for _, spill := range []*Spill{nil, spilled} {
			streams := mapped(t, path, n, func(c *text.Corpus, w io.Writer) error {
				_, err := MapWords(ctx, c, Share{}, cooccur.VocabularyOptions{MinCount: 5}, spill, w)
				return err
			})
			for _, way := range [][]string{streams, reduced(t, Vocab, streams, 2, spill)} {
				v, got, err := MergeWords(ctx, inputs(way), spill, vo)
				if err != nil {
					t.Fatal(err)
				}
				if vocabulary(t, v) != vocabulary(t, whole) || got != stats {
					t.Fatalf("%d parts, spill %v: vocabulary %.60q, %+v; want %.60q, %+v", n, spill != nil,
						vocabulary(t, v), got, vocabulary(t, whole), stats)
				}
			}
			for _, opt := range []cooccur.Options{{}, {Window: 3, Side: cooccur.Right},
				{Window: 40, Weighting: cooccur.Count}} {
				want := matrix(t, whole, opt, func(s cooccur.Sink) (cooccur.Stats, error) {
					return cooccur.Matrix(ctx, one(), whole, opt, s)
				})
				streams := mapped(t, path, n, func(c *text.Corpus, w io.Writer) error {
					_, err := MapPairs(ctx, c, Share{}, whole, opt, spill, w)
					return err
				})
				for _, way := range [][]string{streams, reduced(t, Cooccur, streams, 3, spill)} {
					got := matrix(t, whole, opt, func(s cooccur.Sink) (cooccur.Stats, error) {
						return MergePairs(ctx, inputs(way), spill, whole, true, opt, s)
					})
					if got != want {
						t.Fatalf("%d parts, %+v, spill %v: file of %d bytes, want the %d bytes of one machine", n,
							opt, spill != nil, len(got), len(want))
					}
				}
			}
		}
		if err := spilled.Clean(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(spilled.Dir); !os.IsNotExist(err) {
			t.Errorf("the folder of spilled files after Clean: %v, want none", err)
		}
	}
}

// A merge refuses streams from which records or parts were lost, changed or repeated.
func TestLossIsNoticed(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "corpus.txt")
	if err := os.WriteFile(path, []byte(lines(200)), 0o644); err != nil {
		t.Fatal(err)
	}
	streams := mapped(t, path, 3, func(c *text.Corpus, w io.Writer) error {
		_, err := MapWords(ctx, c, Share{}, cooccur.VocabularyOptions{}, nil, w)
		return err
	})
	after := reduced(t, Vocab, streams, 2, nil)
	merge := func(parts []string) error {
		_, _, err := MergeWords(ctx, inputs(parts), nil, cooccur.VocabularyOptions{KeepUnk: true})
		return err
	}
	if err := merge(after); err != nil {
		t.Fatal(err)
	}
	line := func(s string, i int) string { return strings.SplitAfter(s, "\n")[i] }
	for what, parts := range map[string][]string{
		"a part is missing":   after[:1],
		"a map comes twice":   append(slices.Clone(streams), streams[0]),
		"a record is missing": {strings.Replace(after[0], line(after[0], 2), "", 1), after[1]},
		"a record comes twice": {strings.Replace(after[0], line(after[0], 2),
			line(after[0], 2)+line(after[0], 2), 1), after[1]},
		"the end is missing":       {after[0][:strings.LastIndex(after[0], "e\t-1")], after[1]},
		"a stream is cut":          {after[0][:len(after[0])-5], after[1]},
		"a key became null":        {strings.Replace(after[0], line(after[0], 2), "v\t\\N\tAA\n", 1), after[1]},
		"a record of another kind": {"c\t0\tAQE\n" + after[0], after[1]},
		"records are not in order": {after[0] + after[0], after[1]},
		"nothing":                  {},
		"a reduce lost what it read": reduced(t, Vocab,
			append([]string{strings.Replace(streams[0], line(streams[0], 2), "", 1)},
				streams[1:]...), 2, nil),
	} {
		if err := merge(parts); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	// Maps of numbered parts know the number of parts.
	n := 0
	numbered := mapped(t, path, 3, func(c *text.Corpus, w io.Writer) error {
		_, err := MapWords(ctx, c, Share{[]int{n}, 3}, cooccur.VocabularyOptions{}, nil, w)
		n++
		return err
	})
	if err := merge(reduced(t, Vocab, numbered, 2, nil)); err != nil {
		t.Fatal(err)
	}
	last := func(says string) string { return strings.Replace(numbered[2], `"parts":[2]`, says, 1) }
	for want, third := range map[string]string{
		"a map of 0 parts among":  streams[2],
		"part 2 is missing":       last(`"parts":[]`),
		"part 0 of 3 comes twice": last(`"parts":[0]`),
		"part 3 of 3 comes twice": last(`"parts":[3]`),
	} {
		if err := merge([]string{numbered[0], numbered[1], third}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	// A missing map of unnumbered parts is found if the counts of the vocabulary are known.
	v, _, err := MergeWords(ctx, inputs(streams), nil, cooccur.VocabularyOptions{KeepUnk: true})
	if err != nil {
		t.Fatal(err)
	}
	pairs := mapped(t, path, 3, func(c *text.Corpus, w io.Writer) error {
		_, err := MapPairs(ctx, c, Share{}, v, cooccur.Options{Window: 2}, nil, w)
		return err
	})
	nothing := sinkFunc(func(*cooccur.Rows) error { return nil })
	if _, err := MergePairs(ctx, inputs(pairs[1:]), nil, v, true, cooccur.Options{Window: 2}, nothing); err == nil {
		t.Error("a map of pairs is missing: no error")
	}
	if _, err := MergePairs(ctx, inputs(pairs[1:]), nil, v, false, cooccur.Options{Window: 2}, nothing); err != nil {
		t.Error(err)
	}
	// Parts of another job, another vocabulary than that of the maps, and an end of the work.
	ofWords := streams[0][strings.LastIndex(streams[0], "e\t-1"):]
	_, err = MergePairs(ctx, inputs(append([]string{ofWords}, pairs...)), nil, v, false, cooccur.Options{Window: 2}, nothing)
	if err == nil || !strings.Contains(err.Error(), "merge the output of one job only") {
		t.Errorf("the end of a map of words: error %v", err)
	}
	few, _, err := cooccur.CountWords(ctx, corpusOf(strings.NewReader("a b\n")), cooccur.VocabularyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = MergePairs(ctx, inputs(pairs), nil, few, false, cooccur.Options{Window: 2}, nothing)
	if err == nil || !strings.Contains(err.Error(), "want the vocabulary that the maps had") {
		t.Errorf("another vocabulary: error %v", err)
	}
	ended, end := context.WithCancel(ctx)
	end()
	if _, _, err := MergeWords(ended, inputs(streams), nil, cooccur.VocabularyOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a merge that is not wanted any more: error %v", err)
	}
	for _, opt := range []cooccur.Options{{Window: 30}, {Subsample: 0.1}} {
		if _, err := MapPairs(ctx, corpusOf(strings.NewReader("a b\n")), Share{}, v, opt, nil, io.Discard); err == nil {
			t.Errorf("%+v, whose parts cannot be added up: no error", opt)
		}
	}
}

type sinkFunc func(*cooccur.Rows) error

func (f sinkFunc) Rows(r *cooccur.Rows) error { return f(r) }

// Every line is in exactly one part, for any number of parts.
func TestSplit(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.txt"), filepath.Join(dir, "b.txt")
	long := strings.Repeat("x", 1<<19)
	for path, s := range map[string]string{a: "one\n\ntwo\nthree", b: "four\n" + long + "\nfive\n"} {
		if err := os.WriteFile(path, []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := "one\n\ntwo\nthree\nfour\n" + long + "\nfive\n"
	for _, n := range []int{1, 2, 3, 5, 13, 100} {
		got := ""
		for i := range n {
			r, err := Split([]string{a, b}, i, n)
			if err != nil {
				t.Fatal(err)
			}
			s, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			r.Close()
			got += string(s)
		}
		if got != want {
			t.Errorf("%d parts have %d bytes %.60q, want %d bytes %.60q", n, len(got), got, len(want), want)
		}
	}
}

// FuzzStreams reduces streams of any bytes. The output of a reduce that succeeds can be reduced
// again, with the same counts and sums.
func FuzzStreams(f *testing.F) {
	ctx := context.Background()
	jobs := []Job{Vocab, Cooccur, Places, Weigh}
	pts := &coloc.Points{X: []float64{0, 1, 1}, Y: []float64{0, 1, 1}, Feature: []int32{0, 1, 0}, Features: []string{"a", "b"}}
	for i, job := range jobs {
		var b bytes.Buffer
		switch job {
		case Vocab:
			MapWords(ctx, corpusOf(strings.NewReader("a b a\n")), Share{}, cooccur.VocabularyOptions{}, nil, &b)
		case Cooccur:
			w := newWriter(&b, "cooccur", "map", "t")
			w.Write(kindCells, 3, (&cells{[]uint64{0, 7}, []uint64{1, 300}}).appendTo(nil))
			w.Close()
		case Places:
			MapPlaces(ctx, pts, coloc.Options{Distance: 1}, []int{0}, 1, &b)
		case Weigh:
			MapParts(Weigh, []int{0, 1}, 2, func(int, string) (Part, error) { return Part{Documents: 3, Words: 7}, nil }, &b)
		}
		f.Add(b.String(), i)
	}
	f.Add("v\t1\t\n", 0)
	f.Add("e\t-1\t{}\n", 1)
	f.Fuzz(func(t *testing.T, s string, which int) {
		job := jobs[uint(which)%uint(len(jobs))]
		var once, twice bytes.Buffer
		first, err := Reduce(ctx, job, strings.NewReader(s), nil, &once)
		if err != nil {
			return
		}
		again, err := Reduce(ctx, job, bytes.NewReader(once.Bytes()), nil, &twice)
		if err != nil {
			t.Fatalf("%q was written and is refused: %v", once.String(), err)
		}
		if again.ReadRecords != first.Records || again.ReadSum != first.Sum ||
			again.Records != first.Records || again.Sum != first.Sum {
			t.Fatalf("first reduce %+v, second %+v; want the same records and sum", first, again)
		}
		// Merges may fail but not panic.
		MergePlaces(ctx, []Input{{"s", strings.NewReader(s)}}, coloc.Options{MinPrevalence: 0.5})
		MergeParts(ctx, Weigh, []Input{{"s", strings.NewReader(s)}})
	})
}

// Every row is in exactly one block, and blocks are contiguous.
func TestBlocks(t *testing.T) {
	next := int64(0)
	for block := range maxBlock + 1 {
		first, n := blockRows(block)
		if first != next || blockOf(first) != block || blockOf(first+n-1) != block {
			t.Fatalf("block %d has %d rows from %d on, want from %d", block, n, first, next)
		}
		next = first + n
	}
	if next != 1<<32 {
		t.Errorf("blocks end at row %d, want 1<<32", next)
	}
}

// FuzzClass parses any bytes; a class that is accepted is written as the same bytes.
func FuzzClass(f *testing.F) {
	f.Add(appendClass(nil, &coloc.Class{Feature: 3, Sets: [][]int32{{0, 3}, {3, 300}}}))
	f.Add([]byte{1, 2})
	f.Fuzz(func(t *testing.T, raw []byte) {
		if c, err := parseClass(raw); err == nil && !bytes.Equal(appendClass(nil, &c), raw) {
			t.Fatalf("%x is %+v, which is written as %x", raw, c, appendClass(nil, &c))
		}
	})
}

// The parts of a corpus have the documents of the whole, with the same IDs.
func TestStreams(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.txt"), filepath.Join(dir, "b.txt")
	for path, s := range map[string]string{a: "one\n\ntwo\nthree", b: "four\n \nfive\n"} {
		if err := os.WriteFile(path, []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	read := func(c *text.Corpus) (ids []string) {
		c.Options = text.Options{Format: text.Lines}
		for d, err := range c.All(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, d.ID+" "+string(d.Text))
		}
		return ids
	}
	want := read(&text.Corpus{Paths: []string{a, b}})
	for _, n := range []int{1, 2, 3, 7, 40} {
		var got []string
		for i := range n {
			streams, err := Streams([]string{a, b}, i, n, true)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, read(&text.Corpus{Streams: streams})...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d parts: %q, want %q", n, got, want)
		}
	}
	last, err := linesBefore(piece{path: b, from: 8}, false)
	if err != nil || last != 2 {
		t.Errorf("%d lines that are not blank before byte 8, want 2; %v", last, err)
	}
}

// FuzzUvarint compares with encoding/binary, except that numbers with unneeded bytes are refused.
func FuzzUvarint(f *testing.F) {
	for _, n := range []uint64{0, 1, 127, 128, 300, 1 << 20, 1<<63 - 1, 1 << 63, 1<<64 - 1} {
		f.Add(binary.AppendUvarint(nil, n))
	}
	f.Add([]byte{0x80, 0})
	f.Add(bytes.Repeat([]byte{0xff}, 11))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, at := uvarintAt(b, 0)
		want, size := binary.Uvarint(b)
		if size <= 0 || size > 1 && b[size-1] == 0 {
			want, size = 0, -1
		}
		if n != want || at != size {
			t.Errorf("%x: number %d to offset %d, want %d to %d", b, n, at, want, size)
		}
	})
}

// A key whose records come at two places, or in two forms, would count twice, or be lost: it is
// refused, whichever way the records came.
func TestKeysThatComeTwice(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "corpus.txt")
	if err := os.WriteFile(path, []byte(lines(200)), 0o644); err != nil {
		t.Fatal(err)
	}
	words := func(spill *Spill) string {
		return mapped(t, path, 1, func(c *text.Corpus, w io.Writer) error {
			_, err := MapWords(ctx, c, Share{}, cooccur.VocabularyOptions{}, spill, w)
			return err
		})[0]
	}
	dir := t.TempDir()
	merge := func(streams ...string) error {
		_, _, err := MergeWords(ctx, inputs(streams), &Spill{Dir: dir}, cooccur.VocabularyOptions{KeepUnk: true})
		return err
	}
	three, five := words(&Spill{Dir: dir, Buckets: 3}), words(&Spill{Dir: dir, Buckets: 5})
	if err := errors.Join(merge(three), merge(five)); err != nil {
		t.Fatal(err)
	}
	for want, streams := range map[string][]string{
		"want buckets in ascending order of keys": {three, five}, // a word is in bucket 1 of 3 and in bucket 2 of 5
		"have the same key":                       {words(nil), words(&Spill{Dir: dir, Buckets: wordBuckets})},
	} {
		if err := merge(streams...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	// A task that ran twice, as engines do with slow ones, has written two files for one part.
	part := func(numbers ...int) string {
		var b bytes.Buffer
		_, err := MapParts(Weigh, numbers, 2, func(int, string) (Part, error) { return Part{Documents: 1}, nil }, &b)
		if err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if parts, _, err := MergeParts(ctx, Weigh, inputs([]string{part(0), part(1)})); err != nil || len(parts) != 2 {
		t.Errorf("parts %v, %v, want two", parts, err)
	}
	for _, streams := range [][]string{{part(0), part(0, 1)}, {part(0), part(1), part(1)}} {
		if _, _, err := MergeParts(ctx, Weigh, inputs(streams)); err == nil || !strings.Contains(err.Error(), "comes twice") {
			t.Errorf("error %v, want that a part comes twice", err)
		}
	}
}

// submit.sh keeps what is complete, and removes nothing without --force.
func TestSlurmKeepsParts(t *testing.T) {
	a := &Array{Job: Weigh, Tasks: 2, Files: []string{"/data/a b"}, Dir: "/job", Map: []string{"x"}, Merge: []string{"y"},
		Clean: "/job/weigh.files"}
	s := a.Scripts()
	before, _, _ := strings.Cut(s["submit.sh"], "sbatch")
	force, rest, found := strings.Cut(before, "\nfi\n")
	if !found || !strings.Contains(force, "--force") || !strings.Contains(force, "rm -rf /job/weigh.parts /job/weigh.files") ||
		strings.Contains(rest, "rm ") {
		t.Errorf("submit.sh removes parts without --force:\n%s", s["submit.sh"])
	}
	if want := "[ ! -e /job/weigh.parts/part-$SLURM_ARRAY_TASK_ID ] || exit 0"; !strings.Contains(s["map.sbatch"], want) {
		t.Errorf("map.sbatch has no %q:\n%s", want, s["map.sbatch"])
	}
}

// Addresses get the names that paths of the same shape have.
func TestNamesOfAddresses(t *testing.T) {
	for _, c := range []struct{ paths, want string }{
		{"x.txt", "x.txt"}, {"a/x.txt a/y.txt", "x.txt y.txt"}, {"a/x.txt ./b/x.txt", "a/x.txt b/x.txt"},
		{"a/s/x.txt a/y.txt", "s/x.txt y.txt"}, {"/a/x /b/y", "a/x b/y"},
		{"s3://b/k/x s3://b/k/y", "x y"}, {"s3://b/x s3://c/x", "b/x c/x"}, {"ab/x abc/x", "ab/x abc/x"},
		{"x/a b y/a", "x/a b y/a"},
	} {
		if got := namesOf(strings.Fields(c.paths)); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("%s: names %q, want %s", c.paths, got, c.want)
		}
	}
}
