package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/internal/bytesize"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/trec"
)

// beirFlags are the flags of an experiment on a BEIR collection.
type beirFlags struct {
	api.Ranking
	api.Feedback
	corpusFlags
	set               func(flag string) bool
	split, index, run string
	k                 int
	measures          []string
	request           search.Request // common to all topics; each sets its text
}

func newBEIRCmd(a *app) *cobra.Command {
	f := beirFlags{}
	f.MaxDocument, f.Fields = api.Size(64*bytesize.MB), []string{"title", "text"}
	cmd := &cobra.Command{
		Use:     "beir DIR",
		Short:   "Index, search and evaluate a collection in BEIR's format",
		GroupID: groupSearch,
		Long: `Index DIR/corpus.jsonl, answer the topics of DIR/queries.jsonl that DIR/qrels/test.tsv judges, and
print measures of the answers. If the folder has the name of one of BEIR's collections, the
published values of BM25 are printed beside them. The files may be compressed (.gz, .zst). As in
BEIR, measures are averages over all judged topics, and where queries are documents, the query
itself is left out of its answers.

The default parameters are those of the published values: Lucene's EnglishAnalyzer, title and
text as one field, k1 0.9, b 0.4. For other models and analyzers see 'collocate search' and
'collocate index'.`,
		Args: cobra.ExactArgs(1),
		Example: `  collocate beir scifact
  collocate beir scifact --analyzer english+stop --k1 1.2 --b 0.75 -m ndcg_cut_10,map
  collocate beir nfcorpus --split dev --index nfcorpus.index --run bm25.run`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.beir(cmd.Context(), args[0], &f) },
	}
	addFlags(cmd, api.RankingQuestion, &f.Ranking)
	addFlags(cmd, api.FeedbackQuestion, &f.Feedback)
	fl := cmd.Flags()
	f.set = fl.Changed
	fl.Lookup("k1").DefValue, fl.Lookup("b").DefValue = "0.9", "0.4"
	fl.StringVar(&f.Analyzer, "analyzer", "lucene-english", analyzerHelp())
	fl.StringVar(&f.Stopwords, "stopwords", "",
		"drop the words in this file, one per line, instead of the analyzer's own")
	fl.StringVar(&f.split, "split", "test", "judgments to use: qrels/SPLIT.tsv")
	fl.StringVar(&f.index, "index", "",
		"keep the index in this folder, or use the index that is already there (default: a temporary folder)")
	fl.StringVar(&f.run, "run", "", "write the answers to this file, as a TREC run")
	fl.IntVarP(&f.k, "k", "k", 1000, "number of answers to each topic")
	fl.StringArrayVarP(&f.measures, "measure", "m",
		[]string{"ndcg_cut_10,recall_100,recall_1000,map"}, "measures, as in 'collocate eval'")
	return cmd
}

// beirJSON is the result of an experiment for --json.
type beirJSON struct {
	Name      string             `json:"name"`
	Split     string             `json:"split"`
	Documents int                `json:"documents"`
	Topics    int                `json:"topics"`
	Analyzer  string             `json:"analyzer"`
	Model     string             `json:"model"`
	K         int                `json:"k"`
	Measures  map[string]float64 `json:"measures"`
	Published map[string]float64 `json:"published,omitempty"`
}

func (a *app) beir(ctx context.Context, dir string, f *beirFlags) error {
	measures, err := trec.ParseMeasures(f.measures...)
	if err != nil {
		return usageError{err}
	}
	if f.k < 1 || f.k >= search.MaxK {
		return usagef("-k %d: want 1 to %d", f.k, search.MaxK-1)
	}
	if f.Model == nil || strings.HasPrefix(*f.Model, "bm25") {
		// By default the parameters of the published values.
		f.K1, f.B = cmp.Or(f.K1, new(0.9)), cmp.Or(f.B, new(0.4))
	}
	model, err := f.Ranking.Of(nil)
	if err != nil {
		return asFlags(api.RankingQuestion, err)
	}
	f.request.Model, f.request.K = model, f.k+1
	if err := f.Feedback.Set(&f.request); err != nil {
		return asFlags(api.FeedbackQuestion, err)
	}
	corpus, err := onePath(dir, "corpus.jsonl")
	if err != nil {
		return err
	}
	queries, err := onePath(dir, "queries.jsonl")
	if err != nil {
		return err
	}
	judged, err := onePath(dir, filepath.Join("qrels", f.split+".tsv"))
	if err != nil {
		return err
	}
	qrels, err := trec.ReadQrels(judged, trec.BEIR, a.note)
	if err != nil {
		return err
	}
	topics, err := trec.ReadTopics(queries, trec.TopicOptions{Note: a.note})
	if err != nil {
		return err
	}
	topics = slices.DeleteFunc(topics, func(t trec.Topic) bool { return qrels[t.ID] == nil })
	if len(topics) == 0 {
		return fmt.Errorf("%s judges none of the topics in %s: check that both use the same IDs",
			judged, queries)
	}
	s, done, err := a.beirIndex(ctx, corpus, f)
	if err != nil {
		return err
	}
	defer done()
	run, err := a.beirRun(ctx, s, topics, f)
	if err != nil {
		return err
	}
	e, err := trec.Evaluate(qrels, run, measures, trec.Options{Complete: true})
	if err != nil {
		return err
	}
	a.noteMissing(queries, e, true)
	name := beirName(dir)
	out := beirJSON{Name: name, Split: f.split, Documents: s.Index().Docs(), Topics: len(e.Topics),
		Analyzer: s.Index().Analyzer(), Model: model.String() + f.expandedBy(), K: f.k, Measures: map[string]float64{}}
	if f.split == "test" {
		judgments := 0
		for _, docs := range qrels {
			judgments += len(docs)
		}
		var why string
		out.Published, why = publishedFor(name, out.Documents, out.Topics, judgments)
		if why != "" {
			a.note(why)
		}
	}
	for i, m := range e.Measures {
		if !m.IsRunID() {
			out.Measures[m.Name] = e.All[i]
		}
	}
	if a.json {
		return a.printJSON(out)
	}
	return a.printBEIR(&out, e)
}

// expandedBy describes the query expansion for the printed result.
func (f *beirFlags) expandedBy() string {
	switch {
	case f.request.Expand != nil:
		return " + " + f.request.Expand.String()
	case f.request.Proximity != nil:
		return " + " + f.Proximity
	}
	return ""
}

// onePath returns the path of a file in a folder, compressed or not.
func onePath(dir, name string) (string, error) {
	for _, end := range []string{"", ".gz", ".zst"} {
		path := filepath.Join(dir, name+end)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: no %s, which a collection in BEIR's format has", dir, name)
}

// beirIndex opens the index of the collection, or builds it.
func (a *app) beirIndex(ctx context.Context, corpus string, f *beirFlags) (
	s *search.Searcher, done func(), err error) {
	dir := f.index
	if dir != "" {
		if _, err := os.Stat(dir); err == nil {
			if f.set("analyzer") || f.set("stopwords") {
				return nil, nil, usagef(
					"--index %s: it holds an index with an analyzer of its own: leave out --analyzer, or name another folder", dir)
			}
			s, err := search.Open(dir)
			if err != nil {
				return nil, nil, err
			}
			a.note(fmt.Sprintf("%s: using the index in this folder", dir))
			return s, func() { s.Close() }, nil
		}
	}
	if _, fielded := f.request.Model.(search.BM25F); fielded {
		f.typed, f.Fields = true, []string{"title:text:unstored", "text:text:unstored"}
	}
	analyzer, err := f.analyzer()
	if err != nil {
		return nil, nil, err
	}
	temporary := ""
	if dir == "" {
		if temporary, err = os.MkdirTemp("", "collocate-beir-"); err != nil {
			return nil, nil, err
		}
		dir = filepath.Join(temporary, "index")
	}
	done = func() {
		if s != nil {
			s.Close()
		}
		if temporary != "" {
			os.RemoveAll(temporary)
		}
	}
	o := index.BuildOptions{Analyzer: analyzer, StoreText: f.Expand != "",
		Positions: f.Proximity != "", Threads: a.threads, Memory: int64(a.memory),
		Progress: a.progress("writing"), Engine: a.engine, Device: a.gpu}
	if err = index.Build(ctx, dir, f.corpus(a, []string{corpus}, dir), o); err == nil {
		s, err = search.Open(dir)
	}
	a.endProgress()
	if err != nil {
		done()
		return nil, nil, err
	}
	return s, done, nil
}

// beirRun searches for every topic and collects the answers.
func (a *app) beirRun(ctx context.Context, s *search.Searcher, topics []trec.Topic,
	f *beirFlags) (*trec.Run, error) {
	requests := make([]search.Request, len(topics))
	for i, t := range topics {
		requests[i] = f.request
		requests[i].Text = t.Text
	}
	run := &trec.Run{Tag: "collocate", Topics: map[string][]trec.Result{}}
	describe := func(i int, found *search.Result) (list []trec.Result, err error) {
		for _, h := range found.Hits {
			id, err := s.ID(h.Doc)
			if err != nil {
				return nil, err
			}
			if id != topics[i].ID && len(list) < f.k {
				list = append(list, trec.Result{Doc: id, Score: float64(h.Score)})
			}
		}
		return list, nil
	}
	i, batch := 0, search.Batch{Threads: a.threads, Engine: a.engine}
	for list, err := range search.MapAll(ctx, s, requests, batch, a.gpuOptions(), describe) {
		if err != nil {
			return nil, fmt.Errorf("topic %s: %w", topics[i].ID, err)
		}
		run.Topics[topics[i].ID] = list // in the search's order
		i++
	}
	if f.run == "" {
		return run, nil
	}
	return run, atomicfile.WriteFile(f.run, func(file *atomicfile.File) error {
		w := trec.NewRunWriter(file, run.Tag)
		for _, t := range topics {
			list := run.Topics[t.ID]
			answer := func(i int) (string, float32) { return list[i].Doc, float32(list[i].Score) }
			if err := w.Topic(t.ID, len(list), answer); err != nil {
				return err
			}
		}
		return w.Flush()
	})
}

func (a *app) printBEIR(out *beirJSON, e *trec.Evaluation) error {
	fmt.Fprintf(a.stdout, "%s: %s, %s (%s)\n", out.Name, counted(out.Documents, "document"),
		counted(out.Topics, "topic"), out.Split)
	fmt.Fprintf(a.stdout, "analyzer %s, %s, %s a topic\n\n", out.Analyzer, out.Model,
		counted(out.K, "answer"))
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	head := "measure\tvalue"
	if out.Published != nil {
		head += "\tpublished"
	}
	fmt.Fprintln(w, head)
	for _, m := range e.Measures {
		value, ok := out.Measures[m.Name]
		if !ok {
			continue
		}
		fmt.Fprintf(w, "%s\t%.4f", m.Name, value)
		if known, ok := out.Published[m.Name]; ok {
			fmt.Fprintf(w, "\t%.4f", known)
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if out.Published != nil {
		_, err := fmt.Fprintln(a.stdout,
			"\npublished: Pyserini's BM25 (flat), analyzer lucene-english, k1 0.9, b 0.4")
		return err
	}
	return nil
}
