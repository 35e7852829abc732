package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/engine"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/internal/textfile"
	"github.com/collocate/collocate/points"
)

// PointsReading says how points are read from files. Servers have read them when they started.
type PointsReading struct {
	X          string   `ask:"x" group:"Points" help:"column of x or longitude, by name or number (guessed)"`
	Y          string   `ask:"y" group:"Points" help:"column of y or latitude (guessed)"`
	Geometry   string   `ask:"geometry" group:"Points" help:"column of points as well-known text, or geometry of PostGIS (guessed)"`
	Feature    string   `ask:"feature" group:"Points" help:"column or property of the feature (guessed); @file: each file's name; of OSM PBF keys of tags, such as amenity,shop"`
	Time       string   `ask:"time" group:"Points" help:"column or property of the time (not guessed)"`
	Columns    []string `ask:"columns" group:"Points" help:"names of the columns of a table without a header, such as x,y,type"`
	Layer      string   `ask:"layer" group:"Points" help:"layer of a GeoPackage with several, file of a ZIP archive, or table or SELECT of PostGIS"`
	CRS        string   `ask:"crs" group:"Points" help:"reference system of the positions, such as EPSG:25832, whatever the file says"`
	Geographic bool     `ask:"geographic" group:"Points" not:"python: crs has it" help:"positions are longitude and latitude: the same as crs EPSG:4326"`
	Planar     bool     `ask:"planar" group:"Points" not:"python: crs has it" help:"positions are plain numbers in a plane, whatever the file says"`
	MinPoints  int      `ask:"min_points" default:"1" range:"1.." help:"leave out features with fewer points, also in the window and in each region, which reach any prevalence by chance"`
	SkipBad    bool     `ask:"skip_bad" group:"Points" help:"leave out rows without a valid position or feature, instead of stopping"`
}

// PointsReadingQuestion declares the parameters of PointsReading, for verbs that ask nothing.
var PointsReadingQuestion = part[PointsReading]("reading", "how points are read")

// Served are points that answer many questions, and their study area.
type Served struct {
	PointsReading
	Area
}

// ServedQuestion declares the parameters of Served.
var ServedQuestion = part[Served]("served points", "how points are read, and where they could have been")

// In leaves the points in the study area, which every question that names none then uses.
func (q *Served) In(ctx context.Context, on *Places) error {
	if err := given.Context(ctx); err != nil {
		return err
	}
	set, err := q.of(ctx, on, false, on.Tell)
	if err == nil {
		on.Set = set
	}
	return err
}

// unusedTime refuses times that no part of an answer would use.
func (q *PointsReading) unusedTime() error {
	if q.Time != "" {
		return wrongf("time", "times are not used here: leave it out")
	}
	return nil
}

// timeWithin refuses times without the largest difference between them.
func (q *PointsReading) timeWithin(within string) error {
	if q.Time != "" && within == "" {
		return &Error{Err: errors.New("points.ReadOptions.Time and coloc.Options.Within go together: the column of times, " +
			"and the largest difference between neighbours")}
	}
	return nil
}

// Options checks how points are read, and returns the options for it.
func (q *PointsReading) Options() (o points.ReadOptions, err error) {
	o = points.ReadOptions{X: q.X, Y: q.Y, Feature: q.Feature, Geometry: q.Geometry, Time: q.Time,
		Columns: q.Columns, Layer: q.Layer, SkipBad: q.SkipBad, MinPoints: q.MinPoints}
	switch {
	case q.Geographic && q.Planar || q.CRS != "" && (q.Geographic || q.Planar):
		return o, wrongf("crs", "want only one of crs, geographic and planar")
	case q.Geographic:
		o.CRS = points.WGS84
	case q.Planar:
		o.CRS = points.Plane
	case q.CRS != "":
		if o.CRS, err = points.ParseCRS(q.CRS); err != nil {
			return o, wrong("crs", err)
		}
	}
	return o, nil
}

// Places are points, and how questions about them are answered.
type Places struct {
	Set    *points.Set   // the points
	Engine engine.Kind   // of questions that name none
	Device engine.Device // of the GPU engine
	// Also are further GPUs, which share the work of the GPU engine.
	Also    []engine.Device
	Threads int          // number of threads; 0 means all cores
	Memory  int64        // bound in bytes; 0 means 2 GB
	Log     *slog.Logger // messages on what a job does; nil means none
	// Progress, unless it is nil, is called with the progress of a step, from any goroutine.
	Progress func(stage string, done, total int64)
	// Tell, unless it is nil, gets notes at once that would otherwise be in the answer.
	Tell func(note string)
	// Named, unless it is nil, writes the names of options in notes as the door has them.
	Named func(note string) string
	// NoFiles says that a question may name no files.
	NoFiles bool
}

// engine returns the engine for a question.
func (on *Places) engine(said *engine.Kind) engine.Kind {
	if said != nil && *said != engine.Auto {
		return *said
	}
	return on.Engine
}

// also returns the further GPUs for a question.
func (on *Places) also(said *engine.Kind) []engine.Device {
	if on.engine(said) != engine.GPU {
		return nil
	}
	return on.Also
}

func (on *Places) statistics(said *engine.Kind) points.Engine {
	return points.Engine{Kind: on.engine(said), Threads: on.Threads, Device: on.Device, Also: on.also(said),
		Log: on.Log}
}

func (on *Places) options(near *Neighbours) coloc.Options {
	return coloc.Options{Distance: near.Distance, KNN: near.KNN, Threads: on.Threads, Memory: on.Memory,
		Log: on.Log, Progress: on.Progress, MinPrevalence: 1} // nothing is mined
}

// features returns the numbers of features by name, in ascending order, each once.
func (on *Places) features(param string, names []string) (numbers []int32, err error) {
	for _, name := range names {
		i, ok := slices.BinarySearch(on.Set.Features, name)
		if !ok {
			return nil, &Error{param, strconv.Quote(name), errors.New("no such feature in the points")}
		}
		numbers = append(numbers, int32(i))
	}
	slices.Sort(numbers)
	return slices.Compact(numbers), nil
}

// Neighbours says which points are neighbours.
type Neighbours struct {
	Distance float64 `ask:"distance" short:"d" range:"0.." help:"neighbours are at most this far apart: metres for longitudes and latitudes, otherwise in the unit of the positions"`
	KNN      int     `ask:"knn" range:"0.." at:"http mcp: most=1000, an answer takes seconds" help:"a point's neighbours are this many, its own nearest (and within the distance, if that is given)"`
}

// Check refuses parameters that say nothing.
func (q *Neighbours) Check() error {
	if q.Distance == 0 && q.KNN == 0 {
		return errNeighbours
	}
	return nil
}

var errNeighbours = &Error{Err: errors.New(
	"want coloc.Options.Distance or coloc.Options.KNN, to say which points are neighbours")}

var errEither = errors.New("want either coloc.Options.Distance or coloc.Options.KNN, to say which points are neighbours")

// Chance says, with a null model, what features that are independent of each other would give.
type Chance struct {
	Bandwidth float64 `ask:"bandwidth" group:"Significance" range:"0.." help:"null inhomogeneous and cluster: bandwidth of the density that all features share; by default the one with which some features predict the others best"`
	Seed      uint64  `ask:"seed" group:"Significance" default:"1" help:"seed of the random rounds"`
}

// Adjusted says how q-values correct for many tests.
type Adjusted struct {
	Adjust points.Adjust `ask:"adjust" group:"Significance" default:"fdr" help:"how q corrects for many tests; fdr: by Benjamini and Hochberg; max: by Westfall and Young's step-down maximum, which needs far fewer rounds"`
}

// OnEngine chooses where to compute.
type OnEngine struct {
	Engine *engine.Kind `ask:"engine" group:"Engine" flag:"" default:"auto" not:"mcp: all give the same answer" help:"cores or GPU; all give the same result"`
}

// Distances are the largest distances of neighbours: numbers, or auto.
type Distances struct {
	Auto bool      // the distance that a summary suggests
	List []float64 // 0 means the same position
}

const wantDistances = "want numbers, with commas between them, or auto"

// UnmarshalText reads auto, or numbers with commas between them.
func (d *Distances) UnmarshalText(text []byte) error {
	*d = Distances{Auto: string(text) == "auto"}
	if d.Auto || len(text) == 0 {
		return nil
	}
	for part := range strings.SplitSeq(string(text), ",") {
		x, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil {
			return &Error{Said: strconv.Quote(string(text)), Err: errors.New(wantDistances)}
		}
		d.List = append(d.List, x)
	}
	return d.check()
}

// UnmarshalJSON also reads a number, and a list of them.
func (d *Distances) UnmarshalJSON(b []byte) error {
	return unmarshalEither(b, d.UnmarshalText, func(list []float64) error {
		*d = Distances{List: list}
		return d.check()
	}, wantDistances)
}

// MarshalText is the inverse of UnmarshalText.
func (d Distances) MarshalText() ([]byte, error) {
	if d.Auto {
		return []byte("auto"), nil
	}
	var list []string
	for _, x := range d.List {
		list = append(list, strconv.FormatFloat(x, 'g', -1, 64))
	}
	return []byte(strings.Join(list, ",")), nil
}

// Shape implements shaped.
func (d *Distances) Shape() map[string]any {
	number := map[string]any{"type": "number", "minimum": 0}
	return map[string]any{"oneOf": []any{number, map[string]any{"type": "array", "items": number},
		map[string]any{"type": "string"}}}
}

func (d *Distances) check() error {
	for _, x := range d.List {
		if !(x >= 0) || math.IsInf(x, 1) {
			return &Error{Said: fmt.Sprint(x), Err: errors.New("want 0 or more")}
		}
	}
	return nil
}

// unmarshalEither reads JSON that is a string, a number or a list of numbers.
func unmarshalEither(b []byte, text func([]byte) error, numbers func([]float64) error, want string) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		return text([]byte(s))
	}
	list := make([]float64, 1)
	if json.Unmarshal(b, &list[0]) == nil || json.Unmarshal(b, &list) == nil {
		return numbers(list)
	}
	return errors.New(want)
}

// Levels says how far to go up a hierarchy.
type Levels struct {
	All bool // all of them
	Up  int  // number of levels
}

const wantLevels = "want a number of levels, at least 1, or all"

// UnmarshalText reads a number, or all.
func (l *Levels) UnmarshalText(text []byte) (err error) {
	if *l = (Levels{All: string(text) == "all"}); l.All {
		return nil
	}
	if l.Up, err = strconv.Atoi(string(text)); err != nil || l.Up < 1 {
		return &Error{Said: strconv.Quote(string(text)), Err: errors.New(wantLevels)}
	}
	return nil
}

// UnmarshalJSON also reads a number.
func (l *Levels) UnmarshalJSON(b []byte) error {
	return unmarshalEither(b, l.UnmarshalText, func(list []float64) error {
		return l.UnmarshalText([]byte(strings.Trim(fmt.Sprint(list), "[]")))
	}, wantLevels)
}

// MarshalText is the inverse of UnmarshalText.
func (l Levels) MarshalText() ([]byte, error) {
	if l.All {
		return []byte("all"), nil
	}
	return strconv.AppendInt(nil, int64(l.Up), 10), nil
}

// Shape implements shaped.
func (l *Levels) Shape() map[string]any {
	return map[string]any{"oneOf": []any{map[string]any{"type": "integer", "minimum": 1},
		map[string]any{"type": "string"}}, "default": 1}
}

// Mine asks for the sets of features whose points are often mutual neighbours.
type Mine struct {
	Distance      Distances `ask:"distance" short:"d" help:"neighbours are at most this far apart: metres for longitudes and latitudes, otherwise in the unit of the positions; 0: at the same position; several, such as 50,100, are mined one after the other; auto: as a summary of the points suggests"`
	KNN           int       `ask:"knn" range:"0.." at:"http mcp: most=1000, an answer takes seconds" help:"points are neighbours if one is among this many nearest of the other (and within the distance, if that is given)"`
	MinPrevalence float64   `ask:"min_prevalence" short:"p" default:"0.2" above:"0" range:"..1" help:"least participation index of a pattern"`
	All           bool      `ask:"all" help:"all prevalent patterns, not only the maximal ones"`
	With          []string  `ask:"with" python:"with_" help:"only patterns that contain all of these features"`
	Between       []string  `ask:"between" help:"only patterns of these features"`
	Top           int       `ask:"top" also:"limit" range:"0.." at:"http: default=200 least=1 most=5000, an answer is of limited size; mcp: default=50 least=1 most=500, an assistant reads less" help:"only this many patterns, the best, longest first; 0 means all"`

	Within    string `ask:"within" group:"Parts of the map" help:"neighbours are also at most this long apart, such as 7d, 12h or 30m; the points must have times"`
	Regions   string `ask:"regions" file:"" filled:"" group:"Parts of the map" help:"mine each cell of a grid over the area separately, such as 4x3, or each polygon of a file (GeoJSON, a Shapefile, GeoPackage, GeoParquet, FlatGeobuf or KML, also zipped; GPKG|layername=NAME chooses a layer; so does a connection string of PostGIS)"`
	Hierarchy string `ask:"hierarchy" file:"" filled:"" group:"Parts of the map" not:"http mcp: a question names no files of the server" help:"file of CSV lines feature,parent: replace features by their parents"`
	Level     Levels `ask:"level" group:"Parts of the map" default:"1" not:"http mcp: it needs a hierarchy" help:"number of levels to go up in the hierarchy; all: a point counts for its feature and for each of its ancestors"`

	Rules         bool    `ask:"rules" group:"Rules and instances" help:"also co-location rules with their conditional probability"`
	MaxIf         int     `ask:"max_if" group:"Rules and instances" range:"0.." help:"rules: at most this many features before the arrow (0: any number)"`
	MinConfidence float64 `ask:"min_confidence" group:"Rules and instances" range:"0..1" help:"rules: least conditional probability"`
	Instances     int     `ask:"instances" group:"Rules and instances" range:"0.." at:"http: most=100, an answer is of limited size; mcp: most=10, an assistant reads less" help:"also list this many instances of each pattern"`

	Significance int `ask:"significance" also:"rounds" group:"Significance" range:"0.." at:"http mcp: most=999, an answer takes seconds" help:"compare each pattern with this many random rounds of a null model: expected index, ratio, p and q"`
	Adjusted
	Alternative coloc.Alternative `ask:"alternative" group:"Significance" default:"attraction" help:"what p looks for: attraction, avoidance (among the patterns that are prevalent enough to be found) or both"`
	Null        points.Null       `ask:"null" group:"Significance" default:"inhomogeneous" help:"null model that features are compared with; times: with within only"`
	Chance
	Area

	OnEngine
	PointsReading `not:"http root mcp: the server has read the points when it started"`
	OfDocuments
	Algorithm coloc.Algorithm `ask:"algorithm" group:"The papers' algorithms" default:"auto" not:"http mcp: all give the same answer" help:"auto: the fastest; for comparison sgct, joinless, icpi (iCPI-tree), miner (Co-location Miner) and, on a GPU, sgct-rows (SGCT with instances written out), which give the same result"`

	// Parents is the hierarchy, if it is not in a file.
	Parents coloc.Hierarchy
	// Only restricts the answer to these sets of features, each in ascending order; nil means any.
	Only [][]string
}

// MineQuestion declares the parameters of Mine.
var MineQuestion = aboutPlaces(
	declare[Mine]("places", "find kinds of places that are often together", noRoot).
		in("http: /v1/places/patterns; python: mine"),
	func(q *Mine, ctx context.Context, on *Places) (*MineAnswer, error) { return q.Do(ctx, on, nil) })

const noRoot = "root: it has no points: ask a server that was started with some"

// MineAnswer has the patterns of one distance and region, or of several.
type MineAnswer struct {
	*coloc.Report
	Runs  []*coloc.Report `json:"runs,omitempty"`  // one for each distance and region, if there are several
	Notes []string        `json:"notes,omitempty"` // on what was guessed or left out
	Total int             `json:"total"`           // number of patterns found, of which the best may be listed
	// Engine is where the patterns were found; the command leaves it out, as all give the same.
	Engine string `json:"engine,omitempty"`
	// Micros is the duration in microseconds; 0 means that it was not measured.
	Micros int64 `json:"micros,omitempty"`
}

// Mined is one distance and region of an answer as the library gives it, for maps.
type Mined struct {
	Points   *points.Set   // of the region
	Survey   *coloc.Survey // of the points
	Result   *coloc.Result // without patterns that were not asked for
	Report   *coloc.Report // the result with names
	Distance float64       // 0 without one
	Tested   string        // where the rounds of the null model ran; "" without any
}

// Check refuses what contradicts itself, before points are read.
func (q *Mine) Check() error {
	tested := q.Significance > 0
	switch {
	case !q.Distance.Auto && q.Distance.List == nil && q.KNN == 0:
		return errNeighbours
	case q.Level.All && q.KNN > 0:
		return wrongf("level", "all needs coloc.Options.Distance, not coloc.Options.KNN: a point of several levels would be its own nearest neighbour")
	case slices.Contains(q.Distance.List, 0) && q.KNN > 0:
		return &Error{Err: errors.New("coloc.Options.Distance=0 and coloc.Options.KNN: give only one; points at the same position are the nearest")}
	case len(q.Between) == 1:
		return wrongf("between", "want two features or more")
	case q.Alternative != coloc.Attraction && !tested:
		return wrongf("alternative", "it needs significance")
	case q.Alternative != coloc.Attraction && q.Adjust == coloc.MaxT:
		return wrongf("alternative", "adjust max tests attraction only: it compares with the largest index of each round")
	case q.Null == points.Times && tested && q.Within == "":
		return wrongf("null", "times permutes times, which matter only to neighbours in time")
	case q.Bandwidth > 0 && !tested:
		return wrongf("bandwidth", "it needs significance")
	case q.Bandwidth > 0 && !hasBandwidth(q.Null):
		return wrongf("bandwidth", "null %s has none: it is that of inhomogeneous and cluster", q.Null)
	case q.Window != "" && q.Regions != "" && tested:
		return wrongf("window", "it does not go with regions and significance: each region is its own study area")
	case (q.MaxIf > 0 || q.MinConfidence > 0) && !q.Rules:
		return wrongf("rules", "max_if and min_confidence need it")
	}
	most, err := within(q.Within)
	if most > 0 && q.KNN > 0 {
		return &Error{Err: errors.New("coloc.Options.Within needs coloc.Options.Distance, not coloc.Options.KNN")}
	}
	return cmp.Or(err, q.timeWithin(q.Within))
}

// hasBandwidth reports whether a null model has a density that features share.
func hasBandwidth(n points.Null) bool { return n == points.Inhomogeneous || n == points.Cluster }

// moves reports whether the null model moves points, inside a study area.
func (q *Mine) moves() bool { return q.Null != points.Relabel && q.Null != points.Times }

// within reads the largest difference of neighbours in time, in seconds; "" is 0.
func within(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	unit := map[byte]float64{'s': 1, 'm': 60, 'h': 3600, 'd': 86400, 'w': 7 * 86400}[text[len(text)-1]]
	n, err := strconv.ParseFloat(text[:len(text)-1], 64)
	if err != nil || unit == 0 || !(n > 0) || n*unit > 1e12 {
		return 0, &Error{"within", strconv.Quote(text), errors.New("want a number and a unit (s, m, h, d or w), such as 7d")}
	}
	return int64(n * unit), nil
}

// Do finds the patterns. each, unless it is nil, is called with each distance and region.
func (q *Mine) Do(ctx context.Context, on *Places, each func(*Mined) error) (a *MineAnswer, err error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	if err := q.Check(); err != nil {
		return nil, err
	}
	a = &MineAnswer{}
	tell := on.told(&a.Notes)
	all := *on
	if all.Set, err = q.Area.of(ctx, on, q.Significance > 0 && q.moves() && q.Regions == "", tell); err != nil {
		return nil, err
	}
	if all.Set, err = q.choose(&all, tell); err != nil {
		return nil, err
	}
	distances, err := q.distances(ctx, &all, tell)
	if err != nil {
		return nil, err
	}
	parts, err := q.parts(ctx, &all, tell)
	if err != nil {
		return nil, err
	}
	opt := all.options(&Neighbours{KNN: q.KNN})
	opt.MinPrevalence, opt.All, opt.Algorithm = q.MinPrevalence, q.All || q.Level.All, q.Algorithm
	opt.Engine, opt.Device = on.engine(q.OnEngine.Engine), on.Device
	opt.Also = on.also(q.OnEngine.Engine)
	if opt.Within, err = within(q.Within); err != nil {
		return nil, err
	}
	if opt.Within > 0 && on.Set.Time == nil {
		return nil, wrongf("within", "points have no times: name their column with points.ReadOptions.Time")
	}
	if opt.Within > 0 && opt.Engine == engine.GPU { // said before the GPU is opened
		return nil, &Error{Err: errors.New("coloc.Options.Within has no GPU engine: use coloc.Options.Engine=multicore")}
	}
	if opt.Engine == engine.GPU { // opened once for all distances
		if opt.GPU, err = coloc.OpenGPU(on.Device, opt.Also...); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, opt.GPU.Close()) }()
	}
	for _, d := range distances {
		var few []leastQ
		for _, part := range parts {
			if opt.Distance = d; d == 0 && opt.KNN == 0 {
				opt.Distance = coloc.SamePosition
			}
			m := &Mined{Points: part.Points, Distance: d}
			if err := q.mine(ctx, m, opt, len(parts), a); err != nil {
				return nil, err
			}
			m.Report.Region, m.Report.Distance, m.Report.Unit = part.Name, d, all.Set.CRS.DistanceUnit()
			if each != nil {
				if err := each(m); err != nil {
					return nil, err
				}
			}
			few = append(few, q.leastQ(m, len(parts))...)
			if part.Name == "" || len(m.Report.Patterns) > 0 {
				a.Runs = append(a.Runs, m.Report)
			}
		}
		q.reach(few, len(parts), tell)
	}
	if len(a.Runs) == 1 {
		a.Report, a.Runs = a.Runs[0], nil
	}
	return a, nil
}

// Reports lists the reports of all distances and regions.
func (a *MineAnswer) Reports() []*coloc.Report {
	if a.Report != nil {
		return []*coloc.Report{a.Report}
	}
	return a.Runs
}

// mine finds the patterns of one distance and region.
func (q *Mine) mine(ctx context.Context, m *Mined, opt coloc.Options, regions int, a *MineAnswer) (err error) {
	pts := m.Points
	if m.Survey, err = coloc.NewSurvey(pts, opt); err != nil {
		return &Error{Err: err}
	}
	if m.Result, err = m.Survey.Mine(ctx); err != nil {
		return err
	}
	if q.Level.All {
		q.Parents.Unrelated(pts, m.Result, q.All)
	}
	with, err := (&Places{Set: pts}).features("with", q.With)
	if err != nil { // in no pattern of this region
		m.Result.Patterns = nil
	}
	m.Result.With(with)
	if q.Only != nil {
		m.Result.Patterns = slices.DeleteFunc(m.Result.Patterns, func(p coloc.Pattern) bool {
			names := pts.Names(p.Features)
			return !slices.ContainsFunc(q.Only, func(set []string) bool { return slices.Equal(set, names) })
		})
	}
	a.Total += len(m.Result.Patterns)
	a.Engine = m.Result.Engine.String()
	if q.Top > 0 {
		m.Result.Patterns = m.Result.Best(len(m.Result.Patterns))
	}
	m.Report = coloc.NewReport(pts, m.Result)
	if q.Significance > 0 {
		m.Report.Null, m.Report.Rounds = q.Null.String(), q.Significance
		tests, err := m.Survey.Significance(ctx, m.Result.Patterns, coloc.SignificanceOptions{
			Rounds: q.Significance, Null: q.Null, Bandwidth: q.Bandwidth, Seed: q.Seed, Adjust: q.Adjust, Alternative: q.Alternative,
			Tell: func(where string) { m.Tested = where }, Fitted: m.Report.Fitted})
		if err != nil {
			return err
		}
		m.Report.AddSignificance(tests, regions)
	}
	if q.Top > 0 { // after the tests, which correct for all patterns
		m.Result.Patterns = m.Result.Patterns[:min(q.Top, len(m.Result.Patterns))]
		m.Report.Patterns = m.Report.Patterns[:len(m.Result.Patterns)]
	}
	for i := range m.Result.Patterns {
		if q.Instances == 0 {
			break
		}
		list, err := m.Survey.Instances(ctx, m.Result.Patterns[i], q.Instances)
		if err != nil {
			return err
		}
		m.Report.AddInstances(pts, i, list)
	}
	if q.Rules {
		rules, err := m.Survey.Rules(ctx, m.Result.Patterns, q.MaxIf, q.MinConfidence)
		if err != nil {
			return err
		}
		m.Report.AddRules(pts, rules)
	}
	return nil
}

// distances returns the distances to mine; 0 stands for none with KNN.
func (q *Mine) distances(ctx context.Context, on *Places, tell func(string)) ([]float64, error) {
	if !q.Distance.Auto {
		if len(q.Distance.List) == 0 {
			return []float64{0}, nil
		}
		return q.Distance.List, nil
	}
	s, err := points.Summarise(ctx, on.Set, max(1, on.Threads))
	if err != nil {
		return nil, err
	}
	suggested := strings.TrimSpace(fmt.Sprintf("%v %s", s.Suggested, on.Set.CRS.DistanceUnit()))
	tell(fmt.Sprintf("distance %s, the median to the fourth nearest position; distances worth mining are %v to %v",
		suggested, s.Low, s.High))
	return []float64{s.Suggested}, nil
}

// mostRegions is the largest number of cells of a grid.
const mostRegions = 10_000

// parts divides the points by cells of a grid or polygons. Otherwise all points are one part.
func (q *Mine) parts(ctx context.Context, on *Places, tell func(string)) ([]coloc.Part, error) {
	if q.Regions == "" || on.Set.Len() == 0 {
		return []coloc.Part{{Points: on.Set}}, nil
	}
	bad := func(format string, args ...any) error {
		return &Error{"regions", strconv.Quote(q.Regions), fmt.Errorf(format, args...)}
	}
	c, r, ok := strings.Cut(strings.TrimPrefix(q.Regions, "grid:"), "x")
	columns, err1 := strconv.Atoi(c)
	rows, err2 := strconv.Atoi(r)
	switch {
	case ok && err1 == nil && err2 == nil:
		if columns < 1 || rows < 1 || columns*rows > mostRegions {
			return nil, bad("want 1 to %d cells", mostRegions)
		}
		return coloc.Cells(on.Set, columns, rows), nil
	case on.NoFiles:
		return nil, bad("want columns and rows of a grid, such as 4x3")
	case !strings.ContainsAny(q.Regions, "./") && !points.IsDatabase(q.Regions):
		return nil, bad("want columns and rows of a grid, such as 4x3, or a GeoJSON file")
	}
	regions, err := points.ReadRegions(ctx, q.Regions, on.Set.CRS)
	if err != nil {
		return nil, err
	}
	parts, outside := coloc.Regions(on.Set, regions)
	for i := range parts {
		if q.Significance == 0 || !q.moves() {
			break
		}
		at := slices.IndexFunc(regions, func(r points.Region) bool { return r.Name == parts[i].Name })
		if parts[i].Points.Window, err = regions[at].Window(); err != nil {
			return nil, fmt.Errorf("%s: %w", q.Regions, err)
		}
	}
	tell(fmt.Sprintf("%d of %s have points of two features or more; %s lie in none", len(parts),
		counted(len(regions), "region"), counted(outside, "point")))
	return parts, nil
}

func counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// choose applies the hierarchy and between to the points, and checks the names of with.
func (q *Mine) choose(on *Places, tell func(string)) (*points.Set, error) {
	now := *on
	if q.Hierarchy != "" {
		data, err := textfile.ReadFile(q.Hierarchy)
		if err != nil {
			return nil, err
		}
		if q.Parents, err = coloc.ParseHierarchy(data); err != nil {
			return nil, fmt.Errorf("%s: %w", q.Hierarchy, err)
		}
	}
	if q.Parents != nil {
		now.Set = q.climb(on.Set, tell)
	}
	if len(q.Between) > 0 {
		numbers, err := now.features("between", q.Between)
		if err != nil {
			return nil, err
		}
		now.Set = now.Set.Only(numbers)
	}
	_, err := now.features("with", q.With)
	return now.Set, err
}

// climb replaces features by their ancestors or, with all levels, adds these.
func (q *Mine) climb(pts *points.Set, tell func(string)) *points.Set {
	before := len(pts.Features)
	if q.Level.All {
		pts = q.Parents.Spread(pts)
		tell(fmt.Sprintf("replaced %d features by %d of all levels", before, len(pts.Features)))
		return pts
	}
	pts, short := q.Parents.Lift(pts, q.Level.Up)
	tell(fmt.Sprintf("replaced %d features by %d of level %d", before, len(pts.Features), q.Level.Up))
	if len(short) > 0 {
		few := strings.Join(short[:min(5, len(short))], ", ")
		if len(short) > 5 {
			few += " and others"
		}
		of := ""
		if q.Hierarchy != "" {
			of = " in " + q.Hierarchy
		}
		tell(fmt.Sprintf("kept %s without a parent of that level%s: %s", counted(len(short), "feature"), of, few))
	}
	return pts
}
