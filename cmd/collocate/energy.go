package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/collocate/collocate/internal/energy"
	"github.com/collocate/collocate/internal/gpu"
)

// registerStats adds --stats, for verbs whose energy is measured with it.
func (a *app) registerStats(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.stats, "stats", false,
		"measure the energy of processors and GPUs, where the system lets one read it")
	group(cmd, "Engine", "stats")
}

// energyUse is what a verb took, for --json: all that the processors and the GPUs took meanwhile.
type energyUse struct {
	Seconds float64 `json:"seconds"`
	// Unit is what joules are divided by: query, million words or million points.
	Unit  string       `json:"unit"`
	Cores *energyShare `json:"cores,omitempty"`
	GPU   *energyShare `json:"gpu,omitempty"`
	// Notes say what could not be measured, and why.
	Notes []string `json:"notes,omitempty"`
}

// energyShare is what processors or GPUs took.
type energyShare struct {
	Joules        float64 `json:"joules"`
	JoulesPerUnit float64 `json:"joules_per_unit"`
}

// The units of energyUse, and how many things each is.
var (
	perQuery  = energyUnit{"query", 1}
	perWords  = energyUnit{"million words", 1e6}
	perPoints = energyUnit{"million points", 1e6}
)

type energyUnit struct {
	name string
	of   float64
}

// meter begins to measure the energy of a verb. The function that it returns ends that, and takes
// the number of queries, words or points. Without --stats nothing is measured, and it returns nil.
func (a *app) meter(asked bool) (end func(n int64, unit energyUnit) *energyUse) {
	if !asked {
		return func(int64, energyUnit) *energyUse { return nil }
	}
	stop := energy.Open(a.powercap).Begin()
	return func(n int64, unit energyUnit) *energyUse {
		return newEnergyUse(stop(gpu.Opened()...), float64(n)/unit.of, unit.name)
	}
}

func newEnergyUse(u energy.Use, units float64, unit string) *energyUse {
	e := &energyUse{Seconds: u.Seconds, Unit: unit}
	share := func(joules float64, what, note string) *energyShare {
		if joules > 0 && units > 0 {
			return &energyShare{joules, joules / units}
		}
		if why, not := strings.CutPrefix(note, "not measured: "); not {
			e.Notes = append(e.Notes, what+" not measured: "+why)
		}
		return nil
	}
	e.Cores = share(u.Cores, "cores", u.CoresNote)
	e.GPU = share(u.GPU, "GPU", u.GPUNote)
	return e
}

// printEnergy writes the line of --stats; nil means that it was not asked for.
func (a *app) printEnergy(e *energyUse) {
	if e == nil {
		return
	}
	var parts []string
	for _, s := range []struct {
		what string
		*energyShare
	}{{"cores", e.Cores}, {"GPU", e.GPU}} {
		if s.energyShare != nil {
			parts = append(parts, fmt.Sprintf("%s %.3g J, %.3g J per %s", s.what, s.Joules, s.JoulesPerUnit, e.Unit))
		}
	}
	a.warn("energy in %.3g s: %s", e.Seconds, strings.Join(append(parts, e.Notes...), "; "))
}
