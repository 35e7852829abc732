//go:build !purego

//lint:file-ignore U1000 some of this is called or read by assembly alone

package simd

// compress has, for each bit mask of lanes, the numbers of the selected lanes, as a permutation
// that moves them to the front. The remaining entries are lane 0.
var compress = func() (rows [256][8]uint8) {
	for set := range rows {
		n := 0
		for lane := range uint8(8) {
			if set>>lane&1 != 0 {
				rows[set][n] = lane
				n++
			}
		}
	}
	return rows
}()
