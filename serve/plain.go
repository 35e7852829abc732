package serve

import (
	"bytes"
	_ "embed"
	"fmt"
	"html"
	"net/http"
	"strings"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/search"
)

// plainHTML is what stands before the search field, with TITLE for the title. The rest is written
// by hand: with html/template in the program, the linker must keep the methods of all types, which
// makes it an eighth larger.
//
//go:embed plain.html
var plainHTML string

// plainData is the content of the page.
type plainData struct {
	Docs, Terms, MaxK int // Terms is 0 if not known
	Query, Mode       string
	Answer            *api.Answer
	Error             string
}

// plain is a page with a search field and results, for browsers without scripts.
func (x *exchange) plain() {
	data := plainData{Docs: x.g.docs, Terms: x.g.terms(), MaxK: x.o.MaxK}
	status := http.StatusOK
	a, err := x.searchParams()
	if err == nil && strings.TrimSpace(a.Query) != "" {
		a.Snippets = x.g.hasText
		if err = x.check(&a); err == nil {
			if data.Answer, err = x.find(a); err != nil {
				status = statusOf(err)
				x.note(status, err)
			}
		}
	}
	if data.Query, data.Mode = shown(a.Query), a.Mode.String(); err != nil {
		data.Error = shown(said(err))
		if status == http.StatusOK {
			status = http.StatusBadRequest
		}
	}
	var b bytes.Buffer
	data.write(&b)
	x.w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; "+
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	x.begin(status, "text/html; charset=utf-8")
	x.w.Write(b.Bytes())
}

// write writes the page. All data are escaped, and attributes are quoted.
func (d *plainData) write(b *bytes.Buffer) {
	title, and := "Collocate", ""
	if d.Query != "" {
		title = escaped(d.Query) + " - " + title
	}
	if d.Mode == "and" {
		and = " selected"
	}
	b.WriteString(strings.Replace(plainHTML, "TITLE", title, 1))
	fmt.Fprintf(b, `<form action="plain" method="get" role="search">
<input type="search" name="q" value="%s" aria-label="Words to search for" placeholder="Words" autofocus>
<select name="mode" aria-label="Which documents">
<option value="or">any of the words</option>
<option value="and"%s>all of the words</option>
</select>
<button>Search</button>
</form>
`, escaped(d.Query), and)
	if d.Error != "" {
		fmt.Fprintf(b, "<p class=\"error\" role=\"alert\">%s</p>\n", escaped(d.Error))
	}
	if a := d.Answer; a != nil && a.Shards != nil && len(a.Shards.Missing) > 0 {
		fmt.Fprintf(b, "<p class=\"error\" role=\"alert\">Incomplete: %d of %d shards answered, "+
			"with %d of %d documents.</p>\n",
			a.Shards.Answered, a.Shards.Of, a.Shards.Documents, a.Shards.OfDocuments)
	}
	if d.Answer != nil {
		for _, note := range d.Answer.Notes {
			fmt.Fprintf(b, "<p role=\"status\">Note: %s.</p>\n", escaped(note))
		}
	}
	switch {
	case d.Answer == nil:
		words := ""
		if d.Terms > 0 {
			words = fmt.Sprintf(", %d words", d.Terms)
		}
		fmt.Fprintf(b, `<p>%d documents%s. For programs:</p>
<ul>
<li><code>GET /v1/search?q=words</code> answers in JSON; also <code>k</code> (up to %d), <code>mode=and</code>, <code>model</code>, <code>snippets=1</code>, <code>stats=1</code></li>
<li><code>POST /v1/search</code> with lines such as <code>{"q": "words", "k": 5}</code> answers each with a line of JSON</li>
<li><code>GET /v1/openapi.json</code> describes all requests, and <code>GET /docs</code> shows them</li>
</ul>
`, d.Docs, words, d.MaxK)
	case len(d.Answer.Hits) == 0:
		b.WriteString("<p>Nothing found.</p>\n")
	default:
		fmt.Fprintf(b, "<p class=\"quiet\">The best %d, found in %d &micro;s</p>\n<ol>\n",
			len(d.Answer.Hits), d.Answer.Micros)
		for i := range d.Answer.Hits {
			writeHit(b, &d.Answer.Hits[i])
		}
		b.WriteString("</ol>\n")
	}
	b.WriteString("</main>\n</body>\n</html>\n")
}

func writeHit(b *bytes.Buffer, h *api.Hit) {
	fmt.Fprintf(b, "<li><b>%s</b> <span class=\"quiet\">%.4f</span>\n", escaped(h.ID), h.Score)
	if s := h.Snippet; s != nil {
		b.WriteString("<p>")
		if s.Before {
			b.WriteString("&hellip; ")
		}
		for _, p := range pieces(s) {
			if p.Mark {
				fmt.Fprintf(b, "<mark>%s</mark>", escaped(p.Text))
			} else {
				b.WriteString(escaped(p.Text))
			}
		}
		if s.After {
			b.WriteString(" &hellip;")
		}
		b.WriteString("</p>")
	}
	b.WriteString("</li>\n")
}

// escaped escapes a text for HTML.
func escaped(s string) string { return html.EscapeString(shown(s)) }

// shown replaces bytes that are not UTF-8.
func shown(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// piece is a part of a snippet.
type piece struct {
	Text string
	Mark bool
}

// pieces splits a snippet at the ends of its marks.
func pieces(s *search.Snippet) []piece {
	var out []piece
	at := uint32(0)
	for _, m := range s.Marks {
		out = append(out, piece{shown(s.Text[at:m.Start]), false},
			piece{shown(s.Text[m.Start:m.End]), true})
		at = m.End
	}
	return append(out, piece{shown(s.Text[at:]), false})
}
