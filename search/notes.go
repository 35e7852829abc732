package search

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/internal/mmap"
	"github.com/collocate/collocate/internal/spelling"
	"github.com/collocate/collocate/search/internal/eval"
	"github.com/collocate/collocate/search/internal/tree"
	"github.com/collocate/collocate/search/query"
	"github.com/collocate/collocate/text"
)

// mostNotes is the number of parts of a query that notes name.
const mostNotes = 5

// Notes returns sentences that say why a request found nothing: words, patterns and values that no
// document has, with words of a similar spelling, or that the analyzer leaves nothing of the query.
// found is its result. query.Notes tells how the text itself was understood.
//
// It costs nothing if there are hits, or some were skipped (From, After). Otherwise it looks up the
// parts of the query again and, to suggest other words, reads those of the vocabulary that begin
// with the same letter as a missing one.
func (s *Searcher) Notes(ctx context.Context, r Request, found *Result) (notes []string, err error) {
	defer mmap.Recover(mmap.Guard(), &err)
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	joinFilter(&r)
	some := len(found.Hits) > 0 || r.K == NoHits && found.Total > 0
	if s.tree == nil || r.From > 0 || r.After != nil || some ||
		r.Query == nil && len(r.Words) == 0 && strings.TrimSpace(r.Text) == "" {
		return nil, nil
	}
	if err := s.rewrite(&r); err != nil {
		return nil, err
	}
	list, empty, err := tree.Lacks(ctx, s.tree, &r)
	if err != nil {
		return nil, err
	}
	if empty {
		return []string{fmt.Sprintf("nothing is left of the query: the analyzer %s of the index drops "+
			"its words, such as stop words, and signs", text.Short(s.index.Analyzer()))}, nil
	}
	more := list[min(len(list), mostNotes):]
	list = list[:len(list)-len(more)]
	for _, l := range list {
		if name, err := s.inField(ctx, l); err != nil {
			return nil, err
		} else if name != "" {
			notes = append(notes, fmt.Sprintf("%s, but the analyzer of the field %s finds it: %[2]s:%.60[3]s",
				lackNote(l), name, l.Text))
			continue
		}
		similar, err := s.similar(ctx, l)
		if err != nil {
			return nil, err
		}
		notes = append(notes, lackNote(l)+spelling.DidYouMean(similar))
	}
	if len(more) > 0 {
		notes = append(notes, fmt.Sprintf("nor are %d other parts of the query in any document", len(more)))
	}
	return notes, nil
}

// lackNote says that no document has a part of a query.
func lackNote(l tree.Lack) string {
	in, what := "", "word"
	if l.Field != "" {
		in = " in the field " + l.Field
	}
	if l.Value {
		what = "value"
	}
	switch part := l.Part.(type) {
	case nil:
		return fmt.Sprintf("no document has the word %.60q%s", l.Text, in)
	case query.Fuzzy:
		return fmt.Sprintf("no %s%s differs from %.60q by at most %d typing errors", what, in, part.Text, part.Edits)
	case query.Same:
		return fmt.Sprintf("no document has one of the words %.60q%s", strings.Join(part.Words, ", "), in)
	case query.Wildcard:
		return fmt.Sprintf("no %s%s fits the pattern %.60s", what, in, part.Pattern)
	case query.And:
		return fmt.Sprintf("no document has all of the values %.60s%s: say OR between them for any", part.String(), in)
	case query.IDs:
		return fmt.Sprintf("no document has the ID %.60s", strings.Join(part.IDs, ", "))
	case query.Prefix:
		return fmt.Sprintf("no %s%s begins with %.60q", what, in, part.Text)
	default:
		return fmt.Sprintf("no document has the value %.60s%s", part.String(), in)
	}
}

// inField returns the name of a text field that has a word that all text lacks, as the field has an
// analyzer of its own, or "".
func (s *Searcher) inField(ctx context.Context, l tree.Lack) (string, error) {
	schema := s.index.Schema()
	if l.Part != nil || l.Field != "" || schema == nil {
		return "", nil
	}
	for i := range schema.Fields {
		f := &schema.Fields[i]
		if f.Type != fields.Text || f.Analyzer == "" {
			continue
		}
		q := query.Field{Name: f.Name, Part: query.Term{Text: l.Text}}
		if list, empty, err := tree.Lacks(ctx, s.tree, &Request{Query: q}); err != nil || !empty && len(list) == 0 {
			return f.Name, err
		}
	}
	return "", nil
}

// similar returns words of the index with a spelling similar to that of a missing word.
func (s *Searcher) similar(ctx context.Context, l tree.Lack) ([]string, error) {
	if l.Part != nil {
		return nil, nil
	}
	suggester := spelling.New(l.Word)
	for _, e := range s.engines() {
		if l.Field != "" {
			var err error
			if e, err = e.Field(l.Field); err != nil {
				return nil, err
			}
		}
		if err := lookAt(ctx, e, l.Word, suggester); err != nil {
			return nil, err
		}
	}
	return suggester.Best(), nil
}

// lookAt shows a suggester the words of a segment that begin with the same letter as a word, small
// or capital.
func lookAt(ctx context.Context, e *eval.Engine, word string, to *spelling.Suggester) error {
	first, _ := utf8.DecodeRuneInString(word)
	letters := []rune{unicode.ToLower(first), unicode.ToUpper(first)}
	slices.Sort(letters)
	for _, letter := range slices.Compact(letters) {
		prefix := string(letter)
		n := 0
		for w, err := range e.Index.WordsFrom([]byte(prefix)) {
			if err != nil {
				return err
			}
			if !strings.HasPrefix(string(w.Text), prefix) {
				break
			}
			to.Look(w.Text, w.Term.CF)
			if n++; n%1024 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return nil
}

// engines returns those of all segments.
func (s *Searcher) engines() []*eval.Engine {
	if s.many != nil {
		return s.many.Parts
	}
	return []*eval.Engine{s.e}
}
