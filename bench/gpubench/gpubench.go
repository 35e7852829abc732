// Package gpubench makes the jobs' part of a receipt: it checks on a device that their GPU engines
// give the CPU's results, and measures how fast they are.
//
// There is one file per job. `collocate gpu test` runs all of them and writes the receipt.
package gpubench

import (
	"context"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/check"
)

// Job is one job's part of a receipt.
type Job struct {
	Name    string
	Suites  []check.Suite // comparisons with the CPU
	Measure func(ctx context.Context, dev *gpu.Device, quick bool) ([]check.Bench, error)
}

// Jobs lists the jobs that have GPU engines.
func Jobs() []Job {
	return []Job{weighJob, dictJob, placesJob, pointsJob, cooccurJob, searchJob, vectorsJob, severalJob, energyJob}
}
