package serve

import (
	"sync/atomic"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/internal/freelist"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
)

// generation is an index that is served until another replaces it. It is closed when the last
// request that uses it has been answered.
type generation struct {
	number int // counted from 1
	about
	shard shardAbout
	// shards are the shards that a root's groups serve, by the place of the group; nil if not known
	// yet.
	shards   []atomic.Pointer[shardAbout]
	s        *search.Searcher           // nil for a root
	analyzer text.Analyzer              // counts the words of queries
	tokens   freelist.List[text.Tokens] // they keep the stems of a language
	synonyms bool                       // of a root: the index has synonyms
	own      bool                       // close s with the generation
	tag      []string                   // the ETag of answers; nil for a root
	users    atomic.Int64               // number of holders, plus one while it is current
	fault    atomic.Pointer[error]
}

func newGeneration(number int, s *search.Searcher, own bool) *generation {
	ix := s.Index()
	g := &generation{number: number, s: s, own: own, shard: aboutShard(s), tokens: newTokens(),
		tag: newTag()}
	g.about = about{ix.Analyzer(), ix.HasText(), ix.Schema(), ix.Docs()}
	g.analyzer = s.Analyzer()
	g.users.Store(1)
	return g
}

// hasSynonyms reports whether the analyzer of an index, or of one of its fields, has synonyms.
func hasSynonyms(of text.Analyzer, schema *fields.Schema) (bool, error) {
	found := text.QuerySynonyms(of) != nil
	if schema == nil {
		return found, nil
	}
	for _, i := range schema.Of(fields.Text) {
		if name := schema.Fields[i].Analyzer; name != "" {
			a, err := text.ParseAnalyzer(name)
			if err != nil {
				return false, err
			}
			found = found || text.QuerySynonyms(a) != nil
		}
	}
	return found, nil
}

// newTokens returns a list that keeps the buffers of analyzers between requests.
func newTokens() freelist.List[text.Tokens] {
	return freelist.New(func() *text.Tokens { return new(text.Tokens) })
}

// terms returns the number of distinct words of the index, 0 for a root.
func (g *generation) terms() int {
	if g.s == nil {
		return 0
	}
	return g.s.Index().Terms()
}

// analyze calls fn with the words that the index makes of a text.
func (g *generation) analyze(of string, fn func(*text.Tokens) error) error {
	tokens := g.tokens.Get()
	defer g.tokens.Put(tokens)
	if err := g.analyzer.Analyze([]byte(of), tokens); err != nil {
		return err
	}
	return fn(tokens)
}
