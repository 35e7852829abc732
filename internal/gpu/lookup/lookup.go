// Package lookup lends the dictionaries of package dict on a device to the engines of
// other packages. What dict itself exports names no device, since users of the library
// cannot; so dict sets Upload here, and whoever imports dict may call it.
package lookup

import "github.com/collocate/collocate/internal/gpu"

// Dictionary is a dictionary in device memory.
type Dictionary interface {
	// LookUp writes to ids the number of each word of a text on the device, all ones for
	// those that the dictionary does not have. Words are given as prim.StringRef gives
	// them. Many words are looked up with a cache: one in 32 fills it beforehand, so that
	// frequent words of up to 8 bytes take one access to memory. That needs temporary
	// memory of half a byte a word, at most 16 MB.
	LookUp(s *gpu.Stream, tmp *gpu.Arena, text gpu.Buffer[uint8], words gpu.Buffer[uint64],
		ids gpu.Buffer[uint32]) error
	// Bytes is what it takes on the device.
	Bytes() int64
	// Free gives the device's memory back.
	Free() error
}

// Upload brings a *dict.File to the device of a stream, when that gets there.
var Upload func(file any, s *gpu.Stream) (Dictionary, error)
