package simd

import "github.com/collocate/collocate/index"

// KeepBits keeps the documents whose group of 1<<shift documents has its bit set, with their
// elements of at. It returns how many these are. Documents are in increasing order, and have a bit.
// The outs need room for KernelSlack more than docs, or may be docs and at themselves, in arrays
// whose length is a multiple of KernelSlack.
func KeepBits(docs, at []uint32, bits []uint64, shift int, outDocs, outAt []uint32) int {
	if len(docs) == 0 {
		return 0
	}
	if HasWideKernels {
		return keepBits(&docs[0], &at[:len(docs)][0], len(docs), &bits[0], shift, &outDocs[0],
			&outAt[0])
	}
	return PlainKeepBits(docs, at, bits, shift, outDocs, outAt)
}

// PlainKeepBits is KeepBits in plain Go. The bits are unpredictable, so it has no branch.
func PlainKeepBits(docs, at []uint32, bits []uint64, shift int, outDocs, outAt []uint32) (n int) {
	for i, d := range docs {
		outDocs[n], outAt[n] = d, at[i]
		p := d >> shift
		n += int(bits[p/64] >> (p % 64) & 1)
	}
	return n
}

// Places are the places of the postings of a block, in order.
var Places = func() (all [index.BlockSize]uint32) {
	for i := range all {
		all[i] = uint32(i)
	}
	return all
}()
