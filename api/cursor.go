package api

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"strings"

	"github.com/collocate/collocate/search"
)

// ErrIndexChanged is wrapped by the error of a cursor that comes from another index, or from the
// same one before documents were added or deleted. The order of its hits has changed, so that no
// page could follow without a gap.
var ErrIndexChanged = errors.New("the index has changed since that answer: begin again, without a cursor")

// cursor is the place after a page of hits. Clients get it as a text that they only send back.
type cursor struct {
	index    string // About.Index
	question uint64 // see order
	rank     int    // number of hits up to the place
	score    uint32 // bits of the last hit's score
	doc      int64
	key      *search.SortKey // of the last hit, if hits are sorted
}

// text returns the cursor for clients, in letters that need no escapes in a URL. Its bytes are the
// length of index and index, question, rank, score, doc and, unless it is nil, key as JSON.
func (c *cursor) text() string {
	b := make([]byte, 0, 64)
	b = append(binary.AppendUvarint(b, uint64(len(c.index))), c.index...)
	b = binary.LittleEndian.AppendUint64(b, c.question)
	b = binary.AppendUvarint(b, uint64(c.rank))
	b = binary.LittleEndian.AppendUint32(b, c.score)
	b = binary.AppendVarint(b, c.doc)
	if c.key != nil {
		key, _ := json.Marshal(c.key) // cannot fail
		b = append(b, key...)
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// parseCursor is the inverse of text.
func parseCursor(s string) (c cursor, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return c, false
	}
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) {
		return c, false
	}
	c.index, b = string(b[size:size+int(n)]), b[size+int(n):]
	if len(b) < 8 {
		return c, false
	}
	c.question, b = binary.LittleEndian.Uint64(b), b[8:]
	n, size = binary.Uvarint(b)
	if size <= 0 || n > math.MaxInt32 || len(b) < size+4 {
		return c, false
	}
	c.rank, c.score, b = int(n), binary.LittleEndian.Uint32(b[size:]), b[size+4:]
	if c.doc, size = binary.Varint(b); size <= 0 {
		return c, false
	}
	if b = b[size:]; len(b) == 0 {
		return c, true
	}
	return c, json.Unmarshal(b, &c.key) == nil && c.key != nil
}

// order returns a number for everything that the order of the hits depends on: the query, what it
// is limited to, the model, and the sort. How many are asked for, and what is shown of them, may
// change from page to page.
func (q *Search) order(r *search.Request) uint64 {
	h := fnv.New64a()
	for _, part := range []string{r.Text, q.Filter, q.Sort, q.Expand, q.Proximity} {
		io.WriteString(h, part)
		h.Write([]byte{0})
	}
	plain := byte(0)
	if q.Plain {
		plain = 1
	}
	h.Write([]byte{byte(q.Mode), plain})
	if r.Nearest != nil {
		near := *r.Nearest
		near.Filter = nil // q.Filter says it
		fmt.Fprintf(h, "%v", near)
	}
	if r.Model != nil && r.Model != search.Model(search.BM25{}) { // most have that, and fmt takes a while
		fmt.Fprintf(h, "%v", r.Model)
	}
	return h.Sum64()
}

// Resume prepares a request, whose query Ask has set, for cursors: it begins where After says, and
// its answer says where the next page begins. Requests that are answered once need no call of it.
func (q *Search) Resume(about *About, r *search.Request, d *Details) error {
	if d.next = (cursor{index: about.Index, question: q.order(r)}); r.Collapse != search.NoCollapse {
		d.next = cursor{}
		if q.After != "" {
			return wrongf("after", "documents of passages (collapse) have no cursors: use from")
		}
	}
	if q.After == "" {
		return nil
	}
	c, ok := parseCursor(q.After)
	switch {
	case !ok:
		return wrongf("after", "want the value of next in an earlier answer")
	case c.question != d.next.question || (c.key == nil) != (r.Sort == nil): // said first: nobody begins again with that
		return wrongf("after", "it is from another query: the query, its filter, the model and the sort must stay the same")
	case cut(c.index) != cut(about.Index):
		return wrongf("after", "it is from another server, and a whole index, its shards and their root number documents differently: send it where it came from")
	case c.index != about.Index:
		return &Error{Param: "after", Err: ErrIndexChanged}
	case q.From > 0:
		return wrongf("from", "want it or after, not both")
	}
	d.After = &search.After{Score: math.Float32frombits(c.score), Doc: c.doc}
	if c.key != nil {
		d.After.Key = *c.key
	}
	d.rank = c.rank
	if r.K == search.NoHits {
		return nil
	}
	// Searches for the best skip most documents, and so are faster unless the page is far down.
	if r.Sort == nil && c.rank+q.K <= about.most() {
		r.K, d.From, d.First = c.rank+q.K, c.rank, 0
		return nil
	}
	r.After, d.First = d.After, c.rank
	return nil
}

// cut returns the part of About.Index that says which of the documents of a whole index a server
// has: the number of shards, and that of a shard.
func cut(index string) string {
	_, part, _ := strings.Cut(index, "-in-")
	return part
}

// Next returns the cursor for the hits after one, which has a rank from 1, or "" if there are no
// cursors. key is nil unless hits are sorted.
func (d *Details) Next(h *Hit, key *search.SortKey) string {
	if d.next.index == "" {
		return ""
	}
	c := d.next
	c.rank, c.score, c.doc, c.key = h.Rank, math.Float32bits(h.Score), int64(h.Doc), key
	return c.text()
}
