package cluster

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"strconv"
)

// Kinds of records.
const (
	kindWords   = 'v' // some words of a vocabulary
	kindCells   = 'c' // some cells of a block of rows
	kindClasses = 'p' // some classes of points
	kindFiles   = 'f' // a file of a part
	kindSpills  = 's' // records of a bucket, in a file
	end         = 'e' // the end of a stream
)

// endKey is the key of the last record of a stream: less than all others.
const endKey = -1

// record is one line of a stream.
type record struct {
	Kind    byte
	Key     int64
	Payload []byte // as text
}

// End is the last record of a stage's stream: what the stage read and wrote.
type End struct {
	Job     string `json:"job"`     // name of the job, as Job.String returns it
	Stage   string `json:"stage"`   // "map" or "reduce"
	Task    string `json:"task"`    // name of the task that ran the stage; no other has it
	Records uint64 `json:"records"` // number of records written, without ends
	Sum     Sum    `json:"sum"`     // checksum of the records written
	// ReadRecords and ReadSum are what a reduce read.
	ReadRecords uint64 `json:"read_records,omitempty"` // number of records, without ends
	ReadSum     Sum    `json:"read_sum,omitempty"`     // checksum of these records
	// Documents, Words, Kept and Share describe the part of the corpus that a map read.
	Documents int64 `json:"documents,omitempty"` // number of documents, or of points in job places
	Words     int64 `json:"words,omitempty"`     // all tokens
	Kept      int64 `json:"kept,omitempty"`      // tokens in the vocabulary; only in job cooccur
	Share
	// Map is set by maps of job places, whose documents are points.
	Map *PointMap `json:"map,omitempty"`
}

// Share lists the parts of the files that a map of words or pairs has read, if it knows.
type Share struct {
	Parts []int `json:"parts,omitempty"` // numbered from 0
	Of    int   `json:"of,omitempty"`    // number of parts; 0 means unknown
}

// Sum is a checksum of records that does not depend on their order.
type Sum uint64

var crcTable = crc64.MakeTable(crc64.ECMA)

func (s *Sum) add(line []byte) { *s += Sum(crc64.Checksum(line, crcTable)) }

// MarshalText returns 16 hexadecimal digits, because numbers in JSON have only 53 bits.
func (s Sum) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%016x", uint64(s)), nil }

// UnmarshalText is the inverse of MarshalText.
func (s *Sum) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 64)
	*s = Sum(n)
	return err
}

// writer writes records and, at the end, a summary of them.
type writer struct {
	out  *bufio.Writer
	line []byte
	end  End

	spill  *spillWriter          // if not nil, records go there
	bucket func(key int64) int64 // bucket of a key
}

// newWriter returns the writer of a stage's stream.
func newWriter(w io.Writer, job, stage, task string) *writer {
	return &writer{out: bufio.NewWriterSize(w, 1<<16), end: End{Job: job, Stage: stage, Task: task}}
}

// Write writes a record whose payload is the base64 of raw.
func (w *writer) Write(kind byte, key int64, raw []byte) error {
	if w.spill != nil {
		return w.spill.write(w.bucket(key), key, raw)
	}
	return w.writeLine(kind, key, raw)
}

func (w *writer) writeLine(kind byte, key int64, raw []byte) error {
	w.line = appendHead(w.line[:0], kind, key)
	w.line = base64.RawStdEncoding.AppendEncode(w.line, raw)
	w.end.Records++
	w.end.Sum.add(w.line)
	return w.put()
}

func appendHead(line []byte, kind byte, key int64) []byte {
	line = append(line, kind, '\t')
	line = strconv.AppendInt(line, key, 10)
	return append(line, '\t')
}

func (w *writer) put() error {
	w.line = append(w.line, '\n')
	_, err := w.out.Write(w.line)
	return err
}

// pass copies the last record of another stream.
func (w *writer) pass(e *End) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	w.line = append(appendHead(w.line[:0], end, endKey), text...)
	return w.put()
}

// Close writes the last record of the stream.
func (w *writer) Close() error {
	if err := w.closeSpill(); err != nil {
		return err
	}
	return errors.Join(w.pass(&w.end), w.out.Flush())
}

// reader reads records.
type reader struct {
	in      *bufio.Reader
	name    string
	number  int // of the current line
	long    []byte
	Records uint64
	Sum     Sum
	Ends    []End // last records that were read
}

// newReader reads a stream; name is for errors.
func newReader(r io.Reader, name string) *reader {
	return &reader{in: bufio.NewReaderSize(r, 1<<18), name: name}
}

// Next returns the next record other than an end, and io.EOF after the last. It is valid until the
// next call.
func (r *reader) Next() (record, error) {
	for {
		line, err := r.line()
		if err != nil {
			return record{}, err
		}
		one, err := parseRecord(line)
		if err != nil {
			return record{}, r.fault(err)
		}
		if one.Kind != end {
			r.Records++
			r.Sum.add(line)
			return one, nil
		}
		var e End
		in := json.NewDecoder(bytes.NewReader(one.Payload))
		in.DisallowUnknownFields()
		if err := in.Decode(&e); err != nil || in.More() || one.Key != endKey {
			return record{}, r.fault(fmt.Errorf("malformed last record of a stream: %.100q", line))
		}
		r.Ends = append(r.Ends, e)
	}
}

func (r *reader) fault(err error) error { return fmt.Errorf("%s:%d: %w", r.name, r.number, err) }

// line reads a line without its newline.
func (r *reader) line() ([]byte, error) {
	line, err := r.in.ReadSlice('\n')
	r.number++
	if errors.Is(err, bufio.ErrBufferFull) {
		r.long = append(r.long[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = r.in.ReadSlice('\n')
			r.long = append(r.long, line...)
		}
		line = r.long
	}
	switch {
	case err == nil:
		return line[:len(line)-1], nil
	case errors.Is(err, io.EOF) && len(line) > 0:
		return nil, r.fault(errors.New("the last line is cut off"))
	}
	return nil, err
}

// parseRecord parses a line.
func parseRecord(line []byte) (record, error) {
	kind, rest, ok1 := bytes.Cut(line, []byte{'\t'})
	key, payload, ok2 := bytes.Cut(rest, []byte{'\t'})
	number, err := strconv.ParseInt(string(key), 10, 64)
	switch {
	case !ok1 || !ok2 || len(kind) != 1 || err != nil || bytes.IndexByte(payload, '\t') >= 0:
		return record{}, fmt.Errorf("want a kind, a key and a payload, separated by tabs, got %.100q", line)
	case strconv.FormatInt(number, 10) != string(key): // +1, 01
		return record{}, fmt.Errorf("key %q: want a whole number", key)
	}
	switch kind[0] {
	case kindWords, kindCells, kindClasses, kindFiles, kindSpills:
		if number < 0 {
			return record{}, fmt.Errorf("key %d of a record of kind %c: want 0 or more", number, kind[0])
		}
	case end:
	default:
		return record{}, fmt.Errorf("unknown kind %q: want one of %c%c%c%c%c%c",
			kind, kindWords, kindCells, kindClasses, kindFiles, kindSpills, end)
	}
	return record{kind[0], number, payload}, nil
}

// raw decodes a payload.
func (r *record) raw(dst []byte) ([]byte, error) {
	dst, err := base64.RawStdEncoding.Strict().AppendDecode(dst[:0], r.Payload)
	if err != nil {
		return nil, fmt.Errorf("payload of key %d: %w", r.Key, err)
	}
	return dst, nil
}
