package api

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

const pythonFile = "../python/src/collocate/_questions.py"

const pythonHead = `"""What functions take as **asked: made of the declarations in package api, whose tests write it.

Each parameter has its type, its default and what it does. See _asked.py.
"""

import os
from collections.abc import Iterable
from typing import Annotated, Any, Protocol, TypedDict, Union



class Shape(Protocol):
    """Polygons of shapely or geopandas."""

    @property
    def __geo_interface__(self) -> Any: ...


class Matrix(Protocol):
    """An array of NumPy, or what can become one."""

    def __array__(self) -> Any: ...


Names = Union[str, Iterable[str], None]
Path = Union[str, "os.PathLike[str]"]
Outline = Union[str, "os.PathLike[str]", Shape]
Rows = Union[str, "os.PathLike[str]", Matrix]
`

// pythonClass is a class with the parameters of a question, or with those that several have.
type pythonClass struct {
	bases  []string
	params []*Param
}

// pythonClasses are the classes by their names.
type pythonClasses map[string]*pythonClass

// shared are the structs that become classes of their own, since many questions have them.
var shared = map[reflect.Type]string{reflect.TypeFor[Files](): "Files", reflect.TypeFor[Reading](): "Splitting",
	reflect.TypeFor[PointsReading](): "Points", reflect.TypeFor[Area](): "InArea"}

// add adds a class with the parameters that are asked, and with those of the machine if resources
// is true.
func (c pythonClasses) add(name string, q *Question, asked []*Param, resources bool) {
	one := &pythonClass{}
	of := map[reflect.Type][]*Param{}
	for _, p := range asked {
		part := q.partOf(p)
		if of[part] = append(of[part], p); shared[part] == "" {
			one.params = append(one.params, p)
		}
	}
	for part, base := range shared {
		switch {
		case of[part] == nil:
			continue
		case c[base] == nil:
			c[base] = &pythonClass{params: of[part]}
		case !slices.EqualFunc(c[base].params, of[part], func(a, b *Param) bool { return a.Name == b.Name }):
			one.params = append(one.params, of[part]...)
			continue
		}
		one.bases = append(one.bases, base)
	}
	slices.Sort(one.bases)
	if resources {
		one.bases = append(one.bases, "Resources")
	}
	c[name] = one
}

// partOf returns the shared struct that a parameter is of, or nil.
func (q *Question) partOf(p *Param) (part reflect.Type) {
	at := q.kind
	for _, i := range p.field {
		if at = at.Field(i).Type; shared[at] != "" {
			part = at
		}
	}
	return part
}

func (c pythonClasses) String() string {
	var b strings.Builder
	b.WriteString(pythonHead)
	names := slices.Sorted(maps.Keys(c))
	slices.SortStableFunc(names, func(x, y string) int { return len(c[x].bases) - len(c[y].bases) })
	b.WriteString("\n\nclass Resources(TypedDict, total=False):\n" +
		"    threads: Annotated[int, 0, \"number of cores; 0 means all\"]\n" +
		"    memory: Annotated[int, 0, \"bound on working memory in bytes; 0 means 2 GB\"]\n")
	for _, name := range names {
		one := c[name]
		bases := one.bases
		if len(bases) == 0 {
			bases = []string{"TypedDict"}
		}
		fmt.Fprintf(&b, "\n\nclass %s(%s, total=False):\n", name, strings.Join(bases, ", "))
		for _, p := range one.params {
			if line := fmt.Sprintf("    %s: Annotated[%s, %s, %q]", inPython(p), pythonType(p), pythonDefault(p), p.Usage()); len(line) <= 100 {
				b.WriteString(line + "\n")
				continue
			}
			fmt.Fprintf(&b, "    %s: Annotated[\n        %s, %s,\n", inPython(p), pythonType(p), pythonDefault(p))
			for _, line := range quotedLines(p.Usage()) {
				fmt.Fprintf(&b, "        %s\n", line)
			}
			b.WriteString("    ]  # fmt: skip\n")
		}
		if len(one.params) == 0 {
			b.WriteString("    pass\n")
		}
	}
	return b.String()
}

// pythonType returns the type of an argument.
func pythonType(p *Param) string {
	switch {
	case p.File:
		if p.Name == "window" {
			return "Outline"
		}
		if p.Name == "vectors" {
			return "Rows"
		}
		return "Path"
	case p.Name == "crs": // also what pyproj and geopandas have
		return "object"
	case p.Kind == List || p.Kind == Numbers:
		return map[Kind]string{List: "Names", Numbers: "Iterable[float]"}[p.Kind]
	}
	types := []string{}
	add := func(schema map[string]any) {
		kind, ok := schema["type"].(string)
		if kind == "array" {
			ok, kind = true, "Iterable[float]"
		}
		if name := map[string]string{"integer": "int", "number": "float", "boolean": "bool", "string": "str"}[kind]; ok {
			types = append(types, cmp.Or(name, kind))
		}
	}
	schema := p.Schema()
	add(schema)
	if list, ok := schema["oneOf"].([]any); ok {
		for _, one := range list {
			add(one.(map[string]any))
		}
	}
	if len(types) > 1 {
		return "Union[" + strings.Join(types, ", ") + "]"
	}
	return types[0]
}

// pythonDefault returns the default as Python writes it.
func pythonDefault(p *Param) string {
	switch {
	case p.Optional:
		return "None"
	case p.Kind == List || p.Kind == Numbers:
		if p.Default == "" {
			return "()"
		}
	case p.Kind == Switch:
		return map[bool]string{true: "True", false: "False"}[p.Default == "true"]
	}
	if _, err := strconv.ParseFloat(p.Default, 64); err == nil {
		return p.Default
	}
	if p.Default == "" && (p.Kind == Whole || p.Kind == Number) {
		return "0"
	}
	return strconv.Quote(p.Default)
}

// quotedLines writes a text as strings that stand one below the other.
func quotedLines(s string) (lines []string) {
	line := ""
	for word := range strings.SplitAfterSeq(s, " ") {
		if len(strconv.Quote(line+word)) > 90 {
			lines, line = append(lines, strconv.Quote(line)), ""
		}
		line += word
	}
	return append(lines, strconv.Quote(line)+",")
}
