package collocate

import (
	"fmt"

	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
)

// whole returns an error if a part of a tree is missing: it would match nothing, for a reason that
// no note could name.
func whole(n query.Node) error {
	var parts []query.Node
	switch n := n.(type) {
	case query.And:
		parts = n.Parts
	case query.Or:
		parts = n.Parts
	case query.Not:
		parts = []query.Node{n.Part}
	case query.Must:
		parts = []query.Node{n.Part}
	case query.Filter:
		parts = []query.Node{n.Part}
	case query.Boost:
		parts = []query.Node{n.Part}
	case query.Field:
		parts = []query.Node{n.Part}
	case query.Same:
		if len(n.Words) > 0 {
			return nil
		}
	case query.IDs:
		if len(n.IDs) > 0 {
			return nil
		}
	case query.Near:
		if len(n.Words) > 0 {
			return nil
		}
	default:
		return nil
	}
	if len(parts) == 0 {
		return fmt.Errorf("%w: Tree: a %T without parts", search.ErrRequest, n)
	}
	for _, p := range parts {
		if p == nil {
			return fmt.Errorf("%w: Tree: a %T with a part that is nil", search.ErrRequest, n)
		}
		if err := whole(p); err != nil {
			return err
		}
	}
	return nil
}
