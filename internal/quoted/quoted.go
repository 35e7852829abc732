// Package quoted is for tests: it keeps the numbers that Markdown files quote from a measurement
// equal to those that were measured.
//
// Whole parts of a file are made again by [Refresh]. Elsewhere, [Loose] finds the numbers of
// sentences and tables that name the measurement.
package quoted

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/template"
)

// made is a part of a file that is made from a source, such as the page: its source, its name and
// its text.
var made = regexp.MustCompile(`(?s)<!-- from the (\w+): ([\w-]+) -->\n(.*?)<!-- end -->\n`)

// Refresh checks the parts of a file between <!-- from the SOURCE: NAME --> and <!-- end -->: each
// must be what the template of its name gives, and no template may be left. With UPDATE=1 it writes
// them; run is the command that does so.
func Refresh(t testing.TB, path, source, run string, templates *template.Template) {
	t.Helper()
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	text := made.ReplaceAllStringFunc(string(old), func(part string) string {
		m := made.FindStringSubmatch(part)
		if m[1] != source {
			return part
		}
		var text bytes.Buffer
		if err := templates.ExecuteTemplate(&text, m[2], nil); err != nil {
			t.Fatal(err)
		}
		seen++
		return fmt.Sprintf("<!-- from the %s: %s -->\n%s\n<!-- end -->\n", source, m[2], strings.TrimSpace(text.String()))
	})
	if want := len(templates.Templates()) - 1; seen != want { // one template is the file itself
		t.Errorf("%s has %d parts from the %s, the templates are %d", path, seen, source, want)
	}
	if text == string(old) {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Errorf("%s does not quote the %s; run UPDATE=1 %s", path, source, run)
	} else if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// Figures are the numbers of a measurement.
type Figures struct {
	words   map[string]bool // as they are written
	written []float64       // the same, which may be rounded
	values  []float64       // which may also have another unit
}

// Add adds numbers that are written in a text.
func (f *Figures) Add(text string) {
	if f.words == nil {
		f.words = map[string]bool{}
	}
	for _, n := range numbers(text) {
		f.words[n] = true
		if v, err := strconv.ParseFloat(n, 64); err == nil {
			f.written = append(f.written, v)
		}
	}
}

// AddValue adds a number that a text may round, or write in another unit.
func (f *Figures) AddValue(v float64) { f.values = append(f.values, v) }

// scales are the units in which a value may be written: thousandths, millionths, thousands,
// millions, billions, per cent.
var scales = []float64{1, 1e3, 1e6, 1e-3, 1e-6, 1e-9, 100}

// has reports whether a number is one of the figures, rounded to its digits.
func (f *Figures) has(number string) bool {
	if f.words[number] {
		return true
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return false
	}
	_, decimals, _ := strings.Cut(number, ".")
	half := 0.5 * math.Pow(10, -float64(len(decimals)))
	near := func(x float64) bool { return math.Abs(x-v) <= half*(1+1e-9) }
	return slices.ContainsFunc(f.written, near) || slices.ContainsFunc(f.values, func(x float64) bool {
		return slices.ContainsFunc(scales, func(s float64) bool { return near(x * s) })
	})
}

var (
	digits   = regexp.MustCompile(`\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?`)
	inline   = regexp.MustCompile("`[^`\n]*`|\\]\\([^)]*\\)")
	block    = regexp.MustCompile("(?s)```.*?```")
	sentence = regexp.MustCompile(`\.\s+|\n\s*\n`)
)

// numbers returns the numbers of a text, without commas. Digits of a name, such as H200, are none.
func numbers(text string) (out []string) {
	for _, at := range digits.FindAllStringIndex(text, -1) {
		if at[0] > 0 && strings.ContainsAny(text[at[0]-1:at[0]], "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_-./") {
			continue
		}
		out = append(out, strings.ReplaceAll(text[at[0]:at[1]], ",", ""))
	}
	return out
}

// Loose returns the numbers of README.md and docs/*.md, below a folder, that are in no figures,
// though their sentence names the source. A table or a list after a colon belongs to the
// sentence. Parts that Refresh makes do not count, nor does code.
func Loose(root string, names *regexp.Regexp, f *Figures) (missing []string, err error) {
	paths, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		return nil, err
	}
	for _, path := range append(paths, filepath.Join(root, "README.md")) {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		for _, s := range sentences(string(data)) {
			if !names.MatchString(s) {
				continue
			}
			for _, n := range numbers(inline.ReplaceAllString(s, "")) {
				if !f.has(n) {
					missing = append(missing, fmt.Sprintf("%s: %s in %q", filepath.Base(path), n, s))
				}
			}
		}
	}
	return missing, nil
}

// sentences splits a text. A table or a list is part of the sentence before it, if that ends in a
// colon.
func sentences(text string) (out []string) {
	// A part that is made ends a sentence.
	text = made.ReplaceAllString(text, "\n\n")
	text = block.ReplaceAllString(text, "")
	from := 0
	add := func(to int) {
		if s := strings.TrimSpace(text[from:to]); s != "" {
			out = append(out, s)
		}
		from = to
	}
	for _, at := range sentence.FindAllStringIndex(text, -1) {
		if at[0] < from {
			continue
		}
		end, rest := at[0]+1, strings.TrimLeft(text[at[1]:], " \n")
		if text[at[0]] == '\n' && strings.HasSuffix(text[from:at[0]], ":") &&
			(strings.HasPrefix(rest, "|") || strings.HasPrefix(rest, "- ")) {
			end = len(text) - len(rest) // where the table begins
			if n := strings.Index(rest, "\n\n"); n >= 0 {
				end += n
			} else {
				end = len(text)
			}
		}
		add(end)
	}
	add(len(text))
	return out
}
