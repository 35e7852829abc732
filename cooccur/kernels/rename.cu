// Replaces the dictionary's numbers by IDs, in place. Words that are not in the vocabulary are
// removed, and the others move up.
#include "lookback.cuh"

constexpr u32 kThreads = 256;
constexpr u32 kItems = 16;
constexpr u32 kTile = kThreads * kItems;
constexpr u32 kNone = 0xffffffffu;

// ids has the ID + 1 of each number, or kNone. A tile writes only where it or earlier tiles have
// read: an earlier tile publishes how much it keeps after it has read.
KERNEL __launch_bounds__(kThreads)
cooccur_rename(u32* items, u64 n, const u32* __restrict__ ids, u64* count, u64* states) {
  __shared__ u32 warps[kThreads / kWarp];
  __shared__ u64 prefix;
  __shared__ u32 kept[kTile];
  u64 base = (u64)blockIdx.x * kTile;
  u32 first = warp_id() * (kWarp * kItems) + lane_id();
  u32 item[kItems];
#pragma unroll
  for (u32 j = 0; j < kItems; j++) {
    u64 at = base + first + j * kWarp;
    item[j] = at < n ? items[at] : kNone;
  }
#pragma unroll
  for (u32 j = 0; j < kItems; j++)
    if (item[j] != 0 && item[j] != kNone) item[j] = ids[item[j] - 1];
  u32 rank[kItems];
  u32 sum = 0;
#pragma unroll
  for (u32 j = 0; j < kItems; j++) {
    u32 votes = __ballot_sync(kFull, item[j] != kNone);
    rank[j] = sum + __popc(votes & lanes_below());
    sum += __popc(votes);
  }
  if (lane_id() == 0) warps[warp_id()] = sum;
  __syncthreads();
  u32 before = 0, total = 0;
  for (u32 w = 0; w < kThreads / kWarp; w++) {
    u32 s = warps[w];
    if (w < warp_id()) before += s;
    total += s;
  }
  if (warp_id() == 0) {
    u64 p = look_back(states, blockIdx.x, total);
    if (lane_id() == 0) {
      prefix = p;
      if (blockIdx.x == gridDim.x - 1) *count = p + total;
    }
  }
#pragma unroll
  for (u32 j = 0; j < kItems; j++)
    if (item[j] != kNone) kept[before + rank[j]] = item[j];
  __syncthreads();
  for (u32 i = threadIdx.x; i < total; i += kThreads) items[prefix + i] = kept[i];
}
