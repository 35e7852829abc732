package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/internal/textfile"
	"github.com/collocate/collocate/text"
)

// hint notes files whose contents suggest another analyzer or format than the flags choose, and
// names the flag to change. It looks at up to 16 files and notes only the first file of each kind.
// What package text detects, it says itself.
func (c *corpusFlags) hint(cmd *cobra.Command, a *app, paths []string) {
	marks := c.Analyzer == "whitespace" && !cmd.Flags().Changed("analyzer") && !cmd.Flags().Changed("vocab")
	empty := c.Format == text.Lines
	for _, path := range someFiles(paths, 16) {
		if !marks && !empty {
			return
		}
		head := headOf(path)
		if word := punctuated(head); marks && word != "" {
			marks = false
			a.note(fmt.Sprintf("%s: words are separated by blanks only, such as %q; "+
				"--analyzer unicode drops punctuation and ignores case", path, word))
		}
		if empty && (bytes.Contains(head, []byte("\n\n")) || bytes.Contains(head, []byte("\n\r\n"))) {
			empty = false
			a.note(path + " has empty lines, and each is read as a document without words; --format blank takes them for borders")
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
