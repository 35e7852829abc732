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
		out    string
		only   int
		join   bool
		repeat bool
	)
	cmd := &cobra.Command{
		Use:     "shard DIR N --out DIR2 | shard --join DIR... --out DIR2",
		Short:   "Cut an index into shards that several machines can serve",
		GroupID: groupSearch,
		Long: `Write the index DIR as N shards, the folders 0, 1, ... in DIR2. Each has as many documents as
the others, with their text and fields, and weighs words by the statistics of the whole index.
So a document has exactly the same score as there, and 'collocate serve --root' answers from all
shards as one index would.

With --join, indexes of the parts of a collection, made on several machines, become shards with
the statistics of all of them: shard i is the i-th DIR. No machine ever needs the whole index.
Documents that are in two parts are an error.

A shard is an index: 'serve', 'search', 'index stats' and 'index check' take it. The models
cosine and bm25f need all words of the whole index and are refused; so are patterns such as
eclips*, except by a root. With --only, each machine makes one shard in a shared folder.`,
		Example: `  collocate shard news.index 3 --out news.shards
  collocate shard --join parts/0 parts/1 parts/2 --out news.shards
  collocate serve news.shards/0 --addr :8081
  collocate serve --root --shards http://a:8081,http://b:8081,http://c:8081`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			n := len(args)
			if !join {
				if n != 2 {
					return usagef("want an index and a number of shards, or --join with all parts")
				}
				var err error
				if n, err = strconv.Atoi(args[1]); err != nil || n < 1 || n > index.MaxShards {
					return usagef("%s shards: want a number from 1 to %d", args[1], index.MaxShards)
				}
				args = args[:1]
			}
			single := cmd.Flags().Changed("only")
			if single && (only < 0 || only >= n) {
				return usagef("--only %d: want 0 to %d", only, n-1)
			}
			if err := indexFolder(out); err != nil {
				return err
			}
			if err := noShardBeyond(out, n); err != nil {
				return err
			}
			whole, docs := []*index.Reader{}, 0
			for _, dir := range args {
				r, closeIt, err := a.openWhole(cmd.Context(), dir, out)
				if err != nil {
					return err
				}
				defer closeIt()
				whole, docs = append(whole, r), docs+r.Docs()
			}
			if n > max(1, docs) && !join {
				return usagef("%d shards: the index has only %s", n, counted(docs, "document"))
			}
			if !single {
				only = -1
			}
			if repeat && !join {
				return usagef("--allow-duplicate-ids has no effect without --join; leave it out")
			}
			if err := apartOrAllowed(whole, only, repeat); err != nil {
				return err
			}
			done := a.progress("writing shards")
			o := index.MergeOptions{Memory: int64(a.memory)}
			for i := range n {
				if single && i != only {
					continue
				}
				to := filepath.Join(out, strconv.Itoa(i))
				var err error
				if join {
					err = index.JoinShard(cmd.Context(), whole, i, to, o)
				} else {
					err = index.WriteShard(cmd.Context(), whole[0], to, i, n, o)
				}
				if err != nil {
					return err
				}
				if done != nil {
					done(int64(i+1), int64(n))
				}
			}
			return a.shardsMade(n, docs, only, out)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "folder for the shards")
	cmd.Flags().BoolVar(&join, "join", false, "make shards from indexes of the parts of a collection")
	cmd.Flags().IntVar(&only, "only", 0, "write only the shard with this number, counted from 0")
	cmd.Flags().BoolVar(&repeat, "allow-duplicate-ids", false, "with --join: accept documents of two parts that have the same ID")
	return cmd
}

// apartOrAllowed refuses parts of a collection that have a document in common, unless repeated IDs
// are allowed. If only is not negative, only that part is compared with the others.
func apartOrAllowed(parts []*index.Reader, only int, repeat bool) error {
	for i, a := range parts {
		for j, b := range parts[:i] {
			if repeat || only >= 0 && i != only && j != only || a.Shard().Of+b.Shard().Of > 0 {
				continue // JoinShard refuses shards
			}
			for doc, err := range a.SharedIDs(b) {
				if err != nil {
					return err
				}
				id, err := a.DocID(int(doc))
				if err != nil {
					return err
				}
				return fmt.Errorf("parts %d (%s) and %d (%s) both have document %q: leave one out, or accept that with --allow-duplicate-ids",
					j, b.Dir(), i, a.Dir(), id)
			}
		}
	}
	return nil
}

// noShardBeyond refuses a folder with more than n shards. The additional ones are left from another
// partition, and a server of the whole folder would serve them too.
func noShardBeyond(out string, n int) error {
	shard := filepath.Join(out, strconv.Itoa(n))
	if _, err := os.Lstat(shard); err == nil {
		return usagef("%s is left from an earlier call with more than %d shards: remove it, or choose another --out", shard, n)
	}
	return nil
}

// shardsMade prints what was written: all n shards, or only one of them.
func (a *app) shardsMade(n, docs, only int, out string) error {
	if a.json {
		return a.printJSON(struct {
			Shards    int    `json:"shards"`
			Documents int    `json:"documents"`
			Out       string `json:"out"`
		}{n, docs, out})
	}
	which := fmt.Sprintf("shards 0 to %d", n-1)
	if only >= 0 {
		which = fmt.Sprintf("shard %d of %d", only, n)
	}
	a.summary("%s of %s in %s", which, counted(docs, "document"), out)
	return nil
}
