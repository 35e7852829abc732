package index

import "iter"

// TermsIn yields the dictionary entries of the words with the numbers [from, to), in order and
// without their texts. It reads each block of the dictionary once, where [Reader.Term] reads half
// of one for every word.
func (r *Reader) TermsIn(from, to int) iter.Seq2[Term, error] {
	return func(yield func(Term, error) bool) {
		if r.closed {
			yield(Term{}, ErrClosed)
			return
		}
		to = min(to, r.dict.terms)
		for id := max(from, 0); id < to; {
			b := id / termsPerBlock
			_, records, err := r.dict.block(b)
			if err != nil {
				yield(Term{}, err)
				return
			}
			c := recordCursor{r: records, next: b * termsPerBlock}
			c.start()
			c.skipTo(id)
			for end := min(to, b*termsPerBlock+r.dict.inBlock(b)); id < end; id++ {
				t := c.read()
				if c.r.bad {
					yield(Term{}, errDictionary)
					return
				}
				if err := r.dict.complete(&t); err != nil || !yield(t, err) {
					if err != nil {
						yield(Term{}, err)
					}
					return
				}
			}
		}
	}
}
