package ask

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/collocate/collocate/bm25"
	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/search/query"
)

// Boost raises the scores of documents by values of their fields. A boost of value v multiplies the
// score by 1 + Weight*v, or adds Weight*v to it. Several are applied in order. Scores are computed
// in float64 and rounded to float32 at the end.
type Boost struct {
	// Name is what Explain shows.
	Name string
	// Fields are number, date and geo fields of the index.
	Fields []string
	// Value returns the value of a document, given those of its Fields: numbers, dates in
	// milliseconds since 1970, and for a geo field latitude and longitude. A field without a value
	// is NaN. What is below 0 or not a number counts as 0, what is above Most as Most. It must give
	// the same value for the same arguments, and may be called by several goroutines.
	Value func(of []float64) float64
	// Match instead of Fields and Value gives documents that it matches the value 1, others 0.
	Match query.Node
	// Most is the largest value. With it, documents that cannot be among the best are skipped; 0
	// means that it is not known, and every document that matches is scored.
	Most float64
	// Weight is the weight of the value; 0 means 1.
	Weight float64
	// Add adds the weighted value to the score.
	Add bool

	args []string // of a function of ParseBoosts, after the field
}

const (
	maxBoosts = 16
	mostScore = 1e30 // sums and products of scores stay finite
)

// The functions of ParseBoosts.
var boostFunctions = []string{"decay", "saturation", "log"}

// ParseBoosts parses boosts with commas between them. See search.ParseBoosts.
func ParseBoosts(s string) (list []Boost, err error) {
	for _, part := range splitOutside(s) {
		b, err := parseBoost(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		list = append(list, b)
	}
	return list, nil
}

// splitOutside divides a text at commas that are not in parentheses.
func splitOutside(s string) (parts []string) {
	depth, from := 0, 0
	for i, c := range s {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth <= 0:
			parts, from = append(parts, s[from:i]), i+1
		}
	}
	return append(parts, s[from:])
}

func parseBoost(s string) (b Boost, err error) {
	const want = "want decay(FIELD, ORIGIN, SCALE), saturation(FIELD, PIVOT) or log(FIELD, MOST), " +
		"with a weight or not, such as 2*log(views, 1000)"
	b = Boost{Name: s, Most: 1, Weight: 1}
	rest := s
	rest, b.Add = strings.CutPrefix(rest, "+")
	if weight, after, ok := strings.Cut(rest, "*"); ok {
		b.Weight, err = strconv.ParseFloat(strings.TrimSpace(weight), 64)
		if err != nil || !(b.Weight > 0 && b.Weight <= 1e6) {
			return b, Refuse("boost %q: weight %q: want a number above 0, at most 1,000,000", s, weight)
		}
		rest = after
	}
	name, inner, ok := strings.Cut(strings.TrimSpace(rest), "(")
	inner, closed := strings.CutSuffix(inner, ")")
	args := strings.Split(inner, ",")
	for i := range args {
		args[i] = strings.TrimSpace(args[i])
	}
	name = strings.TrimSpace(name)
	if !ok || !closed || !slices.Contains(boostFunctions, name) || strings.ContainsAny(inner, "()") || args[0] == "" {
		return b, Refuse("boost %q: %s", s, want)
	}
	b.Fields, b.args = args[:1], append([]string{name}, args[1:]...)
	return b, nil
}

// BindBoosts returns boosts whose functions suit the types of the fields that a schema has; it may
// be nil.
func BindBoosts(list []Boost, schema *fields.Schema) ([]Boost, error) {
	if len(list) > maxBoosts {
		return nil, Refuse("%d boosts: want at most %d", len(list), maxBoosts)
	}
	list = slices.Clone(list)
	for i := range list {
		b := &list[i]
		b.Name = cmp.Or(b.Name, strconv.Itoa(i+1)) // for errors and Explain
		if err := b.bind(schema); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (b *Boost) bind(schema *fields.Schema) error {
	if b.Match != nil {
		if b.Value != nil || len(b.Fields) > 0 || b.Most != 0 {
			return Refuse("boost %q: Match stands alone: leave Fields, Value and Most out", b.Name)
		}
		b.Most, b.Value = 1, func([]float64) float64 { return 0 } // package search knows the documents
	}
	var types []fields.Type
	for _, name := range b.Fields {
		at := schema.Find(name)
		if at < 0 {
			return Refuse("boost %q: unknown field %q: want a number, date or geo field%s",
				b.Name, name, boostable(schema))
		}
		f := &schema.Fields[at]
		if f.Type != fields.Number && f.Type != fields.Date && f.Type != fields.Geo {
			return Refuse("boost %q: %s is a %v field: want a number, date or geo field%s",
				b.Name, name, f.Type, boostable(schema))
		}
		types = append(types, f.Type)
	}
	if b.Weight == 0 {
		b.Weight = 1
	}
	if len(b.args) > 0 {
		if err := b.function(types[0]); err != nil {
			return err
		}
	}
	switch {
	case b.Value == nil:
		return Refuse("boost %q: Value is nil: want a function", b.Name)
	case !(b.Weight > 0 && b.Weight <= 1e6):
		return Refuse("boost %q: weight %v: want more than 0, at most 1,000,000", b.Name, b.Weight)
	case !(b.Most >= 0 && b.Most <= 1e6):
		return Refuse("boost %q: a largest value of %v: want 0 to 1,000,000", b.Name, b.Most)
	}
	return nil
}

// boostable lists the fields that a boost can use.
func boostable(schema *fields.Schema) string {
	if schema == nil {
		return "; the index has none"
	}
	names := schema.Names(func(f *fields.Field) bool {
		return f.Type == fields.Number || f.Type == fields.Date || f.Type == fields.Geo
	})
	if len(names) == 0 {
		return "; the index has none"
	}
	return ": " + strings.Join(names, ", ")
}

// function sets Value by the arguments of ParseBoosts.
func (b *Boost) function(of fields.Type) error {
	name, args := b.args[0], b.args[1:]
	count, usage := 1, map[string]string{"saturation": "saturation(FIELD, PIVOT)", "log": "log(FIELD, MOST)",
		"decay": "decay(FIELD, ORIGIN, SCALE)"}[name]
	switch {
	case name == "decay" && of == fields.Geo:
		count, usage = 3, "decay(FIELD, LATITUDE, LONGITUDE, SCALE)"
	case name == "decay":
		count = 2
	case of != fields.Number:
		return Refuse("boost %q: %s is a %v field: want a number field, or decay", b.Name, b.Fields[0], of)
	}
	if len(args) != count {
		return Refuse("boost %q: want %s", b.Name, usage)
	}
	scale, err := scaleOf(args[count-1], of)
	if err != nil {
		return Refuse("boost %q: %w", b.Name, err)
	}
	switch {
	case name == "saturation":
		b.Value = func(v []float64) float64 { return v[0] / (v[0] + scale) }
	case name == "log":
		most := bm25.Log(1 + scale)
		b.Value = func(v []float64) float64 { return bm25.Log(1+v[0]) / most }
	case of == fields.Geo:
		p, err := fields.ParsePoint([]byte(args[0] + "," + args[1]))
		if err != nil {
			return Refuse("boost %q: %w", b.Name, err)
		}
		lat, lon := p.Degrees()
		b.Value = func(v []float64) float64 { return scale / (scale + metres(lat, lon, v[0], v[1])) }
	default:
		origin, err := originOf(args[0], of)
		if err != nil {
			return Refuse("boost %q: %w", b.Name, err)
		}
		b.Value = func(v []float64) float64 { return scale / (scale + math.Abs(v[0]-origin)) }
	}
	return nil
}

func originOf(s string, of fields.Type) (float64, error) {
	if of == fields.Date {
		ms, err := fields.ParseDate([]byte(s))
		return float64(ms), err
	}
	return fields.ParseNumber([]byte(s))
}

// units of the scales of fields, the longest suffix first.
var units = map[fields.Type][]struct {
	suffix string
	factor float64
}{
	fields.Date: {{"y", 365.25 * 24 * 3600e3}, {"w", 7 * 24 * 3600e3}, {"d", 24 * 3600e3},
		{"h", 3600e3}, {"m", 60e3}, {"s", 1e3}},
	fields.Geo: {{"km", 1000}, {"mi", 1609.344}, {"m", 1}},
}

// scaleOf returns a scale in the unit of a field's values: milliseconds for dates, metres for
// points.
func scaleOf(s string, of fields.Type) (float64, error) {
	number, factor := s, 0.0
	for _, u := range units[of] {
		if n, ok := strings.CutSuffix(s, u.suffix); ok && factor == 0 {
			number, factor = strings.TrimSpace(n), u.factor
		}
	}
	if factor == 0 {
		switch of {
		case fields.Date:
			return 0, Refuse("a scale of %q: want a time, such as 30d (y, w, d, h, m, s)", s)
		case fields.Geo:
			return 0, Refuse("a scale of %q: want a distance, such as 10km (km, m, mi)", s)
		}
		factor = 1
	}
	x, err := fields.ParseNumber([]byte(number))
	if err != nil {
		return 0, err
	}
	if x = float64(x * factor); !(x > 0 && x <= 1e300) {
		return 0, Refuse("%q: want a number above 0", s)
	}
	return x, nil
}

// metres returns the distance of two points on a sphere, in whole metres: so that machines whose
// sines differ in the last bit agree.
func metres(lat1, lon1, lat2, lon2 float64) float64 {
	const earth, degree = 6371008.8, math.Pi / 180
	x, y := math.Sin((lat2-lat1)*degree/2), math.Sin((lon2-lon1)*degree/2)
	h := float64(x*x) + float64(math.Cos(lat1*degree)*math.Cos(lat2*degree)*y)*y
	return math.Round(2 * earth * math.Asin(math.Sqrt(min(1, h))))
}

// Boosted applies boosts to a score. values[i] is the value of boost i.
func Boosted(score float32, boosts []Boost, values []float64) float32 {
	s := float64(score)
	for i := range boosts {
		s = boosts[i].apply(s, values[i])
	}
	return float32(min(s, mostScore))
}

// apply applies a value to a score. Products are rounded before they are added: not every machine
// would do both at once.
func (b *Boost) apply(score, value float64) float64 {
	gain := float64(b.Weight * value)
	if b.Add {
		return score + gain
	}
	return float64(score * float64(1+gain))
}

// Of returns the value of a document, within its bounds.
func (b *Boost) Of(values []float64) float64 {
	v := b.Value(values)
	if !(v > 0) { // NaN, too
		return 0
	}
	if b.Most > 0 {
		return min(v, b.Most)
	}
	return min(v, mostScore)
}

// MostBoosted returns the largest score that documents can have whose score is at most this one. It
// is false if a boost has no bound.
func MostBoosted(score float32, boosts []Boost) (float32, bool) {
	s := float64(score)
	for i := range boosts {
		if boosts[i].Most == 0 {
			return 0, false
		}
		s = boosts[i].apply(s, boosts[i].Most)
	}
	return float32(min(s, mostScore)), true
}
