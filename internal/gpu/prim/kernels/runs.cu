#include "device.cuh"

// The sum of each run.
KERNEL __launch_bounds__(256) runs_difference(const u64* __restrict__ sums, u64* out, const u64* count) {
  u64 n = *count;
  u64 step = (u64)gridDim.x * 256;
  for (u64 i = (u64)blockIdx.x * 256 + threadIdx.x; i < n; i += step) out[i] = sums[i + 1] - sums[i];
}
