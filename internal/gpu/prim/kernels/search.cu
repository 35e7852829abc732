// Load-balancing search: the segment of each work item. offsets[s] is the first item of segment s;
// segments may be empty. Each tile of items marks in shared memory where segments begin, and a
// running maximum spreads the marks. So the cost does not depend on how uneven the segments are.
#include "warp.cuh"

constexpr u32 kThreads = 256;
constexpr u32 kWarps = kThreads / kWarp;
constexpr u32 kItems = 8;
constexpr u32 kTile = kThreads * kItems;

// The last segment that begins at or before the item, searched by a whole warp: every step divides
// the range by 33 instead of 2, for the latency of one access.
INLINE u32 segment_of(const u64* offsets, u32 segments, u64 item) {
  u32 low = 0, high = segments;  // offsets[low] <= item < offsets[high]
  while (high - low > 1) {
    u32 step = (high - low + kWarp) / (kWarp + 1);
    u32 at = low + (lane_id() + 1) * step;
    u32 upto = __popc(__ballot_sync(kFull, at < high && offsets[at] <= item));
    // The probes ascend, so the successful ones are the first.
    high = min_of(high, low + (upto + 1) * step);
    low += upto * step;
  }
  return low;
}

KERNEL __launch_bounds__(kThreads)
balance(const u64* __restrict__ offsets, u32 segments, u64 n, u32* __restrict__ out) {
  __shared__ u32 marks[kTile];
  __shared__ u32 bounds[2];
  __shared__ u32 warp_max[kWarps];
  u64 first = (u64)blockIdx.x * kTile;
  u32 count = (u32)min_of((u64)kTile, n - first);
  if (warp_id() < 2) {
    u32 s = segment_of(offsets, segments, warp_id() ? first + count - 1 : first);
    if (lane_id() == 0) bounds[warp_id()] = s;
  }
  for (u32 i = threadIdx.x; i < kTile; i += kThreads) marks[i] = 0;
  __syncthreads();
  u32 base = bounds[0], last = bounds[1];
  // Of several segments that begin at one item, all but the last are empty.
  for (u32 s = base + 1 + threadIdx.x; s <= last; s += kThreads) atomicMax(&marks[(u32)(offsets[s] - first)], s - base);
  __syncthreads();
  u32 v[kItems];
  u32 high = 0;
#pragma unroll
  for (u32 j = 0; j < kItems; j++) {
    high = max_of(high, marks[threadIdx.x * kItems + j]);
    v[j] = high;
  }
  u32 upto = high;
#pragma unroll
  for (u32 d = 1; d < kWarp; d *= 2) {
    u32 below = __shfl_up_sync(kFull, upto, d);
    if (lane_id() >= d) upto = max_of(upto, below);
  }
  if (lane_id() == kWarp - 1) warp_max[warp_id()] = upto;
  u32 before = __shfl_up_sync(kFull, upto, 1);
  if (lane_id() == 0) before = 0;
  __syncthreads();
  for (u32 w = 0; w < warp_id(); w++) before = max_of(before, warp_max[w]);
#pragma unroll
  for (u32 j = 0; j < kItems; j++) marks[threadIdx.x * kItems + j] = max_of(before, v[j]);
  __syncthreads();
  for (u32 i = threadIdx.x; i < count; i += kThreads) out[first + i] = base + marks[i];
}
