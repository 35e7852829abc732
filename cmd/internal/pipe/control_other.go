//go:build !unix

package pipe

import (
	"context"
	"errors"
)

// Serve returns an error: it needs Unix sockets that a process can inherit.
func Serve(context.Context, int, Handler, func(error) string) error {
	return errors.New("a worker needs Unix sockets, which this system does not support")
}
