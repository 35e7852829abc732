//go:build !purego

package cpu

import "golang.org/x/sys/cpu"

// HasVBMI2 says whether a processor with AVX-512 also has VBMI2, the second set of byte
// instructions, which unpacking uses: Intel since Ice Lake, AMD since Zen 4.
var HasVBMI2 = cpu.X86.HasAVX512VBMI2

func levels() (l []Level) {
	x := &cpu.X86
	if !x.HasAVX2 || !x.HasBMI1 || !x.HasBMI2 || !x.HasPOPCNT {
		return nil
	}
	if x.HasAVX512F && x.HasAVX512VL && x.HasAVX512DQ && x.HasAVX512BW {
		l = append(l, AVX512)
	}
	return append(l, AVX2)
}
