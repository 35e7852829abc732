package weigh

import (
	"context"
	"errors"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
)

// Transfers take longest, and the link can be used in both directions at once. So the text is cut
// into pieces of whole documents. The pairs of the first pieces are made, sorted by word and copied
// to the host while later pieces are copied to the device. For this, words must have numbers before
// anything is sorted. The weights, which depend on all text, come last; meanwhile words are sorted
// in byte order.

// gpuPiece is a piece of a chunk: the sizes of the text before it, and including it.
type gpuPiece struct{ from, to gpuSize }

// size returns the size of the piece itself.
func (p gpuPiece) size() gpuSize {
	return gpuSize{p.to.bytes - p.from.bytes, p.to.words - p.from.words, p.to.docs - p.from.docs, p.to.longest}
}

// shares lists the sizes of pieces in percent of the text. The first ones are small, so that work
// begins early, and so is the last one, because the end waits for it. On an H200, 500 MB took our
// method 15.5 to 16.2 ms in four to eight pieces of various sizes, and the dictionary method 18.1
// ms in six to eight and 18.9 in four. But with more pieces, a word's pairs must be gathered from
// more tables.
var shares = []int{8, 16, 22, 22, 20, 12}

// leastPiece is the minimum size of a piece in bytes. Tests set it lower.
var leastPiece = 1 << 20

// plan cuts the chunk into pieces.
func (c *gpuChunk) plan() []gpuPiece {
	var list []gpuPiece
	var p gpuPiece
	for i, s := range c.parts {
		p.to = gpuSize{p.to.bytes + s.bytes, p.to.words + s.words, p.to.docs + s.docs, max(p.to.longest, s.longest)}
		enough := max(leastPiece, c.bytes/100*shares[len(list)])
		if i < len(c.parts)-1 && p.size().bytes >= enough && c.bytes-p.to.bytes >= leastPiece &&
			len(list) < len(shares)-1 {
			list = append(list, p)
			p.from, p.to.longest = p.to, 0
		}
	}
	if len(c.parts) == 0 {
		p.to = c.gpuSize
	}
	return append(list, p)
}

// pieceMethod makes the pairs of pieces.
type pieceMethod interface {
	// start begins a text, possibly again, and returns an upper bound on word numbers.
	start() (numbers int, err error)
	// came queues work on the stream reads for text that will be on the device by then.
	came(from, to int) error
	// pairs makes the pairs of a piece, packed and sorted by word, at the beginning of out, which
	// has room for one per word. Documents are numbered from the first of the piece; their lengths
	// go to lengths. After errNoRoom, the caller must call grow and start again.
	pairs(ctx context.Context, p gpuPiece, out gpu.Buffer[uint64],
		lengths gpu.Buffer[uint32]) (n int, pack packing, err error)
	grow(ctx context.Context) error
	// balance returns the word of each pair, given the first pair of each word, if the method has
	// such a step.
	balance(pairs gpu.Buffer[uint64], first gpu.Buffer[uint64]) (term gpu.Buffer[uint32], err error)
	// words copies the words in use to the host, in byte order, and calls rest with their numbers,
	// which are valid only during that call.
	words(ctx context.Context, out *gpuPairs, rest func(tmp *gpu.Arena, numbers gpu.Buffer[uint32]) error) error
	// steps returns the names of the steps that all methods have; balance may be empty.
	steps() (df, balance, formula string)
}

// errNoRoom means that there are more distinct words than a method expected.
var errNoRoom = errors.New("too many words for the memory")

// inPieces weighs a chunk in pieces.
func (t *gpuTask) inPieces(ctx context.Context, m pieceMethod) (*gpuPairs, error) {
	t.overlaps = true
	mark := t.tmp.Mark()
	list, err := t.send()
	if err != nil {
		return nil, err
	}
	for {
		out, err := t.tryPieces(ctx, m, list)
		if !errors.Is(err, errNoRoom) {
			return out, err
		}
		// Start again. The text is on the device already.
		for _, s := range t.Streams {
			if err := s.Sync(ctx); err != nil {
				return nil, err
			}
		}
		if err := errors.Join(m.grow(ctx), t.side.Clear(), t.tmp.Release(mark)); err != nil {
			return nil, err
		}
		list = list[len(list)-1:]
	}
}

// pieces is the state of a chunk that is processed in pieces.
type pieces struct {
	*gpuTask
	method  pieceMethod
	numbers int
	list    []gpuPiece
	done    []donePiece

	pairs   gpu.Buffer[uint64] // pairs of all finished pieces
	filled  int                // number of these pairs
	lengths gpu.Buffer[uint32] // lengths of documents
	first   gpu.Buffer[uint32] // for each piece, the first pair of each word number
	df      gpu.Buffer[uint32] // by word number
	result  *shrunk
}

type donePiece struct {
	pack     packing
	from, to int // pairs
	term     gpu.Buffer[uint32]
}

func (t *gpuTask) tryPieces(ctx context.Context, m pieceMethod, text []arrival) (out *gpuPairs, err error) {
	p := &pieces{gpuTask: t, method: m, list: t.in.plan()}
	if t.onePiece {
		p.list = []gpuPiece{{to: t.in.gpuSize}}
	}
	if p.numbers, err = m.start(); err != nil {
		return nil, err
	}
	tables := len(p.list) * (p.numbers + 1)
	if err := t.side.Reserve(t.Dev, pieceMemory(p.numbers, len(p.list))+wordMemory(t.card), 0); err != nil {
		return nil, err
	}
	p.first, p.df = takeFrom[uint32](t.side.Arena, &err, tables), takeFrom[uint32](t.side.Arena, &err, p.numbers)
	p.pairs, p.lengths = take[uint64](t.card, &err, t.in.words), take[uint32](t.card, &err, t.in.docs)
	if err != nil {
		return nil, err
	}
	if p.result, err = t.newShrunk(t.in.words, p.numbers); err != nil {
		return nil, err
	}
	out = &gpuPairs{}
	toFirst, err := hostMemory(t.card, tables, func(p *pinnedResult) *gpu.Pinned[uint32] { return &p.firsts })
	if err != nil {
		return nil, err
	}
	if err := p.df.Zero(t.s); err != nil {
		return nil, err
	}
	// Queue the numbering of all words at once.
	ready, from := make([]*gpu.Event, 0, len(p.list)), 0
	for _, a := range text {
		if err := t.reads.WaitFor(a.Event); err != nil {
			return nil, err
		}
		if err := m.came(from, a.to); err != nil {
			return nil, err
		}
		for from = a.to; len(ready) < len(p.list) && p.list[len(ready)].to.bytes <= a.to; {
			e, err := t.Recorded(t.reads)
			if err != nil {
				return nil, err
			}
			ready = append(ready, e)
		}
	}
	for _, e := range ready {
		if err := errors.Join(t.step("copy up, waited for"), t.s.WaitFor(e)); err != nil {
			return nil, err
		}
		if err := p.piece(ctx, out, toFirst); err != nil {
			return nil, err
		}
	}
	return out, p.finish(ctx, out)
}

// pieceMemory returns the memory that depends on word numbers: a table for each piece, the dfs and
// their part of the formula, a table of 64 bits, and the words in use.
func pieceMemory(numbers, pieces int) int64 {
	return numberMemory(pieces)*int64(numbers+1) + gpuSpare
}

func numberMemory(pieces int) int64 { return int64(4*pieces) + 4 + 8 + 8 + 8 }

// piece makes the pairs of the next piece, and copies them to the host without weights.
func (p *pieces) piece(ctx context.Context, out *gpuPairs, toFirst host[uint32]) error {
	if err := p.caller.Err(); err != nil {
		return err
	}
	at, k := p.list[len(p.done)], len(p.done)
	size := at.size()
	d := donePiece{from: p.filled}
	n, pack, err := p.method.pairs(ctx, at, p.pairs.Slice(d.from, d.from+size.words),
		p.lengths.Slice(at.from.docs, at.to.docs))
	if err != nil {
		return err
	}
	d.pack, d.to = pack, d.from+n
	p.filled = d.to
	base, numbers := uint32(at.from.docs), gpu.Null()
	if p.in.numbers != nil {
		base, numbers = p.in.numbers[base], p.listed.Slice(at.from.docs, at.to.docs).Arg()
	}
	if len(p.list) == 1 {
		err = p.result.fetchTo(p.gpuTask, out, n)
	} else if k == 0 {
		err = p.result.fetchTo(p.gpuTask, out, p.in.words)
	}
	df, balance, _ := p.method.steps()
	pairs := p.pairs.Slice(d.from, d.to)
	table := p.first.Slice(k*(p.numbers+1), (k+1)*(p.numbers+1))
	err = errors.Join(err, p.step(df), scratchOf(p.side.Arena, func() (err error) {
		if balance == "" {
			return p.firsts(pairs, d.from, pack, p.numbers, table.Arg(), gpu.Null(), p.df.Arg())
		}
		wide := takeFrom[uint64](p.side.Arena, &err, p.numbers+1)
		if err != nil {
			return err
		}
		if err := p.firsts(pairs, d.from, pack, p.numbers, table.Arg(), wide.Arg(), p.df.Arg()); err != nil {
			return err
		}
		if err := p.step(balance); err != nil {
			return err
		}
		d.term, err = p.method.balance(pairs, wide)
		return err
	}))
	if err != nil {
		return err
	}
	p.done = append(p.done, d)
	if err := p.step("shrink"); err != nil {
		return err
	}
	args := append([]gpu.Arg{pairs.Arg(), gpu.U64(uint64(n)), gpu.U64(uint64(d.from)),
		gpu.U32(base), numbers}, append(p.result.args(), pack.args()...)...)
	if err := p.each("pieces", "weigh_shrink_piece", n, args...); err != nil {
		return err
	}
	out.pieces = append(out.pieces, pairPiece{base, toFirst.values[k*(p.numbers+1) : (k+1)*(p.numbers+1)]})
	return errors.Join(p.result.fetch(ctx, p.gpuTask, d.from, d.to), p.fetchAfter(p.s, func() error {
		return toFirst.fetch(ctx, p.down, k*(p.numbers+1), table)
	}))
}

// firsts finds the first pair of each word.
func (t *gpuTask) firsts(pairs gpu.Buffer[uint64], from int, pack packing, words int, first, wide, df gpu.Arg) error {
	return t.each("pieces", "weigh_firsts", words+1, pairs.Arg(), gpu.U64(uint64(pairs.Len())),
		gpu.U32(uint32(from)), gpu.U64(uint64(words)),
		gpu.U32(uint32(pack.termShift)), first, wide, df)
}

// finish weighs the pairs of all pieces, and sorts the words.
func (p *pieces) finish(ctx context.Context, out *gpuPairs) (err error) {
	_, _, formula := p.method.steps()
	if err := p.step(formula); err != nil {
		return err
	}
	terms := takeFrom[[2]float32](p.side.Arena, &err, p.numbers)
	if err != nil {
		return err
	}
	args := append([]gpu.Arg{p.df.Arg(), terms.Arg(), gpu.U64(uint64(p.numbers)),
		gpu.F64(float64(p.total))}, scorerArgs(p.scorer)...)
	if err := p.each("pieces", "weigh_terms_of_df", p.numbers, args...); err != nil {
		return err
	}
	r := p.result
	out.gaps, out.small, out.weights = out.gaps[:p.filled], out.small[:p.filled], out.weights[:p.filled]
	weights := take[float32](p.card, &err, p.filled)
	if err != nil {
		return err
	}
	for k, d := range p.done {
		lengths := p.lengths.Slice(p.list[k].from.docs, p.list[k].to.docs)
		for i := d.from; i < d.to; i += gpuSlice {
			j := min(i+gpuSlice, d.to)
			term := gpu.Null()
			if d.term.Len() > 0 {
				term = d.term.Slice(i-d.from, j-d.from).Arg()
			}
			args := append([]gpu.Arg{p.pairs.Slice(i, j).Arg(), term, gpu.U64(uint64(j - i)),
				terms.Arg(), lengths.Arg(), weights.Slice(i, j).Arg()}, d.pack.args()...)
			err := errors.Join(p.each("pieces", "weigh_scores", j-i, append(args, scorerArgs(p.scorer)...)...),
				p.fetchAfter(p.s, func() error { return r.toWeights.fetch(ctx, p.down, i, weights.Slice(i, j)) }))
			if err != nil {
				return err
			}
		}
	}
	if err := errors.Join(p.step("vocabulary"), r.fetchLists(ctx, p.gpuTask, out)); err != nil {
		return err
	}
	err = p.method.words(ctx, out, func(tmp *gpu.Arena, numbers gpu.Buffer[uint32]) error {
		n := numbers.Len()
		dfs, first := takeFrom[uint32](tmp, &err, n+1), takeFrom[uint64](tmp, &err, n+1)
		if err != nil {
			return err
		}
		err := errors.Join(dfs.Slice(n, n+1).Zero(p.s),
			p.each("pieces", "weigh_df_in_order", n, p.df.Arg(), numbers.Arg(), dfs.Arg(), gpu.U64(uint64(n))),
			prim.ExclusiveScan(p.s, tmp, dfs, first))
		if err != nil {
			return err
		}
		return p.fetchAfter(p.s, func() error {
			if out.first, err = fetchAll(ctx, p.card, p.down, first,
				func(p *pinnedResult) *gpu.Pinned[uint64] { return &p.first }); err != nil {
				return err
			}
			out.numbers, err = fetchAll(ctx, p.card, p.down, numbers,
				func(p *pinnedResult) *gpu.Pinned[uint32] { return &p.numbers })
			return err
		})
	})
	return errors.Join(err, p.step("copy down, waited for"), p.After(p.s, p.down))
}

// shrunk holds pairs in compact form on the device, and the host memory they are copied to.
type shrunk struct {
	gaps         gpu.Buffer[uint16]
	small        gpu.Buffer[uint8]
	jumps, large gpu.Buffer[uint64]
	counts       gpu.Buffer[uint64]
	toGaps       host[uint16]
	toSmall      host[uint8]
	toWeights    host[float32]
}

// newShrunk allocates memory for n pairs of the given number of words.
func (t *gpuTask) newShrunk(n, words int) (r *shrunk, err error) {
	r = &shrunk{}
	r.small, r.gaps = take[uint8](t.card, &err, n), take[uint16](t.card, &err, n)
	// The gaps of a word add up to less than the number of documents, and all frequencies to the
	// number of words, which bounds the numbers of jumps and of large frequencies.
	r.jumps = take[uint64](t.card, &err, min(n, words*(t.total>>16))+1)
	r.large = take[uint64](t.card, &err, t.in.words/255+1)
	r.counts = take[uint64](t.card, &err, 2)
	if err != nil {
		return nil, err
	}
	return r, r.counts.Zero(t.s)
}

func (r *shrunk) args() []gpu.Arg {
	return []gpu.Arg{r.gaps.Arg(), r.small.Arg(), r.jumps.Arg(), r.large.Arg(), r.counts.Arg()}
}

// fetchTo allocates host memory for n pairs.
func (r *shrunk) fetchTo(t *gpuTask, out *gpuPairs, n int) (err error) {
	var err1, err2, err3 error
	r.toGaps, err1 = hostMemory(t.card, n, func(p *pinnedResult) *gpu.Pinned[uint16] { return &p.gaps })
	r.toWeights, err2 = hostMemory(t.card, n, func(p *pinnedResult) *gpu.Pinned[float32] { return &p.weights })
	r.toSmall, err3 = hostMemory(t.card, n, func(p *pinnedResult) *gpu.Pinned[uint8] { return &p.small })
	out.gaps, out.weights, out.small = r.toGaps.values, r.toWeights.values, r.toSmall.values
	return errors.Join(err1, err2, err3)
}

// fetch copies the pairs [i, j) to the host, without their weights.
func (r *shrunk) fetch(ctx context.Context, t *gpuTask, i, j int) error {
	return t.fetchAfter(t.s, func() error {
		return errors.Join(r.toGaps.fetch(ctx, t.down, i, r.gaps.Slice(i, j)),
			r.toSmall.fetch(ctx, t.down, i, r.small.Slice(i, j)))
	})
}

// fetchLists copies the jumps and the large frequencies to the host.
func (r *shrunk) fetchLists(ctx context.Context, t *gpuTask, out *gpuPairs) error {
	many, err := t.look(ctx, r.counts)
	if err != nil {
		return err
	}
	jumps, large := r.jumps.Slice(0, int(many[0])), r.large.Slice(0, int(many[1]))
	if out.jumps, err = t.fetchList(ctx, jumps,
		func(p *pinnedResult) *gpu.Pinned[uint64] { return &p.jumps }); err != nil {
		return err
	}
	out.large, err = t.fetchList(ctx, large, func(p *pinnedResult) *gpu.Pinned[uint64] { return &p.large })
	return err
}

// fetchList sorts a list and copies it to the host.
func (t *gpuTask) fetchList(ctx context.Context, list gpu.Buffer[uint64],
	slot func(*pinnedResult) *gpu.Pinned[uint64]) (v []uint64, err error) {
	alt := take[uint64](t.card, &err, list.Len())
	if err != nil || list.Len() == 0 {
		return nil, err
	}
	list, err = prim.SortKeys(t.s, t.tmp.Arena, list, alt, 32, 64)
	if err != nil {
		return nil, err
	}
	err = t.fetchAfter(t.s, func() error {
		v, err = fetchAll(ctx, t.card, t.down, list, slot)
		return err
	})
	return v, err
}
