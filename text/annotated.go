package text

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"
)

// An annotated corpus has a token per line, with lemmas, tags and numbers beside it. Read as prose,
// these would be counted as words. So files that look annotated are refused unless the caller names
// a format.

// treebankWords makes lines of sentences from CoNLL-U. Of a token that consists of several words,
// such as French du, it takes the form as written; it leaves out empty nodes. A comment may have a
// hyphen before a number as well, as in "# sent_id = weblog-12".
const treebankWords = `awk -F'\t' '$1~/^[0-9]+-/{split($1,a,"-");e=a[2]+0;printf "%s ",$2} ` +
	`$1~/^[0-9]+$/&&$1>e{printf "%s ",$2} /^\r?$/{e=0;print ""}'`

// verticalWords makes lines of sentences from CWB's vertical text.
const verticalWords = `awk -F'\t' '/^<\/s>/{print ""} !/^</{printf "%s ",$1}'`

// refuseAnnotated returns an error if plain text seems to be annotated.
func refuseAnnotated(head []byte, whole bool) error {
	what, words := "", ""
	switch {
	case isTreebank(head, whole):
		what, words = "CoNLL-U", treebankWords
	case isVertical(head, whole):
		what, words = "vertical text (VRT)", verticalWords
	default:
		return nil
	}
	return fmt.Errorf("an annotated corpus in %s: its tags and numbers would count as words. "+
		"To make it plain text, with a sentence a line: %s (or, to count everything, name a format: text.Options.Format=lines)",
		what, words)
}

// lines calls fn for each whole line of a file, or of its beginning, without the line's end, until
// fn returns false.
func lines(head []byte, whole bool, fn func(line []byte) bool) {
	for len(head) > 0 {
		if !whole && bytes.IndexByte(head, '\n') < 0 {
			return
		}
		line, size := nextLine(head)
		if !fn(line) {
			return
		}
		head = head[size:]
	}
}

// isTreebank reports whether every line is empty, a comment after #, or ten columns or more, the
// first a number (3), a range (3-4) or the number of an empty node (3.1).
func isTreebank(head []byte, whole bool) bool {
	const columns = 10
	tokens, ok := 0, true
	lines(head, whole, func(line []byte) bool {
		if isBlank(line) || line[0] == '#' {
			return true
		}
		number, _, _ := bytes.Cut(line, []byte("\t"))
		tokens++
		ok = bytes.Count(line, []byte("\t")) >= columns-1 && number[0] >= '0' && number[0] <= '9' &&
			len(bytes.Trim(number, "0123456789-.")) == 0
		return ok
	})
	return ok && tokens > 0
}

// structureTag is a line that begins or ends a structure of vertical text.
var structureTag = regexp.MustCompile(`^</?(text|s|p|sp|doc|sentence|corpus|body|div|head|file)(\s[^<>]*)?/?>$`)

// isVertical reports whether a file has the tags of vertical text on lines of their own, and on
// every other line a token: one word, or a word and its columns after tabs.
func isVertical(head []byte, whole bool) bool {
	tags, tokens, ok := 0, 0, true
	lines(head, whole, func(line []byte) bool {
		line = bytes.TrimRight(line, " ")
		switch {
		case len(line) == 0:
		case structureTag.Match(line):
			tags++
		case line[0] == '<' && line[len(line)-1] == '>': // other tags, and <?xml ...?>
		default:
			tokens++
			word, _, columns := bytes.Cut(line, []byte("\t"))
			ok = len(word) > 0 && (columns || bytes.IndexByte(word, ' ') < 0)
		}
		return ok
	})
	return ok && tags >= 2 && tokens >= 2
}

// tagged returns the command that takes the words of a tagged corpus without structures, or "" if
// the text is not one. Every line is a word with columns beside it: columns after tabs, none of
// which has a blank, as TreeTagger writes them; or, as in CoNLL-2003, two or more after blanks, the
// last of which says what begins here (B-LOC), goes on (I-LOC) or is outside (O).
func tagged(head []byte, whole bool) string {
	const fewest = 10
	tabs, blanks, n, columns := true, true, 0, 0
	lines(head, whole, func(line []byte) bool {
		if isBlank(line) {
			return true
		}
		n++
		tabs = tabs && bytes.IndexByte(line, '\t') > 0 && bytes.IndexByte(line, ' ') < 0
		fields := bytes.Fields(line)
		if columns == 0 {
			columns = len(fields)
		}
		blanks = blanks && columns >= 3 && len(fields) == columns && chunkTag.Match(fields[columns-1])
		return tabs || blanks
	})
	switch {
	case n < fewest:
	case tabs:
		return "cut -f1"
	case blanks:
		return "cut -d' ' -f1"
	}
	return ""
}

var chunkTag = regexp.MustCompile(`^(O|[BIESLU]-\S+)$`)

var (
	htmlBegin = regexp.MustCompile(`(?i)^\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(!doctype\s+html|html)\b`)
	xmlBegin  = regexp.MustCompile(`^\s*<(\?xml|TEI)\b`)
)

// markup names the markup language of a text, or returns "".
func markup(head []byte) string {
	switch {
	case htmlBegin.Match(head):
		return "HTML"
	case xmlBegin.Match(head):
		return "XML"
	}
	return ""
}

// wrapped reports whether text seems to be wrapped at a page's width, as in books: the first word
// of most lines would not have fitted on the line before, and fewer than half end a sentence.
func wrapped(head []byte, whole bool) bool {
	const fewest, narrowest, widest = 6, 25, 200
	var widths, wanted []int // of each line, and with the first word of the next line
	ends := 0
	lines(head, whole, func(line []byte) bool {
		if line = bytes.TrimRight(line, " \t"); len(line) == 0 {
			return true
		}
		if n := len(widths); n > 0 {
			word, _, _ := bytes.Cut(bytes.TrimLeft(line, " \t"), []byte(" "))
			wanted = append(wanted, widths[n-1]+1+utf8.RuneCount(word))
		}
		widths = append(widths, utf8.RuneCount(line))
		if bytes.IndexByte([]byte(`.!?:;"`), line[len(line)-1]) >= 0 {
			ends++
		}
		return true
	})
	n := len(widths)
	if n < fewest || 2*ends >= n {
		return false
	}
	slices.Sort(widths)
	width := widths[(n-1)*19/20] // a few lines may be longer, such as addresses of pages
	full := 0
	for _, w := range wanted {
		if w > width-2 {
			full++
		}
	}
	return width >= narrowest && width <= widest && 10*full >= 6*len(wanted)
}
