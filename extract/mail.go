package extract

import (
	"bytes"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// mbox has a document for each message of a mail box. A message begins with a line "From " after an
// empty one.
func mbox(in *input) ([]Document, error) {
	var docs []Document
	rest, size := in.data, 0
	for len(rest) > 0 {
		end := len(rest)
		if i := bytes.Index(rest[1:], []byte("\n\nFrom ")); i >= 0 {
			end = i + 3
		} else if i := bytes.Index(rest[1:], []byte("\r\n\r\nFrom ")); i >= 0 {
			end = i + 5
		}
		one := rest[:end]
		rest = rest[end:]
		if i := bytes.IndexByte(one, '\n'); bytes.HasPrefix(one, []byte("From ")) && i >= 0 {
			one = one[i+1:]
		}
		if len(bytes.TrimSpace(one)) == 0 {
			continue
		}
		one = bytes.ReplaceAll(one, []byte("\n>From "), []byte("\nFrom "))
		list, err := (&input{name: in.name, data: one, o: in.o, depth: in.depth + 1}).message()
		if err != nil { // keep what was sent, whatever it is
			text, name := in.toUTF8(one, "")
			list = []Document{{Text: text, Encoding: name}}
		}
		list[0].Kind, list[0].Part = "mail", strconv.Itoa(len(docs)+1)
		docs = append(docs, list[0])
		if size += len(list[0].Text); size > expansion*in.o.maxText() {
			return nil, fail(TooLarge, "more than %d bytes of text", expansion*in.o.maxText())
		}
	}
	return docs, nil
}

// message is the text of a mail: the parts of plain text, or HTML where there is no plain form,
// mails within it, and what is attached as text, such as patches.
func (in *input) message() ([]Document, error) {
	m, err := mail.ReadMessage(bytes.NewReader(in.data))
	if err != nil {
		return nil, err
	}
	w := &mailText{in: in}
	header := textproto.MIMEHeader(m.Header)
	w.d.Title = w.decode(header.Get("Subject"))
	for _, field := range []string{"From", "To", "Cc"} {
		name := strings.ToLower(field)
		if name == "cc" {
			name = "to"
		}
		w.addresses(name, header.Values(field))
	}
	if date, err := m.Header.Date(); err == nil {
		w.d.setDate(date.UTC().Format("2006-01-02T15:04:05Z"))
	}
	body, err := io.ReadAll(m.Body)
	if err != nil {
		return nil, err
	}
	if err := w.part(header, body, 0); err != nil {
		return nil, err
	}
	w.d.Text = bytes.TrimSpace(w.out.Bytes())
	return []Document{w.d}, nil
}

// eml is a mail in a file of its own.
func eml(in *input) ([]Document, error) { return in.message() }

// mailText collects the text of a mail.
type mailText struct {
	in  *input
	d   Document
	out bytes.Buffer
}

// decode converts the encoded words of a header.
func (w *mailText) decode(s string) string {
	d := mime.WordDecoder{CharsetReader: func(name string, r io.Reader) (io.Reader, error) {
		data, err := io.ReadAll(r)
		if err != nil || !known(name) {
			return bytes.NewReader(data), err
		}
		text, _ := convert(data, canonical(name))
		return bytes.NewReader(text), nil
	}}
	if text, err := d.DecodeHeader(s); err == nil {
		s = text
	}
	text, _ := w.in.toUTF8([]byte(s), "")
	return string(text)
}

// addresses sets a field to the addresses and the names of people.
func (w *mailText) addresses(field string, lines []string) {
	for _, line := range lines {
		list, err := mail.ParseAddressList(line)
		if err != nil {
			w.d.set(field, w.decode(line))
			continue
		}
		for _, a := range list {
			w.d.set(field, w.decode(a.Name))
			w.d.set(field, strings.ToLower(a.Address))
		}
	}
}

// mostParts bounds the parts of a mail.
const mostParts = 10_000

// part adds the text of a part, whose header says what it is.
func (w *mailText) part(header textproto.MIMEHeader, body []byte, level int) error {
	if level > 20 {
		return fail(TooLarge, "parts nested more than 20 deep")
	}
	kind, about, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil || !strings.Contains(kind, "/") {
		kind = "text/plain"
	}
	if name := attached(header, about); name != "" {
		w.d.set("attachment", w.decode(name))
	}
	switch {
	case kind == "multipart/encrypted", strings.HasSuffix(kind, "pkcs7-mime") && !strings.HasPrefix(about["smime-type"], "signed"):
		w.d.set("problem", Encrypted.String())
		return nil
	case strings.HasPrefix(kind, "multipart/"):
		return w.parts(kind, about["boundary"], body, level)
	}
	body = decoded(header.Get("Content-Transfer-Encoding"), body)
	switch {
	case kind == "message/rfc822":
		inner := &input{name: "a.eml", data: body, o: w.in.o, depth: w.in.depth + 1}
		if inner.depth > deepest {
			return nil
		}
		if docs, err := inner.message(); err == nil {
			w.add(docs[0].Title + "\n\n" + string(docs[0].Text))
		}
	case kind == "text/html":
		text, name := w.in.toUTF8(body, about["charset"])
		page := htmlText(text)
		w.said(name)
		for _, link := range page.Fields["link"] {
			w.d.set("link", link)
		}
		w.add(string(page.Text))
	case strings.HasPrefix(kind, "text/"), kind == "message/delivery-status":
		text, name := w.in.toUTF8(body, about["charset"])
		w.said(name)
		w.add(string(text))
	}
	if w.out.Len() > w.in.o.maxText() {
		return fail(TooLarge, "more than %d bytes of text", w.in.o.maxText())
	}
	return nil
}

// parts adds the parts of a multipart. Of alternatives the one of plain text counts, or else the
// last, which is the richest. If the closing line is missing, what is there is taken; if the header
// has another line than the body, that of the body.
func (w *mailText) parts(kind, boundary string, body []byte, level int) error {
	if boundary == "" || !bytes.Contains(body, []byte("--"+boundary)) {
		m := boundaryLine.FindSubmatch(body)
		if m == nil {
			return w.part(textproto.MIMEHeader{}, body, level+1)
		}
		boundary = string(m[1])
	}
	type piece struct {
		header textproto.MIMEHeader
		body   []byte
	}
	var pieces []piece
	chosen := -1
	for r := multipart.NewReader(bytes.NewReader(body), boundary); len(pieces) < mostParts; {
		p, err := r.NextRawPart()
		if err != nil {
			break
		}
		data, _ := io.ReadAll(p)
		if strings.HasPrefix(p.Header.Get("Content-Type"), "text/plain") && chosen < 0 {
			chosen = len(pieces)
		}
		pieces = append(pieces, piece{p.Header, data})
	}
	for i, p := range pieces {
		if kind == "multipart/alternative" && i != chosen && (chosen >= 0 || i < len(pieces)-1) {
			continue
		}
		if err := w.part(p.header, p.body, level+1); err != nil {
			return err
		}
	}
	return nil
}

// boundaryLine matches the line before a part.
var boundaryLine = regexp.MustCompile(`(?m)^--([^\s-]\S{0,69})\s*$`)

// attached returns the file name of a part that is an attachment.
func attached(header textproto.MIMEHeader, about map[string]string) string {
	how, more, err := mime.ParseMediaType(header.Get("Content-Disposition"))
	if err != nil {
		return ""
	}
	for _, name := range []string{more["filename"], about["name"]} {
		if name != "" {
			return path.Base(strings.ReplaceAll(name, `\`, "/"))
		}
	}
	if how == "attachment" {
		return "unnamed"
	}
	return ""
}

// decoded undoes how a part was encoded for the way; what is wrong at its end is left out.
func decoded(how string, body []byte) []byte {
	var r io.Reader
	switch strings.ToLower(strings.TrimSpace(how)) {
	case "base64":
		bare := bytes.Map(func(c rune) rune {
			if c <= ' ' {
				return -1
			}
			return c
		}, body)
		r = base64.NewDecoder(base64.StdEncoding, bytes.NewReader(bare))
	case "quoted-printable":
		r = quotedprintable.NewReader(bytes.NewReader(body))
	default:
		return body
	}
	data, err := io.ReadAll(r)
	if err != nil && len(data) == 0 {
		return body
	}
	return data
}

// add appends text as a paragraph.
func (w *mailText) add(text string) {
	if text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")); text == "" {
		return
	}
	if w.out.Len() > 0 {
		w.out.WriteString("\n\n")
	}
	w.out.WriteString(text)
}

// said keeps the first encoding that is not UTF-8.
func (w *mailText) said(name string) {
	if w.d.Encoding == "" || w.d.Encoding == "utf-8" {
		w.d.Encoding = name
	}
}
