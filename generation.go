package collocate

import (
	"sync"

	"github.com/collocate/collocate/search"
)

// current is the generation that new searches read. Older ones are closed when their last search
// has ended.
type current struct {
	mu sync.Mutex
	g  *generation    // nil after close
	in sync.WaitGroup // generations that are not closed yet
}

// generation is a searcher and its number of users: current itself, and the searches in progress.
type generation struct {
	searcher *search.Searcher
	of       *current
	users    int // guarded by of.mu
}

// get returns the generation for a search, which must release it, or nil after close.
func (c *current) get() *generation {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.g != nil {
		c.g.users++
	}
	return c.g
}

// set makes a searcher the current one; nil means none.
func (c *current) set(s *search.Searcher) error {
	c.mu.Lock()
	old := c.g
	if c.g = nil; s != nil {
		c.in.Add(1)
		c.g = &generation{searcher: s, of: c, users: 1}
	}
	c.mu.Unlock()
	if old == nil {
		return nil
	}
	return old.release()
}

// close ends with the last search.
func (c *current) close() error {
	err := c.set(nil)
	c.in.Wait()
	return err
}

// release ends a use. The last one closes the searcher.
func (g *generation) release() error {
	g.of.mu.Lock()
	g.users--
	last := g.users == 0
	g.of.mu.Unlock()
	if !last {
		return nil
	}
	defer g.of.in.Done()
	return g.searcher.Close()
}
