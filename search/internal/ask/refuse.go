package ask

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/collocate/collocate/engine"
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

// named makes the error of an unknown name ErrRequest.
func named[T any](value T, err error) (T, error) {
	if err != nil {
		err = refusal{err}
	}
	return value, err
}

// CheckChoices returns an error if an enumeration of a request has a value without a name, or if
// AtLeast is not a number. The error names the field.
func CheckChoices(r *Request) error {
	if r.AtLeast != r.AtLeast {
		return Refuse("AtLeast = NaN: want a number")
	}
	err := cmp.Or(modeNames.Check(r.Mode), algorithmNames.Check(r.Algorithm))
	if p := r.Parallel; p != nil && err == nil {
		err = cmp.Or(partitionNames.Check(p.Partition), policyNames.Check(p.Policy))
		if p.Engine < engine.Auto || p.Engine > engine.GPU {
			_, err = p.Engine.MarshalText()
		}
	}
	if err != nil {
		return refusal{err}
	}
	return nil
}

func (r refusal) Error() string        { return r.err.Error() }
func (r refusal) Unwrap() error        { return r.err }
func (r refusal) Is(target error) bool { return target == ErrRequest }
