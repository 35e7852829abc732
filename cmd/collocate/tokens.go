package main

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/text"
)

func newTokensCmd(a *app) *cobra.Command {
	var (
		flags corpusFlags
		ids   bool
		steps bool
	)
	cmd := &cobra.Command{
		Use:     "tokens [CORPUS...]",
		Short:   "Print the words of each document",
		GroupID: groupTools,
		Long: `Print the words of each document, as an analyzer splits them, separated by blanks, one document
per line. Without a corpus, or with -, read standard input. With --json each line is an object
of the document's id and its words. With --steps there is a line for each step of the analyzer,
with the step and a tab before its words; 'collocate analyze' shows their positions, too.`,
		Example: `  echo "The Cat's paws" | collocate tokens --analyzer english
  echo "asyncio.create_task" | collocate tokens --steps --analyzer 'code | parts | lower'
  collocate tokens --ids --format smart cran.all
  collocate tokens --json --analyzer ascii books/
  collocate tokens --analyzer whitespace --fields title,body news.jsonl.zst`,
		RunE: func(cmd *cobra.Command, args []string) error {
			an, err := flags.analyzer()
			if err != nil {
				return err
			}
			flags.hint(cmd, a, args)
			a.log.Info("printing words", "analyzer", an.Name(), "threads", a.textThreads())
			out := inOrder{w: a.stdout}
			out.turn.L = &out.mu
			workers := make([]struct {
				tokens text.Tokens
				line   []byte
			}, a.textThreads())
			return flags.corpus(a, args).Batches(cmd.Context(), func(worker int, b *text.Batch) error {
				w := &workers[worker]
				w.line = w.line[:0]
				for _, doc := range b.Docs {
					if steps {
						line, err := appendSteps(w.line, an, &doc, ids, a.json)
						if err != nil {
							return out.fail(fmt.Errorf("document %s: %w", doc.ID, err))
						}
						w.line = line
						continue
					}
					if err := an.Analyze(doc.Text, &w.tokens); err != nil {
						return out.fail(fmt.Errorf("document %s: %w", doc.ID, err))
					}
					if a.json {
						w.line = appendTokensJSON(w.line, doc.ID, &w.tokens)
					} else {
						w.line = appendTokens(w.line, doc.ID, ids, &w.tokens)
					}
				}
				return out.write(b.Seq, w.line)
			})
		},
	}
	flags.register(cmd)
	cmd.Flags().BoolVar(&ids, "ids", false, "begin each line with the document's ID and a tab")
	cmd.Flags().BoolVar(&steps, "steps", false, "show the words after each step of the analyzer")
	return cmd
}

// appendSteps appends the words of a document after each step.
func appendSteps(line []byte, an text.Analyzer, doc *text.Document, ids, asJSON bool) ([]byte, error) {
	list, err := text.Steps(an, doc.Text)
	if err != nil {
		return nil, err
	}
	if asJSON {
		b, err := json.Marshal(struct {
			ID    string      `json:"id"`
			Steps []text.Step `json:"steps"`
		}{doc.ID, list})
		return append(append(line, b...), '\n'), err
	}
	for _, s := range list {
		if ids {
			line = append(append(line, doc.ID...), '\t')
		}
		line = append(append(line, text.Short(s.Step)...), '\t')
		for i, w := range s.Words {
			if i > 0 {
				line = append(line, ' ')
			}
			line = append(line, w.Word...)
		}
		line = append(line, '\n')
	}
	return line, nil
}

func appendTokens(line []byte, id string, ids bool, t *text.Tokens) []byte {
	if ids {
		line = append(append(line, id...), '\t')
	}
	for i := range t.Words {
		if i > 0 {
			line = append(line, ' ')
		}
		line = append(line, t.Word(i)...)
	}
	return append(line, '\n')
}

// appendTokensJSON appends {"id":"d1","words":["a","b"]}. Bytes that are not UTF-8 become U+FFFD,
// since JSON cannot represent them.
func appendTokensJSON(line []byte, id string, t *text.Tokens) []byte {
	line = appendJSONString(append(line, `{"id":`...), id)
	line = append(line, `,"words":[`...)
	for i := range t.Words {
		if i > 0 {
			line = append(line, ',')
		}
		line = appendJSONString(line, string(t.Word(i)))
	}
	return append(line, "]}\n"...)
}

func appendJSONString(dst []byte, s string) []byte {
	quoted, err := json.Marshal(s)
	must(err) // marshalling a string cannot fail
	return append(dst, quoted...)
}

// inOrder writes the results of concurrent workers in the order of their batches. Waiting for a
// batch's turn cannot deadlock: batches are handed out in order, so workers have all earlier ones.
type inOrder struct {
	w    io.Writer
	mu   sync.Mutex
	turn sync.Cond
	next int
	err  error // the first error of any worker
}

func (o *inOrder) write(seq int, p []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.next != seq && o.err == nil {
		o.turn.Wait()
	}
	if o.err == nil {
		_, o.err = o.w.Write(p)
		o.next++
	}
	o.turn.Broadcast()
	return o.err
}

// fail stores an error and wakes the workers that wait for a batch that will not come.
func (o *inOrder) fail(err error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = err
	}
	o.turn.Broadcast()
	return o.err
}
