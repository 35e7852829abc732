package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/collocate/collocate/coloc"
	"github.com/collocate/collocate/internal/given"
)

// PointMap holds what all maps of job places must agree on.
type PointMap struct {
	Points   int64    `json:"points"`         // number of points of all tiles
	Features []string `json:"features"`       // names, sorted; classes refer to them by index
	Distance float64  `json:"distance"`       // largest distance of neighbours
	Unit     string   `json:"unit,omitempty"` // unit of Distance; "" means unknown
}

// MapPlaces classifies the points of some tiles, which are numbered from 0.
func MapPlaces(ctx context.Context, pts *coloc.Points, opt coloc.Options, tiles []int, of int, out io.Writer) (End, error) {
	if err := given.Context(ctx); err != nil {
		return End{}, err
	}
	w := newWriter(out, Places.String(), "map", newTask())
	w.end.Map = &PointMap{int64(pts.Len()), pts.Features, opt.Distance, pts.CRS.DistanceUnit()}
	counts := map[string]uint64{}
	var raw []byte
	for _, i := range tiles {
		err := coloc.Tile(ctx, pts, opt, i, of, func(c *coloc.Class) error {
			w.end.Documents += c.Points
			raw = appendClass(raw[:0], c)
			counts[string(raw)] += uint64(c.Points)
			return nil
		})
		if err != nil {
			return End{}, err
		}
	}
	list := make([]count, 0, len(counts))
	for class, n := range counts {
		list = append(list, count{[]byte(class), n})
	}
	if err := w.writeCounts(kindClasses, list); err != nil {
		return End{}, err
	}
	err := w.Close()
	return w.end, err
}

// MergePlaces mines co-location patterns from the classes of all tiles.
func MergePlaces(ctx context.Context, parts []Input, opt coloc.Options) (*coloc.Result, *PointMap, error) {
	if err := given.Context(ctx); err != nil {
		return nil, nil, err
	}
	var classes []coloc.Class
	t, err := mergeTally(ctx, Places, parts, nil, func(_ int64, a *adder) error {
		for _, n := range a.words {
			c, err := parseClass(n.word)
			if err != nil {
				return err
			}
			if c.Points = int64(n.n); c.Points < 0 {
				return errPayload
			}
			classes = append(classes, c)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, nil, err
	case t.points == nil:
		return nil, nil, errors.New("no part describes the points: want the output of all maps")
	case t.maps.Documents != t.points.Points:
		return nil, nil, fmt.Errorf("the parts have %d of %d points: want every tile once",
			t.maps.Documents, t.points.Points)
	}
	res, err := coloc.MineClasses(ctx, t.points.Features, classes, opt)
	return res, t.points, err
}

// appendClass encodes a class without its number of points: the feature, and for each set the
// number of its features and the distance of each from the one before (starting at -1).
func appendClass(dst []byte, c *coloc.Class) []byte {
	dst = binary.AppendUvarint(dst, uint64(c.Feature))
	for _, set := range c.Sets {
		dst = binary.AppendUvarint(dst, uint64(len(set)))
		last := int32(-1)
		for _, f := range set {
			dst = binary.AppendUvarint(dst, uint64(f-last))
			last = f
		}
	}
	return dst
}

// mostFeatures is larger than the number of features of any points.
const mostFeatures = 1 << 30

func parseClass(raw []byte) (c coloc.Class, err error) {
	feature, ok := uvarint(&raw)
	if !ok || feature >= mostFeatures {
		return c, errPayload
	}
	c.Feature = int32(feature)
	for len(raw) > 0 {
		n, ok := uvarint(&raw)
		if !ok || n == 0 || n > uint64(len(raw)) {
			return c, errPayload
		}
		set, last := make([]int32, n), int64(-1)
		for i := range set {
			gap, ok := uvarint(&raw)
			if last += int64(gap); !ok || gap == 0 || gap > mostFeatures || last >= mostFeatures {
				return c, errPayload
			}
			set[i] = int32(last)
		}
		c.Sets = append(c.Sets, set)
	}
	return c, nil
}
