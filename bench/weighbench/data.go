// Package weighbench repeats the papers' measurements of term weights and dictionaries: all methods
// on texts of 100 to 500 MB, with word frequencies fitted to theirs, from CPU memory to CPU memory,
// and the times of the steps.
package weighbench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"

	"github.com/collocate/collocate/datagen"
	"github.com/collocate/collocate/dict"
	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/weigh"
)

// TextFile writes a text with the papers' word frequencies to a file in dir.
func TextFile(ctx context.Context, dir string, size int64, threads int) (path string, err error) {
	return textFile(ctx, dir, size, threads, false)
}

// textFile is TextFile, on request with words whose lengths vary as the papers'.
func textFile(ctx context.Context, dir string, size int64, threads int, long bool) (path string, err error) {
	path = filepath.Join(dir, fmt.Sprintf("%d.txt", size))
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	err = datagen.Text(ctx, f, datagen.TextOptions{Bytes: size, Seed: 1, Threads: threads,
		LongWords: long})
	return path, errors.Join(err, f.Close())
}

// text writes the text of one size to a file.
func (o *Options) text(ctx context.Context, dir string, size int64) (string, error) {
	if o.Frequencies != nil {
		return o.Frequencies.textFile(ctx, dir, size)
	}
	return textFile(ctx, dir, size, o.Threads, true)
}

// textFile writes a text of about size bytes whose words have these frequencies, in documents of
// the papers' lengths.
func (r *Ranked) textFile(ctx context.Context, dir string, size int64) (path string, err error) {
	path = filepath.Join(dir, fmt.Sprintf("%d.txt", size))
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	rng := rand.New(rand.NewPCG(uint64(size), 1))
	sums, total := make([]float64, r.Len()), 0.0
	for i := range sums {
		total += r.weight(i)
		sums[i] = total
	}
	for n := int64(0); n < size && err == nil; err = ctx.Err() {
		length := max(1, int(math.Exp(6+1.1*rng.NormFloat64())))
		for i := range length {
			word := r.words[min(sort.SearchFloat64s(sums, rng.Float64()*total), r.Len()-1)]
			if n += int64(len(word)) + 1; n >= size {
				break
			}
			if i > 0 {
				w.WriteByte(' ')
			}
			w.WriteString(word)
		}
		w.WriteString("\n\n")
		n++
	}
	return path, errors.Join(err, w.Flush(), f.Close())
}

// Corpus returns the documents of a file of TextFile.
func Corpus(path string) *text.Corpus {
	return &text.Corpus{Paths: []string{path}, Options: text.Options{Format: text.Blank}}
}

// Analyzer returns the analyzer for such files.
func Analyzer() (text.Analyzer, error) { return text.ParseAnalyzer("whitespace") }

// DictionaryOf builds a dictionary of every n-th distinct word of a corpus.
func DictionaryOf(ctx context.Context, w *weigh.Weights, kind dict.Kind, every int) (*dict.File, error) {
	words := &dict.Words{}
	i, left := 0, 0
	for x, err := range w.Terms(ctx) {
		if err != nil {
			return nil, err
		}
		if left == 0 {
			left = x.DF
			if i%every == 0 {
				if err := words.Add(x.Word); err != nil {
					return nil, err
				}
			}
			i++
		}
		left -= len(x.Docs)
	}
	return build(ctx, words, kind)
}

func build(ctx context.Context, w *dict.Words, k dict.Kind) (*dict.File, error) {
	var b bytes.Buffer
	if err := dict.Build(ctx, w, dict.Options{Kind: k, Memory: 64e9}, &b); err != nil {
		return nil, err
	}
	return dict.Parse(b.Bytes())
}

// Words returns the n most frequent words of package datagen, in byte order.
func Words(n int) (*dict.Words, error) {
	var all bytes.Buffer
	all.Grow(10 * n)
	for r := range n {
		all.WriteString(datagen.Word(int64(r)))
		all.WriteByte('\n')
	}
	return dict.ReadWords(&all)
}

// Folder calls f with a temporary folder, which it removes afterwards.
func Folder(f func(dir string) error) error {
	dir, err := os.MkdirTemp("", "collocate-bench-*")
	if err != nil {
		return err
	}
	return errors.Join(f(dir), os.RemoveAll(dir))
}
