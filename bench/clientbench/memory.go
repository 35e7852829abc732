package clientbench

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"runtime/metrics"
	"strconv"
	"strings"
	"time"

	"github.com/collocate/collocate/search"
)

// Memory is in bytes. A value of 0 is not known on this machine.
type Memory struct {
	Resident int64 `json:"resident"` // of the process, including pages of the mapped index
	Own      int64 `json:"own"`      // the part of Resident that is not mapped from files
	Heap     int64 `json:"heap"`     // Go's heap, live at the last collection
	Device   int64 `json:"device"`   // in use on the device, by any process
}

func memoryNow(s *search.Searcher) (m Memory) {
	m.Resident, m.Own = processMemory()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if live[0].Value.Kind() == metrics.KindUint64 {
		m.Heap = int64(live[0].Value.Uint64())
	}
	if free, total, err := s.GPUMemory(); err == nil {
		m.Device = total - free
	}
	return m
}

// processMemory reads /proc/self/status; it returns 0 on other systems than Linux.
func processMemory() (resident, own int64) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, 0
	}
	lines := bufio.NewScanner(bytes.NewReader(status))
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		kb, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(value, "kB")), 10, 64)
		switch name {
		case "VmRSS":
			resident = kb << 10
		case "RssAnon":
			own = kb << 10
		}
	}
	return resident, own
}

// Growth has the mean memory in the second and in the last minute, or fifth of a shorter run. The
// first minute is warm-up, in which pools and the word cache fill; on an H200 it took a minute.
type Growth struct {
	First Memory `json:"first"`
	Last  Memory `json:"last"`
}

func growthOf(samples []Sample, whole time.Duration) (g Growth) {
	window := min(time.Minute, whole/5).Seconds()
	end := 0.0
	if len(samples) > 0 {
		end = samples[len(samples)-1].At
	}
	mean := func(from, to float64) (m Memory) {
		n := int64(0)
		for _, l := range samples {
			if l.At < from || l.At > to {
				continue
			}
			m.Resident, m.Own, m.Heap, m.Device = m.Resident+l.Resident, m.Own+l.Own, m.Heap+l.Heap, m.Device+l.Device
			n++
		}
		if n > 0 {
			m.Resident, m.Own, m.Heap, m.Device = m.Resident/n, m.Own/n, m.Heap/n, m.Device/n
		}
		return m
	}
	if len(samples) == 0 {
		return g
	}
	first := end // or the time of the first sample after the warm-up
	for _, l := range samples {
		if l.At > window {
			first = l.At
			break
		}
	}
	g.First, g.Last = mean(first, first+window*0.95), mean(end-window*0.95, end)
	return g
}

// Growth by less than this is no problem: the heap varies with the times of garbage collections.
const (
	growthBytes = 32 << 20
	growthShare = 0.1
)

func (g *Growth) problems() (out []string) {
	for _, x := range []struct {
		name        string
		first, last int64
		free        int64
	}{
		{"the process' own memory", g.First.Own, g.Last.Own, growthBytes},
		{"Go's heap", g.First.Heap, g.Last.Heap, growthBytes},
		{"the device's memory", g.First.Device, g.Last.Device, 4 << 20},
	} {
		if grown := x.last - x.first; grown > x.free &&
			float64(grown) > growthShare*float64(x.first) ||
			x.name == "the device's memory" && grown > x.free {
			out = append(out, fmt.Sprintf("%s grew from %d to %d MB", x.name, x.first>>20, x.last>>20))
		}
	}
	return out
}
