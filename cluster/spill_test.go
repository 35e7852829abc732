package cluster

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/text"
)

// The bytes of a spilled file are those in the comment of Spill.
func TestSpillBytes(t *testing.T) {
	spill := &Spill{Dir: t.TempDir(), Buckets: 2}
	w := newWriter(io.Discard, "cooccur", "map", "task")
	if err := w.spillTo(t.Context(), spill, 10); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(kindCells, 3, []byte{5, 7}), w.Write(kindCells, 9, []byte{0})); err != nil {
		t.Fatal(err)
	}
	ranges := w.spill
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(spill.Dir, "task.spill"))
	if err != nil {
		t.Fatal(err)
	}
	if string(data) != "\x03\x02\x05\x07\x09\x01\x00" {
		t.Errorf("bytes %x, want 03020507090100", data)
	}
	want := []spillRange{
		{"task.spill", 0, 4, 1, crc32.Checksum(data[:4], castagnoli)},
		{"task.spill", 4, 3, 1, crc32.Checksum(data[4:], castagnoli)},
	}
	if len(ranges.ranges) != len(want) {
		t.Fatalf("ranges %+v, want %+v", ranges.ranges, want)
	}
	for i, r := range ranges.ranges {
		if r != want[i] || ranges.keys[i] != int64(i) {
			t.Errorf("bucket %d is %+v, want %+v", ranges.keys[i], r, want[i])
		}
	}
}

// A merge refuses spilled files that are missing, truncated or changed.
func TestSpillLossIsNoticed(t *testing.T) {
	ctx := context.Background()
	path := filepath.Join(t.TempDir(), "corpus.txt")
	if err := os.WriteFile(path, []byte(lines(200)), 0o644); err != nil {
		t.Fatal(err)
	}
	spill := &Spill{Dir: t.TempDir(), Buckets: 3}
	streams := mapped(t, path, 2, func(c *text.Corpus, w io.Writer) error {
		_, err := MapWords(ctx, c, Share{}, cooccur.VocabularyOptions{}, spill, w)
		return err
	})
	merge := func(spill *Spill) error {
		_, _, err := MergeWords(ctx, inputs(streams), spill, cooccur.VocabularyOptions{KeepUnk: true})
		return err
	}
	if err := merge(spill); err != nil {
		t.Fatal(err)
	}
	if err := merge(nil); err == nil || !strings.Contains(err.Error(), "cluster.Spill") {
		t.Errorf("without the folder: error %v, want one that names cluster.Spill", err)
	}
	files, err := filepath.Glob(filepath.Join(spill.Dir, "*"+spillSuffix))
	if err != nil || len(files) != 2 {
		t.Fatalf("files %q, %v, want two", files, err)
	}
	good, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Clone(good)
	changed[len(changed)-1] ^= 3 // a count
	for what, data := range map[string][]byte{"truncated": good[:len(good)-1], "changed": changed, "missing": nil} {
		if data == nil {
			os.Remove(files[0])
		} else if err := os.WriteFile(files[0], data, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := merge(spill); err == nil || !strings.Contains(err.Error(), filepath.Base(files[0])) {
			t.Errorf("a file is %s: error %v, want one that names it", what, err)
		}
	}
}

// FuzzSpill reduces any range of a file of any bytes. The output of a reduce that succeeds can be
// reduced again.
func FuzzSpill(f *testing.F) {
	raw := []byte("\x03\x03\x01\x05\x07\x09\x02\x01\x01")
	f.Add(raw, int64(0), int64(len(raw)), uint64(2))
	f.Add([]byte("\x03\xff\xff\xff\xff\xff\xff\xff\x7f"), int64(0), int64(1)<<62, uint64(1))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte, from, size int64, records uint64) {
		if err := os.WriteFile(filepath.Join(dir, "a.spill"), data, 0o644); err != nil {
			t.Fatal(err)
		}
		r := spillRange{Name: "a.spill", From: from, Bytes: size, Records: records}
		if from >= 0 && size >= 0 && from <= int64(len(data)) && size <= int64(len(data))-from {
			r.Sum = crc32.Checksum(data[from:from+size], castagnoli)
		}
		var line, out bytes.Buffer
		w := newWriter(&line, "cooccur", "map", "t")
		named := &spillWriter{ranges: []spillRange{r}, keys: []int64{0}}
		if err := errors.Join(w.nameRanges(named), w.Close()); err != nil {
			t.Fatal(err)
		}
		spill := &Spill{Dir: dir}
		first, err := Reduce(t.Context(), Cooccur, bytes.NewReader(line.Bytes()), spill, &out)
		if err != nil {
			return
		}
		var again bytes.Buffer
		if _, err := Reduce(t.Context(), Cooccur, bytes.NewReader(out.Bytes()), spill, &again); err != nil {
			t.Fatalf("%+v was written and is refused: %v", first, err)
		}
		if err := spill.Clean(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	})
}
