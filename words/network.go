package words

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
)

// Network is a graph of words and the associations between them.
type Network struct {
	Nodes []Node // each word once
	Edges []Edge // each pair of different words at most once
}

// Node is a word of a network.
type Node struct {
	Word  string // as in Association
	Count uint64 // its occurrences in the corpus
	x, y  float64
}

// Edge joins two nodes, given by their positions in Network.Nodes.
type Edge struct {
	From, To int     // the nodes of Word1 and Word2 of the association, never the same
	Count    float64 // co-occurrences, as in Association
	Score    float64 // by the first measure
}

// NetworkOf returns the graph of associations. Nodes are in the order in which words occur.
func NetworkOf(list []Association) *Network {
	g := &Network{}
	at := map[string]int{}
	node := func(word string, count uint64) int {
		i, ok := at[word]
		if !ok {
			i = len(g.Nodes)
			at[word] = i
			g.Nodes = append(g.Nodes, Node{Word: word, Count: count})
		}
		return i
	}
	joined := map[[2]int]bool{}
	for _, a := range list {
		e := Edge{From: node(a.Word1, a.F1), To: node(a.Word2, a.F2), Count: a.Count}
		if len(a.Scores) > 0 {
			e.Score = a.Scores[0]
		}
		key := [2]int{min(e.From, e.To), max(e.From, e.To)}
		if e.From != e.To && !joined[key] {
			joined[key] = true
			g.Edges = append(g.Edges, e)
		}
	}
	return g
}

// NetworkFormat returns the function that writes the format of a file name's extension.
func NetworkFormat(path string) (func(*Network, io.Writer) error, error) {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".svg":
		return (*Network).SVG, nil
	case ".graphml":
		return (*Network).GraphML, nil
	case ".gexf":
		return (*Network).GEXF, nil
	}
	return nil, fmt.Errorf("%s: unknown format: want a name that ends in .svg, .graphml or .gexf",
		path)
}

// escape returns a string as XML text.
func escape(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s)) // characters that XML does not allow become U+FFFD
	return b.String()
}

// GraphML writes the network for igraph, networkx, yEd and others.
func (g *Network) GraphML(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprint(b, `<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="word" for="node" attr.name="word" attr.type="string"/>
<key id="frequency" for="node" attr.name="frequency" attr.type="long"/>
<key id="count" for="edge" attr.name="count" attr.type="double"/>
<key id="weight" for="edge" attr.name="weight" attr.type="double"/>
<graph id="words" edgedefault="undirected">
`)
	for i, n := range g.Nodes {
		fmt.Fprintf(b, "<node id=\"n%d\"><data key=\"word\">%s</data><data key=\"frequency\">%d</data></node>\n", i, escape(n.Word), n.Count)
	}
	for i, e := range g.Edges {
		fmt.Fprintf(b, "<edge id=\"e%d\" source=\"n%d\" target=\"n%d\"><data key=\"count\">%g</data><data key=\"weight\">%g</data></edge>\n", i, e.From, e.To, e.Count, e.Score)
	}
	fmt.Fprint(b, "</graph>\n</graphml>\n")
	return b.Flush()
}

// GEXF writes the network for Gephi.
func (g *Network) GEXF(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprint(b, `<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://gexf.net/1.3" version="1.3">
<graph defaultedgetype="undirected">
<attributes class="node"><attribute id="0" title="frequency" type="long"/></attributes>
<attributes class="edge"><attribute id="0" title="count" type="double"/></attributes>
<nodes>
`)
	for i, n := range g.Nodes {
		fmt.Fprintf(b, "<node id=\"%d\" label=\"%s\"><attvalues><attvalue for=\"0\" value=\"%d\"/></attvalues></node>\n", i, escape(n.Word), n.Count)
	}
	fmt.Fprint(b, "</nodes>\n<edges>\n")
	for i, e := range g.Edges {
		fmt.Fprintf(b, "<edge id=\"%d\" source=\"%d\" target=\"%d\" weight=\"%g\"><attvalues><attvalue for=\"0\" value=\"%g\"/></attvalues></edge>\n", i, e.From, e.To, e.Score, e.Count)
	}
	fmt.Fprint(b, "</edges>\n</graph>\n</gexf>\n")
	return b.Flush()
}

// SVG draws the network with a force-directed layout (Fruchterman and Reingold 1991). The same
// network always gives the same picture.
func (g *Network) SVG(w io.Writer) error {
	const size = 900.0
	g.layout()
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" font-family="sans-serif">
<title>Network of %d words and %d associations</title>
<rect width="100%%" height="100%%" fill="#fff"/>
`, size, size, len(g.Nodes), len(g.Edges))
	least, most := math.Inf(1), math.Inf(-1)
	for _, e := range g.Edges {
		least, most = min(least, e.Score), max(most, e.Score)
	}
	at := func(n Node) (x, y float64) { return 70 + n.x*(size-140), 40 + n.y*(size-80) }
	for _, e := range g.Edges {
		x1, y1 := at(g.Nodes[e.From])
		x2, y2 := at(g.Nodes[e.To])
		width := 1.0
		if most > least {
			width += 4 * (e.Score - least) / (most - least)
		}
		fmt.Fprintf(b, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#4477aa\" stroke-opacity=\"0.45\" stroke-width=\"%.1f\"><title>%s, %s: %g (%.4g)</title></line>\n",
			x1, y1, x2, y2, width, escape(g.Nodes[e.From].Word), escape(g.Nodes[e.To].Word), e.Count, e.Score)
	}
	var top uint64 = 1
	for _, n := range g.Nodes {
		top = max(top, n.Count)
	}
	for _, n := range g.Nodes {
		x, y := at(n)
		height := 11 + 11*math.Sqrt(float64(n.Count)/float64(top))
		fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\" text-anchor=\"middle\" dominant-baseline=\"central\" fill=\"#222\" "+
			"stroke=\"#fff\" stroke-width=\"3\" paint-order=\"stroke\">%s<title>%d</title></text>\n", x, y, height, escape(n.Word), n.Count)
	}
	fmt.Fprint(b, "</svg>\n")
	return b.Flush()
}

// layout gives each node a position in the unit square.
func (g *Network) layout() {
	n := len(g.Nodes)
	if n == 0 {
		return
	}
	// Nodes start on a spiral, in their order.
	for i := range g.Nodes {
		r := math.Sqrt((float64(i) + 0.5) / float64(n))
		a := float64(i) * math.Pi * (3 - math.Sqrt(5))
		g.Nodes[i].x, g.Nodes[i].y = r*math.Cos(a), r*math.Sin(a)
	}
	k := math.Sqrt(3 / float64(n)) // the distance at which both forces are equal
	dx, dy := make([]float64, n), make([]float64, n)
	rounds := max(30, min(300, 20_000_000/(n*n+1)))
	for round := range rounds {
		clear(dx)
		clear(dy)
		for i := range g.Nodes {
			for j := range i {
				x, y := g.Nodes[i].x-g.Nodes[j].x, g.Nodes[i].y-g.Nodes[j].y
				f := k * k / max(x*x+y*y, 1e-6)
				dx[i], dy[i], dx[j], dy[j] = dx[i]+f*x, dy[i]+f*y, dx[j]-f*x, dy[j]-f*y
			}
			// A weak pull to the centre keeps unconnected parts of the graph from drifting apart.
			dx[i] -= 0.3 * k * g.Nodes[i].x
			dy[i] -= 0.3 * k * g.Nodes[i].y
		}
		for _, e := range g.Edges {
			x, y := g.Nodes[e.From].x-g.Nodes[e.To].x, g.Nodes[e.From].y-g.Nodes[e.To].y
			f := math.Hypot(x, y) / k
			dx[e.From], dy[e.From], dx[e.To], dy[e.To] = dx[e.From]-f*x, dy[e.From]-f*y, dx[e.To]+f*x, dy[e.To]+f*y
		}
		hot := 0.1 * (1 - float64(round)/float64(rounds))
		for i := range g.Nodes {
			d := math.Hypot(dx[i], dy[i])
			if step := min(d, hot); d > 0 {
				g.Nodes[i].x += dx[i] / d * step
				g.Nodes[i].y += dy[i] / d * step
			}
		}
	}
	stretch := func(get func(*Node) *float64) {
		at := func(i int) float64 { return *get(&g.Nodes[i]) }
		lo, hi := at(0), at(0)
		for i := range g.Nodes {
			lo, hi = min(lo, at(i)), max(hi, at(i))
		}
		for i := range g.Nodes {
			if *get(&g.Nodes[i]) -= lo; hi > lo {
				*get(&g.Nodes[i]) /= hi - lo
			} else {
				*get(&g.Nodes[i]) = 0.5
			}
		}
	}
	stretch(func(n *Node) *float64 { return &n.x })
	stretch(func(n *Node) *float64 { return &n.y })
}
