package words

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/collocate/collocate/internal/given"
	"github.com/collocate/collocate/text"
)

// Plot is a dispersion plot: the positions of matches in a corpus, a row for each query.
type Plot struct {
	Words uint64 // of the corpus
	// Borders are the ends of documents, as shares of the corpus; nil if they are too many to draw.
	Borders []float64
	Rows    []PlotRow // in the order of the queries
}

// PlotRow holds the matches of one query.
type PlotRow struct {
	Query  string    `json:"query"`  // as it was given
	Count  int       `json:"count"`  // number of matches, the length of Places
	Places []float64 `json:"places"` // shares of the corpus: 0 is its beginning, 1 its end
}

// mostBorders is the largest number of documents whose borders are drawn.
const mostBorders = 200

// PlotOf finds the positions of queries in a corpus, which it reads once.
func PlotOf(ctx context.Context, corpus *text.Corpus, an text.Analyzer, queries []string,
	threads int) (*Plot, error) {
	if err := given.Context(ctx); err != nil {
		return nil, err
	}
	if len(queries) == 0 {
		return nil, errors.New("a dispersion plot needs a word")
	}
	parsed := make([]*Query, len(queries))
	for i, s := range queries {
		var err error
		if parsed[i], err = ParseQuery(s, an); err != nil {
			return nil, err
		}
	}
	// The matches of a batch are added after those of all batches before it.
	type found struct {
		words   uint64
		places  [][]uint64
		borders []uint64
	}
	with := *corpus
	with.Options.Threads = max(1, threads)
	var (
		mu      sync.Mutex
		waiting = map[int]*found{}
		next    int
		all     = found{places: make([][]uint64, len(queries))}
		tokens  = make([]text.Tokens, with.Options.Threads)
	)
	err := with.Batches(ctx, func(w int, b *text.Batch) error {
		f := &found{places: make([][]uint64, len(queries))}
		t := &tokens[w]
		t.WantSource = true
		for i := range b.Docs {
			doc := b.Docs[i].Text
			if err := an.Analyze(doc, t); err != nil {
				return fmt.Errorf("document %s: %w", b.Docs[i].ID, err)
			}
			ofField, end := t.Sections(nil, b.Docs[i].Breaks), 0
			for p := range t.Words {
				if p == end {
					end, ofField = ofField[0], ofField[1:]
				}
				for k, q := range parsed {
					if q.match(doc, t, p, end) > 0 {
						f.places[k] = append(f.places[k], f.words+uint64(p))
					}
				}
			}
			f.words += uint64(len(t.Words))
			f.borders = append(f.borders, f.words)
			t.Trim()
		}
		mu.Lock()
		defer mu.Unlock()
		waiting[b.Seq] = f
		for {
			f, ok := waiting[next]
			if !ok {
				return ctx.Err()
			}
			delete(waiting, next)
			next++
			for k, list := range f.places {
				for _, p := range list {
					all.places[k] = append(all.places[k], all.words+p)
				}
			}
			for _, p := range f.borders {
				all.borders = append(all.borders, all.words+p)
			}
			all.words += f.words
		}
	})
	if err != nil {
		return nil, err
	}
	if all.words == 0 {
		return nil, errors.New("the corpus has no words")
	}
	p := &Plot{Words: all.words}
	if len(all.borders) <= mostBorders {
		for _, b := range all.borders {
			p.Borders = append(p.Borders, float64(b)/float64(all.words))
		}
	}
	for k, s := range queries {
		row := PlotRow{Query: s, Count: len(all.places[k]), Places: []float64{}}
		for _, at := range all.places[k] {
			row.Places = append(row.Places, float64(at)/float64(all.words))
		}
		p.Rows = append(p.Rows, row)
	}
	return p, nil
}

// SVG draws the plot: a line for each match, from the beginning of the corpus to its end, and grey
// lines between documents.
func (p *Plot) SVG(w io.Writer) error {
	const left, width, height, gap = 170.0, 800.0, 34.0, 12.0
	b := bufio.NewWriter(w)
	full := gap + float64(len(p.Rows))*(height+gap) + 18
	fmt.Fprintf(b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" font-family=\"sans-serif\" font-size=\"13\">\n"+
		"<title>Dispersion of %d queries in %d words</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		left+width+20, full, len(p.Rows), p.Words)
	for i, row := range p.Rows {
		y := gap + float64(i)*(height+gap)
		fmt.Fprintf(b, "<text x=\"%g\" y=\"%g\" text-anchor=\"end\" fill=\"#222\">%s</text>\n",
			left-10, y+height/2, escape(row.Query))
		fmt.Fprintf(b, "<text x=\"%g\" y=\"%g\" text-anchor=\"end\" fill=\"#666\" font-size=\"11\">%d</text>\n", left-10, y+height/2+14, row.Count)
		fmt.Fprintf(b, "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"#f4f4f4\"/>\n",
			left, y, width, height)
		for _, at := range p.Borders[:max(0, len(p.Borders)-1)] {
			x := left + at*width
			fmt.Fprintf(b, "<line x1=\"%.2f\" y1=\"%g\" x2=\"%.2f\" y2=\"%g\" stroke=\"#ccc\" stroke-width=\"0.5\"/>\n", x, y, x, y+height)
		}
		if len(row.Places) > 0 {
			fmt.Fprint(b, "<path stroke=\"#114477\" stroke-width=\"0.8\" stroke-opacity=\"0.6\" d=\"")
			for _, at := range row.Places {
				fmt.Fprintf(b, "M%.2f %gv%g", left+at*width, y, height)
			}
			fmt.Fprint(b, "\"/>\n")
		}
	}
	fmt.Fprintf(b, "<text x=\"%g\" y=\"%g\" fill=\"#666\" font-size=\"11\">%d words, from the first to the last</text>\n</svg>\n", left, full-6, p.Words)
	return b.Flush()
}

// Spread counts the matches of a row in equal parts of the corpus.
func (p *Plot) Spread(row, parts int) *IndexSpread {
	s := &IndexSpread{Counts: make([]uint64, parts), Sizes: make([]uint64, parts)}
	for i, n := range p.Rows[row].Bars(parts) {
		s.Counts[i] = uint64(n)
	}
	begin := uint64(0)
	for i := range uint64(parts) { // a part begins at the first word at or after its share
		end := ((i+1)*p.Words + uint64(parts) - 1) / uint64(parts)
		s.Sizes[i], begin = end-begin, end
	}
	return s
}

// Bars counts the matches of a row in equal parts of the corpus.
func (r PlotRow) Bars(parts int) []int {
	list := make([]int, parts)
	for _, at := range r.Places {
		list[min(int(at*float64(parts)), parts-1)]++
	}
	return list
}
