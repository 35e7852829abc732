package serve

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strings"
)

// referenceHTML is what stands before the text of the reference.
//
//go:embed reference.html
var referenceHTML string

// The parts of an OpenAPI description that the reference shows.
type (
	apiDoc struct {
		Info  struct{ Description string }
		Paths map[string]map[string]json.RawMessage

		Components struct {
			Parameters map[string]*apiParam
			Responses  map[string]*apiResponse
			Schemas    map[string]*apiSchema
		}
	}
	apiOperation struct {
		OperationID, Summary, Description string

		Parameters  []*apiParam
		RequestBody *apiResponse
		Responses   map[string]*apiResponse
	}
	apiParam struct {
		Ref  string `json:"$ref"`
		Name string
		In   string

		Description string
		Required    bool
		Deprecated  bool
		Schema      apiSchema
	}
	apiResponse struct {
		Ref         string `json:"$ref"`
		Description string
		Content     map[string]struct{ Schema apiSchema }
	}
	apiSchema struct {
		Ref         string `json:"$ref"`
		Type        string
		Description string
		Items       *apiSchema
		Enum        []any
		Default     any
		Minimum     any
		Maximum     any
		Required    []string
		Properties  map[string]*apiSchema
	}
)

// methodOrder is the order in which the methods of a path are shown.
var methodOrder = []string{"get", "post", "put", "delete"}

// writeReference writes the page of the reference, from the description of the API. All text is
// escaped, and there are no scripts.
func writeReference() []byte {
	var doc apiDoc
	if err := json.Unmarshal([]byte(openAPIFile), &doc); err != nil {
		panic(err) // cannot happen: tests read it
	}
	var b bytes.Buffer
	b.WriteString(referenceHTML)
	fmt.Fprintf(&b, "<h1>HTTP API</h1>\n<p>%s For programs: <a href=\"v1/openapi.json\">openapi.json</a>.</p>\n",
		escaped(doc.Info.Description))
	b.WriteString("<p>Requests about an index are about the first one. Below <code>/v1/indexes/NAME</code> " +
		"in place of <code>/v1</code> they are about the index of that name.</p>\n<h2>Requests</h2>\n<ul>\n")
	var details bytes.Buffer
	for _, at := range sortedKeys(doc.Paths) {
		for _, method := range methodOrder {
			raw := doc.Paths[at][method]
			if raw == nil {
				continue
			}
			var o apiOperation
			if err := json.Unmarshal(raw, &o); err != nil {
				panic(err) // cannot happen: tests read it
			}
			name := escaped(strings.ToUpper(method) + " " + at)
			fmt.Fprintf(&b, "<li><a href=\"#%s\"><code>%s</code></a> %s</li>\n", escaped(o.OperationID), name,
				escaped(o.Summary))
			o.write(&details, &doc, name)
		}
	}
	b.WriteString("</ul>\n")
	b.Write(details.Bytes())
	b.WriteString("<h2>Errors</h2>\n<table>\n<tr><th>code</th><th>status</th><th>meaning</th></tr>\n")
	for _, k := range problemKinds {
		fmt.Fprintf(&b, "<tr id=\"%s\"><td><code>%[1]s</code></td><td>%d</td><td>%s</td></tr>\n", k.code, k.status,
			escaped(k.title))
	}
	b.WriteString("</table>\n<h2>Objects</h2>\n")
	for _, name := range sortedKeys(doc.Components.Schemas) {
		s := doc.Components.Schemas[name]
		fmt.Fprintf(&b, "<h3 id=\"schema-%s\">%[1]s</h3>\n<p>%s</p>\n", escaped(name), escaped(s.Description))
		s.writeFields(&b)
	}
	b.WriteString("</body>\n</html>\n")
	return b.Bytes()
}

// write writes the section of a request.
func (o *apiOperation) write(b *bytes.Buffer, doc *apiDoc, name string) {
	fmt.Fprintf(b, "<h3 id=\"%s\"><code>%s</code></h3>\n<p>%s. %s</p>\n", escaped(o.OperationID), name,
		escaped(strings.TrimSuffix(o.Summary, ".")), escaped(o.Description))
	if len(o.Parameters) > 0 {
		b.WriteString("<table>\n<tr><th>parameter</th><th>type</th><th>meaning</th></tr>\n")
		for _, p := range o.Parameters {
			if p.Ref != "" {
				p = doc.Components.Parameters[path.Base(p.Ref)]
			}
			if p.Deprecated { // an older name
				continue
			}
			note := ""
			if p.In == "path" {
				note = "in the path"
			} else if p.Required {
				note = "required"
			}
			writeRow(b, p.Name, note, p.Description, &p.Schema)
		}
		b.WriteString("</table>\n")
	}
	if o.RequestBody != nil {
		b.WriteString("<p>Body: " + o.RequestBody.kinds() + "</p>\n")
	}
	b.WriteString("<table>\n<tr><th>status</th><th>answer</th><th></th></tr>\n")
	for _, status := range sortedKeys(o.Responses) {
		r := o.Responses[status]
		if r.Ref != "" {
			r = doc.Components.Responses[path.Base(r.Ref)]
		}
		fmt.Fprintf(b, "<tr><td>%s</td><td>%s</td><td>%s</td></tr>\n", escaped(status), r.kinds(),
			escaped(r.Description))
	}
	b.WriteString("</table>\n")
}

// kinds describes the media types of a body, as HTML.
func (r *apiResponse) kinds() string {
	var list []string
	for _, kind := range sortedKeys(r.Content) {
		s := r.Content[kind].Schema
		list = append(list, "<code>"+escaped(kind)+"</code> "+s.kind())
	}
	return strings.Join(list, ", ")
}

// kind describes a type, as HTML.
func (s *apiSchema) kind() string {
	switch {
	case s == nil:
		return ""
	case s.Ref != "":
		name := escaped(path.Base(s.Ref))
		return fmt.Sprintf(`<a href="#schema-%s">%[1]s</a>`, name)
	case s.Type == "array":
		return "list of " + s.Items.kind()
	}
	return escaped(s.Type)
}

// writeFields writes a table of the fields of an object.
func (s *apiSchema) writeFields(b *bytes.Buffer) {
	b.WriteString("<table>\n<tr><th>field</th><th>type</th><th>meaning</th></tr>\n")
	for _, name := range sortedKeys(s.Properties) {
		writeRow(b, name, "", s.Properties[name].Description, s.Properties[name])
	}
	b.WriteString("</table>\n")
}

// writeRow writes the row of a parameter or a field.
func writeRow(b *bytes.Buffer, name, note, says string, s *apiSchema) {
	kind := s.kind()
	if note != "" {
		kind += ", " + note
	}
	var more []string
	if len(s.Enum) > 0 {
		var values []string
		for _, v := range s.Enum {
			values = append(values, fmt.Sprint(v))
		}
		more = append(more, "one of "+strings.Join(values, ", "))
	}
	for _, bound := range []struct {
		says string
		v    any
	}{{"at least", s.Minimum}, {"at most", s.Maximum}, {"by default", s.Default}} {
		if bound.v != nil {
			more = append(more, fmt.Sprintf("%s %v", bound.says, bound.v))
		}
	}
	fmt.Fprintf(b, "<tr><td><code>%s</code></td><td>%s</td><td>%s", escaped(name), kind, escaped(says))
	if len(more) > 0 {
		fmt.Fprintf(b, " <span class=\"quiet\">(%s)</span>", escaped(strings.Join(more, "; ")))
	}
	b.WriteString("</td></tr>\n")
}

// referencePolicy allows the style of the page and nothing else.
var referencePolicy = func() string {
	_, style, _ := strings.Cut(referenceHTML, "<style>")
	style, _, _ = strings.Cut(style, "</style>")
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}()

// reference shows the description of the API as a page.
func (x *exchange) reference() {
	x.w.Header().Set("Content-Security-Policy", referencePolicy)
	x.write(http.StatusOK, "text/html; charset=utf-8", x.documented())
}
