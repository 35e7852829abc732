package vectors

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/internal/sections"
)

// Files of vectors, by the endings of their names:
//
//	.vec  our own, mapped into memory: a container of package internal/sections, kind "COLOVEC\n",
//	      version 1, paged, with the sections words (each followed by a newline), data (float32,
//	      word by word), meta (uint64: words, dimensions) and, for vectors of texts, analyzer (a
//	      name)
//	.txt  GloVe's text: on each line a word and its numbers, with blanks between them
//	.w2v  word2vec's text: the same after a line with the numbers of words and dimensions
//	.bin  word2vec's binary: that line, then for each word its bytes, a blank, float32 and a newline
//	.npy  NumPy's array, one row per word; a file beside it that ends in .words has the words, one
//	      per line
//
// A .txt file with a first line of two integers is read as .w2v.
const (
	magic   = "COLOVEC\n"
	version = 1
)

// endings are the file name extensions of all formats.
var endings = []string{".vec", ".txt", ".w2v", ".bin", ".npy"}

const limit = 1 << 31 // of words, and of numbers in a vector

// Write writes a file in the format of its name's ending. The file appears only when it is
// complete.
func (v *Vectors) Write(path string) error {
	if err := v.fits(path); err != nil {
		return err
	}
	var fill func(w *bufio.Writer) error
	switch strings.ToLower(filepath.Ext(path)) {
	case ".vec":
		fill = v.own
	case ".txt":
		fill = func(w *bufio.Writer) error { return v.text(w) }
	case ".w2v":
		fill = func(w *bufio.Writer) error {
			fmt.Fprintf(w, "%d %d\n", len(v.Words), v.Dim)
			return v.text(w)
		}
	case ".bin":
		fill = v.binary
	case ".npy":
		return v.writeNPY(path)
	default:
		return badEnding(path)
	}
	return atomicfile.WriteFile(path, func(f *atomicfile.File) error { return fill(f.Writer) })
}

func badEnding(path string) error {
	return fmt.Errorf("%s: unknown format: want a name that ends in %s", path,
		strings.Join(endings, ", "))
}

// fits returns an error if a file of that name cannot keep what the vectors are.
func (v *Vectors) fits(path string) error {
	if v.Analyzer != "" && !strings.EqualFold(filepath.Ext(path), ".vec") {
		return fmt.Errorf("%s: vectors of texts have an analyzer, which only files that end in .vec keep", path)
	}
	return nil
}

// CheckName returns an error if the ending of a file name is not that of a format.
func CheckName(path string) error {
	for _, e := range endings {
		if strings.EqualFold(filepath.Ext(path), e) {
			return nil
		}
	}
	return badEnding(path)
}

func (v *Vectors) own(w *bufio.Writer) error {
	s, err := sections.NewPaged(w, magic, version)
	if err != nil {
		return err
	}
	words, err := v.lines()
	if err != nil {
		return err
	}
	err = errors.Join(s.Section("words", words), s.Section("data", sections.Bytes(v.Data)),
		s.Section("meta", sections.Bytes([]uint64{uint64(len(v.Words)), uint64(v.Dim)})))
	if v.Analyzer != "" {
		err = errors.Join(err, s.Section("analyzer", []byte(v.Analyzer)))
	}
	return errors.Join(err, s.Close())
}

// lines returns the words, each followed by a newline.
func (v *Vectors) lines() (words []byte, err error) {
	for _, word := range v.Words {
		if strings.Contains(word, "\n") {
			return nil, fmt.Errorf("the word %q contains a newline", word)
		}
		words = append(append(words, word...), '\n')
	}
	return words, nil
}

func (v *Vectors) text(w *bufio.Writer) error {
	var b []byte
	for i, word := range v.Words {
		if strings.ContainsAny(word, " \n") || word == "" {
			return fmt.Errorf("the word %q cannot be written as text: want one without blanks and newlines", word)
		}
		b = append(b[:0], word...)
		for _, x := range v.Of(i) {
			b = strconv.AppendFloat(append(b, ' '), float64(x), 'g', -1, 32)
		}
		if _, err := w.Write(append(b, '\n')); err != nil {
			return err
		}
	}
	return nil
}

func (v *Vectors) binary(w *bufio.Writer) error {
	fmt.Fprintf(w, "%d %d\n", len(v.Words), v.Dim)
	for i, word := range v.Words {
		if strings.ContainsAny(word, " \n") || word == "" {
			return fmt.Errorf("the word %q cannot be written in this format: want one without blanks and newlines", word)
		}
		w.WriteString(word)
		w.WriteByte(' ')
		w.Write(sections.Bytes(v.Of(i)))
		if err := w.WriteByte('\n'); err != nil {
			return err
		}
	}
	return nil
}

// Open reads a file of vectors. Files of our own format are mapped, and Close unmaps them.
func Open(path string) (v *Vectors, err error) {
	defer func() {
		if err != nil && !strings.HasPrefix(err.Error(), path) {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}()
	ext := strings.ToLower(filepath.Ext(path))
	if ext == ".vec" {
		return openOwn(path)
	}
	if err := CheckName(path); err != nil {
		return nil, err
	}
	if ext == ".npy" {
		return openNPY(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<20)
	if ext == ".bin" {
		return readBinary(in)
	}
	return readText(in)
}

func openOwn(path string) (*Vectors, error) {
	f, err := sections.Open(path, magic, version)
	if err != nil {
		return nil, err
	}
	var v *Vectors
	err = mmap.Safely(func() (err error) {
		v, err = fromSections(f)
		return err
	})
	if err != nil {
		f.Close()
		return nil, err
	}
	v.close = f.Close
	return v, nil
}

func fromSections(f *sections.File) (*Vectors, error) {
	get := func(name string) ([]byte, error) {
		b, err := f.Section(name)
		if err == nil {
			err = f.Touch(b)
		}
		return b, err
	}
	words, err1 := get("words")
	raw, err2 := get("data")
	head, err3 := get("meta")
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	data, err := sections.View[float32](raw)
	if err != nil {
		return nil, err
	}
	meta, err := sections.View[uint64](head)
	if err != nil {
		return nil, err
	}
	if len(meta) != 2 || meta[0] > limit || meta[1] > limit || meta[1] == 0 {
		return nil, errors.New("corrupted: wrong numbers of words and dimensions")
	}
	list, err := linesOf(words, int(meta[0]))
	if err != nil {
		return nil, fmt.Errorf("corrupted: %w", err)
	}
	v, err := New(list, int(meta[1]), data)
	if err != nil {
		return nil, err
	}
	for _, s := range f.Sections() {
		if s.Name == "analyzer" {
			name, err := get("analyzer")
			if err != nil {
				return nil, err
			}
			v.Analyzer = string(name)
		}
	}
	return v, nil
}

// linesOf returns n words, given each with a newline after it.
func linesOf(words []byte, n int) ([]string, error) {
	list := strings.Split(string(words), "\n")
	if last := len(list) - 1; last != n || list[last] != "" {
		return nil, fmt.Errorf("%d words, not %d", last, n)
	}
	return list[:n], nil
}

// readText reads GloVe's and word2vec's text.
func readText(in *bufio.Reader) (*Vectors, error) {
	var words []string
	var data []float32
	dim, promised := 0, -1
	for number := 1; ; number++ {
		line, err := in.ReadString('\n')
		if err != nil && err != io.EOF {
			return nil, err
		}
		if err == io.EOF && line == "" {
			break
		}
		fields := strings.Fields(line)
		if number == 1 && len(fields) == 2 {
			n, err1 := strconv.Atoi(fields[0])
			d, err2 := strconv.Atoi(fields[1])
			if err1 == nil && err2 == nil && n >= 0 && d > 0 {
				promised, dim = n, d
				continue
			}
		}
		if len(fields) < 2 {
			return nil, fmt.Errorf("line %d: want a word and its numbers", number)
		}
		if dim == 0 {
			dim = len(fields) - 1
		}
		if len(fields)-1 != dim {
			return nil, fmt.Errorf("line %d: %q has %d numbers: want %d, as in the lines before", number,
				fields[0], len(fields)-1, dim)
		}
		words = append(words, fields[0])
		for _, s := range fields[1:] {
			x, err := strconv.ParseFloat(s, 32)
			if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, fmt.Errorf("line %d: %q: %q is not a number", number, fields[0], s)
			}
			data = append(data, float32(x))
		}
	}
	if promised >= 0 && promised != len(words) {
		return nil, fmt.Errorf("%d words, but %d in the first line: the file may be truncated", len(words), promised)
	}
	if len(words) == 0 {
		return nil, errors.New("no vectors")
	}
	return New(words, dim, data)
}

func readBinary(in *bufio.Reader) (*Vectors, error) {
	line, err := in.ReadString('\n')
	if err != nil || len(line) > 100 {
		return nil, errors.New("not a word2vec file: want a first line with the numbers of words and dimensions")
	}
	var n, dim int
	if _, err := fmt.Sscanf(line, "%d %d\n", &n, &dim); err != nil || n < 1 || dim < 1 || n > limit || dim > 1<<20 {
		return nil, fmt.Errorf("first line %q: want the numbers of words and dimensions",
			strings.TrimSpace(line))
	}
	var words []string
	var data []float32
	buf := make([]byte, 4*dim)
	for i := range n {
		word, err := in.ReadString(' ')
		if err != nil {
			return nil, fmt.Errorf("word %d of %d is truncated", i+1, n)
		}
		word = strings.TrimLeft(strings.TrimSuffix(word, " "), "\n")
		if word == "" || len(word) > 10_000 {
			return nil, fmt.Errorf("word %d of %d is empty or too long", i+1, n)
		}
		if _, err := io.ReadFull(in, buf); err != nil {
			return nil, fmt.Errorf("the vector of word %d of %d is truncated", i+1, n)
		}
		words = append(words, word)
		for k := range dim {
			data = append(data, math.Float32frombits(binary.LittleEndian.Uint32(buf[4*k:])))
		}
	}
	return New(words, dim, data)
}
