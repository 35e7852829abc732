package serve

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/collocate/collocate/api"
	"github.com/collocate/collocate/coloc"
)

// localAnswer has the local colocation quotient at every point of a feature, as columns. The
// quotient says how much more often than by chance the point's neighbours are of the other feature.
// At points without neighbours, value and p_value are null.
type localAnswer struct {
	From   string     `json:"from"`
	To     string     `json:"to"`
	Rounds int        `json:"rounds"`
	Total  int        `json:"total"` // number of points of from; if there are more than limit, every n-th is listed
	X      []float64  `json:"x"`
	Y      []float64  `json:"y"`
	Value  []*float64 `json:"value"`
	P      []*float64 `json:"p_value"`
}

// local answers with the local quotients of two features.
func (x *exchange) local() {
	var ask api.LocalDrawing
	err := x.asked(api.LocalDrawingQuestion, &ask)
	o, far := neighbourhood(ask.Neighbourhood)
	rounds, limit, names := ask.Rounds, ask.Limit, ask.Feature
	if err = cmp.Or(err, far); err == nil && len(names) != 2 {
		err = &api.Error{Param: "feature", Err: fmt.Errorf("want two of them, not %d", len(names))}
	}
	if !x.hasPoints(&ask.OfDocuments, err) {
		return
	}
	var pair [2]int32
	for i, name := range names {
		f, ok := slices.BinarySearch(x.pts.Features, name)
		if !ok {
			x.refuse(http.StatusBadRequest, fmt.Errorf("no feature %q", name))
			return
		}
		pair[i] = int32(f)
	}
	key := fmt.Sprint("local ", o.Distance, o.KNN, pair, rounds, limit)
	x.cached(key, func(ctx context.Context) ([]byte, error) {
		s, err := x.survey(o)
		if err != nil {
			return nil, err
		}
		_, found, err := s.Quotients(ctx, coloc.QuotientOptions{
			Rounds: rounds, Seed: 1, Local: true, From: pair[:1], To: pair[1:]})
		if err != nil {
			return nil, err
		}
		a := localAnswer{From: names[0], To: names[1], Rounds: rounds, Total: len(found),
			X: []float64{}, Y: []float64{}, Value: []*float64{}, P: []*float64{}}
		step := max(1, (len(found)+limit-1)/limit)
		for i := 0; i < len(found); i += step {
			q := found[i]
			a.X, a.Y = append(a.X, x.pts.X[q.Point]), append(a.Y, x.pts.Y[q.Point])
			a.Value, a.P = append(a.Value, api.Finite(q.Value)), append(a.P, api.Finite(q.P))
		}
		return line(a)
	})
}
