package cooccur

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// scored is an encoder that writes a measure of association instead of sums. That needs the sums of
// all rows and columns, so the matrix is kept in a temporary file until it is complete. Cells whose
// measure is 0, as most are with PPMI, are left out.
//
// The temporary file has, for each row, the number of its entries as uint32 and then 12 bytes for
// each: column, value.
type scored struct {
	encoder // encoder of the file format
	by      Measure
	kept    *int64

	file    *os.File
	out     *bufio.Writer
	rowSums []float64
	colSums []float64
	total   float64
	buf     []byte
}

func newScored(to encoder, words int, by Measure, dir string, kept *int64) (*scored, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	f, err := os.CreateTemp(dir, ".collocate-matrix-*")
	if err != nil {
		return nil, fmt.Errorf("keep the matrix until its sums are known: %w", err)
	}
	return &scored{encoder: to, by: by, kept: kept, file: f, out: bufio.NewWriterSize(f, 1<<20),
		rowSums: make([]float64, 0, words), colSums: make([]float64, words)}, nil
}

// Rows implements Sink. It stores the rows in the temporary file and adds them to the sums.
func (s *scored) Rows(r *Rows) error {
	for i := range r.Ends {
		cols, values := r.Row(i)
		s.buf = binary.LittleEndian.AppendUint32(s.buf[:0], uint32(len(cols)))
		sum := 0.0
		for k, c := range cols {
			sum += values[k]
			s.colSums[c] += values[k]
			s.buf = binary.LittleEndian.AppendUint32(s.buf, c)
			s.buf = binary.LittleEndian.AppendUint64(s.buf, math.Float64bits(values[k]))
		}
		s.rowSums = append(s.rowSums, sum)
		s.total += sum
		if _, err := s.out.Write(s.buf); err != nil {
			return err
		}
	}
	return nil
}

// close reads the rows again and writes the measures of their cells.
func (s *scored) close(about Corpus) error {
	defer s.remove()
	if err := s.out.Flush(); err != nil {
		return err
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	in := bufio.NewReaderSize(s.file, 1<<20)
	row := Rows{Ends: []int{0}}
	for id := range s.rowSums {
		var head [4]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return fmt.Errorf("read the matrix again: %w", err)
		}
		n := int(binary.LittleEndian.Uint32(head[:]))
		row.First, row.Cols, row.Values = id, row.Cols[:0], row.Values[:0]
		for range n {
			var cell [12]byte
			if _, err := io.ReadFull(in, cell[:]); err != nil {
				return fmt.Errorf("read the matrix again: %w", err)
			}
			c := binary.LittleEndian.Uint32(cell[:])
			v := s.by.score(math.Float64frombits(binary.LittleEndian.Uint64(cell[4:])),
				s.rowSums[id], s.colSums[c], s.total)
			if v != 0 {
				row.Cols, row.Values = append(row.Cols, c), append(row.Values, v)
			}
		}
		row.Ends[0] = len(row.Cols)
		*s.kept += int64(len(row.Cols))
		if err := s.encoder.Rows(&row); err != nil {
			return err
		}
	}
	return s.encoder.close(about)
}

func (s *scored) abort() {
	s.remove()
	s.encoder.abort()
}

func (s *scored) remove() {
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name())
		s.file = nil
	}
}

// scores returns an error if a matrix of a measure cannot be written in a format.
func scores(format Format, by Measure) error {
	if err := measureNames.Check(by); err != nil {
		return err
	}
	if by != ByValue && format == CSR {
		return errors.New("a .cooc file holds sums: use another format for a matrix of a measure, or Reader.Neighbours and Reader.Pair")
	}
	return nil
}
