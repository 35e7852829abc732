// How often each number occurs.
#include "warp.cuh"

constexpr u32 kThreads = 512;
constexpr u32 kLocalBins = 8192;  // 32 KB of shared memory

// Few bins: every block counts in shared memory and adds up at the end.
KERNEL __launch_bounds__(kThreads)
histogram_small(const u32* __restrict__ in, u32* bins, u64* outside, u64 n, u32 count) {
  __shared__ u32 local[kLocalBins];
  for (u32 i = threadIdx.x; i < count; i += kThreads) local[i] = 0;
  __syncthreads();
  u32 bad = 0;
  u64 step = (u64)gridDim.x * kThreads;
  for (u64 base = (u64)blockIdx.x * kThreads; base < n; base += step) {
    u64 at = base + threadIdx.x;
    u32 v = at < n ? in[at] : count;
    // A warp that agrees adds once: skewed data would queue up at one word.
    u32 v0 = __shfl_sync(kFull, v, 0);
    if (__all_sync(kFull, v == v0)) {
      if (v < count) {
        if (lane_id() == 0) atomicAdd(&local[v], kWarp);
      } else if (at < n) {
        bad++;
      }
    } else if (v < count) {
      atomicAdd(&local[v], 1u);
    } else if (at < n) {
      bad++;
    }
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < count; i += kThreads)
    if (local[i]) atomicAdd(&bins[i], local[i]);
  if (bad) atomicAdd(outside, (u64)bad);
}

// Many bins: atomics in L2, one for all lanes of a warp that count the same.
KERNEL __launch_bounds__(kThreads)
histogram_large(const u32* __restrict__ in, u32* bins, u64* outside, u64 n, u32 count) {
  u32 bad = 0;
  u64 step = (u64)gridDim.x * kThreads;
  for (u64 base = (u64)blockIdx.x * kThreads; base < n; base += step) {
    u64 at = base + threadIdx.x;
    u32 v = at < n ? in[at] : count;
    u32 same = __match_any_sync(kFull, v);
    if (v < count) {
      if ((same & lanes_below()) == 0) atomicAdd(&bins[v], (u32)__popc(same));
    } else if (at < n) {
      bad++;
    }
  }
  if (bad) atomicAdd(outside, (u64)bad);
}
