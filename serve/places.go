package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/option"
	"github.com/collocate/collocate/points"
)

var errNoPoints = errors.New("the server has no places: start it with serve.Options.Points")

const miningMemory = 1 << 30 // bytes

// pointsSummary describes the points.
type pointsSummary struct {
	Name       string         `json:"name"`
	Flags      string         `json:"flags"` // of `collocate places`, to read the same points
	Points     int            `json:"points"`
	Geographic bool           `json:"geographic"` // positions are longitudes and latitudes
	CRS        string         `json:"crs"`        // reference system, if known
	Unit       string         `json:"unit"`       // of distances, if known
	Bounds     [4]float64     `json:"bounds"`     // minimum of x and y, maximum of x and y
	Features   []featureCount `json:"features"`
}

type featureCount struct {
	Name   string `json:"name"`
	Points int64  `json:"points"`
}

// describePoints reads all points once: they never change, and /v1/status is asked often.
func (v *Server) describePoints() pointsSummary {
	s := summaryOf(v.o.Points)
	s.Name, s.Flags = v.o.PointsName, v.o.PointsFlags
	return s
}

func summaryOf(pts *points.Set) pointsSummary {
	s := pointsSummary{Points: pts.Len(), Features: []featureCount{}, Geographic: pts.CRS.Geographic(),
		Unit: pts.CRS.DistanceUnit()}
	if pts.CRS != nil {
		s.CRS = pts.CRS.String()
	}
	for i, n := range pts.Totals() {
		s.Features = append(s.Features, featureCount{pts.Features[i], n})
	}
	if pts.Len() > 0 {
		s.Bounds = [4]float64{slices.Min(pts.X), slices.Min(pts.Y), slices.Max(pts.X), slices.Max(pts.Y)}
	}
	return s
}

// hasPoints finds the points of a request: those of the server or, below the name of an index, its
// documents. It refuses the request if there are none, or if err is an error of its parameters.
func (x *exchange) hasPoints(of *api.OfDocuments, err error) bool {
	// A job below the name of an index is about the points of the server unless it says otherwise.
	if x.named() && (x.verb != "jobs" || *of != (api.OfDocuments{})) {
		return x.hasDocuments(of, err)
	}
	if err == nil && *of != (api.OfDocuments{}) {
		err = errNotNamed
	}
	switch {
	case x.o.Points == nil && !errors.Is(err, errNotNamed): // said first: no other parameter would help
		x.refuse(http.StatusNotFound, errNoPoints)
	case err != nil:
		x.refuse(http.StatusBadRequest, err)
	default:
		x.pts = x.o.Points
		return true
	}
	return false
}

// named reports whether the path names an index.
func (x *exchange) named() bool { return x.r.PathValue("index") != "" }

var errNotNamed = errors.New("feature_field: documents are points below /v1/indexes/NAME/places")

// hasDocuments makes points of documents, unless they were made a short while ago.
func (x *exchange) hasDocuments(of *api.OfDocuments, err error) bool {
	if err != nil {
		x.refuse(http.StatusBadRequest, err)
		return false
	}
	x.source = fmt.Sprintf("%q %q %q ", x.ix.name, x.g.tag, *of)
	if x.pts = x.ofDocuments.get(x.source); x.pts != nil {
		return true
	}
	err = x.work(longLane, x.o.Limits.Time, func(ctx context.Context) (err error) {
		x.pts, err = of.Set(ctx, x.g.s)
		return err
	})
	if err != nil {
		x.failed(err)
		return false
	}
	x.ofDocuments.put(x.source, x.pts)
	return true
}

// documentPoints keeps the latest sets of points that were made of documents: a page asks for
// several answers about the same.
type documentPoints struct {
	mu   sync.Mutex
	keys []string // oldest first
	sets map[string]*points.Set
}

const maxDocumentPoints = 4 // sets, each of at most 10 million points

func (d *documentPoints) get(key string) *points.Set {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sets[key]
}

func (d *documentPoints) put(key string, set *points.Set) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sets == nil {
		d.sets = map[string]*points.Set{}
	}
	if d.sets[key] == nil {
		d.keys = append(d.keys, key)
	}
	if d.sets[key] = set; len(d.keys) > maxDocumentPoints {
		delete(d.sets, d.keys[0])
		d.keys = d.keys[1:]
	}
}

// places describes the points of the server, or of documents.
func (x *exchange) places() {
	var of api.OfDocuments
	if !x.hasPoints(&of, x.asked(api.OfDocumentsQuestion, &of)) {
		return
	}
	if !x.named() {
		x.reply(http.StatusOK, x.summed())
		return
	}
	s := summaryOf(x.pts)
	s.Name = x.ix.name
	x.reply(http.StatusOK, s)
}

// pointsAnswer lists points as columns. If there are more than requested, it has every n-th.
type pointsAnswer struct {
	Total    int       `json:"total"`
	Features []string  `json:"features"`
	Feature  []int32   `json:"feature"` // indexes into the list of features
	X        []float64 `json:"x"`
	Y        []float64 `json:"y"`
	Time     []int64   `json:"time,omitempty"` // seconds since 1970 of each, if the points have times
}

// points lists the points of all features, or of some.
func (x *exchange) points() {
	var ask api.PointsDrawing
	if err := x.asked(api.PointsDrawingQuestion, &ask); !x.hasPoints(&ask.OfDocuments, err) {
		return
	}
	limit, names := ask.Limit, ask.Feature
	pts := x.pts
	wanted := make([]bool, len(pts.Features))
	for _, name := range names {
		i, ok := slices.BinarySearch(pts.Features, name)
		if !ok {
			x.refuse(http.StatusBadRequest, fmt.Errorf("no feature %q", name))
			return
		}
		wanted[i] = true
	}
	a := pointsAnswer{Features: pts.Features, Feature: []int32{}, X: []float64{}, Y: []float64{}}
	err := x.work(longLane, x.o.Limits.Time, func(ctx context.Context) error {
		for i, f := range pts.Feature {
			if i%(1<<16) == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if names == nil || wanted[f] {
				a.Total++
			}
		}
		step, at := max(1, (a.Total+limit-1)/limit), 0
		for i, f := range pts.Feature {
			if i%(1<<16) == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if names != nil && !wanted[f] {
				continue
			}
			if at%step == 0 {
				a.Feature, a.X, a.Y = append(a.Feature, f), append(a.X, pts.X[i]), append(a.Y, pts.Y[i])
				if pts.Time != nil {
					a.Time = append(a.Time, pts.Time[i])
				}
			}
			at++
		}
		return nil
	})
	if err != nil {
		x.failed(err)
		return
	}
	x.reply(http.StatusOK, a)
}

// area answers with the outline of the study area.
func (x *exchange) area() {
	var ask api.AreaDrawing
	if err := x.asked(api.AreaDrawingQuestion, &ask); !x.hasPoints(&ask.OfDocuments, err) {
		return
	}
	x.cached(fmt.Sprintf("area %q %t", ask.Window, ask.Clip), func(ctx context.Context) ([]byte, error) {
		on := x.asPlaces(x.pts)
		on.Progress = x.progress
		found, err := ask.Do(ctx, on)
		if err != nil {
			return nil, err
		}
		return line(found)
	})
}

// neighbourhood returns the definition of neighbours.
func neighbourhood(n api.Neighbourhood) (o coloc.Options, err error) {
	if n.Distance == 0 && n.KNN == 0 {
		err = errors.New("want distance or knn, or both")
	}
	// The prevalence is not used: nothing is mined.
	return coloc.Options{Distance: n.Distance, KNN: n.KNN, MinPrevalence: 1}, err
}

// asPlaces returns points for a question. Mining always leaves cores to short searches.
func (v *Server) asPlaces(set *points.Set) *api.Places {
	return &api.Places{Set: set, Engine: v.placesEngine(), Device: v.o.Device,
		Threads: v.mayUse(longLane), Memory: miningMemory, NoFiles: true, Named: option.Parameters}
}

// survey prepares points for questions that are not declared.
func (x *exchange) survey(o coloc.Options) (*coloc.Survey, error) {
	o.Memory, o.Threads, o.Engine = miningMemory, x.mayUse(longLane), x.placesEngine()
	return coloc.NewSurvey(x.pts, o)
}

// placesEngine returns the default engine of requests about places: the CPU cores.
func (v *Server) placesEngine() engine.Kind {
	if v.o.Engine == engine.Sequential {
		return engine.Sequential
	}
	return engine.Multicore
}

// asked reads the parameters of a question from the URL.
func (x *exchange) asked(q *api.Question, question any) error {
	q.FillAt(api.HTTP, question)
	values, err := url.ParseQuery(x.r.URL.RawQuery)
	if err != nil {
		return fmt.Errorf("the query of the URL: %w", err)
	}
	return q.Values(x.door(), values, question)
}

// noParams returns an error if the URL has parameters.
func (x *exchange) noParams() error {
	return x.asked(api.BareQuestion, &struct{}{})
}

// aboutPlaces returns the handler of a question about places.
func aboutPlaces(q *api.Question) func(*exchange) {
	return func(x *exchange) {
		question := q.New(api.HTTP)
		x.answerPlaces(q, question, x.asked(q, question))
	}
}

// mayUseGPU refuses a question for a GPU if the server has none.
func (x *exchange) mayUseGPU(question any) error {
	if on := api.EngineOf(question); on != nil && *on == engine.GPU && x.o.Engine != engine.GPU {
		return errors.New("engine gpu: the server was not started with serve.Options.Engine=gpu")
	}
	return nil
}

// answerPlaces answers a question about places, unless err says that it is wrong. A GPU is allowed
// if the server has one.
func (x *exchange) answerPlaces(q *api.Question, question any, err error) {
	if !x.hasPoints(api.OfDocumentsIn(question), cmp.Or(err, api.Check(question), x.mayUseGPU(question))) {
		return
	}
	key, err := q.Marshal(question)
	if err != nil {
		x.failed(err)
		return
	}
	x.cached(q.Name+" "+string(key), func(ctx context.Context) ([]byte, error) {
		start := time.Now()
		on := x.asPlaces(x.pts)
		on.Progress = x.progress
		found, err := q.AskPlaces(ctx, on, question)
		if err != nil {
			return nil, err
		}
		if mined, ok := found.(*api.MineAnswer); ok {
			mined.Micros = time.Since(start).Microseconds()
		}
		return line(found)
	})
}

// instancesAnswer shows a pattern on a map: participating points as columns, and instances as
// indexes into the columns.
type instancesAnswer struct {
	Features  []string  `json:"features"` // of the pattern
	Feature   []int32   `json:"feature"`  // indexes into Features
	Row       []int32   `json:"row"`      // row of each point in the input, counted from 1
	X         []float64 `json:"x"`
	Y         []float64 `json:"y"`
	Instances [][]int   `json:"instances"`
	More      bool      `json:"more"` // there are more instances
}

// instances lists instances of a pattern.
func (x *exchange) instances() {
	var ask api.InstancesDrawing
	err := x.asked(api.InstancesDrawingQuestion, &ask)
	o, far := neighbourhood(ask.Neighbourhood)
	limit, names := ask.Limit, ask.Feature
	slices.Sort(names)
	if names = slices.Compact(names); len(names) < 2 || len(names) > 64 {
		far = cmp.Or(far, error(&api.Error{Param: "feature", Err: errors.New("want 2 to 64 of them")}))
	}
	if !x.hasPoints(&ask.OfDocuments, cmp.Or(err, far)) {
		return
	}
	var pattern coloc.Pattern
	for _, name := range names {
		i, ok := slices.BinarySearch(x.pts.Features, name)
		if !ok {
			x.refuse(http.StatusBadRequest, fmt.Errorf("no feature %q", name))
			return
		}
		pattern.Features = append(pattern.Features, int32(i))
	}
	x.cached(fmt.Sprintf("instances %v %v %v %q", o.Distance, o.KNN, limit, names),
		func(ctx context.Context) ([]byte, error) {
			s, err := x.survey(o)
			if err != nil {
				return nil, err
			}
			found, err := s.Instances(ctx, pattern, limit+1)
			if err != nil {
				return nil, err
			}
			return line(x.columns(names, found, limit))
		})
}

// columns lists each point of the instances once.
func (x *exchange) columns(names []string, found [][]int32, limit int) *instancesAnswer {
	a := &instancesAnswer{Features: names, Feature: []int32{}, Row: []int32{}, X: []float64{},
		Y: []float64{}, Instances: [][]int{}}
	a.More = len(found) > limit
	place := map[int32]int{}
	for _, instance := range found[:min(limit, len(found))] {
		places := make([]int, len(instance))
		for i, point := range instance {
			at, ok := place[point]
			if !ok {
				at = len(a.X)
				place[point] = at
				a.Feature, a.Row = append(a.Feature, int32(i)), append(a.Row, point+1)
				a.X, a.Y = append(a.X, x.pts.X[point]), append(a.Y, x.pts.Y[point])
			}
			places[i] = at
		}
		a.Instances = append(a.Instances, places)
	}
	return a
}

// cached sends the stored answer to the same request, or computes it. Points never change: those of
// documents are others after a change of the index.
func (x *exchange) cached(key string, do func(context.Context) ([]byte, error)) {
	key = x.source + key
	text := x.mined.get(key)
	if x.job != "" {
		x.later(func(ctx context.Context) (_ []byte, err error) {
			if text == nil {
				if text, err = do(ctx); err == nil {
					x.mined.put(key, text)
				}
			}
			return text, err
		})
		return
	}
	if text == nil {
		err := x.work(longLane, x.o.Limits.Time, func(ctx context.Context) (err error) {
			text, err = do(ctx)
			return err
		})
		if err != nil {
			x.failed(err)
			return
		}
		x.mined.put(key, text)
	}
	x.begin(http.StatusOK, "application/json")
	x.w.Write(text)
}

// minedCache keeps the latest answers about places.
type minedCache struct {
	mu    sync.Mutex
	text  map[string][]byte
	order []string // oldest first
	size  int      // of keys and answers
}

const maxMined = 32 << 20 // bytes

func newMinedCache() *minedCache { return &minedCache{text: map[string][]byte{}} }

func (c *minedCache) get(key string) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text[key]
}

func (c *minedCache) put(key string, text []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.text[key] != nil || len(text) > maxMined/4 {
		return
	}
	c.text[key] = text
	c.order = append(c.order, key)
	for c.size += len(key) + len(text); c.size > maxMined; {
		c.size -= len(c.order[0]) + len(c.text[c.order[0]])
		delete(c.text, c.order[0])
		c.order = c.order[1:]
	}
}
