package columns

import (
	"bytes"
	"errors"
	"fmt"
	"math"
)

// Check returns an error if the columns break a rule of the format. Checksums must have been
// verified before.
func (s *Set) Check() error {
	for i, c := range s.columns {
		if err := c.check(); err != nil {
			return fmt.Errorf("column %s: %w", s.names[i], err)
		}
	}
	return nil
}

func (c *Column) check() error {
	switch c.kind {
	case kindKeyword, kindKeywords:
		return c.checkKeywords()
	}
	if tail := c.docs % 64; len(c.has) > 0 && tail > 0 && c.has[len(c.has)-1]>>tail != 0 {
		return errors.New("corrupted: documents beyond the last have values")
	}
	for d := range c.docs {
		set := isSet(c.has, d)
		switch c.kind {
		case kindFloats:
			if v := c.floats[d]; math.IsNaN(v) || math.IsInf(v, 0) || !set && v != 0 {
				return fmt.Errorf("corrupted: document %d has the value %v", d, v)
			}
		case kindPoints:
			lat, lon := c.ints.at(d), c.lon.at(d)
			if set && (lat < -90e7 || lat > 90e7 || lon < -180e7 || lon > 180e7) {
				return fmt.Errorf("corrupted: document %d has the point %d,%d", d, lat, lon)
			}
			if !set && c.lon.packed.at(d) != 0 {
				return fmt.Errorf("corrupted: document %d has only one coordinate", d)
			}
			fallthrough
		case kindIntegers:
			if !set && c.ints.packed.at(d) != 0 {
				return fmt.Errorf("corrupted: document %d has a value and is marked as having none", d)
			}
		}
	}
	return nil
}

func (c *Column) checkKeywords() error {
	w := wordReader{c: c}
	var last []byte
	for w.ord < c.distinct {
		if !w.next() {
			return errWords
		}
		if w.ord > 1 && bytes.Compare(w.word, last) <= 0 {
			return fmt.Errorf("corrupted: keyword %d, %q, comes after %q: not in byte order", w.ord-1, w.word, last)
		}
		last = append(last[:0], w.word...)
		if (w.ord%wordsPerBlock == 0 || w.ord == c.distinct) && len(w.rest) > 0 {
			return errors.New("corrupted: a block of keywords is too long")
		}
	}
	used := make([]bool, c.distinct)
	before := uint64(0)
	var ords []uint32
	for d := range c.docs {
		if c.kind == kindKeyword {
			if n := c.ords.at(d); n > uint64(c.distinct) {
				return fmt.Errorf("corrupted: document %d has keyword %d of %d", d, n, c.distinct)
			}
		} else {
			end := c.ends.at(d)
			if end < before || end > uint64(c.all) {
				return fmt.Errorf("corrupted: the keywords of document %d end at %d", d, end)
			}
			before = end
		}
		ords = c.Ords(d, ords[:0])
		for i, ord := range ords {
			if int(ord) >= c.distinct || i > 0 && ord <= ords[i-1] {
				return fmt.Errorf("corrupted: document %d has keyword %d of %d", d, ord, c.distinct)
			}
			used[ord] = true
		}
	}
	if c.kind == kindKeywords && before != uint64(c.all) {
		return fmt.Errorf("corrupted: %d keywords, want %d", before, c.all)
	}
	for ord, ok := range used {
		if !ok {
			return fmt.Errorf("corrupted: no document has keyword %d", ord)
		}
	}
	return nil
}
