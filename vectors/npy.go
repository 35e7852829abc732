package vectors

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/npz"
)

// wordsBeside returns the path of an array's words: NAME.words beside NAME.npy.
func wordsBeside(path string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + ".words"
}

// writeNPY writes the words first, so that there is never an array without its words.
func (v *Vectors) writeNPY(path string) error {
	words, err := v.lines()
	if err != nil {
		return err
	}
	if err := atomicfile.WriteFile(wordsBeside(path), func(f *atomicfile.File) error {
		_, err := f.Write(words)
		return err
	}); err != nil {
		return err
	}
	return atomicfile.WriteFile(path, func(f *atomicfile.File) error {
		return npz.WriteFloats(f, len(v.Words), v.Dim, v.Data)
	})
}

func openNPY(path string) (*Vectors, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	words, err := os.ReadFile(wordsBeside(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the words are missing: want %s beside it, with one word per line",
			filepath.Base(wordsBeside(path)))
	}
	if err != nil {
		return nil, err
	}
	return readNPY(bufio.NewReaderSize(f, 1<<20), words, filepath.Base(wordsBeside(path)))
}

// readNPY reads an array. lines is the content of the file of its words, which has the given name.
func readNPY(r io.Reader, lines []byte, name string) (*Vectors, error) {
	a, err := npz.ReadArray(r, 1<<40)
	if err != nil {
		return nil, err
	}
	if len(a.Shape) != 2 || a.Shape[1] < 1 || a.Shape[0] < 1 {
		return nil, fmt.Errorf("the array has the shape %v: want one row per word", a.Shape)
	}
	numbers, err := a.Floats()
	if err != nil {
		return nil, err
	}
	if n := len(lines); n > 0 && lines[n-1] != '\n' {
		lines = append(lines, '\n')
	}
	words, err := linesOf(lines, a.Shape[0])
	if err != nil {
		return nil, fmt.Errorf("%s has %w", name, err)
	}
	data := make([]float32, len(numbers))
	for i, x := range numbers {
		data[i] = float32(x)
	}
	return New(words, a.Shape[1], data)
}
