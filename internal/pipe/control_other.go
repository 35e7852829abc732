//go:build !unix

package pipe

import (
	"context"
	"errors"
)

// Serve needs sockets that can be handed down.
func Serve(context.Context, int, Handler, func(error) string) error {
	return errors.New("a worker needs Unix sockets, which this system does not support")
}
