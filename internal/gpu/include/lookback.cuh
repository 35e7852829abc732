// Decoupled look-back (Merrill and Garland 2016): how a grid computes a prefix sum in one pass over
// memory. Every tile publishes the sum of its own values, then adds up its predecessors' sums until
// it finds one that has published its whole prefix. A tile's word in memory has the state in its
// two highest bits and the value in the others. Both change at once, so no fences are needed. Words
// must be zero before the launch. Tiles must be numbered in the order in which they start: by
// blockIdx.x (the hardware starts blocks in that order) or by a ticket.
#pragma once
#include "warp.cuh"

constexpr u64 kStateShift = 62;
constexpr u64 kStateSum = 1ull << kStateShift;     // the tile's own sum
constexpr u64 kStatePrefix = 2ull << kStateShift;  // the sum up to and including the tile
constexpr u64 kStateValue = kStateSum - 1;         // sums must stay below 2^62

INLINE void publish(u64* states, u32 tile, u64 state, u64 value) {
  *(volatile u64*)(states + tile) = state | value;
}

// Publishes the tile's own sum, which for the first tile is its prefix too. Called by one lane.
INLINE void announce(u64* states, u32 tile, u64 sum) {
  publish(states, tile, tile ? kStateSum : kStatePrefix, sum);
}

// The sum of all tiles before this one. Called by a whole warp, after announce. The lanes read 32
// tiles at a time (64 were slower on an H200). Publishes the tile's prefix at the end.
INLINE u64 resolve(u64* states, u32 tile, u64 sum) {
  if (tile == 0) return 0;
  u64 before = 0;
  i32 at = (i32)tile - 1 - (i32)lane_id();
  for (;;) {
    u64 word = kStatePrefix;
    if (at >= 0) {
      do {
        word = *(volatile u64*)(states + at);
      } while (word < kStateSum);
    }
    __syncwarp();
    u32 whole = __ballot_sync(kFull, word >= kStatePrefix);
    u32 last = whole ? __ffs(whole) - 1 : kWarp - 1;
    before += lane_id() <= last ? word & kStateValue : 0ull;
    if (whole) break;
    at -= kWarp;
  }
  before = warp_sum(before);
  if (lane_id() == 0) publish(states, tile, kStatePrefix, before + sum);
  return before;
}

// Both steps: announce, then resolve.
INLINE u64 look_back(u64* states, u32 tile, u64 sum) {
  if (lane_id() == 0) announce(states, tile, sum);
  return resolve(states, tile, sum);
}
