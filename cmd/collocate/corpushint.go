package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/internal/textfile"
	"github.com/collocate/collocate/text"
)

// hint notes files whose contents suggest another format or analyzer than the flags choose, and
// names the flag to change. It looks at up to 16 files and notes only the first file of each kind.
func (c *corpusFlags) hint(cmd *cobra.Command, a *app, paths []string) {
	told := map[string]bool{}
	for _, path := range someFiles(paths, 16) {
		head := headOf(path)
		if c.analyzerName == "whitespace" && !cmd.Flags().Changed("analyzer") &&
			!cmd.Flags().Changed("vocab") && !told["marks"] {
			if word := punctuated(head); word != "" {
				told["marks"] = true
				a.note(fmt.Sprintf("%s: words are separated by blanks only, such as %q; "+
					"--analyzer unicode drops punctuation and ignores case", path, word))
			}
		}
		kind, advice := looksLike(path, head)
		switch {
		case kind == "HTML" || kind == "XML":
			if c.format == text.JSONL || c.format == text.CSV || c.format == text.TREC {
				continue
			}
		case kind == "wrapped" && c.format == text.Auto && slices.Contains(paths, path) && !hasParagraphs(head):
		case c.format != text.Lines:
			continue
		case kind != "empty lines" && cmd.Flags().Changed("format"):
			continue // the user chose to read lines
		}
		if kind != "" && !told[kind] {
			told[kind] = true
			a.note(path + " " + advice)
		}
	}
}

// someFiles lists up to most regular files: those of paths, and those directly in folders of paths.
// Pipes are left out: what is read from them here would be lost to the corpus.
func someFiles(paths []string, most int) (list []string) {
	add := func(path string) (folder bool) {
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() && len(list) < most {
			list = append(list, path)
		}
		return err == nil && info.IsDir()
	}
	for _, path := range paths {
		if !add(path) {
			continue
		}
		entries, _ := os.ReadDir(path) // the corpus reader reports the error
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), ".") {
				add(filepath.Join(path, e.Name()))
			}
		}
	}
	return list
}

// headOf returns the beginning of a file, decompressed, or nil if it cannot be read as text.
func headOf(path string) []byte {
	f, err := textfile.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	head, _ := f.Peek(textfile.HeadSize)
	return bytes.Clone(head)
}

var htmlBegin = regexp.MustCompile(`(?i)^(\xef\xbb\xbf)?\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(!doctype\s+html|html)\b`)

var xmlBegin = regexp.MustCompile(`^(\xef\xbb\xbf)?\s*<(\?xml|TEI)\b`)

// punctuated returns the first word that ends in a comma or full stop, if at least one word in 25
// does: then the text was not tokenized before.
func punctuated(head []byte) (first string) {
	const share = 25 // in running text one word in ten ends so
	n, marked := 0, 0
	for word := range bytes.FieldsSeq(head) {
		n++
		letters := bytes.TrimRight(word, ",.")
		if last, _ := utf8.DecodeLastRune(letters); len(letters) == len(word) || !unicode.IsLetter(last) {
			continue
		}
		if marked++; first == "" {
			first = string(word)
		}
	}
	if marked < 3 || share*marked < n {
		return ""
	}
	return first
}

// hasParagraphs reports whether enough lines are empty for package text to take them for borders
// of documents.
func hasParagraphs(head []byte) bool {
	empty := bytes.Count(head, []byte("\n\n")) + bytes.Count(head, []byte("\n\r\n"))
	return 50*empty >= bytes.Count(head, []byte("\n"))
}

// looksLike guesses the kind of a file, and returns the advice for reading it as lines. Both are
// empty for plain lines.
func looksLike(path string, head []byte) (kind, advice string) {
	name := strings.ToLower(path)
	for _, packed := range []string{".gz", ".zst", ".bz2"} {
		name = strings.TrimSuffix(name, packed)
	}
	begin := bytes.TrimLeft(head, " \t\r\n")
	switch {
	case len(begin) == 0:
		return "", ""
	case htmlBegin.Match(head):
		return "HTML", "is HTML and read as plain text: its tags count as words; convert it to text first"
	case xmlBegin.Match(head):
		return "XML", "is XML and read as plain text: its tags count as words; convert it to text first"
	case begin[0] == '{':
		return "JSON", "looks like JSON lines; if it is, use --format jsonl"
	case begin[0] == '[' && strings.HasSuffix(name, ".json"):
		return "JSON", "looks like a JSON array, read as lines of text; write one object a line and use --format jsonl"
	case bytes.HasPrefix(begin, []byte("<DOC>")):
		return "TREC", "looks like TREC documents, read as lines with their tags; if it is, use --format trec"
	case bytes.HasPrefix(begin, []byte(".I ")):
		return "SMART", "looks like a SMART collection, read as lines; if it is, use --format smart"
	case strings.HasSuffix(name, ".csv"):
		return "CSV", "is read as lines, header, commas and all; --format csv takes the text of its columns"
	case strings.HasSuffix(name, ".tsv"):
		return "TSV", "is read as lines, IDs and all; --format tsv takes the first column for the ID"
	}
	if wrapped(head) {
		return "wrapped", "has lines that end in the middle of sentences, and each is read as a document, beyond which no window reaches; " +
			"--format blank takes paragraphs for documents, --format file the whole file"
	}
	if bytes.Contains(head, []byte("\n\n")) || bytes.Contains(head, []byte("\n\r\n")) {
		return "empty lines", "has empty lines, and each is read as a document without words; --format blank takes them for borders"
	}
	return "", ""
}

// wrapped reports whether text seems to be wrapped at a page's width, as in books: most lines are
// nearly as long as the longest, and fewer than half end a sentence.
func wrapped(head []byte) bool {
	const fewest, widest = 12, 120
	lines := bytes.Split(head, []byte("\n"))
	lines = lines[:len(lines)-1] // the last one may be cut off
	longest, full, n, ends := 0, 0, 0, 0
	for _, line := range lines {
		longest = max(longest, len(bytes.TrimRight(line, " \t\r")))
	}
	for _, line := range lines {
		line = bytes.TrimRight(line, " \t\r")
		if len(line) == 0 {
			continue
		}
		n++
		if 10*len(line) >= 7*longest {
			full++
		}
		if bytes.IndexByte([]byte(`.!?:;"`), line[len(line)-1]) >= 0 {
			ends++
		}
	}
	return n >= fewest && longest >= 40 && longest <= widest && 10*full >= 6*n && 2*ends < n
}
