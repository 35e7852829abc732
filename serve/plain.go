package serve

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"strings"

	"github.com/collocate/collocate/search"
)

//go:embed plain.html
var plainHTML string

var plainTemplate = template.Must(template.New("plain").Funcs(template.FuncMap{"pieces": pieces, "shown": shown}).Parse(plainHTML))

// plainData is what the page shows.
type plainData struct {
	Docs, Terms, MaxK int
	Query, Mode       string
	Answer            *Answer
	Error             string
}

// plain is a search field with what was found, for browsers without scripts.
func (x *exchange) plain() {
	data := plainData{Docs: x.g.docs, Terms: x.g.terms(), MaxK: x.o.MaxK}
	status := http.StatusOK
	a, err := x.ask()
	if err == nil && strings.TrimSpace(a.Q) != "" {
		a.Snippets = x.g.hasText
		if err = x.check(&a); err == nil {
			if data.Answer, err = x.find(a); err != nil {
				status = statusOf(err)
				x.note(status, err)
			}
		}
	}
	if data.Query, data.Mode = shown(a.Q), a.Mode; err != nil {
		data.Error = shown(err.Error())
		if status == http.StatusOK {
			status = http.StatusBadRequest
		}
	}
	var b bytes.Buffer
	if err := plainTemplate.Execute(&b, data); err != nil {
		x.failed(err)
		return
	}
	x.w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; "+
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	x.begin(status, "text/html; charset=utf-8")
	x.w.Write(b.Bytes())
}

// shown is a text as a page in UTF-8 can have it.
func shown(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// piece is a part of a snippet.
type piece struct {
	Text string
	Mark bool
}

// pieces cuts a snippet where its marks begin and end.
func pieces(s *search.Snippet) []piece {
	var out []piece
	at := uint32(0)
	for _, m := range s.Marks {
		out = append(out, piece{shown(s.Text[at:m.Start]), false}, piece{shown(s.Text[m.Start:m.End]), true})
		at = m.End
	}
	return append(out, piece{shown(s.Text[at:]), false})
}
