package thesisbench

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/collocate/collocate/bench/report"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/search"
)

// packedList is a list as the index has it: compressed blocks of 128 postings. Two blocks of
// documents are kept decoded, since a partition is bounded while another block is read.
type packedList struct {
	c      index.Cursor
	blocks [2]int
	docs   [2][index.BlockSize]uint32
	last   int // which was used last
	tfsOf  int
	tfs    [index.BlockSize]uint32
}

func newPackedList(in *index.Reader, t index.Term) (*packedList, error) {
	p := &packedList{blocks: [2]int{-1, -1}, tfsOf: -1}
	return p, in.OpenBlocks(t, &p.c)
}

// block decodes the documents of a block.
func (p *packedList) block(b int) *[index.BlockSize]uint32 {
	if p.blocks[p.last] != b {
		if p.last = 1 - p.last; p.blocks[p.last] != b {
			p.blocks[p.last] = b
			p.c.DecodeDocs(b, &p.docs[p.last])
		}
	}
	return &p.docs[p.last]
}

func (p *packedList) doc(i int) uint32 { return p.block(i / index.BlockSize)[i%index.BlockSize] }

func (p *packedList) tf(i int) uint32 {
	if b := i / index.BlockSize; p.tfsOf != b {
		p.tfsOf = b
		p.c.DecodeTFs(b, &p.tfs)
	}
	return p.tfs[i%index.BlockSize]
}

// search is paperList.search by the last documents of blocks, of which it decodes one.
func (p *packedList) search(from int, doc uint32) int {
	b := p.c.FindBlock(from/index.BlockSize, doc)
	if b == p.c.Blocks() {
		return int(p.c.Term.DF)
	}
	n, _ := slices.BinarySearch(p.block(b)[:], doc) // the rest is index.End
	return max(from, b*index.BlockSize+n)
}

// compressed measures the thesis' partitions on compressed lists, which it leaves to future work
// (9.2): the same algorithms as written, on the lists of the index and on plain ones.
func (b *bench) compressed() error {
	if !plain(b.s) {
		return nil
	}
	b.Say("9.2 Partitions of compressed lists")
	const size, row, most = 64, 10, 3
	t := report.Table{Name: "compressed", Title: fmt.Sprintf(
		"WAND with OR as written, one core, partitions of %d, %d in a row, policy local; bytes are those of a posting", size, row),
		Header: []string{"queries", "partition", "plain: ms", "compressed: ms", "times", "plain: bytes", "compressed: bytes", "recall of both"}}
	stats := b.s.Index().Segments()[0].Reader.Stats()
	for _, c := range b.classes {
		for _, cut := range []search.Partition{search.Documents, search.Heterogeneous, search.Homogeneous, search.Adjusted} {
			var ms [2][]float64
			recalled := 0.0
			queries := c.queries[:min(most, len(c.queries))]
			for _, r := range queries {
				want, err := b.exactOf(r, search.Or)
				if err != nil {
					return err
				}
				var found [2][]search.Hit
				for i, newMatch := range []func(*search.Searcher, search.Request, int) (*paperMatch, error){newPaperMatch, newPackedMatch} {
					m, err := newMatch(b.s, r, b.K)
					if err != nil {
						return err
					}
					begin, n := time.Now(), 0
					for n < min(b.Runs, writtenRuns) && (n == 0 || time.Since(begin) < writtenEnough) {
						found[i] = m.parallel(search.WAND, cut, size, row)
						n++
					}
					ms[i] = append(ms[i], time.Since(begin).Seconds()*1e3/float64(n))
					if err := m.err(); err != nil {
						return err
					}
				}
				if !slices.Equal(found[0], found[1]) || (&search.Parallel{Partition: cut}).Exact() && !slices.Equal(found[0], want.Hits) {
					return fmt.Errorf("thesis: %v partitions of compressed lists: the result is not that of plain ones, or not exact", cut)
				}
				recalled += search.Recall(found[0], want.Hits) / float64(len(queries))
				if err := b.ctx.Err(); err != nil {
					return err
				}
			}
			on, in := mean(ms[0]), mean(ms[1])
			t.Rows = append(t.Rows, []string{c.name, cut.String(), format(on), format(in), format(in / on), "8",
				strconv.FormatFloat(stats.BytesPerPosting, 'f', 2, 64), recall(recalled)})
		}
	}
	b.report.Add(report.Section{Title: "9.2 Partitions of compressed lists", Tables: []report.Table{t},
		Text: "The thesis' lists are not compressed; partitions of compressed ones are its future work. Ours are compressed on disk and in memory, in blocks of 128 postings with the last document of each, " +
			"and our engines on cores read them so; the pseudocode as written of the other tables reads plain ones. Here the same pseudocode runs on plain lists, a document and a frequency of 4 bytes each, and on compressed ones: a position is in the block of its number, " +
			"a document is found by the blocks' last ones, and a block is decoded when it is read. Bytes of compressed lists are the mean of the whole index, with skip data and bounds. Answers are equal to the bit. " +
			fmt.Sprintf("Times and recall are means of the first %d queries of a class, each of up to %d runs (fewer once they took %v): other tables have more queries, and so other means. ", most, writtenRuns, writtenEnough) +
			"The thesis' kernels on a GPU can read these blocks, too (`--compressed`); `collocate gpu test` measures them beside those that read document numbers of 4 bytes."})
	return nil
}
