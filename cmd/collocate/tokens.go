package main

import (
	"bufio"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/text"
)

func newTokensCmd(a *app) *cobra.Command {
	var (
		flags corpusFlags
		ids   bool
	)
	cmd := &cobra.Command{
		Use:     "tokens [CORPUS...]",
		Short:   "Print the words of each document",
		GroupID: groupTools,
		Long: `Print one document a line as its words separated by blanks: what an analyzer
makes of a corpus. Without a corpus, or with -, read standard input.`,
		Example: `  echo "The Cat's paws" | collocate tokens --analyzer english
  collocate tokens --ids --format smart cran.all`,
		RunE: func(cmd *cobra.Command, args []string) error {
			an, err := flags.analyzer()
			if err != nil {
				return err
			}
			w := bufio.NewWriterSize(a.stdout, 1<<16)
			var t text.Tokens
			for doc, err := range flags.corpus(a, args).All(cmd.Context()) {
				if err != nil {
					return err
				}
				if err := an.Analyze(doc.Text, &t); err != nil {
					return err
				}
				if ids {
					w.WriteString(doc.ID)
					w.WriteByte('\t')
				}
				for i := range t.Words {
					if i > 0 {
						w.WriteByte(' ')
					}
					w.Write(t.Word(i))
				}
				if err := w.WriteByte('\n'); err != nil {
					return err
				}
			}
			return w.Flush()
		},
	}
	flags.register(cmd)
	cmd.Flags().BoolVar(&ids, "ids", false, "begin each line with the document's ID and a tab")
	return cmd
}
