package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/search"
)

// searchJSON is the answer to a query for --json.
type searchJSON struct {
	*api.Answer
	// Approximate answers may not be the best; Recall is the share of the best that is among them.
	Approximate bool     `json:"approximate,omitempty"`
	Recall      *float64 `json:"recall,omitempty"`
}

func printHit(w io.Writer, h *api.Hit, f *searchFlags) {
	fmt.Fprintf(w, "%d\t%s\t%.6f\n", h.Rank, h.ID, h.Score)
	if p := h.Passage; p != nil {
		fmt.Fprintf(w, "\t%s, %d of %d, bytes %d to %d", p.Document, p.Number, p.Of, p.Start, p.End)
		if p.Heading != "" {
			fmt.Fprintf(w, ": %s", strings.Join(strings.Fields(p.Heading), " "))
		}
		fmt.Fprintln(w)
	}
	for _, l := range h.Lines {
		fmt.Fprintf(w, "\t%s: %s\n", l.Name, l.Value)
	}
	if s := h.Snippet; s != nil {
		for _, s := range append([]*search.Snippet{s}, h.MoreSnippets...) {
			if h.Passage == nil && s.Heading != "" {
				fmt.Fprintf(w, "\tunder %s\n", strings.Join(strings.Fields(s.Heading), " "))
			}
			shown := s.Marked(f.highlight, f.unhighlight)
			fmt.Fprintf(w, "\t%s\n", strings.ReplaceAll(shown, "\n", "\n\t"))
		}
	}
	if h.Before != nil && h.Explain != nil {
		fmt.Fprintf(w, "\t%-20s %.6f  before %.6f\n", "reranker", h.Score, *h.Before)
	}
	if e := h.Explain; e != nil && e.Tree != nil {
		printPart(w, e.Tree, 1)
		printSum(w, e)
	} else if e != nil {
		for _, t := range e.Words {
			fmt.Fprintf(w, "\t%-20s %.6f  tf %d, df %d, weight %g", t.Text, t.Score, t.TF, t.DF, t.Weight)
			if t.IDF > 0 {
				fmt.Fprintf(w, ", idf %.6f", t.IDF)
			}
			fmt.Fprintln(w)
		}
		printSum(w, e)
	}
}

// printVector prints the part of a vector in a score, and that of the words beside it.
func printVector(w io.Writer, v *search.VectorScore) {
	what := v.Metric
	if v.Missing {
		what = "no vector"
	} else if v.Number > 0 {
		what += fmt.Sprintf(", vector %d", v.Number)
	}
	rank := func(n int) string {
		if v.Fusion != search.ReciprocalRanks.String() {
			return ""
		}
		if n == 0 {
			return ", not in the list"
		}
		return fmt.Sprintf(", rank %d", n)
	}
	fmt.Fprintf(w, "\t%-20s %.6f  %s, weight %g%s\n", v.Field, v.Similarity, what, v.Weight, rank(v.Rank))
	if v.Fusion != "" {
		fmt.Fprintf(w, "\t%-20s %.6f  weight %g%s\n", "words", v.Words, v.WordWeight, rank(v.WordsRank))
	}
}

// printSum prints the score of an explanation with the statistics of the document and the index.
func printSum(w io.Writer, e *search.Explanation) {
	for _, b := range e.Boosts {
		fmt.Fprintf(w, "\t%-20s %.6f  after a value of %.6g\n", b.Boost, b.Score, b.Value)
	}
	if v := e.Vector; v != nil {
		printVector(w, v)
	}
	fmt.Fprintf(w, "\t%-20s %.6f  length %d", "sum", e.Score, e.Length)
	if e.MeanLength > 0 {
		fmt.Fprintf(w, " (mean %.6g)", e.MeanLength)
	}
	if e.Documents > 0 {
		fmt.Fprintf(w, ", %s", counted(int(e.Documents), "document"))
	}
	fmt.Fprintf(w, ", %s\n", e.Model)
}

// printExpanded prints the words of an expanded query with their weights.
func printExpanded(w io.Writer, answer *api.Answer) {
	for _, word := range answer.Expanded {
		fmt.Fprintf(w, "expanded\t%s\t%.6f\n", word.Word, word.Weight)
	}
}

// printFacets prints a line for each value: the field, the value, the documents that have it.
func printFacets(w io.Writer, list []search.FacetCounts) {
	for _, f := range list {
		for _, v := range f.Values {
			fmt.Fprintf(w, "%s\t%s\t%d\n", f.Field, v.Value, v.Docs)
		}
		if more := f.Distinct - len(f.Values); more > 0 {
			fmt.Fprintf(w, "%s\t... and %s\n", f.Field, counted(more, "other value"))
		}
	}
}

// printPart prints the score of a part of a query, and below it those of its own parts.
func printPart(w io.Writer, p *search.Part, depth int) {
	fmt.Fprint(w, strings.Repeat("\t", depth))
	if p.Role != "" {
		fmt.Fprintf(w, "%s ", p.Role)
	}
	fmt.Fprint(w, p.Query)
	switch {
	case !p.Matches:
		fmt.Fprint(w, "  no match")
	case p.Weight > 0:
		fmt.Fprintf(w, "  %.6f  tf %d, weight %g", p.Score, p.TF, p.Weight)
	default:
		fmt.Fprint(w, "  match")
	}
	fmt.Fprintf(w, ", in %s\n", counted(p.Documents, "document"))
	for i := range p.Parts {
		printPart(w, &p.Parts[i], depth+1)
	}
}

// printStats prints the work of a search. The thresholds are those that a score had to exceed.
func printStats(w io.Writer, s *search.Stats, took time.Duration) {
	fmt.Fprintf(w, "\nalgorithm %s, %v\n", s.How(), took.Round(time.Microsecond))
	fmt.Fprintf(w, "%s in the index, %s", counted(s.Words, "query word"), counted(s.Postings, "posting"))
	if !s.Counted() {
		fmt.Fprintf(w, "\n%s entered the top k\n", counted(s.Entered, "document"))
	} else {
		fmt.Fprintf(w, " in %s\n", counted(s.Blocks, "block"))
	}
	// Algorithm tiles does not count these on a device.
	if s.Counted() && (s.GPU == nil || s.GPU.Fallback != "" || s.Scored > 0) {
		fmt.Fprintf(w, "%s skipped, %s decoded, %d scored\n", counted(s.Skipped, "block"),
			counted(s.Decoded, "posting"), s.Scored)
		fmt.Fprintf(w, "%s entered the top k\n", counted(s.Entered, "document"))
	}
	printParallel(w, s.Parallel)
	if s.Pruned {
		fmt.Fprintln(w, "the index is pruned: approximate")
	}
	printGPU(w, s.GPU)
	for _, t := range s.Thresholds {
		fmt.Fprintf(w, "  threshold %.6f after %s had entered, at document %d\n", t.Score,
			counted(t.Entered, "document"), t.Doc)
	}
}
