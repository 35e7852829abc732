package cooccur

import (
	"bytes"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/collocate/collocate/engine"
)

// MakeFile writes the file that Make and Create write, in the format of the file's ending.
func TestMakeFileIsMakeAndCreate(t *testing.T) {
	corpus := corpusOf(t, zipfText(2000, 90, 6))
	words := VocabularyOptions{MinCount: 2}
	for _, name := range []string{"m.cooc", "m.tsv"} {
		path, opt := filepath.Join(t.TempDir(), name), Options{Window: 3}
		format, err := FormatOf(path)
		if err != nil {
			t.Fatal(err)
		}
		var file *File
		wantWords, wantStats, err := Make(t.Context(), corpus, words, opt, func(v *Vocabulary) (_ Sink, err error) {
			file, err = Create(path, format, v, opt)
			return file, err
		})
		if err != nil {
			t.Fatal(err)
		}
		file.Describe(wantStats)
		if err := file.Commit(); err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		gotWords, stats, err := MakeFile(t.Context(), path, corpus, words, opt)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) ||
			gotWords != wantWords || stats != wantStats || stats.Entries == 0 {
			t.Errorf("%s: same file %v, %+v, %+v, %v; want true, %+v, %+v", name, bytes.Equal(got, want), gotWords,
				stats, err, wantWords, wantStats)
		}
	}
	if _, _, err := MakeFile(t.Context(), "m.csv", corpus, words, Options{}); err == nil ||
		!strings.Contains(err.Error(), ".cooc") {
		t.Errorf("m.csv, which is no format: error %v, want one that lists endings", err)
	}
	path := filepath.Join(t.TempDir(), "m.cooc")
	if _, _, err := MakeFile(t.Context(), path, corpus, words, Options{Window: -7}); err == nil {
		t.Error("a window of -7 words: no error")
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) > 0 {
		t.Errorf("files %v, %v after an error, want none", left, err)
	}
}

// CountsOf always merges on the cores, and its statistics say so.
func TestCountsOfSaysItsEngine(t *testing.T) {
	counts := iter.Seq2[[]byte, uint64](func(yield func([]byte, uint64) bool) {
		_ = yield([]byte("b"), 2) && yield([]byte("a"), 3) && yield([]byte("b"), 4)
	})
	for given, want := range map[engine.Kind]engine.Kind{engine.Auto: engine.Multicore,
		engine.GPU: engine.Multicore, engine.Multicore: engine.Multicore, engine.Sequential: engine.Sequential} {
		v, stats, err := CountsOf(counts, VocabularyOptions{Engine: given})
		if err != nil {
			t.Fatal(err)
		}
		if stats.Engine != want || stats.Words != 9 || v.Len() != 2 || v.Count(0) != 6 {
			t.Errorf("%v: %+v, %d words, the first %d times; want %v, 9 words, 2 words, 6 times", given, stats,
				v.Len(), v.Count(0), want)
		}
	}
}
