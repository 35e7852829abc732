package main

import (
	"fmt"
	"slices"
	"strings"
)

// head names the columns of results. The last two are percentages of pairs.
const head = "process\tarea\tnull\twindow\tplanted\tsimulations\tplaces\tcurve"

// result is a line of results.
type result struct{ process, area, window, planted, simulations, places, curve string }

// parse reads results of the default null model.
func parse(text string) (list []result, err error) {
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		f := strings.Split(line, "\t")
		switch {
		case i == 0 && line == head:
		case i == 0 || len(f) != 8:
			return nil, fmt.Errorf("line %d: want %q", i+1, head)
		case f[2] == "inhomogeneous":
			list = append(list, result{f[0], f[1], f[3], f[4], f[5], f[6], f[7]})
		}
	}
	return list, nil
}

// tables writes results as Markdown: how often there is dependence where there is none, and the
// power where some was planted. A cell that was not simulated is a dash; other numbers of
// simulations than 1,000 are in parentheses.
func tables(text string) (string, error) {
	list, err := parse(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	write := func(columns []result) {
		columns = slices.DeleteFunc(columns, func(c result) bool { // nothing was simulated
			return !slices.ContainsFunc(list, func(r result) bool { return r.window == c.window && r.planted == c.planted })
		})
		fmt.Fprint(&b, "| points | area |")
		for _, c := range columns {
			fmt.Fprintf(&b, " %s |", c.places)
		}
		fmt.Fprintf(&b, "\n| --- | --- |%s\n", strings.Repeat(" ---: |", len(columns)))
		for _, process := range processes[:3] {
			for _, area := range areas {
				fmt.Fprintf(&b, "| %s | %s |", process, area.name)
				for _, c := range columns {
					cell := "–"
					at := slices.IndexFunc(list, func(r result) bool {
						return r.process == process && r.area == area.name && r.window == c.window && r.planted == c.planted
					})
					if at >= 0 {
						cell = map[string]string{"places": list[at].places, "curve": list[at].curve}[c.curve]
						if n := list[at].simulations; n != "1000" {
							cell += " (" + n + ")"
						}
					}
					fmt.Fprintf(&b, " %s |", cell)
				}
				fmt.Fprintln(&b)
			}
		}
	}
	write([]result{
		{window: "given", planted: "0", curve: "places", places: "`places`, given"},
		{window: "estimated", planted: "0", curve: "places", places: "estimated"},
		{window: "given", planted: "0", curve: "curve", places: "`curve`, given"},
		{window: "estimated", planted: "0", curve: "curve", places: "estimated"},
	})
	b.WriteByte('\n')
	write([]result{
		{window: "given", planted: "0.35", curve: "places", places: "`places`, 35%"},
		{window: "given", planted: "0.15", curve: "places", places: "15%"},
		{window: "given", planted: "0.35", curve: "curve", places: "`curve`, 35%"},
		{window: "given", planted: "0.15", curve: "curve", places: "15%"},
	})
	return b.String(), nil
}
