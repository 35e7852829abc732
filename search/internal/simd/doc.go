// Package simd answers the question: how does a loop over postings run on this processor?
//
// Its kernels process postings 16 at a time with AVX-512, 8 with AVX2, and 4 with NEON. NEON has no
// kernels that gather or search for single numbers. Each kernel has one version per assembly file,
// under the same comment; package internal/cpu selects one. Callers test [HasKernels] or
// [HasWideKernels] and have a version in plain Go, which defines the result; tests compare all of
// them. The build tag purego, and other processors, leave the assembly out. [Prefetch] and [Apart]
// concern caches.
//
// Invariants:
//   - A kernel gives the same bits as plain Go: the same operations in the same order, without
//     fused multiply-add.
//   - Kernels may write up to [KernelSlack] elements after their last result.
//   - Documents must be below the number of documents of the index; kernels do not check it.
//   - The assembly depends on the offsets of the fields of [Kernel] and [LevelSieve].
package simd
