package main

import (
	"fmt"
	"net"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/serve"
)

// ofAnIndex are the flags for servers of the shards, which have no effect on a root.
var ofAnIndex = []string{"matrix", "vectors", "points", "engine", "model", "k1", "b", "variant", "mu", "field-weights",
	"indexes", "writable", "deletable", "commit-every", "max-document", "quota-bytes", "about"}

// runRoot serves a root over shards.
func (f *serveFlags) runRoot(a *app, cmd *cobra.Command, args []string) error {
	switch {
	case len(args) > 0:
		return usagef("%s: --root serves no index of its own; leave the folder out", args[0])
	case f.shards == "":
		return usagef("--shards is missing: the addresses of the shards")
	case !f.root:
		return usagef("--shards needs --root")
	case f.askFirst < 0:
		return usagef("--ask-first %d: want 0 or more", f.askFirst)
	}
	for _, name := range ofAnIndex {
		if flag := cmd.Flag(name); flag != nil && flag.Changed {
			return usagef("--%s has no effect with --root: set it for the servers of the shards", name)
		}
	}
	token, err := f.rootToken.read(f.shardToken, func() (string, error) {
		return readToken("shard-token-file", f.shardToken)
	})
	if err != nil {
		return err
	}
	first := f.askFirst
	if first == 0 {
		first = -1
	}
	o := f.options(a)
	if o.Root, err = serve.ParseShards(f.shards, serve.RootOptions{Token: token, First: first}); err != nil {
		return usageError{fmt.Errorf("--shards: %w", err)}
	}
	f.setShardToken = o.Root.SetToken
	o.Name = "shards"
	ctx := cmd.Context()
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", f.addr)
	if err != nil {
		return fmt.Errorf("--addr %q: %w", f.addr, err)
	}
	defer l.Close()
	closeAll, err := f.open(ctx, a, &o)
	defer closeAll()
	if err != nil {
		return err
	}
	stopDebug, err := f.debug(a, ctx)
	if err != nil {
		return err
	}
	defer stopDebug()
	f.warnIfOpen(a, l.Addr())
	server := serve.NewRoot(ctx, o)
	defer relaxGC()()
	shards, docs := server.Shards()
	if a.json {
		err = a.printJSON(struct {
			URL    string `json:"url"`
			Shards int    `json:"shards"`
			Docs   uint64 `json:"docs"`
		}{f.url(l.Addr()), shards, docs})
		if err != nil {
			return err
		}
	} else {
		a.summary("%s and %s at %s", counted(shards, "shard"), counted(int64(docs), "document"),
			f.url(l.Addr()))
	}
	return f.serve(ctx, server, l, o.Log, func([]string) {})
}
