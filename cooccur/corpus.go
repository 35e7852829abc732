package cooccur

import (
	"bytes"
	"errors"

	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/text"
)

// Corpus describes the corpus that a matrix was made from.
type Corpus struct {
	Words     uint64 `json:"words"`     // words of all documents; 0 means unknown
	Kept      uint64 `json:"kept"`      // words in the vocabulary, in which windows were formed
	Documents uint64 `json:"documents"` // 0 means unknown
	// Subsampled tells that occurrences of frequent words were removed; see Options.Subsample.
	Subsampled bool   `json:"subsampled,omitempty"`
	Analyzer   string `json:"analyzer"` // name of the analyzer; empty means unknown
}

func (c Corpus) numbers() []uint64 {
	list := []uint64{c.Words, c.Kept, c.Documents, 0}
	if c.Subsampled {
		list[3] = 1
	}
	return list
}

func readCorpus(f *sections.File) (c Corpus, err error) {
	var numbers []uint64
	var name []byte
	if err := view(f, "corpus", &numbers); err != nil {
		return c, err
	}
	if err := view(f, "analyzer", &name); err != nil {
		return c, err
	}
	if len(numbers) != 4 || numbers[0] > 0 && numbers[1] > numbers[0] || numbers[3] > 1 || len(name) > 1<<20 {
		return c, errors.New("corrupted: the counts of the corpus")
	}
	return Corpus{numbers[0], numbers[1], numbers[2], numbers[3] == 1, string(name)}, nil
}

// note describes how a matrix was made, as JSON in files of other programs' formats.
type note struct {
	Window    int    `json:"window"`
	Side      string `json:"side"`
	Weighting string `json:"weighting"`
	Values    string `json:"values"`
	Corpus
}

func newNote(opt Options, about Corpus) note {
	return note{opt.Window, opt.Side.String(), opt.Weighting.String(), opt.Values.String(), about}
}

// lines returns the words, each followed by a newline.
func (v *Vocabulary) lines() []byte {
	b := make([]byte, 0, len(v.arena)+v.Len())
	for id := range v.counts {
		b = append(append(b, v.Word(id)...), '\n')
	}
	return b
}

// analyzer returns the analyzer of a vocabulary whose file records a name. Since version 3 unicode
// makes typographic apostrophes plain, so a vocabulary that has one is of an older version.
func (v *Vocabulary) analyzer(name string) string {
	if bytes.Contains(v.arena, []byte("’")) {
		return text.Recorded(name, 2)
	}
	return name
}
