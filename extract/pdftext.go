package extract

import (
	"bytes"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ledongthuc/pdf"
)

// pdfMatrix maps (x, y) to (a x + c y + e, b x + d y + f).
type pdfMatrix struct{ a, b, c, d, e, f float64 }

var pdfIdentity = pdfMatrix{a: 1, d: 1}

// then applies m first and n afterwards.
func (m pdfMatrix) then(n pdfMatrix) pdfMatrix {
	return pdfMatrix{m.a*n.a + m.b*n.c, m.a*n.b + m.b*n.d, m.c*n.a + m.d*n.c, m.c*n.b + m.d*n.d,
		m.e*n.a + m.f*n.c + n.e, m.e*n.b + m.f*n.d + n.f}
}

// pdfState is what q saves and Q restores.
type pdfState struct {
	ctm                        pdfMatrix
	font                       *pdfFont
	size, charSpace, wordSpace float64
	scale, leading, rise       float64
	matrix, line               pdfMatrix // of the text, and of the beginning of its line
}

// pdfWriter writes the text of all pages.
type pdfWriter struct {
	out   bytes.Buffer
	most  int
	read  int64 // bytes of streams
	fonts map[string]*pdfFont
	start pdfMatrix

	some bool    // text was written on this page
	x, y float64 // where the last glyph ended
	size float64 // of the last glyph
}

// newPage begins a page.
func (t *pdfWriter) newPage() {
	if t.out.Len() > 0 {
		t.out.WriteString("\n\n")
	}
	t.some, t.start = false, pdfIdentity
}

// pdfContent interprets one stream of operators.
type pdfContent struct {
	*pdfWriter
	resources pdf.Value
	level     int
	g         pdfState
	saved     []pdfState
	named     map[string]*pdfFont // fonts of the resources
}

func (c *pdfContent) operator(stack *pdf.Stack, op string) {
	args := make([]pdf.Value, stack.Len())
	for i := len(args) - 1; i >= 0; i-- {
		args[i] = stack.Pop()
	}
	number := func(i int) float64 {
		if i >= len(args) {
			return 0
		}
		return args[i].Float64()
	}
	matrix := func() pdfMatrix {
		return pdfMatrix{number(0), number(1), number(2), number(3), number(4), number(5)}
	}
	g := &c.g
	switch op {
	case "q":
		if len(c.saved) < 1000 {
			c.saved = append(c.saved, *g)
		}
	case "Q":
		if n := len(c.saved); n > 0 {
			*g, c.saved = c.saved[n-1], c.saved[:n-1]
		}
	case "cm":
		g.ctm = matrix().then(g.ctm)
	case "BT":
		g.matrix, g.line = pdfIdentity, pdfIdentity
	case "Tf":
		if len(args) == 2 {
			g.font, g.size = c.font(args[0].Name()), number(1)
		}
	case "Tc":
		g.charSpace = number(0)
	case "Tw":
		g.wordSpace = number(0)
	case "Tz":
		g.scale = number(0) / 100
	case "TL":
		g.leading = number(0)
	case "Ts":
		g.rise = number(0)
	case "TD":
		g.leading = -number(1)
		fallthrough
	case "Td":
		g.move(number(0), number(1))
	case "T*":
		g.move(0, -g.leading)
	case "Tm":
		g.matrix, g.line = matrix(), matrix()
	case "'":
		g.move(0, -g.leading)
		c.show(args)
	case "\"":
		g.wordSpace, g.charSpace = number(0), number(1)
		g.move(0, -g.leading)
		c.show(args[min(2, len(args)):])
	case "Tj":
		c.show(args)
	case "TJ":
		if len(args) > 0 {
			for i := range args[0].Len() {
				if v := args[0].Index(i); v.Kind() == pdf.String {
					c.show([]pdf.Value{v})
				} else {
					g.advance(-v.Float64() / 1000 * g.size * g.scale)
				}
			}
		}
	case "Do":
		if len(args) > 0 {
			c.form(c.resources.Key("XObject").Key(args[0].Name()))
		}
	}
}

func (g *pdfState) move(x, y float64) {
	g.line = pdfMatrix{1, 0, 0, 1, x, y}.then(g.line)
	g.matrix = g.line
}

func (g *pdfState) advance(x float64) { g.matrix = pdfMatrix{1, 0, 0, 1, x, 0}.then(g.matrix) }

// form writes the text of a form, which is content of its own.
func (c *pdfContent) form(v pdf.Value) {
	if v.Key("Subtype").Name() != "Form" {
		return
	}
	m, resources := pdfIdentity, v.Key("Resources")
	if own := v.Key("Matrix"); own.Len() == 6 {
		at := func(i int) float64 { return own.Index(i).Float64() }
		m = pdfMatrix{at(0), at(1), at(2), at(3), at(4), at(5)}
	}
	if resources.Kind() != pdf.Dict {
		resources = c.resources
	}
	before := c.start
	c.start = m.then(c.g.ctm)
	err := c.content(v, resources, c.level+1)
	c.start = before
	if e, ok := err.(*Error); ok {
		panic(e)
	}
}

// show writes a string of glyphs, with a blank or a line end before it where there is a gap.
func (c *pdfContent) show(args []pdf.Value) {
	if len(args) == 0 || args[0].Kind() != pdf.String {
		return
	}
	g := &c.g
	for _, glyph := range c.g.font.glyphs(args[0].RawString()) {
		m := pdfMatrix{g.size * g.scale, 0, 0, g.size, 0, g.rise}.then(g.matrix).then(g.ctm)
		width := glyph.width*g.size + g.charSpace
		if glyph.blank {
			width += g.wordSpace
		}
		g.advance(width * g.scale)
		if s := strings.TrimSpace(glyph.text); s != "" {
			end := g.matrix.then(g.ctm)
			c.glyph(glyph.text, m, end)
		}
	}
}

// glyph writes the text of a glyph, of which m maps the unit square to the page; end is where the
// next one begins.
func (t *pdfWriter) glyph(text string, m, end pdfMatrix) {
	size := math.Hypot(m.c, m.d)
	if size == 0 || math.IsNaN(size) || math.IsInf(size, 0) {
		return
	}
	// The distances from the end of the last glyph, along the line and across it.
	dx, dy := m.e-t.x, m.f-t.y
	along := math.Hypot(m.a, m.b)
	if along > 0 {
		dx, dy = (dx*m.a+dy*m.b)/along, (dy*m.a-dx*m.b)/along
	}
	near := max(size, t.size)
	switch {
	case !t.some:
	case math.Abs(dy) > 2*near:
		t.endLine("\n\n")
	case math.Abs(dy) > 0.6*near:
		t.endLine("\n")
	case dx > 0.18*size || dx < -0.6*near:
		t.out.WriteByte(' ')
	}
	for _, r := range text {
		if s, ok := ligatures[r]; ok {
			t.out.WriteString(s)
		} else if r == 0xad || unicode.IsControl(r) || r == utf8.RuneError {
			continue
		} else {
			t.out.WriteRune(r)
		}
	}
	if t.out.Len() > t.most {
		panic(&Error{TooLarge, nil})
	}
	t.some, t.x, t.y, t.size = true, end.e, end.f, size
}

// endLine ends a line. A hyphen after a letter goes, as it divides a word.
func (t *pdfWriter) endLine(end string) {
	b := t.out.Bytes()
	if n := len(b); n > 1 && b[n-1] == '-' && end == "\n" {
		if r, _ := utf8.DecodeLastRune(b[:n-1]); unicode.IsLower(r) {
			t.out.Truncate(n - 1)
			return
		}
	}
	t.out.WriteString(end)
}

// ligatures are characters of typesetting that stand for letters.
var ligatures = map[rune]string{0xfb00: "ff", 0xfb01: "fi", 0xfb02: "fl", 0xfb03: "ffi", 0xfb04: "ffl", 0xfb05: "st", 0xfb06: "st"}
