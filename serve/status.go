package serve

import (
	"errors"
	"net/http"
	"runtime"
	"slices"
	"time"

	"github.com/collocate/collocate/cooccur"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search"
)

// health reports that the server is running, and describes its first index.
func (x *exchange) health() {
	a := struct {
		Status string `json:"status"`
		Docs   int    `json:"docs"`
		Terms  int    `json:"terms,omitempty"` // 0 for a root
	}{Status: "ok"}
	if x.g != nil {
		a.Docs, a.Terms = x.g.docs, x.g.terms()
	}
	x.reply(http.StatusOK, a)
}

// ready reports whether requests can be answered: about the index of the path, or all of them.
func (x *exchange) ready() {
	err := x.notReady()
	if x.g != nil {
		err = x.notReadable(x.g)
	}
	if err != nil {
		x.fail(http.StatusServiceUnavailable, err)
		return
	}
	x.reply(http.StatusOK, struct {
		Status string `json:"status"`
	}{"ready"})
}

// notReady returns the reason why no requests should be sent here, or nil.
func (v *Server) notReady() error {
	if v.draining.Load() {
		return errStopping
	}
	for _, ix := range v.list() {
		if err := v.notReadable(ix.current.Load()); err != nil {
			return err
		}
	}
	return nil
}

var errStopping = errors.New("the server is about to stop")

// notReadable returns the reason why an index cannot answer, or nil.
func (v *Server) notReadable(g *generation) error {
	switch {
	case v.draining.Load():
		return errStopping
	case g == nil:
		return nil
	}
	if err := g.fault.Load(); err != nil {
		return *err
	}
	if v.o.Root != nil {
		return v.o.Root.notReady(g)
	}
	return nil
}

// indexAnswer describes an index that is served.
type indexAnswer struct {
	Name       string `json:"name"`
	Ready      bool   `json:"ready"`
	Error      string `json:"error,omitempty"` // why it is not ready
	Generation int    `json:"generation"`      // number of indexes served under the name, counting this one
	Documents  int    `json:"documents"`
	// Writable and Deletable are true if the client may change the documents, or delete the index.
	Writable  bool `json:"writable,omitempty"`
	Deletable bool `json:"deletable,omitempty"`
	Pending   int  `json:"pending,omitempty"` // changes that are not yet durable
	// Stats are left out of the list of all.
	Stats *index.Stats `json:"index,omitempty"`
}

// describe describes an index, with a generation of it.
func (v *Server) describe(ix *served, g *generation) indexAnswer {
	a := indexAnswer{Name: ix.name, Generation: g.number, Documents: g.docs}
	a.Writable, a.Pending = ix.writer != nil && ix.dir != "", ix.writer.counts().pending
	a.Deletable = v.o.Writable && v.mayDrop(ix) == nil
	err := v.notReadable(g)
	if a.Ready = err == nil; err != nil {
		a.Error = said(err)
	}
	return a
}

// each calls do with every index and its generation.
func (v *Server) each(do func(ix *served, g *generation)) {
	for _, ix := range v.list() {
		if g := ix.hold(); g != nil {
			do(ix, g)
			v.letGo(g)
		}
	}
}

// describeAll describes all indexes. The first answers requests that name none.
func (v *Server) describeAll() []indexAnswer {
	list := []indexAnswer{}
	v.each(func(ix *served, g *generation) { list = append(list, v.describe(ix, g)) })
	return list
}

// allowed is what of an index the client may change.
func (x *exchange) allowed(a indexAnswer) indexAnswer {
	if x.readsOnly() {
		a.Writable, a.Deletable = false, false
	}
	return a
}

// indexesFor describes all indexes to the client.
func (x *exchange) indexesFor() []indexAnswer {
	list := x.describeAll()
	for i, a := range list {
		list[i] = x.allowed(a)
	}
	return list
}

// readsOnly reports whether the token of the client may change nothing.
func (x *exchange) readsOnly() bool { return x.token != nil && !x.token.Write }

// listIndexes lists the indexes that are served.
func (x *exchange) listIndexes() {
	x.reply(http.StatusOK, struct {
		Indexes []indexAnswer `json:"indexes"`
	}{x.indexesFor()})
}

// showIndex describes one index.
func (x *exchange) showIndex() {
	a := x.allowed(x.describe(x.ix, x.g))
	a.Stats, _ = x.stats()
	x.reply(http.StatusOK, a)
}

// stats returns the size of the index, and the shards of a root.
func (x *exchange) stats() (*index.Stats, []groupStatus) {
	if x.o.Root != nil {
		s, groups := x.o.Root.status(x.g)
		return &s, groups
	}
	s := x.g.s.Index().Stats()
	return &s, nil
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
	x.reply(http.StatusOK, x.versionAnswer())
}

// statusAnswer is the state of the server, for users.
type statusAnswer struct {
	versionAnswer
	UptimeSeconds int64    `json:"uptime_seconds"`
	Ready         bool     `json:"ready"`
	Generation    int      `json:"generation"` // number of indexes served under the name, counting this one
	Name          string   `json:"name"`
	Engine        string   `json:"engine"`
	Threads       int      `json:"threads"`
	Cores         int      `json:"cores"`
	Model         string   `json:"model"`
	Models        []string `json:"models"` // names of those by which a search can be ranked

	Index   *index.Stats  `json:"index,omitempty"`
	Indexes []indexAnswer `json:"indexes"`
	// Creatable is true if the client may make indexes.
	Creatable bool `json:"creatable,omitempty"`
	// Encoder is true if the server has an encoder, which makes vectors of queries.
	Encoder bool `json:"encoder,omitempty"`

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
	a := statusAnswer{
		versionAnswer: x.versionAnswer(), UptimeSeconds: int64(time.Since(x.started).Seconds()),
		Ready: x.notReady() == nil, Indexes: x.indexesFor(),
		Engine: x.o.Engine.String(), Threads: x.threads, Cores: runtime.NumCPU(), Model: x.modelName(), Models: x.models(),
		Latency: x.metrics.lately(10), Creatable: x.o.Writable && x.o.Dir != "" && !x.readsOnly(),
		Encoder: x.o.Encoder != nil,
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
	if x.g != nil {
		a.Name, a.Generation = x.ix.name, x.g.number
		if a.Index, a.Shards = x.stats(); x.g.s != nil {
			if free, total, err := x.g.s.GPUMemory(); err == nil && total > 0 {
				a.Device = &deviceAnswer{free, total}
			}
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

// models lists the models by which hits can be ranked. Boolean ranks nothing, BM25F needs fields,
// and Cosine documents as wholes, of which shards have parts.
func (x *exchange) models() []string {
	return slices.DeleteFunc(search.Models(), func(name string) bool {
		return name == "boolean" || name == "cosine" && x.o.Root != nil
	})
}

func (g *gate) state() [2]laneState {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lanes
}
