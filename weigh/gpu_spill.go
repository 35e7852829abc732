package weigh

// writePairs puts what a method left into the file, as write does with a run.
func (s *spillFile) writePairs(p *gpuPairs) (*run, error) {
	w := s.newRun()
	var r pairReader
	for i := range p.ends {
		r.read(p, i)
		w.word(p.word(i), len(r.docs))
		for k, doc := range r.docs {
			if err := w.posting(uint64(doc), uint64(r.tfs[k])); err != nil {
				return nil, err
			}
		}
		if err := w.flush(); err != nil {
			return nil, err
		}
	}
	return w.finish()
}
