// Package shards answers the question: what is the answer of an index whose shards were asked
// apart?
//
// It is for servers over shards. Package search answers requests to each shard, and here answers
// become one. Programs that search one index do not need it.
//
// Experimental: it may change with any version; package collocate says what may not.
package shards

import (
	"slices"
	"strings"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/internal/spelling"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/internal/ask"
	"github.com/collocate/collocate/search/internal/tree"
	"github.com/collocate/collocate/search/query"
)

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

// MergePatterns makes Patterns of a search.Request from the patterns of all shards of an index.
func MergePatterns(lists ...[]search.Pattern) (merged []search.Pattern, err error) {
	for _, list := range lists {
		for _, p := range list {
			same := func(q search.Pattern) bool { return q.Field == p.Field && q.Text == p.Text }
			if at := slices.IndexFunc(merged, same); at >= 0 {
				merged[at].Words = append(merged[at].Words, p.Words...)
			} else {
				merged = append(merged, search.Pattern{Field: p.Field, Text: p.Text, Words: slices.Clone(p.Words)})
			}
		}
	}
	for i := range merged {
		p := &merged[i]
		slices.SortFunc(p.Words, func(a, b search.PatternWord) int { return strings.Compare(a.Text, b.Text) })
		p.Words = slices.CompactFunc(p.Words, func(a, b search.PatternWord) bool { return a.Text == b.Text })
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

// MergeFacets adds up the counts of several indexes with the same schema. Each part must have the
// counts of all values. The result is that of one index with all documents.
func MergeFacets(schema *fields.Schema, want []search.Facet,
	parts ...[]search.FacetCounts) ([]search.FacetCounts, error) {
	return tree.MergeFacets(schema, want, parts...)
}

// MergeNotes returns the notes of an index from those of its shards: what every shard lacks. Their
// suggestions are joined.
func MergeNotes(shards ...[]string) (notes []string) {
	if len(shards) == 0 {
		return nil
	}
	for _, note := range shards[0] {
		what, similar := spelling.CutDidYouMean(note)
		everywhere := true
		for _, other := range shards[1:] {
			at := slices.IndexFunc(other, func(n string) bool {
				also, _ := spelling.CutDidYouMean(n)
				return also == what
			})
			if everywhere = at >= 0; !everywhere {
				break
			}
			_, more := spelling.CutDidYouMean(other[at])
			for _, word := range more {
				if !slices.Contains(similar, word) {
					similar = append(similar, word)
				}
			}
		}
		if everywhere {
			notes = append(notes, what+spelling.DidYouMean(similar))
		}
	}
	return notes
}
