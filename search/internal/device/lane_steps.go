package device

import "github.com/collocate/collocate/internal/gpu"

// gpuStep is one step of the stream for a batch.
type gpuStep struct {
	name string
	do   func() error
}

// steps returns the steps of the stream for a written plan. Steps without queries do nothing.
func (l *lane) steps(m *gpuModel) []gpuStep {
	ors, longs := l.p.used.ors, l.p.used.longs
	long := func(n int, launch func(m *gpuModel) error) func() error {
		return func() error {
			if n == 0 {
				return nil
			}
			return launch(m)
		}
	}
	return []gpuStep{
		{"copy in", l.copyIn},
		{"short", l.scoreShort},
		{"plan", long(longs, l.planLongs)},
		{"items", long(longs, l.orderItems)},
		{"sums", long(ors, l.addUp)},
		{"read", long(longs, l.readPairs)},
		{"score", long(longs, l.score)},
		{"pick", long(longs, l.pick)},
		{"copy out", l.copyOut},
	}
}

func (l *lane) copyIn() error {
	n, own := l.p.bytes(), l.p.used.own
	err := l.plan.Slice(0, n).CopyIn(l.stream, l.host.Slice(0, n))
	if err == nil && own > 0 {
		err = l.own.Slice(0, own).CopyIn(l.stream, l.hostOwn.Slice(0, own))
	}
	return err
}

func (l *lane) copyOut() error {
	n := l.p.used.out
	return l.outs.Slice(0, n).CopyOut(l.stream, l.back.Slice(0, n))
}

// scoreShort answers short queries.
func (l *lane) scoreShort() error {
	st := l.g.pack
	if l.p.used.warps+l.p.used.blocks == 0 {
		return nil
	}
	return l.stream.Launch(l.g.k.batchShort, gpu.Grid(l.p.used.shortBlocks(), shortThreads),
		l.plan.Arg(), st.known.terms.Arg(), gpu.U32(uint32(st.tiles)), st.offsets.Arg(),
		st.tfs.Arg(), st.more.Arg(), st.lengths.Arg(), st.starts.Arg(), st.maps.Arg(), l.outs.Arg())
}

// planLongs guesses the cuts of long queries, and chooses how their lists are read.
func (l *lane) planLongs(m *gpuModel) error {
	st := l.g.pack
	return l.stream.Launch(l.g.k.batchPlan, gpu.Grid((l.p.used.longs+3)/4, 128), l.plan.Arg(),
		st.known.terms.Arg(), l.own.Arg(), gpu.F32(float32(st.docs)),
		gpu.U32(uint32(st.tiles)), m.counts.Arg(), m.codes.Arg(),
		l.queries.Arg(), l.terms.Arg(), l.states.Arg(), l.levels.Arg())
}

// orderItems writes the work items of long queries.
func (l *lane) orderItems(*gpuModel) error {
	longs := l.p.used.longs
	return l.stream.Launch(l.g.k.batchItems,
		gpu.Dim{Blocks: [3]int{(longs + itemQueries - 1) / itemQueries, itemColumns(longs), 1},
			Threads: [3]int{itemThreads, 1, 1}},
		l.plan.Arg(), l.levels.Arg(), l.items.Arg())
}

// longArgs returns the arguments of the kernels that read the lists of long queries; work is where
// these find their work.
func (l *lane) longArgs(m *gpuModel, work gpu.Arg) []gpu.Arg {
	st := l.g.pack
	return []gpu.Arg{l.queries.Arg(), l.terms.Arg(), gpu.U32(uint32(st.tiles)), st.offsets.Arg(),
		m.codes.Arg(), st.tfs.Arg(), m.maxes.Arg(), st.more.Arg(), st.lengths.Arg(),
		st.starts.Arg(), st.maps.Arg(), l.levels.Arg(), work,
		l.states.Arg(), l.hists.Arg(), l.keys.Arg()}
}

// variant returns the index of a kernel that exists for BM25 and for any model.
func (l *lane) variant() int {
	if l.p.usual != nil {
		return 0
	}
	return 1
}

// addUp adds up the lists of queries for which planLongs chose that.
func (l *lane) addUp(m *gpuModel) error {
	k, v := &l.g.k, l.variant()
	blocks := min(k.batchSumsResident[v], l.p.used.ors*l.g.pack.tiles*gpuSubs)
	return l.stream.Launch(k.batchSums[v], gpu.Grid(blocks, sumsThreads),
		l.longArgs(m, gpu.U32(uint32(l.p.used.longs)))...)
}

// readPairs reads two long lists together, for queries for which planLongs chose that.
func (l *lane) readPairs(m *gpuModel) error {
	if l.p.used.longest < int64(l.g.pairsFrom) {
		return nil
	}
	blocks := min(l.g.k.batchPairsResident, (l.p.items()+7)/8)
	return l.stream.Launch(l.g.k.batchPairs, gpu.Grid(blocks, pairsThreads),
		l.longArgs(m, l.items.Arg())...)
}

// score finds candidates by looking up postings in other lists.
func (l *lane) score(m *gpuModel) error {
	k, v := &l.g.k, l.variant()
	blocks := min(k.batchScoreResident[v], (l.p.items()+3)/4)
	return l.stream.Launch(k.batchScore[v], gpu.Grid(blocks, scoreThreads),
		l.longArgs(m, l.items.Arg())...)
}

// pick sorts the best candidates of each long query, with large blocks if there are many answers.
func (l *lane) pick(*gpuModel) error {
	longs, size, threads := l.p.used.longs, 0, 128
	if l.p.used.answers > longs*smallPickAnswers {
		size, threads = 1, 512
	}
	return l.stream.Launch(l.g.k.batchPick[size], gpu.Grid(longs, threads), l.queries.Arg(),
		l.states.Arg(), l.hists.Arg(), l.keys.Arg(), l.outs.Arg())
}
