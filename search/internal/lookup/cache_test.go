package lookup

import (
	"strings"
	"testing"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search/internal/searchtest"
)

// Words that share a set of the cache evict each other, and long words are not cached, but every
// lookup gives the word of the index.
func TestCacheEviction(t *testing.T) {
	long := strings.Repeat("z", LongestKnown+1)
	r, err := index.Open(searchtest.IndexLines(t, "whitespace", "a b c "+long, "b c d e", "f g h c"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := newWordCache(1)
	for range 3 {
		for word, df := range map[string]uint32{"a": 1, "b": 2, "c": 3, "d": 1, "e": 1, "f": 1,
			"g": 1, "h": 1, "unheard": 0, long: 1} {
			for range 2 {
				if got, err := c.find(r, []byte(word)); err != nil || got.text != word || got.info.DF != df {
					t.Fatalf("%q: %+v, %v; want df %d", word, got, err, df)
				}
			}
		}
	}
	if w := c.likely(c.hash([]byte(long))); w != nil && w.text == long {
		t.Error("a long word is cached")
	}
}
