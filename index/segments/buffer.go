package segments

import (
	"fmt"
	"iter"
	"slices"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/text"
)

// buffer is documents in memory that will be a segment. Documents that were deleted again stay in
// the lists until then.
type buffer struct {
	analyzer text.Analyzer
	keepText bool
	places   bool // positions are kept
	words    map[string]int32
	lists    []wordList
	docs     []bufferDoc
	byID     map[string]uint32 // the document that has an ID
	alive    int
	bytes    int64 // about what it takes
	tokens   text.Tokens
}

type wordList struct {
	word      string
	docs, tfs []uint32
	places    []uint32 // of all occurrences, if they are kept
}

type bufferDoc struct {
	id     string
	length uint32
	text   []byte
	gone   bool
}

func newBuffer(a text.Analyzer, keepText, places bool) *buffer {
	return &buffer{analyzer: a, keepText: keepText, places: places, words: map[string]int32{}, byID: map[string]uint32{}}
}

// Bytes that are counted for what maps and slices take beside what they hold.
const (
	bytesPerWord    = 120
	bytesPerDoc     = 150
	bytesPerPosting = 16 // lists grow by doubling
)

func (b *buffer) add(d text.Document) error {
	if err := b.analyzer.Analyze(d.Text, &b.tokens); err != nil {
		return fmt.Errorf("document %q: %w", d.ID, err)
	}
	b.remove(d.ID)
	n := uint32(len(b.docs))
	for i := range b.tokens.Words {
		word := b.tokens.Word(i)
		at, ok := b.words[string(word)]
		if !ok {
			at = int32(len(b.lists))
			b.lists = append(b.lists, wordList{word: string(word)})
			b.words[b.lists[at].word] = at
			b.bytes += int64(len(word)) + bytesPerWord
		}
		l := &b.lists[at]
		if b.places {
			l.places = append(l.places, uint32(i))
			b.bytes += bytesPerPosting / 2
		}
		if k := len(l.docs); k > 0 && l.docs[k-1] == n {
			l.tfs[k-1]++
			continue
		}
		l.docs, l.tfs = append(l.docs, n), append(l.tfs, 1)
		b.bytes += bytesPerPosting
	}
	doc := bufferDoc{id: d.ID, length: uint32(len(b.tokens.Words))}
	if b.keepText {
		doc.text = slices.Clone(d.Text)
	}
	b.docs = append(b.docs, doc)
	b.byID[d.ID] = n
	b.alive++
	b.bytes += int64(len(d.ID)+len(doc.text)) + bytesPerDoc
	return nil
}

// remove deletes a document, if it is there.
func (b *buffer) remove(id string) bool {
	d, ok := b.byID[id]
	if ok {
		b.docs[d].gone = true
		b.alive--
		delete(b.byID, id)
	}
	return ok
}

// write writes the documents that are left as an index.
func (b *buffer) write(dir string) error {
	w, err := index.Create(dir)
	if err != nil {
		return err
	}
	defer w.Abort()
	place, kept := make([]uint32, len(b.docs)), make([]int, 0, b.alive)
	lengths := make([]uint32, 0, b.alive)
	for d := range b.docs {
		if place[d] = uint32(len(kept)); !b.docs[d].gone {
			kept = append(kept, d)
			lengths = append(lengths, b.docs[d].length)
		}
	}
	err = w.SetDocuments(index.Documents{
		Analyzer: b.analyzer.Name(), Lengths: lengths, ID: func(d int) string { return b.docs[kept[d]].id }, Positions: b.places,
	})
	if err != nil {
		return err
	}
	if b.keepText {
		if err := w.StoreTexts(b.texts(kept)); err != nil {
			return err
		}
	}
	slices.SortFunc(b.lists, func(x, y wordList) int {
		if x.word < y.word {
			return -1
		}
		return 1 // no two are equal
	})
	for _, l := range b.lists {
		n, from, to := 0, 0, 0
		for i, d := range l.docs {
			tf := int(l.tfs[i])
			if !b.docs[d].gone {
				l.docs[n], l.tfs[n] = place[d], l.tfs[i]
				n++
				if b.places {
					to += copy(l.places[to:], l.places[from:from+tf])
				}
			}
			from += tf
		}
		if b.places {
			err = w.AddPositions([]byte(l.word), l.docs[:n], l.tfs[:n], l.places[:to])
		} else {
			err = w.Add([]byte(l.word), l.docs[:n], l.tfs[:n])
		}
		if err != nil {
			return err
		}
	}
	return w.Commit()
}

func (b *buffer) texts(docs []int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, d := range docs {
			if !yield(b.docs[d].text) {
				return
			}
		}
	}
}
