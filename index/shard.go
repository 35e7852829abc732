package index

import (
	"context"
	"errors"
	"fmt"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/internal/sections"
)

// Shard says which part of another index, the whole, an index is. Shards have ranges of the whole's
// documents, in their order, and weigh words and lengths by the counts of the whole. So a document
// has the score that it has there, to the bit, and merging the best of all shards gives its answers.
type Shard struct {
	Number int    // from 0 on
	Of     int    // how many shards there are; 0: the index is no shard
	Base   uint32 // the number of its first document in the whole
	Docs   uint64 // of the whole
	Tokens uint64 // of the whole, from which the mean length is computed
	// WholeBytes and WholeChecksum are the Stamp of the whole: shards that differ do not go together.
	WholeBytes    uint64
	WholeChecksum uint32
}

// MaxShards is the most shards that an index can be cut into.
const MaxShards = 1 << 16

// Shard says which part of another index this is; Of is 0 if it is none.
func (r *Reader) Shard() Shard { return r.meta.shard }

// Whole counts the documents and words by which scores are computed: those of the index of which
// this is a shard, or its own.
func (r *Reader) Whole() (docs, tokens uint64) {
	if s := &r.meta.shard; s.Of > 0 {
		return s.Docs, s.Tokens
	}
	return r.meta.docs, r.meta.tokens
}

func (s *Shard) numbers() []uint64 {
	return []uint64{
		uint64(s.Number), uint64(s.Of), uint64(s.Base), s.Docs, s.Tokens, s.WholeBytes, uint64(s.WholeChecksum),
	}
}

// readShard reads which shard this is.
func (r *Reader) readShard(f *sections.File) error {
	n, err := view[uint64](f, "shard")
	if err != nil {
		return err
	}
	if len(n) != 7 || n[1] == 0 || n[1] > MaxShards || n[0] >= n[1] || n[3] >= maxDocs ||
		r.meta.docs > n[3] || n[2] > n[3]-r.meta.docs || n[6] >= 1<<32 {
		return fmt.Errorf("corrupted: shard %v of %d documents", n, r.meta.docs)
	}
	r.meta.shard = Shard{
		Number: int(n[0]), Of: int(n[1]), Base: uint32(n[2]), Docs: n[3], Tokens: n[4],
		WholeBytes: n[5], WholeChecksum: uint32(n[6]),
	}
	return nil
}

// WriteShard writes shard number of so many, counted from 0, as an index to the folder dir: see
// Create for what may be there. Shard i has the documents from i·n/of to (i+1)·n/of of the n that
// there are, with their stored text and fields.
func WriteShard(ctx context.Context, r *Reader, dir string, number, of int, o MergeOptions) (err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	docs := uint64(r.Docs())
	if of < 1 || of > MaxShards || uint64(of) > max(1, docs) || number < 0 || number >= of {
		return fmt.Errorf("index: shard %d of %d: want at most %d of %d documents", number, of, MaxShards, docs)
	}
	if err := r.unlessPart("shards of"); err != nil {
		return err
	}
	from, to := docs*uint64(number)/uint64(of), docs*(uint64(number)+1)/uint64(of)
	live := docset.New(int(docs))
	live.AddRange(uint32(from), uint32(to))
	return merge(ctx, dir, []Source{{Reader: r, Live: live}}, Shard{Number: number, Of: of, Base: uint32(from)}, o)
}

// shardOf says that the words are those of r, of whose documents there are some.
func (w *Writer) shardOf(r *Reader, s Shard) {
	s.Docs, s.Tokens = r.meta.docs, r.meta.tokens
	s.WholeBytes, s.WholeChecksum = r.Stamp()
	w.meta.shard = s
	w.full = &termWalker{d: r.dict}
	w.terms.keepFull()
	w.meta.flags |= flagShard
}

// ErrShard says that something cannot be had from a shard.
var ErrShard = errors.New("a shard cannot do that")

var errShard = fmt.Errorf("%w: use the index that it was cut from", ErrShard)

// unlessPart is an error if postings that belong to the index are not in it.
func (r *Reader) unlessPart(what string) error {
	switch {
	case r.Pruned():
		return fmt.Errorf("%s %s: postings were pruned", what, r.dir)
	case r.meta.shard.Of > 0:
		return fmt.Errorf("%s %s: %w", what, r.dir, errShard)
	}
	return nil
}
