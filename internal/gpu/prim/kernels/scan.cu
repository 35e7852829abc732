// Prefix sums in one pass over memory: every value is read once and written
// once. A warp takes a contiguous piece in rows of 16 bytes a lane, so that all
// accesses are whole cache lines and no transposition is needed: the rows' sums
// are scanned across the lanes, all rows at the same time.
#include "lookback.cuh"

constexpr u32 kThreads = 256;
constexpr u32 kWarps = kThreads / kWarp;

// In and Out may differ in width: counts of 32 bits become offsets of 64.
template <class In, class Out, u32 Items, bool Inclusive>
INLINE void scan(const In* __restrict__ in, Out* __restrict__ out, u64* states, u64 n) {
  constexpr u32 kVec = Vec<In>::n;
  constexpr u32 kRows = Items / kVec;
  constexpr u32 kTile = kThreads * Items;
  __shared__ Out warp_sums[kWarps];
  __shared__ u64 prefix;

  u64 first = (u64)blockIdx.x * kTile + warp_id() * (kWarp * Items) + lane_id() * kVec;
  bool whole = (u64)(blockIdx.x + 1) * kTile <= n;
  In v[kRows][kVec];
#pragma unroll
  for (u32 r = 0; r < kRows; r++) {
    u64 at = first + r * (kWarp * kVec);
    if (whole) {
      load_vec(in + at, v[r]);
    } else {
#pragma unroll
      for (u32 j = 0; j < kVec; j++) v[r][j] = at + j < n ? in[at + j] : 0;
    }
  }

  // Scan the sums of each row across the lanes, then the rows one after another.
  Out before[kRows];
  Out sum = 0;
#pragma unroll
  for (u32 r = 0; r < kRows; r++) {
    Out row = 0;
#pragma unroll
    for (u32 j = 0; j < kVec; j++) row += v[r][j];
    Out upto = warp_inclusive(row);
    before[r] = sum + upto - row;
    sum += __shfl_sync(kFull, upto, kWarp - 1);
  }
  if (lane_id() == 0) warp_sums[warp_id()] = sum;
  __syncthreads();
  Out mine = 0, all = 0;
#pragma unroll
  for (u32 w = 0; w < kWarps; w++) {
    Out s = warp_sums[w];
    if (w < warp_id()) mine += s;
    all += s;
  }
  if (warp_id() == 0) {
    u64 p = look_back(states, blockIdx.x, (u64)all);
    if (lane_id() == 0) prefix = p;
  }
  __syncthreads();
  mine += (Out)prefix;

#pragma unroll
  for (u32 r = 0; r < kRows; r++) {
    Out o[kVec];
    Out run = mine + before[r];
#pragma unroll
    for (u32 j = 0; j < kVec; j++) {
      if (Inclusive) run += v[r][j];
      o[j] = run;
      if (!Inclusive) run += v[r][j];
    }
    u64 at = first + r * (kWarp * kVec);
    if (whole) {
#pragma unroll
      for (u32 j = 0; j < kVec; j += Vec<Out>::n) store_vec(out + at + j, o + j);
    } else {
#pragma unroll
      for (u32 j = 0; j < kVec; j++)
        if (at + j < n) out[at + j] = o[j];
    }
  }
}

#define SCAN(NAME, IN, OUT, ITEMS)                                                            \
  KERNEL __launch_bounds__(kThreads) scan_inclusive_##NAME(const IN* in, OUT* out, u64* states, u64 n) { \
    scan<IN, OUT, ITEMS, true>(in, out, states, n);                                           \
  }                                                                                           \
  KERNEL __launch_bounds__(kThreads) scan_exclusive_##NAME(const IN* in, OUT* out, u64* states, u64 n) { \
    scan<IN, OUT, ITEMS, false>(in, out, states, n);                                          \
  }

SCAN(u32, u32, u32, 16)
SCAN(u32_u64, u32, u64, 16)
SCAN(u64, u64, u64, 8)
