package extract

import (
	"bytes"
	"encoding/hex"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"
)

// pdfFont maps the codes of a font to text and widths.
type pdfFont struct {
	wide     bool               // codes have two bytes
	text     map[uint32]string  // by code
	width    map[uint32]float64 // of the size
	usual    float64            // width of the others
	encoding [256]string        // of codes that text does not have, if they have one byte
}

type pdfGlyph struct {
	text  string
	width float64
	blank bool // code 32 of one byte, for which word space counts
}

// font returns a font of the resources.
func (c *pdfContent) font(name string) *pdfFont {
	if f, ok := c.named[name]; ok { // resolving a reference is slow in some files
		return f
	}
	f := c.resolve(name)
	c.named[name] = f
	return f
}

func (c *pdfContent) resolve(name string) *pdfFont {
	v := c.resources.Key("Font").Key(name)
	key := v.String() // references within it are not resolved, so it names the font
	if len(key) < 1<<14 {
		if f := c.fonts[key]; f != nil {
			return f
		}
	}
	f := c.newFont(v)
	if len(key) < 1<<14 && len(c.fonts) < 1000 {
		c.fonts[key] = f
	}
	return f
}

func (c *pdfContent) newFont(v pdf.Value) *pdfFont {
	f := &pdfFont{text: map[uint32]string{}, width: map[uint32]float64{}, usual: 0.5}
	if f.wide = v.Key("Subtype").Name() == "Type0"; f.wide {
		f.wideWidths(v.Key("DescendantFonts").Index(0))
	} else {
		f.widths(v)
		f.names(v)
	}
	if u := v.Key("ToUnicode"); u.Kind() == pdf.Stream && c.fits(u) == nil {
		f.toUnicode(u)
	}
	return f
}

const mostCodes = 1 << 17

// widths reads the widths of codes of one byte. Those of Type3 fonts are in a space of their own.
func (f *pdfFont) widths(v pdf.Value) {
	unit := 0.001
	if m := v.Key("FontMatrix"); m.Len() == 6 {
		unit = m.Index(0).Float64()
	}
	if w := v.Key("FontDescriptor").Key("MissingWidth").Float64(); w > 0 {
		f.usual = w * unit
	}
	first, list := v.Key("FirstChar").Int64(), v.Key("Widths")
	for i := range min(list.Len(), 256) {
		f.width[uint32(first)+uint32(i)] = list.Index(i).Float64() * unit
	}
}

// wideWidths reads the widths of codes of two bytes: runs of a first code and a list, or of a first
// and a last code and one width.
func (f *pdfFont) wideWidths(v pdf.Value) {
	f.usual = 1
	if w := v.Key("DW"); w.Kind() != pdf.Null {
		f.usual = w.Float64() / 1000
	}
	list := v.Key("W")
	for i := 0; i+1 < list.Len() && len(f.width) < mostCodes; {
		first, second := uint32(list.Index(i).Int64()), list.Index(i+1)
		if second.Kind() == pdf.Array {
			for k := range min(second.Len(), mostCodes) {
				f.width[first+uint32(k)] = second.Index(k).Float64() / 1000
			}
			i += 2
			continue
		}
		last, w := uint32(second.Int64()), list.Index(i+2).Float64()/1000
		for code := first; code <= last && code < first+mostCodes; code++ {
			f.width[code] = w
		}
		i += 3
	}
}

// names fills in the text of codes of one byte by the names of their glyphs.
func (f *pdfFont) names(v pdf.Value) {
	encoding, program := v.Key("Encoding"), v.Key("FontDescriptor").Key("FontFile")
	if encoding.Kind() == pdf.Null && v.Key("ToUnicode").Kind() == pdf.Stream && program.Kind() != pdf.Stream {
		return // toUnicode does the same
	}
	font := pdf.Font{V: v}
	e := font.Encoder()
	for code := range 256 {
		f.encoding[code] = e.Decode(string([]byte{byte(code)}))
		if len(f.encoding[code]) == 1 && f.encoding[code][0] >= 0x80 {
			f.encoding[code] = string(rune(code))
		}
	}
	var names [256]string
	if encoding.Kind() == pdf.Null || encoding.Kind() == pdf.Dict && encoding.Key("BaseEncoding").Kind() == pdf.Null {
		type1Names(program, &names)
	}
	differ, at := encoding.Key("Differences"), 0
	for i := range min(differ.Len(), mostCodes) {
		switch x := differ.Index(i); x.Kind() {
		case pdf.Integer:
			at = int(x.Int64())
		case pdf.Name:
			if at >= 0 && at < len(names) {
				names[at] = x.Name()
			}
			at++
		}
	}
	for code, text := range textOfNames(&names) {
		if text != "" {
			f.encoding[code] = text
		}
	}
	// Bitmaps of TeX's fonts have names that say nothing, such as a12. They are coded as Computer
	// Modern is, if they have no letters beyond ASCII.
	if v.Key("Subtype").Name() == "Type3" && v.Key("LastChar").Int64() < 0x80 {
		for i, text := range []string{"ff", "fi", "fl", "ffi", "ffl"} {
			if code := 11 + i; len(f.encoding[code]) == 1 { // a control character
				f.encoding[code] = text
			}
		}
	}
}

var type1Code = regexp.MustCompile(`dup\s+(\d+)\s*/([A-Za-z0-9._]+)\s+put`)

// type1Names reads the encoding of a Type 1 font from its program, which begins as text:
//
//	/Encoding 256 array ... dup 12 /fi put dup 13 /fl put ... readonly def
func type1Names(program pdf.Value, names *[256]string) {
	if program.Kind() != pdf.Stream {
		return
	}
	r := program.Reader()
	defer r.Close()
	head, _ := io.ReadAll(io.LimitReader(r, 1<<16)) // of a broken stream, the beginning
	_, head, _ = bytes.Cut(head, []byte("/Encoding"))
	head, _, _ = bytes.Cut(head, []byte("eexec"))
	for _, m := range type1Code.FindAllSubmatch(head, -1) {
		if code, err := strconv.Atoi(string(m[1])); err == nil && code < len(names) {
			names[code] = string(m[2])
		}
	}
}

var glyphName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]*$`)

// textOfNames returns the text of glyphs by their names, as Adobe's specification of glyph names
// has it: uni0066, u1F600, and f_f_i, of which each part has a name. The module has the list of the
// others, and applies it to fonts of files: such a file is made of the names. Text of names that
// are unknown is empty.
func textOfNames(names *[256]string) (text [256]string) {
	var parts [][]string // of each name
	var listed []string
	for _, name := range names {
		name, _, _ = strings.Cut(name, ".") // a.small is a form of a
		var of []string
		for _, part := range strings.Split(name, "_") {
			if glyphName.MatchString(part) {
				of = append(of, part)
			}
		}
		parts = append(parts, of)
		listed = append(listed, of...)
	}
	known := glyphTexts(listed)
	for code, of := range parts {
		for _, part := range of {
			text[code] += known[part]
		}
	}
	return text
}

// glyphTexts returns the texts of names.
func glyphTexts(names []string) map[string]string {
	known := map[string]string{}
	for some := range slices.Chunk(names, ' ') { // at codes of control characters, which no glyph is
		file := "%PDF-1.4\nxref\n0 1\n0000000000 65535 f \ntrailer\n<</Size 1/Root 0 0 R/Encoding<</Differences[0/" +
			strings.Join(some, "/") + "]>>>>\nstartxref\n9\n%%EOF\n"
		r, err := pdf.NewReader(strings.NewReader(file), int64(len(file)))
		if err != nil {
			return known
		}
		font := pdf.Font{V: r.Trailer()}
		listed := font.Encoder()
		for code, name := range some {
			if s := listed.Decode(string([]byte{byte(code)})); s != string(rune(code)) {
				known[name] = s
			} else if s, ok := unicodeName(name); ok {
				known[name] = s
			}
		}
	}
	return known
}

// unicodeName returns the text of a name that is a number: uni and four digits, of which there may
// be several, or u and four to six.
func unicodeName(name string) (text string, ok bool) {
	digits, several := strings.CutPrefix(name, "uni")
	if several && len(digits) >= 4 && len(digits)%4 == 0 && strings.ToUpper(digits) == digits {
		if _, err := hex.DecodeString(digits); err == nil {
			return utf16Text(digits), true
		}
	}
	digits, single := strings.CutPrefix(name, "u")
	if n, err := strconv.ParseUint(digits, 16, 32); single && err == nil && len(digits) >= 4 && len(digits) <= 6 &&
		n <= utf8.MaxRune && utf8.ValidRune(rune(n)) && strings.ToUpper(digits) == digits {
		return string(rune(n)), true
	}
	return "", false
}

// toUnicode reads a table of codes and their text, such as
//
//	1 beginbfchar <01> <0041> endbfchar
//	2 beginbfrange <02> <04> <0042> <05> <06> [<0066> <00660069>] endbfrange
func (f *pdfFont) toUnicode(v pdf.Value) {
	r := v.Reader()
	defer r.Close()
	table, err := io.ReadAll(r)
	if err != nil {
		return
	}
	var args []string // hexadecimal, or [ and ]
	for _, m := range cmapTokens.FindAllSubmatch(table, -1) {
		switch word := string(m[0]); word {
		case "beginbfchar", "beginbfrange":
			args = args[:0]
		case "endbfchar":
			for i := 0; i+1 < len(args); i += 2 {
				f.text[codeOf(args[i])] = utf16Text(args[i+1])
			}
			args = args[:0]
		case "endbfrange":
			f.textRanges(args)
			args = args[:0]
		case "[", "]":
			args = append(args, word)
		default:
			args = append(args, strings.Join(strings.Fields(string(m[1])), ""))
		}
		if len(f.text) > mostCodes {
			return
		}
	}
}

var cmapTokens = regexp.MustCompile(`<([0-9A-Fa-f\s]*)>|\[|\]|beginbfchar|endbfchar|beginbfrange|endbfrange`)

func (f *pdfFont) textRanges(args []string) {
	for len(args) >= 3 && len(f.text) <= mostCodes {
		first, last := codeOf(args[0]), codeOf(args[1])
		args = args[2:]
		if args[0] == "[" {
			end := slices.Index(args, "]")
			if end < 0 {
				return
			}
			for i, to := range args[1:end] {
				f.text[first+uint32(i)] = utf16Text(to)
			}
			args = args[end+1:]
			continue
		}
		s := []rune(utf16Text(args[0]))
		args = args[1:]
		for code := first; len(s) > 0 && code <= last && code-first < 1<<16; code++ {
			f.text[code] = string(s)
			s[len(s)-1]++
		}
	}
}

// codeOf returns the number that hexadecimal digits are.
func codeOf(digits string) uint32 {
	n, _ := strconv.ParseUint(digits, 16, 32)
	return uint32(n)
}

// utf16Text returns the text of hexadecimal digits of UTF-16.
func utf16Text(digits string) string {
	s, _ := hex.DecodeString(digits)
	units := make([]uint16, 0, len(s)/2)
	for i := 0; i+1 < len(s); i += 2 {
		units = append(units, uint16(s[i])<<8|uint16(s[i+1]))
	}
	if len(s) == 1 { // against the rules
		units = append(units, uint16(s[0]))
	}
	return strings.ReplaceAll(string(utf16.Decode(units)), "\x00", "")
}

// glyphs returns the glyphs of a string.
func (f *pdfFont) glyphs(s string) (list []pdfGlyph) {
	if f == nil {
		return nil
	}
	step := 1
	if f.wide {
		step = 2
	}
	for i := 0; i+step <= len(s); i += step {
		code := uint32(s[i])
		if f.wide {
			code = code<<8 | uint32(s[i+1])
		}
		g := pdfGlyph{width: f.usual, blank: !f.wide && code == ' '}
		if w, ok := f.width[code]; ok {
			g.width = w
		}
		ok := false
		if g.text, ok = f.text[code]; !ok && !f.wide {
			g.text = f.encoding[code]
		}
		list = append(list, g)
	}
	return list
}
