// Command living measures how changes of an index with segments affect searches.
//
//	go run ./bench/living cut -to ten -sizes 1,1,1,1,1,1,1,1,1,1 elife.jsonl.zst
//	go run ./bench/living compare -queries topics.txt one.index ten
//	go run ./bench/living load -queries topics.txt -add lines.txt some.index
//
// cut builds an index with segments of given sizes, which no merge changes. compare runs the same
// queries on indexes of the same documents in turn, prints the mean times, and fails if an answer
// differs. load commits to a copy of an index while it is searched.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "living:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	jobs := map[string]func(context.Context, []string) error{"cut": cut, "compare": compare, "load": load}
	if len(args) == 0 || jobs[args[0]] == nil {
		return errors.New("want cut, compare or load")
	}
	return jobs[args[0]](ctx, args[1:])
}
