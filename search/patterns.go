package search

import (
	"context"

	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/tree"
)

// Pattern is a pattern of a query (eclips*) with the words that it expands to in an index. A shard
// has only its own words, but a pattern is scored by the counts of all shards: see
// [Request.Patterns].
//
//	type Pattern struct {
//		Field string        // "" means the text
//		Text  string
//		Words []PatternWord // in byte order
//		DF    uint32        // highest DF of its words
//		CF    uint64        // sum of the CF of its words
//	}
type Pattern = ask.Pattern

// PatternWord is a word of a pattern with its counts.
//
//	type PatternWord struct {
//		Text string
//		DF   uint32
//		CF   uint64
//	}
type PatternWord = ask.PatternWord

// Patterns lists the patterns of a request's query, with their words in this index.
func (s *Searcher) Patterns(ctx context.Context, r Request) (list []Pattern, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	joinFilter(&r)
	if err := s.rewrite(&r); err != nil {
		return nil, err
	}
	return tree.Patterns(ctx, s.tree, &r)
}
