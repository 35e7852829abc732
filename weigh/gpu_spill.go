package weigh

// writePairs puts what a method left into the file, as write does with a run.
func (s *spillFile) writePairs(p *gpuPairs) (*run, error) {
	w := s.newRun()
	var r pairReader
	for i := range p.ends {
		r.read(p, i)
		w.word(p.word(i), len(r.docs))
		for docs, tfs := r.docs, r.tfs; len(docs) > 0; {
			n := min(len(docs), groupLen)
			if err := w.group(docs[:n], tfs[:n], nil); err != nil {
				return nil, err
			}
			docs, tfs = docs[n:], tfs[n:]
		}
	}
	return w.finish()
}
