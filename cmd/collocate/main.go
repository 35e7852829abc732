// Command collocate finds what belongs together: words with documents, words
// with words, kinds of places with kinds of places.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"github.com/collocate/collocate/internal/mmap"
)

func main() { os.Exit(run(os.Args[1:])) }

// run is main with an exit code: 0 done, 1 failed, 2 wrong usage, 130 interrupted,
// 141 nobody reads the output any more (as in `collocate ... | head -1`), which is
// not worth a message.
func run(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), stopSignals()...)
	// The first signal cancels the context; a second one, now with the default
	// action again, ends a program that does not listen.
	context.AfterFunc(ctx, stop)
	defer stop()
	// A pipe that is closed is an error of the write, not the end of the program:
	// temporary files must be removed.
	signal.Ignore(syscall.SIGPIPE)

	stdout, output := newOutput(ctx, os.Stdout)
	a := newApp(newInput(ctx, os.Stdin), stdout, os.Stderr)
	root := newRoot(a, args...)
	completeChoices(root, args)
	// Whatever map a verb reads, a file that is truncated meanwhile is an error.
	err := mmap.Safely(func() error { return root.ExecuteContext(ctx) })
	a.endProgress()
	a.tellSkipped()
	if err == nil {
		err = output.failed()
	}

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
		fmt.Fprintf(os.Stderr, "collocate: %s\n", oneLine(err))
		return 2
	default:
		fmt.Fprintf(os.Stderr, "collocate: %s\n", oneLine(err))
		return 1
	}
}

// stopSignals are those after which a command cleans up and ends. A hangup that is
// ignored, as under nohup, stays ignored.
func stopSignals() []os.Signal {
	list := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		list = append(list, syscall.SIGHUP)
	}
	return list
}

// oneLine is an error's text for a terminal: on one line, without characters out of a broken file
// that would move the cursor. What several parts of a job say in the same words is said once.
func oneLine(err error) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case !unicode.IsPrint(r):
			return unicode.ReplacementChar
		}
		return r
	}, strings.Join(slices.Compact(strings.Split(strings.TrimSpace(err.Error()), "\n")), "; "))
}
