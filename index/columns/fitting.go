package columns

import (
	"bytes"
	"fmt"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/internal/mmap"
)

// Fitting returns the documents that have a keyword with the given prefix for which fits is true.
// It reads all keywords with the prefix, and ends with the error of more, which it asks from time
// to time.
func (c *Column) Fitting(prefix string, fits func(word []byte) bool, more func() error) (set *docset.Set, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if c.field.Type != fields.Keyword {
		return nil, c.wrong(fmt.Errorf("a %s field has no patterns", c.field.Type))
	}
	first, _, err := c.Find(prefix)
	if err != nil {
		return nil, err
	}
	chosen := make([]uint64, (c.distinct+63)/64)
	w := wordReader{c: c, ord: first - first%wordsPerBlock}
	for w.ord < c.distinct {
		if w.ord%wordsPerBlock == 0 {
			if err := c.verifyBlock(w.ord/wordsPerBlock, c.file.Touch); err != nil {
				return nil, err
			}
			if err := more(); err != nil {
				return nil, err
			}
		}
		ord := w.ord
		if !w.next() {
			return nil, errWords
		}
		if ord < first {
			continue
		}
		if !bytes.HasPrefix(w.word, []byte(prefix)) {
			break
		}
		if fits(w.word) {
			chosen[ord/64] |= 1 << (ord % 64)
		}
	}
	if err := c.recheckDocs(); err != nil {
		return nil, err
	}
	set = docset.New(c.docs)
	var ords []uint32
	for doc := range c.docs {
		ords = c.Ords(doc, ords[:0])
		for _, ord := range ords {
			if int(ord) < c.distinct && chosen[ord/64]>>(ord%64)&1 != 0 {
				set.Add(uint32(doc))
				break
			}
		}
	}
	return set, nil
}
