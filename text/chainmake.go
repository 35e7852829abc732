package text

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// parseChain makes a chain. Its first step may be an analyzer of own.
func parseChain(declared string, own []Analyzer) (*chain, error) {
	list, err := splitChain(declared)
	if err != nil {
		return nil, err
	}
	fail := func(format string, args ...any) (*chain, error) {
		return nil, fmt.Errorf("analyzer %q: %w", Short(declared), fmt.Errorf(format, args...))
	}
	first, err := tokenizer(list[0], own)
	if err != nil {
		return fail("%w", err)
	}
	docs, query := &chain{first: first}, &chain{first: first}
	names := []string{list[0].String()}
	differs := false
	for _, s := range list[1:] {
		s, side, err := makeStep(s)
		if err != nil {
			return fail("%w", err)
		}
		names = append(names, s.String())
		if s.name == "synonyms" && side == ofQuery {
			rules, err := ParseSynonyms([]byte(s.argument))
			if err != nil {
				return fail("step synonyms: %w", err)
			}
			if query.synonyms != nil {
				return fail("step synonyms: there are two for queries: join their rules")
			}
			query.synonyms, differs = rules, true
			continue
		}
		if query.synonyms != nil && side&ofQuery != 0 {
			return fail("step %s: synonyms of queries are the last step: write synonyms behind it", s.name)
		}
		for _, c := range []*chain{docs, query} {
			if c == docs && side&ofIndex == 0 || c == query && side&ofQuery == 0 {
				differs = true
				continue
			}
			if err := c.add(s); err != nil {
				return fail("step %s: %w", s.name, err)
			}
		}
	}
	docs.name = strings.Join(names, " | ")
	query.name, docs.synonyms = docs.name, query.synonyms
	if l, ok := first.(interface{ ForQuery() Analyzer }); ok {
		query.first, differs = l.ForQuery(), true
	}
	if differs {
		docs.query = query
	}
	if docs.synonyms != nil {
		if query.has("ngrams") || query.has("edge") {
			return fail("step synonyms: queries are split into n-grams, which are no words: leave out one of the two")
		}
		if _, err := docs.synonyms.table(query); err != nil {
			return fail("step synonyms: %w", err)
		}
	}
	return docs, nil
}

// tokenizer returns the first step of a chain.
func tokenizer(s stepText, own []Analyzer) (Analyzer, error) {
	if s.side != 0 {
		return nil, fmt.Errorf("step %s: documents and queries are split in the same way", s.name)
	}
	if s.given {
		return nil, fmt.Errorf("step %s: it takes no argument", s.name)
	}
	switch s.name {
	case "words":
		return wordTokens{}, nil
	case "code":
		return codeTokens{}, nil
	case "value":
		return valueTokens{}, nil
	}
	if slices.Contains(Filters(), s.name) {
		return nil, fmt.Errorf("step %s: the first step splits the text: want %s or an analyzer such as unicode",
			s.name, strings.Join(Tokenizers(), ", "))
	}
	if OfWeights(s.name) {
		return nil, fmt.Errorf("step %s: it reads weighted tokens, which no other step may change", s.name)
	}
	return ParseAnalyzer(s.name, own...)
}

// makeStep returns the canonical form of a filter, and the side on which it works.
func makeStep(s stepText) (stepText, int, error) {
	usual := both
	fail := func(format string, args ...any) (stepText, int, error) {
		return s, 0, fmt.Errorf("step %s: %w", s.name, fmt.Errorf(format, args...))
	}
	if strings.HasPrefix(s.argument, "@") {
		return fail("%s is a file, which is read where the index is made: give its contents instead", s.argument)
	}
	switch s.name {
	case "lower":
		if s.given && s.argument != "turkish" {
			return fail("%q: want no argument, or turkish", s.argument)
		}
	case "fold", "parts", "possessive":
		if s.given {
			return fail("it takes no argument")
		}
	case "elide":
		if s.argument = languageName(s.argument); elided[s.argument] == "" {
			return fail("%q: want french or italian", s.argument)
		}
	case "stem":
		if s.argument = languageName(s.argument); stemmers[s.argument] == nil {
			return fail("%q: want one of %s", s.argument, strings.Join(languages(), ", "))
		}
	case "stop":
		if !s.given || s.argument == "" {
			return fail("want stop(LANGUAGE), stop(WORD, WORD, ...) or stop(@FILE)")
		}
		if name := languageName(s.argument); stopList(name) != nil {
			s.argument = name
			break
		}
		words := splitList(s.argument)
		if len(words) == 0 {
			return fail("no words in %q", s.argument)
		}
		s.argument = listed(words)
	case "ngrams", "edge":
		from, to, err := gramSizes(s.name, s.argument)
		if err != nil {
			return fail("%w", err)
		}
		s.argument = fmt.Sprintf("%d-%d", from, to)
		if from == to {
			s.argument = strconv.Itoa(from)
		}
		if s.name == "edge" {
			usual = ofIndex
		}
	case "synonyms":
		rules, err := ParseSynonyms([]byte(s.argument))
		if err != nil {
			return fail("%w", err)
		}
		s.argument, usual = rules.String(), ofQuery
	default:
		return s, 0, fmt.Errorf("unknown step %q: want %s", s.name, strings.Join(Filters(), ", "))
	}
	if s.side == usual {
		s.side = 0 // it need not be said
	}
	if s.side != 0 {
		usual = s.side
	}
	return s, usual, nil
}

// add appends a step to one side of a chain.
func (c *chain) add(s stepText) error {
	made := chainStep{text: s.name}
	if s.given {
		made.text += "(" + s.argument + ")"
	}
	grams := c.has("ngrams") || c.has("edge")
	switch s.name {
	case "lower":
		made.folds = true
		made.filter = eachWord{func(dst, word []byte) []byte { return appendLower(dst, word, foldWithQuote) }}
		if s.argument == "turkish" {
			made.filter = eachWord{func(dst, word []byte) []byte { return appendLower(dst, word, foldTurkish) }}
		}
	case "fold":
		made.folds, made.filter = true, eachWord{appendUnaccented}
	case "possessive":
		made.filter = eachWord{func(dst, word []byte) []byte {
			return append(dst, withoutPossessive(string(word))...)
		}}
	case "elide":
		articles := elided[s.argument]
		made.filter = eachWord{func(dst, word []byte) []byte { return appendElided(dst, word, articles) }}
	case "stem":
		if grams {
			return errors.New("n-grams have no stem: write it before them")
		}
		if l, ok := c.first.(*language); ok && l.stem != nil || c.has("stem") || ok && l.lucene {
			return errors.New("the words are stemmed already")
		}
		l := &language{name: made.text, stem: stemmers[s.argument]}
		made.filter = stemFilter{l}
	case "stop":
		stops, err := c.stops(s.argument)
		if err != nil {
			return err
		}
		made.filter = stopFilter(stops)
	case "parts":
		if c.stacked {
			return errors.New("write it before steps that make several words of one")
		}
		c.stacked, c.sourced = true, true
		made.filter = partsFilter{}
	case "ngrams", "edge":
		if grams {
			return errors.New("the words are n-grams already")
		}
		if s.name == "ngrams" && c.stacked {
			return errors.New("n-grams of a word and of its parts would overlap: leave out one of the two")
		}
		from, to, err := gramSizes(s.name, s.argument)
		if err != nil {
			return err
		}
		c.stacked, c.sourced = true, true
		if made.filter = edgeFilter([2]int{from, to}); s.name == "ngrams" {
			made.filter = gramFilter([2]int{from, to})
		}
	case "synonyms": // of documents
		if c.stacked {
			return errors.New("write it before steps that make several words of one")
		}
		rules, err := ParseSynonyms([]byte(s.argument))
		if err != nil {
			return err
		}
		table, err := rules.table(c)
		if err != nil {
			return err
		}
		c.stacked, c.sourced = true, true
		made.filter = synonymFilter{table}
	}
	c.steps = append(c.steps, made)
	return nil
}

// stops returns a set of stop words as the steps so far make them.
func (c *chain) stops(argument string) (map[string]bool, error) {
	list, builtIn := stopList(argument), true
	if list == nil {
		list, builtIn = splitList(argument), false
	}
	before := chain{first: c.first, steps: c.steps, sourced: c.sourced, stacked: c.stacked}
	set := make(map[string]bool, len(list))
	var t Tokens
	for _, word := range list {
		if err := before.Analyze([]byte(word), &t); err != nil {
			return nil, err
		}
		if len(t.Words) == 1 {
			set[string(t.Word(0))] = true
		} else if !builtIn {
			return nil, fmt.Errorf("%q is %d words to the steps before: want one", word, len(t.Words))
		}
	}
	return set, nil
}

// stopList returns the stop words of a language, or nil.
func stopList(name string) []string {
	if name == "porter" {
		name = "english"
	}
	data, err := stopLists.ReadFile("stopwords/" + name + ".txt")
	if err != nil {
		return nil
	}
	return StopWords(data)
}

// The largest sizes of n-grams in characters. They bound what a document grows to: 36 times its
// size if all sizes up to maxGram are wanted, and 32 times with all prefixes up to maxEdge.
const (
	maxGram = 8
	maxEdge = 64
)

// gramSizes parses N or FROM-TO.
func gramSizes(step, s string) (from, to int, err error) {
	most := maxGram
	if step == "edge" {
		most = maxEdge
	}
	a, b, ranged := strings.Cut(s, "-")
	if !ranged {
		b = a
	}
	from, err = strconv.Atoi(strings.TrimSpace(a))
	if err == nil {
		to, err = strconv.Atoi(strings.TrimSpace(b))
	}
	if err != nil || from < 1 || to < from || to > most {
		return 0, 0, fmt.Errorf("sizes %q: want N or FROM-TO characters, such as 3 or 2-5, at most %d", s, most)
	}
	return from, to, nil
}
