package serve

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"

	"github.com/collocate/collocate/api"
)

// curveAnswer has the curves of pairs of features. Of two that are named by the parameter feature
// it has the only curve as columns, too, as before there were answers about several.
type curveAnswer struct {
	api.CurveAnswer
	A string `json:"a,omitempty"` // older form: the first feature
	B string `json:"b,omitempty"` // older form: the second

	Distance []float64 `json:"distance,omitempty"`            // older form of the field of curves
	L        numbers   `json:"l,omitempty"`                   // older form of the field of curves
	Expected numbers   `json:"l_expected,omitempty"`          // older form of the field of curves
	Low      numbers   `json:"l_low,omitempty"`               // older form of the field of curves
	High     numbers   `json:"l_high,omitempty"`              // older form of the field of curves
	PCF      numbers   `json:"pair_correlation,omitempty"`    // older form of the field of curves
	Index    numbers   `json:"participation_index,omitempty"` // older form of the field of curves
	IndexExp numbers   `json:"index_expected,omitempty"`      // older form of the field of curves
	IndexLow numbers   `json:"index_low,omitempty"`           // older form of the field of curves
	IndexUp  numbers   `json:"index_high,omitempty"`          // older form of the field of curves

	P       *float64 `json:"p_value,omitempty"` // older form of the field of curves
	At      *float64 `json:"at,omitempty"`      // older form of the field of curves
	Attract *bool    `json:"attract,omitempty"` // older form of the field of curves
}

// numbers encodes NaN and infinities as null, as JSON has no such numbers.
type numbers []*float64

func finite(v []float64) numbers {
	if v == nil {
		return nil
	}
	out := make(numbers, len(v))
	for i := range v {
		if !math.IsNaN(v[i]) && !math.IsInf(v[i], 0) {
			out[i] = &v[i]
		}
	}
	return out
}

// pair returns the numbers of the two features, unless err says that another parameter is wrong.
func (x *exchange) pair(of *api.OfDocuments, err error, names []string) (pair [2]int32, ok bool) {
	if err == nil && len(names) != 2 {
		err = &api.Error{Param: "feature", Err: fmt.Errorf("want two of them, not %d", len(names))}
	}
	if !x.hasPoints(of, err) {
		return pair, false
	}
	for i, name := range names {
		f, ok := slices.BinarySearch(x.pts.Features, name)
		if !ok {
			x.refuse(http.StatusBadRequest, fmt.Errorf("no feature %q", name))
			return pair, false
		}
		pair[i] = int32(f)
	}
	return pair, true
}

// curve answers with the curves of pairs of features.
func (x *exchange) curve() {
	var ask api.Curve
	names, err := x.askedCurve(&ask)
	x.answerPlaces(api.CurveQuestion, &ask, err, func(answer any) any {
		found := answer.(*api.CurveAnswer)
		a := curveAnswer{CurveAnswer: *found}
		if names == nil {
			return a
		}
		c := &found.Found[0]
		a.A, a.B, a.Distance, a.At, a.Attract = names[0], names[1], c.R, &c.At, &c.Attract
		a.L, a.Expected, a.Low, a.High = finite(c.L), finite(c.Expected), finite(c.Low), finite(c.High)
		a.PCF, a.Index, a.P = finite(c.PCF), finite(c.Index), found.Curves[0].PValue
		a.IndexExp, a.IndexLow, a.IndexUp = finite(c.IndexExpected), finite(c.IndexLow), finite(c.IndexHigh)
		return a
	})
}

// askedCurve reads the parameters of a curve, also in the older form: two features by one name.
func (x *exchange) askedCurve(ask *api.Curve) (names []string, err error) {
	api.CurveQuestion.FillAt(api.HTTP, ask)
	values, err := url.ParseQuery(x.r.URL.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("the query of the URL: %w", err)
	}
	if names = values["feature"]; names != nil {
		delete(values, "feature")
		if values.Has("of") || values.Has("near") {
			return nil, errors.New("feature: want it, or of and near")
		}
		if len(names) != 2 {
			return nil, fmt.Errorf("feature: want two of them, not %d", len(names))
		}
		ask.Of, ask.Near = names[:1], names[1:]
	}
	return names, api.CurveQuestion.Values(x.door(), values, ask)
}
