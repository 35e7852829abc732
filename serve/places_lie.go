package serve

import (
	"fmt"
	"math"
	"net/http"
	"slices"

	"github.com/collocate/collocate/api"
)

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
