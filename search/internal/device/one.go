package device

import (
	"context"
	"unsafe"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/search/internal/ask"
)

// fitsArguments reports whether the plan is a single query that can be passed as kernel arguments:
// one of few words whose lists all have tables.
func (s *gpuSlot) fitsArguments() bool {
	return len(s.p.queries) == 1 && s.p.kinds[kindMany] == 0 && !s.p.sparse &&
		s.p.queries[0].K <= gpuSmallK
}

// gpuSmallK is the largest number of answers that are sorted in shared memory and so can be written
// directly to the host.
const gpuSmallK = 2048

// gpuOne is One in tiles.cu.
type gpuOne struct {
	q     gpuQuery
	terms [gpuFew]gpuTerm
}

// startOne starts strategy gpu-one. Nearly all tiles run at the same time, so they need no order.
func (s *gpuSlot) startOne(m *gpuModel, timed bool) error {
	return s.timed(timed, func() error { return s.scoreOne(m) })
}

// scoreOne launches a query that is passed as kernel arguments; pickOne launches the rest if its
// blocks could not keep all of its candidates.
func (s *gpuSlot) scoreOne(m *gpuModel) error {
	g, st := s.g, s.g.pack
	s.one.q = s.p.queries[0]
	copy(s.one.terms[:], s.p.terms)
	k, blocks := g.k.one[s.one.q.Kind], g.k.fewResident[s.one.q.Kind]
	return s.stream.Launch(k, gpu.GridShared(min(blocks, st.tiles+1), fewThreads, fewShared),
		s.withOne(gpu.U32(uint32(st.tiles)),
			m.maxes.Arg(), st.offsets.Arg(), m.codes.Arg(), st.starts.Arg(), s.states.Arg(),
			s.hists.Arg(), s.cands.Arg(), st.tfs.Arg(), st.more.Arg(), st.lengths.Arg(),
			s.keys.Arg(), s.mapped.Arg())...)
}

func (s *gpuSlot) pickOne() error {
	g, st := s.g, s.g.pack
	return s.stream.Launch(g.k.pickOne, gpu.Grid(s.pickers(1), pickThreads),
		s.withOne(gpu.U32(uint32(st.tiles)), st.offsets.Arg(), st.tfs.Arg(),
			st.more.Arg(), st.lengths.Arg(), st.starts.Arg(), s.states.Arg(), s.hists.Arg(),
			s.cands.Arg(), s.keys.Arg(), s.mapped.Arg())...)
}

// gpuUnfinished marks an unfinished result, as in tiles.cu.
const gpuUnfinished = 1<<64 - 1

// finish completes a single query, if something is left to do.
func (s *gpuSlot) finish(m *gpuModel) error {
	if s.by == ask.GPUGeneral || s.back.Values()[0] != gpuUnfinished {
		return nil
	}
	if s.by == ask.GPUPair {
		// The guess was wrong: retry with a cut that is proven during the search.
		s.by = ask.GPUOne
		if err := s.scoreOne(m); err != nil {
			return err
		}
		err := s.stream.Sync(context.Background())
		if err != nil || s.back.Values()[0] != gpuUnfinished {
			return err
		}
	}
	if err := s.pickOne(); err != nil {
		return err
	}
	return s.stream.Sync(context.Background())
}

// with puts the words of the query before the other arguments.
func (s *gpuSlot) with(words []uint64, rest ...gpu.Arg) []gpu.Arg {
	s.args = s.args[:0]
	for _, w := range words {
		s.args = append(s.args, gpu.U64(w))
	}
	s.args = append(s.args, rest...)
	return s.args
}

func (s *gpuSlot) withOne(rest ...gpu.Arg) []gpu.Arg {
	return s.with(unsafe.Slice((*uint64)(unsafe.Pointer(&s.one)), unsafe.Sizeof(s.one)/8), rest...)
}
