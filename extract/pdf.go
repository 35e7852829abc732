package extract

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ledongthuc/pdf"
)

// pdfText is the text of a PDF in the order in which its pages write it. Words and lines are told
// apart by where their glyphs are. The module reads the file's objects; it has calls that return
// text, too, but these join all words of pages without blanks, which TeX makes.
func pdfText(in *input) ([]Document, error) {
	data := in.data // without what others have put before and after it, such as a header of HTTP
	if i := bytes.Index(data, []byte("%PDF-")); i > 0 {
		data = data[i:]
	}
	if i := bytes.LastIndex(data, []byte("%%EOF")); i >= 0 {
		data = data[:i+5]
	}
	r, err := pdf.NewReader(bytes.NewReader(data), int64(len(data)))
	if errors.Is(err, pdf.ErrInvalidPassword) || err != nil && strings.Contains(err.Error(), "encrypt") {
		return nil, &Error{Encrypted, nil}
	}
	if err != nil {
		return nil, err
	}
	d := Document{}
	d.pdfInfo(r)
	t := &pdfWriter{most: in.o.maxText(), fonts: map[string]*pdfFont{}}
	pages := 0
	if err := t.tree(r.Trailer().Key("Root").Key("Pages"), pdf.Value{}, 0, &pages); err != nil {
		return nil, err
	}
	d.Text = bytes.ToValidUTF8(t.out.Bytes(), []byte("\ufffd"))
	if len(bytes.TrimSpace(d.Text)) == 0 {
		return nil, fail(NoText, "%d pages without text, as of images", pages)
	}
	return []Document{d}, nil
}

// pdfInfo reads what a file says of itself. The module panics at strings that some programs write;
// that is no reason to do without the text.
func (d *Document) pdfInfo(r *pdf.Reader) {
	defer func() { recover() }()
	info := r.Trailer().Key("Info")
	d.Title = info.Key("Title").Text()
	d.set("author", info.Key("Author").Text())
	if date := strings.TrimPrefix(info.Key("CreationDate").Text(), "D:"); len(date) >= 8 {
		d.setDate(date[:4] + "-" + date[4:6] + "-" + date[6:8])
	}
}

const (
	mostPages  = 100_000
	mostLevels = 40 // of page trees, and of forms within forms
)

// tree walks a tree of pages. Resources are inherited.
func (t *pdfWriter) tree(v, resources pdf.Value, level int, pages *int) error {
	if *pages++; level > mostLevels || *pages > mostPages {
		return fail(TooLarge, "more than %d pages", mostPages)
	}
	if own := v.Key("Resources"); own.Kind() == pdf.Dict {
		resources = own
	}
	if kids := v.Key("Kids"); kids.Kind() == pdf.Array {
		*pages-- // a node
		for i := range kids.Len() {
			if err := t.tree(kids.Index(i), resources, level+1, pages); err != nil {
				return err
			}
		}
		return nil
	}
	t.newPage()
	err := t.content(v.Key("Contents"), resources, 0)
	if e := (*Error)(nil); errors.As(err, &e) && e.Why == TooLarge {
		return err
	}
	return nil // the text before what is broken is kept
}

// content writes the text of a page or a form.
func (t *pdfWriter) content(v, resources pdf.Value, level int) (err error) {
	defer func() {
		if p := recover(); p != nil {
			if e, ok := p.(*Error); ok {
				err = e
			} else {
				err = fmt.Errorf("%v", p)
			}
		}
	}()
	if level > mostLevels {
		return nil
	}
	if err := t.fits(v); err != nil {
		return err
	}
	c := &pdfContent{pdfWriter: t, resources: resources, level: level, g: pdfState{scale: 1, ctm: t.start},
		named: map[string]*pdfFont{}}
	pdf.Interpret(v, c.operator)
	return nil
}

// fits checks that streams do not expand beyond all bounds, as the module reads them whole.
func (t *pdfWriter) fits(v pdf.Value) error {
	one := func(v pdf.Value) error {
		if v.Kind() != pdf.Stream {
			return nil
		}
		r := v.Reader()
		defer r.Close()
		n, _ := io.Copy(io.Discard, io.LimitReader(r, int64(t.most)+1))
		if t.read += n; n > int64(t.most) || t.read > 16*int64(t.most) {
			return fail(TooLarge, "its pages expand to more than %d bytes", t.most)
		}
		return nil
	}
	if v.Kind() != pdf.Array {
		return one(v)
	}
	for i := range v.Len() {
		if err := one(v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}
