package api

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Python has a function for each question that it can ask, and the package offers those that are no
// methods. What a function does not name itself it takes as **asked: Unpack[CLASS], and
// _questions.py has these classes, made of the declarations.
func TestPythonHasDeclaredParameters(t *testing.T) {
	files, err := filepath.Glob("../python/src/collocate/*.py")
	if err != nil || len(files) == 0 {
		t.Fatal("no source of Python:", err)
	}
	var source strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source.Write(text)
		source.WriteString("\n")
	}
	classes := pythonClasses{}
	for _, q := range Questions() {
		if q.Without(Python) != "" {
			continue
		}
		function := q.In(Python)
		has, body := signature(source.String(), function)
		if has == nil {
			t.Errorf("python/src/collocate has no function %s, which asks %s", function, q.Name)
			continue
		}
		if !strings.Contains(function, ".") && !strings.Contains(source.String(), "\n    \""+function+"\": \"") {
			t.Errorf("python/src/collocate/__init__.py does not offer %s", function)
		}
		class, rest := has["**asked"]
		var asked []*Param
		for _, p := range q.At(Python) {
			name := inPython(p)
			value, ok := has[name]
			switch {
			case !ok && rest:
				asked = append(asked, p)
			case !ok:
				t.Errorf("%s in python/src/collocate has no argument %s", function, name)
			case !regexp.MustCompile(`\b` + name + `\b`).MatchString(body):
				t.Errorf("%s in python/src/collocate has an argument %s and does not send it", function, name)
			case p.Argument == "" && !sameDefault(value, p):
				t.Errorf("%s(%s=%s): want the default %q", function, name, value, p.Default)
			}
		}
		if rest {
			if !regexp.MustCompile(`\basked\b`).MatchString(body) {
				t.Errorf("%s in python/src/collocate does not send **asked", function)
			}
			name := strings.TrimSuffix(class[strings.LastIndexAny(class, "[.")+1:], "]")
			_, threads := has["threads"]
			classes.add(name, q, asked, !threads && q.In(Python) != "Index.search")
		}
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(pythonFile, []byte(classes.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if old, err := os.ReadFile(pythonFile); err != nil || string(old) != classes.String() {
		t.Errorf("%s is not what the declarations say: UPDATE=1 go test ./api writes it", pythonFile)
	}
}

// inPython returns the name of the argument.
func inPython(p *Param) string { return cmp.Or(p.Argument, p.Name) }

// signature returns the arguments of a function of Python with their defaults, of ** with its type,
// or nil if there is none, and its body without the docstring. A method is written Class.method; of
// overloads the last is meant.
func signature(source, function string) (args map[string]string, body string) {
	class, name, method := strings.Cut(function, ".")
	def := "\ndef " + function + "("
	if method && strings.ToLower(class) == class { // a function of a module
		def, method = "\ndef "+name+"(", false
	}
	if method {
		_, body, found := strings.Cut(source, "\nclass "+class+":")
		if !found {
			return nil, ""
		}
		if end := strings.Index(body, "\nclass "); end >= 0 {
			body = body[:end]
		}
		source, def = body, "\n    def "+name+"("
	}
	at := strings.LastIndex(source, def)
	if at < 0 {
		return nil, ""
	}
	list, begin, depth := map[string]string{}, at+len(def), 0
	add := func(arg string) {
		arg, value, _ := strings.Cut(arg, " = ")
		name, kind, _ := strings.Cut(arg, ":")
		if name = strings.TrimSpace(name); strings.HasPrefix(name, "**") {
			value = kind
		}
		list[name] = strings.TrimSpace(value)
	}
	for i := begin; i < len(source); i++ {
		switch source[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				add(source[begin:i])
				return list, code(source[i:])
			}
		case ',':
			if depth == 0 {
				add(source[begin:i])
				begin = i + 1
			}
		}
	}
	return nil, ""
}

// code returns the part of a function of Python from its signature's end to the next function,
// without the docstring.
func code(rest string) string {
	if end := regexp.MustCompile(`\n *(async )?def |\n\S`).FindStringIndex(rest); end != nil {
		rest = rest[:end[0]]
	}
	before, after, found := strings.Cut(rest, `"""`)
	if _, body, ends := strings.Cut(after, `"""`); found && ends {
		return before + body
	}
	return rest
}

// sameDefault compares the default of an argument with that of a parameter. An argument without one
// must be given, so the parameter has none either.
func sameDefault(value string, p *Param) bool {
	switch value {
	case "None": // the worker fills in the default
		return true
	case "", `""`, "False", "()":
		return p.Default == "" || p.Optional
	case "True":
		return p.Default == "true"
	}
	if x, err := strconv.ParseFloat(value, 64); err == nil {
		y, _ := strconv.ParseFloat(p.Default, 64) // 0 without a default
		return x == y
	}
	return strings.Trim(value, `"`) == p.Default
}
