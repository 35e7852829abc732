package serve

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/search"
)

// Answers are encoded here, with the same bytes as by encoding/json, which takes as long for an
// answer as a short search. It still encodes rare parts of answers, and all other values.

// line encodes a value as a line of JSON.
func line(v any) ([]byte, error) { return appendLine(nil, v) }

// appendLine appends a value as a line of JSON.
func appendLine(b []byte, v any) ([]byte, error) {
	if a, ok := v.(*api.Answer); ok {
		b, err := appendAnswer(b, a)
		return append(b, '\n'), err
	}
	return appendAny(b, v, true)
}

// appendAny appends a value, encoded by encoding/json.
func appendAny(b []byte, v any, newline bool) ([]byte, error) {
	out := bytes.NewBuffer(b)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false) // as in the output of the command: the answers are not HTML
	err := e.Encode(v)
	b = out.Bytes()
	if !newline && err == nil {
		b = b[:len(b)-1]
	}
	return b, err
}

func appendAnswer(b []byte, a *api.Answer) (_ []byte, err error) {
	w := object{b: append(b, '{')}
	w.string("query", a.Query)
	w.int("k", int64(a.K))
	if a.From != 0 {
		w.int("from", int64(a.From))
	}
	w.string("mode", a.Mode)
	if a.Parsed != "" {
		w.string("parsed", a.Parsed)
	}
	if len(a.Notes) > 0 {
		w.any("notes", a.Notes)
	}
	if a.Total != nil {
		w.int("total", *a.Total)
	}
	if w.name("hits"); a.Hits == nil {
		w.b = append(w.b, "null"...)
	} else {
		w.b = append(w.b, '[')
		for i := range a.Hits {
			if i > 0 {
				w.b = append(w.b, ',')
			}
			w.hit(&a.Hits[i])
		}
		w.b = append(w.b, ']')
	}
	if len(a.Expanded) > 0 {
		w.any("expanded", a.Expanded)
	}
	if len(a.Facets) > 0 {
		w.any("facets", a.Facets)
	}
	if a.More != nil {
		w.bool("more", *a.More)
	}
	if a.Next != "" {
		w.string("next", a.Next)
	}
	if a.Stats != nil {
		w.any("stats", a.Stats)
	}
	if a.Micros != 0 {
		w.int("micros", a.Micros)
	}
	if a.Shards != nil {
		w.any("shards", a.Shards)
	}
	return append(w.b, '}'), w.err
}

// object encodes the fields of an object.
type object struct {
	b   []byte
	err error
}

func (w *object) hit(h *api.Hit) {
	w.b = append(w.b, '{')
	w.int("rank", int64(h.Rank))
	w.string("id", h.ID)
	w.int("doc", int64(h.Doc))
	w.float("score", h.Score)
	if h.Before != nil {
		w.float("before", *h.Before)
	}
	if h.Explain != nil {
		w.any("explain", h.Explain)
	}
	if h.Snippet != nil {
		w.name("snippet")
		w.snippet(h.Snippet)
	}
	if len(h.MoreSnippets) > 0 {
		w.any("more_snippets", h.MoreSnippets)
	}
	if h.Passage != nil {
		w.any("passage", h.Passage)
	}
	if len(h.Fields) > 0 {
		w.any("fields", h.Fields)
	}
	w.b = append(w.b, '}')
}

func (w *object) snippet(s *search.Snippet) {
	w.b = append(w.b, '{')
	w.string("text", s.Text)
	if w.name("marks"); s.Marks == nil {
		w.b = append(w.b, "null"...)
	} else {
		w.b = append(w.b, '[')
		for i, m := range s.Marks {
			if i > 0 {
				w.b = append(w.b, ',')
			}
			w.b = append(w.b, '{')
			w.int("start", int64(m.Start))
			w.int("end", int64(m.End))
			w.b = append(w.b, '}')
		}
		w.b = append(w.b, ']')
	}
	w.bool("before", s.Before)
	w.bool("after", s.After)
	w.int("start", int64(s.Start))
	w.int("end", int64(s.End))
	w.b = append(w.b, '}')
}

func (w *object) name(name string) {
	if w.b[len(w.b)-1] != '{' {
		w.b = append(w.b, ',')
	}
	w.b = append(append(append(w.b, '"'), name...), '"', ':')
}

func (w *object) int(name string, n int64) {
	w.name(name)
	w.b = strconv.AppendInt(w.b, n, 10)
}

func (w *object) bool(name string, v bool) {
	w.name(name)
	w.b = strconv.AppendBool(w.b, v)
}

// any encodes a value by encoding/json.
func (w *object) any(name string, v any) {
	w.name(name)
	b, err := appendAny(w.b, v, false)
	if w.b = b; w.err == nil {
		w.err = err
	}
}

// float encodes a score, like encoding/json without an exponent for numbers of usual size.
func (w *object) float(name string, f float32) {
	if abs := math.Abs(float64(f)); abs != 0 && !(abs >= 1e-6 && abs < 1e21) {
		w.any(name, f)
		return
	}
	w.name(name)
	w.b = strconv.AppendFloat(w.b, float64(f), 'f', -1, 32)
}

func (w *object) string(name, s string) {
	if !plainText(s) {
		w.any(name, s)
		return
	}
	w.name(name)
	w.b = append(append(append(w.b, '"'), s...), '"')
}

// plainText reports whether a string needs no escapes in JSON.
func plainText(s string) bool {
	wide := false
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ' || c == '"' || c == '\\':
			return false
		case c == 0xe2: // may be U+2028 or U+2029, which encoding/json escapes
			if i+2 < len(s) && s[i+1] == 0x80 && s[i+2]&^1 == 0xa8 {
				return false
			}
			wide = true
		case c >= utf8.RuneSelf:
			wide = true
		}
	}
	return !wide || utf8.ValidString(s)
}
