// Package option names the options of the library in messages. A message of the library has the Go
// name of an option, such as index.BuildOptions.Positions, with a value such as
// cooccur.Options.Engine=multicore, or the name of a type, a function or its argument. The command
// prints its flag, --positions or --engine multicore, Python its keyword, and HTTP and MCP the name
// of their parameter. How a server is started, all say by flags.
package option

import (
	"regexp"
	"strings"
)

var pattern = regexp.MustCompile(
	`\b([a-z]+(?:\.[A-Z][A-Za-z0-9]*){1,2}(?:\.[a-z][A-Za-z]*)?)\b(=[@\w-]*(?::\w+)?)?`)

// Flags replaces the options of a message by the command's flags, and functions by its verbs.
func Flags(message string) string {
	return replace(message, nil, func(flag, value string) string {
		if value != "" {
			value = " " + value
		}
		return "--" + flag + value
	})
}

// Parameters replaces the options of a message by names such as min_count or engine=gpu.
func Parameters(message string) string {
	return replace(message, parameters, func(flag, value string) string {
		if value != "" {
			value = "=" + value
		}
		return strings.ReplaceAll(flag, "-", "_") + value
	})
}

// Keywords replaces the options of a message by Python's keywords: min_count= or engine="gpu".
func Keywords(message string) string {
	return replace(message, parameters, func(flag, value string) string {
		if strings.Trim(value, "0123456789") != "" {
			value = `"` + value + `"`
		}
		return strings.ReplaceAll(flag, "-", "_") + "=" + value
	})
}

// replace replaces each option by what called returns for its flag and value, and each function by
// its verb. Names in other have other flags than in All.
func replace(message string, other map[string]string, called func(flag, value string) string) string {
	return pattern.ReplaceAllStringFunc(message, func(match string) string {
		name, value, _ := strings.Cut(match, "=")
		flag, ok := other[name]
		if !ok {
			flag, ok = All[name]
		}
		switch {
		case !ok:
			return match
		case strings.HasPrefix(flag, "collocate "):
			return "'" + flag + "'"
		case strings.HasPrefix(name, "serve."): // whoever asks, a server is started by the command
			return strings.TrimRight("--"+flag+" "+value, " ")
		}
		if flag, fixed, ok := strings.Cut(flag, " "); ok {
			return called(flag, fixed)
		}
		return called(flag, value)
	})
}

// parameters are the names whose parameters are not named after a flag.
var parameters = map[string]string{
	"points.Plane":        "crs planar",
	"points.WGS84":        "crs EPSG:4326",
	"text.Options.Schema": "schema",
}

// All are the names that messages use, with the flags of the command, a flag and its value, or a
// verb.
var All = map[string]string{
	"cluster.MergePairs.ofCorpus":           "foreign-vocab",
	"cluster.Spill":                         "spill",
	"coloc.Options.Algorithm":               "algorithm",
	"coloc.Options.Also":                    "more-devices",
	"coloc.Options.Distance":                "distance",
	"coloc.Options.Engine":                  "engine",
	"coloc.Options.KNN":                     "knn",
	"coloc.Options.Memory":                  "memory",
	"coloc.Options.MinPrevalence":           "min-prevalence",
	"coloc.Options.Within":                  "within",
	"coloc.SignificanceOptions.Adjust":      "adjust",
	"coloc.SignificanceOptions.Alternative": "alternative",
	"coloc.Survey.Rules.largest":            "max-if",
	"cooccur.ConvertOptions.Memory":         "memory",
	"cooccur.ConvertOptions.Vocabulary":     "vocab",
	"cooccur.Options.Engine":                "engine",
	"cooccur.Options.Memory":                "memory",
	"cooccur.Options.Method":                "method",
	"cooccur.Options.Side":                  "side",
	"cooccur.Options.Subsample":             "subsample",
	"cooccur.Options.Weighting":             "weighting",
	"cooccur.Options.Window":                "window",
	"cooccur.VocabularyOptions.KeepUnk":     "keep-unk",
	"cooccur.VocabularyOptions.MaxSize":     "max-size",
	"cooccur.VocabularyOptions.Memory":      "memory",
	"cooccur.VocabularyOptions.MinCount":    "min-count",
	"engine.Device.Memory":                  "gpu-memory",
	"engine.Multicore":                      "engine multicore",
	"folders.Options.AllowEmpty":            "allow-empty",
	"folders.Options.Moved":                 "moved",
	"index.BuildOptions.AllowDuplicateIDs":  "allow-duplicate-ids",
	"index.BuildOptions.Memory":             "memory",
	"index.BuildOptions.Positions":          "positions",
	"index.BuildOptions.StoreText":          "store-text",
	"index.Import":                          "collocate index import",
	"index.ImportOptions.Analyzer":          "analyzer",
	"index.ReorderOptions.Memory":           "memory",
	"points.CoOccurrenceOptions.Memory":     "memory",
	"points.CurveOptions.Bandwidth":         "bandwidth",
	"points.CurveOptions.KernelBandwidth":   "kernel-bandwidth",
	"points.CurveOptions.Memory":            "memory",
	"points.Engine.Kind":                    "engine",
	"points.EnrichmentOptions.Distance":     "distance",
	"points.EnrichmentOptions.KNN":          "knn",
	"points.EnrichmentOptions.Memory":       "memory",
	"points.Null":                           "null",
	"points.Adjust":                         "adjust",
	"points.Envelope":                       "envelope",
	"points.Intensity":                      "intensity",
	"points.CurveOptions.Within":            "within",
	"points.Plane":                          "planar",
	"points.ReadOptions.CRS":                "crs",
	"points.ReadOptions.Columns":            "columns",
	"points.ReadOptions.Feature":            "feature",
	"points.ReadOptions.Geometry":           "geometry",
	"points.ReadOptions.Layer":              "layer",
	"points.ReadOptions.Memory":             "memory",
	"points.ReadOptions.MinPoints":          "min-points",
	"points.ReadOptions.SkipBad":            "skip-bad",
	"points.ReadOptions.Time":               "time",
	"points.ReadOptions.X":                  "x",
	"points.ReadOptions.Y":                  "y",
	"points.Set.Clip":                       "clip",
	"points.Set.Window":                     "window",
	"points.WGS84":                          "geographic",
	"segments.Writer.Compact":               "collocate index compact",
	"segments.Writer.Merge":                 "collocate index merge",
	"serve.Options.Deletable":               "deletable",
	"serve.Options.Dir":                     "indexes",
	"serve.Options.Engine":                  "engine",
	"serve.Options.Hosts":                   "host",
	"serve.Options.Matrix":                  "matrix",
	"serve.Options.Origins":                 "cors-origin",
	"serve.Options.Points":                  "points",
	"serve.Options.Vectors":                 "vectors",
	"serve.Options.Writable":                "writable",
	"text.Options.Encoding":                 "encoding",
	"text.Options.Fields":                   "fields",
	"text.Options.Format":                   "format",
	"text.Options.IDField":                  "id-field",
	"text.Options.MaxDocument":              "max-document",
	"text.Options.Memory":                   "memory",
	"text.Options.Root":                     "id-root",
	"text.Options.Schema":                   "fields",
	"text.Options.SkipBad":                  "skip-bad",
	"trec.QrelsFormat":                      "qrels-format",
	"trec.TopicOptions.Encoding":            "encoding",
	"trec.TopicOptions.Fields":              "topic-field",
	"trec.TopicOptions.IDs":                 "topic-ids",
	"vectors.GloVeOptions.Engine":           "engine",
	"vectors.GloVeOptions.Memory":           "memory",
	"vectors.GloVeOptions.Rate":             "rate",
	"vectors.SVDOptions.Memory":             "memory",
	"weigh.Format":                          "out-format",
	"weigh.InvertOptions.Engine":            "engine",
	"weigh.Options.Engine":                  "engine",
	"weigh.Options.Memory":                  "memory",
	"words.KeyOptions.Memory":               "memory",
	"words.KeyOptions.MinCount":             "min-count",
	"words.ListOptions.Memory":              "memory",
	"words.NgramOptions.Memory":             "memory",
	"words.NgramOptions.MinCount":           "min-count",
	"words.NgramOptions.Of":                 "of",
}
