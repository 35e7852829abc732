package serve

import (
	"strings"
	"testing"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/search"
)

// An answer fits a shard up to its first and its last document, and not one further. With the wrong
// documents, or too many, it is an error that says what is wrong.
func TestAnswersThatFitAShard(t *testing.T) {
	mine := &shardAbout{Number: 1, Of: 3, First: 10, Documents: 4, Numbers: 5, Whole: "w", WholeDocs: 20}
	hits := func(docs ...uint32) (list []api.Hit) {
		for _, doc := range docs {
			list = append(list, api.Hit{Doc: doc})
		}
		return list
	}
	var three shardAsk
	three.Ask.K = 3
	details := shardAsk{Docs: []uint32{12, 11}}
	bags := shardAsk{Docs: []uint32{12}, Bags: true}
	for _, c := range []struct {
		ask    shardAsk
		answer shardAnswer
		want   string
	}{
		{three, shardAnswer{Documents: 4}, ""},
		{three, shardAnswer{Documents: 4, Hits: hits(14, 10, 12)}, ""},
		{three, shardAnswer{Documents: 5}, "it answers for 5 documents, but has 4"},
		{three, shardAnswer{Documents: 4, Hits: hits(9)}, "document 9, but has 10 to 14"},
		{three, shardAnswer{Documents: 4, Hits: hits(10, 15)}, "document 15, but has 10 to 14"},
		{three, shardAnswer{Documents: 4, Hits: hits(12, 10, 12)}, "document 12 twice"},
		{three, shardAnswer{Documents: 4, Hits: hits(10, 11, 12, 13)}, "4 hits, want 3"},
		{three, shardAnswer{Documents: 4, Facets: make([]search.FacetCounts, 1)}, "1 facets, want 0"},
		{details, shardAnswer{Documents: 4, Hits: hits(12, 11)}, ""},
		{details, shardAnswer{Documents: 4, Hits: hits(11, 12)}, "it describes document 11, not 12"},
		{details, shardAnswer{Documents: 4, Hits: hits(12)}, "1 hits, want 2"},
		{bags, shardAnswer{Documents: 4}, "not answered with the words of 1 documents"},
	} {
		err := c.answer.fits(&c.ask, mine)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.answer, err, c.want)
		}
	}
}

// Shards are apart if they share no document; neighbours have none between them.
func TestShardsThatAreApart(t *testing.T) {
	shard := func(number int, first uint32, docs int) *shardAbout {
		return &shardAbout{Number: number, Of: 3, First: first, Documents: docs, Numbers: docs, Whole: "w",
			WholeDocs: 30}
	}
	for _, c := range []struct {
		a, b *shardAbout
		want bool
	}{
		{shard(0, 0, 10), shard(1, 10, 10), true},
		{shard(0, 0, 10), shard(1, 9, 10), false},  // share one
		{shard(0, 0, 10), shard(1, 11, 10), false}, // leave one out
		{shard(0, 0, 10), shard(2, 20, 10), true},
		{shard(0, 0, 10), shard(2, 10, 10), true}, // with an empty one between
		{shard(0, 0, 11), shard(2, 10, 10), false},
	} {
		if c.a.apart(c.b) != c.want || c.b.apart(c.a) != c.want {
			t.Errorf("%v and %v: want apart %v", c.a, c.b, c.want)
		}
	}
}
