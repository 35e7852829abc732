package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/index"
)

func newShardCmd(a *app) *cobra.Command {
	var (
		out  string
		only int
	)
	cmd := &cobra.Command{
		Use:     "shard DIR N --out DIR2",
		Short:   "Cut an index into shards that several machines can serve",
		GroupID: groupSearch,
		Long: `Write the index DIR as N shards, the folders 0, 1, ... in DIR2. Each has as many documents as
the others, with their text and fields, and weighs words by the counts of the whole index. So a
document has the score that it has there, to the bit, and 'collocate serve --root' answers from all
shards what one index would.

A shard is an index: 'serve', 'search', 'index stats' and 'index check' take it. Models cosine and
bm25f, and patterns such as eclips*, need all words of the whole and are refused. With --only a
machine makes one shard of a folder that all machines see.`,
		Example: `  collocate shard news.index 3 --out news.shards
  collocate serve news.shards/0 --addr :8081
  collocate serve --root --shards http://a:8081,http://b:8081,http://c:8081`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			n, err := strconv.Atoi(args[1])
			if err != nil || n < 1 || n > index.MaxShards {
				return usagef("%s shards: want a number from 1 to %d", args[1], index.MaxShards)
			}
			if cmd.Flags().Changed("only") && (only < 0 || only >= n) {
				return usagef("--only %d: want 0 to %d", only, n-1)
			}
			if err := indexFolder(out); err != nil {
				return err
			}
			r, err := openWhole(args[0])
			if err != nil {
				return err
			}
			defer r.Close()
			if n > max(1, r.Docs()) {
				return usagef("%d shards: the index has only %s", n, counted(r.Docs(), "document"))
			}
			if err := os.MkdirAll(out, 0o755); err != nil {
				return err
			}
			done := a.progress("writing shards")
			for i := range n {
				if cmd.Flags().Changed("only") && i != only {
					continue
				}
				to := filepath.Join(out, strconv.Itoa(i))
				o := index.MergeOptions{Memory: int64(a.memory)}
				if err := index.WriteShard(cmd.Context(), r, to, i, n, o); err != nil {
					return err
				}
				if done != nil {
					done(int64(i+1), int64(n))
				}
			}
			if a.json {
				return a.printJSON(struct {
					Shards    int    `json:"shards"`
					Documents int    `json:"documents"`
					Out       string `json:"out"`
				}{n, r.Docs(), out})
			}
			which := fmt.Sprintf("shards 0 to %d", n-1)
			if cmd.Flags().Changed("only") {
				which = fmt.Sprintf("shard %d of %d", only, n)
			}
			a.summary("%s of %s in %s", which, counted(r.Docs(), "document"), out)
			return nil
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "folder for the shards")
	cmd.Flags().IntVar(&only, "only", 0, "write only the shard with this number, from 0 on")
	return cmd
}
