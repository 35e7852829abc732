package serve

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/points"
)

// jobs are requests that take longer than a client wants to keep a connection open: patterns at
// several distances, questions about the text of many documents, many documents, and merging.
// Clients start, watch, fetch and cancel them by ID.
type jobs struct {
	mu   sync.Mutex
	list []*job // oldest first
	all  sync.WaitGroup
	ctx  context.Context
	stop context.CancelFunc
}

// job is one of them. Its answer is the body of GET /v1/jobs/ID.
type job struct {
	client netip.Addr
	cancel context.CancelFunc

	mu      sync.Mutex
	answer  jobAnswer
	changed chan struct{} // closed and replaced when the answer changes
}

type jobAnswer struct {
	ID      string            `json:"id"`
	Kind    string            `json:"kind"`            // patterns, documents, merge, compact, or a question about texts or places
	Index   string            `json:"index,omitempty"` // that is changed
	State   string            `json:"state"`           // waiting, running, done, failed or cancelled
	Done    int               `json:"done"`            // number of distances, percent of the documents
	Total   int               `json:"total"`
	Stage   string            `json:"stage,omitempty"` // of the distance being mined
	Created time.Time         `json:"created"`
	Error   string            `json:"error,omitempty"`
	Change  *writeAnswer      `json:"change,omitempty"` // of the index so far
	Runs    []*api.MineAnswer `json:"runs,omitempty"`   // one per distance that is done
	Answer  any               `json:"answer,omitempty"` // to a question about texts or places, as GET has it
}

const (
	maxJobs       = 64 // kept; the oldest finished ones are dropped
	maxUnfinished = 16
	maxClientJobs = 4
	maxDistances  = 64
	maxJobFound   = 20_000 // patterns that a job may keep
	heartbeat     = 15 * time.Second
	jobTime       = 10 * time.Minute
	longJob       = 24 * time.Hour // for documents and merging
)

func newJobs() *jobs {
	j := &jobs{}
	j.ctx, j.stop = context.WithCancel(context.Background())
	return j
}

// close cancels all jobs and waits for them.
func (j *jobs) close() {
	j.stop()
	j.all.Wait()
}

func (a *jobAnswer) ended() bool { return a.State != "waiting" && a.State != "running" }

// now returns the current answer, and a channel that is closed when it changes.
func (b *job) now() (jobAnswer, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.answer, b.changed // later runs are appended behind these
}

// short returns an answer without its results.
func (a jobAnswer) short() jobAnswer {
	a.Runs, a.Answer = nil, nil
	return a
}

func (b *job) change(do func(*jobAnswer)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	do(&b.answer)
	close(b.changed)
	b.changed = make(chan struct{})
}

// add keeps a new job, or fails if there are too many.
func (j *jobs) add(b *job) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	unfinished, own := 0, 0
	for _, other := range j.list {
		if a, _ := other.now(); !a.ended() {
			unfinished++
			if other.client == b.client {
				own++
			}
		}
	}
	if unfinished >= maxUnfinished || own >= maxClientJobs || j.ctx.Err() != nil {
		return errBusy
	}
	for i := 0; i < len(j.list) && len(j.list) >= maxJobs; i++ {
		if a, _ := j.list[i].now(); a.ended() {
			j.list = slices.Delete(j.list, i, i+1)
			i--
		}
	}
	j.list = append(j.list, b)
	return nil
}

func (j *jobs) find(id string) *job {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, b := range j.list {
		if b.answer.ID == id { // never changes
			return b
		}
	}
	return nil
}

// listJobs lists jobs without their results.
func (x *exchange) listJobs() {
	list := []jobAnswer{}
	x.jobs.mu.Lock()
	for _, b := range x.jobs.list {
		a, _ := b.now()
		list = append(list, a.short())
	}
	x.jobs.mu.Unlock()
	x.reply(http.StatusOK, struct {
		Jobs []jobAnswer `json:"jobs"`
	}{list})
}

// jobParams is the body of POST /v1/jobs: all parameters of mining patterns, and those of the job.
type jobParams struct {
	Kind      string
	Distances []float64
	Only      [][]string // sets of features; empty means all patterns
	Mine      api.Mine   // at each distance
}

func newJobParams() *jobParams {
	a := new(jobParams)
	api.MineQuestion.FillAt(api.HTTP, &a.Mine)
	return a
}

// notOfJobs are the parameters of mining that jobs refuse.
var notOfJobs = map[string]string{
	"distance":  "want distances, a list",
	"regions":   "a job mines the whole map",
	"instances": "a job lists patterns only: ask /v1/places/instances for those of one",
}

func (a *jobParams) check() error {
	limit := a.Mine.Top
	switch {
	case a.Kind != "patterns":
		return fmt.Errorf("kind %q: want patterns, %s, or of places %s", a.Kind, strings.Join(textKinds(), ", "),
			strings.Join(slices.Sorted(maps.Keys(placeQuestions)), ", "))
	case len(a.Distances) == 0 || len(a.Distances) > maxDistances:
		return fmt.Errorf("%d distances: want 1 to %d", len(a.Distances), maxDistances)
	case len(a.Only) > 100:
		return fmt.Errorf("only: %d sets: want at most 100", len(a.Only))
	case limit*len(a.Distances) > maxJobFound:
		return fmt.Errorf("limit %d at %d distances: want at most %d patterns in all", limit,
			len(a.Distances), maxJobFound)
	}
	for _, set := range a.Only {
		slices.Sort(set) // as the features of patterns are
		if len(slices.Compact(slices.Clone(set))) != len(set) || len(set) < 2 || set[0] == "" {
			return fmt.Errorf("only: set %q: want two or more different features", set)
		}
	}
	for _, d := range a.Distances {
		if !(d > 0) {
			return fmt.Errorf("distance %v: want more than 0", d)
		}
	}
	ask := a.at(a.Distances[0])
	return api.Check(&ask)
}

// at returns the question about one distance.
func (a *jobParams) at(distance float64) api.Mine {
	ask := a.Mine
	ask.Distance.List = []float64{distance}
	ask.All, ask.Only = ask.All || a.Only != nil, a.Only
	return ask
}

// set stores the value of a name.
func (a *jobParams) set(name string, raw json.RawMessage) error {
	switch name {
	case "kind":
		return api.Decode(name, raw, &a.Kind)
	case "distances":
		return api.Decode(name, raw, &a.Distances)
	case "only":
		return api.Decode(name, raw, &a.Only)
	}
	if why := notOfJobs[name]; why != "" {
		return fmt.Errorf("%s: %s", name, why)
	}
	return api.MineQuestion.SetJSON(api.HTTP, &a.Mine, name, raw)
}

// startJob starts a job and returns its ID.
func (x *exchange) startJob() {
	body, ok := x.readBody()
	if !ok {
		return
	}
	if q := textQuestion(body); q != nil {
		x.startText(q, body)
		return
	}
	if x.startPlaces(body) {
		return
	}
	want := newJobParams()
	in := json.NewDecoder(bytes.NewReader(body))
	err := api.Object(in, want.set)
	if err == nil {
		if _, more := in.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("want nothing after the object")
		}
	}
	if err != nil {
		err = fmt.Errorf("body: %w", err)
	} else {
		err = cmp.Or(want.check(), x.mayUseGPU(&want.Mine))
	}
	if err != nil && want.Kind != "patterns" { // whether the server has points or not
		x.refuse(http.StatusBadRequest, err)
		return
	}
	if !x.hasPoints(&want.Mine.OfDocuments, err) {
		return
	}
	for _, name := range slices.Concat(want.Only...) {
		if _, ok := slices.BinarySearch(x.pts.Features, name); !ok {
			x.refuse(http.StatusBadRequest, fmt.Errorf("only: no feature %q", name))
			return
		}
	}
	v, set := x.Server, x.pts
	x.start(jobAnswer{Kind: want.Kind, Total: len(want.Distances)}, jobTime, func(ctx context.Context, b *job) error {
		return v.mineAll(ctx, b, want, set)
	}, nil)
}

// start runs do as a job, for a while at most, and answers with the job. At the end, or if there
// are too many jobs, it calls end.
func (x *exchange) start(about jobAnswer, most time.Duration, do func(context.Context, *job) error, end func()) {
	ctx, cancel := context.WithTimeout(x.jobs.ctx, most)
	b := &job{client: x.client, cancel: cancel, changed: make(chan struct{}), answer: about}
	b.answer.ID, b.answer.State, b.answer.Created = rand.Text(), "waiting", time.Now().UTC()
	ended := func() {
		cancel()
		if end != nil {
			end()
		}
	}
	if err := x.jobs.add(b); err != nil {
		ended()
		x.failed(err)
		return
	}
	v := x.Server
	v.jobs.all.Go(func() {
		defer ended()
		b.finish(v, do(ctx, b))
	})
	a, _ := b.now()
	x.w.Header().Set("Location", jobsFrom(x.r.URL.Path)+a.ID) // relative: a proxy may add a path before /v1
	x.reply(http.StatusAccepted, a)
}

// jobsFrom returns the path of jobs relative to another below /v1.
func jobsFrom(path string) string {
	return strings.Repeat("../", strings.Count(path, "/")-2) + "jobs/"
}

// mineAll mines patterns: one distance at a time, each in a slot of its own.
func (v *Server) mineAll(ctx context.Context, b *job, want *jobParams, set *points.Set) error {
	for _, d := range want.Distances {
		found, err := v.mineInTurn(ctx, b, want.at(d), set)
		if err != nil {
			return err
		}
		b.change(func(a *jobAnswer) {
			a.Runs = append(a.Runs, found)
			a.Done++
			a.Stage = ""
		})
	}
	return nil
}

// finish notes the end of a job.
func (b *job) finish(v *Server, err error) {
	b.change(func(a *jobAnswer) {
		switch {
		case err == nil:
			a.State = "done"
		case errors.Is(err, context.Canceled):
			a.State, a.Error = "cancelled", "the job was cancelled"
		default:
			a.State, a.Error = "failed", said(err)
			v.log.Error("a job failed", "id", a.ID, "error", err)
		}
	})
}

// whenFree waits for a slot without a limit, as no connection is open meanwhile, and runs do in it.
func (v *Server) whenFree(ctx context.Context, b *job, do func() error) error {
	for {
		slot, err := v.gate.enter(ctx, b.client, longLane)
		if errors.Is(err, errBusy) {
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond):
			}
			continue
		}
		if err != nil {
			return err
		}
		defer slot.leave()
		b.change(func(a *jobAnswer) { a.State = "running" })
		return do()
	}
}

func (v *Server) mineInTurn(ctx context.Context, b *job, ask api.Mine, set *points.Set) (found *api.MineAnswer, err error) {
	err = v.whenFree(ctx, b, func() (err error) {
		on := v.asPlaces(set)
		on.Progress = b.progress
		start := time.Now()
		if found, err = ask.Do(ctx, on, nil); err == nil {
			found.Micros = time.Since(start).Microseconds()
		}
		return err
	})
	return found, err
}

// progress notifies watchers of a new stage, or of a new percent of a stage.
func (b *job) progress(stage string, done, total int64) {
	if total > 0 {
		stage = fmt.Sprintf("%s, %d%%", stage, 100*done/total)
	}
	b.mu.Lock()
	same := b.answer.Stage == stage
	b.mu.Unlock()
	if !same {
		b.change(func(a *jobAnswer) { a.Stage = stage })
	}
}

// jobOf returns the job of a path, or answers that there is none.
func (x *exchange) jobOf() (b *job) {
	id := x.r.PathValue("id")
	if b = x.jobs.find(id); b == nil {
		x.refuse(http.StatusNotFound, absent{fmt.Errorf("no job %q", id), "job"})
	}
	return b
}

// showJob answers with a job and its results.
func (x *exchange) showJob() {
	if b := x.jobOf(); b != nil {
		a, _ := b.now()
		x.reply(http.StatusOK, a)
	}
}

// cancelJob cancels a job.
func (x *exchange) cancelJob() {
	b := x.jobOf()
	if b == nil {
		return
	}
	if b.answer.Index != "" && !x.mayWrite() { // never changes
		return
	}
	b.cancel()
	a, _ := b.now()
	x.reply(http.StatusAccepted, a)
}

// watchJob answers with the events of a job.
func (x *exchange) watchJob() {
	if b := x.jobOf(); b != nil {
		x.watch(b)
	}
}

// watch sends an event whenever the job changes, until it ends. Events contain no results.
func (x *exchange) watch(b *job) {
	x.w.Header().Set("Cache-Control", "no-store")
	x.begin(http.StatusOK, "text/event-stream")
	control := http.NewResponseController(x.w)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		a, changed := b.now()
		name := "progress"
		if a.ended() {
			name = a.State
		}
		text, _ := line(a.short()) // cannot fail
		if !x.sendEvent(control, fmt.Sprintf("event: %s\ndata: %s\n", name, text)) || a.ended() {
			return
		}
		for waiting := true; waiting; {
			select {
			case <-changed:
				waiting = false
			case <-beat.C:
				if !x.sendEvent(control, ": still there\n\n") {
					return
				}
			case <-x.r.Context().Done():
				return
			}
		}
	}
}

func (x *exchange) sendEvent(control *http.ResponseController, text string) bool {
	x.mayTake(control)
	if _, err := io.WriteString(x.w, text); err != nil {
		return false
	}
	err := control.Flush()
	return err == nil || errors.Is(err, http.ErrNotSupported)
}
