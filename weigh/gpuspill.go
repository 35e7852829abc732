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
	each := p.eachPosting()
	for i := range p.ends {
		word, lo, hi := p.word(i), p.first[i], p.first[i+1]
		if weight >= sampleEvery {
			out.index = append(out.index, sample{append([]byte(nil), word...), s.size, weight})
			weight = 0
		}
		weight += int64(hi - lo)
		buf = binary.AppendUvarint(buf[:0], uint64(len(word)))
		buf = append(buf, word...)
		buf = binary.AppendUvarint(buf, hi-lo)
		last := uint64(0)
		for k := lo; k < hi; k++ {
			doc, tf := each(k)
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

// eachPosting returns a function that gives posting k, for rising k.
func (p *gpuPairs) eachPosting() func(k uint64) (doc, tf uint64) {
	if p.posts != nil {
		return func(k uint64) (doc, tf uint64) { return p.posts[k] >> 32, p.posts[k] & (1<<32 - 1) }
	}
	large := p.large
	return func(k uint64) (doc, tf uint64) {
		if tf = uint64(p.small[k]); tf == 0 && len(large) > 0 {
			tf = large[0] & (1<<32 - 1)
			large = large[1:]
		}
		return uint64(p.docs[k]), tf
	}
}
