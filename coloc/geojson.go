package coloc

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/paulmach/orb"
	"github.com/paulmach/orb/geojson"
)

// WriteGeoJSON writes a FeatureCollection for a map. For each pattern (numbered
// from 1 by "pattern") there is a MultiLineString with the edges of instances
// that between them hold every participating point, and a Point for each
// participating point, with its feature and row (from 1) in the input.
func (s *Survey) WriteGeoJSON(ctx context.Context, w io.Writer, patterns []Pattern) error {
	b := bufio.NewWriter(w)
	if _, err := b.WriteString(`{"type":"FeatureCollection","features":[`); err != nil {
		return err
	}
	first := true
	put := func(f *geojson.Feature) error {
		sep := ",\n"
		if first {
			sep, first = "\n", false
		}
		if _, err := b.WriteString(sep); err != nil {
			return err
		}
		data, err := json.Marshal(f)
		if err != nil {
			return fmt.Errorf("writing GeoJSON: %w", err)
		}
		_, err = b.Write(data)
		return err
	}
	for i, p := range patterns {
		if err := s.putPattern(ctx, i+1, p, put); err != nil {
			return err
		}
	}
	if _, err := b.WriteString("\n]}\n"); err != nil {
		return err
	}
	return b.Flush()
}

func (s *Survey) putPattern(ctx context.Context, number int, p Pattern, put func(*geojson.Feature) error) error {
	shown, err := s.show(ctx, p)
	if err != nil {
		return err
	}
	edges := orb.MultiLineString{}
	for _, clique := range shown.cliques {
		for i, a := range clique {
			for _, b := range clique[:i] {
				edges = append(edges, orb.LineString{s.position(b), s.position(a)})
			}
		}
	}
	f := geojson.NewFeature(edges)
	f.Properties["pattern"] = number
	f.Properties["features"] = s.pts.Names(p.Features)
	f.Properties["participation_index"] = p.Index
	if err := put(f); err != nil {
		return err
	}
	in := make(map[int32]bool, len(p.Features))
	for _, f := range p.Features {
		in[f] = true
	}
	for place, part := range shown.part {
		if !part {
			continue
		}
		for k := s.g.first[place]; k < s.g.first[place+1]; k++ {
			if !in[s.g.feat[k]] {
				continue
			}
			for _, m := range s.g.pointsOf(k) {
				f := geojson.NewFeature(orb.Point{s.pts.X[m], s.pts.Y[m]})
				f.Properties["pattern"] = number
				f.Properties["feature"] = s.pts.Features[s.g.feat[k]]
				f.Properties["row"] = m + 1
				if err := put(f); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// position is where a place's first point was put in the input.
func (s *Survey) position(place int32) orb.Point {
	m := s.g.membersOf(place)[0]
	return orb.Point{s.pts.X[m], s.pts.Y[m]}
}
