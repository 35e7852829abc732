// Package engine names the ways in which a job can run. Every job gives the same result, to the
// bit, on every engine; only the time differs.
//
// Experimental: it may change with any version; package collocate says what may not.
package engine

import "github.com/collocate/collocate/internal/choice"

// Kind is the engine a job runs on. The zero value is Auto.
type Kind int

const (
	Auto       Kind = iota // the job chooses by size and hardware, and reports its choice
	Sequential             // one core: the reference for the results of the others
	Multicore              // as many cores as Threads allows
	GPU                    // an NVIDIA GPU
)

var names = choice.New[Kind]("engine", "auto", "sequential", "multicore", "gpu")

func (k Kind) String() string { return names.Of(k) }

// Parse returns the engine with the given name: auto, sequential, multicore or gpu.
func Parse(name string) (Kind, error) { return names.Parse(name) }

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (k Kind) MarshalText() ([]byte, error) { return names.Text(k) }

// UnmarshalText is the inverse of MarshalText.
func (k *Kind) UnmarshalText(name []byte) error { return names.Set(k, string(name)) }
