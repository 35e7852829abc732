package api

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/points"
)

// Summary asks what the points are like before they are mined.
type Summary struct {
	Area
	PointsReading `not:"http root mcp: the server has read the points when it started"`
	OfDocuments
}

// SummaryQuestion declares the parameters of Summary.
var SummaryQuestion = aboutPlaces(declare[Summary]("places summary",
	"describe points before they are mined: extent, likely errors, distances worth mining", noRoot,
	"gpu: it is quick on cores"), (*Summary).Do)

// Do describes the points.
func (q *Summary) Do(ctx context.Context, on *Places) (*points.Summary, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	var notes []string
	set, err := q.Area.of(ctx, on, false, func(note string) { notes = append(notes, on.named(note)) })
	if err != nil {
		return nil, err
	}
	a, err := points.Summarise(ctx, set, max(1, on.Threads))
	if err != nil {
		return nil, err
	}
	for i, w := range a.Warnings {
		a.Warnings[i] = on.named(w)
	}
	a.Warnings = append(append([]string{}, notes...), a.Warnings...)
	return a, nil
}

// PairsOf restricts an answer to some pairs of features.
type PairsOf struct {
	Of   []string `ask:"of" help:"only pairs whose first feature is one of these"`
	Near []string `ask:"near" help:"only pairs whose second feature is one of these"`
}

// numbers returns the numbers of the features; nil means all.
func (q *PairsOf) numbers(on *Places) (of, near []int32, err error) {
	if of, err = on.features("of", q.Of); err == nil {
		near, err = on.features("near", q.Near)
	}
	return of, near, err
}

// Pairs asks how much more often than by chance the neighbours of points have a feature.
type Pairs struct {
	Neighbours
	PairsOf
	Area
	Rounds int    `ask:"rounds" also:"permutations" default:"99" range:"0.." at:"http: default=0 most=999, an answer takes seconds; mcp: most=999, an answer takes seconds" help:"number of random permutations for p-values; 0 means none"`
	Seed   uint64 `ask:"seed" default:"1" help:"seed of the permutations"`
	Adjusted
	// Kernel weighs the neighbours of local quotients.
	Kernel        coloc.Kernel `ask:"kernel" default:"box" not:"http python mcp: the quotients of whole features need none" help:"weight of neighbours by distance in the quotients at every point; box: all equal; gaussian and bisquare: near ones count more"`
	PointsReading `not:"http root mcp: the server has read the points when it started"`
	OfDocuments

	// Local asks for the quotient at every point, too.
	Local bool
}

// PairsQuestion declares the parameters of Pairs.
var PairsQuestion = aboutPlaces(declare[Pairs]("places pairs", "tell which features are near one another more often than by chance (colocation quotients)",
	noRoot, "gpu: it is quick on cores").
	in("http: /v1/places/quotients"), (*Pairs).Do)

// PairsAnswer has the colocation quotients of ordered pairs of features.
type PairsAnswer struct {
	Pairs []Pair   `json:"pairs"`           // by the names of the features
	Notes []string `json:"notes,omitempty"` // on what was left out

	// Survey and Local are the points and their quotients as the library has them, for maps.
	Survey *coloc.Survey         `json:"-"`
	Local  []coloc.LocalQuotient `json:"-"` // nil unless they were asked for
}

// Pair is the colocation quotient of two features: 1 is chance, more attraction, less avoidance.
type Pair struct {
	Of       string   `json:"of"`                // feature of the points
	Near     string   `json:"near"`              // feature of their neighbours
	Points   int64    `json:"points"`            // points of Of that have neighbours
	With     int64    `json:"participating"`     // points of Of that have a neighbour of Near
	Total    int64    `json:"total"`             // all points of Of
	Quotient *float64 `json:"quotient"`          // nil if there are none
	PValue   *float64 `json:"p_value,omitempty"` // two-sided; nil without rounds
	QValue   *float64 `json:"q_value,omitempty"` // corrected for all pairs that were asked for
}

// Check refuses a question without neighbours, or with times.
func (q *Pairs) Check() error { return cmp.Or(q.Neighbours.Check(), q.unusedTime()) }

// Do computes the quotients. It replaces on.Set by the points in the study area.
func (q *Pairs) Do(ctx context.Context, on *Places) (*PairsAnswer, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	if err := q.Check(); err != nil {
		return nil, err
	}
	o := coloc.QuotientOptions{Rounds: q.Rounds, Seed: q.Seed, Local: q.Local, Kernel: q.Kernel, Adjust: q.Adjust}
	var err error
	opt := on.options(&q.Neighbours)
	opt.Engine = on.Engine
	a := &PairsAnswer{Pairs: []Pair{}}
	if on.Set, err = q.Area.of(ctx, on, false, on.told(&a.Notes)); err != nil {
		return nil, err
	}
	o.Tell = on.told(&a.Notes)
	if o.From, o.To, err = q.numbers(on); err != nil {
		return nil, err
	}
	s, err := coloc.NewSurvey(on.Set, opt)
	if err != nil {
		return nil, &Error{Err: err}
	}
	found, local, err := s.Quotients(ctx, o)
	if err != nil {
		return nil, err
	}
	a.Survey, a.Local = s, local
	total := on.Set.Totals()
	for _, g := range found {
		if (o.From == nil || slices.Contains(o.From, g.From)) && (o.To == nil || slices.Contains(o.To, g.To)) {
			a.Pairs = append(a.Pairs, Pair{on.Set.Features[g.From], on.Set.Features[g.To], g.Points,
				g.Near, total[g.From],
				Finite(g.Value), Finite(g.P), Finite(g.Q)})
		}
	}
	return a, nil
}

// Finite returns nil for NaN and infinities, which JSON cannot have.
func Finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// Curve asks at which distances features attract or avoid one another.
type Curve struct {
	MaxDistance float64  `ask:"max_distance" short:"d" range:"0.." help:"largest distance; by default half of where edges of the study area can be corrected, a quarter of the shorter side of a rectangle, rounded down to two digits"`
	Of          []string `ask:"of" help:"only pairs of which one feature is one of these"`
	Near        []string `ask:"near" help:"only pairs whose other feature is one of these"`
	Top         int      `ask:"top" also:"strongest" default:"10" range:"0.." at:"python: default=0, a table is not read by eye; http: least=1 most=500, an answer is of limited size; mcp: default=3 least=1 most=20, an assistant reads less" help:"if no features are named, only this many pairs, the strongest; 0 means all"`
	Steps       int      `ask:"steps" also:"bins" default:"50" range:"1..10000" at:"http: most=500, an answer takes seconds; mcp: default=20 most=100, an assistant reads less" help:"number of distances, evenly spaced up to the largest"`

	Within string `ask:"within" help:"only pairs of points at most this long apart, such as 7d, 12h or 30m: space-time K, divided by K of times; the points must have times, which null times permutes"`

	Correction points.Correction `ask:"correction" default:"translation" help:"correction of K, L and pair correlation for the edges of the study area"`
	Intensity  points.Intensity  `ask:"intensity" default:"uniform" help:"also inhomogeneous K and pair correlation, for a density that all features share, or each feature's own; bandwidth is that of its kernel"`

	Kernel          points.Kernel  `ask:"kernel" group:"Pair correlation" default:"epanechnikov" help:"kernel of the pair correlation"`
	KernelBandwidth float64        `ask:"kernel_bandwidth" group:"Pair correlation" range:"0.." help:"standard deviation of that kernel; by default Stoyan's rule, 0.067 / sqrt(density)"`
	Divisor         points.Divisor `ask:"divisor" group:"Pair correlation" default:"r" help:"divide pairs of points by the distance of the curve, or by their own (d), which is less biased near 0"`

	Rounds   int             `ask:"rounds" group:"Significance" default:"99" range:"0.." at:"http mcp: most=999, an answer takes seconds" help:"rounds of the null model for envelopes and p-values; 0 means none"`
	Envelope points.Envelope `ask:"envelope" group:"Significance" default:"deviation" help:"global envelope of L and its p; deviation: by the largest one in standard deviations; rank: by extreme rank lengths, with a p-interval"`
	Null     points.Null     `ask:"null" group:"Significance" default:"inhomogeneous" help:"null model that features are compared with; times: with within only"`
	Adjusted
	Chance
	Area
	OnEngine
	PointsReading `not:"http root mcp: the server has read the points when it started"`
	OfDocuments
}

// CurveQuestion declares the parameters of Curve.
var CurveQuestion = aboutPlaces(declare[Curve]("places curve", "show at which distances two features attract or avoid one another",
	noRoot), (*Curve).Do)

// CurveAnswer has the curves of pairs of features.
type CurveAnswer struct {
	Unit   string        `json:"unit"`             // of distances; "" if it is not known
	Null   string        `json:"null"`             // the null model
	Rounds int           `json:"rounds"`           // of the null model
	Within string        `json:"within,omitempty"` // how long apart pairs of points are at most
	Curves []CurveOfPair `json:"curves"`           // the strongest first, unless features were named
	Notes  []string      `json:"notes,omitempty"`  // on what was estimated or left out
	// StudyArea is the size of the study area, in the square of the unit: edges were corrected
	// there, and the null model moved points in it.
	StudyArea float64 `json:"study_area,omitempty"`
	// Bandwidth is that of the null model's density that all features share; 0 if it was found
	// uniform, or the null model has none.
	Bandwidth float64 `json:"bandwidth,omitempty"`

	Found []points.Curve `json:"-"` // as the library has them
}

// CurveOfPair relates two features by distance.
type CurveOfPair struct {
	A      string   `json:"a"`       // one feature
	B      string   `json:"b"`       // the other
	TotalA int64    `json:"total_a"` // points of A
	TotalB int64    `json:"total_b"` // points of B
	PValue *float64 `json:"p_value"` // tests all distances at once; nil without rounds
	QValue *float64 `json:"q_value"` // corrected for all pairs
	// PInterval has the least and the largest p-value that ties of extreme ranks allow.
	PInterval []float64    `json:"p_interval,omitempty"`
	At        float64      `json:"at"`      // the distance of the largest deviation
	Z         *float64     `json:"z"`       // the deviation in standard deviations; nil without rounds
	Attract   bool         `json:"attract"` // whether it is upwards
	Points    []CurvePoint `json:"points"`  // by distance
}

// CurvePoint is a curve at one distance. Expected values and bands are nil without rounds. That of
// L is a global envelope, in which 95% of the rounds lie at all distances; that of the index
// contains 95% at each distance by itself.
type CurvePoint struct {
	Distance      float64  `json:"distance"`                                 // largest distance of pairs of points
	K             *float64 `json:"k"`                                        // Ripley's cross K function
	L             *float64 `json:"l"`                                        // sqrt(K/pi)
	LExpected     *float64 `json:"l_expected,omitempty"`                     // mean of L over the rounds
	LLow          *float64 `json:"l_low,omitempty"`                          // of the band
	LHigh         *float64 `json:"l_high,omitempty"`                         // of the band
	PCF           *float64 `json:"pair_correlation"`                         // 1 is chance
	KInhom        *float64 `json:"k_inhomogeneous,omitempty"`                // K of varying intensities
	PCFInhom      *float64 `json:"pair_correlation_inhomogeneous,omitempty"` // the same for pairs
	Index         *float64 `json:"participation_index"`                      // of the pair
	NearA         int64    `json:"participating_a"`                          // points of A with one of B within the distance
	NearB         int64    `json:"participating_b"`                          // points of B with one of A within the distance
	IndexExpected *float64 `json:"index_expected,omitempty"`                 // mean of the index over the rounds
	IndexLow      *float64 `json:"index_low,omitempty"`                      // of the band
	IndexHigh     *float64 `json:"index_high,omitempty"`                     // of the band
}

// Check refuses what contradicts itself, before points are read.
func (q *Curve) Check() error {
	used := q.Rounds > 0 && hasBandwidth(q.Null) || q.Intensity != points.Uniform
	switch {
	case q.Bandwidth > 0 && q.Rounds == 0 && !used:
		return wrongf("bandwidth", "it needs rounds of a null model, or an intensity")
	case q.Bandwidth > 0 && !used:
		return wrongf("bandwidth", "null %s has none: it is that of inhomogeneous and cluster, and of intensity", q.Null)
	}
	return q.timeWithin(q.Within)
}

// Do computes the curves. It replaces on.Set by the points in the study area.
func (q *Curve) Do(ctx context.Context, on *Places) (_ *CurveAnswer, err error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	if err := q.Check(); err != nil {
		return nil, err
	}
	o := points.CurveOptions{Most: q.MaxDistance, Bins: q.Steps, Strongest: q.Top, Rounds: q.Rounds,
		Null: q.Null, Bandwidth: q.Bandwidth, Seed: q.Seed, Memory: on.Memory, Progress: on.Progress,
		Engine: on.statistics(q.OnEngine.Engine), Correction: q.Correction, Intensity: q.Intensity,
		Kernel: q.Kernel, KernelBandwidth: q.KernelBandwidth, Divisor: q.Divisor, Envelope: q.Envelope,
		Adjust: q.Adjust}
	if o.Within, err = within(q.Within); err != nil {
		return nil, err
	}
	a := &CurveAnswer{Unit: on.Set.CRS.DistanceUnit(), Within: q.Within, Null: q.Null.String(), Rounds: q.Rounds, Curves: []CurveOfPair{}}
	if on.Set, err = q.Area.of(ctx, on, true, on.told(&a.Notes)); err != nil {
		return nil, err
	}
	o.Tell = on.told(&a.Notes)
	o.Fitted = func(area, bandwidth float64) { a.StudyArea, a.Bandwidth = area, bandwidth }
	of, near, err := (&PairsOf{q.Of, q.Near}).numbers(on)
	if err != nil {
		return nil, err
	}
	o.Pairs = on.Set.Between(of, near)
	if a.Found, err = points.Curves(ctx, on.Set, o); err != nil {
		return nil, err
	}
	at := func(v []float64, i int) *float64 {
		if v == nil {
			return nil
		}
		return Finite(v[i])
	}
	total := on.Set.Totals()
	for _, c := range a.Found {
		one := CurveOfPair{A: on.Set.Features[c.A], B: on.Set.Features[c.B], TotalA: total[c.A], TotalB: total[c.B],
			PValue: Finite(c.P),
			QValue: Finite(c.Q), At: c.At, Attract: c.Attract}
		if c.Expected != nil { // without rounds, Z has another unit
			one.Z = Finite(c.Z)
			if q.Envelope == points.ByRank {
				one.PInterval = []float64{c.PLow, c.PHigh}
			}
		}
		for i, r := range c.R {
			one.Points = append(one.Points, CurvePoint{r, at(c.K, i), at(c.L, i), at(c.Expected, i), at(c.Low, i),
				at(c.High, i), at(c.PCF, i), at(c.KInhom, i), at(c.PCFInhom, i), at(c.Index, i),
				c.Near[0][i], c.Near[1][i],
				at(c.IndexExpected, i), at(c.IndexLow, i), at(c.IndexHigh, i)})
		}
		a.Curves = append(a.Curves, one)
	}
	return a, nil
}

// CoOccurrence asks how much more often than by chance features are within a distance of each
// other, as in spatial omics.
type CoOccurrence struct {
	MaxDistance float64 `ask:"max_distance" short:"d" needed:"" range:"0.." help:"largest distance"`
	Steps       int     `ask:"steps" default:"50" range:"1..10000" at:"http: most=500, an answer takes seconds" help:"number of distances, evenly spaced up to the largest"`
	Rings       bool    `ask:"rings" help:"count the pairs between one distance and the next, instead of all within each"`
	Area
	OnEngine
	PointsReading `not:"http root mcp: the server has read the points when it started"`
	OfDocuments
}

// CoOccurrenceQuestion declares the parameters of CoOccurrence.
var CoOccurrenceQuestion = aboutPlaces(declare[CoOccurrence]("places co-occurrence",
	"compute the co-occurrence ratio of spatial omics for all pairs of features, by distance", noRoot,
	"mcp: a number for each pair and distance is too much to read; page: places curve has a picture").
	in("python: places.co_occurrence"), (*CoOccurrence).Do)

// CoOccurrenceAnswer has the co-occurrence ratios of all pairs of features, by distance.
type CoOccurrenceAnswer struct {
	Unit      string      `json:"unit"`      // of distances; "" if it is not known
	Distances []float64   `json:"distances"` // in ascending order
	Pairs     []PairRatio `json:"pairs"`     // by the names of the features

	Found *points.CoOccurrence `json:"-"` // as the library has it
}

// PairRatio has the co-occurrence ratios of a pair.
type PairRatio struct {
	Of    string     `json:"of"`    // feature of the points
	Near  string     `json:"near"`  // feature of the points around them
	Ratio []*float64 `json:"ratio"` // by distance, 1 is chance; nil where there are no pairs of points
}

// Check refuses a question without a distance.
func (q *CoOccurrence) Check() error {
	if q.MaxDistance == 0 {
		return wrongf("max_distance", "it is missing: the largest distance, above 0")
	}
	return q.unusedTime()
}

// Do computes the ratios. It replaces on.Set by the points in the study area.
func (q *CoOccurrence) Do(ctx context.Context, on *Places) (*CoOccurrenceAnswer, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	if err := q.Check(); err != nil {
		return nil, err
	}
	var notes []string // only what was left out, which the command tells
	var err error
	if on.Set, err = q.Area.of(ctx, on, false, on.told(&notes)); err != nil {
		return nil, err
	}
	found, err := points.CoOccurrences(ctx, on.Set, points.CoOccurrenceOptions{Most: q.MaxDistance,
		Steps: q.Steps, Rings: q.Rings, Engine: on.statistics(q.OnEngine.Engine), Memory: on.Memory,
		Progress: on.Progress})
	if err != nil {
		return nil, err
	}
	a := &CoOccurrenceAnswer{Unit: on.Set.CRS.DistanceUnit(), Distances: found.Distances,
		Pairs: []PairRatio{}, Found: found}
	for i, row := range found.Ratio {
		for j, values := range row {
			pair := PairRatio{Of: on.Set.Features[i], Near: on.Set.Features[j], Ratio: make([]*float64, len(values))}
			for r, v := range values {
				pair.Ratio[r] = Finite(v)
			}
			a.Pairs = append(a.Pairs, pair)
		}
	}
	return a, nil
}

// Enrichment asks how many neighbours features have in each other, compared with random labels, as
// in spatial omics.
type Enrichment struct {
	Neighbours
	Rounds int    `ask:"rounds" default:"999" range:"2.." at:"http: most=999, an answer takes seconds" help:"number of random permutations for z"`
	Seed   uint64 `ask:"seed" default:"1" help:"seed of the permutations"`
	Area
	OnEngine
	PointsReading `not:"http root mcp: the server has read the points when it started"`
	OfDocuments
}

// EnrichmentQuestion declares the parameters of Enrichment.
var EnrichmentQuestion = aboutPlaces(declare[Enrichment]("places enrichment",
	"count the neighbours of all pairs of features, and compare with random labels", noRoot,
	"mcp page: places pairs tells the same in a number that is easier to read"), (*Enrichment).Do)

// EnrichmentAnswer has the neighbourhood enrichment of all pairs of features.
type EnrichmentAnswer struct {
	Pairs []EnrichedPair `json:"pairs"` // by the names of the features

	Found *points.Enrichment `json:"-"` // as the library has it
}

// EnrichedPair is the neighbourhood enrichment of a pair.
type EnrichedPair struct {
	Of       string   `json:"of"`       // feature of the points
	Near     string   `json:"near"`     // feature of their neighbours
	Count    int64    `json:"count"`    // neighbours of Near that points of Of have
	Expected float64  `json:"expected"` // mean of the permutations
	Z        *float64 `json:"z"`        // nil where all permutations agree
}

// Check refuses a question with no or two definitions of neighbours.
func (q *Enrichment) Check() error {
	if (q.Distance > 0) == (q.KNN > 0) {
		return &Error{Err: errEither}
	}
	return q.unusedTime()
}

// Do counts the neighbours. It replaces on.Set by the points in the study area.
func (q *Enrichment) Do(ctx context.Context, on *Places) (*EnrichmentAnswer, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	if err := q.Check(); err != nil {
		return nil, err
	}
	var notes []string // only what was left out, which the command tells
	var err error
	if on.Set, err = q.Area.of(ctx, on, false, on.told(&notes)); err != nil {
		return nil, err
	}
	found, err := points.Enrich(ctx, on.Set, q.Options(on))
	if err != nil {
		return nil, err
	}
	a := &EnrichmentAnswer{Pairs: []EnrichedPair{}, Found: found}
	for i, row := range found.Count {
		for j, n := range row {
			a.Pairs = append(a.Pairs, EnrichedPair{on.Set.Features[i], on.Set.Features[j], n,
				found.Mean[i][j], Finite(found.Z[i][j])})
		}
	}
	return a, nil
}

// Options returns the options of the library, for callers that have a graph of neighbours.
func (q *Enrichment) Options(on *Places) points.EnrichmentOptions {
	return points.EnrichmentOptions{Distance: q.Distance, KNN: q.KNN, Rounds: q.Rounds, Seed: q.Seed,
		Memory: on.Memory, Progress: on.Progress, Engine: on.statistics(q.OnEngine.Engine)}
}
