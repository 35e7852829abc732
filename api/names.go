package api

import (
	"reflect"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/points"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/text"
	"github.com/collocate/collocate/trec"
	"github.com/collocate/collocate/words"
)

// namesOf has the names of the values of enumerations, by type.
var namesOf = map[reflect.Type][]string{
	reflect.TypeFor[search.Mode](): {search.Or.String(), search.And.String()},
	reflect.TypeFor[search.Collapse](): {search.NoCollapse.String(), search.BestPassage.String(),
		search.SumOfPassages.String()},
	reflect.TypeFor[search.Algorithm](): search.Algorithms(),
	reflect.TypeFor[search.Fusion]():    search.Fusions(),
	reflect.TypeFor[engine.Kind](): {engine.Auto.String(), engine.Sequential.String(),
		engine.Multicore.String(), engine.GPU.String()},
	reflect.TypeFor[bm25.Variant]():      bm25.SearchVariants(),
	reflect.TypeFor[coloc.Algorithm]():   coloc.Algorithms(),
	reflect.TypeFor[points.Adjust]():     points.Adjusts(),
	reflect.TypeFor[coloc.Alternative](): coloc.Alternatives(),
	reflect.TypeFor[coloc.Kernel]():      coloc.Kernels(),
	reflect.TypeFor[points.Null]():       points.Nulls(),
	reflect.TypeFor[points.Correction](): points.Corrections(),
	reflect.TypeFor[points.Divisor]():    points.Divisors(),
	reflect.TypeFor[points.Envelope]():   points.Envelopes(),
	reflect.TypeFor[points.Intensity]():  points.Intensities(),
	reflect.TypeFor[points.Kernel]():     points.Kernels(),
	reflect.TypeFor[text.Format]():       text.Formats(),
	reflect.TypeFor[trec.QrelsFormat]():  trec.QrelsFormats(),
	reflect.TypeFor[trec.TopicIDs]():     trec.TopicIDNames(),
	reflect.TypeFor[trec.Fusion]():       trec.Fusions(),
	reflect.TypeFor[words.Measure]():     words.Measures(),
	reflect.TypeFor[words.Keyness](): {words.KeyLRC.String(), words.KeyG2.String(),
		words.KeyLogRatio.String(), words.KeyDiff.String()},
	reflect.TypeFor[cooccur.Weighting](): {cooccur.Distance.String(), cooccur.Count.String()},
	reflect.TypeFor[cooccur.Measure](): {cooccur.ByValue.String(), cooccur.PMI.String(), cooccur.PPMI.String(),
		cooccur.NPMI.String(), cooccur.LogLikelihood.String(), cooccur.Dice.String()},
	reflect.TypeFor[cooccur.Method](): {cooccur.Ours.String(), cooccur.Paper.String()},
	reflect.TypeFor[cooccur.Order]():  {cooccur.GloVeOrder.String(), cooccur.ByteOrder.String()},
	reflect.TypeFor[cooccur.Side]():   {cooccur.Both.String(), cooccur.Left.String(), cooccur.Right.String()},
}

// lists has the values that the tag one can name.
var lists = map[string][]string{
	"models":    append(search.Models(), "bm25f"),
	"formats":   text.Formats(),
	"analyzers": text.Analyzers(),
}

// wordsOn has a few words on each value of a list.
var wordsOn = map[string]map[string]string{
	"models": each(lists["models"], search.ModelHelp),
	"formats": each(lists["formats"], func(name string) string {
		f, _ := text.ParseFormat(name)
		return f.Help()
	}),
	"analyzers": { // the others are languages
		"whitespace": "between blanks, as written", "ascii": "letters a-z", "unicode": "Unicode's words",
		"lucene-english": "as Lucene's EnglishAnalyzer",
	},
}

// each returns what of says of each name.
func each(names []string, of func(name string) string) map[string]string {
	said := map[string]string{}
	for _, name := range names {
		said[name] = of(name)
	}
	return said
}
