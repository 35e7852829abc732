package words

import (
	"errors"

	"github.com/collocate/collocate/internal/gpu"
)

// Clear empties the dictionary; it keeps its size.
func (d *Dictionary) Clear(s *gpu.Stream) error {
	k, err := d.dev.Kernel(listSource, "words_clear")
	if err != nil {
		return err
	}
	slots := d.Numbers()
	return errors.Join(
		d.used.Zero(s), d.counts.Zero(s),
		s.Launch(k, gpu.Grid(divUp(slots, threads), threads), d.keys.Arg(), gpu.U64(uint64(slots))),
	)
}
