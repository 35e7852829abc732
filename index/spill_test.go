package index

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/collocate/collocate/text"
)

// The bytes of an index do not depend on whether the writer keeps lengths, IDs and their order in
// memory or in files, nor on the size of its chunks.
func TestWritingWithinLittleMemory(t *testing.T) {
	before := chunkSize
	defer func() { chunkSize = before }()
	rng := rand.New(rand.NewPCG(7, 7))
	for n := range 8 {
		p := randomIndex(rng, 5000, 100)
		if n%3 == 0 { // IDs in order need no sorting
			for d := range p.ids {
				p.ids[d] = fmt.Sprint("f:", d+1)
			}
		}
		large, little := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
		p.writeTo(t, large)
		chunkSize = 100 // lists of several chunks
		p.writeWithin(t, little, 1)
		chunkSize = before
		sameFiles(t, fmt.Sprintf("%d documents in 1 byte of memory", len(p.ids)),
			readDir(t, little), readDir(t, large))
	}
}

// A word that is too long ends the build with an error that names the file and the document.
func TestLongWord(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f.txt")
	for _, size := range []int{MaxWord, MaxWord + 1} {
		if err := os.WriteFile(file,
			append([]byte("a b\nc d\ne "), bytes.Repeat([]byte("x"), size)...), 0o666); err != nil {
			t.Fatal(err)
		}
		an, err := text.ParseAnalyzer("ascii")
		if err != nil {
			t.Fatal(err)
		}
		err = Build(t.Context(), filepath.Join(t.TempDir(), "ix"),
			&text.Corpus{Paths: []string{file}}, BuildOptions{Analyzer: an})
		want := file + ": document 3: a word of 1048577 bytes: want at most 1048576"
		if size <= MaxWord && err != nil || size > MaxWord && (err == nil || err.Error() != want) {
			t.Errorf("a word of %d bytes: error %v; an error is wanted only beyond %d: %s", size, err,
				MaxWord, want)
		}
	}
}
