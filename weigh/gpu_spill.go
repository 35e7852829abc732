package weigh

// writePairs writes the result of a method to the file, as write does for a run. It is no method of
// spillFile: importers that hold an Inversion would compile the types of its parameters.
func writePairs(s *spillFile, p *gpuPairs) (*run, error) {
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
