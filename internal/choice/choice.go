// Package choice gives the values of a numbered choice their names, for flags, messages
// and JSON: one way to print them, to read them, and to say what was expected.
package choice

import (
	"fmt"
	"slices"
	"strings"
)

// Names are those of the values of T, from 0 on.
type Names[T ~int | ~uint8] struct {
	what  string
	names []string
}

// New names a choice's values. what is the choice itself, as errors call it: "side".
func New[T ~int | ~uint8](what string, names ...string) Names[T] { return Names[T]{what, names} }

// Of is the name of a value, or a text with its type and number where it has none.
func (n Names[T]) Of(v T) string {
	if int(v) < 0 || int(v) >= len(n.names) {
		return fmt.Sprintf("%T(%d)", v, int(v))
	}
	return n.names[v]
}

// Parse is the value of a name.
func (n Names[T]) Parse(name string) (T, error) {
	if i := slices.Index(n.names, name); i >= 0 {
		return T(i), nil
	}
	return 0, fmt.Errorf("unknown %s %q: want %s", n.what, name, or(n.names))
}

// Check is the error of a value without a name.
func (n Names[T]) Check(v T) error {
	if int(v) >= 0 && int(v) < len(n.names) {
		return nil
	}
	return fmt.Errorf("unknown %s %d: want %s", n.what, v, or(n.names))
}

// Set stores the value of a name, as flags do.
func (n Names[T]) Set(v *T, name string) error {
	parsed, err := n.Parse(name)
	if err == nil {
		*v = parsed
	}
	return err
}

// List is all names.
func (n Names[T]) List() []string { return slices.Clone(n.names) }

// or is "a, b or c".
func or(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
