package serve

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/search"
)

// metrics are counters in the text format of Prometheus, written by hand: Prometheus' own package
// would make the command 2.9 MB larger and add eight modules.
type metrics struct {
	mu         sync.Mutex
	requests   map[requestKey]uint64
	latency    map[string]*histogram // by verb
	searches   map[string]*histogram // by engine
	strategies map[[2]string]uint64  // by algorithm and strategy
	recent     []timing              // ring of the latest searches
	next       int
}

type requestKey struct {
	verb, index string
	status      int
}

// timing is the end of a search and the duration of its request.
type timing struct {
	at   time.Time
	took time.Duration
}

// bounds are the upper bounds of the buckets of histograms, in seconds.
var bounds = []float64{0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10}

type histogram struct {
	buckets []uint64 // one more than bounds, for larger values
	sum     float64
}

func (h *histogram) add(took time.Duration) {
	s := took.Seconds()
	i, _ := slices.BinarySearch(bounds, s)
	h.buckets[i]++
	h.sum += s
}

const recentTimings = 8192

func newMetrics() *metrics {
	return &metrics{
		requests: map[requestKey]uint64{}, latency: map[string]*histogram{}, searches: map[string]*histogram{},
		strategies: map[[2]string]uint64{}, recent: make([]timing, 0, recentTimings),
	}
}

func histogramOf(of map[string]*histogram, name string) *histogram {
	h := of[name]
	if h == nil {
		h = &histogram{buckets: make([]uint64, len(bounds)+1)}
		of[name] = h
	}
	return h
}

// count counts an answered request.
func (m *metrics) count(key requestKey, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests[key]++
	histogramOf(m.latency, key.verb).add(took)
	if key.verb != "search" || key.status != http.StatusOK {
		return
	}
	t := timing{time.Now(), took}
	if len(m.recent) < recentTimings {
		m.recent = append(m.recent, t)
		return
	}
	m.recent[m.next] = t
	m.next = (m.next + 1) % recentTimings
}

// forget drops the counts of an index that was deleted: clients could make any number of names.
func (m *metrics) forget(index string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	maps.DeleteFunc(m.requests, func(k requestKey, _ uint64) bool { return k.index == index })
}

// searched counts a search.
func (m *metrics) searched(on engine.Kind, s *search.Stats, took time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.strategies[taken(s)]++
	histogramOf(m.searches, on.String()).add(took)
}

// strategy counts a search of a batch, which is not timed by itself.
func (m *metrics) strategy(s *search.Stats) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.strategies[taken(s)]++
}

// taken returns the labels of a search: the algorithm and the strategy that answered it. Some
// strategies for trees belong to none of the algorithms; then the algorithm is called tree, since
// auto names a request and not what was done. It is mixed if parts of the index used different
// ones.
func taken(s *search.Stats) [2]string {
	algorithm, strategy := s.Algorithm.String(), s.Strategy.String()
	switch {
	case s.Algorithm != search.Auto || strategy == "":
	case strings.Contains(strategy, "+"):
		algorithm = "mixed"
	default:
		algorithm = "tree"
	}
	return [2]string{algorithm, strategy}
}

// latencies are those of the last seconds, in microseconds.
type latencies struct {
	Seconds  int   `json:"seconds"`
	Searches int   `json:"searches"`
	P50      int64 `json:"p50_micros"`
	P90      int64 `json:"p90_micros"`
	P99      int64 `json:"p99_micros"`
}

func (m *metrics) lately(seconds int) latencies {
	since := time.Now().Add(-time.Duration(seconds) * time.Second)
	var took []time.Duration
	m.mu.Lock()
	for _, t := range m.recent {
		if t.at.After(since) {
			took = append(took, t.took)
		}
	}
	m.mu.Unlock()
	l := latencies{Seconds: seconds, Searches: len(took)}
	if len(took) > 0 {
		slices.Sort(took)
		at := func(share float64) int64 { return took[int(share*float64(len(took)-1))].Microseconds() }
		l.P50, l.P90, l.P99 = at(0.5), at(0.9), at(0.99)
	}
	return l
}

// showMetrics answers /metrics.
func (x *exchange) showMetrics() {
	var b bytes.Buffer
	x.metrics.write(&b)
	x.gate.write(&b)
	gauge := func(name, help string, value any) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %[1]s gauge\n%[1]s %[3]v\n", name, help, value)
	}
	x.writeIndexes(&b)
	gauge("collocate_ready", "1 if all indexes can be read.", oneIf(x.notReady() == nil))
	device := x.o.Engine == engine.GPU
	x.each(func(_ *served, g *generation) {
		if x.o.Root != nil {
			x.o.Root.writeMetrics(&b, g)
		} else if free, total, err := g.s.GPUMemory(); device && err == nil {
			gauge("collocate_device_memory_free_bytes", "Free memory of the GPU.", free)
			gauge("collocate_device_memory_bytes", "Memory of the GPU.", total)
			device = false // all are on the same
		}
	})
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	gauge("go_memstats_heap_inuse_bytes", "Heap in use.", mem.HeapInuse)
	gauge("go_goroutines", "Goroutines.", runtime.NumGoroutine())
	if cpu, resident := processUse(); cpu > 0 {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %[1]s counter\n%[1]s %[3]v\n", "process_cpu_seconds_total",
			"Processor time used, user and system.", cpu.Seconds())
		if resident > 0 {
			gauge("process_resident_memory_bytes", "Memory in use, mapped files included.", resident)
		}
	}
	gauge("process_start_time_seconds", "When the server was made.", float64(x.started.UnixMilli())/1000)
	x.begin(http.StatusOK, "text/plain; version=0.0.4; charset=utf-8")
	x.w.Write(b.Bytes())
}

func oneIf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// writeIndexes writes the state of each index.
func (v *Server) writeIndexes(b *bytes.Buffer) {
	all := v.describeAll()
	for _, m := range []struct {
		name, help string
		value      func(*indexAnswer) int
	}{
		{"documents", "Documents of the index.", func(a *indexAnswer) int { return a.Documents }},
		{"generation", "How many indexes were served under the name, this one included.",
			func(a *indexAnswer) int { return a.Generation }},
		{"ready", "1 if the index can be read.", func(a *indexAnswer) int { return oneIf(a.Ready) }},
	} {
		fmt.Fprintf(b, "# HELP collocate_index_%s %s\n# TYPE collocate_index_%[1]s gauge\n", m.name, m.help)
		for i := range all {
			fmt.Fprintf(b, "collocate_index_%s{index=%q} %d\n", m.name, all[i].Name, m.value(&all[i]))
		}
	}
	if !v.o.Writable {
		return
	}
	for _, m := range []struct {
		name, kind, help string
		value            func(writes) uint64
	}{
		{"changes_total", "counter", "Documents added and deleted by clients.", func(w writes) uint64 { return w.changes }},
		{"commits_total", "counter", "Commits of their changes.", func(w writes) uint64 { return w.commits }},
		{"pending", "gauge", "Changes that are not yet durable.", func(w writes) uint64 { return uint64(w.pending) }},
	} {
		fmt.Fprintf(b, "# HELP collocate_index_%s %s\n# TYPE collocate_index_%[1]s %[3]s\n", m.name, m.help, m.kind)
		for _, ix := range v.list() {
			fmt.Fprintf(b, "collocate_index_%s{index=%q} %d\n", m.name, ix.name, m.value(ix.writer.counts()))
		}
	}
}

func (m *metrics) write(b *bytes.Buffer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	fmt.Fprintln(b, "# HELP collocate_requests_total Requests that were answered.\n# TYPE collocate_requests_total counter")
	keys := make([]requestKey, 0, len(m.requests))
	for k := range m.requests {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b requestKey) int {
		return cmp.Or(cmp.Compare(a.verb, b.verb), cmp.Compare(a.index, b.index), cmp.Compare(a.status, b.status))
	})
	for _, k := range keys {
		of := ""
		if k.index != "" {
			of = fmt.Sprintf(",index=%q", k.index)
		}
		fmt.Fprintf(b, "collocate_requests_total{verb=%q%s,status=\"%d\"} %d\n", k.verb, of, k.status, m.requests[k])
	}
	writeHistograms(b, "collocate_request_seconds", "Time to answer a request, waiting included.", "verb", m.latency)
	writeHistograms(b, "collocate_search_seconds", "Time of a search alone.", "engine", m.searches)
	fmt.Fprintln(b, "# HELP collocate_searches_total Searches by algorithm and strategy.\n# TYPE collocate_searches_total counter")
	taken := slices.Collect(maps.Keys(m.strategies))
	slices.SortFunc(taken, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	for _, k := range taken {
		fmt.Fprintf(b, "collocate_searches_total{algorithm=%q,strategy=%q} %d\n", k[0], k[1], m.strategies[k])
	}
}

func writeHistograms(b *bytes.Buffer, name, help, label string, of map[string]*histogram) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %[1]s histogram\n", name, help)
	for _, key := range sortedKeys(of) {
		h, n := of[key], uint64(0)
		for i, count := range h.buckets {
			n += count
			bound := "+Inf"
			if i < len(bounds) {
				bound = fmt.Sprint(bounds[i])
			}
			fmt.Fprintf(b, "%s_bucket{%s=%q,le=%q} %d\n", name, label, key, bound, n)
		}
		fmt.Fprintf(b, "%s_sum{%s=%q} %v\n%[1]s_count{%[2]s=%[3]q} %[5]d\n", name, label, key, h.sum, n)
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// write writes the load of both lanes.
func (g *gate) write(b *bytes.Buffer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, m := range []struct {
		name, help string
		value      func(laneState) int
	}{
		{"collocate_slots", "Requests that may be worked on at once.", func(l laneState) int { return l.slots }},
		{"collocate_running", "Requests that are being worked on.", func(l laneState) int { return l.running }},
		{"collocate_waiting", "Requests that wait for a slot.", func(l laneState) int { return l.waiting }},
	} {
		fmt.Fprintf(b, "# HELP %s %s\n# TYPE %[1]s gauge\n", m.name, m.help)
		for i, l := range g.lanes {
			fmt.Fprintf(b, "%s{lane=%q} %d\n", m.name, lane(i), m.value(l))
		}
	}
}
