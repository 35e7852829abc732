package cooccur

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
)

// GloVe's cooccurrence.bin has no header, and 16 bytes per entry, little endian:
//
//	int32 word1, int32 word2, float64 value
//
// IDs count from 1. Entries are sorted by word1, then word2; both triangles are stored. Row 0 with
// the value 2.5 in column 2 is 01000000 03000000 0000000000000440.
const recordSize = 16

// gloveEncoder encodes records directly in the writer's buffer, so that nothing is copied and a row
// of a million entries needs no extra memory.
type gloveEncoder struct{ w *bufio.Writer }

func (e *gloveEncoder) Rows(r *Rows) error {
	from := 0
	for i, end := range r.Ends {
		row := uint64(r.First + i + 1)
		for from < end {
			if e.w.Available() < recordSize {
				if err := e.w.Flush(); err != nil {
					return err
				}
			}
			n := min(end-from, e.w.Available()/recordSize)
			out := e.w.AvailableBuffer()[:recordSize*n]
			cols, values := r.Cols[from:from+n], r.Values[from:from+n]
			for k, c := range cols {
				b := out[recordSize*k:]
				binary.LittleEndian.PutUint64(b[:8], row|uint64(c+1)<<32)
				binary.LittleEndian.PutUint64(b[8:16], math.Float64bits(values[k]))
			}
			if _, err := e.w.Write(out); err != nil {
				return err
			}
			from += n
		}
	}
	return nil
}

func (e *gloveEncoder) close(Corpus) error { return nil }
func (e *gloveEncoder) abort()             {}

// Record is an entry of a cooccurrence.bin, with IDs from 0.
type Record struct {
	Row, Col uint32  // the words of row and column, by their IDs
	Value    float64 // value of their cell: as GloVe writes it, the sum of 1/distance
}

// ReadGloVe yields the records of a cooccurrence.bin, shuffled or not. An ID that is not positive
// is an error, and so is an incomplete record at the end.
func ReadGloVe(r io.Reader) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		br := bufio.NewReaderSize(r, 1<<16)
		var b [recordSize]byte
		for n := int64(0); ; n++ {
			_, err := io.ReadFull(br, b[:])
			if err == io.EOF {
				return
			}
			if errors.Is(err, io.ErrUnexpectedEOF) {
				err = fmt.Errorf("record %d is truncated: the size of a cooccurrence.bin is a multiple of %d bytes", n+1, recordSize)
			}
			row, col := int32(binary.LittleEndian.Uint32(b[:])), int32(binary.LittleEndian.Uint32(b[4:]))
			if err == nil && (row < 1 || col < 1) {
				err = fmt.Errorf("record %d: words %d and %d: want IDs from 1", n+1, row, col)
			}
			if err != nil {
				yield(Record{}, err)
				return
			}
			if !yield(Record{uint32(row - 1), uint32(col - 1),
				math.Float64frombits(binary.LittleEndian.Uint64(b[8:]))}, nil) {
				return
			}
		}
	}
}
