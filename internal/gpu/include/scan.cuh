// Prefix sums in one pass over memory: every value is read once and written
// once. The rows' sums are scanned across the lanes, all rows at the same time.
//
// The number of bytes being loaded limits such a scan: tiles finish in order, so the slowest load
// delays all later tiles. Large tiles with few threads fill the registers with data; prefixes
// within the warp replace the values.
#pragma once
#include "lookback.cuh"
#include "rows.cuh"

// In and Out may differ in width: 32-bit counts become 64-bit offsets. states has a word per tile.
template <class In, class Out, u32 Threads, u32 Items, bool Inclusive>
INLINE void scan(const In* in, Out* out, u64* states, u64 n) {
  constexpr u32 kVec = Vec<In>::n;
  constexpr u32 kRows = Items / kVec;
  constexpr u32 kTile = Threads * Items;
  __shared__ Out warp_sums[Threads / kWarp];
  __shared__ u64 prefix;

  u64 first = (u64)blockIdx.x * kTile + warp_id() * (kWarp * Items) + lane_id() * kVec;
  bool whole = (u64)(blockIdx.x + 1) * kTile <= n && aligned(in) && aligned(out);
  In value[kRows][kVec];
  load_rows(in, first, n, whole, value);

  Out v[kRows][kVec];
  Out sum = 0;
#pragma unroll
  for (u32 r = 0; r < kRows; r++) {
    Out row = 0;
#pragma unroll
    for (u32 j = 0; j < kVec; j++) {
      Out before = row;
      row += value[r][j];
      v[r][j] = Inclusive ? row : before;
    }
    Out upto = warp_inclusive(row);
    Out before = sum + upto - row;
#pragma unroll
    for (u32 j = 0; j < kVec; j++) v[r][j] += before;
    sum += __shfl_sync(kFull, upto, kWarp - 1);
  }
  if (lane_id() == 0) warp_sums[warp_id()] = sum;
  __syncthreads();
  Out all;
  Out mine = sum_before(warp_sums, all);
  if (warp_id() == 0) {
    u64 p = look_back(states, blockIdx.x, all);
    if (lane_id() == 0) prefix = p;
  }
  __syncthreads();
  mine += (Out)prefix;

#pragma unroll
  for (u32 r = 0; r < kRows; r++) {
    u64 at = first + r * (kWarp * kVec);
#pragma unroll
    for (u32 j = 0; j < kVec; j++) v[r][j] += mine;
    if (whole) {
#pragma unroll
      for (u32 j = 0; j < kVec; j += Vec<Out>::n) store_vec(out + at + j, v[r] + j);
    } else {
#pragma unroll
      for (u32 j = 0; j < kVec; j++)
        if (at + j < n) out[at + j] = v[r][j];
    }
  }
}

// BLOCKS is the least number of blocks that must fit on a multiprocessor, which limits registers.
#define SCAN(NAME, IN, OUT, THREADS, ITEMS, BLOCKS)                                                              \
  KERNEL __launch_bounds__(THREADS, BLOCKS) scan_inclusive_##NAME(const IN* in, OUT* out, u64* states, u64 n) {  \
    scan<IN, OUT, THREADS, ITEMS, true>(in, out, states, n);                                                     \
  }                                                                                                              \
  KERNEL __launch_bounds__(THREADS, BLOCKS) scan_exclusive_##NAME(const IN* in, OUT* out, u64* states, u64 n) {  \
    scan<IN, OUT, THREADS, ITEMS, false>(in, out, states, n);                                                    \
  }
