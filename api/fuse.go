package api

import (
	"strings"

	"github.com/collocate/collocate/trec"
)

// Fuse asks for one run of several.
type Fuse struct {
	By      trec.Fusion `ask:"by" also:"method" default:"rrf" help:"rrf: 1/(k+rank); combsum: scores, scaled to 0 to 1 in each topic; combmnz: their sum times the number of runs with the answer; zscore: scores above the lowest, in standard deviations; borda: points by rank. All are added up over the runs"`
	K       float64     `ask:"k" default:"60" above:"0" range:"..1e9" help:"rrf: constant that is added to ranks"`
	Weights []float64   `ask:"weights" range:"0..1e9" help:"weights of the runs, such as 1,0.5; by default 1 for each"`
	Depth   int         `ask:"depth" range:"0.." help:"use only this many answers of each topic of a run; 0 means all"`
	Top     int         `ask:"top" default:"1000" range:"0.." help:"number of answers of each topic; 0 means all"`
	Tag     string      `ask:"tag" default:"fused" not:"python: runs have no tag there" help:"name of the fused run"`
}

// FuseQuestion declares the parameters of Fuse.
var FuseQuestion = answers[*Fused](declare[Fuse]("fuse", "make one run of several", runsAreFiles))

// Fused describes a run that was made of several.
type Fused struct {
	Run     string `json:"run,omitempty"` // the file that has it
	Topics  int    `json:"topics"`        // number of topics
	Answers int    `json:"answers"`       // number of answers to all of them
}

// Do fuses the runs.
func (q *Fuse) Do(runs []*trec.Run) (*trec.Run, error) {
	if q.Tag == "" || strings.ContainsAny(q.Tag, " \t\r\n") {
		return nil, wrongf("tag", "%q: want a name without blanks", q.Tag)
	}
	o := trec.FuseOptions{By: q.By, K: q.K, Depth: q.Depth, Top: q.Top, Tag: q.Tag}
	if len(q.Weights) > 0 {
		if o.Weights = q.Weights; len(q.Weights) != len(runs) {
			return nil, wrongf("weights", "%d of them for %d runs: want one for each", len(q.Weights), len(runs))
		}
	}
	return trec.Fuse(runs, o)
}
