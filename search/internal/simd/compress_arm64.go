//go:build !purego

//lint:file-ignore U1000 some of this is called or read by assembly alone

package simd

// compress has, for each bit mask of four lanes, the bytes of the selected lanes, as a permutation
// that moves them to the front; laneCounts has the number of selected lanes.
var (
	compress   [16][16]uint8
	laneCounts [16]uint8
)

func init() {
	for set := range compress {
		n := uint8(0)
		for lane := range uint8(4) {
			if set>>lane&1 != 0 {
				for b := range uint8(4) {
					compress[set][4*n+b] = 4*lane + b
				}
				n++
			}
		}
		laneCounts[set] = n
	}
}
