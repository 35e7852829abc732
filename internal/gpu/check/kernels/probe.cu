// Kernels to test the device: what a launch costs, what a fault does, and test data that never
// leaves the device.
#include "hash.cuh"
#include "warp.cuh"

KERNEL probe_empty() {}

KERNEL probe_trap(u32 n) {
  if (threadIdx.x == n) __trap();
}

// Writes far outside of any allocation.
KERNEL probe_stray(u32* p) { p[1ull << 40] = 1; }

// Keeps one block busy until the word at stop is not zero, at most for the given number of rounds.
KERNEL probe_spin(volatile u32* stop, u64 rounds) {
  for (u64 i = 0; i < rounds && *stop == 0; i++) {
  }
}

// Reproducible pseudo-random numbers: mix(seed + i), only the bits of mask.
KERNEL probe_fill_u64(u64* out, u64 n, u64 seed, u64 mask) {
  u64 step = (u64)gridDim.x * blockDim.x;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) out[i] = mix(seed + i) & mask;
}

KERNEL probe_fill_u32(u32* out, u64 n, u64 seed, u32 mask) {
  u64 step = (u64)gridDim.x * blockDim.x;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) out[i] = (u32)mix(seed + i) & mask;
}

KERNEL probe_fill_u8(u8* out, u64 n, u64 seed, u32 mask) {
  u64 step = (u64)gridDim.x * blockDim.x;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) out[i] = (u8)(mix(seed + i) & mask);
}

// A sum over values that does not depend on their order, and the number of values that are smaller
// than the one before.
template <class T> INLINE void digest(const T* in, u64 n, u64* sum, u64* descents) {
  u64 s = 0, d = 0;
  u64 step = (u64)gridDim.x * blockDim.x;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    s += mix((u64)in[i]);
    d += i > 0 && in[i] < in[i - 1];
  }
  s = warp_sum(s);
  d = warp_sum(d);
  if (lane_id() == 0) {
    atomicAdd(sum, s);
    atomicAdd(descents, d);
  }
}
KERNEL probe_digest_u64(const u64* in, u64 n, u64* sum, u64* descents) { digest(in, n, sum, descents); }
KERNEL probe_digest_u32(const u32* in, u64 n, u64* sum, u64* descents) { digest(in, n, sum, descents); }
