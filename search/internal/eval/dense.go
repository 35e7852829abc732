package eval

import (
	"encoding/binary"
	"math/bits"

	"github.com/collocate/collocate/index"
)

// bitmapAnd intersects a block of the leading list with other lists where the blocks of both are
// bitmaps (see index.Cursor.Words). Bitmaps consist of words of 64 documents on one grid, so they
// are combined word by word. Nothing is decoded for documents that not all lists have.
type bitmapAnd struct {
	base   uint32 // first document of the first word
	n      int    // words in use
	padded [3 * 8 * index.MaxWords]byte
	list   [8 * index.MaxWords]byte // bits of the documents of one list
}

// all returns the words of the intersection so far. They lie in the middle of padded, between zero
// words, as many on each side as a block may have.
func (w *bitmapAnd) all() []byte { return w.padded[8*index.MaxWords:][:8*w.n] }

// on returns n bytes of padded, those of the documents from base on; nil if these are not near
// w.base.
func (w *bitmapAnd) on(base uint32, n int) []byte {
	at := 8*index.MaxWords + (int(base)-int(w.base))>>3
	if at < 0 || at+n > len(w.padded) {
		return nil
	}
	return w.padded[at : at+n]
}

// begin starts with the bitmap of a block, without its documents outside [from, to).
func (w *bitmapAnd) begin(words []byte, base, from, to uint32) {
	w.base, w.n = base, len(words)/8
	all := w.all()
	copy(all, words)
	clear(w.padded[8*index.MaxWords+len(all):][:8*index.MaxWords])
	if start := from - base; from > base {
		word := all[start>>6<<3:]
		clear(all[:start>>6<<3])
		binary.LittleEndian.PutUint64(word, binary.LittleEndian.Uint64(word)>>(start&63)<<(start&63))
	}
	if end := to - base; end < 64*uint32(w.n) {
		word := all[end>>6<<3:]
		binary.LittleEndian.PutUint64(word, binary.LittleEndian.Uint64(word)&(1<<(end&63)-1))
		clear(word[8:])
	}
}

// live keeps the documents at places whose bits are set. A place is 16 documents, so each bit
// becomes a mask of 16.
func (w *bitmapAnd) live(places []uint64) {
	all := w.all()
	for p := w.base >> placeShift; len(all) >= 8; p += 4 {
		four := places[p/64] >> (p % 64) & 15
		mask := (four&1 | four&2<<15 | four&4<<30 | four&8<<45) * 0xffff
		binary.LittleEndian.PutUint64(all, binary.LittleEndian.Uint64(all)&mask)
		all = all[8:]
	}
}

// and keeps the documents that a list has, too, if all its blocks from document from to last are
// bitmaps. Otherwise it changes nothing and returns false.
func (w *bitmapAnd) and(l *list, from, last uint32) bool {
	l.wordsAt = l.FindBlock(l.wordsAt, from)
	list := w.list[:8*w.n]
	clear(list)
	for b := l.wordsAt; b < len(l.Last); b++ {
		words, base := l.Words(b)
		if words == nil {
			return false
		}
		into, ahead := list, (int(base)-int(w.base))>>3
		switch {
		case ahead > len(list) || -ahead > len(words):
			return false // damaged
		case ahead < 0:
			words = words[-ahead:]
		default:
			into = list[ahead:]
		}
		for len(words) >= 8 && len(into) >= 8 {
			binary.LittleEndian.PutUint64(into,
				binary.LittleEndian.Uint64(into)|binary.LittleEndian.Uint64(words))
			words, into = words[8:], into[8:]
		}
		if l.Last[b] >= last {
			break
		}
	}
	all := w.all()
	for len(all) >= 8 && len(list) >= 8 {
		binary.LittleEndian.PutUint64(all, binary.LittleEndian.Uint64(all)&binary.LittleEndian.Uint64(list))
		all, list = all[8:], list[8:]
	}
	return true
}

// only sets the bits of the given documents, and no others.
func (w *bitmapAnd) only(docs []uint32) {
	all := w.all()
	clear(all)
	for _, d := range docs {
		d -= w.base
		all[d>>3] |= 1 << (d & 7)
	}
}

// tfs finds the frequencies of the n documents of the intersection in a list that it was made with.
func (w *bitmapAnd) tfs(l *list, n int, out []uint32) {
	for b, got := l.wordsAt, 0; got < n && b < len(l.Last); b++ {
		words, base := l.Words(b)
		keep := w.on(base, len(words))
		if words == nil || keep == nil {
			return // damaged
		}
		found := l.KeepTFs(b, words, keep, out[got:])
		if l.scored += int64(found); found > 0 && int64(l.Last[b]) > l.usedUntil {
			l.use(b)
		}
		got += found
	}
}

// intersectBitmaps finds and pushes the answers in the leading list's block b, from document from
// on, if the block and the second list's there are bitmaps. Otherwise it does nothing and returns
// false. Further lists whose blocks are not bitmaps are looked up afterwards. Candidates that wait
// are scored before, so that documents stay in order.
func (q *Query) intersectBitmaps(lists []*list, b int, from uint32) bool {
	m, lead, second := &q.and, lists[0], lists[1]
	words, base := lead.Words(b)
	if words == nil || from > lead.Last[b] {
		return false
	}
	second.wordsAt = second.FindBlock(second.wordsAt, from)
	if first, _ := second.Words(second.wordsAt); first == nil {
		return false
	}
	mapped := m.mapped && m.levels.lead && q.cut >= 0
	if mapped && !m.levels.mostly(from, min(lead.Last[b], q.to-1), q.cut) {
		return false // few places can win: better to score first
	}
	q.scoreWaiting(lists)
	w := &m.bitmaps
	w.begin(words, base, from, q.to)
	if mapped {
		w.live(m.levels.bits)
	}
	for _, l := range lists[1:] {
		l.dense, l.waitBound = w.and(l, from, lead.Last[b]), l.windowBound
	}
	if m.n = index.FindBits(w.all(), base, (*[index.BlockSize]uint32)(m.docs[:])); m.n > index.BlockSize {
		m.n = 0 // damaged
		return false
	}
	m.kind = bare
	lead.wordsAt, lead.dense, lead.waitBound = b, true, lead.boundOf(b)
	q.scoreWaiting(lists)
	return true
}

// mostly reports whether most places of the documents from one to another can be above the cut.
func (v *levels) mostly(from, last uint32, cut float64) bool {
	v.reach(from, last, cut)
	p, end := from>>placeShift/64, last>>placeShift/64
	n := 0
	for _, word := range v.bits[p : end+1] {
		n += bits.OnesCount64(word)
	}
	return n > mostPlaces*int(end-p+1)
}

// locateBits is simd.Locate for a bitmap: it finds those of the rising docs, up to last, that the
// bitmap has. at gets their places in docs, places those in the block.
func locateBits(words []byte, base uint32, docs []uint32, last uint32, ranks *[index.MaxWords]uint8,
	at, places []uint32) (found, used int) {
	n, sum := min(len(words)/8, index.MaxWords), uint8(0)
	for i := range n {
		ranks[i] = sum
		sum += uint8(bits.OnesCount64(binary.LittleEndian.Uint64(words[8*i:])))
	}
	for i, d := range docs {
		if d > last {
			return found, i
		}
		j, bit := (d-base)>>6, d&63
		if j >= uint32(n) {
			continue // damaged
		}
		x := binary.LittleEndian.Uint64(words[8*j:])
		at[found], places[found] = uint32(i), uint32(ranks[j])+uint32(bits.OnesCount64(x&(1<<bit-1)))
		found += int(x >> bit & 1)
	}
	return found, len(docs)
}
