package datagen

import (
	"bytes"
	"context"
	"math"
	"os"
	"testing"
)

// census counts the sizes that the term weighting paper gives for its test data.
type census struct {
	words, docs, pairs, letters int64
	lastDoc                     map[string]*int64 // the document in which a word was last seen
	rest                        []byte            // the beginning of a word that a write split
	atNewline                   bool
}

func (c *census) Write(p []byte) (int, error) {
	for b := p; ; {
		i := bytes.IndexAny(b, " \n")
		if i < 0 {
			c.rest = append(c.rest, b...)
			return len(p), nil
		}
		word := b[:i]
		if len(c.rest) > 0 {
			c.rest = append(c.rest, word...)
			word = c.rest
		}
		if len(word) > 0 {
			if c.atNewline || c.words == 0 {
				c.docs++
			}
			c.words++
			c.letters += int64(len(word))
			last := c.lastDoc[string(word)]
			if last == nil {
				last = new(int64)
				c.lastDoc[string(word)] = last
			}
			if *last != c.docs {
				*last = c.docs
				c.pairs++
			}
			c.atNewline = false
		}
		c.atNewline = c.atNewline || b[i] == '\n'
		c.rest = c.rest[:0]
		b = b[i+1:]
	}
}

// paperTable describes the test data of the term weighting paper: size in 100 MB, words, documents,
// pairs of word and document, distinct words.
var paperTable = [][5]int64{
	{1, 17_881_505, 24_411, 11_029_756, 447_663},
	{2, 35_767_202, 48_725, 22_074_419, 687_255},
	{3, 53_651_412, 73_163, 33_119_396, 882_477},
	{4, 71_532_437, 97_683, 44_123_823, 1_051_534},
	{5, 89_409_102, 122_178, 55_165_752, 1_203_716},
}

// Generated text has about the sizes of the paper's. The text of 100 MB is the beginning of that of
// 500 MB, so one run checks all: FULL_TABLE=1 go test -run Table -v ./datagen
func TestTheTableOfThePaper(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 100 MB")
	}
	rows := paperTable[:1]
	if os.Getenv("FULL_TABLE") != "" {
		rows = paperTable
	}
	c := &census{lastDoc: map[string]*int64{}}
	size := int64(0)
	w := writerFunc(func(p []byte) (int, error) {
		all := len(p)
		for len(p) > 0 && len(rows) > 0 {
			n := min(int64(len(p)), rows[0][0]*1e8-size)
			c.Write(p[:n])
			p = p[n:]
			if size += n; size == rows[0][0]*1e8 {
				got := [5]int64{rows[0][0], c.words, c.docs, c.pairs, int64(len(c.lastDoc))}
				t.Logf("%d00 MB: %d words of %.3f letters, %d documents, %d pairs, %d distinct words", got[0], got[1],
					float64(c.letters)/float64(c.words), got[2], got[3], got[4])
				for i, what := range []string{"", "words", "documents", "pairs", "distinct words"} {
					ratio := float64(got[i]) / float64(rows[0][i])
					t.Logf("    %-15s %.3f of the paper's", what, ratio)
					if math.Abs(ratio-1) > 0.05 {
						t.Errorf("%d00 MB: %d %s, the paper has %d", got[0], got[i], what, rows[0][i])
					}
				}
				rows = rows[1:]
			}
		}
		return all, nil
	})
	if err := Text(context.Background(), w, TextOptions{Bytes: rows[len(rows)-1][0] * 1e8, Seed: 1}); err != nil {
		t.Fatal(err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
