package text

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

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
