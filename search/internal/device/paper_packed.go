package device

import (
	"context"
	"fmt"

	_ "embed"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/mmap"
)

//go:embed kernels/packed.ptx
var packedPTX string

var packedSource = gpu.NewSource("search/packed", packedPTX)

// packedSlack is the number of words after the last list that the kernels may load.
const packedSlack = 2

// packedLists holds lists as the index stores them, in the layout of packed.cuh. When space runs
// out, all of them are discarded.
type packedLists struct {
	words gpu.Buffer[uint32]
	at    map[int]int // offset of each list
	used  int
}

// bringPacked brings the lists of words that are not there yet.
func (g *Index) bringPacked(words []index.Term) error {
	p := &g.paper.packed
	made, at, err := g.packedOf(words, p.at)
	if err != nil {
		return err
	}
	if p.used+len(made)+packedSlack > p.words.Len() {
		if made, at, err = g.packedOf(words, nil); err != nil {
			return err
		}
		need := len(made) + packedSlack
		if int64(need)*4 > g.pack.budget {
			return fmt.Errorf("%d bytes of compressed lists do not fit into the GPU's memory", need*4)
		}
		p.at, p.used, g.paper.maxima.at = map[int]int{}, 0, nil
		room := max(need, min(2*p.words.Len(), int(g.pack.budget/16)), packedLeast)
		if err := atLeast(g.dev, &p.words, room); err != nil {
			return err
		}
	}
	if len(made) == 0 {
		return nil
	}
	s := g.pack.stream
	if err := p.words.Slice(p.used, p.used+len(made)).Upload(s, made); err != nil {
		return err
	}
	if err := s.Sync(context.Background()); err != nil {
		return err
	}
	for id, i := range at {
		p.at[id] = p.used + i
	}
	p.used += len(made)
	return nil
}

// packedOf returns the lists of words, but for those that are there, and the offset of each. Every
// block is decoded, because the kernels do not expect damage.
func (g *Index) packedOf(words []index.Term, there map[int]int) (made []uint32, at map[int]int,
	err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	at = map[int]int{}
	var c index.Cursor
	var numbers [index.BlockSize]uint32
	for _, t := range words {
		if _, ok := there[t.ID]; ok {
			continue
		}
		if _, ok := at[t.ID]; ok {
			continue
		}
		if err := g.s.Index.OpenBlocks(t, &c); err != nil {
			return nil, nil, err
		}
		for b := range c.Blocks() {
			c.DecodeDocs(b, &numbers)
			c.DecodeTFs(b, &numbers)
		}
		if err := c.Err(); err != nil {
			return nil, nil, err
		}
		at[t.ID] = len(made)
		offsets, data := c.Stored()
		made = append(append(made, c.Last...), offsets...)
		word := uint32(0)
		for i, b := range data {
			if word |= uint32(b) << (8 * (i % 4)); i%4 == 3 || i == len(data)-1 {
				made, word = append(made, word), 0
			}
		}
	}
	return made, at, nil
}
