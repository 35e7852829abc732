package search

// lineRequest is a request that waits. Most say no more than this, and are half a line of memory.
type lineRequest struct {
	text string
	k    int32
	mode Mode
	rare *Request // all of it, if it says more
}

func asLine(r *Request) lineRequest {
	if len(r.Words) > 0 || r.Model != nil || r.Algorithm != Auto || r.Trace || r.Parallel != nil || r.K != int(int32(r.K)) {
		rare := *r
		return lineRequest{text: r.Text, k: int32(min(max(r.K, -1), MaxK+1)), mode: r.Mode, rare: &rare}
	}
	return lineRequest{text: r.Text, k: int32(r.K), mode: r.Mode}
}

func (r *lineRequest) algorithm() Algorithm {
	if r.rare != nil {
		return r.rare.Algorithm
	}
	return Auto
}

func (r *lineRequest) model() Model {
	if r.rare != nil {
		return r.rare.Model
	}
	return nil
}

// whole is the request as it was.
func (r *lineRequest) whole() Request {
	if r.rare != nil {
		return *r.rare
	}
	return Request{Text: r.text, K: int(r.k), Mode: r.mode}
}
