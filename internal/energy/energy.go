// Package energy measures what energy processors and GPUs take while some work runs.
//
// Processors: the counters of Linux' powercap (RAPL), one file of microjoules per package of cores
// and one for its memory where it is counted apart. Most systems let only root read them. GPUs:
// NVIDIA's management library, which belongs to the driver, counts millijoules since the driver was
// loaded; for older devices the power is sampled.
//
// The counters are of whole devices: what other programs and the idle machine take is included.
// They tick about once a millisecond (cores) and ten times a second (GPU), so work shorter than
// [Least] is not measured.
package energy

import (
	"fmt"
	"sync"
	"time"
)

// Least is the shortest work whose energy can be measured: the GPU's counter ticks every 0.1 s.
const Least = 500 * time.Millisecond

// Use is the energy that some work took.
type Use struct {
	Seconds float64 // by the clock
	Cores   float64 // joules of processors and their memory; 0 if they are not known
	GPU     float64 // joules of all GPUs of the meter; 0 if they are not known
	// CoresNote and GPUNote say how the joules were measured, or why they are not known.
	CoresNote, GPUNote string
}

// Meter reads the counters of a machine.
type Meter struct {
	cores     []*counter
	coresNote string
	gpus      []gpuMeter
	gpuNote   string
	tick      time.Duration
}

// gpuMeter reads one GPU.
type gpuMeter interface {
	// energy returns the joules since some fixed time.
	energy() (float64, error)
	// power returns the watts now.
	power() (float64, error)
}

// Powercap is the folder of the processors' counters.
const Powercap = "/sys/class/powercap"

// Open returns a meter for the processors whose counters lie in a folder, usually [Powercap], and
// for the GPUs with the given PCI addresses. What cannot be measured is said by [Use].
func Open(folder string, gpus ...string) *Meter {
	m := &Meter{tick: 20 * time.Millisecond, gpuNote: "no GPU"}
	m.cores, m.coresNote = openCores(folder)
	if len(gpus) > 0 {
		m.gpus, m.gpuNote = openGPUs(gpus)
	}
	return m
}

// Measure runs work and returns what it took, up to when work returned.
func (m *Meter) Measure(work func() error) (Use, error) {
	r := reading{m: m}
	r.start()
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		t := time.NewTicker(m.tick)
		defer t.Stop()
		for {
			select {
			case <-t.C:
				r.sample()
			case <-done:
				return
			}
		}
	}()
	err := work()
	close(done)
	<-stopped
	r.sample()
	return r.use(), err
}

// reading adds up what the counters counted. Samples keep counters from wrapping around unnoticed,
// and are the measurement itself where there is only a power.
type reading struct {
	m     *Meter
	begin time.Time

	mu                  sync.Mutex
	cores, gpu          float64
	coresNote, gpuNote  string
	last                []uint64  // of the cores
	lastEnergy, watts   []float64 // of the GPUs
	sampled             []bool    // only the power of this GPU is known
	at                  time.Time // of the last sample of powers
	coresLost, gpusLost bool
}

func (r *reading) start() {
	r.coresNote, r.gpuNote = r.m.coresNote, r.m.gpuNote
	r.last = make([]uint64, len(r.m.cores))
	for i, c := range r.m.cores {
		var err error
		if r.last[i], err = c.read(); err != nil {
			r.loseCores(err)
		}
	}
	n := len(r.m.gpus)
	r.lastEnergy, r.watts, r.sampled = make([]float64, n), make([]float64, n), make([]bool, n)
	r.begin = time.Now()
	r.at = r.begin
	for i, g := range r.m.gpus {
		var err error
		if r.lastEnergy[i], err = g.energy(); err == nil {
			continue
		}
		r.sampled[i] = true
		r.gpuNote = fmt.Sprintf("power sampled every %v", r.m.tick)
		if r.watts[i], err = g.power(); err != nil {
			r.loseGPUs(err)
		}
	}
}

func (r *reading) loseCores(err error) {
	r.coresLost, r.coresNote = true, fmt.Sprintf("not measured: %v", err)
}

func (r *reading) loseGPUs(err error) {
	r.gpusLost, r.gpuNote = true, fmt.Sprintf("not measured: %v", err)
}

// sample adds what was counted since the last sample.
func (r *reading) sample() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, c := range r.m.cores {
		now, err := c.read()
		if err != nil {
			r.loseCores(err)
			break
		}
		r.cores += float64(c.since(r.last[i], now)) * 1e-6
		r.last[i] = now
	}
	now := time.Now()
	for i, g := range r.m.gpus {
		if !r.sampled[i] {
			joules, err := g.energy()
			if err != nil {
				r.loseGPUs(err)
				break
			}
			r.gpu += joules - r.lastEnergy[i]
			r.lastEnergy[i] = joules
			continue
		}
		watts, err := g.power()
		if err != nil {
			r.loseGPUs(err)
			break
		}
		r.gpu += (watts + r.watts[i]) / 2 * now.Sub(r.at).Seconds()
		r.watts[i] = watts
	}
	r.at = now
}

func (r *reading) use() Use {
	took := time.Since(r.begin)
	u := Use{Seconds: took.Seconds(), CoresNote: r.coresNote, GPUNote: r.gpuNote}
	if len(r.m.cores) > 0 && !r.coresLost {
		u.Cores = r.cores
	}
	if len(r.m.gpus) > 0 && !r.gpusLost {
		u.GPU = r.gpu
	}
	if took < Least {
		short := fmt.Sprintf("not measured: the work took less than %v", Least)
		if u.Cores > 0 {
			u.Cores, u.CoresNote = 0, short
		}
		if u.GPU > 0 {
			u.GPU, u.GPUNote = 0, short
		}
	}
	return u
}
