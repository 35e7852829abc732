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
	"slices"
	"strings"
	"time"
)

// Least is the shortest work whose energy can be measured: the GPU's counter ticks every 0.1 s.
const Least = 500 * time.Millisecond

// Use is the energy that some work took.
type Use struct {
	Seconds float64 // by the clock
	Cores   float64 // joules of processors and their memory; 0 if they are not known
	GPU     float64 // joules of the GPUs that were asked for; 0 if they are not known
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
	// at reports whether this is the GPU at a PCI address, such as 0000:01:00.0.
	at(pci string) bool
	// energy returns the joules since some fixed time.
	energy() (float64, error)
	// power returns the watts now.
	power() (float64, error)
}

// Powercap is the folder of the processors' counters.
const Powercap = "/sys/class/powercap"

// Open returns a meter for the GPUs of the machine and for the processors, whose counters lie in a
// folder, usually [Powercap]. What cannot be measured is said by [Use].
func Open(folder string) *Meter {
	m := &Meter{tick: 20 * time.Millisecond}
	m.cores, m.coresNote = openCores(folder)
	m.gpus, m.gpuNote = openGPUs()
	return m
}

// Measure runs work and returns what it took, up to when work returned: of the processors and of
// the GPUs at these PCI addresses.
func (m *Meter) Measure(work func() error, gpus ...string) (Use, error) {
	end := m.Begin()
	err := work()
	return end(gpus...), err
}

// Begin begins to measure. The function that it returns ends that, once; until then the counters
// are read every tick. It takes the PCI addresses of the GPUs that were used, which may only be
// known in the end.
func (m *Meter) Begin() (end func(gpus ...string) Use) {
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
	return func(gpus ...string) Use {
		close(done)
		<-stopped
		r.sample()
		return r.use(gpus)
	}
}

// reading adds up what the counters counted. Samples keep counters from wrapping around unnoticed,
// and are the measurement itself where there is only a power. Only one goroutine uses it at a time.
type reading struct {
	m     *Meter
	begin time.Time
	at    time.Time // of the last sample

	cores     float64
	last      []uint64 // of the counters of the cores
	coresLost error
	gpus      []gpuReading
}

// gpuReading is what one GPU took.
type gpuReading struct {
	joules  float64
	last    float64 // energy, or power if that is sampled
	sampled bool    // only the power is known
	lost    error
}

func (r *reading) start() {
	r.last = make([]uint64, len(r.m.cores))
	for i, c := range r.m.cores {
		var err error
		if r.last[i], err = c.read(); err != nil {
			r.coresLost = err
		}
	}
	r.gpus = make([]gpuReading, len(r.m.gpus))
	r.begin = time.Now()
	r.at = r.begin
	for i, g := range r.m.gpus {
		of := &r.gpus[i]
		if of.last, of.lost = g.energy(); of.lost != nil {
			of.sampled = true
			of.last, of.lost = g.power()
		}
	}
}

// sample adds what was counted since the last sample.
func (r *reading) sample() {
	for i, c := range r.m.cores {
		now, err := c.read()
		if err != nil {
			r.coresLost = err
			break
		}
		r.cores += float64(c.since(r.last[i], now)) * 1e-6
		r.last[i] = now
	}
	now := time.Now()
	for i, g := range r.m.gpus {
		r.gpus[i].sample(g, now.Sub(r.at))
	}
	r.at = now
}

func (of *gpuReading) sample(g gpuMeter, took time.Duration) {
	if of.lost != nil {
		return
	}
	var now float64
	if !of.sampled {
		if now, of.lost = g.energy(); of.lost == nil {
			of.joules += now - of.last
		}
	} else if now, of.lost = g.power(); of.lost == nil {
		of.joules += (now + of.last) / 2 * took.Seconds()
	}
	of.last = now
}

func (r *reading) use(gpus []string) Use {
	took := time.Since(r.begin)
	u := Use{Seconds: took.Seconds(), Cores: r.cores, CoresNote: r.m.coresNote}
	if r.coresLost != nil {
		u.Cores, u.CoresNote = 0, notMeasured(r.coresLost)
	}
	u.GPU, u.GPUNote = r.gpu(gpus)
	if took < Least {
		u.Cores, u.CoresNote = tooShort(u.CoresNote)
		u.GPU, u.GPUNote = tooShort(u.GPUNote)
	}
	return u
}

func tooShort(note string) (joules float64, why string) {
	if note != noGPU && !strings.HasPrefix(note, "not measured: ") {
		note = fmt.Sprintf("not measured: the work took less than %v", Least)
	}
	return 0, note
}

const noGPU = "no GPU"

// gpu returns the joules of GPUs, each counted once, if all are known.
func (r *reading) gpu(pci []string) (joules float64, note string) {
	if len(pci) == 0 {
		return 0, noGPU
	}
	note = r.m.gpuNote
	if len(r.m.gpus) == 0 {
		return 0, note
	}
	counted := make([]bool, len(r.gpus))
	for _, address := range pci {
		if address == "" {
			return 0, "not measured: an interpreter stands in for the GPU"
		}
		i := slices.IndexFunc(r.m.gpus, func(g gpuMeter) bool { return g.at(address) })
		if i < 0 {
			return 0, fmt.Sprintf("not measured: NVIDIA's management library lists no GPU at %s", address)
		}
		of := &r.gpus[i]
		if of.lost != nil {
			return 0, notMeasured(of.lost)
		}
		if of.sampled {
			note = fmt.Sprintf("power sampled every %v", r.m.tick)
		}
		if !counted[i] {
			counted[i] = true
			joules += of.joules
		}
	}
	return joules, note
}

func notMeasured(err error) string { return fmt.Sprintf("not measured: %v", err) }
