package eval

import (
	"github.com/collocate/collocate/docset"
	"github.com/collocate/collocate/index"
	"github.com/collocate/collocate/internal/assert"
	"github.com/collocate/collocate/search/internal/model"
	"github.com/collocate/collocate/search/internal/simd"
)

// list is a cursor over the postings of a word of a query, with its scorer and bounds.
type list struct {
	index.Cursor
	pos    int               // in the query
	bm25   *model.BM25Scorer // the usual scorer, called without an interface; else nil
	Scorer model.Scorer
	own    model.BM25Scorer // where it lies
	max    float64          // bound of the whole list
	// lowX has the lowest x of each block (see doc.go), superX of each run of blocks; both are nil
	// if the index has none for the model. scaleX times a stored x is no more than the model's x:
	// see model.BM25Weigher. oneX is room for a list of one block.
	lowX   []float32
	superX []float32
	oneX   [1]float32
	scaleX float32
	lean   bool // being opened by openDocs: a list of one block need not be decoded for its bound

	block       int                  // the block that look moved to; -1: none
	blockBound  float64              // bound of that block
	runEnd      uint32               // last document of the run that begins with it (vbmw)
	windowBound float64              // bound in the window (bmm) or in the leading block (and)
	cells       [cellsInGrid]float32 // bounds of the cells of the grid (bmm)
	gridBlock   int                  // first block of the grid (bmm)
	andBlock    int                  // the block that was looked into last; -1: none (and)
	dense       bool                 // its bitmaps are part of the intersection (and)
	wordsAt     int                  // the block whose bitmap is intersected first (and)
	waitBound   float64              // bound for the candidates that wait (and)

	// What was done, for Stats: postings scored, blocks in which any was, their postings.
	scored, used, decoded int64
	usedUntil             int64 // last document of the last of these blocks; -1: none yet

	// only is a small set of documents that has all answers: postings of other documents are
	// dropped when blocks are decoded. It is nil if there is no such set.
	only *docset.Set

	from, to int  // its part of oneState.found; -1: none
	cutOff   bool // it begins with a later posting than its first, see restrict

	postings buffer // decoded and scored postings of a window
	asked    buffer // scored postings of candidates that were looked up (bmm)
	sparse   bool   // few postings a window: the best score is the window's bound (bmm)
	filled   bool   // the window's postings are in postings, not in asked (bmm)
	marked   marked // state of the list for marking (bmm)

	places [index.BlockSize + simd.KernelSlack]uint32 // buffer of decodeOnly
	kept   []uint32                                   // frequencies of what it leaves of some blocks
}

func (l *list) open(r *index.Reader, t *model.Term, s model.Scorer, pos int) error {
	if err := r.Open(t.Info, &l.Cursor); err != nil {
		return err
	}
	l.begin(s, pos, 0)
	return nil
}

// openBlocks is open for the algorithms that use blocks.
func (l *list) openBlocks(r *index.Reader, t *model.Term, s model.Scorer, pos int) error {
	if err := r.OpenBlocks(t.Info, &l.Cursor); err != nil {
		return err
	}
	l.begin(s, pos, 0)
	return nil
}

// openDocs is openBlocks for mode And, which reads bounds only if much can be skipped, and for
// words whose best posting is known.
func (l *list) openDocs(r *index.Reader, t *model.Term, s model.Scorer, pos int) error {
	if err := r.OpenDocs(t.Info, &l.Cursor); err != nil {
		return err
	}
	l.lean = true
	l.begin(s, pos, t.LowX)
	l.lean = false
	return nil
}

func (l *list) begin(s model.Scorer, pos int, lowX float32) {
	l.only = nil
	l.pos, l.Scorer, l.cutOff = pos, s, false
	l.bm25, _ = s.(*model.BM25Scorer)
	l.openBest(lowX)
	l.restart()
}

// restart returns an open list to its initial state.
func (l *list) restart() {
	l.block, l.blockBound, l.runEnd, l.gridBlock = -1, 0, index.End, 0
	l.scored, l.used, l.decoded, l.usedUntil = 0, 0, 0, -1
	l.postings.reset()
}

func (l *list) Score(tf, length uint32) float32 {
	if l.bm25 != nil {
		return l.bm25.Score(tf, length)
	}
	return l.Scorer.Score(tf, length)
}

// scoreHere scores the current posting.
func (l *list) scoreHere(doc, length uint32) float32 {
	l.scored++
	if int64(doc) > l.usedUntil {
		l.use(l.FindBlock(0, doc))
	}
	return l.Score(l.TF(), length)
}

// use counts a block as used.
func (l *list) use(block int) {
	if block >= len(l.Last) {
		return
	}
	l.used++
	l.usedUntil = int64(l.Last[block])
	l.decoded += int64(l.postingsOf(block))
}

// postingsOf returns the number of postings of a block.
func (l *list) postingsOf(block int) int {
	return min(index.BlockSize, int(l.Term.DF)-block*index.BlockSize)
}

func (l *list) bound(b index.Bound) float32 {
	if l.bm25 != nil {
		return l.bm25.Bound(b)
	}
	return l.Scorer.Bound(b)
}

// look moves to the block that would contain doc, without decoding it. It returns a bound on its
// scores, and its last document; after the last block, 0 and End.
//
// Precondition: documents do not decrease from call to call.
func (l *list) look(doc uint32) (bound float64, last uint32) {
	b := l.block
	if b < 0 || b < len(l.Last) && l.Last[b] < doc {
		b = l.FindBlock(b, doc)
		l.block = b
		if b < len(l.Last) {
			l.blockBound = l.boundOf(b)
		}
	}
	if assert.On && b > 0 && b <= len(l.Last) && l.Last[b-1] >= doc {
		assert.Fail("a cursor would have to go back")
	}
	if b >= len(l.Last) {
		return 0, index.End
	}
	return l.blockBound, l.Last[b]
}
