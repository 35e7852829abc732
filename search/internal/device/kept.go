package device

import (
	"errors"

	"github.com/collocate/collocate/index"
)

// Kept is a reference to the postings of an index on devices, held for another generation with the
// same segment. Its owner must release it.
type Kept struct {
	Index *index.Reader
	parts []*resident // by device
}

// Keep returns a reference to the postings of a group. It returns nil if a device does not have all
// of them, since evictable lists cannot be shared.
func (g *Group) Keep() *Kept {
	k := &Kept{Index: g.all[0].s.Index}
	for _, x := range g.all {
		if !x.pack.whole {
			return nil
		}
		k.parts = append(k.parts, x.pack.resident)
	}
	k.hold()
	return k
}

// Again adds a reference.
func (k *Kept) Again() *Kept {
	k.hold()
	return k
}

func (k *Kept) hold() {
	for _, x := range k.parts {
		x.users.Add(1)
	}
}

// Release drops a reference. The last one frees the memory.
func (k *Kept) Release() error {
	var errs []error
	for _, x := range k.parts {
		errs = append(errs, x.release())
	}
	return errors.Join(errs...)
}

// serves reports whether the postings are on the devices that options name.
func (k *Kept) serves(o *Options) bool {
	if k == nil || len(k.parts) != 1+len(o.Also) ||
		k.parts[0].dev.Info().Ordinal != o.Device.Ordinal {
		return false
	}
	for i, d := range o.Also {
		if k.parts[1+i].dev.Info().Ordinal != d.Ordinal {
			return false
		}
	}
	return true
}
