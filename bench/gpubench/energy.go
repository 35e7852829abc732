package gpubench

import (
	"context"
	"fmt"
	"time"

	"github.com/collocate/collocate/bench/energybench"
	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/check"
)

// energyJob measures the energy of the other jobs. It compares nothing.
var energyJob = Job{Name: "energy", Measure: measureEnergy}

func measureEnergy(ctx context.Context, dev *gpu.Device, quick bool) (out []check.Bench, err error) {
	o := energybench.Options{Device: dev, Quick: quick, For: 2 * time.Second, Memory: 32e9}
	if quick {
		o.For = time.Millisecond
	}
	rows, err := energybench.Rows(ctx, o)
	for _, r := range rows {
		cores, device := r.Joules()
		note := "cores: " + r.Use.CoresNote
		if r.Engine != "gpu" {
			device = 0
		} else {
			note += "; GPU: " + r.Use.GPUNote
		}
		out = append(out, check.Bench{Name: fmt.Sprintf("energy: %s, %s, a %s", r.Job, r.Engine, r.Unit),
			Seconds: r.Seconds(), Joules: cores + device, Note: note})
	}
	return out, err
}
