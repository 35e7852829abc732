package ask

import (
	"errors"
	"fmt"
)

// ErrRequest is wrapped by every error that the request causes: the index is intact but cannot
// answer such a request.
var ErrRequest = errors.New("the request cannot be answered")

// refusal is an error that is ErrRequest and has a message of its own.
type refusal struct{ err error }

// Refuse is fmt.Errorf for an error that is also ErrRequest.
func Refuse(format string, args ...any) error {
	return refusal{fmt.Errorf(format, args...)}
}

func (r refusal) Error() string        { return r.err.Error() }
func (r refusal) Unwrap() error        { return r.err }
func (r refusal) Is(target error) bool { return target == ErrRequest }
