package device

import (
	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/model"
)

// ringRequest is a waiting request. Most have no other fields set and so take half a cache line.
type ringRequest struct {
	text string
	k    int32
	mode ask.Mode
	rare *ask.Request // the full request, if other fields are set
}

func asRing(r *ask.Request) ringRequest {
	if len(r.Words) > 0 || r.Model != nil || r.Algorithm != ask.Auto || r.Trace ||
		r.Parallel != nil || r.Within != nil || r.IsTree() || r.K != int(int32(r.K)) {
		rare := *r
		k := int32(min(max(r.K, -1), ask.MaxK+1))
		return ringRequest{text: r.Text, k: k, mode: r.Mode, rare: &rare}
	}
	return ringRequest{text: r.Text, k: int32(r.K), mode: r.Mode}
}

// wanted returns the number of answers.
func (r *ringRequest) wanted() int {
	if r.k == 0 {
		return 10
	}
	return int(r.k)
}

func (r *ringRequest) algorithm() ask.Algorithm {
	if r.rare != nil {
		return r.rare.Algorithm
	}
	return ask.Auto
}

func (r *ringRequest) model() model.Model {
	if r.rare != nil {
		return r.rare.Model
	}
	return nil
}

// limit returns the documents to which the request is limited; nil: all.
func (r *ringRequest) limit() *ask.Within {
	if r.rare == nil {
		return nil
	}
	return r.rare.Within
}

// within returns the documents of a segment to which the request is limited, as Index.within.
func (r *ringRequest) within(g *Index) (*docset.Set, bool) {
	return g.within(r.limit())
}

// whole returns the original request.
func (r *ringRequest) whole() ask.Request {
	if r.rare != nil {
		return *r.rare
	}
	return ask.Request{Text: r.text, K: int(r.k), Mode: r.mode}
}
