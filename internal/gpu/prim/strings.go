package prim

import (
	"fmt"

	"github.com/collocate/collocate/internal/gpu"
)

var stringsSource = module("strings")

// The same values as in strings.cu.
const (
	stringThreads  = 256
	stringTile     = stringThreads * 4
	stringLenBits  = 24
	stringMaxCount = 1 << 31
)

// StringRef packs the position of a string in a text: its offset, below 2^40, in the high bits and
// its length, below 2^24, in the low ones.
func StringRef(offset uint64, length int) (uint64, error) {
	if offset >= 1<<(64-stringLenBits) || length < 0 || length >= 1<<stringLenBits {
		return 0, fmt.Errorf("string of %d bytes at offset %d: want fewer than 2^24 bytes at an offset below 2^40", length, offset)
	}
	return offset<<stringLenBits | uint64(length), nil
}

// stringItem has the layout of Item in strings.cu: head and reference.
type stringItem [2]uint64

// SortStrings sorts references into text by the bytes that they refer to, stably, in place.
// heads[i] becomes 1 where string i differs from the one before, else 0. Needs 32 bytes of
// temporary memory per string.
func SortStrings(s *gpu.Stream, tmp *gpu.Arena, text gpu.Buffer[uint8], refs gpu.Buffer[uint64],
	heads gpu.Buffer[uint8]) error {
	n := refs.Len()
	if int64(n) >= stringMaxCount {
		return fmt.Errorf("sort of %d strings: want at most %d at a time", n, stringMaxCount-1)
	}
	if err := fits("sort strings", heads, n); err != nil {
		return err
	}
	if n == 0 {
		return nil
	}
	var kernels [3]*gpu.Kernel
	for i, name := range []string{"strings_tiles", "strings_merge", "strings_finish"} {
		var err error
		if kernels[i], err = s.Device().Kernel(stringsSource, name); err != nil {
			return err
		}
	}
	return scratch(tmp, func() error {
		a, err := gpu.Take[stringItem](tmp, n)
		if err != nil {
			return err
		}
		b, err := gpu.Take[stringItem](tmp, n)
		if err != nil {
			return err
		}
		grid, count := gpu.Grid(divUp(n, stringTile), stringThreads), gpu.U64(uint64(n))
		if err := s.Launch(kernels[0], grid, text.Arg(), refs.Arg(), a.Arg(), count); err != nil {
			return err
		}
		for run := stringTile; run < n; run *= 2 {
			if err := s.Launch(kernels[1], grid, text.Arg(), a.Arg(), b.Arg(), count,
				gpu.U64(uint64(run))); err != nil {
				return err
			}
			a, b = b, a
		}
		return s.Launch(kernels[2], gpu.Grid(divUp(n, stringThreads), stringThreads), text.Arg(),
			a.Arg(), refs.Arg(), heads.Arg(), count)
	})
}
