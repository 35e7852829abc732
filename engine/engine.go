// Package engine names the ways a job can run. Every job gives the same
// result, to the bit, on every engine; only the time differs.
package engine

import "fmt"

// Kind is the engine a job runs on. The zero value is Auto.
type Kind int

const (
	Auto       Kind = iota // the job picks by size and hardware, and says what it picked
	Sequential             // one core, the definition made executable
	Multicore              // all cores that Threads allows
	GPU                    // an NVIDIA GPU
)

var names = [...]string{"auto", "sequential", "multicore", "gpu"}

func (k Kind) String() string {
	if k < 0 || int(k) >= len(names) {
		return fmt.Sprintf("engine.Kind(%d)", int(k))
	}
	return names[k]
}

// Parse returns the engine of that name.
func Parse(name string) (Kind, error) {
	for i, n := range names {
		if n == name {
			return Kind(i), nil
		}
	}
	return Auto, fmt.Errorf("unknown engine %q: want auto, sequential, multicore or gpu", name)
}

// Set and Type make *Kind a command-line flag.
func (k *Kind) Set(name string) (err error) {
	*k, err = Parse(name)
	return err
}

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (k *Kind) UnmarshalText(b []byte) error { return k.Set(string(b)) }

// Type names the flag's value in help texts.
func (k *Kind) Type() string { return "engine" }
