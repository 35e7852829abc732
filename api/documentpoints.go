package api

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/collocate/collocate/fields"
	"github.com/collocate/collocate/index/columns"
	"github.com/collocate/collocate/index/segments"
	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/points"
	"github.com/collocate/collocate/search"
	"github.com/collocate/collocate/search/query"
)

// OfDocuments says which documents of an index are the points of a question about places, instead
// of the points that a server was started with.
type OfDocuments struct {
	FeatureField  string `ask:"feature_field" group:"Documents as points" not:"command python mcp: they take points from files and arrays; root: it has no points: ask a server that has the index" help:"of an index, below /v1/indexes/NAME: the keyword field with the kinds of places; a document with several values is a point of each"`
	PositionField string `ask:"position_field" group:"Documents as points" not:"command python mcp: they take points from files and arrays; root: it has no points: ask a server that has the index" help:"the geo field with the positions of documents, which may be left out if there is only one; or two number fields, such as x,y, with plane coordinates"`
	TimeField     string `ask:"time_field" group:"Documents as points" not:"command python mcp: they take points from files and arrays; root: it has no points: ask a server that has the index" help:"the date field with the times of documents; without it the points have no times"`
	Filter        string `ask:"filter" group:"Documents as points" not:"command python mcp: they take points from files and arrays; root: it has no points: ask a server that has the index" help:"only documents that match this query; all of its parts must match, unless it says OR"`
}

// OfDocumentsQuestion declares the parameters of OfDocuments, for requests that have no others.
var OfDocumentsQuestion = part[OfDocuments]("documents as points", "which documents are points")

// OfDocumentsIn returns the part of a question that says which documents are its points.
func OfDocumentsIn(question any) *OfDocuments {
	return reflect.ValueOf(question).Elem().FieldByName("OfDocuments").Addr().Interface().(*OfDocuments)
}

// maxDocumentPoints bounds the memory of points of documents, 28 bytes each.
const maxDocumentPoints = 10_000_000

// field returns the field of a type that a parameter names, or the only one.
func (q *OfDocuments) field(s *fields.Schema, param, name string, of fields.Type) (string, error) {
	if s == nil {
		return "", wrongf(param, "the documents of the index have no fields")
	}
	var names []string
	for _, i := range s.Of(of) {
		names = append(names, s.Fields[i].Name)
	}
	switch at := s.Find(name); {
	case len(names) == 0:
		return "", wrongf(param, "the index has no field of type %s", of)
	case name == "" && len(names) == 1:
		return names[0], nil
	case name == "":
		return "", wrongf(param, "name a field: %s", strings.Join(names, " or "))
	case at < 0 || s.Fields[at].Type != of:
		return "", wrongf(param, "%q is no field of type %s: want %s", name, of, strings.Join(names, " or "))
	}
	return name, nil
}

// Set returns the points, in the order of the documents and of the names of kinds. A document
// without a position, without a kind, or without a time if times are wanted, is none.
func (q *OfDocuments) Set(ctx context.Context, s *search.Searcher) (*points.Set, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	schema := s.Index().Schema()
	kind, err := q.field(schema, "feature_field", q.FeatureField, fields.Keyword)
	if err != nil {
		return nil, err
	}
	set := &points.Set{CRS: points.WGS84}
	var positions []string // a geo field, or two of numbers
	if x, y, plane := strings.Cut(q.PositionField, ","); plane && schema != nil && schema.Find(q.PositionField) < 0 {
		set.CRS, positions = nil, []string{strings.TrimSpace(x), strings.TrimSpace(y)}
		for i, name := range positions {
			if positions[i], err = q.field(schema, "position_field", cmp.Or(name, ","), fields.Number); err != nil {
				return nil, err
			}
		}
	} else if one, err := q.field(schema, "position_field", q.PositionField, fields.Geo); err == nil {
		positions = []string{one}
	} else {
		return nil, err
	}
	if q.TimeField != "" {
		if _, err := q.field(schema, "time_field", q.TimeField, fields.Date); err != nil {
			return nil, err
		}
	}
	filter, err := query.ParseFilter(q.Filter, query.Options{Fields: s.Fields()})
	if err != nil {
		return nil, wrong("filter", err)
	}
	within, err := s.Match(ctx, search.Request{Query: query.Within(query.All{}, filter)})
	if err != nil {
		return nil, wrong("filter", err)
	}
	number := map[string]int32{}
	for i, segment := range s.Index().Segments() {
		if err := q.add(ctx, set, number, segment, [4]string{kind, positions[0], strings.Join(positions[1:], ""), q.TimeField}, func(doc int) bool {
			of := within.Of(i)
			return (of == nil || of.Has(uint32(doc))) && (segment.Live == nil || segment.Live.Has(uint32(doc)))
		}); err != nil {
			return nil, err
		}
	}
	if set.Len() == 0 {
		return nil, wrongf("filter", "no document that matches has both a position in %s and a value of %s",
			strings.Join(positions, ", "), kind)
	}
	sorted := slices.Clone(set.Features)
	slices.Sort(sorted)
	for i, f := range set.Feature {
		at, _ := slices.BinarySearch(sorted, set.Features[f])
		set.Feature[i] = int32(at)
	}
	set.Features = sorted
	return set, nil
}

// add appends the points of a segment. number has the features so far.
func (q *OfDocuments) add(ctx context.Context, set *points.Set, number map[string]int32,
	segment segments.Segment, names [4]string, admitted func(doc int) bool) error {
	var list [4]*columns.Column // nil without a name
	for i, name := range names {
		if name == "" {
			continue
		}
		c, err := segment.Column(name)
		if err == nil {
			err = c.Verify(nil)
		}
		if err != nil {
			return fmt.Errorf("field %s: %w", name, err)
		}
		list[i] = c
	}
	kinds, times := list[0], list[3]
	known := map[uint32]int32{} // features by their number in the segment
	var ords []uint32
	for doc := range segment.Docs() {
		if doc%(1<<14) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if !admitted(doc) {
			continue
		}
		x, y, ok := positionOf(list[1], list[2], doc)
		if !ok {
			continue
		}
		var when int64
		if times != nil {
			if when, ok = times.Date(doc); !ok {
				continue
			}
		}
		ords = kinds.Ords(doc, ords[:0])
		if set.Len()+len(ords) > maxDocumentPoints {
			return wrongf("filter", "these are more than %d points: want fewer documents", maxDocumentPoints)
		}
		for _, ord := range ords {
			f, ok := known[ord]
			if !ok {
				name, err := kinds.Value(int(ord))
				if err != nil {
					return err
				}
				if f, ok = number[name]; !ok {
					f = int32(len(set.Features))
					number[name], set.Features = f, append(set.Features, name)
				}
				known[ord] = f
			}
			set.X, set.Y = append(set.X, x), append(set.Y, y)
			if set.Feature = append(set.Feature, f); times != nil {
				set.Time = append(set.Time, floorSeconds(when))
			}
		}
	}
	return nil
}

// positionOf returns the position of a document: a longitude and a latitude of one column, or
// numbers of two.
func positionOf(first, second *columns.Column, doc int) (x, y float64, ok bool) {
	if second == nil {
		at, ok := first.Point(doc)
		y, x = at.Degrees()
		return x, y, ok
	}
	x, hasX := first.Number(doc)
	y, hasY := second.Number(doc)
	return x, y, hasX && hasY
}

// floorSeconds returns whole seconds of milliseconds, also before 1970.
func floorSeconds(millis int64) int64 {
	s := millis / 1000
	if millis%1000 < 0 {
		s--
	}
	return s
}
