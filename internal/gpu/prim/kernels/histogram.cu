// How often each number occurs.
#include "rows.cuh"

constexpr u32 kThreads = 512;
constexpr u32 kLocalBins = 8192;  // 32 KB of shared memory
constexpr u32 kRows = 4;          // of 16 bytes per thread, loaded at a time
constexpr u32 kBatch = kThreads * kRows * 4;

// Calls add(value) for every value, by all lanes of a warp together: lanes beyond the end pass
// none.
template <class Add> INLINE void each(const u32* in, u64 n, u32 none, Add add) {
  for (u64 base = (u64)blockIdx.x * kBatch; base < n; base += (u64)gridDim.x * kBatch) {
    u32 v[kRows][4];
    bool whole = base + kBatch <= n && aligned(in);
#pragma unroll
    for (u32 r = 0; r < kRows; r++) {
      u64 at = base + (r * kThreads + threadIdx.x) * 4;
      if (whole) {
        load_vec(in + at, v[r]);
      } else {
#pragma unroll
        for (u32 j = 0; j < 4; j++) v[r][j] = at + j < n ? in[at + j] : none;
      }
    }
#pragma unroll
    for (u32 r = 0; r < kRows; r++)
#pragma unroll
      for (u32 j = 0; j < 4; j++) add(v[r][j]);
  }
}

// Lanes beyond the end were counted as outside; their known number is subtracted.
INLINE void report(u64* outside, u32 bad, u64 n) {
  u64 batches = (n + kBatch - 1) / kBatch;
  bool last = (batches - 1) % gridDim.x == blockIdx.x;
  u64 all = bad;
  if (last && threadIdx.x == 0) all -= batches * kBatch - n;
  if (all) atomicAdd(outside, all);
}

// Few bins: every block counts in shared memory and adds up at the end.
KERNEL __launch_bounds__(kThreads)
histogram_small(const u32* __restrict__ in, u32* bins, u64* outside, u64 n, u32 count) {
  __shared__ u32 local[kLocalBins];
  for (u32 i = threadIdx.x; i < count; i += kThreads) local[i] = 0;
  __syncthreads();
  u32 bad = 0;
  each(in, n, count, [&](u32 v) {
    // A warp with a single value adds once: atomics on one address run one after the other.
    u32 v0 = __shfl_sync(kFull, v, 0);
    if (__all_sync(kFull, v == v0)) {
      if (v >= count) {
        bad++;
      } else if (lane_id() == 0) {
        atomicAdd(&local[v], kWarp);
      }
    } else if (v < count) {
      atomicAdd(&local[v], 1u);
    } else {
      bad++;
    }
  });
  __syncthreads();
  for (u32 i = threadIdx.x; i < count; i += kThreads)
    if (local[i]) atomicAdd(&bins[i], local[i]);
  report(outside, bad, n);
}

// Many bins: atomics in L2, one for all lanes of a warp with the same value.
KERNEL __launch_bounds__(kThreads)
histogram_large(const u32* __restrict__ in, u32* bins, u64* outside, u64 n, u32 count) {
  u32 bad = 0;
  each(in, n, count, [&](u32 v) {
    u32 same = __match_any_sync(kFull, v);
    if (v >= count) {
      bad++;
    } else if ((same & lanes_below()) == 0) {
      atomicAdd(&bins[v], (u32)__popc(same));
    }
  });
  report(outside, bad, n);
}
