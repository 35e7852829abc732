package serve

import (
	"context"
	"fmt"
	"net/http"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/fields"
)

// documentAnswer is a document with its stored text.
type documentAnswer struct {
	ID     string  `json:"id"`
	Doc    int     `json:"doc"`
	Length uint32  `json:"length"`         // in words
	Text   *string `json:"text,omitempty"` // if the index stores it
	// Fields are the stored fields that have a value.
	Fields map[string]any `json:"fields,omitempty"`
	SameID int            `json:"same_id,omitempty"` // number of documents with this ID, if several
}

// ofSeveral notes how many documents have the ID of the answer, which is the first of them.
func (a *documentAnswer) ofSeveral(n int) {
	if n > 1 {
		a.SameID = n
	}
}

// document shows what the index stores of the document with an ID.
func (x *exchange) document() {
	id, err := x.r.PathValue("id"), x.params().done()
	if err != nil {
		x.refuse(http.StatusBadRequest, err)
		return
	}
	if asked := x.r.Header.Get(shardHeader); asked != "" && asked != x.g.shard.key() {
		x.fail(http.StatusConflict, fmt.Errorf("the shard is %s, not %s", x.g.shard.key(), asked))
		return
	}
	var answer *documentAnswer
	err = x.work(shortLane, x.o.Limits.Time, func(ctx context.Context) error {
		if x.o.Root != nil {
			answer, err = x.documentInShards(ctx, id)
			return err
		}
		ix := x.g.s.Index()
		doc, found, err := ix.FindDoc(id)
		if err != nil || !found {
			return err
		}
		length, err := ix.Length(doc)
		if err != nil {
			return err
		}
		same, err := ix.CountID(id)
		if err != nil {
			return err
		}
		answer = &documentAnswer{ID: id, Doc: doc + int(x.g.shard.First), Length: length}
		answer.ofSeveral(same)
		if ix.HasText() {
			body, err := ix.Text(doc)
			if err != nil {
				return err
			}
			text := string(body)
			answer.Text = &text
		}
		if s := ix.Schema(); s != nil && s.Has(fields.IsStored) {
			values, err := ix.Stored(doc)
			if err != nil {
				return err
			}
			show, err := s.Shown(nil)
			if err != nil {
				return err
			}
			answer.Fields, _ = api.Stored(s, show, values)
		}
		return nil
	})
	switch {
	case err != nil:
		x.failed(err)
	case answer == nil:
		x.refuse(http.StatusNotFound, errNoDocument(id))
	default:
		x.reply(http.StatusOK, answer)
	}
}

func errNoDocument(id string) error { return absent{fmt.Errorf("no document %q", id), "document"} }
