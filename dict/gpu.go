package dict

import (
	"errors"
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/collocate/collocate/internal/gpu"
	"github.com/collocate/collocate/internal/gpu/prim"
)

var (
	paperSource = gpu.Registered("dict/paper")

	sttSource = gpu.Registered("dict/stt")
	xbwSource = gpu.Registered("dict/xbw")
)

// As in kernels/lookup.cuh.
const (
	lookUpThreads = 512
	lookUpTile    = lookUpThreads * 4
	recordBits    = 96
	decodeBytes   = 2 << blockBits
)

// The cache of LookUp, which has buckets of two slots.
const (
	cacheWords   = 64      // words to look up per bucket
	cacheBuckets = 1 << 19 // at most: 16 MB, a third of an H200's L2
	cacheStride  = 32      // one of this many tiles fills the cache
)

// onDevice is a dictionary in device memory: an stt as it is in the file; an xbw with RRR records
// as they are, one vector load each. All other bits are records of 16 bytes: 96 bits and the number
// of ones before them.
type onDevice struct {
	kernel *gpu.Kernel
	args   []gpu.Arg // of the kernel, after those of the words
	shared int       // bytes of shared memory of a block
	blocks int       // that run on a multiprocessor at a time
	// published is true for an xbw-paper, which is used as published: without a cache.
	published bool
	paper     paperKernels
	launch    Launch // of the papers' kernels
	bytes     int64
	free      []func() error
}

func init() {
	prim.Upload = func(file any, s *gpu.Stream) (prim.Dictionary, error) {
		o, err := file.(*File).upload(s)
		if err != nil {
			return nil, err // a nil *onDevice in an interface would not be nil
		}
		return o, nil
	}
}

// upload copies the dictionary to the device, in the order of the stream.
func (d *File) upload(s *gpu.Stream) (*onDevice, error) {
	o := &onDevice{}
	var err error
	switch t := d.Dict.(type) {
	case *stt:
		err = o.uploadSTT(s, t)
	case *xbw:
		err = o.uploadXBW(s, t)
	default:
		return nil, fmt.Errorf("dictionaries of kind %v cannot be used on a GPU: want stt, xbw, "+
			"xbw-plain or xbw-paper", d.Kind())
	}
	o.published = d.Kind() == XBWPaper
	if err == nil {
		err = errors.Join(o.fill(), o.loadPaper(s.Device(), d.Kind()))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("copy the dictionary to the GPU: %w", err), o.Free())
	}
	return o, nil
}

// Free frees the memory on the device.
func (o *onDevice) Free() (err error) {
	for _, f := range o.free {
		err = errors.Join(err, f())
	}
	o.free = nil
	return err
}

// Bytes returns the size of the dictionary on the device.
func (o *onDevice) Bytes() int64 { return o.bytes }

// fill sets the number of blocks that fill a multiprocessor.
func (o *onDevice) fill() error {
	if o.shared > 0 {
		if err := o.kernel.AllowShared(o.shared); err != nil {
			return err
		}
	}
	n, err := o.kernel.Occupancy(lookUpThreads, o.shared)
	o.blocks = max(1, n)
	return err
}

// put uploads an array of a dictionary and makes its address the next argument, which is not null
// even if the array is empty.
func put[T any](o *onDevice, s *gpu.Stream, values []T) error {
	b, err := gpu.Alloc[T](s.Device(), len(values))
	if err != nil {
		return err
	}
	o.free = append(o.free, b.Free)
	o.args = append(o.args, b.Arg())
	o.bytes += b.Bytes()
	return b.Upload(s, values)
}

func (o *onDevice) number(n int) { o.args = append(o.args, gpu.U32(uint32(n))) }

func (o *onDevice) uploadSTT(s *gpu.Stream, t *stt) (err error) {
	if o.kernel, err = s.Device().Kernel(sttSource, "dict_stt"); err != nil {
		return err
	}
	err = errors.Join(put(o, s, t.chars.code[:]), put(o, s, t.next), put(o, s, t.number))
	o.number(t.meta.chars)
	o.number(t.meta.nodes)
	return err
}

func (o *onDevice) uploadXBW(s *gpu.Stream, t *xbw) (err error) {
	name := "dict_xbw_plain"
	if t.rrr != nil {
		name, o.shared = "dict_xbw_rrr", decodeBytes
	}
	if o.kernel, err = s.Device().Kernel(xbwSource, name); err != nil {
		return err
	}
	m := t.meta
	err = errors.Join(put(o, s, t.chars.code[:]), put(o, s, t.first))
	o.number(m.chars)
	if t.inner == nil {
		o.args = append(o.args, gpu.Null())
	} else {
		err = errors.Join(err, put(o, s, interleave(t.inner, 1, m.nodes)))
	}
	err = errors.Join(err, put(o, s, interleave(t.terminal, 1, m.rows)))
	o.number(m.nodes)
	o.number(m.rows)
	o.number(m.leaves)
	tails := t.tails
	if tails == nil {
		tails = newTails(nil, nil, t.chars)
	}
	err = errors.Join(err, put(o, s, tails.words))
	o.number(len(tails.words))
	err = errors.Join(err, put(o, s, tails.starts))
	o.number(len(tails.starts))
	o.number(tails.width)
	err = errors.Join(err, put(o, s, t.heads))
	o.number(m.heads)
	o.number(len(t.heads))
	if t.rrr == nil {
		plain, ok := t.down.(*plain)
		if !ok {
			return fmt.Errorf("bit vectors are %T: want plain or RRR", t.down)
		}
		err = errors.Join(err, put(o, s, interleave(plain, m.chars, m.rows)))
		o.number(recordsFor(m.rows))
		return err
	}
	err = errors.Join(err, put(o, s, pairs(t.rrr.records)))
	o.number(t.rrr.per)
	offsets := halves(t.rrr.offsets)
	err = errors.Join(err, put(o, s, offsets))
	o.number(len(offsets))
	return errors.Join(err, put(o, s, t.rrr.tables.blocks[:]))
}

// record is the number of ones of a vector before 96 of its bits, and these bits.
type record [4]uint32

func recordsFor(n int) int { return max(1, (n+recordBits-1)/recordBits) }

// interleave turns vectors of n bits, in lines of 64 bytes, into records.
func interleave(p *plain, vectors, n int) []record {
	out := make([]record, vectors*recordsFor(n))
	word := func(v, i int) uint32 { // bits 32i to 32i+31
		line, half := 32*i/lineBits, 32*i%lineBits/32
		if line >= p.per {
			return 0
		}
		return uint32(p.lines[(v*p.per+line)*lineWords+1+half/2] >> (32 * (half % 2)))
	}
	for v := range vectors {
		ones := uint32(0)
		for k := range recordsFor(n) {
			r := &out[v*recordsFor(n)+k]
			r[0] = ones
			for j := range 3 {
				r[1+j] = word(v, 3*k+j)
				ones += uint32(bits.OnesCount32(r[1+j]))
			}
		}
	}
	return out
}

// pairs returns RRR records, and halves their offsets, in the units that the device reads.
func pairs(v []uint64) [][2]uint64 {
	return unsafe.Slice((*[2]uint64)(unsafe.Pointer(unsafe.SliceData(v))), len(v)/2)
}

func halves(v []uint64) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*2)
}

// LookUp implements prim.Dictionary.
func (o *onDevice) LookUp(s *gpu.Stream, tmp *gpu.Arena, text gpu.Buffer[uint8],
	words gpu.Buffer[uint64], ids gpu.Buffer[uint32]) error {
	if o.published {
		return o.lookUpAsPaper(s, text, words, ids, o.launch)
	}
	buckets := 0
	if n := min(words.Len()/cacheWords, cacheBuckets); n >= lookUpTile {
		buckets = 1 << (bits.Len(uint(n)) - 1)
	}
	return o.lookUp(s, tmp, text, words, ids, buckets)
}

// room returns an error if the numbers of the words do not fit in ids.
func room(words gpu.Buffer[uint64], ids gpu.Buffer[uint32]) error {
	if ids.Len() < words.Len() {
		return fmt.Errorf("look up %d words: room for %d numbers only", words.Len(), ids.Len())
	}
	return nil
}

// arguments returns the arguments of a kernel that looks words up.
func (o *onDevice) arguments(text gpu.Buffer[uint8], words gpu.Buffer[uint64],
	ids gpu.Buffer[uint32], cache gpu.Arg, buckets, stride int) []gpu.Arg {
	return append([]gpu.Arg{
		text.Arg(), gpu.U64(uint64(text.Len())), words.Arg(), ids.Arg(),
		gpu.U64(uint64(words.Len())), cache, gpu.U32(uint32(buckets)), gpu.U32(uint32(stride)),
	}, o.args...)
}

// slot has the layout of Slot in kernels/lookup.cuh.
type slot [2]uint64

func (o *onDevice) lookUp(s *gpu.Stream, tmp *gpu.Arena, text gpu.Buffer[uint8],
	words gpu.Buffer[uint64], ids gpu.Buffer[uint32], buckets int) (err error) {
	n := words.Len()
	if err := room(words, ids); err != nil || n == 0 {
		return err
	}
	launch := func(cache gpu.Arg, stride int) error {
		tiles := (n + lookUpTile*stride - 1) / (lookUpTile * stride)
		blocks := min(tiles, o.blocks*s.Device().Info().Multiprocessors)
		return s.Launch(o.kernel, gpu.GridShared(blocks, lookUpThreads, o.shared),
			o.arguments(text, words, ids, cache, buckets, stride)...)
	}
	if buckets == 0 {
		return launch(gpu.Null(), 1)
	}
	mark := tmp.Mark()
	defer func() { err = errors.Join(err, tmp.Release(mark)) }()
	cache, err := gpu.Take[slot](tmp, 2*buckets)
	if err != nil {
		return err
	}
	if err := cache.Zero(s); err != nil {
		return err
	}
	if err := launch(cache.Arg(), cacheStride); err != nil {
		return err
	}
	return launch(cache.Arg(), 1)
}
