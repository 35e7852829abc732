package extract

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// markdown keeps the text as it is, so that offsets are those of the file. Headings are those of
// CommonMark outside of fenced code: # lines, and lines underlined by = or -.
func markdown(in *input) ([]Document, error) {
	d, err := in.text()
	if err != nil {
		return nil, err
	}
	from := d.frontMatter()
	fence := ""    // the fence that ends the code that we are in
	last := ""     // the line before, if it may be underlined
	lastAt := from // where it begins
	for at, line := range lines(d.Text, from) {
		s := strings.TrimRight(line, " \t\r\n")
		bare := strings.TrimLeft(s, " ")
		indent := len(s) - len(bare)
		if fence != "" {
			if indent < 4 && strings.HasPrefix(bare, fence) && strings.Trim(bare, fence[:1]) == "" {
				fence = ""
			}
			continue
		}
		if indent >= 4 || strings.HasPrefix(s, "\t") { // code
			last = ""
			continue
		}
		if m := fences.FindString(bare); m != "" {
			fence, last = m, ""
			continue
		}
		level := len(bare) - len(strings.TrimLeft(bare, "#"))
		switch {
		case level >= 1 && level <= 6 && (len(bare) == level || bare[level] == ' ' || bare[level] == '\t'):
			d.heading(at, level, closing.ReplaceAllString(strings.TrimSpace(bare[level:]), ""))
			last = ""
			continue
		case last != "" && strings.Trim(bare, "=") == "" && bare != "":
			d.heading(lastAt, 1, last)
		case last != "" && strings.Trim(bare, "-") == "" && bare != "":
			d.heading(lastAt, 2, last)
		default:
			for _, m := range inlineLinks.FindAllStringSubmatch(line, -1) {
				d.set("link", m[1]+m[2])
			}
			if last = bare; bare != "" && strings.ContainsAny(bare[:1], ">|-*+") {
				last = "" // a list, a quotation or a table
			}
			lastAt = at
			continue
		}
		last = ""
	}
	return []Document{d}, nil
}

var (
	fences      = regexp.MustCompile("^(```+|~~~+)")
	closing     = regexp.MustCompile(`(^|[ \t]+)#+$`)
	inlineLinks = regexp.MustCompile(`\]\(<?([^()\s<>]+)>?(?:\s+"[^"]*")?\)|<(https?://[^<>\s]+)>`)
	linkText    = regexp.MustCompile(`!?\[([^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])`)
	anchors     = regexp.MustCompile(`\s*\{[#.][^{}]*\}$`)
	marks       = strings.NewReplacer("**", "", "__", "", "`", "", "*", "")
)

// heading adds a heading of Markdown.
func (d *Document) heading(at, level int, text string) {
	text = linkText.ReplaceAllString(text, "$1")
	d.addHeading(at, level, marks.Replace(anchors.ReplaceAllString(text, "")))
}

// addHeading adds a heading, unless it is empty.
func (d *Document) addHeading(at, level int, text string) {
	if text = oneLine(text); text != "" {
		d.Headings = append(d.Headings, Heading{at, level, text})
	}
}

// frontMatter reads the block of YAML between lines of --- at the beginning, or of TOML between
// lines of +++, and returns where the text begins after it.
func (d *Document) frontMatter() int {
	start, fence := 0, ""
	for at, line := range lines(d.Text, 0) {
		s := strings.TrimRight(line, " \t\r\n")
		if at == 0 {
			if s != "---" && s != "+++" {
				return 0
			}
			start, fence = len(line), s
			continue
		}
		if s != fence && (s != "..." || fence != "---") {
			if at-start > 64<<10 {
				return 0
			}
			continue
		}
		about := map[string]any{}
		if fence == "+++" {
			about = tomlValues(string(d.Text[start:at]))
		} else if yaml.Unmarshal(d.Text[start:at], &about) != nil {
			return 0
		}
		for _, key := range slices.Sorted(maps.Keys(about)) {
			d.about(strings.ToLower(key), about[key])
		}
		return at + len(line)
	}
	return 0
}

var (
	tomlLine   = regexp.MustCompile(`(?m)^\s*(\w+)\s*=\s*(?:"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'|(\[[^\[\]]*\])|(\d{4}-\d\d-\d\d\S*))`)
	tomlString = regexp.MustCompile(`"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'`)
	tomlTable  = regexp.MustCompile(`(?m)^\s*\[`)
	tomlEscape = strings.NewReplacer(`\"`, `"`, `\\`, `\`)
)

// tomlValues reads the strings, dates and lists of strings before the first table of TOML. Front
// matter has no others that are wanted.
func tomlValues(block string) map[string]any {
	about := map[string]any{}
	if i := tomlTable.FindStringIndex(block); i != nil {
		block = block[:i[0]]
	}
	for _, m := range tomlLine.FindAllStringSubmatch(block, -1) {
		if m[4] == "" {
			about[m[1]] = tomlEscape.Replace(m[2]) + m[3] + m[5]
			continue
		}
		var list []any
		for _, one := range tomlString.FindAllStringSubmatch(m[4], -1) {
			list = append(list, tomlEscape.Replace(one[1])+one[2])
		}
		about[m[1]] = list
	}
	return about
}

// about takes a value of a file's data about itself. Other keys than these are left in the text.
func (d *Document) about(key string, value any) {
	field := map[string]string{"author": "author", "authors": "author", "date": "date",
		"tags": "tag", "tag": "tag", "keywords": "tag", "categories": "tag", "lang": "language", "language": "language"}[key]
	switch v := value.(type) {
	case string:
		switch {
		case key == "title":
			d.Title = v
		case field == "date":
			d.setDate(v)
		case field != "":
			d.set(field, v)
		}
	case []any:
		for _, one := range v {
			if s, ok := one.(string); ok && field != "" && field != "date" {
				d.set(field, s)
			}
		}
	case interface{ Format(string) string }: // a time
		if field == "date" {
			d.set(field, v.Format("2006-01-02"))
		}
	}
}
