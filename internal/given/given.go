// Package given checks what callers of the library gave.
package given

import (
	"context"
	"errors"
	"iter"
)

var errNil = errors.New("no context: give one, such as context.Background()")

// Context returns the error of a context that is cancelled, or one that says that it is nil. Every
// exported call that takes a context begins with it. Small work would otherwise end before it looks
// at the context, and only large work would report a cancelled one, or panic for nil.
func Context(ctx context.Context) error {
	if ctx == nil {
		return errNil
	}
	return ctx.Err()
}

// Failed returns an iterator that yields nothing but an error, for calls that return iterators.
func Failed[T any](err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) { yield(*new(T), err) }
}
