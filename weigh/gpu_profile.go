package weigh

import (
	"slices"
	"time"

	"github.com/collocate/collocate/internal/gpu"
)

// Step is a step of a method on a GPU with the time it took. Copies between host and device are
// steps, too.
type Step struct {
	Name string        `json:"name"`        // such as "copy up", which is to the device
	Time time.Duration `json:"nanoseconds"` // the sum, if the step was repeated
	// Beside marks steps that run at the same time as others; the times of the other steps add up
	// to the total.
	Beside bool `json:"beside,omitempty"`
}

// stepsOf returns the stages that a clock has measured. Times of stages with the same name are
// added up.
func stepsOf(c *gpu.Clock) (list []Step, err error) {
	err = c.Stages(func(name string, took time.Duration, beside bool) {
		list = addSteps(list, []Step{{name, took, beside}})
	})
	return list, err
}

// addSteps adds more steps to a list. Times of steps with the same name are added up.
func addSteps(list, more []Step) []Step {
	for _, m := range more {
		if at := slices.IndexFunc(list,
			func(s Step) bool { return s.Name == m.Name && s.Beside == m.Beside }); at >= 0 {
			list[at].Time += m.Time
		} else {
			list = append(list, m)
		}
	}
	return list
}
