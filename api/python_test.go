package api

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Python has a function for each question that it can ask, with an argument for each parameter, and
// the same defaults.
func TestPythonHasEveryParameter(t *testing.T) {
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
	for _, q := range Questions() {
		if q.Without(Python) != "" {
			continue
		}
		function := q.In(Python)
		has := signature(source.String(), function)
		if has == nil {
			t.Errorf("Python has no function %s, which asks %s", function, q.Name)
			continue
		}
		for _, p := range q.At(Python) {
			name := p.Argument
			if name == "" {
				name = p.Name
			}
			value, ok := has[name]
			if !ok {
				t.Errorf("%s has no argument %s", function, name)
			}
			if p.Argument == "" && !sameDefault(value, p) {
				t.Errorf("%s(%s=%s): want the default %q", function, name, value, p.Default)
			}
		}
	}
}

// signature returns the arguments of a function of Python with their defaults, or nil if there is
// none. A method is written Class.method; of overloads the last is meant.
func signature(source, function string) map[string]string {
	class, name, method := strings.Cut(function, ".")
	def := "\ndef " + function + "("
	if method && strings.ToLower(class) == class { // a function of a module
		def, method = "\ndef "+name+"(", false
	}
	if method {
		_, body, found := strings.Cut(source, "\nclass "+class+":")
		if !found {
			return nil
		}
		if end := strings.Index(body, "\nclass "); end >= 0 {
			body = body[:end]
		}
		source, def = body, "\n    def "+name+"("
	}
	at := strings.LastIndex(source, def)
	if at < 0 {
		return nil
	}
	list, begin, depth := map[string]string{}, at+len(def), 0
	add := func(arg string) {
		arg, value, _ := strings.Cut(arg, " = ")
		name, _, _ := strings.Cut(arg, ":")
		list[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	for i := begin; i < len(source); i++ {
		switch source[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth < 0 {
				add(source[begin:i])
				return list
			}
		case ',':
			if depth == 0 {
				add(source[begin:i])
				begin = i + 1
			}
		}
	}
	return nil
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
