package weigh

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// writePairs puts what a method left into the file, as write does with a run.
func (s *spillFile) writePairs(p *gpuPairs) (*run, error) {
	w := bufio.NewWriterSize(io.NewOffsetWriter(s.f, s.size), 1<<20)
	out := &run{spilled: &spilled{f: s.f, from: s.size}}
	var buf []byte
	weight := int64(sampleEvery)
	var r pairReader
	for i := range p.ends {
		word := p.word(i)
		r.read(p, i)
		if weight >= sampleEvery {
			out.index = append(out.index, sample{append([]byte(nil), word...), s.size, weight})
			weight = 0
		}
		weight += int64(len(r.docs))
		buf = binary.AppendUvarint(buf[:0], uint64(len(word)))
		buf = append(buf, word...)
		buf = binary.AppendUvarint(buf, uint64(len(r.docs)))
		last := uint64(0)
		for k, d := range r.docs {
			doc, tf := uint64(d), uint64(r.tfs[k])
			if tf == 1 {
				buf = binary.AppendUvarint(buf, (doc-last)<<1)
			} else {
				buf = binary.AppendUvarint(buf, (doc-last)<<1|1)
				buf = binary.AppendUvarint(buf, tf)
			}
			last = doc
			if len(buf) > 1<<16 {
				if err := s.put(w, &buf); err != nil {
					return nil, err
				}
			}
		}
		if err := s.put(w, &buf); err != nil {
			return nil, err
		}
	}
	if err := w.Flush(); err != nil {
		return nil, fmt.Errorf("write temporary file: %w", err)
	}
	out.spilled.to = s.size
	return out, nil
}
