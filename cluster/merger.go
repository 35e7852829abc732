package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// stream is one of several streams of records that are merged in ascending order of keys.
type stream interface {
	step() error                  // reads the next record
	head() (kind byte, key int64) // of the current record; kind 0 after the last
	raw() ([]byte, error)         // payload of the current record, valid until the next step
	fault(err error) error        // adds the position to an error
}

// lineStream is a stream of lines.
type lineStream struct {
	r      *reader
	job    Job
	now    record
	buffer []byte
}

func (s *lineStream) head() (byte, int64) { return s.now.Kind, s.now.Key }

func (s *lineStream) raw() (raw []byte, err error) {
	s.buffer, err = s.now.raw(s.buffer)
	return s.buffer, err
}

func (s *lineStream) fault(err error) error { return s.r.fault(err) }

func (s *lineStream) step() error {
	last := s.now.Key
	now, err := s.r.Next()
	switch {
	case errors.Is(err, io.EOF):
		s.now = record{}
		return nil
	case err != nil:
		return err
	case now.Kind != s.job.kind() && now.Kind != kindSpills:
		return s.fault(fmt.Errorf("a record of kind %c, which job %s does not have", now.Kind, s.job))
	case now.Key < last:
		return s.fault(fmt.Errorf("key %d comes after %d: want records in ascending order of keys", now.Key, last))
	}
	s.now = now
	return nil
}

// merger merges streams of records in ascending order of keys.
type merger struct {
	job     Job
	streams []stream
	spill   *Spill           // folder of the files that records s name, or nil
	passed  func(*End) error // called with the last record of each stream
	bucket  int64            // key of the records s whose files are being merged
}

// each calls fn with the sum of all records of each key.
func (m *merger) each(ctx context.Context, fn func(key int64, a *adder) error) error {
	next := int64(0)
	rising := func(key int64, a *adder) error {
		if key < next {
			return fmt.Errorf("key %d comes after %d: want buckets in ascending order of keys", key, next-1)
		}
		next = key + 1
		return fn(key, a)
	}
	var a adder
	err := eachKey(ctx, m.streams, func(kind byte, key int64, same []stream) error {
		if kind != kindSpills {
			return a.sum(kind, key, same, rising)
		}
		m.bucket = key
		ranges, err := m.open(key, same)
		if err != nil {
			return err
		}
		return eachKey(ctx, ranges, func(kind byte, key int64, same []stream) error {
			return a.sum(kind, key, same, rising)
		})
	})
	if err != nil {
		return err
	}
	for _, s := range m.streams {
		if lines, ok := s.(*lineStream); ok {
			for i := range lines.r.Ends {
				if err := m.passed(&lines.r.Ends[i]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// open opens the ranges that the records s of a key name, and skips these records.
func (m *merger) open(key int64, from []stream) (ranges []stream, err error) {
	for _, s := range from {
		for kind, at := s.head(); kind == kindSpills && at == key; kind, at = s.head() {
			raw, err := s.raw()
			if err != nil {
				return nil, s.fault(err)
			}
			r, err := parseSpillRange(raw)
			if err != nil {
				return nil, s.fault(err)
			}
			if m.spill == nil {
				return nil, s.fault(errors.New("records are in files: name their folder (cluster.Spill)"))
			}
			ranges = append(ranges, &rangeStream{spill: m.spill, kind: m.job.kind(), spillRange: r, left: r.Bytes})
			if err := s.step(); err != nil {
				return nil, err
			}
		}
	}
	for _, r := range ranges {
		r.(*rangeStream).share(len(ranges))
	}
	return ranges, nil
}

// eachKey calls fn with the streams that are at the smallest key, until all have ended. fn skips
// the records of that kind and key. Streams are few, so a linear search finds the smallest key.
func eachKey(ctx context.Context, streams []stream, fn func(kind byte, key int64, same []stream) error) error {
	for _, s := range streams {
		if err := s.step(); err != nil {
			return err
		}
	}
	same := make([]stream, 0, len(streams))
	for n := 0; ; n++ {
		if n%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		kind, least := byte(0), int64(0)
		same = same[:0]
		for _, s := range streams {
			k, key := s.head()
			switch {
			case k == 0 || kind != 0 && key > least:
			case kind != 0 && key == least:
				if k != kind {
					return s.fault(fmt.Errorf("records of kinds %c and %c have the same key %d", kind, k, key))
				}
				same = append(same, s)
			default:
				kind, least, same = k, key, append(same[:0], s)
			}
		}
		if kind == 0 {
			return nil
		}
		if err := fn(kind, least, same); err != nil {
			return err
		}
	}
}
