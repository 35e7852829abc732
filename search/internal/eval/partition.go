package eval

import (
	"fmt"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
)

// partitions describes how a query is partitioned for the workers of a team.
type partitions struct {
	kind   ask.Partition
	size   int  // of a partition, in documents or in postings of a list
	count  int  // number of partitions
	docs   int  // of the index
	slack  int  // documents by which an adjusted partition begins early
	shared bool // workers take ranges of documents from each other instead (shares)
}

func newPartitions(q *Query, p *ask.Parallel) partitions {
	out := partitions{kind: p.Partition, size: p.Size, docs: int(q.to), slack: p.Slack}
	longest := 0
	for _, l := range q.Lists {
		longest = max(longest, int(l.Term.DF))
	}
	all := longest
	if p.Partition == ask.Documents {
		all = out.docs
	}
	if out.size == 0 {
		n, least := ask.ThreadsOf(p)*partsEach, minPostings
		switch {
		case p.Partition == ask.Documents && p.Row == 0:
			n, least, out.shared = ask.ThreadsOf(p), minDocuments, true
		case p.Partition == ask.Documents:
			least = minDocuments
		case ask.CutsDocuments(p.Partition):
			n = lossyParts
		}
		out.size = max(least, (all+n-1)/n)
	}
	out.size = min(out.size, max(all, 1))
	out.count = (all + out.size - 1) / out.size
	return out
}

// enter prepares a worker's query for partition i. It returns whether the partition has postings.
func (p *partitions) enter(s *Engine, q *Query, i int) (bool, error) {
	switch p.kind {
	case ask.Documents:
		q.from = uint32(i * p.size)
		q.to = uint32(min((i+1)*p.size, p.docs))
		return true, nil
	case ask.Heterogeneous:
		var err error
		if q.from, err = p.begin(q, i); err != nil {
			return false, err
		}
		if q.to, err = p.begin(q, i+1); err != nil {
			return false, err
		}
		return q.from < q.to, nil
	}
	return p.enterPositions(s, q, i)
}

// begin returns the first document of heterogeneous partition i.
func (p *partitions) begin(q *Query, i int) (uint32, error) {
	switch i {
	case 0:
		return 0, nil
	case p.count:
		return uint32(p.docs), nil
	}
	last := uint32(0)
	for t, l := range q.Lists {
		d, err := l.docAt(min(i*p.size, int(l.Term.DF)) - 1)
		if err != nil {
			return 0, fmt.Errorf("word %q: %w", q.Terms[t].Text, err)
		}
		last = max(last, d)
	}
	return last + 1, nil
}

// enterPositions opens the lists afresh and leaves them with the postings of a homogeneous
// or adjusted partition.
func (p *partitions) enterPositions(s *Engine, q *Query, i int) (bool, error) {
	first := uint32(0)
	for t, l := range q.Lists {
		if err := l.open(s.Index, &q.Terms[t], l.Scorer, t); err != nil {
			return false, fmt.Errorf("word %q: %w", q.Terms[t].Text, err)
		}
		if p.kind == ask.Adjusted && i*p.size < int(l.Term.DF) {
			d, err := l.docAt(i * p.size)
			if err != nil {
				return false, fmt.Errorf("word %q: %w", q.Terms[t].Text, err)
			}
			first = max(first, d)
		}
	}
	first -= min(first, uint32(p.slack))
	q.from, q.to = index.End, 0
	for t, l := range q.Lists {
		at, n := i*p.size, min(p.size, int(l.Term.DF)-i*p.size)
		if n > 0 && p.kind == ask.Adjusted {
			at = max(at, l.position(first)) // no list goes back
		}
		from, to, err := l.restrict(at, n)
		if err != nil {
			return false, fmt.Errorf("word %q: %w", q.Terms[t].Text, err)
		}
		q.from, q.to = min(q.from, from), max(q.to, to)
	}
	return q.from < q.to, nil
}

// docAt returns the document of the posting at a position.
func (l *list) docAt(at int) (uint32, error) {
	b := at / index.BlockSize
	if at%index.BlockSize == index.BlockSize-1 {
		return l.Last[b], nil
	}
	var docs [index.BlockSize]uint32
	if l.DecodeDocs(b, &docs) <= at%index.BlockSize {
		return 0, l.Err()
	}
	return docs[at%index.BlockSize], nil
}

// position returns the position in the list of the first posting at or after doc.
func (l *list) position(doc uint32) int {
	b := l.FindBlock(0, doc)
	var docs [index.BlockSize]uint32
	n := l.DecodeDocs(b, &docs)
	return b*index.BlockSize + firstAtLeast(docs[:n], doc)
}

// restrict makes a freshly opened list one of at most n postings, from a position on, and returns
// the range of their documents.
func (l *list) restrict(at, n int) (from, to uint32, err error) {
	n = min(n, int(l.Term.DF)-at)
	if n <= 0 {
		l.Limit(0)
		return index.End, 0, nil
	}
	if from, err = l.docAt(at); err != nil {
		return 0, 0, err
	}
	last, err := l.docAt(at + n - 1)
	if err != nil {
		return 0, 0, err
	}
	l.cutOff = at > 0
	l.Limit(at + n)
	l.Seek(from)
	l.prime(at)
	return from, last + 1, l.Err()
}

// prime makes the windows of a freshly opened list begin at a position. If that is inside a block,
// the rest of the block is decoded here, so that windows do not see the postings before.
func (l *list) prime(at int) {
	b := &l.postings
	b.next = at / index.BlockSize
	skip := at % index.BlockSize
	if skip == 0 {
		return
	}
	var docs [index.BlockSize]uint32
	n := l.DecodeDocs(b.next, &docs)
	if n <= skip || l.DecodeTFs(b.next, &b.tfs) != n {
		return // damaged: l.Err says so
	}
	if cap(b.docs) < index.BlockSize {
		b.grow()
	}
	b.docs = append(b.docs[:0], docs[skip:n]...)
	b.scores = b.scores[:n-skip]
	l.batch(b.docs, b.tfs[skip:n], b.scores)
	b.next++
}
