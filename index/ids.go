package index

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/collocate/collocate/internal/sections"
)

// idsPerBlock external IDs share a block of the ID store: 16, as in the dictionary.
const idsPerBlock = 16

// idStore gives each document's external ID, and the document of an ID. The
// format is described in reader.go.
type idStore struct {
	docs    int
	blob    []byte
	starts  []uint64
	buckets []uint32 // where each bucket's documents begin, and the end
	byHash  []byte   // documents, bucket by bucket, idBits each
	bits    uint
}

func openIDs(f *sections.File, docs int) (*idStore, error) {
	s := &idStore{docs: docs}
	var err error
	if s.blob, err = f.Section("ids"); err != nil {
		return nil, err
	}
	if s.starts, err = view[uint64](f, "id-starts"); err != nil {
		return nil, err
	}
	if s.buckets, err = view[uint32](f, "id-buckets"); err != nil {
		return nil, err
	}
	s.bits = idBits(docs)
	if s.byHash, err = f.Section("id-docs"); err != nil {
		return nil, err
	}
	if len(s.starts) != (docs+idsPerBlock-1)/idsPerBlock+1 || len(s.byHash) != tailBytes(docs, s.bits)+tailPad || len(s.buckets) != idBuckets(docs)+1 {
		return nil, fmt.Errorf("corrupted: the ID store is not that of %d documents", docs)
	}
	return s, nil
}

// get appends the ID of a document to dst.
func (s *idStore) get(dst []byte, doc int) ([]byte, error) {
	if uint(doc) >= uint(s.docs) {
		return dst, fmt.Errorf("document %d is not one of the index's %d", doc, s.docs)
	}
	b := doc / idsPerBlock
	from, to := s.starts[b], s.starts[b+1]
	if from > to || to > uint64(len(s.blob)) {
		return dst, errIDs(doc)
	}
	r := byteReader{b: s.blob[from:to]}
	base := len(dst)
	for range doc%idsPerBlock + 1 {
		lcp, suffix := r.frontCoded()
		if r.bad || lcp > len(dst)-base {
			return dst[:base], errIDs(doc)
		}
		dst = append(dst[:base+lcp], suffix...)
	}
	return dst, nil
}

func errIDs(doc int) error {
	return fmt.Errorf("corrupted: the ID of document %d does not decode", doc)
}

// find returns the lowest document with that ID.
func (s *idStore) find(id string) (doc int, found bool, err error) {
	if s.docs == 0 {
		return 0, false, nil
	}
	b := idBucket(id, len(s.buckets)-1)
	from, to := s.buckets[b], s.buckets[b+1]
	if from > to || uint64(to) > uint64(s.docs) {
		return 0, false, fmt.Errorf("corrupted: bucket %d of the ID store", b)
	}
	var buf [64]byte
	for i := from; i < to; i++ {
		d := s.hashed(i)
		got, err := s.get(buf[:0], d)
		if err != nil {
			return 0, false, err
		}
		if string(got) == id {
			return d, true, nil
		}
	}
	return 0, false, nil
}

// hashed is the i-th document in the order of buckets; i is below docs.
func (s *idStore) hashed(i uint32) int {
	bit := uint64(i) * uint64(s.bits)
	return int(binary.LittleEndian.Uint64(s.byHash[bit/8:]) >> (bit % 8) & (1<<s.bits - 1))
}

// idBits is how many bits a document number takes.
func idBits(docs int) uint { return uint(bits.Len(uint(max(docs, 1) - 1))) }

// idBuckets is the number of hash buckets: some 8 documents each.
func idBuckets(docs int) int { return docs/8 + 1 }

// idBucket is FNV-1a, finished by a multiplication so that its high bits, which
// choose the bucket, depend on all bytes.
func idBucket[S string | []byte](id S, buckets int) int {
	h := uint64(0xcbf29ce484222325)
	for i := range len(id) {
		h = (h ^ uint64(id[i])) * 0x100000001b3
	}
	h ^= h >> 32
	h *= 0x9e3779b97f4a7c15
	hi, _ := bits.Mul64(h, uint64(buckets))
	return int(hi)
}

// writeIDs writes the four sections of the ID store.
func writeIDs(w *sections.Writer, docs int, id func(int) string) error {
	if err := w.Begin("ids"); err != nil {
		return err
	}
	starts := make([]uint64, 0, docs/idsPerBlock+2)
	bucketOf := make([]uint32, docs)
	buckets := make([]uint32, idBuckets(docs)+1)
	var at uint64
	var prev, buf []byte
	for d := range docs {
		if d%idsPerBlock == 0 {
			starts = append(starts, at)
			prev = prev[:0]
		}
		s := id(d)
		b := idBucket(s, len(buckets)-1)
		bucketOf[d] = uint32(b)
		buckets[b+1]++
		buf = appendFrontCoded(buf[:0], prev, []byte(s))
		prev = append(prev[:0], s...)
		if _, err := w.Write(buf); err != nil {
			return err
		}
		at += uint64(len(buf))
	}
	starts = append(starts, at)
	for b := range len(buckets) - 1 {
		buckets[b+1] += buckets[b]
	}
	next := append([]uint32(nil), buckets...)
	byHash := make([]uint32, docs)
	for d, b := range bucketOf {
		byHash[next[b]] = uint32(d)
		next[b]++
	}
	if err := w.Section("id-starts", sections.Bytes(starts)); err != nil {
		return err
	}
	if err := w.Section("id-buckets", sections.Bytes(buckets)); err != nil {
		return err
	}
	packed := packTail(nil, byHash, idBits(docs))
	return w.Section("id-docs", append(packed, make([]byte, tailPad)...))
}

// appendUvarints appends several uvarints.
func appendUvarints(dst []byte, v ...uint64) []byte {
	for _, x := range v {
		dst = binary.AppendUvarint(dst, x)
	}
	return dst
}
