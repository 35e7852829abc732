package tree

import (
	"slices"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
)

// fewListed is how many documents the rarest obligatory word may have so that the answers are listed
// and scored one by one, whatever other words add or exclude.
const fewListed = 4096

// listed says whether to list the answers of a query of words: if one that few documents have is
// obligatory, and others are not or are excluded. Where all are obligatory the engines are faster,
// unless the answers are counted as well.
func (p *plan) listed(r *ask.Request) bool {
	if model.IsFielded(r.Model) || r.Trace || r.Algorithm != ask.Auto {
		return false
	}
	for _, root := range p.roots {
		least, others := -1, r.Count
		for _, n := range root.parts {
			switch {
			case !n.plainWord() || n.role == filter:
				return false
			case n.role == must:
				if df := int(n.terms[0].Info.DF); least < 0 || df < least {
					least = df
				}
			default:
				others = true
			}
		}
		if least < 0 || least > fewListed || !others {
			return false
		}
	}
	return true
}

// rankListed finds the k best answers by scoring all of them.
func (p *plan) rankListed(live []*docset.Set, k int, r *ask.Request) (*ask.Result, error) {
	if err := p.scorers(r.Model); err != nil {
		return nil, err
	}
	stats := p.stats()
	h := newRanking(min(k, max(1, p.docs())), stats.Words)
	p.counted = true
	for i, x := range p.parts {
		docs, err := x.list(p.roots[i], live[i])
		if err != nil {
			return nil, err
		}
		p.total += int64(len(docs))
		lists, _, err := x.sparseLists(p.roots[i])
		if err != nil {
			return nil, err
		}
		c := &candidates{docs: docs, margin: h.margin}
		if err := x.scoreAll(lists, c, h); err != nil {
			return nil, err
		}
	}
	return h.result(stats), nil
}

// list is the documents that have all obligatory words of a node and none that is excluded.
func (x *exec) list(root *node, live *docset.Set) ([]uint32, error) {
	wanted := slices.DeleteFunc(slices.Clone(root.parts), func(n *node) bool { return n.role != must })
	docs, err := x.together(byDF(wanted), live)
	var c index.Cursor
	for _, n := range root.parts {
		if err != nil || len(docs) == 0 {
			return nil, err
		}
		if n.role != not || n.terms[0].Info.DF == 0 {
			continue
		}
		if err = n.src.Index.OpenDocs(n.terms[0].Info, &c); err == nil {
			has := keepListed(slices.Clone(docs), &c)
			docs = slices.DeleteFunc(docs, func(doc uint32) bool {
				_, found := slices.BinarySearch(has, doc)
				return found
			})
			err = c.Err()
		}
	}
	return docs, err
}
