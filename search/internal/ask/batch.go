package ask

import (
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/choice"
)

// Batch says how to answer many requests.
type Batch struct {
	// Threads is the number of workers; 0 means one per core. It is capped at 64 or four per core,
	// whichever is more.
	Threads int
	// Schedule is how the workers share the requests.
	Schedule Schedule
	// Engine GPU lets the device answer all requests that it can: see OpenGPU. Auto shares the
	// requests between device and cores if the index is on a device: each goes where it is expected
	// to finish first. MapAll describes when Auto loads the index onto a device.
	Engine engine.Kind
}

// Schedule is a way to distribute many requests over cores or, for WAND and MaxScore on a GPU, over
// its thread blocks.
type Schedule uint8

const (
	// Mixed lets every worker answer a request alone while there are enough requests. Workers that
	// find none take over partitions of requests in progress, so that no core is idle at the end of
	// a batch or behind a slow request.
	Mixed Schedule = iota
	// Synchronous lets every worker answer a request alone.
	Synchronous
	// Asynchronous spreads each request over all workers, one request after the other. This
	// minimises the latency of each request, but the batch takes longer.
	Asynchronous
)

var scheduleNames = choice.New[Schedule]("schedule", "auto", "sync", "async")

func (s Schedule) String() string { return scheduleNames.Of(s) }

// MarshalText and UnmarshalText write and read the name, so that JSON has it too.
func (s Schedule) MarshalText() ([]byte, error) { return scheduleNames.Text(s) }

// UnmarshalText is the inverse of MarshalText.
func (s *Schedule) UnmarshalText(name []byte) error { return scheduleNames.Set(s, string(name)) }

// Schedules lists the names that ParseSchedule accepts.
func Schedules() []string { return scheduleNames.List() }

// ParseSchedule is the inverse of String.
func ParseSchedule(name string) (Schedule, error) { return named(scheduleNames.Parse(name)) }
