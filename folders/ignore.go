package folders

import (
	"regexp"
	"strings"
)

// rules are the patterns of an ignore file, with the meaning that gitignore(5) gives them. Of
// several that match, the last decides.
type rules struct {
	folder string // below which they hold: "" or a path that ends in a slash
	list   []rule
}

type rule struct {
	keep   bool // it began with !
	folder bool // it ended in a slash: folders only
	whole  bool // it has a slash, so it is about the path, not the name
	equal  string
	suffix string         // *suffix
	regexp *regexp.Regexp // if it is neither
}

// parseRules reads the lines of an ignore file in a folder.
func parseRules(folder, lines string) *rules {
	r := &rules{folder: folder}
	for line := range strings.Lines(lines) {
		if one, ok := parseRule(strings.TrimRight(line, "\r\n")); ok {
			r.list = append(r.list, one)
		}
	}
	return r
}

func parseRule(line string) (r rule, ok bool) {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if line == "" || line[0] == '#' {
		return r, false
	}
	line, r.keep = strings.CutPrefix(line, "!")
	line, r.folder = strings.CutSuffix(line, "/")
	r.whole = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return r, false
	}
	rest, star := strings.CutPrefix(line, "*")
	switch {
	case !strings.ContainsAny(line, `*?[\`):
		r.equal = line
	case star && !r.whole && !strings.ContainsAny(rest, `*?[\`):
		r.suffix = rest
	default:
		var err error
		if r.regexp, err = regexp.Compile(globRegexp(line)); err != nil {
			return r, false // as git does: a bad pattern matches nothing
		}
	}
	return r, true
}

// globRegexp translates a pattern to a regular expression.
func globRegexp(glob string) string {
	for strings.Contains(glob, "***") { // more stars mean what two do
		glob = strings.ReplaceAll(glob, "***", "**")
	}
	var b strings.Builder
	b.WriteString("(?s)^")
	for i := 0; i < len(glob); i++ {
		rest := glob[i:]
		switch c := glob[i]; {
		case strings.HasPrefix(rest, "**/") && (i == 0 || glob[i-1] == '/'):
			b.WriteString("(?:.*/)?")
			i += 2
		case rest == "**" && (i == 0 || glob[i-1] == '/'):
			b.WriteString(".+")
			i++
		case c == '*':
			b.WriteString("[^/]*")
		case c == '?':
			b.WriteString("[^/]")
		case c == '[':
			class, n := classRegexp(rest)
			b.WriteString(class)
			i += n - 1
		case c == '\\' && len(rest) > 1:
			i++
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		default:
			b.WriteString(quoteByte(c))
		}
	}
	b.WriteString("$")
	return b.String()
}

// quoteByte leaves the bytes of other letters as they are, so that these stay whole.
func quoteByte(c byte) string {
	if c >= 0x80 {
		return string([]byte{c})
	}
	return regexp.QuoteMeta(string(rune(c)))
}

// classRegexp translates a class such as [!a-z] and returns its length. A class that does not end
// makes the expression one that does not compile.
func classRegexp(s string) (class string, length int) {
	var b strings.Builder
	b.WriteByte('[')
	i := 1
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		b.WriteString("^/")
		i++
	}
	for first := i; i < len(s); i++ {
		switch c := s[i]; {
		case c == ']' && i > first:
			b.WriteByte(']')
			return b.String(), i + 1
		case c == '[' && strings.HasPrefix(s[i:], "[:") && strings.Contains(s[i:], ":]"):
			n := strings.Index(s[i:], ":]") + 2
			b.WriteString(s[i : i+n])
			i += n - 1
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteString(regexp.QuoteMeta(s[i : i+1]))
		case c == '-':
			b.WriteByte(c)
		default:
			b.WriteString(quoteByte(c))
		}
	}
	return "[", len(s)
}

// match returns what the rules say of a path below the folder that was named, if anything.
func (r *rules) match(path string, isFolder bool) (ignored, said bool) {
	path, ok := strings.CutPrefix(path, r.folder)
	if !ok {
		return false, false
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	for i := len(r.list) - 1; i >= 0; i-- {
		p := &r.list[i]
		if p.folder && !isFolder {
			continue
		}
		s := name
		if p.whole {
			s = path
		}
		switch {
		case p.regexp != nil && p.regexp.MatchString(s), p.equal != "" && p.equal == s,
			p.regexp == nil && p.equal == "" && strings.HasSuffix(s, p.suffix):
			return !p.keep, true
		}
	}
	return false, false
}
