package extract

import (
	"archive/zip"
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// zipped makes a zip file of names and contents, in turn.
func zipped(files ...string) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i+1 < len(files); i += 2 {
		w, err := z.Create(files[i])
		if err == nil {
			_, err = w.Write([]byte(files[i+1]))
		}
		if err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// onePage is a PDF whose page has some content. Its table of objects is right.
func onePage(content string, font ...string) []byte {
	if font == nil {
		font = []string{"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"}
	}
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var at []int
	for i, object := range append([]string{
		"<</Type/Catalog/Pages 2 0 R>>",
		"<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F 6 0 R>>>>>>",
		fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(content), content),
		"<</Title(A page)/Author(Anna)/CreationDate(D:20240229120000Z)>>",
	}, font...) {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R/Info 5 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, start)
	return b.Bytes()
}

// The text of fonts without a table comes from the names of their glyphs: those of the font's
// program, or of differences from it. Bitmaps of TeX's fonts have the ligatures of Computer Modern.
func TestNamesOfGlyphs(t *testing.T) {
	program := "%!PS-AdobeFont-1.1: CMR10\n/Encoding 256 array\n0 1 255 {1 index exch /.notdef put} for\n" +
		"dup 11 /ff put\ndup 12 /fi put\ndup 13 /fl put\ndup 14 /ffi put\ndup 15 /ffl put\n" +
		"dup 25 /germandbls put\ndup 97 /a put\ndup 300 /b put\nreadonly def\ncurrentfile eexec dup 98 /a put"
	stream := fmt.Sprintf("<</Length %d>>stream\n%s\nendstream", len(program), program)
	const embedded = "<</Type/Font/Subtype/Type1/BaseFont/A+CMR10%s/FontDescriptor<</Flags 4/FontFile 7 0 R>>>>"
	const content = "BT /F 10 Tf (a\\013\\014\\015\\016\\017 b\\031) Tj ET"
	for _, c := range []struct{ want, encoding, font string }{
		{"afffiflffiffl bß", "", embedded},
		{"af_i+ffl bß", "/Encoding<</Differences[11/f/underscore/i/plus]>>", embedded},
		{"affiA😀fffi bß", "/Encoding<</Differences[11/f_f_i/uni0041/u1F600/ff.alt/fi/nonsense]>>", embedded},
		{"aff  bß", "/Encoding<</BaseEncoding/WinAnsiEncoding/Differences[11/ff 25/germandbls]>>", embedded},
		{"afffiflffiffl b", "/LastChar 98/Encoding<</Differences[11/a11/a12/a13/a14/a15]>>", "<</Type/Font/Subtype/Type3%s>>"},
		{"a  b", "/LastChar 200/Encoding<</Differences[11/a11/a12/a13/a14/a15]>>", "<</Type/Font/Subtype/Type3%s>>"},
	} {
		docs, err := Read("a.pdf", onePage(content, fmt.Sprintf(c.font, c.encoding), stream), Options{})
		if err != nil || string(docs[0].Text) != c.want {
			t.Errorf("%s: %v %v, want %q", c.encoding, docs, err, c.want)
		}
	}
}

const (
	wordStyles = `<styles><style w:styleId="T1" xmlns:w="w"><name w:val="heading 1"/></style></styles>`
	wordText   = `<w:document xmlns:w="w"><w:p><w:pPr><w:pStyle w:val="T1"/></w:pPr><w:r><w:t>Top</w:t></w:r></w:p>` +
		`<w:p><w:r><w:t>one </w:t><w:tab/><w:t>two</w:t></w:r><w:del><w:delText>gone</w:delText></w:del></w:p></w:document>`
	bookContainer = `<container><rootfiles><rootfile full-path="OEBPS/b.opf"/></rootfiles></container>`
	bookList      = `<package xmlns:dc="dc"><metadata><dc:title>A book</dc:title><dc:creator>Anna</dc:creator></metadata>` +
		`<manifest><item id="2" href="two.xhtml"/><item id="1" href="one%20a.xhtml"/></manifest>` +
		`<spine><itemref idref="1"/><itemref idref="2"/></spine></package>`
	letter = "From: =?utf-8?q?Ann=C3=A1?= <Anna@B.org>\nTo: c@d.org\nSubject: =?iso-8859-1?Q?caf=E9?=\n" +
		"Date: Thu, 29 Feb 2024 12:00:00 +0100\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n" +
		"--x\nContent-Type: multipart/alternative; boundary=y\n\n" +
		"--y\nContent-Type: text/plain; charset=iso-8859-1\nContent-Transfer-Encoding: quoted-printable\n\nau l=E4it\n" +
		"--y\nContent-Type: text/html\n\n<b>html</b>\n--y--\n" +
		"--x\nContent-Type: application/pdf; name=a.pdf\nContent-Disposition: attachment\n\nxyz\n--x--\n"
)

func TestDocumentsByExample(t *testing.T) {
	for _, c := range []struct {
		name, want string
		file       []byte
		fields     map[string][]string
	}{
		{"a.docx", `docx "Top" "Top\none \ttwo" 1@0:Top`, zipped("word/document.xml", wordText, "word/styles.xml", wordStyles), nil},
		{"a.pptx", `pptx "" "one\nten"`, zipped("ppt/slides/slide10.xml", "<p><t>ten</t></p>", "ppt/slides/slide1.xml", "<p><t>one</t></p>"), nil},
		{"a.pptx", `pptx "" "one\nsaid\nasked"`, zipped("ppt/slides/slide1.xml", "<p><t>one</t></p>", "ppt/slides/_rels/slide1.xml.rels",
			`<r><r Type="x/notesSlide" Target="../notesSlides/n.xml"/><r Type="x/comments" Target="../comments/c.xml"/></r>`,
			"ppt/notesSlides/n.xml", "<p><t>said</t></p>", "ppt/comments/c.xml", "<cm><text>asked</text></cm>"), nil},
		{"a.docx", `docx "" "x\ntop"`, zipped("word/document.xml", "<p><t>x</t></p>", "word/header1.xml", "<p><t>top</t></p>"), nil},
		{"a.odt", `opendocument "M" "Top\na  b\n\nSub" 1@0:Top 2@10:Sub`, zipped("meta.xml", `<m><title>M</title><creator>Anna</creator></m>`,
			"content.xml", `<d><tracked-changes><p>no</p></tracked-changes><h outline-level="1">Top</h><p>a<s c="2"/>b</p><h outline-level="2">Sub</h></d>`),
			map[string][]string{"author": {"Anna"}}},
		{"a.epub", `epub "A book" "One\n\ntext\n\nTwo" 1@0:One 1@11:Two`, zipped("META-INF/container.xml", bookContainer, "OEBPS/b.opf", bookList,
			"OEBPS/two.xhtml", "<h1>Two</h1>", "OEBPS/one a.xhtml", "<h1>One</h1><p>text"), map[string][]string{"author": {"Anna"}}},
		{"a.epub", `epub "A book" "Two" 1@0:Two`, zipped("b/META-INF/container.xml", bookContainer, "b/OEBPS/b.opf", bookList,
			"b/OEBPS/two.xhtml", "<h1>Two</h1>"), nil},
		{"a.eml", `mail "café" "au läit"`, []byte(letter), map[string][]string{"from": {"Anná", "anna@b.org"}, "to": {"c@d.org"},
			"date": {"2024-02-29T11:00:00Z"}, "attachment": {"a.pdf"}}},
		{"a.eml", `mail "s" "one\n\nin\n\nwithin\n\nbeside"`, []byte("Subject: s\nContent-Type: multipart/mixed; boundary=wrong\n\n--x\n\none\n" +
			"--x\nContent-Type: message/rfc822\nContent-Disposition: attachment\n\nSubject: in\n\nwithin\n" +
			"--x\nContent-Type: text/x-diff\nContent-Disposition: attachment; filename=a.diff\n\nbeside\n--x--\n"),
			map[string][]string{"attachment": {"unnamed", "a.diff"}}},
		{"a.eml", `mail "s" ""`, []byte("Subject: s\nContent-Type: multipart/encrypted; boundary=x\n\n--x\n\nversion\n--x--\n"),
			map[string][]string{"problem": {"encrypted"}}},
		{"a.eml", `mail "" ""`, []byte("From: a@b.org\n\n"), map[string][]string{"from": {"a@b.org"}}},
		{"a.eml", `mail "" "no subtype"`, []byte("Content-Type: text\n\nno subtype\n"), nil},
		{"a.mbox", `mail "a" "one\nFrom here"mail "b" "two"`, []byte("From a@b Thu Feb 29 12:00:00 2024\nSubject: a\n\none\n>From here\n\n" +
			"From c@d Thu Feb 29 12:00:00 2024\nSubject: b\n\ntwo\n"), nil},
		{"a.pdf", `pdf "A page" "Hello big world\nsecond line, divided here\n\nend"`,
			onePage("BT /F 10 Tf 0 100 Td (Hello) Tj 30 0 Td (big) Tj [( w) -10 (orld)] TJ 0 -12 TD (second line, di-) Tj T* (vided here) Tj 0 -40 Td (end) Tj ET"),
			map[string][]string{"author": {"Anna"}, "date": {"2024-02-29"}}},
		{"a.pdf", `pdf "A page" "x"`, append(append([]byte("HTTP/1.1 200\r\n\r\n"), onePage("BT /F 1 Tf (x) Tj ET")...), make([]byte, 3000)...), nil},
		{"a.pdf", `pdf "" "x"`, bytes.Replace(onePage("BT /F 1 Tf (x) Tj ET"), []byte("A page"), []byte(`A \Cage`), 1), nil},
	} {
		docs, err := Read(c.name, c.file, Options{})
		if got := outline(docs); err != nil || got != c.want {
			t.Errorf("%s: %v\n got %s\nwant %s", c.name, err, got, c.want)
			continue
		}
		if c.fields != nil && !reflect.DeepEqual(docs[0].Fields, c.fields) {
			t.Errorf("%s: %q", c.name, docs[0].Fields)
		}
	}
}

func TestDocumentsThatAreNotRead(t *testing.T) {
	bomb := zipped("content.xml", "<p>"+strings.Repeat("<s/>", 100_000))
	for _, c := range []struct {
		name string
		file []byte
		want Why
	}{
		{"a.docx", []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00"), Encrypted},
		{"a.docx", []byte("text"), Broken},
		{"a.docx", zipped("other", ""), Broken},
		{"a.odt", zipped("META-INF/manifest.xml", "<m><encryption-data/></m>", "content.xml", "x"), Encrypted},
		{"a.odt", bomb, TooLarge},
		{"a.odt", zipped("content.xml", "<p/>"), NoText},
		{"a.epub", zipped("META-INF/container.xml", bookContainer), Broken},
		{"a.epub", zipped("b/META-INF/container.xml", bookContainer, "b/META-INF/encryption.xml", `<r URI="OEBPS/two.xhtml"/>`,
			"b/OEBPS/b.opf", bookList, "b/OEBPS/two.xhtml", "x"), Encrypted},
		{"a.pdf", onePage("q Q"), NoText},
		{"a.pdf", []byte("%PDF-1.4\nnothing"), Broken},
		{"a.pdf", bytes.Replace(onePage("q"), []byte("/Size"), []byte("/Encrypt<</Filter/Other/V 9>>/ID[(a)(b)]/Size"), 1), Encrypted},
		{"a.doc", []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00"), Unsupported},
		{"a.rtf", []byte(`{\rtf1 text}`), Unsupported},
		{"a.eml", []byte("no header"), Broken},
	} {
		docs, err := Read(c.name, c.file, Options{MaxText: 10_000})
		if err == nil {
			t.Errorf("%s: %s, want %v", c.name, outline(docs), c.want)
		} else if got := why(t, err); got != c.want {
			t.Errorf("%s %.20q: %v, want %v", c.name, c.file, err, c.want)
		}
		if !Reads(c.name, c.file[:min(len(c.file), 8<<10)]) {
			t.Errorf("%s would not be read at all", c.name)
		}
	}
}

// FuzzZipped reads archives with some content in each of their parts.
func FuzzZipped(f *testing.F) {
	for _, s := range []string{wordText, wordStyles, bookContainer, bookList, "<h outline-level='1'>x<s c='9'/></h><p>y</p>"} {
		f.Add(s, []byte("PK"))
	}
	f.Fuzz(func(t *testing.T, text string, raw []byte) {
		for name, parts := range map[string][]string{
			"a.docx": {"word/document.xml", "word/styles.xml", "docProps/core.xml", "word/footnotes.xml"},
			"a.odt":  {"content.xml", "meta.xml"},
			"a.pptx": {"ppt/slides/slide1.xml"},
			"a.epub": {"META-INF/container.xml", "OEBPS/b.opf", "OEBPS/two.xhtml"},
		} {
			var files []string
			for _, part := range parts {
				files = append(files, part, text)
			}
			if name == "a.epub" {
				files[1], files[3] = bookContainer, bookList
			}
			docs, err := Read(name, zipped(files...), Options{MaxText: 1 << 16})
			holds(t, docs, err)
			docs, err = Read(name, append([]byte("PK"), raw...), Options{MaxText: 1 << 16})
			holds(t, docs, err)
		}
	})
}

func FuzzPDF(f *testing.F) {
	f.Add([]byte("BT /F 10 Tf 1 0 0 1 50 700 Tm (Hello) Tj [( w) -300 (orld)] TJ ET q 2 0 0 2 0 0 cm Q /X Do"), []byte("%PDF-1.4"))
	f.Add([]byte("BI /W 1 ID \x00\x01 EI"), onePage("q"))
	f.Fuzz(func(t *testing.T, content, raw []byte) {
		docs, err := Read("a.pdf", onePage(string(content)), Options{MaxText: 1 << 16})
		holds(t, docs, err)
		docs, err = Read("a.pdf", append([]byte("%PDF-1.4\n"), raw...), Options{MaxText: 1 << 16})
		holds(t, docs, err)
	})
}

func FuzzMail(f *testing.F) {
	f.Add([]byte(letter))
	f.Add([]byte("From a@b Thu Feb 29 12:00:00 2024\nSubject: a\n\none\n\nFrom c\n\ntwo\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, name := range []string{"a.eml", "a.mbox"} {
			docs, err := Read(name, data, Options{MaxText: 1 << 16})
			holds(t, docs, err)
		}
	})
}
