package eval

import (
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
)

// exhaustive evaluates every posting of every list, document at a time. It is the definition of the
// result, with which the other algorithms are compared.
func exhaustive(q *Query) error {
	q.start()
	need := 1
	if q.Mode == ask.And {
		need = len(q.Lists)
	}
	for {
		doc, has := uint32(index.End), 0
		for _, l := range q.Lists {
			if d := l.Doc(); d < doc {
				doc, has = d, 1
			} else if d == doc {
				has++
			}
		}
		if doc >= q.to {
			return nil
		}
		if has >= need {
			q.push(doc, q.scoreAt(doc))
		}
		for _, l := range q.Lists {
			if l.Doc() == doc && l.Next() <= doc {
				return errChanged
			}
		}
		if err := q.tick(); err != nil {
			return err
		}
	}
}
