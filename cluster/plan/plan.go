// Package plan answers how many machines a collection needs, and what they cost.
//
// All of it is arithmetic with constants that were measured, and with prices that are assumptions.
// Each number comes with the formula that it was computed by:
//
//	p, err := plan.Make(plan.Need{Documents: 1e9, Words: 60, Queries: 2000}, plan.Defaults)
//	for _, row := range p {
//		fmt.Println(row.Name, row.Value, row.Unit, row.Formula)
//	}
//
// Experimental: it may change with any version; package collocate says what may not.
package plan

import (
	"errors"
	"fmt"
	"math"
)

// Need is what a collection is and what is asked of it.
type Need struct {
	Documents int64   // in all
	Words     float64 // of a document, on average
	Text      bool    // the texts are stored
	Positions bool    // the positions of words are kept
	LineIDs   bool    // documents have no IDs but the numbers of their lines
	Queries   float64 // a second, at the busiest time
	Commits   float64 // an hour
	Replicas  int     // machines that have the same part, at least; 0 means 2
	P99       float64 // seconds within which 99 of 100 queries are to be answered; 0 is no bound
}

// Assumptions are what a machine has, what things cost, and how much of a machine is used.
type Assumptions struct {
	Cores        float64 // of a machine
	Memory, Disk float64 // of a machine, in bytes
	Busy         float64 // how much of the cores queries may use at the busiest time, 0 to 1
	Resident     float64 // how much of the memory an index may take, 0 to 1
	Hour         float64 // price of a machine for an hour
	GBMonth      float64 // price of 1 GB in the store for a month
	Puts, Gets   float64 // price of a million requests that write, and that read
}

// Defaults are the list prices of Amazon's first region in dollars, for a machine with 16 cores.
var Defaults = Assumptions{Cores: 16, Memory: 64e9, Disk: 500e9, Busy: .5, Resident: .7, Hour: .8,
	GBMonth: .023, Puts: 5, Gets: .4}

// Row is a number of a plan.
type Row struct {
	Key     string  `json:"key"`     // such as index_bytes
	Name    string  `json:"name"`    // for people
	Value   float64 `json:"value"`   // in the unit
	Unit    string  `json:"unit"`    // bytes, seconds, dollars, or empty for what is counted
	Formula string  `json:"formula"` // how it was computed, with numbers
}

// Plan is what a collection needs.
type Plan []Row

// Get returns the value of a row, or NaN.
func (p Plan) Get(key string) float64 {
	for i := range p {
		if p[i].Key == key {
			return p[i].Value
		}
	}
	return math.NaN()
}

// mostDocuments is how many documents one index may have.
const mostDocuments = 1<<31 - 1

func (n *Need) check(a *Assumptions) error {
	positive := func(what string, v float64) error {
		if !(v > 0) || math.IsInf(v, 0) {
			return fmt.Errorf("%s: %v: want more than 0", what, v)
		}
		return nil
	}
	share := func(what string, v float64) error {
		if !(v > 0 && v <= 1) {
			return fmt.Errorf("%s: %v: want more than 0 and at most 1", what, v)
		}
		return nil
	}
	none := func(what string, v float64) error {
		if !(v >= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("%s: %v: want 0 or more", what, v)
		}
		return nil
	}
	return errors.Join(positive("documents", float64(n.Documents)), positive("words of a document", n.Words),
		none("queries a second", n.Queries), none("commits an hour", n.Commits),
		none("p99 in seconds", n.P99), none("replicas", float64(n.Replicas)), positive("cores of a machine", a.Cores),
		positive("memory of a machine", a.Memory), positive("disk of a machine", a.Disk),
		share("busy share of the cores", a.Busy), share("share of the memory for the index", a.Resident),
		none("price of an hour", a.Hour), none("price of the store", a.GBMonth),
		none("price of requests", a.Puts), none("price of requests", a.Gets))
}

// Make plans. The error says what is impossible.
func Make(n Need, a Assumptions) (Plan, error) {
	if err := n.check(&a); err != nil {
		return nil, err
	}
	if n.Replicas == 0 {
		n.Replicas = 2
	}
	var p Plan
	row := func(key, name, unit string, value float64, formula string, numbers ...any) float64 {
		p = append(p, Row{key, name, value, unit, fmt.Sprintf(formula, numbers...)})
		return value
	}
	docs, words := float64(n.Documents), float64(n.Documents)*n.Words

	distinct := n.Words * math.Pow(1+n.Words/distinctWords, -distinctPower)
	postings := row("postings", "postings", "", docs*distinct,
		"%s documents × %.3g distinct words each, which is %.3g × (1 + %.3g / %g)^-%g",
		count(docs), distinct, n.Words, n.Words, distinctWords, distinctPower)
	id, position, text := idBytes, 0.0, 0.0
	if n.LineIDs {
		id = 0
	}
	if n.Positions {
		position = positionBytes
	}
	if n.Text {
		text = textBytes
	}
	searched := row("index_bytes", "index", "bytes", postings*postingBytes+docs*id+words*position,
		"%s postings × %g + %s documents × %g + %s words × %g", count(postings), postingBytes, count(docs), id,
		count(words), position)
	stored := row("text_bytes", "stored text", "bytes", words*text, "%s words × %g", count(words), text)

	per := buildSeconds
	if n.Positions {
		per *= buildPositions
	}
	if n.Text {
		per *= buildText
	}
	build := row("build_cpu_seconds", "CPU time to index", "seconds", words*per, "%s words × %s", count(words), span(per))

	parts, why, err := n.parts(&a, postings, searched, stored)
	if err != nil {
		return nil, err
	}
	row("parts", "parts of the index", "", parts, "%s", why)
	query := row("query_seconds", "a query in a part", "seconds", querySeconds(postings/parts),
		"%.3g µs × r^%g + %.3g µs × r, where r is %s postings / %s", queryBlocks*1e6, queryPower, queryScanned*1e6,
		count(postings/parts), count(queryPostings))
	served := row("request_cpu_seconds", "CPU time of a request to a part", "seconds", query+httpSeconds,
		"%s + %s for HTTP", span(query), span(httpSeconds))
	root := 0.0
	if parts > 1 {
		root = rootSeconds + parts*rootPartSeconds
	}
	cores := row("cores", "cores for the queries", "", n.Queries*(parts*served+root)/a.Busy,
		"%g queries a second × (%s parts × %s + %s in the root) / %g busy",
		n.Queries, count(parts), span(served), span(root), a.Busy)
	replicas := row("replicas", "machines for each part", "", max(float64(n.Replicas), math.Ceil(cores/parts/a.Cores)),
		"the larger of %d and %s cores / %s parts / %g cores of a machine", n.Replicas, count(cores), count(parts), a.Cores)
	machines := row("machines", "machines", "", parts*replicas, "%s parts × %s", count(parts), count(replicas))
	row("memory", "memory of each for the index", "bytes", searched/parts+ownBytes,
		"%s / %s + %s of its own", size(searched), count(parts), size(ownBytes))
	row("disk", "disk of each", "bytes", 2*(searched+stored)/parts,
		"2 × (%s + %s) / %s, as a merge writes beside what it reads", size(searched), size(stored), count(parts))
	row("build_seconds", "time to index on these machines", "seconds", build/(machines*a.Cores),
		"%s / (%s machines × %g cores)", span(build), count(machines), a.Cores)
	transport := 0.0
	if parts > 1 {
		transport = rootLatency
	}
	row("latency", "a query, on average", "seconds", query+httpLatency+transport,
		"%s + %s for HTTP + %s for the root", span(query), span(httpLatency), span(transport))
	row("p99", "99 of 100 queries within", "seconds", query*p99Of+httpLatency+transport,
		"%g × %s + %s + %s", p99Of, span(query), span(httpLatency), span(transport))

	const month = 730 // hours
	all := searched + stored
	commits := n.Commits * month
	puts := row("puts", "requests that write, a month", "", parts*segmentPuts+commits*commitPuts,
		"%s parts × %g + %s commits × %g", count(parts), segmentPuts, count(commits), commitPuts)
	gets := row("gets", "requests that read, a month", "",
		machines*(segmentGets+followGets*3600*month+commits*commitSearcherGets)+commits*commitGets,
		"%s machines × (%g to start + %g a second + %s commits × %g) + %s commits × %g", count(machines), segmentGets,
		followGets, count(commits), commitSearcherGets, count(commits), commitGets)
	row("dollars", "price of a month", "dollars", machines*a.Hour*month+all/1e9*a.GBMonth+puts/1e6*a.Puts+gets/1e6*a.Gets,
		"%s machines × %g × %d hours + %s × %g a GB + requests: %.3gM × %g + %.3gM × %g",
		count(machines), a.Hour, month, size(all), a.GBMonth, puts/1e6, a.Puts, gets/1e6, a.Gets)
	return p, nil
}

// querySeconds is the mean CPU time of a query, of 1 to 10 words, for 10 documents.
func querySeconds(postings float64) float64 {
	r := postings / queryPostings
	return queryBlocks*math.Pow(r, queryPower) + queryScanned*r
}

// parts returns into how many parts an index is divided, and why.
func (n *Need) parts(a *Assumptions, postings, searched, stored float64) (parts float64, why string, err error) {
	room := a.Resident*a.Memory - ownBytes
	if room <= 0 {
		return 0, "", fmt.Errorf("memory of a machine: %s: a server takes %s beside the index: want more",
			size(a.Memory), size(ownBytes))
	}
	parts = max(1, math.Ceil(searched/room))
	why = fmt.Sprintf("%s / (%g × %s of memory - %s)", size(searched), a.Resident, size(a.Memory), size(ownBytes))
	if disk := math.Ceil(2 * (searched + stored) / a.Disk); disk > parts {
		parts, why = disk, fmt.Sprintf("2 × %s / %s of disk", size(searched+stored), size(a.Disk))
	}
	if most := math.Ceil(float64(n.Documents) / mostDocuments); most > parts {
		parts, why = most, fmt.Sprintf("%s documents / %s of an index", count(float64(n.Documents)), count(mostDocuments))
	}
	if n.P99 == 0 {
		return parts, why, nil
	}
	left := n.P99 - httpLatency - rootLatency
	if parts == 1 && querySeconds(postings)*p99Of+httpLatency <= n.P99 {
		return parts, why, nil
	}
	if left <= 0 {
		return 0, "", fmt.Errorf("a p99 of %s: HTTP and the root alone take %s: want more", span(n.P99),
			span(httpLatency+rootLatency))
	}
	want := max(parts, 2)
	for want <= mostParts && querySeconds(postings/want)*p99Of > left {
		want++
	}
	if want > mostParts {
		return 0, "", fmt.Errorf("a p99 of %s needs more than %d parts, each of which a root asks: "+
			"want a longer time", span(n.P99), mostParts)
	}
	if want == parts {
		return parts, why, nil
	}
	return want, fmt.Sprintf("as many as let 99 of 100 queries end within %s - %s", span(n.P99),
		span(httpLatency+rootLatency)), nil
}

// count writes a number as people do: 1.5G.
func count(v float64) string {
	for _, u := range []struct {
		least float64
		name  string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e4, "k"}} {
		if v >= u.least {
			if u.name == "k" {
				return fmt.Sprintf("%.3gk", v/1e3)
			}
			return fmt.Sprintf("%.3g%s", v/u.least, u.name)
		}
	}
	return fmt.Sprintf("%.4g", v)
}

func size(v float64) string {
	for _, u := range []struct {
		least float64
		name  string
	}{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if v >= u.least {
			return fmt.Sprintf("%.3g %s", v/u.least, u.name)
		}
	}
	return fmt.Sprintf("%.3g bytes", v)
}

// span writes a time in the unit that suits it.
func span(seconds float64) string {
	switch {
	case seconds == 0:
		return "0"
	case seconds < 1e-3:
		return fmt.Sprintf("%.3g µs", seconds*1e6)
	case seconds < 1:
		return fmt.Sprintf("%.3g ms", seconds*1e3)
	case seconds < 600:
		return fmt.Sprintf("%.3g s", seconds)
	case seconds < 36000:
		return fmt.Sprintf("%.3g min", seconds/60)
	}
	return fmt.Sprintf("%.4g hours", seconds/3600)
}

// Text writes the value of a row with its unit.
func (r *Row) Text() string {
	switch r.Unit {
	case "bytes":
		return size(r.Value)
	case "seconds":
		return span(r.Value)
	case "dollars":
		return fmt.Sprintf("%.0f", r.Value)
	}
	return count(r.Value)
}
