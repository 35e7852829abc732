package model

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/collocate/collocate/bm25"
)

// BM25F is BM25 over the text fields of an index, each with a weight: see package fielded. A K1 of
// 0 means 1.2, and a B of 0 means 0.75; see [Zero].
type BM25F struct {
	K1, B   float64      // saturation, and length normalisation of each field
	Variant bm25.Variant // the formula, any but bm25l; the zero value is that of the papers
	// Weights are the weights of the fields, such as "title=3,body=1"; other fields are ignored. ""
	// means the weights of the schema.
	Weights string
}

// Params returns the parameters with defaults applied.
func (m BM25F) Params() bm25.Params { return ParamsOf(BM25{K1: m.K1, B: m.B, Variant: m.Variant}) }

func (m BM25F) String() string {
	p := m.Params()
	s := fmt.Sprintf("bm25f(k1=%g, b=%g, %v", bm25.Shown(p.K1), bm25.Shown(p.B), p.Variant)
	if m.Weights != "" {
		s += ", " + m.Weights
	}
	return s + ")"
}

// weigher returns an error: a single list does not tell which fields of a document contain the
// word.
func (m BM25F) weigher(*Collection) (Weigher, error) {
	return nil, errors.New("bm25f: scores of operators and phrases cannot be explained; " +
		"use plain words or another model")
}

// IsFielded reports whether a model scores fields, which engines with one list per word do not
// support.
func IsFielded(m Model) bool {
	_, ok := m.(BM25F)
	return ok
}

// ParseFieldWeights parses weights such as "title=3,body=1".
func ParseFieldWeights(list string) (map[string]float64, error) {
	weights := map[string]float64{}
	if list == "" {
		return weights, nil
	}
	for item := range strings.SplitSeq(list, ",") {
		name, value, ok := strings.Cut(item, "=")
		name = strings.TrimSpace(name)
		w, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if !ok || name == "" || err != nil || math.IsNaN(w) || w < 0 || w > 1e6 {
			return nil, fmt.Errorf("field weights %q: want fields with weights from 0 to 1,000,000, such as title=3,body=1", list)
		}
		if _, twice := weights[name]; twice {
			return nil, fmt.Errorf("field weights %q: field %q is given twice", list, name)
		}
		weights[name] = w
	}
	return weights, nil
}
