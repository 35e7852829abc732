package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/collocate/collocate/internal/scratch"
	"github.com/collocate/collocate/internal/sections"
)

// positionEncoder encodes the positions of a word's occurrences as its list in the file
// "positions". The format is described in reader.go.
type positionEncoder struct {
	out    []byte // the list is appended to it
	start  int    // offset of the list in out
	before int    // bytes of the list that were handed over already
	n      int    // gaps of the incomplete group
	gaps   [BlockSize]uint32
	table  []byte // start of the positions of each block of postings
}

// blockEntry is the length of an entry of the table of blocks.
const blockEntry = 6

func (e *positionEncoder) begin() {
	e.start, e.before, e.n, e.table = len(e.out), 0, 0, e.table[:0]
}

// listBytes returns the length of the list so far.
func (e *positionEncoder) listBytes() int { return e.before + len(e.out) - e.start }

// block begins a block of postings.
func (e *positionEncoder) block() {
	e.table = appendEntry(e.table, e.listBytes(), e.n)
}

func appendEntry(table []byte, offset, index int) []byte {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(offset)<<8|uint64(index))
	return append(table, b[:blockEntry]...)
}

// take appends gaps. It returns false if one is too large.
func (e *positionEncoder) take(gaps []uint32) bool {
	all := uint32(0)
	for _, gap := range gaps {
		all |= gap
	}
	if all >= maxDocs {
		return false
	}
	for len(gaps) > 0 {
		n := copy(e.gaps[e.n:], gaps)
		if e.n += n; e.n == BlockSize {
			e.group()
		}
		gaps = gaps[n:]
	}
	return true
}

// appendGaps appends the gaps before the positions of a word in a document: see weigh.Term. It
// reports whether the positions ascend and are in range.
func appendGaps(gaps, places []uint32) ([]uint32, bool) {
	next, rise := uint32(0), true
	for _, p := range places {
		if p < next || p >= maxDocs {
			rise = false
		}
		gaps = append(gaps, p-next)
		next = p + 1
	}
	return gaps, rise
}

// group packs a full group of gaps.
func (e *positionEncoder) group() {
	w, patches := countBlock(&e.gaps).patched(BlockSize, 0)
	e.out = append(e.out, byte(w)|byte(patches)<<5)
	var p [maxPatches * 6]byte
	moved := takePatches(p[:0], e.gaps[:], w, patches)
	e.out = append(packBlock(e.out, &e.gaps, w), moved...)
	e.n = 0
}

// end finishes the list of a word in df documents and returns its length.
func (e *positionEncoder) end(df uint64) (uint64, error) {
	rest := len(e.out)
	for _, gap := range e.gaps[:e.n] {
		e.out = binary.AppendUvarint(e.out, uint64(gap))
	}
	if df > BlockSize {
		rest = len(e.out) - rest
		e.out = append(e.out, e.table...)
		e.out = binary.LittleEndian.AppendUint16(e.out, uint16(rest))
	}
	size := e.listBytes()
	if uint64(size) >= 1<<40 {
		return 0, errors.New("the list of its places is longer than 1 TiB")
	}
	return uint64(size), nil
}

// positionWriter writes the file "positions".
type positionWriter struct {
	out    *outFile
	at     uint64 // bytes written so far
	ahead  uint64 // bytes of them that belong to an unfinished list
	starts scratch.Numbers
	words  int    // words in the current block
	sizes  []byte // encoded lengths of their lists
}

func newPositionWriter(out *outFile, tempDir string) (*positionWriter, error) {
	w := &positionWriter{out: out, starts: scratch.Numbers{Dir: tempDir}}
	return w, errors.Join(w.starts.Add(0), out.Begin("positions"))
}

// write appends lists with their lengths. Any remaining data are the beginning of an unfinished
// list.
func (w *positionWriter) write(data []byte, sizes []uint64) error {
	for _, size := range sizes {
		n := size - w.ahead
		if err := w.put(data[:n]); err != nil {
			return err
		}
		data, w.ahead = data[n:], 0
		w.sizes = binary.AppendUvarint(w.sizes, size)
		if w.words++; w.words == termsPerBlock {
			if err := w.endBlock(); err != nil {
				return err
			}
		}
	}
	w.ahead += uint64(len(data))
	return w.put(data)
}

func (w *positionWriter) put(data []byte) error {
	w.at += uint64(len(data))
	_, err := w.out.Write(data)
	return err
}

// endBlock writes the lengths of the lists of a block of words after them.
func (w *positionWriter) endBlock() error {
	w.sizes = append(w.sizes, byte(len(w.sizes)))
	err := w.put(w.sizes)
	w.words, w.sizes = 0, w.sizes[:0]
	return errors.Join(err, w.starts.Add(w.at))
}

func (w *positionWriter) finish() error {
	if w.words > 0 {
		if err := w.endBlock(); err != nil {
			return err
		}
	}
	if err := errors.Join(w.put(make([]byte, tailPad)), w.starts.Copy(w.out.Writer, "starts")); err != nil {
		return err
	}
	return w.out.commit()
}

func (w *positionWriter) abort() {
	w.starts.Close()
	w.out.f.Abort()
}

// positionStore is the file "positions" of an open index.
type positionStore struct {
	file   *sections.File
	data   []byte
	starts []uint64
}

func (r *Reader) openPositions(f *sections.File) error {
	data, err := f.Section("positions")
	if err != nil {
		return err
	}
	starts, err := view[uint64](f, "starts")
	if err != nil {
		return err
	}
	blocks := (r.meta.terms + termsPerBlock - 1) / termsPerBlock
	if uint64(len(starts)) != blocks+1 || len(data) < tailPad {
		return fmt.Errorf("corrupted: %d blocks of positions, want %d", len(starts)-1, blocks)
	}
	r.positions = &positionStore{f, data, starts}
	return nil
}

// HasPositions reports whether the index has the positions of words.
func (r *Reader) HasPositions() bool { return r.positions != nil }

// list returns the list of a word, followed by the tailPad bytes that a decoder may load.
func (s *positionStore) list(term int) ([]byte, error) {
	bad := func() ([]byte, error) {
		return nil, fmt.Errorf("corrupted: the positions of term %d are missing", term)
	}
	if term/termsPerBlock+1 >= len(s.starts) {
		return bad()
	}
	from, to := s.starts[term/termsPerBlock], s.starts[term/termsPerBlock+1]
	if from >= to || to > uint64(len(s.data)-tailPad) {
		return bad()
	}
	block := s.data[from:to]
	if err := s.file.Touch(block[max(0, len(block)-256):]); err != nil {
		return nil, err
	}
	size := int(block[len(block)-1]) + 1
	if size > len(block) {
		return bad()
	}
	sizes := block[len(block)-size : len(block)-1]
	limit := uint64(len(block) - size)
	at, n := uint64(0), uint64(0)
	for range term%termsPerBlock + 1 {
		at += n
		var used int
		if n, used = binary.Uvarint(sizes); used <= 0 || at > limit || n > limit-at {
			return bad()
		}
		sizes = sizes[used:]
	}
	list := s.data[from+at : from+at+n+tailPad]
	return list, s.file.Touch(list[:n])
}

// Positions reads the positions of a word in the documents of its list. Like a Cursor, it must be
// used by one goroutine at a time and can be reused: Reader.OpenPositions resets it.
type Positions struct {
	list  []byte // followed by tailPad bytes
	table []byte // start of each block of postings; nil for a list of one block
	rest  int    // with a table: offset of the last gaps, which do not fill a group
	end   int    // offset of the end of the gaps
	full  uint64 // without a table: the number of full groups
	err   error

	block int                   // current block of postings
	next  int                   // number of the next posting in it
	at    int                   // offset of the current group, which holds the first gap of next
	index int                   // number of that gap in the group
	group uint64                // number of the current group, if there is no table
	ready bool                  // the current group is decoded in gaps
	gaps  [BlockSize + 4]uint32 // with padding for sumGaps
	sums  [BlockSize + 1]uint32 // prefix sums of the frequencies of the block, see sumTFs
	found []uint32              // the positions of the posting before next
	term  int
}

// OpenPositions resets p to the positions of a term. It returns ErrNoPositions if the index has
// none.
func (r *Reader) OpenPositions(t Term, p *Positions) error {
	if r.closed {
		return ErrClosed
	}
	if r.positions == nil {
		return ErrNoPositions
	}
	var list []byte
	if t.DF > 0 {
		var err error
		if list, err = r.positions.list(t.ID); err != nil {
			return err
		}
	}
	return p.begin(list, t)
}

// begin starts before the first posting of a list.
func (p *Positions) begin(list []byte, t Term) error {
	p.list, p.table, p.err, p.term = list, nil, nil, t.ID
	p.block, p.next, p.at, p.index, p.group, p.ready, p.found = -1, 0, 0, 0, 0, false, p.found[:0]
	p.rest, p.end = 0, len(list)-tailPad
	if t.DF > BlockSize {
		blocks := (int(t.DF) + BlockSize - 1) / BlockSize
		end := len(list) - tailPad - 2
		if end < blocks*blockEntry {
			return p.bad()
		}
		p.table = list[end-blocks*blockEntry : end]
		p.end = end - blocks*blockEntry
		p.rest = p.end - int(binary.LittleEndian.Uint16(list[end:]))
	}
	return nil
}

// ErrNoPositions is returned if positions are requested from an index that was built without them.
var ErrNoPositions = errors.New("the index has no positions of words: build it again with them (index.BuildOptions.Positions)")

// Err returns the error that was found in the list, or nil.
func (p *Positions) Err() error { return p.err }

func (p *Positions) bad() error {
	if p.err == nil {
		p.err = fmt.Errorf("corrupted: the positions of term %d cannot be decoded", p.term)
	}
	return p.err
}

// Of returns the positions of the word in the current document of c, a cursor on the word's list.
// Positions count words from 0 and are ascending; there are as many as the word's frequency. They
// are valid until the next call. If the list is damaged, Of returns nil, and Err returns the error.
func (p *Positions) Of(c *Cursor) []uint32 { return p.At(c, c.block, c.pos) }

// At is like Of for posting i of a block, wherever the cursor is.
func (p *Positions) At(c *Cursor, block, i int) []uint32 {
	if block == p.block && i == p.next-1 {
		return p.found
	}
	if uint(block) >= uint(len(c.Last)) || p.err != nil || i >= BlockSize {
		return nil
	}
	var end [1]uint32
	p.found = p.Gather(c, block, []uint8{uint8(i)}, p.found[:0], end[:])
	if p.err != nil {
		return nil
	}
	return p.found
}

// Gather appends to out the positions of the word in some documents of a block and returns the
// extended slice. The argument which lists the postings, in ascending order; ends receives, for
// each of them, where its positions end in out. If the list is damaged, the positions are
// meaningless, but all ends lie within the result, and Err returns the error.
func (p *Positions) Gather(c *Cursor, block int, which []uint8, out, ends []uint32) []uint32 {
	tfs := c.TFsOf(block)
	if len(which) > 0 && (block != p.block || int(which[0]) < p.next) && !p.toBlock(c, block) {
		p.bad()
	}
	index, next := p.index, p.next
	for n, w := range which {
		i := int(w)
		if p.err != nil || i >= len(tfs) || i < next {
			p.bad()
			return fillEnds(out, ends[n:len(which)])
		}
		index += p.between(c, next, i)
		next = i + 1
		tf := int(tfs[i])
		if !p.ready || index+tf > BlockSize {
			few := n+1 == len(which) || index&(BlockSize-1)+p.between(c, i, int(which[n+1])) >= BlockSize
			if out, index = p.read(index, tf, out, few); index < 0 {
				p.bad()
				return fillEnds(out, ends[n:len(which)])
			}
		} else {
			at := len(out)
			if cap(out) < at+tf+4 {
				out = slices.Grow(out, tf+4)
			}
			out = out[:at+tf]
			if !sumGaps(p.gaps[index:index+tf+3], out[at:at+tf+3]) {
				p.bad()
			}
			index += tf
		}
		ends[n] = uint32(len(out))
	}
	p.index, p.next = index, next
	return out
}

// sumGaps computes positions from gaps. It works in steps of four, because their number is
// unpredictable; so both slices have three padding entries at the end. It reports whether the last
// position is in range.
func sumGaps(gaps, out []uint32) bool {
	n := len(gaps) - 3
	var last [4]uint64
	sum, out := uint64(0), out[:len(gaps)]
	for i := 0; i+4 <= len(gaps); i += 4 {
		g, o := (*[4]uint32)(gaps[i:]), (*[4]uint32)(out[i:])
		a := sum + uint64(g[0])
		b := a + uint64(g[1])
		c := b + uint64(g[2])
		sum = c + uint64(g[3])
		o[0], o[1], o[2], o[3] = uint32(a)-1, uint32(b)-1, uint32(c)-1, uint32(sum)-1
		last = [4]uint64{a, b, c, sum}
	}
	return last[(n-1)&3] <= maxDocs
}

// read appends n positions, from the gap at index on, which may extend over several groups. If few
// is true, no other gaps of the last group are needed soon. It returns the index after them, or -1
// if the data are damaged.
func (p *Positions) read(index, n int, out []uint32, few bool) ([]uint32, int) {
	for sum := uint64(0); n > 0; {
		for index >= BlockSize {
			if !p.skipGroup() {
				return out, -1
			}
			index -= BlockSize
		}
		m := min(n, BlockSize-index)
		at := len(out)
		out = slices.Grow(out, m+fewPlaces)[:at+m]
		if last, ok := p.readPlaces(index, out[at:], uint32(sum), few); ok {
			sum = uint64(last)
		} else if p.ready || p.decode() {
			for i, gap := range p.gaps[index : index+m] {
				sum += uint64(gap)
				out[at+i] = uint32(sum) - 1
			}
		} else {
			return out, -1
		}
		if sum > maxDocs {
			return out, -1
		}
		index += m
		n -= m
	}
	return out, index
}

// readPlaces computes positions without decoding the group, if few of its gaps are needed.
func (p *Positions) readPlaces(index int, out []uint32, sum uint32, few bool) (uint32, bool) {
	if !few || p.ready || p.isRest() {
		return 0, false
	}
	return readPlaces(p.list[p.at:], index, out, sum)
}

// fillEnds makes the remaining postings end at the end of out, so that they have no positions.
func fillEnds(out, ends []uint32) []uint32 {
	for i := range ends {
		ends[i] = uint32(len(out))
	}
	return out
}

// Prefetch loads the first positions of a block of postings into the processor's cache.
func (p *Positions) Prefetch(block int) {
	if e := block * blockEntry; e+blockEntry <= len(p.table) {
		at := uint64(binary.LittleEndian.Uint32(p.table[e+1:])) | uint64(p.table[e+5])<<32
		if at < uint64(len(p.list)) {
			prefetch(&p.list[at])
		}
	}
}

// between returns the sum of the frequencies of the block's postings from one up to, but not
// including, another.
func (p *Positions) between(c *Cursor, from, to int) int {
	if hasSums() {
		return int(p.sums[to] - p.sums[from])
	}
	return sumOf(c.tfs[from:to])
}

// sumOf returns the sum of a list. It adds up four independent sums, for instruction-level
// parallelism.
func sumOf(list []uint32) int {
	var a, b, c, d int
	for ; len(list) >= 4; list = list[4:] {
		a += int(list[0])
		b += int(list[1])
		c += int(list[2])
		d += int(list[3])
	}
	for _, n := range list {
		a += int(n)
	}
	return a + b + c + d
}

// toBlock moves to the first gap of a block of postings.
func (p *Positions) toBlock(c *Cursor, block int) bool {
	tfs := c.TFsOf(block)
	p.block, p.next = block, 0
	sumTFs(&c.tfs, &p.sums)
	at, index := uint64(0), 0
	if p.table != nil {
		if (block+1)*blockEntry > len(p.table) {
			return false
		}
		e := p.table[block*blockEntry:]
		at = uint64(binary.LittleEndian.Uint32(e[1:])) | uint64(e[5])<<32
		index = int(e[0])
	}
	if at > uint64(len(p.list)) || index >= BlockSize {
		return false
	}
	if int(at) != p.at {
		p.at, p.ready = int(at), false
	}
	p.index = index
	if p.table == nil {
		occurrences := uint64(0)
		for _, tf := range tfs {
			occurrences += uint64(tf)
		}
		p.group, p.full = 0, occurrences/BlockSize
	}
	return true
}

// isRest reports whether the current group is the last, incomplete one.
func (p *Positions) isRest() bool {
	if p.table != nil {
		return p.at >= p.rest
	}
	return p.group == p.full
}

// skipGroup moves to the next group.
func (p *Positions) skipGroup() bool {
	if p.isRest() {
		return false
	}
	size, ok := groupSize(p.list[p.at:])
	if !ok {
		return false
	}
	p.at += size
	p.group++
	p.ready = false
	return true
}

// groupSize returns the length of a full group in bytes.
func groupSize(b []byte) (int, bool) {
	if len(b) < 1 {
		return 0, false
	}
	size, patches := 1+BlockSize/8*int(b[0]&31), int(b[0]>>5)
	if size+tailPad > len(b) {
		return 0, false
	}
	if size+16 <= len(b) { // fast path: most patches take two bytes
		const long = 0x8000800080008000
		low, high := binary.LittleEndian.Uint64(b[size:]), binary.LittleEndian.Uint64(b[size+8:])
		low &= 1<<(16*uint(patches)) - 1
		high &= 1<<(16*uint(max(patches-4, 0))) - 1
		if (low|high)&long == 0 {
			return size + 2*patches, true
		}
	}
	for range patches {
		_, _, n := nextPatch(b[size:])
		if n == 0 {
			return 0, false
		}
		size += n
	}
	return size, true
}

// decode unpacks the current group.
func (p *Positions) decode() bool {
	b := p.list[p.at:]
	if p.isRest() {
		if p.at > p.end {
			return false
		}
		n := 0
		for b = b[:p.end-p.at]; len(b) > 0; n++ {
			gap, size := binary.Uvarint(b)
			if size <= 0 || gap >= maxDocs || n == BlockSize {
				return false
			}
			p.gaps[n] = uint32(gap) + 1
			b = b[size:]
		}
		for i := n; i < BlockSize; i++ {
			p.gaps[i] = maxDocs // out of range, so that using it is detected
		}
		p.ready = true
		return true
	}
	if len(b) < 1+tailPad {
		return false
	}
	w, patches := uint(b[0]&31), int(b[0]>>5)
	size := 1 + BlockSize/8*int(w)
	if size+tailPad > len(b) {
		return false
	}
	gaps := (*[BlockSize]uint32)(p.gaps[:])
	unpackFull(b[1:], w, gaps)
	b = b[size:]
	if p.ready = true; len(b) >= 16 && w <= 24 && patchShort(b, w, patches, gaps) {
		return true
	}
	for ; patches > 0; patches-- {
		at, high, n := nextPatch(b)
		if n == 0 || at >= BlockSize || high>>(31-w) != 0 {
			return false
		}
		p.gaps[at] += uint32(high << w)
		b = b[n:]
	}
	return true
}
