package datagen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"

	"github.com/collocate/collocate/internal/given"
)

// TextOptions are the options of Text. At most one of Bytes, Tokens and Docs may be set; without
// any, there are 1000 documents.
type TextOptions struct {
	Bytes  int64 // exact number of bytes: the last document is cut after a word and padded with blanks
	Tokens int64 // exact number of words: the last document is cut
	Docs   int64 // number of documents, or of lines with Lines

	Seed    uint64 // of the random numbers: the same options and seed give the same text
	Threads int    // 0 means all cores; the text is the same for any number

	// Lines writes sentences, one per line, instead of documents separated by blank lines.
	Lines bool
	// Mu and Sigma are the parameters of the lognormal distribution of the number of
	// words of a document. Both 0: 6.0 and 1.1; with Lines 3.171 and 0.5, a mean of
	// 27. A document has at least one word and at most 2^20.
	Mu, Sigma float64
	// Law is the distribution of words; the zero value means Web, or News with Lines.
	Law Law
	// LongWords writes the words of LongWord instead of those of Word. Their lengths vary as in the
	// term weighting paper. They have 4.87 letters in the mean instead of 4.59, so that the paper's
	// numbers of words are those of MiB, as they are there, instead of MB.
	LongWords bool
}

const (
	maxDocWords = 1 << 20
	// shardWords is the mean number of words of a shard, about half a megabyte: enough to make
	// handing it over cheap, and small enough for many workers.
	shardWords = 100_000
	// wordSlot is the number of bytes that a copy of a frequent word writes; a word with its
	// separator has at most maxLength+1, a frequent one of LongWord 14.
	wordSlot = 16
)

// OptionError is an error in the options. Nothing was written.
type OptionError struct {
	Err error // says which option, and what was wanted
}

func (e *OptionError) Error() string { return e.Err.Error() }

// Unwrap returns the wrapped error.
func (e *OptionError) Unwrap() error { return e.Err }

func (o TextOptions) withDefaults() (TextOptions, error) {
	sizes := 0
	for _, n := range []int64{o.Bytes, o.Tokens, o.Docs} {
		if n < 0 {
			return o, fmt.Errorf("size %d of a text: want at least 0", n)
		}
		if n > 0 {
			sizes++
		}
	}
	switch {
	case sizes > 1:
		return o, errors.New("size of a text: want only one of bytes, tokens and documents")
	case sizes == 0:
		o.Docs = 1000
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Mu == 0 && o.Sigma == 0 {
		o.Mu, o.Sigma = 6.0, 1.1
		if o.Lines {
			o.Mu, o.Sigma = 3.171, 0.5
		}
	}
	if !(o.Mu >= 0 && o.Mu <= 13) || !(o.Sigma >= 0 && o.Sigma <= 5) {
		return o, fmt.Errorf("document lengths lognormal(%g, %g): want a mu of 0 to 13 and a sigma of 0 to 5", o.Mu, o.Sigma)
	}
	if o.Law == (Law{}) {
		o.Law = Web
		if o.Lines {
			o.Law = News
		}
	}
	return o, o.Law.check()
}

// Text writes a collection to w: words separated by one blank, each document on a line of its own,
// documents separated by a blank line (with Lines: no blank line). With the same options, a smaller
// collection is a prefix of a larger one, except for its last line.
func Text(ctx context.Context, w io.Writer, opts TextOptions) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	o, err := opts.withDefaults()
	if err != nil {
		return fmt.Errorf("generate text: %w", &OptionError{err})
	}
	mean := math.Exp(o.Mu + o.Sigma*o.Sigma/2)
	docs := int(min(max(shardWords/mean, 1), 8192))
	words := newWriter(o)
	c := cutter{left: o.Bytes + o.Tokens + o.Docs, tokens: o.Tokens > 0, docs: o.Docs > 0,
		shardDocs: int64(docs)}
	err = writeShards(ctx, w, o.Threads, -1,
		func(buf []byte, i int64) []byte {
			return words.appendDocuments(buf, stream(o.Seed, forDocuments, uint64(i)), docs)
		},
		c.cut)
	if err != nil {
		return fmt.Errorf("generate text: %w", err)
	}
	return nil
}

// wordWriter generates documents from random numbers.
type wordWriter struct {
	sampler   *sampler
	words     *lexicon
	longest   int // letters of a word
	frequent  [1 << singleBits]slot
	mu, sigma float64
	end       string // replaces the last blank of a document
}

// slot is a frequent word followed by a blank.
type slot struct {
	text [wordSlot]byte
	n    int
}

func newWriter(o TextOptions) *wordWriter {
	w := &wordWriter{sampler: newSampler(o.Law), words: shortWords, longest: maxLength,
		mu: o.Mu, sigma: o.Sigma, end: "\n\n"}
	if o.Lines {
		w.end = "\n"
	}
	if o.LongWords {
		w.words, w.longest = longWords, maxLong
	}
	for rank := range w.frequent {
		s := &w.frequent[rank]
		s.n = len(append(w.words.appendWord(s.text[:0], int64(rank)), ' '))
	}
	return w
}

func (w *wordWriter) appendDocuments(buf []byte, rng *rand.PCG, docs int) []byte {
	normal := rand.New(rng)
	for range docs {
		length := math.Exp(w.mu + float64(w.sigma*normal.NormFloat64()))
		n := int(min(max(math.Round(length), 1), maxDocWords))
		buf = w.appendWords(buf, rng, n)
		buf = append(buf[:len(buf)-1], w.end...)
	}
	return buf
}

// appendWords appends n words, each followed by a blank.
func (w *wordWriter) appendWords(buf []byte, rng *rand.PCG, n int) []byte {
	if need := len(buf) + n*(w.longest+1) + wordSlot; need > cap(buf) {
		grown := make([]byte, len(buf), need+need/2)
		copy(grown, buf)
		buf = grown
	}
	at, room := len(buf), buf[:cap(buf)]
	for range n {
		rank := w.sampler.draw(rng)
		if rank < int64(len(w.frequent)) {
			s := &w.frequent[rank]
			*(*[wordSlot]byte)(room[at:]) = s.text // the next word overwrites what follows the blank
			at += s.n
			continue
		}
		at = len(w.words.appendWord(room[:at], rank))
		room[at] = ' '
		at++
	}
	return room[:at]
}

// cutter ends the text at the requested size.
type cutter struct {
	left         int64 // remaining bytes, tokens or documents
	tokens, docs bool  // the unit of left; bytes if neither
	shardDocs    int64
}

func (c *cutter) cut(data []byte) (part []byte, more bool) {
	size := int64(len(data))
	switch {
	case c.docs:
		size = c.shardDocs
	case c.tokens: // a document has one blank less than words
		size = int64(bytes.Count(data, []byte{' '})) + c.shardDocs
	}
	if size < c.left {
		c.left -= size
		return data, true
	}
	if !c.docs && !c.tokens {
		return fitBytes(data[:c.left]), false
	}
	return append(data[:c.findEnd(data)], '\n'), false
}

// findEnd returns the end of the last word.
func (c *cutter) findEnd(data []byte) int {
	for i, b := range data {
		ends := b == '\n' || b == ' ' && c.tokens
		if ends && i > 0 && data[i-1] > ' ' {
			if c.left--; c.left == 0 {
				return i
			}
		}
	}
	return len(data)
}

// fitBytes replaces a cut word at the end of data by blanks and a newline.
func fitBytes(data []byte) []byte {
	last := max(bytes.LastIndexByte(data, ' '), bytes.LastIndexByte(data, '\n'), 0)
	for last > 0 && data[last-1] <= ' ' {
		last--
	}
	for i := last; i < len(data)-1; i++ {
		data[i] = ' '
	}
	data[len(data)-1] = '\n'
	return data
}
