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

// Memory is in bytes. 0 is what this machine does not tell.
type Memory struct {
	Resident int64 `json:"resident"` // of the process, pages of the mapped index included
	Own      int64 `json:"own"`      // of those, without any file behind
	Heap     int64 `json:"heap"`     // Go's, that was live at the last collection
	Device   int64 `json:"device"`   // in use on the device, whoever uses it
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

// processMemory asks Linux.
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

// Growth compares means of the second and the last minute, or fifth of a shorter run. In the first
// one pools fill and words are remembered, which on an H200 was over after a minute.
type Growth struct {
	First Memory `json:"first"`
	Last  Memory `json:"last"`
}

func growthOf(looks []Look, whole time.Duration) (g Growth) {
	window := min(time.Minute, whole/5).Seconds()
	end := 0.0
	if len(looks) > 0 {
		end = looks[len(looks)-1].At
	}
	mean := func(from, to float64) (m Memory) {
		n := int64(0)
		for _, l := range looks {
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
	if len(looks) == 0 {
		return g
	}
	first := end // or the first look behind the warm-up
	for _, l := range looks {
		if l.At > window {
			first = l.At
			break
		}
	}
	g.First, g.Last = mean(first, first+window*0.95), mean(end-window*0.95, end)
	return g
}

// Memory that differs by less than this is not called growing: collections of Go's heap come when
// they come.
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
