package ask

import (
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/choice"
)

// Batch says how to answer many requests.
type Batch struct {
	// Threads is the number of workers; 0 means one for each core. At most 64, or four for each
	// core, work.
	Threads int
	// Schedule is how the workers share the requests.
	Schedule Schedule
	// Engine GPU lets the device answer, as far as it can: see OpenGPU. Auto lets device and cores
	// share the requests if the index is on a device: each goes where it is expected to be done
	// first. MapAll says when Auto brings the index to one.
	Engine engine.Kind
}

// Schedule is a way to spread many requests over cores, and on a GPU those by WAND and MaxScore
// over its blocks.
type Schedule uint8

const (
	// Mixed lets every worker answer a request alone as long as there are enough; those that find
	// no more help with the ones that are still being answered: of these they take over partitions.
	// No core is idle at the end of a batch, or behind a slow request.
	Mixed Schedule = iota
	// Synchronous lets every worker answer a request alone.
	Synchronous
	// Asynchronous spreads each request over all workers, one after the other: each is answered as
	// soon as can be, but all together take longer.
	Asynchronous
)

var scheduleNames = choice.New[Schedule]("schedule", "auto", "sync", "async")

func (s Schedule) String() string { return scheduleNames.Of(s) }

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (s Schedule) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (s *Schedule) UnmarshalText(name []byte) error { return scheduleNames.Set(s, string(name)) }

// Schedules lists the names that ParseSchedule takes.
func Schedules() []string { return scheduleNames.List() }

// ParseSchedule is the inverse of String.
func ParseSchedule(name string) (Schedule, error) { return scheduleNames.Parse(name) }
