package text

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// chain is an analyzer that is declared as a tokenizer and filters. Its name is the declaration in
// its canonical form, so whatever stores the name of an analyzer stores the whole chain, with its
// lists of stop words and synonyms.
type chain struct {
	name     string
	first    Analyzer
	steps    []chainStep // of documents
	sourced  bool        // a step needs Tokens.Source
	stacked  bool        // words may share a position
	query    *chain      // what is done with queries; nil if it is the same
	synonyms *Synonyms   // of queries; nil if there are none
}

// chainStep is a filter of a chain.
type chainStep struct {
	text   string // canonical form
	filter filter
	folds  bool // it is also applied to patterns of queries: lower and fold
}

// filter changes the words of a document.
type filter interface {
	filter(doc []byte, t *Tokens)
}

// isChain reports whether a name declares a chain.
func isChain(name string) bool {
	if strings.Contains(name, "|") {
		return true
	}
	word, _, _ := strings.Cut(strings.TrimSpace(name), "(")
	return slices.Contains(Tokenizers(), word)
}

// Tokenizers returns the names of the tokenizers that are only steps of chains. The first step of a
// chain may also be any other analyzer.
func Tokenizers() []string { return []string{"words", "code", "value"} }

// Filters returns the names of the filters of chains.
func Filters() []string {
	return []string{"lower", "fold", "elide", "possessive", "stop", "stem", "parts", "ngrams", "edge",
		"synonyms"}
}

// A side of a chain.
const (
	ofIndex = 1 << iota // documents
	ofQuery             // queries
	both    = ofIndex | ofQuery
)

var sideNames = map[string]int{"index": ofIndex, "query": ofQuery}

// stepText is a step as it is written: [SIDE:]NAME[(ARGUMENT)].
type stepText struct {
	side     int // 0 if none is named
	name     string
	argument string // with its escapes
	given    bool   // there is an argument
}

func (s stepText) String() string {
	out := s.name
	for name, side := range sideNames {
		if side == s.side {
			out = name + ":" + out
		}
	}
	if s.given {
		out += "(" + s.argument + ")"
	}
	return out
}

// maxSteps bounds the steps of a chain.
const maxSteps = 32

// splitChain returns the steps of a declaration.
func splitChain(declared string) (list []stepText, err error) {
	rest := declared
	for {
		s, after, err := cutStep(rest)
		if err != nil {
			return nil, fmt.Errorf("analyzer %q: %w", Short(declared), err)
		}
		list = append(list, s)
		if after == "" {
			break
		}
		if rest = after[1:]; strings.TrimSpace(rest) == "" {
			return nil, fmt.Errorf("analyzer %q: a step is missing after |", Short(declared))
		}
	}
	if len(list) > maxSteps {
		return nil, fmt.Errorf("analyzer %q: %d steps: want at most %d", Short(declared), len(list), maxSteps)
	}
	return list, nil
}

// cutStep returns the first step, and what follows from its | on, which is empty after the last.
func cutStep(s string) (step stepText, after string, err error) {
	at := strings.IndexAny(s, "|(")
	if at < 0 {
		at = len(s)
	}
	step.name = strings.TrimSpace(s[:at])
	if side, name, ok := strings.Cut(step.name, ":"); ok && sideNames[side] != 0 {
		step.side, step.name = sideNames[side], strings.TrimSpace(name)
	}
	if step.name == "" {
		return step, "", errors.New("a step is missing: want STEP | STEP | ..., as in words | lower | stem(english)")
	}
	if at == len(s) || s[at] == '|' {
		return step, s[at:], nil
	}
	end := at + 1
	for end < len(s) && s[end] != ')' {
		if s[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(s) {
		return step, "", fmt.Errorf("step %s: the parenthesis is not closed", step.name)
	}
	step.argument, step.given = strings.TrimSpace(s[at+1:end]), true
	after = strings.TrimSpace(s[end+1:])
	if after != "" && after[0] != '|' {
		return step, "", fmt.Errorf("step %s: want | after it, not %.20q", step.name, after)
	}
	return step, after, nil
}

// Canonical returns the name that an index stores for a declared analyzer: that of a chain has its
// steps in one form. Other names, and those that are not valid, stay as they are.
func Canonical(name string) string {
	if !isChain(name) {
		return name
	}
	list, err := splitChain(name)
	if err != nil {
		return name
	}
	out := make([]string, len(list))
	for i, s := range list {
		if i > 0 {
			made, _, err := makeStep(s)
			if err != nil {
				return name
			}
			s = made
		}
		out[i] = s.String()
	}
	return strings.Join(out, " | ")
}

// Inline returns a declared analyzer with the contents of files in place of their names: those of
// stop(@FILE) and synonyms(@FILE). Indexes store the contents, so they need no file later.
func Inline(name string, read func(file string) ([]byte, error)) (string, error) {
	if !isChain(name) || !strings.Contains(name, "@") {
		return name, nil
	}
	list, err := splitChain(name)
	if err != nil {
		return "", err
	}
	out := make([]string, len(list))
	for i, s := range list {
		if file, ok := strings.CutPrefix(s.argument, "@"); ok {
			data, err := read(file)
			if err != nil {
				return "", fmt.Errorf("analyzer: step %s: %w", s.name, err)
			}
			switch s.name {
			case "stop":
				s.argument = listed(StopWords(data))
				if s.argument == "" {
					return "", fmt.Errorf("analyzer: step stop: no words in %s", file)
				}
			case "synonyms":
				rules, err := ParseSynonyms(data)
				if err != nil {
					return "", fmt.Errorf("%s: %w", file, err)
				}
				s.argument = rules.String()
			default:
				return "", fmt.Errorf("analyzer: step %s: it takes no file", s.name)
			}
		}
		out[i] = s.String()
	}
	return strings.Join(out, " | "), nil
}

// WithSynonyms returns the name of the analyzer that also finds synonyms of the words of queries.
func WithSynonyms(name string, s *Synonyms) string {
	return Canonical(name + " | synonyms(" + s.String() + ")")
}

// Short returns the name of an analyzer for people: long lists in it are abbreviated.
func Short(name string) string {
	const most = 120
	if len(name) <= most {
		return name
	}
	var b strings.Builder
	for rest := name; rest != ""; {
		at := strings.IndexAny(rest, "(:") + 1 // a list begins behind it
		if at == 0 {
			b.WriteString(head(rest, most))
			break
		}
		end := at
		for end < len(rest) && rest[end] != ')' {
			if rest[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end, len(rest))
		b.WriteString(head(rest[:at], most) + head(rest[at:end], most/2))
		rest = rest[end:]
	}
	return b.String()
}

// head returns a text, or its beginning and its length if it is longer.
func head(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return fmt.Sprintf("%s... %d bytes", strings.ToValidUTF8(s[:most], ""), len(s))
}

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

// has reports whether a chain has a step of that name.
func (c *chain) has(name string) bool {
	return slices.ContainsFunc(c.steps, func(s chainStep) bool {
		return s.text == name || strings.HasPrefix(s.text, name+"(")
	})
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

// languageCodes are the codes of ISO 639-1 of the languages that have stemmers.
var languageCodes = map[string]string{"ar": "arabic", "da": "danish", "nl": "dutch", "en": "english",
	"fi": "finnish", "fr": "french", "de": "german", "hu": "hungarian", "ga": "irish", "it": "italian",
	"no": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian", "es": "spanish",
	"sv": "swedish", "ta": "tamil", "tr": "turkish"}

// languageName returns the name of a language that is given as a name or a code.
func languageName(s string) string {
	s = strings.TrimSpace(s)
	if name := languageCodes[s]; name != "" {
		return name
	}
	return s
}

// splitList returns words that are separated by commas.
func splitList(s string) (list []string) {
	for _, part := range splitEscaped(s, ',') {
		if word := strings.TrimSpace(unescape(part)); word != "" {
			list = append(list, word)
		}
	}
	return list
}

// listed is the inverse of splitList. One word that names a language is not the list of that
// language: a comma follows it.
func listed(words []string) string {
	escaped := make([]string, len(words))
	for i, w := range words {
		escaped[i] = escapeIn(w)
	}
	out := strings.Join(escaped, ", ")
	if len(words) == 1 && (stopList(languageName(words[0])) != nil || strings.HasPrefix(out, "@")) {
		out += ","
	}
	return out
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

func (c *chain) Name() string { return c.name }

// ForQuery returns the analyzer of queries.
func (c *chain) ForQuery() Analyzer {
	if c.query != nil {
		return c.query
	}
	return c
}

// ForQuery returns the analyzer for the words of queries, which may differ from that for documents:
// a chain may apply a step to one of them only. An analyzer of your own has the method ForQuery if
// it differs.
func ForQuery(a Analyzer) Analyzer {
	if q, ok := a.(interface{ ForQuery() Analyzer }); ok {
		return q.ForQuery()
	}
	return a
}

// QuerySynonyms returns the synonyms that an analyzer has for the words of queries, or nil.
func QuerySynonyms(a Analyzer) *Synonyms {
	if c, ok := a.(*chain); ok {
		return c.synonyms
	}
	return nil
}

// Stacks reports whether an analyzer may put several words at one position: a word and its parts,
// or n-grams.
func Stacks(a Analyzer) bool {
	c, ok := a.(*chain)
	return ok && c.stacked
}

// Normalize returns part of a word, such as the prefix of a pattern, as an analyzer would change
// its characters: case and accents, but not stems.
func Normalize(a Analyzer, s string) string {
	c, ok := a.(*chain)
	if !ok {
		if a.Name() == "whitespace" {
			return s
		}
		return norm.NFC.String(strings.ToLower(s))
	}
	switch c.first.(type) {
	case wordTokens, codeTokens, valueTokens:
		s = norm.NFC.String(s)
	default:
		s = Normalize(c.first, s)
	}
	for _, step := range c.steps {
		if step.folds {
			s = string(step.filter.(eachWord).change(nil, []byte(s)))
		}
	}
	return s
}

func (c *chain) Analyze(doc []byte, t *Tokens) error {
	wanted := t.WantSource
	t.WantSource = wanted || c.sourced
	err := c.first.Analyze(doc, t)
	t.WantSource = wanted
	if err != nil {
		return err
	}
	t.At = t.At[:0]
	for _, s := range c.steps {
		s.filter.filter(doc, t)
		if uint64(len(t.Bytes)) > maxDocument {
			return tooLarge(len(doc))
		}
	}
	t.distinct()
	return nil
}

// Step is what one step of an analyzer makes of a text.
type Step struct {
	Step  string      `json:"step"`  // the step, as it is declared
	Words []StepToken `json:"words"` // in the order of the text
}

// StepToken is a word after a step.
type StepToken struct {
	Word     string `json:"word"`     // as the step leaves it
	Start    uint32 `json:"start"`    // offset of its first byte in the text
	End      uint32 `json:"end"`      // offset behind its last byte
	Position uint32 `json:"position"` // place among the words, from 0, by which phrases match
}

// Steps returns the words of a text after each step of an analyzer. An analyzer that is no chain is
// one step. Synonyms of queries are a step that lists, at the position of each word or phrase that
// has any, what is searched for as well.
func Steps(a Analyzer, doc []byte) (list []Step, err error) {
	c, ok := a.(*chain)
	if !ok {
		c = &chain{first: a}
	}
	t := Tokens{WantSource: true}
	for n := range len(c.steps) + 1 {
		part := *c
		part.steps = c.steps[:n]
		if err := part.Analyze(doc, &t); err != nil {
			return nil, err
		}
		name := c.first.Name()
		if n > 0 {
			name = c.steps[n-1].text
		}
		list = append(list, Step{Step: name, Words: t.list()})
	}
	if c.synonyms == nil || c.query != nil { // a chain of documents
		return list, nil
	}
	words := list[len(list)-1].Words
	said, err := Said(c, c.synonyms, string(doc))
	if err != nil {
		return nil, err
	}
	last := Step{Step: "synonyms", Words: []StepToken{}}
	for _, p := range said {
		place := uint32(0)
		for _, w := range words {
			if w.Start >= p.Source.Start && w.End <= p.Source.End {
				if len(p.Or) == 0 {
					last.Words = append(last.Words, w)
				} else {
					place = w.Position
					break
				}
			}
		}
		for _, other := range p.Or {
			last.Words = append(last.Words, StepToken{other, p.Source.Start, p.Source.End, place})
		}
	}
	return append(list, last), nil
}

func (t *Tokens) list() []StepToken {
	out := make([]StepToken, len(t.Words))
	for i := range out {
		out[i] = StepToken{strings.ToValidUTF8(string(t.Word(i)), "\ufffd"), t.Source[i].Start,
			t.Source[i].End, t.place(i)}
	}
	return out
}

// place returns the position of a word.
func (t *Tokens) place(i int) uint32 {
	if len(t.At) > 0 {
		return t.At[i]
	}
	return uint32(i)
}

// positions fills At with the positions of words that have none of their own yet.
func (t *Tokens) positions() {
	if len(t.At) > 0 || len(t.Words) == 0 {
		return
	}
	t.At = slices.Grow(t.At[:0], len(t.Words))
	for i := range t.Words {
		t.At = append(t.At, uint32(i))
	}
}

// distinct drops words that are the same as others at the same position, since lists of positions
// rise.
func (t *Tokens) distinct() {
	if len(t.At) == 0 {
		return
	}
	kept, group := 0, 0 // words that are kept, and the first of those at the current position
	for i := range t.Words {
		if kept > 0 && t.At[i] != t.At[kept-1] {
			group = kept
		}
		same := false
		for j := group; j < kept && !same; j++ {
			same = string(t.Word(j)) == string(t.Word(i))
		}
		if same {
			continue
		}
		t.Words[kept], t.At[kept], t.Source[kept] = t.Words[i], t.At[i], t.Source[i]
		kept++
	}
	t.Words, t.At, t.Source = t.Words[:kept], t.At[:kept], t.Source[:kept]
}

// room returns one of two buffers, in turn: a filter reads from one and writes to the other.
func (t *Tokens) room() []byte {
	t.turn ^= 1
	return t.rooms[t.turn][:0]
}

// use makes a buffer, which room returned, the bytes of the words.
func (t *Tokens) use(out []byte) { t.rooms[t.turn], t.Bytes = out, out }

// eachWord is a filter that changes words one by one, and drops those of which nothing is left.
type eachWord struct {
	// change appends what becomes of a word.
	change func(dst, word []byte) []byte
}

func (f eachWord) filter(_ []byte, t *Tokens) {
	out, kept := t.room(), 0
	for i := range t.Words {
		start := len(out)
		out = f.change(out, t.Word(i))
		if len(out) > start {
			t.move(kept, i, Span{uint32(start), uint32(len(out))})
			kept++
		}
	}
	t.use(out)
	t.truncate(kept)
}

// move makes word i the word at index to, with the given bytes.
func (t *Tokens) move(to, i int, word Span) {
	t.Words[to] = word
	if len(t.Source) > 0 {
		t.Source[to] = t.Source[i]
	}
	if len(t.At) > 0 {
		t.At[to] = t.At[i]
	}
}

// truncate keeps the first n words.
func (t *Tokens) truncate(n int) {
	t.Words = t.Words[:n]
	t.Source = t.Source[:min(n, len(t.Source))]
	t.At = t.At[:min(n, len(t.At))]
}

// stopFilter drops words.
type stopFilter map[string]bool

func (f stopFilter) filter(_ []byte, t *Tokens) {
	kept := 0
	for i, w := range t.Words {
		if !f[string(t.Word(i))] {
			t.move(kept, i, w)
			kept++
		}
	}
	t.truncate(kept)
}

// stemFilter stems words, as the languages do.
type stemFilter struct{ l *language }

func (f stemFilter) filter(_ []byte, t *Tokens) {
	t.stems.use(f.l)
	out := t.room()
	for i, w := range t.Words {
		start := len(out)
		out = t.stems.appendStem(out, t.Bytes, w)
		t.Words[i] = Span{uint32(start), uint32(len(out))}
	}
	t.use(out)
}

// appendLower appends a word with its case folded, in NFC.
func appendLower(dst, word []byte, fold func(rune) rune) []byte {
	start := len(dst)
	dst, _, composed := appendFolded(dst, word, fold)
	if !composed && !norm.NFC.IsNormal(dst[start:]) {
		dst = append(dst[:start], norm.NFC.Bytes(dst[start:])...)
	}
	return dst
}

// appendElided appends a word without an elided article before it: l'avion becomes avion.
func appendElided(dst, word []byte, articles string) []byte {
	if article, rest, ok := strings.Cut(string(word), "'"); ok && rest != "" &&
		strings.Contains(articles, " "+article+" ") {
		return append(dst, rest...)
	}
	return append(dst, word...)
}

// appendUnaccented appends a word without the accents of Latin and Greek letters.
func appendUnaccented(dst, word []byte) []byte {
	if ascii := !slices.ContainsFunc(word, func(c byte) bool { return c >= utf8.RuneSelf }); ascii {
		return append(dst, word...)
	}
	start := len(dst)
	for _, r := range norm.NFD.String(string(word)) {
		if s, ok := plainLetters[r]; ok {
			dst = append(dst, s...)
		} else if !isAccent(r) || !afterLatin(dst[start:]) {
			dst = utf8.AppendRune(dst, r)
		}
	}
	if !norm.NFC.IsNormal(dst[start:]) {
		dst = append(dst[:start], norm.NFC.Bytes(dst[start:])...)
	}
	return dst
}
