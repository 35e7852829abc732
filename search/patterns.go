package search

import (
	"context"
	"slices"
	"strings"

	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/tree"
	"github.com/collocate/collocate/search/query"
)

// Pattern is a pattern of a query (eclips*) with the words that it expands to in an index. A shard
// has only its own words, but a pattern is scored by the counts of all shards: see [MergePatterns].
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

// HasPatterns reports whether a query has patterns: prefixes, wildcards, fuzzy words or synonyms.
func HasPatterns(q query.Node) bool {
	switch q := q.(type) {
	case query.Prefix, query.Wildcard, query.Fuzzy, query.Same:
		return true
	case query.And:
		return slices.ContainsFunc(q.Parts, HasPatterns)
	case query.Or:
		return slices.ContainsFunc(q.Parts, HasPatterns)
	case query.Not:
		return HasPatterns(q.Part)
	case query.Filter:
		return HasPatterns(q.Part)
	case query.Must:
		return HasPatterns(q.Part)
	case query.Boost:
		return HasPatterns(q.Part)
	case query.Field:
		return HasPatterns(q.Part)
	}
	return false
}

// Patterns lists the patterns of a request's query, with their words in this index.
func (s *Searcher) Patterns(ctx context.Context, r Request) (list []Pattern, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	if err := s.rewrite(&r); err != nil {
		return nil, err
	}
	return tree.Patterns(ctx, s.tree, &r)
}

// MergePatterns makes [Request.Patterns] from the patterns of all shards of an index.
func MergePatterns(lists ...[]Pattern) (merged []Pattern, err error) {
	for _, list := range lists {
		for _, p := range list {
			same := func(q Pattern) bool { return q.Field == p.Field && q.Text == p.Text }
			if at := slices.IndexFunc(merged, same); at >= 0 {
				merged[at].Words = append(merged[at].Words, p.Words...)
			} else {
				merged = append(merged, Pattern{Field: p.Field, Text: p.Text, Words: slices.Clone(p.Words)})
			}
		}
	}
	for i := range merged {
		p := &merged[i]
		slices.SortFunc(p.Words, func(a, b PatternWord) int { return strings.Compare(a.Text, b.Text) })
		p.Words = slices.CompactFunc(p.Words, func(a, b PatternWord) bool { return a.Text == b.Text })
		if len(p.Words) > tree.MaxExpansions {
			return nil, ask.Fault(tree.TooMany(p.Text, tree.MaxExpansions))
		}
		for _, w := range p.Words {
			p.DF, p.CF = max(p.DF, w.DF), p.CF+w.CF
		}
		p.Words = nil
	}
	return merged, nil
}
