package serve

import (
	"context"
	"fmt"
	"net/http"

	"github.com/collocate/collocate/api"
)

// documentAnswer is a document with its stored text.
type documentAnswer = api.Document

// document shows what the index stores of the document with an ID.
func (x *exchange) document() {
	id := x.r.PathValue("id")
	if asked := x.r.Header.Get(shardHeader); asked != "" && asked != x.g.shard.key() {
		x.fail(http.StatusConflict, fmt.Errorf("the shard is %s, not %s", x.g.shard.key(), asked))
		return
	}
	ask := api.Show{}
	if err := x.asked(api.ShowQuestion, &ask); err != nil {
		x.refuse(refusedAs(err), err)
		return
	}
	ask.ID = id
	var answer *documentAnswer
	err := x.work(shortLane, x.o.Limits.Time, func(ctx context.Context) (err error) {
		if x.o.Root != nil {
			answer, err = x.documentInShards(ctx, id)
			return err
		}
		answer, err = ask.Do(x.g.s.Index())
		if answer != nil {
			answer.Doc += int(x.g.shard.First)
		}
		return err
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
