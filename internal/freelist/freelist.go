// Package freelist answers: who keeps values that are expensive to make for the next user?
//
// A sync.Pool drops its values at every other garbage collection. Under a load of small requests
// that is many times a second, and the values are made again. A List keeps a limited number
// permanently.
package freelist

import "runtime"

// List keeps up to as many values as there are cores. Make one with New. It may be used
// concurrently.
type List[T any] struct {
	free chan *T
	make func() *T
}

// New returns a list that calls make_ for a value when none is kept.
func New[T any](make_ func() *T) List[T] {
	return List[T]{make(chan *T, runtime.GOMAXPROCS(0)), make_}
}

// Get takes a value, which belongs to the caller until Put.
func (l List[T]) Get() *T {
	select {
	case v := <-l.free:
		return v
	default:
		return l.make()
	}
}

// Put returns a value. If the list is full, the value is dropped.
func (l List[T]) Put(v *T) {
	select {
	case l.free <- v:
	default:
	}
}
