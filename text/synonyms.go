package text

import (
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Synonyms are rules that say which words and phrases mean the same. Several goroutines may use
// them at once.
type Synonyms struct {
	rules []synonymRule

	mu     sync.Mutex
	tables map[string]*synonymTable // by the name of the analyzer that made their words
}

// synonymRule is a line of a file of synonyms.
type synonymRule struct {
	line int
	from []string // what the rule is about
	to   []string // what is searched for instead; nil if all of from mean the same
}

// ParseSynonyms parses synonyms in the form of Solr and Lucene: a rule per line or, as in a
// declared chain, rules separated by semicolons.
//
//	# words that mean the same
//	car, automobile, auto
//	usa, united states of america
//	# the left ones are replaced by the right ones
//	colour, colours => color
//
// Words and phrases are separated by commas; a backslash makes the next character a plain one.
// Empty lines and those that begin with # are skipped. Rules with the same left side add up.
func ParseSynonyms(data []byte) (*Synonyms, error) {
	s := &Synonyms{}
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(string(data), "\ufeff")) {
		number++
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		for _, rule := range splitEscaped(line, ';') {
			if strings.TrimSpace(rule) == "" {
				continue
			}
			r, err := parseRule(rule)
			if err != nil {
				return nil, fmt.Errorf("synonyms: line %d: %w", number, err)
			}
			r.line = number
			s.rules = append(s.rules, r)
		}
	}
	if len(s.rules) == 0 {
		return nil, fmt.Errorf("synonyms: there are no rules: want lines such as car, automobile or colour => color")
	}
	return s, nil
}

func parseRule(rule string) (r synonymRule, err error) {
	left, right, arrow := cutArrow(rule)
	if r.from, err = phrases(left); err != nil {
		return r, err
	}
	switch {
	case !arrow && len(r.from) < 2:
		return r, fmt.Errorf("%.60q alone: want two or more with commas between them, or =>", r.from[0])
	case !arrow:
		return r, nil
	}
	if _, _, again := cutArrow(right); again {
		return r, fmt.Errorf("=> comes twice: want it once in a rule")
	}
	r.to, err = phrases(right)
	return r, err
}

// cutArrow divides a rule at the first => that is not escaped.
func cutArrow(s string) (left, right string, found bool) {
	for i := 0; i+1 < len(s); i++ {
		if s[i] == '\\' {
			i++
		} else if s[i] == '=' && s[i+1] == '>' {
			return s[:i], s[i+2:], true
		}
	}
	return s, "", false
}

// phrases returns the words and phrases of one side of a rule.
func phrases(side string) (list []string, err error) {
	for _, part := range splitEscaped(side, ',') {
		phrase := strings.Join(strings.Fields(unescape(part)), " ")
		if phrase == "" {
			return nil, fmt.Errorf("an empty word in %.60q", strings.TrimSpace(side))
		}
		if !slices.Contains(list, phrase) {
			list = append(list, phrase)
		}
	}
	return list, nil
}

// String returns the rules with semicolons between them, as a declared chain has them.
func (s *Synonyms) String() string {
	var b strings.Builder
	side := func(list []string) {
		for i, phrase := range list {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(escapeIn(phrase))
		}
	}
	for i, r := range s.rules {
		if i > 0 {
			b.WriteString("; ")
		}
		side(r.from)
		if r.to != nil {
			b.WriteString(" => ")
			side(r.to)
		}
	}
	return b.String()
}

// Len returns the number of rules.
func (s *Synonyms) Len() int { return len(s.rules) }

// splitEscaped divides a text at a separator that is not escaped.
func splitEscaped(s string, separator byte) (list []string) {
	start := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case separator:
			list = append(list, s[start:i])
			start = i + 1
		}
	}
	return append(list, s[start:])
}

// unescape removes the backslashes before characters.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// escapeIn escapes the characters that have a meaning in arguments of chains.
func escapeIn(s string) string { return argumentEscapes.Replace(s) }

var argumentEscapes = strings.NewReplacer(`\`, `\\`, `,`, `\,`, `;`, `\;`, `)`, `\)`, `=`, `\=`, `#`, `\#`)

// synonymTable has the rules by the words of their left sides, as an analyzer makes them.
type synonymTable struct {
	next  map[string]*synonymTable
	rules *synonymOut // what the words up to here stand for; nil if no rule ends here
}

// synonymOut is what is searched for in place of some words.
type synonymOut struct {
	texts []string   // words and phrases as the rules have them, in their order
	words [][]string // the words of each, as the analyzer makes them
	keep  bool       // one of them is the left side itself
}

// table returns the rules for an analyzer.
func (s *Synonyms) table(a Analyzer) (*synonymTable, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.tables[a.Name()]; t != nil {
		return t, nil
	}
	root := &synonymTable{}
	for _, r := range s.rules {
		to := r.to
		if to == nil {
			to = r.from
		}
		outs := make([][]string, len(to))
		for i, phrase := range to {
			var err error
			if outs[i], err = baseWords(a, phrase); err != nil {
				return nil, fmt.Errorf("line %d: %w", r.line, err)
			}
		}
		for _, phrase := range r.from {
			words, err := baseWords(a, phrase)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", r.line, err)
			}
			root.add(words, to, outs)
		}
	}
	if s.tables == nil {
		s.tables = map[string]*synonymTable{}
	}
	s.tables[a.Name()] = root
	return root, nil
}

// add adds a rule.
func (t *synonymTable) add(words, to []string, outs [][]string) {
	for _, w := range words {
		if t.next == nil {
			t.next = map[string]*synonymTable{}
		}
		if t.next[w] == nil {
			t.next[w] = &synonymTable{}
		}
		t = t.next[w]
	}
	if t.rules == nil {
		t.rules = &synonymOut{}
	}
	for i, out := range outs {
		if !slices.ContainsFunc(t.rules.words, func(o []string) bool { return slices.Equal(o, out) }) {
			t.rules.texts, t.rules.words = append(t.rules.texts, to[i]), append(t.rules.words, out)
		}
		t.rules.keep = t.rules.keep || slices.Equal(out, words)
	}
}

// baseWords returns the words of a phrase without those that only cover others: of a name and its
// parts, the parts.
func baseWords(a Analyzer, phrase string) ([]string, error) {
	var t Tokens
	if err := a.Analyze([]byte(phrase), &t); err != nil {
		return nil, err
	}
	var list []string
	for i := range t.Words {
		if !t.Covers(i) {
			list = append(list, string(t.Word(i)))
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%.60q: the analyzer leaves no word of it: leave it out of the rule", phrase)
	}
	return list, nil
}

// Covers reports whether word i is at the same position as another one whose source is a shorter
// part of its own: a name beside its first part, or a longer n-gram. A query does not require such
// words, but they count.
func (t *Tokens) Covers(i int) bool {
	if len(t.At) == 0 {
		return false
	}
	size := t.Source[i].End - t.Source[i].Start
	shorter := func(j int) bool { return t.Source[j].End-t.Source[j].Start < size }
	for j := i - 1; j >= 0 && t.At[j] == t.At[i]; j-- {
		if shorter(j) {
			return true
		}
	}
	for j := i + 1; j < len(t.At) && t.At[j] == t.At[i]; j++ {
		if shorter(j) {
			return true
		}
	}
	return false
}

// longest returns the rule for the longest run of words that begins at from, and the number of
// these words; nil if there is none.
func (t *synonymTable) longest(from int, word func(i int) ([]byte, bool)) (out *synonymOut, n int) {
	at := t
	for i := from; ; i++ {
		w, ok := word(i)
		if !ok {
			return out, n
		}
		if at = at.next[string(w)]; at == nil {
			return out, n
		}
		if at.rules != nil {
			out, n = at.rules, i+1-from
		}
	}
}

// Saying is a part of a query's text: plain words, or words with synonyms.
type Saying struct {
	Text   string   // as in the query
	Source Span     // where it is there
	Or     []string // words and phrases to search for instead; nil for plain words
	Single []bool   // which of Or are one word
	Own    int      // which of Or are the words themselves; -1 if none is
	Words  int      // number of words that it consists of
}

// Said divides a text at the words and phrases that have synonyms: the longest first, from left to
// right. The analyzer is that of queries.
func Said(a Analyzer, s *Synonyms, doc string) (list []Saying, err error) {
	table, err := s.table(a)
	if err != nil {
		return nil, fmt.Errorf("synonyms: %w", err)
	}
	t := Tokens{WantSource: true}
	if err := a.Analyze([]byte(doc), &t); err != nil {
		return nil, err
	}
	base := make([]int, 0, len(t.Words))
	for i := range t.Words {
		if !t.Covers(i) {
			base = append(base, i)
		}
	}
	word := func(i int) ([]byte, bool) {
		if i >= len(base) {
			return nil, false
		}
		return t.Word(base[i]), true
	}
	source := func(i int) Span { return t.Source[base[i]] }
	plain := 0 // first plain word that is not in list yet
	say := func(from, to int, out *synonymOut) {
		if from >= to {
			return
		}
		at := Span{source(from).Start, source(to - 1).End}
		p := Saying{Text: doc[at.Start:at.End], Source: at, Words: to - from, Own: -1}
		if out != nil {
			p.Or = out.texts
			for k, w := range out.words {
				p.Single = append(p.Single, len(w) == 1)
				if isRun(w, from, to-from, word) {
					p.Own = k
				}
			}
		}
		list = append(list, p)
	}
	for i := 0; i < len(base); {
		out, n := table.longest(i, word)
		if out == nil || n == 1 && len(out.texts) == 1 && out.keep {
			i++
			continue
		}
		say(plain, i, nil)
		say(i, i+n, out)
		i += n
		plain = i
	}
	say(plain, len(base), nil)
	return list, nil
}

// synonymFilter adds synonyms to the words of documents. A synonym of several words takes
// successive positions, from that of the first word it stands for; the words that follow keep
// theirs.
type synonymFilter struct{ table *synonymTable }

func (f synonymFilter) filter(_ []byte, t *Tokens) {
	out := t.room()
	list := t.begin()
	word := func(i int) ([]byte, bool) {
		if i >= len(list.words) {
			return nil, false
		}
		return list.word(i), true
	}
	var later []laterWord // words of synonyms at later positions, in the order of these
	flush := func(until int) {
		n := 0
		for ; n < len(later) && int(later[n].at) <= until; n++ {
			out = t.emit(out, []byte(later[n].word), later[n].source, later[n].at)
		}
		later = slices.Delete(later, 0, n)
	}
	for i := 0; i < len(list.words); {
		rule, n := f.table.longest(i, word)
		if rule == nil {
			flush(i - 1)
			out = t.emit(out, list.word(i), list.source[i], uint32(i))
			i++
			continue
		}
		source := Span{list.source[i].Start, list.source[i+n-1].End}
		for _, words := range rule.words {
			if rule.keep && isRun(words, i, n, word) {
				continue // the words themselves
			}
			for j, w := range words {
				later = append(later, laterWord{w, source, uint32(i + j)})
			}
		}
		slices.SortStableFunc(later, func(a, b laterWord) int { return int(a.at) - int(b.at) })
		for j := range n {
			flush(i + j - 1)
			if rule.keep {
				out = t.emit(out, list.word(i+j), list.source[i+j], uint32(i+j))
			}
			flush(i + j)
		}
		i += n
	}
	flush(int(^uint(0) >> 1))
	t.use(out)
}

// laterWord is a word of a synonym that waits for its position.
type laterWord struct {
	word   string
	source Span
	at     uint32
}

// isRun reports whether words are the n words from i on.
func isRun(words []string, i, n int, word func(int) ([]byte, bool)) bool {
	if len(words) != n {
		return false
	}
	for j, w := range words {
		if own, _ := word(i + j); string(own) != w {
			return false
		}
	}
	return true
}
