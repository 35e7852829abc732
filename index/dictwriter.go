package index

import (
	"encoding/binary"
	"errors"

	"github.com/collocate/collocate/internal/scratch"
)

// MaxWord is the maximum length of a word in bytes.
const MaxWord = 1 << 20

// dictWriter writes the dictionary, one block at a time.
type dictWriter struct {
	out             *outFile
	n               int // words in the current block
	words, records  []byte
	previous        []byte
	at              uint64 // bytes of blob so far
	postings, skips uint64
	starts, prefix  scratch.Numbers
	full            *scratch.Numbers // counts before pruning or of the whole collection, or nil
	buf             []byte
}

func newDictWriter(out *outFile, tempDir string) *dictWriter {
	return &dictWriter{out: out, starts: scratch.Numbers{Dir: tempDir}, prefix: scratch.Numbers{Dir: tempDir}}
}

// keepFull prepares for words whose counts differ from those of their lists; addFull writes them.
func (d *dictWriter) keepFull() { d.full = &scratch.Numbers{Dir: d.starts.Dir} }

// addFull writes the counts of word id before pruning, or in the whole collection.
func (d *dictWriter) addFull(id uint64, t Term) error {
	return errors.Join(d.full.Add(id), d.full.Add(uint64(t.FullDF())), d.full.Add(t.CF))
}

func (d *dictWriter) add(word []byte, t Term) error {
	if d.n == 0 {
		if err := errors.Join(d.starts.Add(d.at), d.prefix.Add(prefixOf(word))); err != nil {
			return err
		}
		d.previous = d.previous[:0]
		d.records = appendUvarints(d.records[:0], d.postings, d.skips)
	}
	d.words = appendFrontCoded(d.words, d.previous, word)
	d.previous = append(d.previous[:0], word...)
	d.records = appendUvarints(d.records, uint64(t.DF), t.CF-uint64(t.DF))
	if t.DF == 1 {
		d.records = binary.AppendUvarint(d.records, uint64(t.inlineDoc))
	} else {
		d.records = binary.AppendUvarint(d.records, t.postingsLen)
		d.postings += t.postingsLen
		d.skips += skipBytes(t.DF)
	}
	if d.n++; d.n == termsPerBlock {
		return d.flush()
	}
	return nil
}

func (d *dictWriter) flush() error {
	d.buf = binary.AppendUvarint(d.buf[:0], uint64(len(d.words)))
	d.buf = append(append(d.buf, d.words...), d.records...)
	d.at += uint64(len(d.buf))
	d.n, d.words = 0, d.words[:0]
	_, err := d.out.Write(d.buf)
	return err
}

func (d *dictWriter) finish() error {
	if d.n > 0 {
		if err := d.flush(); err != nil {
			return err
		}
	}
	err := errors.Join(
		d.starts.Add(d.at),
		d.starts.Copy(d.out.Writer, "starts"),
		d.prefix.Copy(d.out.Writer, "prefixes"),
	)
	if err == nil && d.full != nil {
		err = d.full.Copy(d.out.Writer, "full")
	}
	if err != nil {
		return err
	}
	return d.out.commit()
}

func (d *dictWriter) abort() {
	d.starts.Close()
	d.prefix.Close()
	if d.full != nil {
		d.full.Close()
	}
	d.out.f.Abort()
}
