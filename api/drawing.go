package api

import (
	"context"
	"github.com/collocate/collocate/internal/given"

	"github.com/collocate/collocate/points"
)

// PointsDrawing says which points a server lists for a picture. Pictures are parts of the page, not
// questions that every door answers.
type PointsDrawing struct {
	OfDocuments
	Feature []string `ask:"feature" commas:"" help:"kinds of places, of which there may be several"`
	Limit   int      `ask:"limit" default:"20000" range:"1..200000" help:"most points; if there are more, every n-th is listed"`
}

// Neighbourhood says which points of a picture are neighbours.
type Neighbourhood struct {
	Distance float64 `ask:"distance" range:"0..1.7e308" help:"maximum distance of neighbours, in the unit of the points, or in metres"`
	KNN      int     `ask:"knn" range:"0..1000" help:"the neighbours of a point are its own k nearest points"`
}

// InstancesDrawing says which instances of a pattern are listed.
type InstancesDrawing struct {
	OfDocuments
	Neighbourhood
	Feature []string `ask:"feature" commas:"" help:"the kinds of places of the pattern"`
	Limit   int      `ask:"limit" default:"5000" range:"1..50000" help:"most instances"`
}

// LocalDrawing says of which two features the local quotients are listed.
type LocalDrawing struct {
	Neighbourhood
	PointsDrawing
	Rounds int `ask:"rounds" default:"99" range:"0..999" help:"number of relabellings for the p-values"`
}

// AreaDrawing asks for the outline of the study area.
type AreaDrawing struct {
	Area
	OfDocuments
}

// AreaAnswer is the outline of a study area, in the coordinates of the points.
type AreaAnswer struct {
	Area      float64        `json:"area"`      // in the square of the unit of distances
	Estimated bool           `json:"estimated"` // from the points, as none was given
	Share     float64        `json:"share"`     // of an estimated area in the rectangle around the points
	Rings     [][][2]float64 `json:"rings"`     // borders of parts and of holes, as x and y
}

// Do returns the study area of the points.
func (q *AreaDrawing) Do(ctx context.Context, on *Places) (*AreaAnswer, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	set, err := q.of(ctx, on, true, func(string) {}) // the answer says that it is estimated
	if err != nil {
		return nil, err
	}
	a := &AreaAnswer{Rings: [][][2]float64{}}
	if set.Len() == 0 {
		return a, nil
	}
	var w *points.Window
	if w, a.Area, err = set.StudyArea(ctx); err != nil {
		return nil, err
	}
	a.Rings, a.Estimated, a.Share = w.Rings(), w.Estimated(), w.Share()
	return a, nil
}

// The parameters of pictures.
var (
	PointsDrawingQuestion    = part[PointsDrawing]("points", "the points of features")
	InstancesDrawingQuestion = part[InstancesDrawing]("instances", "the instances of a pattern")
	BareQuestion             = part[struct{}]("bare", "what takes no parameters")
	LocalDrawingQuestion     = part[LocalDrawing]("local", "the local quotients of two features")
	AreaDrawingQuestion      = part[AreaDrawing]("area", "the outline of the study area")
)
