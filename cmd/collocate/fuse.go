package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/internal/atomicfile"
	"github.com/collocate/collocate/trec"
)

func newFuseCmd(a *app) *cobra.Command {
	var (
		ask api.Fuse
		out string
	)
	cmd := &cobra.Command{
		Use:     "fuse RUN RUN...",
		Short:   "Make one run of several",
		GroupID: groupSearch,
		Long: `Combine the answers of several runs, in the format of TREC, to one run. A RUN may be - for
standard input. Ranks are those of trec_eval: by descending score, equal ones by descending ID; so
are equal scores of the new run. It has scores in float32, and of equal ones each is written as the
next smaller float32, as 'collocate search' does. With --json, print the number of topics and answers
instead of the run, which --out then writes.`,
		Example: `  collocate fuse bm25.run dirichlet.run --out both.run
  collocate fuse a.run b.run c.run --by combmnz --weights 1,1,0.5 --out fused.run`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := canWrite(out); err != nil {
				return err
			}
			var runs []*trec.Run
			for _, path := range args {
				run, err := a.readRun(path)
				if err != nil {
					return err
				}
				runs = append(runs, run)
			}
			fused, err := ask.Do(runs)
			if err != nil {
				return asFlags(api.FuseQuestion, err)
			}
			write := func(w io.Writer) error { return fused.Write(trec.NewRunWriter(w, fused.Tag)) }
			switch {
			case out != "" && out != "-":
				err = atomicfile.WriteFile(out, func(f *atomicfile.File) error { return write(f) })
			case !a.json:
				err = write(a.stdout)
			}
			if err != nil {
				return err
			}
			answers := 0
			for _, list := range fused.Topics {
				answers += len(list)
			}
			if a.json {
				return a.printJSON(api.Fused{Run: out, Topics: len(fused.Topics), Answers: answers})
			}
			a.summary("%s, %s", counted(len(fused.Topics), "topic"), counted(answers, "answer"))
			return nil
		},
	}
	addFlags(cmd, api.FuseQuestion, &ask)
	cmd.Flags().StringVarP(&out, "out", "o", "", "file to write (default standard output)")
	return cmd
}

// readRun reads a run from a file, or from standard input.
func (a *app) readRun(path string) (*trec.Run, error) {
	if path == "-" {
		return trec.ParseRun(a.stdin, path)
	}
	return trec.ReadRun(path)
}
