// Command collocate finds what belongs together: words with documents, words
// with words, kinds of places with kinds of places.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"unicode"

	_ "github.com/collocate/collocate/formats"
	_ "github.com/collocate/collocate/gpu"
	"github.com/collocate/collocate/index/bucket"
	_ "github.com/collocate/collocate/internal/gpu/interpret"
	"github.com/collocate/collocate/internal/mmap"
)

func main() { os.Exit(run(os.Args[1:])) }

// run is main with an exit code: 0 for success, 1 for failure, 2 for wrong usage and 130 if
// interrupted. It is 141, without a message, if the reader of the output closed the pipe (as in
// `collocate ... | head -1`).
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), stopSignals()...)
	// The first signal cancels the context and restores the default action, so a second one ends
	// the program at once.
	context.AfterFunc(ctx, stop)
	defer stop()
	// Writing to a closed pipe must return an error instead of ending the program, which still has
	// temporary files to remove.
	signal.Ignore(syscall.SIGPIPE)

	stdout, output := newOutput(ctx, os.Stdout)
	a := newApp(newInput(ctx, os.Stdin), stdout, os.Stderr)
	root := newRoot(a, args...)
	completeChoices(root, args)
	// Reading a mapped file that was truncated meanwhile returns an error, in every verb.
	err := mmap.Safely(func() error { return root.ExecuteContext(ctx) })
	a.endProgress()
	a.tellSkipped()
	if err == nil {
		err = output.failed()
	}

	err = wantsFolder(err)
	var usage usageError
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "collocate: interrupted")
		return 130
	case errors.Is(output.failed(), syscall.EPIPE):
		return 141
	case errors.As(err, &usage):
		fmt.Fprintf(os.Stderr, "collocate: %s\n", oneLine(a.said(err.Error())))
		return 2
	default:
		fmt.Fprintf(os.Stderr, "collocate: %s\n", oneLine(a.said(err.Error())))
		return 1
	}
}

// wantsFolder explains the error of a verb that takes an address for a folder.
func wantsFolder(err error) error {
	p := new(fs.PathError)
	if !errors.As(err, &p) || !errors.Is(err, fs.ErrNotExist) || !bucket.Is(p.Path) {
		return err
	}
	return usagef("%s is in a bucket, and a folder is wanted: 'collocate index backup %[1]s --out DIR' makes one", p.Path)
}

// stopSignals returns the signals after which a command cleans up and ends. A hangup that is
// ignored, as under nohup, stays ignored.
func stopSignals() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// oneLine returns an error's message for a terminal: one line, without control characters from a
// broken file, which could move the cursor. It drops repeated lines, as of several workers that
// met the same error.
func oneLine(message string) string {
	message = strings.ReplaceAll(message, ":\n\t", ": ") // of drivers of databases
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, strings.Join(slices.Compact(strings.Split(strings.TrimSpace(message), "\n")), "; "))
}
