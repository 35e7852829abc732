// Package choice gives the values of an enumeration names, for flags, messages and JSON: one way to
// print them, to parse them, and to say what was expected.
package choice

import (
	"fmt"
	"slices"
	"strings"
)

// Names has the names of the values of T, from 0 on.
type Names[T ~int | ~uint8] struct {
	what  string
	names []string
}

// New returns the names of an enumeration's values. what is its own name in errors, such as "side".
func New[T ~int | ~uint8](what string, names ...string) Names[T] { return Names[T]{what, names} }

// Of returns the name of a value, or its type and number if it has no name. The type is without its
// package, which may be internal.
func (n Names[T]) Of(v T) string {
	if int(v) < 0 || int(v) >= len(n.names) {
		kind := fmt.Sprintf("%T", v)
		return fmt.Sprintf("%s(%d)", kind[strings.LastIndexByte(kind, '.')+1:], int(v))
	}
	return n.names[v]
}

// Text returns the name of a value as MarshalText does, or an error if it has none.
func (n Names[T]) Text(v T) ([]byte, error) {
	if err := n.Check(v); err != nil {
		return nil, err
	}
	return []byte(n.names[v]), nil
}

// Parse returns the value with the given name.
func (n Names[T]) Parse(name string) (T, error) {
	if i := slices.Index(n.names, name); i >= 0 {
		return T(i), nil
	}
	return 0, fmt.Errorf("unknown %s %q: want %s", n.what, name, or(n.names))
}

// Check returns an error for a value without a name.
func (n Names[T]) Check(v T) error {
	if int(v) >= 0 && int(v) < len(n.names) {
		return nil
	}
	return fmt.Errorf("unknown %s %d: want %s", n.what, v, or(n.names))
}

// Set stores the value with the given name, as flags do.
func (n Names[T]) Set(v *T, name string) error {
	parsed, err := n.Parse(name)
	if err == nil {
		*v = parsed
	}
	return err
}

// Len returns the number of values.
func (n Names[T]) Len() int { return len(n.names) }

// List returns all names.
func (n Names[T]) List() []string { return slices.Clone(n.names) }

// or returns "a, b or c"; "or, and" if one of the names is or.
func or(names []string) string {
	last := len(names) - 1
	if last < 1 || slices.Contains(names, "or") {
		return strings.Join(names, ", ")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
