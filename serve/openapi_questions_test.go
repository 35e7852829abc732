package serve

import (
	"encoding"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/points"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/vectors"
	"github.com/collocate/collocate/words"
)

// The parameters of questions in openapi.json are made from their declarations: those of URLs, and
// the objects of POST. UPDATE=1 writes them.
func TestSpecHasDeclaredParameters(t *testing.T) {
	const path = "openapi.json"
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	spec := string(old)
	replace := func(after, part, name string, by any) {
		t.Helper()
		made, err := json.MarshalIndent(by, "    ", " ")
		if err != nil {
			t.Fatal(err)
		}
		head, rest, found := strings.Cut(spec, after)
		within := strings.Index(rest, part)
		begin := strings.Index(rest[max(0, within):], name)
		if !found || within < 0 || begin < 0 {
			t.Fatalf("%s has no %s after %s", path, name, after)
		}
		begin += within + len(name)
		var value json.RawMessage
		in := json.NewDecoder(strings.NewReader(rest[begin:]))
		if err := in.Decode(&value); err != nil {
			t.Fatal(err)
		}
		end := begin + int(in.InputOffset())
		spec = head + after + rest[:begin] + " " + string(made) + rest[end:]
	}
	about := comments(t)
	for of, name := range sharedSchemas {
		if !strings.Contains(spec, "\n   \""+name+"\":") {
			spec = strings.Replace(spec, "\n  \"schemas\": {", "\n  \"schemas\": {\n   \""+name+"\": {},", 1)
		}
		replace("\n  \"schemas\": {", "", "\n   \""+name+"\":", structSchema(of, about))
	}
	for path, of := range pathAnswers {
		replace("\n  \""+path+"\": {", `"200": {`, `"schema":`, answerSchema(of, about))
	}
	for _, q := range api.AboutWords(api.HTTP) {
		method, path := q.Route()
		if !strings.Contains(spec, "\n  \""+path+"\": {") {
			made, err := json.MarshalIndent(map[string]any{strings.ToLower(method): described(q)}, "  ", " ")
			if err != nil {
				t.Fatal(err)
			}
			spec = strings.Replace(spec, "\"paths\": {", "\"paths\": {\n  \""+path+"\": "+string(made)+",", 1)
		}
		replace("\n  \""+path+"\": {", `"200": {`, `"schema":`, answerSchema(q.Answer(api.HTTP), about))
	}
	for _, q := range api.Questions() {
		if q.Without(api.HTTP) == "" && len(q.At(api.HTTP)) > 0 {
			method, path := q.Route()
			replace("\n  \""+path+"\": {", `"`+strings.ToLower(method)+`": {`, `"parameters":`, inURL(q))
		}
	}
	replace("\n  \"/v1/places/area\": {", `"get": {`, `"parameters":`, inURL(api.AreaDrawingQuestion))
	replace("\n   \"Query\": {", "", `"properties":`, inBody(api.SearchQuestion))
	replace("\n   \"JobRequest\": {", "", `"properties":`, jobSchema())
	if spec == string(old) {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatalf("%s is not what the declarations say: run UPDATE=1 go test ./serve -run Declared", path)
	}
	if err := os.WriteFile(path, []byte(spec), 0o666); err != nil {
		t.Fatal(err)
	}
}

// described returns the operation of a question about words, but for its parameters and the schema
// of its answer.
func described(q *api.Question) map[string]any {
	responses := map[string]any{"200": map[string]any{"description": "The answer.",
		"content": map[string]any{"application/json": map[string]any{"schema": nil}}},
		"304": map[string]any{"$ref": "#/components/responses/NotModified"}}
	for _, code := range []string{"400", "401", "404", "413", "429", "500", "503"} {
		responses[code] = map[string]any{"$ref": "#/components/responses/Error"}
	}
	return map[string]any{"operationId": strings.ReplaceAll(q.Name, " ", ""), "parameters": nil,
		"summary": strings.ToUpper(q.Help[:1]) + q.Help[1:], "responses": responses}
}

// comments returns the comments of the fields of structs, by package, type and field.
func comments(t *testing.T) map[string]string {
	t.Helper()
	list := map[string]string{}
	for _, dir := range []string{"../api", "../words", "../vectors", "../search", "../search/internal/ask",
		"../search/internal/tree", "../serve", "../coloc", "../points", "../index", "../fields", "../text"} {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatal(dir, err)
		}
		for _, path := range files {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				of, ok := n.(*ast.TypeSpec)
				if !ok {
					return true
				}
				fields, ok := of.Type.(*ast.StructType)
				if !ok {
					return false
				}
				for _, f := range fields.Fields.List {
					text := strings.TrimSpace(strings.ReplaceAll(f.Doc.Text()+f.Comment.Text(), "\n", " "))
					for _, name := range f.Names {
						list[filepath.Base(dir)+"."+of.Name.Name+"."+name.Name] = text
					}
				}
				return false
			})
		}
	}
	return list
}

// sharedSchemas are the types of answers that have a schema of their own, which others refer to.
// The page has their types by the same names.
var sharedSchemas = map[reflect.Type]string{
	reflect.TypeFor[api.Answer]():         "Answer",
	reflect.TypeFor[api.Hit]():            "Hit",
	reflect.TypeFor[api.Coverage]():       "Coverage",
	reflect.TypeFor[api.Document]():       "Document",
	reflect.TypeFor[search.Snippet]():     "Snippet",
	reflect.TypeFor[search.Explanation](): "Explanation",
	reflect.TypeFor[search.Part]():        "Part",
	reflect.TypeFor[search.FacetCounts](): "FacetCounts",
	reflect.TypeFor[search.Stats]():       "Stats",
	reflect.TypeFor[writeAnswer]():        "Change",

	reflect.TypeFor[api.Word]():           "Word",
	reflect.TypeFor[api.Company]():        "Company",
	reflect.TypeFor[api.NearWord]():       "Near",
	reflect.TypeFor[api.SpreadOfOne]():    "Dispersion",
	reflect.TypeFor[api.KeywordsAnswer](): "Keywords",
	reflect.TypeFor[words.Concordance]():  "Concordance",
	reflect.TypeFor[vectors.Plane]():      "Plane",

	reflect.TypeFor[pointsSummary]():       "Places",
	reflect.TypeFor[pointsAnswer]():        "Points",
	reflect.TypeFor[api.MineAnswer]():      "Patterns",
	reflect.TypeFor[coloc.Report]():        "Report",
	reflect.TypeFor[coloc.ReportPattern](): "Pattern",
	reflect.TypeFor[instancesAnswer]():     "Instances",
	reflect.TypeFor[localAnswer]():         "Local",
	reflect.TypeFor[api.AreaAnswer]():      "StudyArea",
	reflect.TypeFor[api.Pair]():            "Pair",
	reflect.TypeFor[points.Summary]():      "Summary",
	reflect.TypeFor[api.CurveAnswer]():     "Curve",
	reflect.TypeFor[jobAnswer]():           "Job",
	reflect.TypeFor[versionAnswer]():       "Version",
	reflect.TypeFor[statusAnswer]():        "Status",
	reflect.TypeFor[indexAnswer]():         "Index",
	reflect.TypeFor[index.Stats]():         "IndexSize",
}

// pathAnswers are the types of answers at addresses that are no questions about words.
var pathAnswers = map[string]reflect.Type{
	"/v1/places/patterns":      api.MineQuestion.Answer(api.HTTP),
	"/v1/places/summary":       api.SummaryQuestion.Answer(api.HTTP),
	"/v1/places/co-occurrence": api.CoOccurrenceQuestion.Answer(api.HTTP),
	"/v1/places/enrichment":    api.EnrichmentQuestion.Answer(api.HTTP),
	"/v1/places/quotients":     api.PairsQuestion.Answer(api.HTTP),
	"/v1/places/local":         reflect.TypeFor[localAnswer](),
	"/v1/places/curve":         api.CurveQuestion.Answer(api.HTTP),
	"/v1/places/area":          reflect.TypeFor[api.AreaAnswer](),
}

// mayBeNull are lists that an answer has without a value, as null.
var mayBeNull = []string{"search.Snippet.Marks", "search.Explanation.Words", "points.Summary.Nearest",
	"points.Summary.Near"}

// mayLack are fields that a type leaves out by itself.
var mayLack = []string{"ask.Stats.Blocks", "ask.Stats.Scored", "ask.Stats.Decoded", "ask.Stats.Skipped"}

// answerSchema returns the schema of a type of answers, with the comments of its fields.
func answerSchema(t reflect.Type, about map[string]string) map[string]any {
	if name := sharedSchemas[t]; name != "" {
		return map[string]any{"$ref": "#/components/schemas/" + name}
	}
	return structSchema(t, about)
}

func structSchema(t reflect.Type, about map[string]string) map[string]any {
	if t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return map[string]any{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return answerSchema(t.Elem(), about)
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Slice:
		items := answerSchema(t.Elem(), about)
		if t.Elem().Kind() == reflect.Pointer && items["$ref"] == nil {
			items["nullable"] = true
		}
		return map[string]any{"type": "array", "items": items}
	case reflect.Array:
		return map[string]any{"type": "array", "items": answerSchema(t.Elem(), about), "minItems": t.Len(), "maxItems": t.Len()}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": answerSchema(t.Elem(), about)}
	case reflect.Interface:
		return map[string]any{}
	case reflect.Struct:
	default:
		return map[string]any{"type": "integer"}
	}
	properties, required := map[string]any{}, []string{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, how, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			of := f.Type
			if of.Kind() == reflect.Pointer {
				of = of.Elem()
			}
			inner := structSchema(of, about)
			maps.Copy(properties, inner["properties"].(map[string]any))
			if of == f.Type { // or all may be missing
				required = append(required, inner["required"].([]string)...)
			}
			continue
		}
		if !f.IsExported() || name == "-" {
			continue
		}
		s := answerSchema(f.Type, about)
		if slices.Contains(mayBeNull, t.String()+"."+f.Name) ||
			f.Type.Kind() == reflect.Pointer && how == "" && s["$ref"] == nil {
			s["nullable"] = true
		}
		if text := about[t.String()+"."+f.Name]; text != "" && s["$ref"] == nil {
			if strings.HasPrefix(strings.ToLower(text), "older ") {
				s["deprecated"] = true
			}
			for _, verb := range []string{" is ", " are ", " reports "} { // as Go's comments begin
				text = strings.TrimPrefix(text, f.Name+verb)
			}
			s["description"] = strings.ToUpper(text[:1]) + strings.TrimSuffix(text[1:], ".") + "."
		}
		if properties[name] = s; how == "" && !slices.Contains(mayLack, t.String()+"."+f.Name) {
			required = append(required, name)
		}
	}
	slices.Sort(required)
	return map[string]any{"type": "object", "properties": properties, "required": slices.Compact(required),
		"additionalProperties": false}
}

// schemaOf returns the schema of a parameter as OpenAPI 3.0 writes it.
func schemaOf(p *api.Param) map[string]any {
	s := p.Schema()
	if low, open := s["exclusiveMinimum"]; open {
		s["minimum"], s["exclusiveMinimum"] = low, true
	}
	return s
}

// inURL returns the parameters of a question in a URL. Older names are deprecated.
func inURL(q *api.Question) (list []any) {
	for _, p := range q.At(api.HTTP) {
		s, about := schemaOf(p), p.Sentence()
		switch {
		case p.Kind == api.List:
			s, about = map[string]any{"type": "string"}, about+" Several are separated by commas."
		case s["oneOf"] != nil: // in a URL every value is a string
			s = map[string]any{"type": "string", "example": "100"}
			if p.Name == "sparse" {
				s["example"] = "solar eclipse"
			}
		}
		one := map[string]any{"name": p.Name, "in": "query", "description": about, "schema": s}
		if p.Needed && len(p.Also) == 0 { // or the older name is given
			one["required"] = true
		}
		if p.Path != "" {
			one["name"], one["in"], one["required"] = p.Path, "path", true
			list = append(list, one)
			continue
		}
		list = append(list, one)
		for _, older := range p.Also {
			again := maps.Clone(one)
			again["name"], again["deprecated"], again["description"] = older, true, "Older name of "+p.Name+"."
			list = append(list, again)
		}
	}
	return list
}

// inBody returns the properties of a question as an object.
func inBody(q *api.Question) map[string]any {
	all := map[string]any{}
	for _, p := range q.At(api.HTTP) {
		s := schemaOf(p)
		s["description"] = p.Sentence()
		all[p.Name] = s
		for _, older := range p.Also {
			s := maps.Clone(s)
			s["deprecated"], s["description"] = true, "Older name of "+p.Name+"."
			all[older] = s
		}
	}
	return all
}

// jobSchema returns the properties of a job: its own, and those of mining.
func jobSchema() map[string]any {
	all := inBody(api.MineQuestion)
	for name := range notOfJobs {
		delete(all, name)
	}
	all["kind"] = map[string]any{"type": "string", "enum": []string{"patterns"}}
	all["distances"] = map[string]any{"type": "array", "minItems": 1, "maxItems": maxDistances,
		"items":       map[string]any{"type": "number", "minimum": 0, "exclusiveMinimum": true},
		"description": "Mine at each of these distances, one after the other."}
	all["only"] = map[string]any{"type": "array", "maxItems": 100,
		"items": map[string]any{"type": "array", "minItems": 2,
			"items": map[string]any{"type": "string", "minLength": 1}},
		"description": "Only patterns of exactly these features, in the order of their names."}
	return all
}

// A root answers a question or refuses it by its name, as is declared; so does every server what is
// not asked over HTTP.
func TestRootAnswersOrRefuses(t *testing.T) {
	root := newCluster(t, 2, 1, RootOptions{}).root
	for _, q := range api.Questions() {
		method, path := q.Route()
		path = strings.NewReplacer("{", "", "}", "").Replace(path)
		got := httptest.NewRecorder()
		root.ServeHTTP(got, local(httptest.NewRequest(method, path, nil)))
		if why := q.Without(api.HTTP); why != "" {
			if got.Code != http.StatusNotFound || !strings.Contains(got.Body.String(), path+": not over HTTP: "+why) {
				t.Errorf("%s: %d %s: want the reason %q", path, got.Code, got.Body, why)
			}
			continue
		}
		refused := got.Code == http.StatusNotFound && strings.Contains(got.Body.String(), path+": not supported by a root: "+q.Without(api.Root))
		if want := q.Without(api.Root) != ""; refused != want {
			t.Errorf("a root refuses %s: %v, want %v: %d %s", path, refused, want, got.Code, got.Body)
		}
	}
}

// The page asks the questions that are declared for it.
func TestPageAsks(t *testing.T) {
	var source strings.Builder
	err := filepath.WalkDir("../web/src", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			text, _ := os.ReadFile(path)
			source.Write(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range api.Questions() {
		_, path := q.Route()
		parts := regexp.MustCompile(`\{\w+\}`).Split(strings.TrimPrefix(path, "/"), -1)
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		asks := regexp.MustCompile("['`]" + strings.Join(parts, "(?:\\$\\{[^}]*\\}|['`] \\+ .*)") + "(?:['`]|\\))").MatchString(source.String())
		if name, ok := strings.CutPrefix(path, "/v1/places/"); ok { // by question of Places.svelte
			asks = asks || regexp.MustCompile(`question\(\w+, '`+name+`'`).MatchString(source.String())
		}
		if want := q.Without(api.Page) == ""; asks != want {
			t.Errorf("the page asks %s: %v, want %v", q.Name, asks, want)
		}
	}
}

// The types of the page for answers are made from the same structs. UPDATE=1 writes
// them.
func TestPageHasDeclaredTypes(t *testing.T) {
	const path = "../web/src/lib/answers.ts"
	about := comments(t)
	var b strings.Builder
	b.WriteString("// Made from the Go types of answers: UPDATE=1 go test ./serve -run Declared\n\n" +
		"export type Value = string | number | Value[] | { lat: number; lon: number }\n")
	types := slices.SortedFunc(maps.Keys(sharedSchemas), func(a, b reflect.Type) int {
		return strings.Compare(sharedSchemas[a], sharedSchemas[b])
	})
	for _, of := range types {
		b.WriteString("\nexport interface " + sharedSchemas[of] + " " + inTypeScript(structSchema(of, about), "") + "\n")
	}
	old, err := os.ReadFile(path)
	if err == nil && string(old) == b.String() {
		return
	}
	if os.Getenv("UPDATE") == "" {
		t.Fatalf("%s is not what the declarations say: run UPDATE=1 go test ./serve -run Declared; %v", path, err)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}

// inTypeScript returns the type that a schema describes.
func inTypeScript(s map[string]any, indent string) (text string) {
	defer func() {
		if s["nullable"] == true {
			text += " | null"
		}
	}()
	if ref, ok := s["$ref"].(string); ok {
		return ref[strings.LastIndex(ref, "/")+1:]
	}
	switch s["type"] {
	case "string", "boolean", "number":
		return s["type"].(string)
	case "integer":
		return "number"
	case "array":
		one := inTypeScript(s["items"].(map[string]any), indent)
		if n, ok := s["maxItems"].(int); ok {
			return "[" + strings.TrimSuffix(strings.Repeat(one+", ", n), ", ") + "]"
		}
		if strings.HasSuffix(one, " | null") {
			one = "(" + one + ")"
		}
		return one + "[]"
	case nil:
		return "Value"
	}
	if values, ok := s["additionalProperties"].(map[string]any); ok {
		return "Record<string, " + inTypeScript(values, indent) + ">"
	}
	properties, required := s["properties"].(map[string]any), s["required"].([]string)
	text = "{\n"
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		p := properties[name].(map[string]any)
		may := "?"
		if slices.Contains(required, name) {
			may = ""
		}
		text += indent + "  " + name + may + ": " + inTypeScript(p, indent+"  ")
		if about, ok := p["description"].(string); ok {
			text += " // " + about
		}
		text += "\n"
	}
	return text + indent + "}"
}
