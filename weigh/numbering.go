package weigh

// numbering tells which documents of the corpus a run calls 0, 1, 2 and so on. They come in
// stretches that follow each other in both orders.
//
// A table of all documents would be looked up in no order that memory likes: unpacking a posting
// took 11% of a build of 10 million documents. This one has a 64th of its size.
type numbering struct {
	stretches []stretch
	at        []uint32 // by numberingStep documents of the run: the stretch that the first is in
	docs      uint32
	began     uint32 // the last stretch, at this document of the run
	short     bool   // more than one stretch may begin within numberingStep documents
}

// stretch is documents of a run that are number d+shift in the corpus, up to but not including
// number end.
type stretch struct{ end, shift uint32 }

const numberingStep = 64

// add appends documents of the corpus from number doc on.
func (n *numbering) add(doc, docs uint32) {
	if docs == 0 {
		return
	}
	shift := doc - n.docs
	n.docs += docs
	if last := len(n.stretches) - 1; last >= 0 && n.stretches[last].shift == shift {
		n.stretches[last].end = n.docs
	} else {
		if last >= 0 && n.stretches[last].end-n.began < numberingStep {
			n.short = true
		}
		n.began = n.docs - docs
		n.stretches = append(n.stretches, stretch{n.docs, shift})
	}
	for len(n.at)*numberingStep < int(n.docs) {
		n.at = append(n.at, uint32(len(n.stretches)-1))
	}
}

// of turns numbers of the run, ascending and all below n.docs, into those of the corpus.
func (n *numbering) of(docs []uint32) {
	for len(docs) > 0 {
		some := docs[:min(len(docs), groupLen)]
		n.ofSome(some)
		docs = docs[len(some):]
	}
}

func (n *numbering) ofSome(docs []uint32) {
	at, stretches := n.at, n.stretches
	first, last := docs[0], docs[len(docs)-1]
	s := at[first/numberingStep]
	for first >= stretches[s].end {
		s++
	}
	if now := stretches[s]; last < now.end {
		for i, d := range docs {
			docs[i] = d + now.shift
		}
		return
	}
	if n.short {
		for i, d := range docs {
			if d >= stretches[s].end {
				s = at[d/numberingStep]
				for d >= stretches[s].end {
					s++
				}
			}
			docs[i] = d + stretches[s].shift
		}
		return
	}
	// Documents of rare words change from stretch to stretch, and nothing can foresee when.
	for i, d := range docs {
		s := at[d/numberingStep]
		s += uint32((uint64(stretches[s].end) - uint64(d) - 1) >> 63) // 1 if d >= end, else 0
		docs[i] = d + stretches[s].shift
	}
}
