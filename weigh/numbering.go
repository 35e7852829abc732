package weigh

import "math/bits"

// numbering maps the document numbers of a run, 0, 1, 2 and so on, to those of the corpus. The
// documents form stretches that are consecutive in both.
//
// A table of all documents would be accessed at random: with it, the lookups took 11% of a build of
// 10 million documents. This table has an entry for each step of 1<<step documents. Stretches are
// pieces of text, with thousands of short documents, so it is small enough for the L1 cache. With
// steps of 64 documents it took more than twice the time for rare words.
type numbering struct {
	stretches []stretch
	docs      uint32
	at        []uint32 // by step: the stretch of its first document
	step      uint8    // 1<<step documents
	short     bool     // more than one stretch may begin within a step
}

// stretch is a range of documents d of a run, up to but not including end, whose numbers in the
// corpus are d+shift.
type stretch struct{ end, shift uint32 }

// Steps are as long as the shortest stretch, within these bounds.
const (
	shortestStep = 6
	longestStep  = 12
)

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
		n.stretches = append(n.stretches, stretch{n.docs, shift})
	}
}

// finish makes the table, once all documents are added.
func (n *numbering) finish() {
	// The lengths of the first and the last stretch do not matter.
	shortest := uint32(1) << longestStep
	for i := 1; i+1 < len(n.stretches); i++ {
		shortest = min(shortest, n.stretches[i].end-n.stretches[i-1].end)
	}
	n.step = uint8(max(shortestStep, bits.Len32(shortest)-1))
	n.short = shortest>>n.step == 0
	n.at = make([]uint32, 0, n.docs>>n.step+1)
	s := uint32(0)
	for doc := uint64(0); doc < uint64(n.docs); doc += 1 << n.step {
		for doc >= uint64(n.stretches[s].end) {
			s++
		}
		n.at = append(n.at, s)
	}
}

// of replaces document numbers of the run, ascending and all below n.docs, by those of the corpus.
func (n *numbering) of(docs []uint32) {
	for len(docs) > 0 {
		some := docs[:min(len(docs), groupLen)]
		n.ofSome(some)
		docs = docs[len(some):]
	}
}

func (n *numbering) ofSome(docs []uint32) {
	at, stretches, step := n.at, n.stretches, n.step&31
	first, last := docs[0], docs[len(docs)-1]
	s := at[first>>step]
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
				s = at[d>>step]
				for d >= stretches[s].end {
					s++
				}
			}
			docs[i] = d + stretches[s].shift
		}
		return
	}
	// When the documents of a rare word change stretches is unpredictable, so there is no branch.
	for i, d := range docs {
		s := at[d>>step]
		s += uint32((uint64(stretches[s].end) - uint64(d) - 1) >> 63) // 1 if d >= end, else 0
		docs[i] = d + stretches[s].shift
	}
}
