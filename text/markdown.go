package text

import (
	"bytes"
	"path"
	"strings"
)

// IsMarkdown reports whether a name ends like those of Markdown files.
func IsMarkdown(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".md", ".markdown", ".mdown", ".mkd", ".mdx", ".rmd", ".qmd":
		return true
	}
	return false
}

// MarkdownHeadings returns the headings of a text in Markdown: lines of one to six #, a blank and
// words, outside of fenced code.
func MarkdownHeadings(text []byte) (list []Heading) {
	var fence []byte
	for at := 0; at < len(text); {
		line, size := nextLine(text[at:])
		body := bytes.TrimLeft(line, " ")
		indented := len(line) - len(body)
		switch mark := fenceOf(body); {
		case indented > 3: // code
		case fence != nil:
			if len(mark) >= len(fence) && mark[0] == fence[0] && len(bytes.TrimSpace(body[len(mark):])) == 0 {
				fence = nil
			}
		case mark != nil:
			fence = mark
		default:
			level := len(body) - len(bytes.TrimLeft(body, "#"))
			if level < 1 || level > 6 || len(body) == level || body[level] != ' ' && body[level] != '\t' {
				break
			}
			title := bytes.TrimSpace(body[level:])
			if cut := bytes.TrimRight(title, "#"); len(cut) < len(title) &&
				(len(cut) == 0 || cut[len(cut)-1] == ' ') { // closing signs
				title = bytes.TrimSpace(cut)
			}
			if len(title) > 0 {
				list = append(list, Heading{at, level, string(title)})
			}
		}
		at += size
	}
	return list
}

// fenceOf returns the signs with which a line begins or ends fenced code, or nil.
func fenceOf(line []byte) []byte {
	if len(line) < 3 || line[0] != '`' && line[0] != '~' {
		return nil
	}
	n := len(line) - len(bytes.TrimLeft(line, string(line[:1])))
	if n < 3 || line[0] == '`' && bytes.IndexByte(line[n:], '`') >= 0 {
		return nil
	}
	return line[:n:n]
}
