package mcptools

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"

	"github.com/collocate/collocate/search"
)

// Source is an index that is offered.
type Source struct {
	Name  string // what calls name it by
	About string // what it is, in words of its owner; may be empty
	// Read calls fn with the newest state of the index, which stays open until fn returns.
	Read func(fn func(*search.Searcher) error) error
}

// Index is an index in a folder, which follows its changes.
type Index struct {
	Log *slog.Logger // nil means none

	refreshing sync.Mutex // held while a newer generation is opened
	mu         sync.Mutex
	newest     *generation
}

// generation is a state of the index. It is closed when a newer one has replaced it and no call
// reads it, so that a long call does not keep others from the newest.
type generation struct {
	*search.Searcher
	own   bool // opened by the Index, which closes it
	users int  // calls that read it, plus one while it is the newest; guarded by Index.mu
}

// Follow returns an Index that begins with an open state, which the caller closes.
func Follow(s *search.Searcher) *Index { return &Index{newest: &generation{s, false, 1}} }

// Close closes what the Index itself opened. No call may be running.
func (x *Index) Close() error { return x.letGo(x.newest) }

// Read calls fn with the newest generation of the index.
func (x *Index) Read(fn func(*search.Searcher) error) (err error) {
	x.refresh()
	x.mu.Lock()
	g := x.newest
	g.users++
	x.mu.Unlock()
	defer func() { err = errors.Join(err, x.letGo(g)) }()
	return fn(g.Searcher)
}

// refresh switches to a newer generation, if there is one. If it cannot be opened, the current one
// stays in use and the next call tries again.
func (x *Index) refresh() {
	x.refreshing.Lock()
	defer x.refreshing.Unlock()
	newer, err := x.newest.Refresh() // only refresh changes newest
	if err == nil && newer != nil {
		x.mu.Lock()
		old := x.newest
		x.newest = &generation{newer, true, 1}
		x.mu.Unlock()
		err = x.letGo(old)
	}
	if err != nil && x.Log != nil {
		x.Log.Warn("the newest generation of the index cannot be opened", "error", err)
	}
}

// letGo ends the use of a generation.
func (x *Index) letGo(g *generation) error {
	x.mu.Lock()
	g.users--
	last := g.users == 0
	x.mu.Unlock()
	if !last || !g.own {
		return nil
	}
	return g.Close()
}

// sourceNames lists the names of indexes.
func sourceNames(list []Source) (names []string) {
	for _, x := range list {
		names = append(names, x.Name)
	}
	return names
}

// named returns the index of a name. "" is the only one: of several a call must name one, since
// the first may not be what was meant.
func named(list []Source, name string) (Source, error) {
	if name == "" && len(list) == 1 {
		return list[0], nil
	}
	for _, x := range list {
		if x.Name == name {
			return x, nil
		}
	}
	names := strings.Join(sourceNames(list), ", ")
	if name == "" {
		return Source{}, fmt.Errorf("index is missing: want one of %s", names)
	}
	return Source{}, fmt.Errorf("no index %q: want one of %s", name, names)
}
