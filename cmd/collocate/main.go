// Command collocate finds what belongs together: words with documents, words
// with words, kinds of places with kinds of places.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() { os.Exit(run(os.Args[1:])) }

// run is main with an exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal cancels the context; a second one, now with the default
	// action again, ends a program that does not listen.
	context.AfterFunc(ctx, stop)
	defer stop()

	a := newApp(os.Stdin, os.Stdout, os.Stderr)
	root := newRoot(a)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	a.endProgress()

	var usage usageError
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "collocate: interrupted")
		return 130
	case errors.As(err, &usage):
		fmt.Fprintf(os.Stderr, "collocate: %s\n", oneLine(err))
		return 2
	default:
		fmt.Fprintf(os.Stderr, "collocate: %s\n", oneLine(err))
		return 1
	}
}

func oneLine(err error) string {
	return strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; ")
}
