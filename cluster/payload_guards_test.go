package cluster

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/cooccur"
)

// The payloads of records are checked up to their borders: what just fits is taken, and the next
// larger is an error, not a wrong count.
func TestPayloadsAreCheckedAtTheirBorders(t *testing.T) {
	a := []count{{[]byte("w"), math.MaxUint64}}
	if _, err := addCounts(a, []count{{[]byte("w"), 1}}); err == nil || !strings.Contains(err.Error(), "too often") {
		t.Errorf("a count that overflows: error %v", err)
	}
	if sum, err := addCounts([]count{{[]byte("w"), math.MaxUint64 - 1}}, []count{{[]byte("w"), 1}}); err != nil ||
		sum[0].n != math.MaxUint64 {
		t.Errorf("the largest count: %v, %v", sum, err)
	}
	cell := func(key int64, col uint64) error {
		return new(cells).parse(key, binary.AppendUvarint(binary.AppendUvarint(nil, col), 1))
	}
	_, rows := blockRows(0)
	if err := cell(0, uint64(rows)<<32-1); err != nil {
		t.Errorf("the last cell of a block: %v", err)
	}
	if err := cell(0, uint64(rows)<<32); !errors.Is(err, errPayload) {
		t.Errorf("a cell behind the block: error %v", err)
	}
	for _, feature := range []uint64{1 << 30, 1 << 31, math.MaxUint32} { // the last two are negative int32
		if _, err := parseClass(binary.AppendUvarint(nil, feature)); !errors.Is(err, errPayload) {
			t.Errorf("feature %d: error %v", feature, err)
		}
	}
	if p, err := parsePart(0, []byte(`{"of":1,"name":"a"}`)); err != nil || p.Of != 1 {
		t.Errorf("one part of one: %v, %v", p, err)
	}
	for _, bad := range []string{`{"of":0,"name":"a"}`, `{"of":1,"name":".."}`, `{"of":1,"name":"a/b"}`} {
		if _, err := parsePart(0, []byte(bad)); err == nil {
			t.Errorf("part %s: no error", bad)
		}
	}
	if _, err := parsePart(1, []byte(`{"of":1,"name":"a"}`)); err == nil {
		t.Error("part 1 of one: no error")
	}
	name := "a" + spillSuffix
	if _, err := parseSpillRange([]byte(`{"name":"` + name + `","from":0,"bytes":0}`)); err != nil {
		t.Errorf("an empty range: %v", err)
	}
	for _, bad := range []string{`"from":-1,"bytes":1`, `"from":1,"bytes":-1`,
		`"from":9223372036854775807,"bytes":1`} {
		if _, err := parseSpillRange([]byte(`{"name":"` + name + `",` + bad + `}`)); err == nil {
			t.Errorf("a range with %s: no error", bad)
		}
	}
}

// The words of a bucket are in byte order, each once, with a count, and belong to the bucket.
func TestCountsAreChecked(t *testing.T) {
	a, b := []byte("a"), []byte(nil)
	for i := 'b'; b == nil; i++ { // the next word of the same bucket
		if w := []byte(string(i)); bucketOf(w) == bucketOf(a) {
			b = w
		}
	}
	key := bucketOf(a)
	good := appendCounts(nil, []count{{a, 1}, {b, 7}})
	if list, err := parseCounts(key, good); err != nil || len(list) != 2 || list[1].n != 7 {
		t.Fatalf("two words: %v, %v", list, err)
	}
	for what, raw := range map[string][]byte{
		"a word without letters": {0, 1}, "a word that is cut": {9, 'a'}, "no count": {1, 'a'},
		"a count of 0":    {1, 'a', 0},
		"twice a word":    appendCounts(nil, []count{{a, 1}, {a, 1}}),
		"no order":        appendCounts(nil, []count{{b, 1}, {a, 1}}),
		"half a number":   {0x80},
		"half a count":    {1, 'a', 0x80},
		"half of the end": good[:len(good)-1],
	} {
		if list, err := parseCounts(key, raw); !errors.Is(err, errPayload) {
			t.Errorf("%s: %v, error %v", what, list, err)
		}
	}
	if _, err := parseCounts(key+1, good); !errors.Is(err, errPayload) {
		t.Errorf("words of another bucket: error %v", err)
	}
	if err := new(cells).parse(maxBlock+1, nil); !errors.Is(err, errPayload) {
		t.Errorf("a block behind the last: error %v", err)
	}
}

// A class of points has a feature and sets of features in rising order.
func TestClassesAreChecked(t *testing.T) {
	if c, err := parseClass([]byte{3, 2, 1, 4}); err != nil || len(c.Sets) != 1 || c.Sets[0][1] != 4 {
		t.Fatalf("feature 3 with features 0 and 4: %v, %v", c, err)
	}
	far := binary.AppendUvarint([]byte{3, 1}, mostFeatures+1)
	twice := binary.AppendUvarint(append([]byte{3, 2}, far[2:]...), 1)
	for what, raw := range map[string][]byte{
		"no feature": {}, "an empty set": {3, 0}, "a set that is cut": {3, 2, 1}, "half a number": {3, 1, 0x80},
		"a feature twice": {3, 2, 1, 0}, "a feature too far": far, "features too far": twice,
	} {
		if c, err := parseClass(raw); !errors.Is(err, errPayload) {
			t.Errorf("%s: %v, error %v", what, c, err)
		}
	}
}

// Keys of records are not negative; only the last record of a stream has -1, and says one thing.
func TestRecordsAreChecked(t *testing.T) {
	for _, kind := range "vcpfs" {
		line := string(kind) + "\t-1\tAA"
		if _, err := parseRecord([]byte(line)); err == nil {
			t.Errorf("%q: no error", line)
		}
	}
	for line, ok := range map[string]bool{
		"e\t-1\t{}\n": true, "e\t-1\t{} {}\n": false, "e\t0\t{}\n": false, "e\t-1\t{\n": false,
		"e\t-1\t{\"odd\":1}\n": false,
	} {
		r := newReader(strings.NewReader(line), "part")
		if _, err := r.Next(); errors.Is(err, io.EOF) != ok {
			t.Errorf("%q: error %v, and it is right: %v", line, err, ok)
		}
	}
}

// Files are cut into numbered parts; a folder has none.
func TestPiecesAreChecked(t *testing.T) {
	dir := t.TempDir()
	for _, part := range [][2]int{{0, 0}, {-1, 2}, {2, 2}} {
		if _, err := pieces(nil, part[0], part[1]); err == nil {
			t.Errorf("part %d of %d: no error", part[0], part[1])
		}
	}
	if _, err := pieces([]string{dir}, 0, 1); err == nil || !strings.Contains(err.Error(), "want a regular file") {
		t.Errorf("a folder: error %v", err)
	}
}

// Sums that overflow, records of a spill that are no records, and reads that fail are errors, never
// wrong or missing counts.
func TestDamageIsNoticedWhereItIs(t *testing.T) {
	a := &cells{cols: []uint64{7}, sums: []uint64{math.MaxUint64}}
	if err := new(cells).add(a, &cells{cols: []uint64{7}, sums: []uint64{1}}); err == nil ||
		!strings.Contains(err.Error(), "column 7 is too large") {
		t.Errorf("a sum that overflows: error %v", err)
	}
	for what, raw := range map[string][]byte{
		"half a number": {0x80}, "no size": {1}, "a key below the last": {1, 0}, "a record that is cut": {9, 2, 0},
		"a negative size": binary.AppendUvarint([]byte{9}, math.MaxUint64),
	} {
		r := &rangeStream{spill: &Spill{Dir: "spill"}, key: 5, data: raw}
		if err := r.step(); !errors.Is(err, errPayload) {
			t.Errorf("%s: error %v", what, err)
		}
	}
	folder := t.TempDir() // reading it fails
	for _, from := range []int64{0, 5} {
		in := &splitReader{pieces: []piece{{folder, from, 10}}}
		if n, err := in.Read(make([]byte, 10)); n != 0 || err == nil || errors.Is(err, io.EOF) {
			t.Errorf("from byte %d on: %d bytes, %v; want an error of reading", from, n, err)
		}
	}
	var out bytes.Buffer
	w := newWriter(&out, Places.String(), "map", "1")
	w.end.Map = &PointMap{}
	err := errors.Join(w.writeCounts(kindClasses, []count{{[]byte{3, 2, 1, 4}, math.MaxUint64}}), w.Close())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := MergePlaces(t.Context(), []Input{{"part", &out}}, coloc.Options{}); !errors.Is(err, errPayload) {
		t.Errorf("more points than can be counted: error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err = eachKey(ctx, []stream{&fewRecords{"a", []int64{1}, 0}}, func(byte, int64, []stream) error {
		return errors.New("it goes on")
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a merge that is cancelled: error %v", err)
	}
}

// Parts of several jobs are not merged into one.
func TestPartsOfOtherJobsAreRefused(t *testing.T) {
	stream := func(key int64, raw string) Input {
		var out bytes.Buffer
		w := newWriter(&out, Index.String(), "map", fmt.Sprint(key))
		if err := errors.Join(w.Write(kindFiles, key, []byte(raw)), w.Close()); err != nil {
			t.Fatal(err)
		}
		return Input{fmt.Sprint("part ", key), &out}
	}
	first := `{"of":2,"name":"a"}`
	for second, ok := range map[string]bool{`{"of":2,"name":"b"}`: true, `{"of":3,"name":"b"}`: false} {
		parts, _, err := MergeParts(t.Context(), Index, []Input{stream(0, first), stream(1, second)})
		if (err == nil) != ok {
			t.Errorf("%s after %s: %d parts, %v", second, first, len(parts), err)
		}
	}
	if parts, _, err := MergeParts(t.Context(), Index, []Input{stream(1, first)}); err == nil ||
		!strings.Contains(err.Error(), "comes after 0 parts") {
		t.Errorf("without the first: %d parts, %v", len(parts), err)
	}
	all := tally{job: Places, tasks: map[string]bool{}}
	for i, points := range []*PointMap{{}, {}, nil} {
		err := all.end(&End{Job: Places.String(), Stage: "map", Task: fmt.Sprint(i), Map: points})
		if (err == nil) != (points != nil) {
			t.Errorf("part %d with points %v: error %v", i, points, err)
		}
	}
}

// The counts of words add up to what the parts have read, and end with the first that cannot be.
func TestCountsOfWordsAddUp(t *testing.T) {
	var opt cooccur.VocabularyOptions
	of := func(words int64, counts ...count) error {
		var out bytes.Buffer
		w := newWriter(&out, Vocab.String(), "map", "1")
		w.end.Words = words
		if err := errors.Join(w.writeCounts(kindWords, counts), w.Close()); err != nil {
			t.Fatal(err)
		}
		_, _, err := MergeWords(t.Context(), []Input{{"part", &out}}, nil, opt)
		return err
	}
	if err := of(3, count{[]byte("a"), 1}, count{[]byte("b"), 2}); err != nil {
		t.Errorf("one and two of three words: %v", err)
	}
	if err := of(5, count{[]byte("a"), 1}, count{[]byte("b"), 2}); err == nil || !strings.Contains(err.Error(), "add up to 3") {
		t.Errorf("one and two of five words: error %v", err)
	}
	// Words that do not fit memory, with more to come.
	var all []count
	for n := range 100_000 {
		all = append(all, count{fmt.Append(nil, "w", n), 1})
	}
	opt.Memory = 1
	if err := of(int64(len(all)), all...); err == nil || !strings.Contains(err.Error(), "memory") {
		t.Errorf("100,000 words in a byte: error %v", err)
	}
}
