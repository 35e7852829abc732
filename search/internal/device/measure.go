package device

import (
	"errors"
	"runtime"

	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/internal/par"
)

// measured is the lists of an index with their sizes. It needs no device, so it is made while one
// is being opened.
type measured struct {
	tiles int
	lists []gpuList
	all   listRoom // of all lists together
	parts []listRoom
}

// listRoom is the space that lists take in the three buffers.
type listRoom struct{ postings, extra, rows int64 }

func (r *listRoom) add(postings, extra, rows int64) {
	r.postings, r.extra, r.rows = r.postings+postings, r.extra+extra, r.rows+rows
}

// measurePart is the number of words that one core measures at a time.
const measurePart = 1 << 14

// measure reads the dictionary of an index, on all cores: a collection of nine million documents
// has four million words, of which each step of opening takes a tenth of a microsecond or more.
func measure(r *index.Reader) (*measured, error) {
	n := r.Terms()
	m := &measured{tiles: (r.Docs() + gpuTile - 1) / gpuTile, lists: make([]gpuList, n),
		parts: make([]listRoom, (n+measurePart-1)/measurePart)}
	errs := make([]error, len(m.parts))
	par.For(runtime.GOMAXPROCS(0), n, measurePart, func(_, from, to int) {
		part := from / measurePart
		errs[part] = m.measure(r, from, to, &m.parts[part])
	})
	for i := range m.parts {
		m.all.add(m.parts[i].postings, m.parts[i].extra, m.parts[i].rows)
	}
	return m, errors.Join(errs...)
}

// measure measures the lists [from, to).
func (m *measured) measure(r *index.Reader, from, to int, sum *listRoom) (err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	for t, err := range r.TermsIn(from, to) {
		if err != nil {
			return err
		}
		l := &m.lists[t.ID]
		l.df, l.full, l.row = t.DF, t.FullDF(), gpuSparse
		l.big = uint32(min(uint64(l.df), t.CF/255)) // frequencies over a byte, at most
		if int64(l.df) >= densePostings*int64(m.tiles) {
			l.row = 0
		}
		sum.add(l.room())
	}
	return nil
}

// place gives every list its space, in the order of their numbers, if all of them fit.
func (m *measured) place() {
	next := make([]listRoom, len(m.parts))
	for i := 1; i < len(next); i++ {
		before := &m.parts[i-1]
		next[i] = next[i-1]
		next[i].add(before.postings, before.extra, before.rows)
	}
	par.For(runtime.GOMAXPROCS(0), len(m.lists), measurePart, func(_, from, to int) {
		at := next[from/measurePart]
		for i := from; i < to; i++ {
			l := &m.lists[i]
			p, e, n := l.room()
			l.pos, l.extra = uint64(at.postings), uint64(at.extra)
			if n > 0 {
				l.row = uint32(at.rows)
			}
			at.add(p, e, n)
		}
	})
}
