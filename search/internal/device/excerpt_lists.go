package device

import (
	"context"
	"errors"
	"slices"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/search/internal/model"
)

// The lists of an excerpt are made on the device, from those of the indexes that it is taken from,
// when a query first needs them (kernels/excerpt.cu).

// excerptPiece, excerptTally and excerptPlace are Piece, Tally and Place in excerpt.cu.
type (
	excerptPiece struct{ List, From, N, _ uint32 }
	excerptTally struct{ Kept, Bigs, Last, _ uint32 }
	excerptPlace struct {
		Pos, Docs, Bigs    uint64
		Row, At, Next, End uint32
	}
)

// excerptThreads is kThreads in excerpt.cu.
const excerptThreads = 256

// listsToMake is lists that an excerpt takes from one index.
type listsToMake struct {
	terms   []gpuTerm // as the index has them
	pieces  []excerptPiece
	tallies []excerptTally
	onIt    gpu.Buffer[gpuTerm]
	cut     gpu.Buffer[excerptPiece]
	counted gpu.Buffer[excerptTally]
}

func (p *listsToMake) free() error {
	return errors.Join(p.onIt.Free(), p.cut.Free(), p.counted.Free())
}

// gather makes the lists of words. The gate is held for writing. It says whether there was space.
func (st *gpuStore) gather(ids []int) (fits bool, err error) {
	x := st.g.x
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	ids = slices.DeleteFunc(ids, func(id int) bool { return st.lists[id].there })
	if len(ids) == 0 {
		return true, nil
	}
	parts := make([]listsToMake, len(x.parts))
	defer func() {
		for i := range parts {
			err = errors.Join(err, parts[i].free())
		}
	}()
	for i := range parts {
		if err := x.count(st, i, ids, &parts[i]); err != nil {
			return false, err
		}
	}
	if !x.place(st, ids, parts) {
		return false, nil
	}
	if err := x.fill(st, ids, parts); err != nil {
		return false, err
	}
	for _, id := range ids {
		st.lists[id].there = true
	}
	return true, st.knowThese(ids)
}

// count counts the postings that are kept of the lists of a part.
func (x *excerpt) count(st *gpuStore, part int, ids []int, p *listsToMake) (err error) {
	from := &x.parts[part]
	for _, id := range ids {
		at := x.numbers[id*len(x.parts)+part]
		if at == 0 {
			continue
		}
		var t gpuTerm
		t.locate(&from.pack.lists[at-1])
		for n := uint32(0); n < t.DF; n += excerptPieceSize {
			p.pieces = append(p.pieces, excerptPiece{List: uint32(len(p.terms)), From: n,
				N: min(excerptPieceSize, t.DF-n)})
		}
		p.terms = append(p.terms, t)
	}
	if len(p.pieces) == 0 {
		return nil
	}
	p.tallies = make([]excerptTally, len(p.pieces))
	if p.onIt, err = gpu.Alloc[gpuTerm](st.dev, len(p.terms)); err != nil {
		return err
	}
	if p.cut, err = gpu.Alloc[excerptPiece](st.dev, len(p.pieces)); err != nil {
		return err
	}
	if p.counted, err = gpu.Alloc[excerptTally](st.dev, len(p.pieces)); err != nil {
		return err
	}
	if err := errors.Join(p.onIt.Upload(st.stream, p.terms),
		p.cut.Upload(st.stream, p.pieces)); err != nil {
		return err
	}
	if err := st.stream.Launch(x.kernels.count, st.excerptGrid(p),
		append(from.source(p), p.counted.Arg())...); err != nil {
		return err
	}
	return p.counted.Download(context.Background(), st.stream, p.tallies)
}

// excerptGrid returns the blocks for the pieces of lists: a warp each, up to a limit.
func (st *gpuStore) excerptGrid(p *listsToMake) gpu.Dim {
	return gpu.Grid(min((len(p.pieces)+7)/8, 32*st.dev.Info().Multiprocessors), excerptThreads)
}

// source returns the arguments of both kernels: the pieces, and the index that they are of.
func (p *excerptPart) source(l *listsToMake) []gpu.Arg {
	from := p.pack
	return []gpu.Arg{l.onIt.Arg(), l.cut.Arg(), gpu.U32(uint32(len(l.pieces))),
		gpu.U32(uint32(from.tiles)), from.offsets.Arg(), from.tfs.Arg(), from.more.Arg(),
		from.starts.Arg(), p.cells.Arg()}
}

// place gives the lists their space. It returns false, and gives none, if there is too little.
func (x *excerpt) place(st *gpuStore, ids []int, parts []listsToMake) bool {
	lists, pieces := make([]int, len(parts)), make([]int, len(parts)) // the next of each part
	for n, id := range ids {
		l := &st.lists[id]
		l.df, l.bigs, l.full, l.row = 0, 0, 0, gpuSparse
		var bounds []index.Bound
		for i := range parts {
			at := x.numbers[id*len(parts)+i]
			if at == 0 {
				continue
			}
			p, from := &parts[i], &x.parts[i].pack.lists[at-1]
			l.full += from.full
			bounds = append(bounds, x.parts[i].boundOf(from))
			for ; pieces[i] < len(p.pieces) && int(p.pieces[pieces[i]].List) == lists[i]; pieces[i]++ {
				l.df, l.bigs = l.df+p.tallies[pieces[i]].Kept, l.bigs+p.tallies[pieces[i]].Bigs
			}
			lists[i]++
		}
		l.bound, l.big = x.parts[0].s.Index.JoinBounds(bounds), l.bigs
		if l.df >= uint32(densePostings*st.tiles) {
			l.row = 0
		}
		if !st.place(l) {
			for _, id := range ids[:n] {
				st.remove(&st.lists[id])
			}
			return false
		}
	}
	return true
}

// fill copies the postings that are kept.
func (x *excerpt) fill(st *gpuStore, ids []int, parts []listsToMake) error {
	// What is filled of each list, and the part that has its last piece.
	at, next, bigs := make([]uint32, len(ids)), make([]uint32, len(ids)), make([]uint32, len(ids))
	last := make([]int, len(ids))
	for n, id := range ids {
		for i := range parts {
			if x.numbers[id*len(parts)+i] > 0 {
				last[n] = i
			}
		}
	}
	for i := range parts {
		p := &parts[i]
		if len(p.pieces) == 0 {
			continue
		}
		places := make([]excerptPlace, len(p.pieces))
		n := -1 // of the list
		for j, piece := range p.pieces {
			if piece.From == 0 { // the next list that the part has
				for n++; x.numbers[ids[n]*len(parts)+i] == 0; n++ {
				}
			}
			l, tally := &st.lists[ids[n]], &p.tallies[j]
			to := excerptPlace{Pos: l.pos, Docs: l.extra, Row: l.row, At: at[n], Next: next[n],
				Bigs: l.extra + 2*uint64(bigs[n])}
			if l.sparse() {
				to.Bigs += uint64(l.df)
			} else if last[n] == i && (j+1 == len(p.pieces) || p.pieces[j+1].From == 0) {
				to.End = uint32(st.rowLen())
			}
			if tally.Kept > 0 {
				at[n], bigs[n] = at[n]+tally.Kept, bigs[n]+tally.Bigs
				next[n] = tally.Last>>gpuSubBits + 1
			}
			places[j] = to
		}
		to, err := gpu.Alloc[excerptPlace](st.dev, len(places))
		if err != nil {
			return err
		}
		err = to.Upload(st.stream, places)
		if err == nil {
			err = st.stream.Launch(x.kernels.fill, st.excerptGrid(p), append(x.parts[i].source(p),
				to.Arg(), gpu.U32(uint32(st.rowLen())), st.offsets.Arg(), st.tfs.Arg(),
				st.more.Arg(), st.starts.Arg())...)
		}
		if err = errors.Join(err, to.Free()); err != nil { // Free waits for the device
			return err
		}
	}
	return nil
}

// knowThese gives the device the terms of words whose lists were made.
func (st *gpuStore) knowThese(ids []int) error {
	k := &st.known
	if k.w == nil {
		return nil
	}
	from, to := ids[0], ids[len(ids)-1]+1
	for _, id := range ids {
		l := &st.lists[id]
		st.g.x.terms[id].write(k.w, l, uint64(l.full), 1)
	}
	return k.terms.Slice(from, to).Upload(st.stream, st.g.x.terms[from:to])
}

// wordInfo returns the entry of a word of the index, as scores need it.
func (g *Index) wordInfo(id int) (index.Term, error) {
	if g.x == nil {
		return g.s.Index.Term(id)
	}
	if len(g.x.parts) > 1 {
		return index.Term{}, errors.New(noKernel) // only BM25 is for several, and needs no entry
	}
	return g.s.Index.Term(int(g.x.numbers[id]) - 1)
}

// usualTerm fills in the term of a list for BM25, whose codes need no entry of the dictionary.
func usualTerm(w *model.BM25Weigher, l *gpuList) (t gpuTerm) {
	t.write(w, l, uint64(l.full), 1)
	return t
}
