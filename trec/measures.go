package trec

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Measure is a measure of a topic's answers, with its way of averaging over topics.
type Measure struct {
	Name   string // as in trec_eval, with the cut if there is one: map, P_10
	family *family
	cut    float64
}

// PerTopic reports whether the measure has values by topic. Some exist only as a summary.
func (m Measure) PerTopic() bool {
	return m.family.mean != geometric && m.family.mean != topics && !m.IsRunID()
}

// IsRunID reports whether the measure is runid, which trec_eval counts among the measures. Its
// value is the run's tag.
func (m Measure) IsRunID() bool { return m.family.mean == tag }

// Whole reports whether the measure is a count.
func (m Measure) Whole() bool { return m.family.mean == sum || m.family.mean == topics }

// averaging is the way in which a measure is summarised over topics.
type averaging int

const (
	arithmetic averaging = iota
	geometric
	sum
	topics // the number of topics
	tag    // the tag of the run
)

// family is a measure with all its cuts.
type family struct {
	name string
	cuts []float64 // default cuts; nil if the measure has no cut
	frac bool      // cuts are fractions, named with two decimals
	mean averaging
	calc func(j *judged, cut float64) float64
}

var (
	ranks     = []float64{5, 10, 15, 20, 30, 100, 200, 500, 1000}
	recalls   = []float64{0, .1, .2, .3, .4, .5, .6, .7, .8, .9, 1}
	multiples = []float64{.2, .4, .6, .8, 1, 1.2, 1.4, 1.6, 1.8, 2}
)

// families are in the order in which trec_eval prints them.
var families = []family{
	{name: "runid", mean: tag, calc: func(*judged, float64) float64 { return 0 }},
	{name: "num_q", mean: topics, calc: func(*judged, float64) float64 { return 1 }},
	{name: "num_ret", mean: sum, calc: func(j *judged, _ float64) float64 { return float64(len(j.grades)) }},
	{name: "num_rel", mean: sum, calc: func(j *judged, _ float64) float64 { return float64(j.rel) }},
	{name: "num_rel_ret", mean: sum, calc: func(j *judged, _ float64) float64 { return float64(j.relRet) }},
	{name: "map", calc: (*judged).averagePrecision},
	{name: "gm_map", mean: geometric, calc: (*judged).averagePrecision},
	{name: "Rprec", calc: func(j *judged, _ float64) float64 { return j.precision(j.rel) }},
	{name: "bpref", calc: (*judged).bpref},
	{name: "recip_rank", calc: (*judged).recipRank},
	{name: "iprec_at_recall", cuts: recalls, frac: true, calc: (*judged).interpolated},
	{name: "P", cuts: ranks, calc: func(j *judged, cut float64) float64 { return j.precision(int(cut)) }},
	{name: "recall", cuts: ranks, calc: func(j *judged, cut float64) float64 {
		return ratio(j.relevant(int(cut)), j.rel)
	}},
	{name: "infAP", calc: (*judged).infAP},
	{name: "gm_bpref", mean: geometric, calc: (*judged).bpref},
	{name: "Rprec_mult", cuts: multiples, frac: true, calc: func(j *judged, cut float64) float64 {
		return j.precision(int(cut*float64(j.rel) + 0.9))
	}},
	{name: "utility", calc: func(j *judged, _ float64) float64 {
		return float64(j.relRet - (len(j.grades) - j.relRet))
	}},
	{name: "11pt_avg", calc: func(j *judged, _ float64) float64 {
		total := 0.0
		for _, r := range recalls {
			total += j.interpolated(r)
		}
		return total / float64(len(recalls))
	}},
	{name: "binG", calc: (*judged).binG},
	{name: "G", calc: (*judged).gain},
	{name: "ndcg", calc: func(j *judged, _ float64) float64 { return j.ndcg(math.Inf(1)) }},
	{name: "ndcg_rel", calc: (*judged).ndcgRel},
	{name: "Rndcg", calc: (*judged).ndcgLevels},
	{name: "ndcg_cut", cuts: ranks, calc: (*judged).ndcg},
	{name: "map_cut", cuts: ranks, calc: (*judged).averagePrecision},
	{name: "relative_P", cuts: ranks, calc: func(j *judged, cut float64) float64 {
		return ratio(j.relevant(int(cut)), min(int(cut), j.rel))
	}},
	{name: "success", cuts: []float64{1, 5, 10}, calc: func(j *judged, cut float64) float64 {
		return float64(min(1, j.relevant(int(cut))))
	}},
	{name: "set_P", calc: func(j *judged, _ float64) float64 { return ratio(j.relRet, len(j.grades)) }},
	{name: "set_relative_P", calc: func(j *judged, _ float64) float64 {
		return ratio(j.relRet, min(len(j.grades), j.rel))
	}},
	{name: "set_recall", calc: func(j *judged, _ float64) float64 { return ratio(j.relRet, j.rel) }},
	{name: "set_map", calc: func(j *judged, _ float64) float64 {
		return ratio(j.relRet*j.relRet, len(j.grades)*j.rel)
	}},
	{name: "set_F", calc: func(j *judged, _ float64) float64 {
		p, r := ratio(j.relRet, len(j.grades)), ratio(j.relRet, j.rel)
		if p+r == 0 {
			return 0
		}
		return 2 * p * r / (p + r)
	}},
	{name: "num_nonrel_judged_ret", mean: sum, calc: func(j *judged, _ float64) float64 {
		return float64(len(j.grades) - j.unjudged(len(j.grades)) - j.relRet)
	}},
	{name: "rbp", calc: (*judged).rbp},
	{name: "rbp_resid", calc: (*judged).rbpResidual},
	{name: "unj", cuts: []float64{5, 10, 20}, calc: func(j *judged, cut float64) float64 {
		return ratio(j.unjudged(int(cut)), int(cut))
	}},
}

// official are the measures that trec_eval prints by default.
var official = []string{"runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map",
	"Rprec", "bpref", "recip_rank", "iprec_at_recall", "P"}

// unranked are the measures of trec_eval's group "set".
var unranked = []string{"runid", "num_q", "num_ret", "num_rel", "num_rel_ret", "utility", "set_P",
	"set_relative_P", "set_recall", "set_map", "set_F"}

// notHere are measures of trec_eval that are not supported: they need other files, or are not
// numbers.
var notHere = []string{"relstring", "prefs", "qrels_jg", "map_avgjg", "P_avgjg", "Rprec_mult_avgjg", "yaap"}

// ParseMeasures returns the measures with the given names. A name is "official", "all", a family
// ("P", with its usual cuts), a family with cuts in trec_eval's way ("P.5,10"), or a single measure
// as it is printed ("P_10") or as ir_measures writes it ("P@10", "nDCG@10"). Several names may be
// joined by commas. No name means official.
func ParseMeasures(names ...string) ([]Measure, error) {
	if len(names) == 0 {
		names = []string{"official"}
	}
	var out []Measure
	seen := map[string]bool{}
	add := func(ms []Measure) {
		for _, m := range ms {
			if !seen[m.Name] {
				seen[m.Name] = true
				out = append(out, m)
			}
		}
	}
	for _, spec := range names {
		parts := []string{spec}
		if name, _, cuts := strings.Cut(spec, "."); !cuts || findFamily(name) == nil {
			parts = strings.Split(spec, ",")
		}
		for _, part := range parts {
			ms, err := parseMeasure(strings.TrimSpace(part))
			if err != nil {
				return nil, err
			}
			add(ms)
		}
	}
	return out, nil
}

// SortMeasures sorts measures into the order in which trec_eval prints them.
func SortMeasures(list []Measure) {
	slices.SortStableFunc(list, func(a, b Measure) int {
		return cmp.Or(cmp.Compare(a.family.place(), b.family.place()), cmp.Compare(a.cut, b.cut))
	})
}

// place returns the position at which trec_eval prints a measure.
func (f *family) place() int {
	return slices.IndexFunc(families, func(g family) bool { return g.name == f.name })
}

func findFamily(name string) *family {
	for i := range families {
		if families[i].name == name {
			return &families[i]
		}
	}
	return nil
}

func parseMeasure(spec string) ([]Measure, error) {
	switch spec {
	case "official":
		return ParseMeasures(official...)
	case "set":
		return ParseMeasures(unranked...)
	case "all", "all_trec":
		var out []Measure
		for i := range families {
			out = append(out, families[i].with(families[i].cuts)...)
		}
		return out, nil
	}
	if f := findFamily(spec); f != nil {
		return f.with(f.cuts), nil
	}
	if name, cut, ok := strings.Cut(spec, "@"); ok { // as in ir_measures
		family := atCuts[strings.ToLower(name)]
		if family == "" {
			return nil, unknownMeasure(spec)
		}
		spec = family + "_" + cut
	}
	name, cuts, ok := strings.Cut(spec, ".")
	f := findFamily(name)
	if !ok || f == nil { // P_10, iprec_at_recall_0.10
		i := strings.LastIndexByte(spec, '_')
		if i < 0 {
			return nil, unknownMeasure(spec)
		}
		f, cuts = findFamily(spec[:i]), spec[i+1:]
	}
	if f == nil || f.cuts == nil {
		return nil, unknownMeasure(spec)
	}
	var values []float64
	for c := range strings.SplitSeq(cuts, ",") {
		v, err := strconv.ParseFloat(c, 64)
		if err != nil || !(v >= 0 && v <= 1e9) || !f.frac && v < 1 {
			return nil, fmt.Errorf("measure %q: cut %q: want a positive number", spec, c)
		}
		if !f.frac {
			v = math.Trunc(v)
		}
		values = append(values, v)
	}
	slices.Sort(values)
	return f.with(values), nil
}

// atCuts has the families of measures that are written with @, as in nDCG@10.
var atCuts = map[string]string{"ndcg": "ndcg_cut", "map": "map_cut", "ap": "map_cut", "p": "P", "r": "recall",
	"recall": "recall", "success": "success"}

func unknownMeasure(spec string) error {
	name, parameters, _ := strings.Cut(spec, ".")
	if f := findFamily(name); f != nil && parameters != "" {
		return fmt.Errorf("measure %q: %s takes no parameters here", spec, name)
	}
	for _, missing := range notHere {
		if name == missing || strings.HasPrefix(name, "prefs") || name == "all_prefs" {
			return fmt.Errorf("measure %q of trec_eval is not supported", spec)
		}
	}
	var names []string
	for _, f := range families {
		if f.cuts != nil {
			names = append(names, f.name+"_k")
		} else {
			names = append(names, f.name)
		}
	}
	return fmt.Errorf("unknown measure %q: want official, set, all, or some of %s", spec, strings.Join(names, ", "))
}

func (f *family) with(cuts []float64) []Measure {
	if f.cuts == nil {
		return []Measure{{Name: f.name, family: f}}
	}
	var out []Measure
	for _, c := range cuts {
		name := fmt.Sprintf("%s_%d", f.name, int(c))
		if f.frac {
			name = fmt.Sprintf("%s_%.2f", f.name, c)
		}
		out = append(out, Measure{Name: name, family: f, cut: c})
	}
	return out
}
