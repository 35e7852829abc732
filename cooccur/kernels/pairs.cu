// Counting pairs of words in windows of up to kMaxWindow words.
#include "pairs.cuh"

PAIRS(pairs_counts, kCounts, false)
PAIRS(pairs_units, kUnits, false)
PAIRS(pairs_wide, kWide, false)

// Removes the distance from sorted keys, and stores its units as values: in low, or in low and high
// if they are divided into the low and the high 31 bits.
KERNEL __launch_bounds__(kThreads)
pairs_weigh(u64* keys, u64 n, const u64* __restrict__ units, u32 distance_bits, u32* __restrict__ low, u32* __restrict__ high) {
  u64 i = (u64)blockIdx.x * kThreads + threadIdx.x;
  if (i >= n) return;
  u64 key = keys[i];
  u64 u = units[key & ((1u << distance_bits) - 1)];
  keys[i] = key >> distance_bits;
  if (high) {
    low[i] = (u32)u & 0x7fffffff;
    high[i] = (u32)(u >> 31);
  } else {
    low[i] = (u32)u;
  }
}
