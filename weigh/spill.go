package weigh

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"os"
	"slices"

	"github.com/collocate/collocate/internal/disk"
)

// spillFile is a temporary file that holds the runs of one worker, one after the other. It is
// unnamed, so that nothing is left behind however the program ends.
type spillFile struct {
	f    *disk.File
	size int64
	buf  []byte // write buffer, kept for the next run
}

func newSpillFile(dir string) (*spillFile, error) {
	f, err := disk.Temp(dir)
	if err != nil {
		return nil, err
	}
	return &spillFile{f: f}, nil
}

// spilled locates a run in a spill file. A word is its length as varint, its bytes, and the number
// of its postings as varint. Its postings follow in groups of up to groupLen. A group has three
// bytes: the number of postings less 1, the number of those with tf > 1, and the width in bytes of
// the largest gap. Then come the gaps, each in that many bytes, little endian; then, for each
// posting with tf > 1, its position in the group as a byte and tf as varint. A gap is the
// difference to the previous document, or to 0. Example: "ab" in documents 3 (once) and 5 (4 times)
// is 02 61 62 02, 01 01 01, 03 02, 01 04. With positions, each group is followed by the position
// gaps of all occurrences as varints.
//
// Varints for document gaps took more than twice the CPU time, because their lengths are
// unpredictable.
type spilled struct {
	f        *os.File
	from, to int64
}

const (
	groupLen = 128
	// groupGaps is the number of position gaps at which a group ends: they are read together.
	groupGaps = 512

	groupHead  = 3
	groupBytes = groupHead + groupLen*(4+1+binary.MaxVarintLen32) // at most
)

// write moves a run to the file.
func (s *spillFile) write(r *run) (*run, error) {
	w := s.newRun()
	for i := range r.len() {
		w.word(r.word(i), int(r.first[i+1]-r.first[i]))
		if r.gapsFirst != nil {
			if err := w.placed(r, i); err != nil {
				return nil, err
			}
			continue
		}
		for at := r.first[i]; at < r.first[i+1]; at += groupLen {
			if err := w.packed(r, at, min(at+groupLen, r.first[i+1])); err != nil {
				return nil, err
			}
		}
	}
	return w.finish()
}

// placed writes the postings of word i of a run, with positions.
func (w *runWriter) placed(r *run, i int) error {
	var docs, tfs [groupLen]uint32
	at, end, rest := r.first[i], r.first[i+1], r.gaps[r.gapsFirst[i]:r.gapsFirst[i+1]]
	for at < end {
		n := int(min(end-at, groupLen))
		r.unpack(at, docs[:n], tfs[:n])
		occurrences := 0
		for k, tf := range tfs[:n] {
			if occurrences += int(tf); occurrences >= groupGaps {
				n = k + 1
				break
			}
		}
		w.places, rest = takeGaps(w.places[:0], rest, occurrences)
		if err := w.group(docs[:n], tfs[:n], w.places); err != nil {
			return err
		}
		at += uint32(n)
	}
	return nil
}

// runWriter writes one run at the end of the file, word by word.
type runWriter struct {
	s      *spillFile
	out    *run
	buf    []byte // not yet in the file
	weight int64  // postings since the last sample
	last   uint32 // the word's last document

	// Buffers for the group being written.
	gaps   [groupLen]uint32 // document gaps
	many   [groupLen]uint8  // the postings with tf > 1
	places []uint32         // position gaps
}

const spillWrite = 1 << 20

// newRun begins a run at the end of the file. The previous run must be finished.
func (s *spillFile) newRun() *runWriter {
	return &runWriter{
		s: s, buf: s.buf[:0], weight: sampleEvery,
		out: &run{spilled: &spilled{f: s.f.File, from: s.size}},
	}
}

// word begins a word that has n postings.
func (w *runWriter) word(word []byte, n int) {
	if w.weight >= sampleEvery {
		at := w.s.size + int64(len(w.buf))
		w.out.index = append(w.out.index, sample{append([]byte(nil), word...), at, w.weight})
		w.weight = 0
	}
	w.weight += int64(n)
	w.buf = binary.AppendUvarint(w.buf, uint64(len(word)))
	w.buf = append(w.buf, word...)
	w.buf = binary.AppendUvarint(w.buf, uint64(n))
	w.last = 0
}

// group writes up to groupLen postings of the word, followed by their position gaps, if any, in
// places.
func (w *runWriter) group(docs, tfs, places []uint32) error {
	tfs = tfs[:len(docs)]
	gaps, all, last, many := w.gaps[:len(docs)], uint32(0), w.last, 0
	for i, d := range docs {
		gaps[i] = d - last
		all |= d - last
		last = d
		w.many[many&(groupLen-1)] = uint8(i)
		many += above1(tfs[i])
	}
	w.last = last
	if err := w.putGaps(gaps, all, many); err != nil {
		return err
	}
	b := w.buf
	for _, i := range w.many[:many] {
		b = binary.AppendUvarint(append(b, i), uint64(tfs[i]))
	}
	for _, p := range places {
		b = binary.AppendUvarint(b, uint64(p))
	}
	w.buf = b
	return nil
}

// above1 returns 1 if tf > 1 and 0 otherwise, without a branch.
func above1(tf uint32) int { return int((1 - uint64(tf)) >> 63) }

// packed is like group, for the postings [at, end) of a run in memory. It reads them in their
// packed form, which saves unpacking them first.
func (w *runWriter) packed(r *run, at, end uint32) error {
	post := r.post[at:end]
	gaps, all, last, many := w.gaps[:len(post)], uint32(0), w.last, 0
	for i, p := range post {
		gap := p>>8 - last
		gaps[i] = gap
		all |= gap
		last = p >> 8
		w.many[many&(groupLen-1)] = uint8(i)
		many += above1(p & bigCount)
	}
	w.last = last
	if err := w.putGaps(gaps, all, many); err != nil {
		return err
	}
	b := w.buf
	for _, i := range w.many[:many] {
		tf := post[i] & bigCount
		if tf == bigCount {
			tf = r.bigTF(at + uint32(i))
		}
		b = binary.AppendUvarint(append(b, i), uint64(tf))
	}
	w.buf = b
	return nil
}

// putGaps writes the header of a group and its gaps. The argument all is the OR of the gaps, and
// many the number of postings with tf > 1, for which it reserves space.
func (w *runWriter) putGaps(gaps []uint32, all uint32, many int) error {
	if len(w.buf) > spillWrite {
		if err := w.flush(); err != nil {
			return err
		}
	}
	width := max(1, (bits.Len32(all)+7)/8)
	b := append(slices.Grow(w.buf, groupBytes), uint8(len(gaps)-1), uint8(many), uint8(width))
	room := b[len(b) : len(b)+4*groupLen]
	switch width {
	case 1:
		for i, gap := range gaps {
			room[i] = uint8(gap)
		}
	case 2:
		for i, gap := range gaps {
			binary.LittleEndian.PutUint16(room[2*i:], uint16(gap))
		}
	case 3:
		for i, gap := range gaps {
			binary.LittleEndian.PutUint32(room[3*i:], gap) // the next one overwrites the last byte
		}
	case 4:
		for i, gap := range gaps {
			binary.LittleEndian.PutUint32(room[4*i:], gap)
		}
	}
	w.buf = b[:len(b)+width*len(gaps)]
	return nil
}

func (w *runWriter) flush() error {
	n, err := w.s.f.WriteAt(w.buf, w.s.size)
	w.s.size += int64(n)
	w.buf = w.buf[:0]
	if err != nil {
		return fmt.Errorf("write temporary file: %w", err)
	}
	return nil
}

// finish completes the run and returns it.
func (w *runWriter) finish() (*run, error) {
	err := w.flush()
	w.s.buf = w.buf
	w.out.spilled.to = w.s.size
	return w.out, err
}

// spillReader reads a part of a spill file with a buffer of its own.
type spillReader struct {
	f        *os.File
	off, end int64
	size     int // size of the buffer
	buf      []byte
	rest     []byte // unread part of buf
}

// The largest useful buffer of a cursor, and the smallest allowed one.
const (
	spillBuffer    = 1 << 17
	minSpillBuffer = 1 << 12
)

var errSpill = errors.New("read temporary file: it has changed")

// need makes at least n bytes available in rest, or all bytes that are left.
func (s *spillReader) need(n int) error {
	if len(s.rest) >= n || s.off == s.end {
		return nil
	}
	if n > cap(s.buf) {
		size := min(int64(max(s.size, n)), int64(len(s.rest))+s.end-s.off)
		s.buf = append(make([]byte, 0, size), s.rest...)
		s.rest = s.buf
	}
	had := copy(s.buf[:cap(s.buf)], s.rest)
	s.buf = s.buf[:cap(s.buf)]
	more := s.buf[had:min(int64(len(s.buf)), int64(had)+s.end-s.off)]
	if _, err := s.f.ReadAt(more, s.off); err != nil {
		return fmt.Errorf("read temporary file: %w", err)
	}
	s.off += int64(len(more))
	s.rest = s.buf[:had+len(more)]
	return nil
}

func (s *spillReader) uvarint() (uint64, error) {
	if len(s.rest) < binary.MaxVarintLen64 {
		if err := s.need(binary.MaxVarintLen64); err != nil {
			return 0, err
		}
	}
	v, n := binary.Uvarint(s.rest)
	if n <= 0 {
		return 0, errSpill
	}
	s.rest = s.rest[n:]
	return v, nil
}

// bytes returns the next size bytes, valid until the next call.
func (s *spillReader) bytes(size uint64) ([]byte, error) {
	if size > uint64(s.end) {
		return nil, errSpill
	}
	n := int(size)
	if err := s.need(n); err != nil {
		return nil, err
	}
	if len(s.rest) < n {
		return nil, errSpill
	}
	b := s.rest[:n]
	s.rest = s.rest[n:]
	return b, nil
}
