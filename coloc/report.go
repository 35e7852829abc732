package coloc

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/collocate/collocate/points"
)

// Report is a result with the names of features, as it is printed and served. Its JSON is
//
//	{"patterns": [{"features": ["A", "B"], "participation_index": 0.4,
//	  "participation": {"A": {"points": 2, "total": 4}, "B": {"points": 2, "total": 5}}}]}
//
// with expected_index, ratio, p_value, q_value, instances and rules where these were added. The
// caller sets Region, Distance, Unit, Null and Rounds.
type Report struct {
	Region   string  `json:"region,omitempty"`   // part of the map; "" means all of it
	Distance float64 `json:"distance,omitempty"` // 0: any with KNN, otherwise the same position
	Unit     string  `json:"unit,omitempty"`     // unit of the distance, if it is known
	Null     string  `json:"null,omitempty"`     // null model of the tests
	Rounds   int     `json:"rounds,omitempty"`   // of the null model
	// StudyArea is where the null model moved points, in the square of the unit; 0 if it moved
	// none. Bandwidth is that of the density that all features share; 0 if it was found uniform, or
	// the null model has none. Fitted sets both.
	StudyArea float64         `json:"study_area,omitempty"`
	Bandwidth float64         `json:"bandwidth,omitempty"` // see StudyArea
	Patterns  []ReportPattern `json:"patterns"`            // in the order of the result
	Rules     []ReportRule    `json:"rules,omitempty"`     // set by AddRules
}

// ReportPattern is a pattern with the names of its features.
type ReportPattern struct {
	// Features are the names of the pattern's features, in ascending order.
	Features []string `json:"features"`
	// Index is the participation index: the least ratio in Participation, from 0 to 1.
	Index float64 `json:"participation_index"`
	// Participation says for each feature, by name, how many of its points take part.
	Participation map[string]Share `json:"participation"`

	// Expected is the mean index under the null model. It is nil, as are the next three, before
	// AddSignificance.
	Expected *float64 `json:"expected_index,omitempty"`
	// Ratio is Index divided by Expected; nil if Expected is 0.
	Ratio *float64 `json:"ratio,omitempty"`
	// PValue is the share of rounds of the null model, the observed one included, that reach the
	// index.
	PValue *float64 `json:"p_value,omitempty"`
	// QValue is PValue corrected for all patterns, and regions, that could have been found.
	QValue *float64 `json:"q_value,omitempty"`

	// Instances are sets of points that form the pattern, set by AddInstances. Each has one point
	// for each feature, in the order of Features.
	Instances [][]ReportInstance `json:"instances,omitempty"`
}

// Share is the number of points of a feature that take part in a pattern, and the feature's total.
type Share struct {
	Points int64 `json:"points"` // points of the feature that occur in an instance
	Total  int64 `json:"total"`  // all points of the feature
}

// Ratio returns the participation ratio.
func (s Share) Ratio() float64 { return float64(s.Points) / float64(s.Total) }

// ReportInstance is one point of an instance. Row is its number in the input, counted from 1.
type ReportInstance struct {
	Feature string  `json:"feature"` // name of the point's feature
	Row     int     `json:"row"`     // number of the point in the input, from 1
	X       float64 `json:"x"`       // coordinate as in the input, or longitude in degrees
	Y       float64 `json:"y"`       // coordinate as in the input, or latitude in degrees
}

// ReportRule is a rule with the names of its features.
type ReportRule struct {
	If          []string `json:"if"`                      // names of the features of the condition
	Then        []string `json:"then"`                    // names of the features that follow
	Index       float64  `json:"participation_index"`     // index of If and Then together
	Probability float64  `json:"conditional_probability"` // Holding / Instances
	Holding     uint64   `json:"holding"`                 // instances of If that extend to Then
	Instances   uint64   `json:"instances"`               // instances of If
}

// NewReport returns a report of the patterns of a result.
func NewReport(pts *Points, res *Result) *Report {
	r := &Report{Patterns: make([]ReportPattern, len(res.Patterns))}
	for i, p := range res.Patterns {
		rp := ReportPattern{Features: pts.Names(p.Features), Index: p.Index, Participation: make(map[string]Share)}
		for k, f := range p.Features {
			rp.Participation[pts.Features[f]] = Share{p.Counts[k], res.Totals[f]}
		}
		r.Patterns[i] = rp
	}
	return r
}

// WriteTable writes the report as a readable table.
func (r *Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	tested := len(r.Patterns) > 0 && r.Patterns[0].PValue != nil
	if len(r.Patterns) > 0 {
		fmt.Fprint(t, "SIZE\tINDEX\t")
		if tested {
			fmt.Fprint(t, "EXPECTED\tRATIO\tP\tQ\t")
		}
		fmt.Fprint(t, "PATTERN\tPARTICIPATING POINTS\n")
	}
	for _, p := range r.Patterns {
		fmt.Fprintf(t, "%d\t%.4f\t", len(p.Features), p.Index)
		if tested {
			ratio := "-"
			if p.Ratio != nil {
				ratio = fmt.Sprintf("%.2f", *p.Ratio)
			}
			fmt.Fprintf(t, "%.4f\t%s\t%.4g\t%.4g\t", *p.Expected, ratio, *p.PValue, *p.QValue)
		}
		var shares []string
		for _, f := range p.Features {
			s := p.Participation[f]
			shares = append(shares, fmt.Sprintf("%d/%d", s.Points, s.Total))
		}
		fmt.Fprintf(t, "%s\t%s\n", strings.Join(p.Features, ", "), strings.Join(shares, "  "))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, p := range r.Patterns {
		if err := p.writeInstances(w); err != nil {
			return err
		}
	}
	return r.writeRules(w)
}

func (p *ReportPattern) writeInstances(w io.Writer) error {
	if len(p.Instances) == 0 {
		return nil
	}
	if _, err := fmt.Fprintf(w, "\n%s\n", strings.Join(p.Features, ", ")); err != nil {
		return err
	}
	for _, inst := range p.Instances {
		var at []string
		for _, q := range inst {
			at = append(at, fmt.Sprintf("%s #%d (%v, %v)", q.Feature, q.Row, q.X, q.Y))
		}
		if _, err := fmt.Fprintf(w, "  %s\n", strings.Join(at, "  ")); err != nil {
			return err
		}
	}
	return nil
}

func (r *Report) writeRules(w io.Writer) error {
	if len(r.Rules) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "\nPROBABILITY\tINDEX\tRULE\tINSTANCES\n")
	for _, u := range r.Rules {
		fmt.Fprintf(t, "%.4f\t%.4f\t%s => %s\t%d/%d\n", u.Probability, u.Index,
			strings.Join(u.If, ", "), strings.Join(u.Then, ", "), u.Holding, u.Instances)
	}
	return t.Flush()
}

// WriteCSV writes reports as one table, with a line for every feature of every pattern. Patterns
// are numbered from 1 in each report. The last columns are what was tested with, if Rounds is set.
func WriteCSV(w io.Writer, reports ...*Report) error {
	c := csv.NewWriter(w)
	head := []string{"distance", "pattern", "size", "participation_index"}
	tested, regional, cited := false, false, false
	for _, r := range reports {
		regional = regional || r.Region != ""
		cited = cited || r.Rounds > 0
		tested = tested || len(r.Patterns) > 0 && r.Patterns[0].PValue != nil
	}
	if tested {
		head = append(head, "expected_index", "ratio", "p_value", "q_value")
	}
	var test []string
	if cited {
		test = []string{"null", "rounds", "study_area", "bandwidth"}
	}
	if regional {
		head = append([]string{"region"}, head...)
	}
	rows := [][]string{slices.Concat(head, []string{"feature", "points", "total", "participation_ratio", "unit"}, test)}
	for _, r := range reports {
		switch {
		case r.Rounds > 0:
			test = []string{r.Null, strconv.Itoa(r.Rounds), optional(unlessZero(r.StudyArea)), optional(unlessZero(r.Bandwidth))}
		case cited:
			test = make([]string, 4)
		}
		for i, p := range r.Patterns {
			row := []string{ftoa(r.Distance), strconv.Itoa(i + 1), strconv.Itoa(len(p.Features)), ftoa(p.Index)}
			if regional {
				row = append([]string{r.Region}, row...)
			}
			if tested {
				row = append(row, optional(p.Expected), optional(p.Ratio), optional(p.PValue), optional(p.QValue))
			}
			for _, f := range p.Features {
				s := p.Participation[f]
				rows = append(rows, slices.Concat(row, []string{f, strconv.FormatInt(s.Points, 10),
					strconv.FormatInt(s.Total, 10), ftoa(s.Ratio()), r.Unit}, test))
			}
		}
	}
	return c.WriteAll(rows)
}

// WriteRulesCSV writes the rules of reports as one table.
func WriteRulesCSV(w io.Writer, reports ...*Report) error {
	c := csv.NewWriter(w)
	rows := [][]string{{"region", "distance", "unit", "if", "then", "participation_index", "conditional_probability",
		"holding", "instances"}}
	for _, r := range reports {
		for _, u := range r.Rules {
			rows = append(rows, []string{r.Region, ftoa(r.Distance), r.Unit, strings.Join(u.If, ";"),
				strings.Join(u.Then, ";"), ftoa(u.Index), ftoa(u.Probability),
				strconv.FormatUint(u.Holding, 10), strconv.FormatUint(u.Instances, 10)})
		}
	}
	return c.WriteAll(rows)
}

// Fitted notes what a null model chose.
func (r *Report) Fitted(area, bandwidth float64) { r.StudyArea, r.Bandwidth = area, bandwidth }

// Test says in words how patterns were tested, which an article must cite; "" if they were not.
func (r *Report) Test() string {
	if r.Rounds == 0 {
		return ""
	}
	text := fmt.Sprintf("%d rounds of null %s", r.Rounds, r.Null)
	if fit := points.Fit(r.Null, r.StudyArea, r.Bandwidth, r.Unit); fit != "" {
		text += "; " + fit
	}
	return text
}

// AddSignificance adds test results to the patterns, in their order. The number of regions, parts
// of the map that are tested separately, multiplies q.
func (r *Report) AddSignificance(tests []Significance, regions int) {
	for i, t := range tests {
		p := &r.Patterns[i]
		t.Q = min(1, t.Q*float64(regions))
		p.Expected, p.PValue, p.QValue = &t.Expected, &t.P, &t.Q
		if t.Expected > 0 {
			ratio := p.Index / t.Expected
			p.Ratio = &ratio
		}
	}
}

func optional(v *float64) string {
	if v == nil {
		return ""
	}
	return ftoa(*v)
}

// ftoa writes a number as JSON has it: an area of 2,500,000 without an exponent.
func ftoa(f float64) string {
	text, _ := json.Marshal(f)
	return string(text)
}

// AddInstances adds instances, which are lists of points, to pattern number i.
func (r *Report) AddInstances(pts *Points, i int, instances [][]int32) {
	p := &r.Patterns[i]
	for _, inst := range instances {
		var named []ReportInstance
		for _, q := range inst {
			named = append(named, ReportInstance{pts.Features[pts.Feature[q]], pts.Row(q), pts.X[q], pts.Y[q]})
		}
		p.Instances = append(p.Instances, named)
	}
}

// AddRules adds rules to the report.
func (r *Report) AddRules(pts *Points, rules []Rule) {
	for _, u := range rules {
		r.Rules = append(r.Rules, ReportRule{pts.Names(u.If), pts.Names(u.Then), u.Index,
			u.Probability(), u.Holding, u.Instances})
	}
}
