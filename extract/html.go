package extract

import (
	"bytes"
	"strings"

	nethtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// html is the text of a page: what a browser would show, with a line for each block.
func html(in *input) ([]Document, error) {
	data, name := in.toUTF8(in.data, "")
	d := htmlText(data)
	d.Encoding = name
	return []Document{d}, nil
}

// page collects the text of HTML.
type page struct {
	d       Document
	out     bytes.Buffer
	blank   bool // white space is due before the next word
	lines   int  // line ends that are due before it
	pre     int  // depth of elements whose white space counts
	skip    int  // depth of elements that are not shown
	xml     bool // XHTML, in which any element may be <empty/>
	foreign int  // depth of SVG and MathML, which have names of their own
	title   bool
	heading int // level of the heading that we are in, or 0
	at      int // where its text begins, or -1
}

// htmlText reads HTML. It needs no tree: elements that are not closed do no harm.
func htmlText(data []byte) Document {
	p := &page{xml: bytes.Contains(data[:min(len(data), 1024)], []byte("http://www.w3.org/1999/xhtml"))}
	z := nethtml.NewTokenizer(bytes.NewReader(data))
	z.AllowCDATA(p.xml)
	for {
		t := z.Next()
		switch t {
		case nethtml.ErrorToken: // the end, or an element that is cut off
			p.d.Text = p.out.Bytes()
			return p.d
		case nethtml.TextToken:
			p.text(z.Text())
		case nethtml.StartTagToken, nethtml.SelfClosingTagToken:
			name, more := z.TagName()
			p.start(string(name), more, z)
			// Elsewhere <empty/> closes nothing.
			if t == nethtml.SelfClosingTagToken && (p.xml || p.foreign > 0) {
				z.NextIsNotRawText()
				p.end(string(name))
			}
		case nethtml.EndTagToken:
			name, _ := z.TagName()
			p.end(string(name))
		}
	}
}

// text appends text, with white space as a browser shows it.
func (p *page) text(b []byte) {
	if p.title {
		p.d.Title += string(b)
		return
	}
	if p.skip > 0 {
		return
	}
	if p.pre > 0 {
		if len(b) > 0 {
			p.gap()
			p.out.Write(b)
		}
		return
	}
	for len(b) > 0 {
		word := bytes.TrimLeftFunc(b, isBlank)
		p.blank = p.blank || len(word) < len(b)
		if len(word) == 0 {
			return
		}
		end := bytes.IndexFunc(word, isBlank)
		if end < 0 {
			end = len(word)
		}
		p.gap()
		p.out.Write(word[:end])
		b = word[end:]
	}
}

func isBlank(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == '\r' || r == '\f' }

// gap writes the white space that is due before a word.
func (p *page) gap() {
	switch {
	case p.out.Len() == 0:
	case p.lines > 0:
		p.out.WriteString("\n\n"[:min(p.lines, 2)])
	case p.blank:
		p.out.WriteByte(' ')
	}
	p.blank, p.lines = false, 0
	if p.heading > 0 && p.at < 0 {
		p.at = p.out.Len()
	}
}

// hides reports whether the content of an element is not shown. Of formulas that is also their
// source, of drawings what they say of themselves.
func (p *page) hides(name string) bool {
	switch name {
	case "script", "style", "template", "noscript", "iframe", "object", "annotation", "annotation-xml":
		return true
	case "title", "desc", "metadata":
		return p.foreign > 0
	}
	return false
}

// blocks are elements that begin a line: 2 leave one empty.
var blocks = map[atom.Atom]int{atom.P: 2, atom.Div: 1, atom.Br: 1, atom.Li: 1, atom.Tr: 1, atom.Ul: 1, atom.Ol: 1,
	atom.Dl: 1, atom.Dt: 1, atom.Dd: 1, atom.Table: 2, atom.Section: 2, atom.Article: 2, atom.Header: 1, atom.Footer: 1,
	atom.Nav: 1, atom.Aside: 1, atom.Main: 1, atom.Blockquote: 2, atom.Pre: 2, atom.Hr: 2, atom.Form: 1, atom.Option: 1,
	atom.Figure: 1, atom.Figcaption: 1, atom.H1: 2, atom.H2: 2, atom.H3: 2, atom.H4: 2, atom.H5: 2, atom.H6: 2,
	atom.Body: 1, atom.Address: 1, atom.Fieldset: 1, atom.Summary: 1, atom.Details: 1, atom.Caption: 1}

func level(a atom.Atom) int {
	if s := a.String(); len(s) == 2 && s[0] == 'h' && s[1] >= '1' && s[1] <= '6' {
		return int(s[1] - '0')
	}
	return 0
}

func (p *page) start(name string, more bool, z *nethtml.Tokenizer) {
	a := atom.Lookup([]byte(name))
	attributes := map[string]string{}
	for more {
		var k, v []byte
		k, v, more = z.TagAttr()
		attributes[string(k)] = string(v)
	}
	switch {
	case p.hides(name):
		p.skip++
		return
	case p.skip > 0:
		return
	case a == atom.Svg || a == atom.Math:
		p.foreign++
		p.blank = true
	case a == atom.Title:
		p.title = p.d.Title == ""
	case a == atom.Meta:
		p.meta(strings.ToLower(attributes["name"]+attributes["property"]), attributes["content"])
	case a == atom.Html:
		p.d.set("language", attributes["lang"])
	case a == atom.A:
		if link := attributes["href"]; link != "" && link[0] != '#' && !strings.HasPrefix(link, "javascript:") {
			p.d.set("link", link)
		}
	case a == atom.Img && attributes["alt"] != "":
		p.text([]byte(" " + attributes["alt"] + " "))
	case a == atom.Td || a == atom.Th:
		p.blank = true
	case a == atom.Pre || a == atom.Textarea:
		p.pre++
	}
	p.lines = max(p.lines, blocks[a])
	if n := level(a); n > 0 {
		p.endHeading()
		p.heading, p.at = n, -1
	}
}

func (p *page) end(name string) {
	a := atom.Lookup([]byte(name))
	switch {
	case p.hides(name):
		p.skip = max(0, p.skip-1)
		return
	case a == atom.Title:
		p.title = false
	case p.skip > 0:
		return
	case a == atom.Pre || a == atom.Textarea:
		p.pre = max(0, p.pre-1)
	case a == atom.Svg || a == atom.Math:
		p.foreign = max(0, p.foreign-1)
		p.blank = true
	case a == atom.Td || a == atom.Th || name == "text":
		p.blank = true
	}
	if level(a) > 0 {
		p.endHeading()
	}
	p.lines = max(p.lines, blocks[a])
}

func (p *page) endHeading() {
	if p.heading > 0 && p.at >= 0 {
		p.d.addHeading(p.at, p.heading, strings.TrimRight(string(p.out.Bytes()[p.at:]), "¶# \n"))
	}
	p.heading = 0
}

// meta takes what a page says of itself.
func (p *page) meta(name, value string) {
	switch name {
	case "author", "article:author", "dc.creator":
		p.d.set("author", value)
	case "date", "dc.date", "article:published_time", "dcterms.date":
		p.d.setDate(value)
	case "keywords":
		for _, tag := range strings.Split(value, ",") {
			p.d.set("tag", tag)
		}
	}
}
