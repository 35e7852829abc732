// Package option names the options of the library in messages. A message of the library has the Go
// name of an option, such as index.BuildOptions.Positions, or with a value
// cooccur.Options.Engine=multicore. The command prints its flag, --positions or --engine multicore,
// and Python and HTTP the name of their parameter.
package option

import (
	"regexp"
	"strings"
	"unicode"
)

var pattern = regexp.MustCompile(`\b[a-z]+\.[A-Z][A-Za-z]*\.[A-Z][A-Za-z]*\b=?`)

// Flags replaces the options of a message that are in flags by their flags.
func Flags(message string, flags map[string]string) string {
	return pattern.ReplaceAllStringFunc(message, func(name string) string {
		name, value := strings.CutSuffix(name, "=")
		flag, ok := flags[name]
		switch {
		case !ok && value:
			return name + "="
		case !ok:
			return name
		case value:
			return "--" + flag + " "
		}
		return "--" + flag
	})
}

// Parameters replaces the options of a message by names such as min_count, if known has them.
func Parameters(message string, known map[string]string) string {
	return pattern.ReplaceAllStringFunc(message, func(name string) string {
		name, value := strings.CutSuffix(name, "=")
		if _, ok := known[name]; ok {
			name = snake(name[strings.LastIndexByte(name, '.')+1:])
		}
		if value {
			name += "="
		}
		return name
	})
}

// snake turns MinCount into min_count, and IDField into id_field.
func snake(name string) string {
	name = strings.ReplaceAll(name, "ID", "Id")
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 && !unicode.IsUpper(rune(name[i-1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// All are the options that messages name, with the flags of the command.
var All = map[string]string{
	"cooccur.ConvertOptions.Memory":        "memory",
	"cooccur.ConvertOptions.Vocabulary":    "vocab",
	"cooccur.Options.Engine":               "engine",
	"cooccur.Options.Memory":               "memory",
	"cooccur.Options.Method":               "method",
	"cooccur.Options.Side":                 "side",
	"cooccur.Options.Subsample":            "subsample",
	"cooccur.Options.Weighting":            "weighting",
	"cooccur.Options.Window":               "window",
	"cooccur.VocabularyOptions.KeepUnk":    "keep-unk",
	"cooccur.VocabularyOptions.MaxSize":    "max-size",
	"cooccur.VocabularyOptions.Memory":     "memory",
	"cooccur.VocabularyOptions.MinCount":   "min-count",
	"engine.Device.Memory":                 "gpu-memory",
	"index.BuildOptions.AllowDuplicateIDs": "allow-duplicate-ids",
	"index.BuildOptions.Memory":            "memory",
	"index.BuildOptions.Positions":         "positions",
	"index.BuildOptions.StoreText":         "store-text",
	"index.ImportOptions.Analyzer":         "analyzer",
	"index.ReorderOptions.Memory":          "memory",
	"text.Options.Encoding":                "encoding",
	"text.Options.IDField":                 "id-field",
	"text.Options.Schema":                  "fields",
	"trec.TopicOptions.Encoding":           "encoding",
	"trec.TopicOptions.Fields":             "topic-field",
	"trec.TopicOptions.IDs":                "topic-ids",
	"words.ListOptions.Memory":             "memory",
	"words.NgramOptions.Memory":            "memory",
	"words.NgramOptions.MinCount":          "min-count",
	"words.NgramOptions.Of":                "of",
}
