package filters

import (
	"container/list"
	"sync"

	"github.com/collocate/collocate/docset"
)

// Cache keeps the documents of filters. Several goroutines may use it at once.
type Cache struct {
	room int // bound on the bytes of all entries

	mu      sync.Mutex
	held    int // bytes of all entries
	entries map[string]*list.Element
	order   list.List // of *entry, the one that was used last in front
}

// entry is what is kept of a filter.
type entry struct {
	key    string
	bytes  int
	sets   []*docset.Set // of each segment; nil after the first use
	within *within       // or the lists within sets, whose versions are the key
}

const (
	// The memory of a cache is bounded by docRoom bytes for each document of the index, where a set
	// takes an eighth of a byte, but by leastRoom in a small index and mostRoom in a large one.
	docRoom   = 16
	leastRoom = 1 << 20
	mostRoom  = 64 << 20

	// largestShare is the share of the memory that the sets of a filter may take, one in so many.
	largestShare = 4
	// LongestKey is the length in bytes from which a filter is not kept: one that lists thousands
	// of IDs is hardly asked again.
	LongestKey = 4096
	entryBytes = 200 // of an entry, besides its key and sets
)

// New returns an empty cache for an index of so many documents.
func New(docs int) *Cache { return Sized(min(max(docs*docRoom, leastRoom), mostRoom)) }

// Sized returns an empty cache of so many bytes.
func Sized(bytes int) *Cache { return &Cache{room: bytes, entries: map[string]*list.Element{}} }

// Find returns the sets of a filter, which must not be changed, or nil. If again is true, the
// filter was asked before, and Keep wants its sets.
func (c *Cache) Find(key string) (sets []*docset.Set, again bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.entries[key]
	if at == nil {
		return nil, false
	}
	c.order.MoveToFront(at)
	sets = at.Value.(*entry).sets
	return sets, sets == nil
}

// Keep remembers that a filter was asked, and its sets unless they are nil. Filters that were not
// used for the longest time make room. Sets that are too large are not kept.
func (c *Cache) Keep(key string, sets []*docset.Set) {
	e := &entry{key: key, bytes: entryBytes + len(key)}
	for _, s := range sets {
		e.bytes += len(s.Words()) * 8
	}
	if e.bytes > c.room/largestShare {
		return
	}
	e.sets = sets
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.entries[key]; old != nil {
		if old.Value.(*entry).sets != nil {
			return // somebody else was faster
		}
		c.drop(old)
	}
	c.add(e)
}

// add adds an entry. The caller holds mu.
func (c *Cache) add(e *entry) {
	c.entries[e.key] = c.order.PushFront(e)
	c.held += e.bytes
	c.fit()
}

// fit drops the entries that were not used for the longest time until the others fit.
func (c *Cache) fit() {
	for c.held > c.room {
		c.drop(c.order.Back())
	}
}

// resize says how many bytes an entry takes now, unless it was dropped.
func (c *Cache) resize(e *entry, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.entries[e.key]; at == nil || at.Value != e {
		return
	}
	c.held += bytes - e.bytes
	e.bytes = bytes
	c.fit()
}

// drop removes an entry.
func (c *Cache) drop(at *list.Element) {
	e := c.order.Remove(at).(*entry)
	delete(c.entries, e.key)
	c.held -= e.bytes
}

// Held returns the number of filters whose documents are kept, and the bytes of all entries.
func (c *Cache) Held() (filters, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for at := c.order.Front(); at != nil; at = at.Next() {
		if at.Value.(*entry).sets != nil {
			filters++
		}
	}
	return filters, c.held
}
