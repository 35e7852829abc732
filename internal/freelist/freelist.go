// Package freelist answers: who keeps what is dear to make for the next user?
//
// A sync.Pool forgets at every other garbage collection. Under a load of small requests that is
// many times a second, and what it forgets is then made again. A List keeps a bounded number for
// good.
package freelist

import "runtime"

// List keeps up to as many values as there are cores. Make one with New; several goroutines may use
// it at once.
type List[T any] struct {
	free chan *T
	make func() *T
}

// New makes a list whose values are made by a function when none is kept.
func New[T any](make_ func() *T) List[T] {
	return List[T]{make(chan *T, runtime.GOMAXPROCS(0)), make_}
}

// Get takes a value, which nobody else has until it is put back.
func (l List[T]) Get() *T {
	select {
	case v := <-l.free:
		return v
	default:
		return l.make()
	}
}

// Put gives a value back. If enough are kept, it is forgotten.
func (l List[T]) Put(v *T) {
	select {
	case l.free <- v:
	default:
	}
}
