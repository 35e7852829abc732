package device

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/search/internal/model"
)

// gpuTerm is Term in scoring.cuh.
type gpuTerm struct {
	Pos, Extra                  uint64
	DF, Bigs, Row, Mult, Table  uint32
	A, B, Weight, Plus, Inverse float32
	X, Y, Z                     float64
}

// Model numbers, as in scoring.cuh.
const (
	gpuBM25 = iota
	gpuBM25L
	gpuCosine
	gpuDirichlet
	gpuDPH
)

// set copies a scorer's constants to the term, and returns the model's number.
func (t *gpuTerm) set(s model.Scorer) uint32 {
	switch s := s.(type) {
	case *model.BM25Scorer:
		t.A, t.B, t.Weight, t.Plus = s.A, s.B, s.Weight, s.Plus
		return gpuBM25
	case *model.BM25LScorer:
		if s.Lossy {
			break // the cores answer
		}
		t.A, t.B, t.Weight, t.Plus = s.A, s.B, s.Weight, s.K1
		return gpuBM25L
	case *model.CosineScorer:
		t.Weight = s.Weight
		return gpuCosine
	case *model.DirichletScorer:
		t.Weight, t.X, t.Y = s.Weight, s.PerTF, s.W.Mu
		return gpuDirichlet
	case *model.DPHScorer:
		t.X, t.Y, t.Z = s.Weight, s.LogRatio, model.HalfLog2Pi
		return gpuDPH
	}
	panic(fmt.Sprintf("device: the kernels have no scorer of type %T", s))
}

// locate sets the location of the list.
func (t *gpuTerm) locate(l *gpuList) {
	t.Pos, t.Extra, t.DF, t.Bigs, t.Row, t.Table = l.pos, l.extra, l.df, l.bigs, l.row, l.table
}

// gpuModel holds the codes for one model. They depend neither on the weight of a word in a query
// nor on its idf, since a list's codes are relative to its best score.
type gpuModel struct {
	st    *gpuStore
	model model.Model
	w     model.Weigher
	codes gpu.Buffer[uint8]
	maxes gpu.Buffer[uint8] // of each tile, by row
	// counts has the number of postings of a list with each code, by row: 256 each. k documents
	// reach the k-th best code of a single word.
	counts gpu.Buffer[uint32]
	tops   []uint32 // number of postings with each code or a higher one, on the host
	coded  []bool   // by list
	all    bool     // all lists are permanently on the device and coded
}

// codedAs returns the model whose codes a model uses.
func codedAs(m model.Model) model.Model {
	switch m := m.(type) {
	case nil:
		return codedAs(model.BM25{})
	case model.BM25:
		p := model.ParamsOf(m)
		if p.Variant != bm25.Plus && p.Variant != bm25.L {
			p.Variant = bm25.Lucene // its idf is never 0
		}
		return model.BM25(p)
	case model.Dirichlet:
		return model.Dirichlet{Mu: model.MuOf(m)}
	}
	return m
}

// find returns the codes for a model, or nil.
func (st *gpuStore) find(m model.Model) *gpuModel {
	for _, x := range st.models {
		if x.model == m {
			return x
		}
	}
	return nil
}

// model returns the codes for a model, without any codes yet if the model is new. The gate is held
// for writing.
func (st *gpuStore) model(m model.Model) (*gpuModel, error) {
	m = codedAs(m)
	if x := st.find(m); x != nil {
		return x, nil
	}
	w, err := st.g.s.Weigher(m)
	if err != nil {
		return nil, err
	}
	if len(st.models) >= maxGPUModels {
		if err := st.drop(); err != nil {
			return nil, err
		}
	}
	x := &gpuModel{st: st, model: m, w: w, coded: make([]bool, len(st.lists))}
	for {
		err := x.alloc()
		var full *gpu.OutOfMemory
		if errors.As(err, &full) && len(st.models) > 0 {
			if err := st.drop(); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		st.models = append(st.models, x)
		return x, nil
	}
}

func (m *gpuModel) alloc() (err error) {
	dev := m.st.g.dev
	if m.codes, err = gpu.Alloc[uint8](dev, int(m.st.postings.size)+16); err != nil {
		return err
	}
	if m.maxes, err = gpu.Alloc[uint8](dev, int(m.st.rows.size)*m.st.tiles); err != nil {
		return errors.Join(err, m.codes.Free())
	}
	if m.counts, err = gpu.Alloc[uint32](dev, int(m.st.rows.size)*256); err != nil {
		return errors.Join(err, m.codes.Free(), m.maxes.Free())
	}
	// Kernels load four codes at a time, also those between two lists, which they do not use.
	if err := m.codes.Zero(m.st.stream); err != nil {
		return errors.Join(err, m.free())
	}
	return nil
}

func (m *gpuModel) free() error {
	return errors.Join(m.codes.Free(), m.maxes.Free(), m.counts.Free())
}

// drop frees the oldest codes.
func (st *gpuStore) drop() error {
	err := st.models[0].free()
	st.models = st.models[1:]
	return err
}

// toEncode is lists whose codes are to be computed, as the kernels read them.
type toEncode struct {
	ids           []int
	dense, sparse []gpuTerm
	kind          uint32 // the model's number

	from  int       // the first word
	terms []gpuTerm // from that word on, for knownTerms
}

// encoding has *toEncode for reuse: writing fresh memory takes longer than the device needs.
var encoding sync.Pool

// add adds a list, for any model.
func (x *toEncode) add(m *gpuModel, id int, info index.Term) {
	l := &m.st.lists[id]
	s := m.w.ScorerOf(&model.Term{Weight: 1, Info: info}, 1)
	var t gpuTerm
	x.kind = t.set(s)
	t.locate(l)
	x.addTerm(id, t, s.Bound(l.bound))
}

// addTerm adds a list with a bound on its scores.
func (x *toEncode) addTerm(id int, t gpuTerm, bound float32) {
	t.Inverse = 0
	if bound > 0 {
		t.Inverse = 256 / bound
	}
	if x.ids = append(x.ids, id); t.Row == gpuSparse {
		x.sparse = append(x.sparse, t)
	} else {
		x.dense = append(x.dense, t)
	}
}

// encodeTogether is the number of lists whose codes are computed in a launch: 6 MB of terms.
const encodeTogether = 1 << 16

// encodeAll computes the codes of all lists on the device, as they come there; there is nil if all
// of them are. The cores prepare some lists while the device encodes those before them. known,
// unless it is nil, gets the terms of all words.
func (m *gpuModel) encodeAll(ctx context.Context, known *knownTerms, there *carried) (err error) {
	st := m.st
	// Allocating and freeing memory would make the host wait for the device for each part.
	st.terms, err = gpu.Alloc[gpuTerm](st.g.dev, min(encodeTogether, max(len(st.lists), 1)))
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, st.stream.Sync(context.Background()), st.terms.Free())
		st.terms = gpu.Buffer[gpuTerm]{}
		m.all = err == nil && st.whole
	}()
	prepare := func(from, to int) (toEncode, error) {
		if there != nil {
			there.wait(to)
		}
		return m.prepare(from, to, known)
	}
	var rows []gpuTerm
	err = inOrder(ctx, len(st.lists), encodeTogether, prepare, func(x toEncode) error {
		if known != nil {
			to := known.terms.Slice(x.from, x.from+len(x.terms))
			if err := to.Upload(st.stream, x.terms); err != nil {
				return err
			}
		}
		rows = append(rows, x.dense...)
		err := m.encodeThese(x)
		encoding.Put(&x)
		return err
	})
	if err != nil {
		return err
	}
	return m.fetchTops(rows)
}

// prepare makes the terms of the lists [from, to). For BM25 that needs no dictionary, and takes a
// third of the time.
func (m *gpuModel) prepare(from, to int, known *knownTerms) (x toEncode, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	lists := m.st.lists
	if old, ok := encoding.Get().(*toEncode); ok {
		x = toEncode{ids: old.ids[:0], dense: old.dense[:0], sparse: old.sparse[:0], terms: old.terms}
	}
	if known != nil {
		x.from, x.terms = from, resized(x.terms, to-from)
		for i := range x.terms {
			l := &lists[from+i]
			x.terms[i].write(known.w, l, uint64(l.full), 1)
		}
	}
	wanted := func(id int) bool { return lists[id].there && !m.coded[id] }
	if w := usualBM25(m.w); w != nil {
		x.kind = gpuBM25
		for id := from; id < to; id++ {
			if l := &lists[id]; wanted(id) {
				var t gpuTerm
				if known != nil && known.w.Params() == w.Params() {
					t = x.terms[id-from]
				} else {
					t.write(w, l, uint64(l.full), 1)
				}
				x.addTerm(id, t, t.Inverse)
			}
		}
		return x, nil
	}
	for info, err := range m.st.g.s.Index.TermsIn(from, to) {
		if err != nil {
			return x, err
		}
		if wanted(info.ID) {
			x.add(m, info.ID, info)
		}
	}
	return x, nil
}

// encode computes the codes of lists that are on the device; a list may be named twice. The gate is
// held for writing.
func (m *gpuModel) encode(ids []int) (err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	var x toEncode
	added := map[int]bool{}
	for _, id := range ids {
		if m.coded[id] || added[id] {
			continue
		}
		added[id] = true
		if w := usualBM25(m.w); w != nil {
			t := usualTerm(w, &m.st.lists[id])
			x.addTerm(id, t, t.Inverse)
			continue
		}
		info, err := m.st.g.wordInfo(id)
		if err != nil {
			return err
		}
		x.add(m, id, info)
	}
	if err := m.encodeThese(x); err != nil {
		return err
	}
	return m.fetchTops(x.dense)
}

// encodeThese computes codes of lists.
func (m *gpuModel) encodeThese(x toEncode) error {
	err := errors.Join(m.launch(x.dense, x.kind, false), m.launch(x.sparse, x.kind, true))
	if err == nil {
		for _, id := range x.ids {
			m.coded[id] = true
		}
	}
	return err
}

// fetchTops downloads the counts of lists and sums them from the highest code down.
func (m *gpuModel) fetchTops(terms []gpuTerm) error {
	if len(terms) == 0 {
		return nil
	}
	if m.tops == nil {
		m.tops = make([]uint32, m.counts.Len())
	}
	from, to := terms[0].Row, terms[0].Row
	for i := range terms {
		from, to = min(from, terms[i].Row), max(to, terms[i].Row)
	}
	part := m.counts.Slice(int(from)*256, int(to)*256+256)
	tops := m.tops[from*256 : to*256+256]
	if err := part.Download(context.Background(), m.st.stream, tops); err != nil {
		return err
	}
	for i := range terms {
		row := m.tops[terms[i].Row*256:][:256]
		for c := 254; c >= 0; c-- {
			row[c] += row[c+1]
		}
	}
	return nil
}

// reached returns a code that k postings of a list reach; 0 if there are fewer or the list has no
// counts.
func (m *gpuModel) reached(l *gpuList, k uint32) uint32 {
	if l.sparse() || l.df < k {
		return 0
	}
	above := m.tops[l.row*256:][:256]
	code := uint32(255)
	for code > 0 && above[code] < k {
		code--
	}
	return code
}

// launch runs the encoding kernels for some lists.
func (m *gpuModel) launch(terms []gpuTerm, kind uint32, sparse bool) error {
	if len(terms) == 0 {
		return nil
	}
	st, g := m.st, m.st.g
	most := 32 * g.dev.Info().Multiprocessors
	return st.withTerms(terms, func(buf, n gpu.Arg) error {
		if sparse {
			return st.stream.Launch(g.k.sparse, gpu.Grid(min(len(terms), most), 256), buf, n,
				gpu.U32(kind), st.tfs.Arg(), st.more.Arg(),
				st.lengths.Arg(), m.codes.Arg())
		}
		for i, next := 0, 0; i < len(terms); i = next { // rows may have been used by other lists
			for next = i + 1; next < len(terms) && terms[next].Row == terms[next-1].Row+1; next++ {
			}
			from, to := int(terms[i].Row), int(terms[next-1].Row)+1
			if err := m.counts.Slice(256*from, 256*to).Zero(st.stream); err != nil {
				return err
			}
		}
		blocks := (len(terms)*st.tiles + 7) / 8
		err := st.stream.Launch(g.k.dense, gpu.Grid(min(blocks, most), 256), buf, n, gpu.U32(kind),
			gpu.U32(uint32(st.tiles)), st.offsets.Arg(),
			st.tfs.Arg(), st.more.Arg(), st.lengths.Arg(), st.starts.Arg(), m.codes.Arg(),
			m.maxes.Arg())
		if err != nil {
			return err
		}
		const parts = 16
		return st.stream.Launch(g.k.count, gpu.Grid(len(terms)*parts, 256), buf, gpu.U32(parts),
			m.codes.Arg(), m.counts.Arg())
	})
}

// withTerms uploads terms and calls launch with their address and number to start kernels. It waits
// for these, unless there is space for the terms that outlives them.
func (st *gpuStore) withTerms(terms []gpuTerm, launch func(buf, n gpu.Arg) error) error {
	if len(terms) <= st.terms.Len() {
		if err := st.terms.Slice(0, len(terms)).Upload(st.stream, terms); err != nil {
			return err
		}
		return launch(st.terms.Arg(), gpu.U32(uint32(len(terms))))
	}
	buf, err := gpu.Alloc[gpuTerm](st.g.dev, len(terms))
	if err != nil {
		return err
	}
	defer buf.Free()
	if err := buf.Upload(st.stream, terms); err != nil {
		return err
	}
	if err := launch(buf.Arg(), gpu.U32(uint32(len(terms)))); err != nil {
		return err
	}
	return st.stream.Sync(context.Background())
}
