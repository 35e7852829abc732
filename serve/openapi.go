package serve

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// openAPIFile describes each request once, at the path that means the first index.
//
//go:embed openapi.json
var openAPIFile string

// describeAPI returns openAPIFile with the paths below /v1/indexes/NAME, where the same requests
// are about another index: the operation search is called searchIn there.
func (v *Server) describeAPI() []byte {
	var doc struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal([]byte(openAPIFile), &doc); err != nil {
		panic(err) // cannot happen: tests read it
	}
	const paths = `"paths": {`
	head, rest, _ := strings.Cut(openAPIFile, paths)
	var b strings.Builder
	b.WriteString(head + paths)
	seen := map[string]bool{}
	for _, t := range v.makeRoutes() {
		path := strings.Replace(t.path, below, "/v1", 1)
		if !t.named() || seen[path] || doc.Paths[path] == nil || doc.Paths[t.path] != nil {
			continue
		}
		seen[path] = true
		fmt.Fprintf(&b, "\n  %q: {\"parameters\": [{\"$ref\": \"#/components/parameters/Index\"}]", t.path)
		for _, method := range sortedKeys(doc.Paths[path]) {
			const id = `"operationId": "`
			before, after, _ := strings.Cut(string(doc.Paths[path][method]), id)
			name, after, _ := strings.Cut(after, `"`)
			fmt.Fprintf(&b, ",\n  %q: %s%s%sIn\"%s", method, before, id, name, after)
		}
		b.WriteString("},")
	}
	b.WriteString(rest)
	return []byte(b.String())
}

// openAPI serves the description of the API.
func (x *exchange) openAPI() {
	x.write(http.StatusOK, "application/json", x.described())
}
