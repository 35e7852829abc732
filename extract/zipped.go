package extract

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html/charset"
)

// archive is a zip file of which a bounded number of bytes is read, so that a small file cannot
// expand to any size.
type archive struct {
	*zip.Reader
	left int64
	most int
}

// expansion is how many times Options.MaxText the XML of a document may take.
const expansion = 16

func (in *input) archive() (*archive, error) {
	z, err := zip.NewReader(bytes.NewReader(in.data), int64(len(in.data)))
	if err != nil {
		return nil, err
	}
	return &archive{z, expansion * int64(in.o.maxText()), in.o.maxText()}, nil
}

// find returns a member of the archive, or nil.
func (a *archive) find(name string) *zip.File {
	i := slices.IndexFunc(a.File, func(f *zip.File) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return a.File[i]
}

// open opens a member; reading beyond the bound is an error.
func (a *archive) open(name string) (io.ReadCloser, error) {
	f := a.find(name)
	switch {
	case f == nil:
		return nil, fail(Broken, "%s is missing", name)
	case f.Flags&1 != 0:
		return nil, &Error{Why: Encrypted}
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	return &bounded{r, a}, nil
}

type bounded struct {
	io.ReadCloser
	a *archive
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.a.left -= int64(n); b.a.left < 0 {
		return 0, fail(TooLarge, "it expands to more than %d bytes", expansion*b.a.most)
	}
	return n, err
}

// whole reads a member, which may be as large as a text.
func (a *archive) whole(name string) ([]byte, error) {
	r, err := a.open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return atMost(r, a.most)
}

// walk calls see for each start, end and text of a member that is XML.
func (a *archive) walk(name string, see func(xml.Token) error) error {
	r, err := a.open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	d := xml.NewDecoder(r)
	d.Strict, d.CharsetReader, d.Entity = false, charset.NewReaderLabel, xml.HTMLEntity
	for {
		t, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = see(t)
		}
		if err != nil {
			return err
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// writing collects the paragraphs of a document.
type writing struct {
	d     Document
	out   bytes.Buffer
	line  strings.Builder
	level int // of the heading that the paragraph is, or 0
	most  int
}

// end ends a paragraph.
func (w *writing) end() error {
	s := strings.TrimSpace(strings.ToValidUTF8(w.line.String(), "\ufffd"))
	w.line.Reset()
	if s != "" {
		if w.out.Len() > 0 {
			w.out.WriteByte('\n')
			if w.level > 0 {
				w.out.WriteByte('\n')
			}
		}
		if w.level > 0 {
			w.d.addHeading(w.out.Len(), w.level, s)
		}
		w.out.WriteString(s)
	}
	w.level = 0
	if w.out.Len() > w.most {
		return fail(TooLarge, "more than %d bytes of text", w.most)
	}
	return nil
}

func (w *writing) docs() []Document {
	w.d.Text = w.out.Bytes()
	return []Document{w.d}
}

// metadata reads what office documents and books say of themselves, in the words of Dublin Core.
func (a *archive) metadata(d *Document, name string) error {
	if a.find(name) == nil {
		return nil
	}
	var value strings.Builder
	return a.walk(name, func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			value.Reset()
		case xml.CharData:
			if value.Len() < 10_000 {
				value.Write(t)
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "title":
				if d.Title == "" {
					d.Title = value.String()
				}
			case "creator", "initial-creator":
				d.set("author", value.String())
			case "language":
				d.set("language", value.String())
			case "created", "creation-date", "date":
				date := strings.TrimSpace(value.String())
				d.setDate(date[:min(len(date), 10)])
			case "subject", "keyword", "keywords":
				d.set("tag", value.String())
			}
			value.Reset()
		}
		return nil
	})
}

var headingStyle = regexp.MustCompile(`(?i)^(?:heading|title|überschrift|titre|título|titolo)\s*(\d?)$`)

// docx is the text of Word's documents: paragraphs, notes and links.
func docx(in *input) ([]Document, error) {
	a, err := in.archive()
	if err != nil {
		return nil, err
	}
	w := &writing{most: in.o.maxText()}
	if err := a.metadata(&w.d, "docProps/core.xml"); err != nil {
		return nil, err
	}
	levels, err := a.styles()
	if err != nil {
		return nil, err
	}
	parts := []string{"word/document.xml", "word/footnotes.xml", "word/endnotes.xml", "word/comments.xml"}
	for _, f := range a.File {
		if pageParts.MatchString(f.Name) {
			parts = append(parts, f.Name)
		}
	}
	for _, part := range parts {
		if part != "word/document.xml" && a.find(part) == nil {
			continue
		}
		if err := w.office(a, part, levels); err != nil {
			return nil, err
		}
	}
	if part := "word/_rels/document.xml.rels"; a.find(part) != nil {
		err = a.walk(part, func(t xml.Token) error {
			if e, ok := t.(xml.StartElement); ok && strings.HasSuffix(attribute(e, "Type"), "/hyperlink") {
				w.d.set("link", attribute(e, "Target"))
			}
			return nil
		})
	}
	return w.docs(), err
}

// pageParts matches what is at the top and the bottom of pages.
var pageParts = regexp.MustCompile(`^word/(?:header|footer)\d*\.xml$`)

// styles returns the levels of the styles of a Word document that are headings, by their IDs.
func (a *archive) styles() (map[string]int, error) {
	levels := map[string]int{}
	const part = "word/styles.xml"
	if a.find(part) == nil {
		return levels, nil
	}
	id := ""
	return levels, a.walk(part, func(t xml.Token) error {
		e, ok := t.(xml.StartElement)
		switch {
		case !ok:
		case e.Name.Local == "style":
			id = attribute(e, "styleId")
		case e.Name.Local == "name":
			if m := headingStyle.FindStringSubmatch(attribute(e, "val")); m != nil {
				n, _ := strconv.Atoi(m[1])
				levels[id] = max(1, n)
			}
		case e.Name.Local == "outlineLvl":
			if n, err := strconv.Atoi(attribute(e, "val")); err == nil && n >= 0 && n < 9 && id != "" {
				levels[id] = n + 1
			}
		}
		return nil
	})
}

// office reads paragraphs as Word and PowerPoint write them. Of text in two forms, for old and new
// programs, the new one counts.
func (w *writing) office(a *archive, part string, levels map[string]int) error {
	text, skip := false, 0
	err := a.walk(part, func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "Fallback":
				skip++
			case "t", "text": // the second is that of PowerPoint's comments
				text = true
			case "tab":
				w.line.WriteByte('\t')
			case "br", "cr":
				w.line.WriteByte('\n')
			case "noBreakHyphen":
				w.line.WriteByte('-')
			case "pStyle":
				w.level = levels[attribute(t, "val")]
			case "ph":
				if kind := attribute(t, "type"); kind == "title" || kind == "ctrTitle" {
					w.level = 1
				}
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "Fallback":
				skip--
			case "t", "text":
				text = false
			case "p", "cm":
				return w.end()
			}
		case xml.CharData:
			if text && skip == 0 {
				w.line.Write(t)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return w.end()
}

var slideName = regexp.MustCompile(`^ppt/slides/slide(\d+)\.xml$`)

// pptx is the text of PowerPoint's slides, in the order of their numbers, each with its notes and
// comments.
func pptx(in *input) ([]Document, error) {
	a, err := in.archive()
	if err != nil {
		return nil, err
	}
	w := &writing{most: in.o.maxText()}
	if err := a.metadata(&w.d, "docProps/core.xml"); err != nil {
		return nil, err
	}
	slides := map[int]string{}
	var order []int
	for _, f := range a.File {
		if m := slideName.FindStringSubmatch(f.Name); m != nil {
			n, _ := strconv.Atoi(m[1])
			if slides[n] == "" {
				order = append(order, n)
			}
			slides[n] = f.Name
		}
	}
	slices.Sort(order)
	for _, n := range order {
		parts, err := a.beside(slides[n])
		if err != nil {
			return nil, err
		}
		for _, part := range append([]string{slides[n]}, parts...) {
			if err := w.office(a, part, nil); err != nil {
				return nil, err
			}
		}
	}
	return w.docs(), nil
}

// beside returns the notes and comments of a slide.
func (a *archive) beside(slide string) (parts []string, err error) {
	dir, name := path.Split(slide)
	list := dir + "_rels/" + name + ".rels"
	if a.find(list) == nil {
		return nil, nil
	}
	err = a.walk(list, func(t xml.Token) error {
		e, ok := t.(xml.StartElement)
		if !ok {
			return nil
		}
		kind, target := path.Base(attribute(e, "Type")), path.Join(dir, attribute(e, "Target"))
		if (kind == "notesSlide" || kind == "comments") && a.find(target) != nil {
			parts = append(parts, target)
		}
		return nil
	})
	return parts, err
}

// openDocument is the text of OpenDocument files: texts, slides and tables.
func openDocument(in *input) ([]Document, error) {
	a, err := in.archive()
	if err != nil {
		return nil, err
	}
	if part := "META-INF/manifest.xml"; a.find(part) != nil {
		err := a.walk(part, func(t xml.Token) error {
			if e, ok := t.(xml.StartElement); ok && e.Name.Local == "encryption-data" {
				return &Error{Why: Encrypted}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	w := &writing{most: in.o.maxText()}
	if err := a.metadata(&w.d, "meta.xml"); err != nil {
		return nil, err
	}
	inside, skip := 0, 0 // of paragraphs; of changes that were made undone
	err = a.walk("content.xml", func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "tracked-changes", "sequence-decls":
				skip++
			case "p", "h":
				if inside++; inside == 1 && t.Name.Local == "h" {
					n, _ := strconv.Atoi(attribute(t, "outline-level"))
					w.level = max(1, n)
				}
			case "s":
				n, _ := strconv.Atoi(attribute(t, "c"))
				w.line.WriteString(strings.Repeat(" ", max(1, min(n, 100))))
			case "tab":
				w.line.WriteByte('\t')
			case "line-break":
				w.line.WriteByte('\n')
			case "a":
				w.d.set("link", attribute(t, "href"))
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "tracked-changes", "sequence-decls":
				skip--
			case "p", "h":
				if inside--; inside > 0 { // a paragraph in a frame of another
					w.line.WriteByte('\n')
					return nil
				}
				return w.end()
			}
		case xml.CharData:
			if inside > 0 && skip == 0 {
				w.line.Write(t)
			}
		}
		return nil
	})
	return w.docs(), err
}

// epub is the text of a book, in the order in which it is read.
func epub(in *input) ([]Document, error) {
	a, err := in.archive()
	if err != nil {
		return nil, err
	}
	const list = "META-INF/container.xml"
	root, below := "", "" // some books are a zip file of the folder that holds them
	for _, f := range a.File {
		if dir, ok := strings.CutSuffix(f.Name, "/"+list); ok && a.find(list) == nil && (below == "" || len(dir) < len(below)) {
			below = dir + "/"
		}
	}
	err = a.walk(below+list, func(t xml.Token) error {
		if e, ok := t.(xml.StartElement); ok && e.Name.Local == "rootfile" && root == "" {
			root = below + attribute(e, "full-path")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	w := &writing{most: in.o.maxText()}
	if err := a.metadata(&w.d, root); err != nil {
		return nil, err
	}
	items := map[string]string{}
	var spine []string
	err = a.walk(root, func(t xml.Token) error {
		if e, ok := t.(xml.StartElement); ok {
			switch e.Name.Local {
			case "item":
				items[attribute(e, "id")] = path.Join(path.Dir(root), unescaped(attribute(e, "href")))
			case "itemref":
				spine = append(spine, attribute(e, "idref"))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	locked := ""
	if part := below + "META-INF/encryption.xml"; a.find(part) != nil {
		data, err := a.whole(part)
		if err != nil {
			return nil, err
		}
		locked = string(data)
	}
	for _, id := range spine {
		name := items[id]
		if name == "" || a.find(name) == nil {
			continue
		}
		if strings.Contains(locked, `"`+strings.TrimPrefix(name, below)+`"`) {
			return nil, &Error{Why: Encrypted}
		}
		data, err := a.whole(name)
		if err != nil {
			return nil, err
		}
		data, _ = in.toUTF8(data, "")
		chapter := htmlText(data)
		if w.out.Len() > 0 {
			w.out.WriteString("\n\n")
		}
		for _, h := range chapter.Headings {
			w.d.addHeading(w.out.Len()+h.At, h.Level, h.Text)
		}
		for _, link := range chapter.Fields["link"] {
			if strings.Contains(link, "://") {
				w.d.set("link", link)
			}
		}
		w.out.Write(chapter.Text)
		if w.out.Len() > w.most {
			return nil, fail(TooLarge, "more than %d bytes of text", w.most)
		}
	}
	return w.docs(), nil
}
