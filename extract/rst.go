package extract

import (
	"strings"
	"unicode/utf8"
)

// rst keeps reStructuredText as it is. A heading is a line that a line of one punctuation character
// underlines, at least as long. A style of lines has the level of its first use.
func rst(in *input) ([]Document, error) {
	d, err := in.text()
	if err != nil {
		return nil, err
	}
	var styles []string
	over := ""            // the ornament before the last line
	last, lastAt := "", 0 // the line before
	for at, line := range lines(d.Text, 0) {
		s := strings.TrimRight(line, " \t\r\n")
		if ornament(s) && last != "" && !ornament(last) && len(s) >= utf8.RuneCountInString(strings.TrimSpace(last)) &&
			(over == s || last[0] != ' ' && over == "") {
			style := over[:min(1, len(over))] + s[:1]
			level := 0
			for level < len(styles) && styles[level] != style {
				level++
			}
			if level == len(styles) {
				styles = append(styles, style)
			}
			d.addHeading(lastAt, level+1, last)
			over, last = "", ""
			continue
		}
		over = ""
		if ornament(last) {
			over = last
		}
		last, lastAt = s, at
	}
	return []Document{d}, nil
}

// ornament reports whether a line consists of one punctuation character, two or more times.
func ornament(s string) bool {
	return len(s) >= 2 && strings.ContainsAny(s[:1], `=-~"'^#*+.:_<>!$%&`+"`") && strings.Trim(s, s[:1]) == ""
}
