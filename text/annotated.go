package text

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
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

// isStructureTag reports whether a line begins or ends a structure of vertical text, such as
// <doc id="1">.
func isStructureTag(line []byte) bool {
	inner, ok := bytes.CutPrefix(line, []byte("<"))
	inner, closed := bytes.CutSuffix(inner, []byte(">"))
	if !ok || !closed || bytes.ContainsAny(inner, "<>") {
		return false
	}
	inner, _ = bytes.CutPrefix(inner, []byte("/"))
	inner, _ = bytes.CutSuffix(inner, []byte("/"))
	if end := bytes.IndexAny(inner, asciiBlanks); end >= 0 {
		inner = inner[:end]
	}
	switch string(inner) {
	case "text", "s", "p", "sp", "doc", "sentence", "corpus", "body", "div", "head", "file":
		return true
	}
	return false
}

const asciiBlanks = " \t\n\f\r"

// isVertical reports whether a file has the tags of vertical text on lines of their own, and on
// every other line a token: one word, or a word and its columns after tabs.
func isVertical(head []byte, whole bool) bool {
	tags, tokens, ok := 0, 0, true
	lines(head, whole, func(line []byte) bool {
		line = bytes.TrimRight(line, " ")
		switch {
		case len(line) == 0:
		case isStructureTag(line):
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
		blanks = blanks && columns >= 3 && len(fields) == columns && isChunkTag(fields[columns-1])
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

// isChunkTag reports whether a word without blanks is O, or B-LOC and the like.
func isChunkTag(word []byte) bool {
	return string(word) == "O" || len(word) > 2 && bytes.IndexByte([]byte("BIESLU"), word[0]) >= 0 && word[1] == '-'
}

// isHTML reports whether a text begins as HTML: after a declaration of XML and comments.
func isHTML(head []byte) bool {
	rest := skipBlanks(head)
	if hasPrefixFold(rest, "<?xml") {
		end := bytes.IndexByte(rest, '>')
		rest = skipBlanks(rest[end+1:]) // if there is no end, what follows is not HTML
	}
	for bytes.HasPrefix(rest, []byte("<!--")) {
		_, after, ok := bytes.Cut(rest[4:], []byte("-->"))
		if !ok {
			return false
		}
		rest = skipBlanks(after)
	}
	if begin := len("<!doctype"); hasPrefixFold(rest, "<!doctype") {
		name := skipBlanks(rest[begin:])
		return len(name) < len(rest)-begin && hasPrefixFold(name, "html") && wordEnds(name[len("html"):])
	}
	return hasPrefixFold(rest, "<html") && wordEnds(rest[len("<html"):])
}

// isXML reports whether a text begins as XML.
func isXML(head []byte) bool {
	rest := skipBlanks(head)
	for _, begin := range []string{"<?xml", "<TEI"} {
		if after, ok := bytes.CutPrefix(rest, []byte(begin)); ok && wordEnds(after) {
			return true
		}
	}
	return false
}

func skipBlanks(b []byte) []byte { return bytes.TrimLeft(b, asciiBlanks) }

func hasPrefixFold(b []byte, lower string) bool {
	return len(b) >= len(lower) && strings.EqualFold(string(b[:len(lower)]), lower)
}

// wordEnds reports whether a word that stands before a text ends there.
func wordEnds(after []byte) bool {
	return len(after) == 0 || after[0] != '_' && !isASCIILetter(after[0]) && (after[0] < '0' || after[0] > '9')
}

func isASCIILetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

// markup names the markup language of a text, or returns "".
func markup(head []byte) string {
	switch {
	case isHTML(head):
		return "HTML"
	case isXML(head):
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
