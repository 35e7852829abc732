package serve

import (
	_ "embed"
	"errors"
	"net/http"
	"runtime"
	"time"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/index"
)

//go:embed openapi.json
var openAPI []byte

// openAPI serves the description of the API.
func (x *exchange) openAPI() {
	x.begin(http.StatusOK, "application/json")
	x.w.Write(openAPI)
}

// health reports that the server is running, and describes its index.
func (x *exchange) health() {
	x.reply(http.StatusOK, struct {
		Status string `json:"status"`
		Docs   int    `json:"docs"`
		Terms  int    `json:"terms,omitempty"` // 0 for a root
	}{"ok", x.g.docs, x.g.terms()})
}

// ready reports whether searches can be answered.
func (x *exchange) ready() {
	if err := x.notReady(); err != nil {
		x.reply(http.StatusServiceUnavailable, failureOf(err))
		return
	}
	x.reply(http.StatusOK, struct {
		Status string `json:"status"`
	}{"ready"})
}

// notReady returns the reason why no requests should be sent here, or nil.
func (x *exchange) notReady() error {
	if x.draining.Load() {
		return errors.New("the server is about to stop")
	}
	if err := x.g.fault.Load(); err != nil {
		return *err
	}
	if x.o.Root != nil {
		return x.o.Root.notReady(x.g)
	}
	return nil
}

type versionAnswer struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func (v *Server) versionAnswer() versionAnswer {
	return versionAnswer{v.o.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH}
}

func (x *exchange) version() {
	if err := x.params().done(); err != nil {
		x.refuse(http.StatusBadRequest, err)
		return
	}
	x.reply(http.StatusOK, x.versionAnswer())
}

// statusAnswer is the state of the server, for users.
type statusAnswer struct {
	versionAnswer
	UptimeSeconds int64  `json:"uptime_seconds"`
	Ready         bool   `json:"ready"`
	Generation    int    `json:"generation"` // number of indexes served so far, counting this one
	Name          string `json:"name"`
	Engine        string `json:"engine"`
	Threads       int    `json:"threads"`
	Cores         int    `json:"cores"`
	Model         string `json:"model"`

	Index   index.Stats    `json:"index"`
	Matrix  *matrixAnswer  `json:"matrix,omitempty"`
	Vectors *vectorsAnswer `json:"vectors,omitempty"`
	Points  *pointsSummary `json:"points,omitempty"`
	Device  *deviceAnswer  `json:"device,omitempty"`
	Shards  []groupStatus  `json:"shards,omitempty"`
	Limits  limitsAnswer   `json:"limits"`

	Latency latencies `json:"latency"`
	Running int       `json:"running"`
	Waiting int       `json:"waiting"`
	Heap    uint64    `json:"heap_bytes"`
}

type matrixAnswer struct {
	Name    string `json:"name"`
	Words   int    `json:"words"`
	Entries uint64 `json:"entries"`
	// Counts is true if the cells are counts, which allow tests of significance.
	Counts bool `json:"counts"`
}

type vectorsAnswer struct {
	Name       string `json:"name"`
	Words      int    `json:"words"`
	Dimensions int    `json:"dimensions"`
}

type deviceAnswer struct {
	Free  int64 `json:"free_bytes"`
	Total int64 `json:"total_bytes"`
}

type limitsAnswer struct {
	K       int   `json:"k"`
	Words   int   `json:"words"`
	Queries int   `json:"queries"`
	Millis  int64 `json:"millis"`
}

// status describes the server, for users.
func (x *exchange) status() {
	if err := x.params().done(); err != nil {
		x.refuse(http.StatusBadRequest, err)
		return
	}
	a := statusAnswer{
		versionAnswer: x.versionAnswer(), UptimeSeconds: int64(time.Since(x.started).Seconds()),
		Ready: x.notReady() == nil, Generation: x.g.number, Name: x.o.Name,
		Engine: x.o.Engine.String(), Threads: x.threads, Cores: runtime.NumCPU(), Model: x.modelName(),
		Latency: x.metrics.lately(10),
		Limits:  limitsAnswer{x.o.MaxK, x.o.Limits.Words, x.o.Limits.Queries, x.o.Limits.Time.Milliseconds()},
	}
	if m := x.o.Matrix; m != nil {
		counts := m.Options().Weighting == cooccur.Count && !m.Corpus().Subsampled
		a.Matrix = &matrixAnswer{x.o.MatrixName, m.Len(), m.Entries(), counts}
	}
	if v := x.o.Vectors; v != nil {
		a.Vectors = &vectorsAnswer{x.o.VectorsName, len(v.Words), v.Dim}
	}
	if x.o.Points != nil {
		s := x.summed()
		a.Points = &s
	}
	if x.o.Root != nil {
		a.Index, a.Shards = x.o.Root.status(x.g)
	} else {
		a.Index = x.g.s.Index().Stats()
		if free, total, err := x.g.s.GPUMemory(); err == nil && total > 0 {
			a.Device = &deviceAnswer{free, total}
		}
	}
	for _, l := range x.gate.state() {
		a.Running, a.Waiting = a.Running+l.running, a.Waiting+l.waiting
	}
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	a.Heap = mem.HeapInuse
	x.reply(http.StatusOK, a)
}

func (x *exchange) modelName() string {
	if x.o.Model == nil {
		return "bm25"
	}
	return x.o.Model.String()
}

func (g *gate) state() [2]laneState {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lanes
}
