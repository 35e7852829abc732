package collocate

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/collocate/collocate/search"
)

// ErrChanged is wrapped by the error of a Request.After that comes from another index, or from this
// one before a commit that changed documents: the order of the hits may be another now.
var ErrChanged = errors.New("the index has changed since that answer: begin again, without After")

// cursor is a place in the order of the answers to a question. Programs get it as a text.
type cursor struct {
	Index    string       `json:"i"`
	Question uint32       `json:"q"` // see Request.question
	After    search.After `json:"a"`
}

// Next returns what Request.After takes to go on after the last hit. It needs no escapes in a URL,
// and is "" if there were fewer hits than Request.K: no others follow.
func (r *Result) Next() string {
	if r.index == "" {
		return ""
	}
	c := cursor{r.index, r.asked.question(), r.last}
	b, _ := json.Marshal(c) // cannot fail: scores are finite
	return base64.RawURLEncoding.EncodeToString(b)
}

// question is a number for what the order of the hits depends on.
func (r *Request) question() uint32 {
	h := crc32.NewIEEE()
	fmt.Fprintf(h, "%q %q %v %v", r.text(), r.Filter, r.All, r.Model)
	if r.Synonyms != nil {
		fmt.Fprintf(h, " %q", r.Synonyms)
	}
	if r.Sort != nil {
		fmt.Fprintf(h, " %+v", *r.Sort)
	}
	if r.Nearest != nil {
		near := *r.Nearest
		near.Filter = nil
		fmt.Fprintf(h, " %+v %v", near, r.Nearest.Filter)
	}
	for _, b := range r.Boosts {
		fmt.Fprintf(h, " %q %q %v %v", b.Name, b.Fields, b.Weight, b.Add)
	}
	return h.Sum32()
}

// resume returns the place where After says to go on.
func (r *Request) resume(s *search.Searcher) (*search.After, error) {
	var c cursor
	b, err := base64.RawURLEncoding.DecodeString(r.After)
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: After: want what Next of an earlier answer returned", search.ErrRequest)
	case r.From > 0:
		return nil, fmt.Errorf("%w: both After and From: give one", search.ErrRequest)
	case c.Question != r.question():
		return nil, fmt.Errorf("%w: After: it is from another query, filter, vector, model, sort, boost or synonyms", search.ErrRequest)
	case c.Index != s.Index().Identity():
		return nil, fmt.Errorf("%w: After: %w", search.ErrRequest, ErrChanged)
	}
	return &c.After, nil
}
