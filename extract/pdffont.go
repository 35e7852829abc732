package extract

import (
	"encoding/hex"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

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

// names fills in the text of codes of one byte by the names of their glyphs. The module has the
// tables, and applies them to strings.
func (f *pdfFont) names(v pdf.Value) {
	font := pdf.Font{V: v}
	if v.Key("Encoding").Kind() == pdf.Null && v.Key("ToUnicode").Kind() == pdf.Stream {
		return // toUnicode does the same
	}
	e := font.Encoder()
	for code := range 256 {
		f.encoding[code] = e.Decode(string([]byte{byte(code)}))
		if len(f.encoding[code]) == 1 && f.encoding[code][0] >= 0x80 {
			f.encoding[code] = string(rune(code))
		}
	}
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
