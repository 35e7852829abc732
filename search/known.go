package search

import (
	"hash/maphash"
	"sync/atomic"

	"github.com/collocate/collocate/index"
)

// knownWords remembers what the index said of words. The words of one query come again in others, and looking them up in the dictionary is a
// third of the time of a short AND query. A word takes the place of another that falls on it.
type knownWords struct {
	seed  maphash.Seed
	words [1 << 14]atomic.Pointer[knownWord]
}

type knownWord struct {
	text string
	info index.Term // DF is 0 if the index does not have it
}

// longestKnown keeps what is remembered below some megabytes.
const longestKnown = 64

func newKnownWords() *knownWords { return &knownWords{seed: maphash.MakeSeed()} }

// find looks a word up.
func (k *knownWords) find(r *index.Reader, word []byte) (*knownWord, error) {
	place := &k.words[maphash.Bytes(k.seed, word)%uint64(len(k.words))]
	if w := place.Load(); w != nil && w.text == string(word) {
		return w, nil
	}
	info, err := r.Lookup(word)
	if err != nil {
		return nil, err
	}
	w := &knownWord{string(word), info}
	if len(word) <= longestKnown {
		place.Store(w)
	}
	return w, nil
}
