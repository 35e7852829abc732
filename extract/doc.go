// Package extract finds the text of a file: its title, its headings and where they begin, and
// fields such as the author. What it does not read is an Error that says why: the kind is unknown,
// the file is encrypted or broken, or it has no text, as scanned pages. It never panics.
//
//	docs, err := extract.Read("notes/plan.md", data, extract.Options{})
//	docs[0].Title          // "The plan"
//	docs[0].Headings[1].At // offset in docs[0].Text where a section begins
//
// A mail box has a document for each message, any other file one. The kinds are:
//
//	kind      recognised by                    text
//	text      anything that is text            as it is
//	code      extension (.go, .py, .sql ...)   as it is
//	markdown  .md, .markdown, .mdx, .qmd       as it is, with headings and front matter
//	rst       .rst                             as it is, with headings
//	html      .html, .htm, .xhtml, <!doctype   without tags; headings, links, meta data
//	pdf       %PDF- at the beginning           in the order in which pages write it
//	docx      .docx; pptx: .pptx               paragraphs, notes, slides; headings, links
//	opendocument .odt, .odp, .ods              paragraphs and cells; headings, links
//	epub      .epub                            chapters in reading order; headings
//	mail      .eml; mailbox: .mbox             plain text, or HTML where there is no plain form
//	notebook  .ipynb                           cells and their outputs of text, with headings
//	subtitles .srt, .vtt                       what is said, without times
//
// Other kinds that people have, such as .doc and .xlsx, are known and not read (Unsupported).
// Files with the ending .gz are decompressed, within the bounds of Options. Text is UTF-8, whatever
// the file had; Document.Encoding names it. A byte order mark or a declaration in the file decides;
// else bytes that are not UTF-8 are taken for UTF-16 if they have its zeros, or windows-1252.
//
// Not for searching, walking folders (package folders), or records of data such as CSV and JSON
// lines, which package text reads.
//
// Experimental: it may change with any version; package collocate says what may not.
package extract
