package index

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"

	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/internal/sections"
	"github.com/collocate/collocate/text"
)

// Shard describes an index that is a part of another one, the whole. A shard holds a range of the
// whole's documents and weighs words and lengths by the statistics of the whole. So a document has
// exactly the same score in both, and merging the best documents of all shards gives the answers of
// the whole.
type Shard struct {
	Number int    // counted from 0
	Of     int    // number of shards; 0 if the index is not a shard
	Base   uint32 // number of its first document in the whole
	Docs   uint64 // documents of the whole
	Tokens uint64 // tokens of the whole, from which the mean length is computed
	// WholeBytes is the size in the Stamp of the whole index, or the sum of those of its parts (see
	// JoinShard). Shards that differ in it or in WholeChecksum do not belong together.
	WholeBytes uint64
	// WholeChecksum is the checksum in the Stamp of the whole index, or one of those of its parts.
	WholeChecksum uint32
}

// MaxShards is the largest number of shards that an index can be split into.
const MaxShards = 1 << 16

// Shard returns which part of another index this is. Its field Of is 0 if the index is not a shard.
func (r *Reader) Shard() Shard { return r.meta.shard }

// Whole returns the numbers of documents and tokens that scores are computed with: those of the
// whole index if this is a shard, and otherwise its own.
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

// WriteShard writes one shard of an index to the folder dir; see Create for what dir may contain.
// Shards are numbered from 0. Of n documents, shard i holds those from i·n/of up to, but not
// including, (i+1)·n/of, with their stored text and fields.
func WriteShard(ctx context.Context, r *Reader, dir string, number, of int, o MergeOptions) (err error) {
	if err := given.Context(ctx); err != nil {
		return err
	}
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
	s := Shard{Number: number, Of: of, Base: uint32(from)}
	return merge(ctx, dir, []Source{{Reader: r, Live: live}}, s, []*Reader{r}, o)
}

// JoinShard writes parts[number] to the folder dir as a shard of the concatenation of all parts.
// The concatenation itself is never built, so the parts of a collection can be indexed on several
// machines. A part that comes twice is an error; IDs that occur in two parts are not detected (see
// SharedIDs).
func JoinShard(ctx context.Context, parts []*Reader, number int, dir string, o MergeOptions) (err error) {
	if err := given.Context(ctx); err != nil {
		return err
	}
	defer mmap.Recover(mmap.Guard(), &err)
	if number < 0 || number >= len(parts) || len(parts) > MaxShards {
		return fmt.Errorf("index: shard %d of %d: want at most %d", number, len(parts), MaxShards)
	}
	docs, base := uint64(0), uint64(0)
	for i, p := range parts {
		if err := p.unlessPart("join"); err != nil {
			return err
		}
		if p.analyzer != parts[0].analyzer {
			return fmt.Errorf("join %s and %s: their analyzers are %s and %s", parts[0].dir,
				p.dir, text.Short(parts[0].analyzer), text.Short(p.analyzer))
		}
		if err := parts[0].alike(p); err != nil {
			return fmt.Errorf("join %s and %s: %w", parts[0].dir, p.dir, err)
		}
		for j, other := range parts[:i] {
			if filepath.Clean(p.dir) == filepath.Clean(other.dir) {
				return fmt.Errorf("join: parts %d and %d are the same index (%s), whose documents would count twice",
					j, i, p.dir)
			}
		}
		if i == number {
			base = docs
		}
		docs += p.meta.docs
	}
	if docs >= maxDocs {
		return fmt.Errorf("index: %d documents in all parts: want at most %d", docs, maxDocs-1)
	}
	s := Shard{Number: number, Of: len(parts), Base: uint32(base)}
	return merge(ctx, dir, []Source{{Reader: parts[number]}}, s, parts, o)
}

// shardOf makes the Writer write a shard. The indexes in whole, concatenated, are the whole index,
// whose statistics it records.
func (w *Writer) shardOf(whole []*Reader, s Shard) error {
	if len(whole) == 1 {
		s.WholeBytes, s.WholeChecksum = whole[0].Stamp()
	}
	walk := &joinWalker{}
	for _, r := range whole {
		s.Docs, s.Tokens = s.Docs+r.meta.docs, s.Tokens+r.meta.tokens
		if len(whole) > 1 {
			s.WholeBytes += r.stamp.size
			s.WholeChecksum = crc32.Update(s.WholeChecksum, crc32.IEEETable,
				binary.LittleEndian.AppendUint32(nil, r.stamp.crc))
		}
		one := mergeWalk{walk: termWalker{d: r.dict}}
		if err := one.next(); err != nil {
			return err
		}
		walk.parts = append(walk.parts, &one)
	}
	w.meta.shard, w.full = s, walk
	w.terms.keepFull()
	w.meta.flags |= flagShard
	return nil
}

// joinWalker iterates over the words of several indexes, with their counts added up.
type joinWalker struct {
	parts []*mergeWalk
	word  []byte
}

func (j *joinWalker) next() (word []byte, t Term, ok bool, err error) {
	for _, p := range j.parts {
		if !p.ended && (!ok || bytes.Compare(p.word, j.word) < 0) {
			j.word, ok = append(j.word[:0], p.word...), true
		}
	}
	if !ok {
		return nil, t, false, nil
	}
	df := uint64(0)
	for _, p := range j.parts {
		if p.ended || !bytes.Equal(p.word, j.word) {
			continue
		}
		df += uint64(p.term.FullDF())
		t.CF += p.term.CF
		if err := p.next(); err != nil {
			return nil, t, false, err
		}
	}
	t.DF = uint32(df) // there are fewer documents than 2^32
	return j.word, t, true, nil
}

// ErrShard is returned for operations that need a whole index if the index is a shard.
var ErrShard = errors.New("not supported for a shard")

var errShard = fmt.Errorf("%w: use the index that it was cut from", ErrShard)

// unlessPart returns an error if the index is pruned or a shard, and so lacks postings.
func (r *Reader) unlessPart(what string) error {
	switch {
	case r.Pruned():
		return fmt.Errorf("%s %s: postings were pruned", what, r.dir)
	case r.meta.shard.Of > 0:
		return fmt.Errorf("%s %s: %w", what, r.dir, errShard)
	}
	return nil
}
