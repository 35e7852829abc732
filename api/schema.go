package api

import (
	"maps"
	"math"
	"strconv"
	"strings"
)

// Schema describes a parameter in the terms of JSON Schema, which OpenAPI and MCP share.
func (p *Param) Schema() map[string]any {
	if p.shape != nil {
		return maps.Clone(p.shape)
	}
	s := map[string]any{}
	one := s // where the values of a list are described
	switch p.Kind {
	case List:
		one = map[string]any{"type": "string"}
		s["type"], s["items"] = "array", one
	case Numbers:
		one = map[string]any{"type": "number"}
		s["type"], s["items"] = "array", one
	case Whole:
		s["type"] = "integer"
	case Number:
		s["type"] = "number"
	case Switch:
		s["type"] = "boolean"
	default:
		s["type"] = "string"
	}
	if len(p.Values) > 0 && !p.Some {
		one["enum"] = p.Values
	}
	if !math.IsInf(p.Low, -1) {
		if p.Open {
			one["exclusiveMinimum"] = p.Low
		} else {
			one["minimum"] = p.Low
		}
	}
	if !math.IsInf(p.High, 1) {
		one["maximum"] = p.High
	}
	if p.Default == "" || p.Optional { // a client that fills in defaults would give the parameter
		return s
	}
	switch p.Kind {
	case List:
		s["default"] = strings.Split(p.Default, ",")
	case Numbers:
		var list []float64
		for part := range strings.SplitSeq(p.Default, ",") {
			x, _ := strconv.ParseFloat(part, 64) // no error: Fill has parsed it
			list = append(list, x)
		}
		s["default"] = list
	case Whole, Number:
		s["default"], _ = strconv.ParseFloat(p.Default, 64) // no error: Fill has parsed it
	case Switch:
		s["default"] = p.Default == "true"
	default:
		s["default"] = p.Default
	}
	return s
}

// Sentence returns the help as a sentence, for documents that have whole ones.
func (p *Param) Sentence() string {
	help := p.Help
	if p.Words != nil {
		help = p.Usage()
	}
	if p.Optional && p.Default != "" {
		help += "; by default " + p.Default
	}
	return strings.ToUpper(help[:1]) + help[1:] + "."
}

// Schema describes a question as an object of JSON Schema, with what a door takes. Older names are
// not in it, but are allowed.
func (q *Question) Schema(d Door) map[string]any {
	properties := map[string]any{}
	for _, p := range q.At(d) {
		s := p.Schema()
		s["description"] = p.Sentence()
		properties[p.Name] = s
	}
	return map[string]any{"type": "object", "properties": properties}
}
