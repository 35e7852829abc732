package weigh

import (
	"context"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
)

// gpuMapReduce is MRM of the papers, for comparison: one thread per document emits (word,
// document), the pairs are sorted as strings, and one thread per word reduces.
func gpuMapReduce(ctx context.Context, t *gpuTask) (out *gpuPairs, err error) {
	n, nd := t.in.words, t.in.docs
	if err := t.upload(); err != nil {
		return nil, err
	}
	if err := t.step("map"); err != nil {
		return nil, err
	}
	starts, lengths := take[uint32](t.card, &err, nd), take[uint32](t.card, &err, nd)
	offsets := take[uint64](t.card, &err, nd)
	refs, docs := take[uint64](t.card, &err, n), take[uint32](t.card, &err, n)
	if err != nil {
		return nil, err
	}
	if _, err := t.begins(ctx, t.text, 0, starts, true); err != nil {
		return nil, err
	}
	text, bytes, docCount := t.text.Arg(), gpu.U64(uint64(t.in.bytes)), gpu.U64(uint64(nd))
	if err := t.each("mapreduce", "weigh_map_count", nd, text, bytes, starts.Arg(), lengths.Arg(),
		docCount); err != nil {
		return nil, err
	}
	if err := prim.ExclusiveScan(t.s, t.tmp.Arena, lengths, offsets); err != nil {
		return nil, err
	}
	if err := t.emitted(ctx, lengths, offsets); err != nil {
		return nil, err
	}
	// sortWords calls the function first: emitting stores the documents that the sort needs.
	heads, err := t.sortWords(refs, func(places gpu.Buffer[uint32]) error {
		if err := t.each("mapreduce", "weigh_map_emit", nd, text, bytes, starts.Arg(),
			offsets.Arg(), refs.Arg(), places.Arg(), docCount); err != nil {
			return err
		}
		return t.step("sort")
	}, docs)
	if err != nil {
		return nil, err
	}
	if err := t.step("reduce"); err != nil {
		return nil, err
	}
	list := take[uint32](t.card, &err, n)
	if err != nil {
		return nil, err
	}
	if err := prim.SelectIndex(t.s, t.tmp.Arena, heads, list, t.count); err != nil {
		return nil, err
	}
	nt, err := t.counted(ctx)
	if err != nil {
		return nil, err
	}
	begins, first := take[uint64](t.card, &err, nt+1), take[uint64](t.card, &err, nt+1)
	dfs := take[uint32](t.card, &err, nt+1)
	if err != nil {
		return nil, err
	}
	terms := gpu.U64(uint64(nt))
	if err := t.each("steps", "weigh_widen", nt+1, list.Arg(), begins.Arg(), terms, gpu.U64(uint64(n))); err != nil {
		return nil, err
	}
	if err := dfs.Zero(t.s); err != nil {
		return nil, err
	}
	if err := t.each("mapreduce", "weigh_reduce_count", nt, docs.Arg(), begins.Arg(), dfs.Arg(), terms); err != nil {
		return nil, err
	}
	if err := prim.ExclusiveScan(t.s, t.tmp.Arena, dfs, first); err != nil {
		return nil, err
	}
	var total [1]uint64
	if err := first.Slice(nt, nt+1).Download(ctx, t.s, total[:]); err != nil {
		return nil, err
	}
	np := int(total[0])
	outDocs, tfs, w := take[uint32](t.card, &err, np), take[uint32](t.card, &err, np), take[float32](t.card, &err, np)
	wordRefs := take[uint64](t.card, &err, nt)
	if err != nil {
		return nil, err
	}
	args := append([]gpu.Arg{docs.Arg(), begins.Arg(), dfs.Arg(), first.Arg(), lengths.Arg(),
		t.numbers, outDocs.Arg(), tfs.Arg(), w.Arg(),
		terms, gpu.F64(float64(t.total))}, scorerArgs(t.scorer)...)
	if err := t.each("mapreduce", "weigh_reduce_emit", nt, args...); err != nil {
		return nil, err
	}
	out = &gpuPairs{}
	if err := t.fetchPairs(ctx, out, first, outDocs, tfs, w); err != nil {
		return nil, err
	}
	if err := t.each("steps", "weigh_word_refs", nt, refs.Arg(), gpu.Null(), begins.Arg(),
		wordRefs.Arg(), terms); err != nil {
		return nil, err
	}
	return out, t.vocabulary(ctx, t.tmp.Arena, t.text, wordRefs, out)
}

// emitted checks that the mappers will emit as many words as the host counted.
func (t *gpuTask) emitted(ctx context.Context, lengths gpu.Buffer[uint32], offsets gpu.Buffer[uint64]) error {
	var before [1]uint64
	var last [1]uint32
	nd := offsets.Len()
	if err := offsets.Slice(nd-1, nd).Download(ctx, t.s, before[:]); err != nil {
		return err
	}
	if err := lengths.Slice(nd-1, nd).Download(ctx, t.s, last[:]); err != nil {
		return err
	}
	if int(before[0])+int(last[0]) != t.in.words {
		return errSeparators
	}
	return nil
}
