// Package flags makes the flags of the command from the parameters of a question.
//
// Experimental: it may change with any version; package collocate says what may not.
package flags

import (
	"maps"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/collocate/collocate/api"
)

// Annotations of flags: the heading in help, and the values for shell completion.
const (
	Group   = "collocate_group"
	Choices = "collocate_choices"
)

// Add adds a flag for each parameter that the command has. They store into the question, a pointer
// to a struct with its defaults. A flag may be given by its older names, too.
func Add(to *pflag.FlagSet, q *api.Question, question any) {
	older := map[string]string{}
	defer func() { alias(to, older) }()
	for _, p := range q.At(api.Command) {
		if p.Flag == "" {
			continue
		}
		for _, name := range p.Also {
			older[strings.ReplaceAll(name, "_", "-")] = p.Flag
		}
		v := &value{param: p, question: question, text: p.Default}
		f := to.VarPF(v, p.Flag, p.Short, p.Usage())
		f.Annotations = map[string][]string{}
		if p.Kind == api.Switch {
			f.NoOptDefVal = "true"
		}
		if p.Group != "" {
			f.Annotations[Group] = []string{p.Group}
		}
		if len(p.Values) > 0 {
			f.Annotations[Choices] = p.Values
		}
	}
}

// alias lets flags be given by other names.
func alias(to *pflag.FlagSet, older map[string]string) {
	maps.DeleteFunc(older, func(name, _ string) bool { return to.Lookup(name) != nil })
	normalize := to.GetNormalizeFunc()
	to.SetNormalizeFunc(func(set *pflag.FlagSet, name string) pflag.NormalizedName {
		if flag, ok := older[name]; ok {
			name = flag
		}
		return normalize(set, name)
	})
}

// Param returns the parameter of a flag that Add has added, or nil.
func Param(f *pflag.Flag) *api.Param {
	if v, ok := f.Value.(*value); ok {
		return v.param
	}
	return nil
}

// value is the value of a flag. It implements pflag.Value.
type value struct {
	param    *api.Param
	question any
	text     string   // as it was given last
	list     []string // of a list, which may be given several times
}

func (v *value) Set(s string) error {
	if v.param.Kind == api.List || v.param.Kind == api.Numbers {
		v.list = append(v.list, s)
		v.text = strings.Join(v.list, ",")
		return v.param.Set(v.question, v.list...)
	}
	if v.text = s; v.param.Kind == api.Switch {
		if b, err := strconv.ParseBool(s); err == nil {
			v.text = strconv.FormatBool(b)
		}
	}
	return v.param.Set(v.question, s)
}

func (v *value) String() string {
	if v.text == "" && v.param != nil {
		switch v.param.Kind {
		case api.Whole, api.Number:
			return "0"
		case api.Switch:
			return "false"
		}
	}
	return v.text
}

// Type names the kind of value in help.
func (v *value) Type() string {
	switch v.param.Kind {
	case api.List:
		return "strings"
	case api.Numbers:
		return "numbers"
	case api.Whole:
		return "int"
	case api.Number:
		return "float"
	case api.Switch:
		return "bool"
	}
	return "string"
}
