// Stable least-significant-digit radix sort, 8 bits per pass, as in Onesweep (Adinets and Merrill
// 2022). One kernel counts the digits of all passes in a single read; then every pass reads and
// writes each key once. A tile ranks its keys by digit and learns by look-back how many keys with
// each digit are in earlier tiles. Then it orders its keys by digit in shared memory and writes
// runs.
//
// Every combination of key and value types has a module of its own, since a driver needs a quarter
// of a second to compile one.
#pragma once
#include "warp.cuh"

constexpr u32 kDigits = 256;

// Look-back words of a tile, one per digit: two bits of state and 30 of count, which limits a sort
// to 2^30 - 1 keys.
constexpr u32 kSum = 1u << 30;
constexpr u32 kPrefix = 2u << 30;
constexpr u32 kCount = kSum - 1;

// Tiles that a thread reads at a time in look-back.
constexpr u32 kWindow = 4;

template <class K> INLINE u32 digit_of(K key, u32 shift, u32 mask) { return (u32)(key >> shift) & mask; }

// One pass. states has a word per tile and digit, all zero at the start.
template <class K, class V, u32 Threads, u32 Items, bool Pairs>
INLINE void onesweep(const K* __restrict__ in, K* __restrict__ out, const V* __restrict__ in_values, V* __restrict__ out_values,
                     const u32* __restrict__ offsets, u32* states, u32 n, u32 shift, u32 mask) {
  constexpr u32 kWarps = Threads / kWarp;
  constexpr u32 kTile = Threads * Items;
  static_assert(Threads >= kDigits, "a thread a digit");
  // The counters for ranking and the reordered keys are never needed at the same time.
  union Shared {
    u32 counts[kWarps][kDigits];
    K keys[kTile];
  };
  __shared__ Shared sh;
  __shared__ V values[Pairs ? kTile : 1];
  __shared__ u32 starts[kDigits];  // first position of each digit in the tile
  __shared__ u32 places[kDigits];  // global position of a digit's first key, minus its start
  __shared__ u32 warp_sums[kDigits / kWarp];

  u32 tile = blockIdx.x;
  u32 base = tile * kTile;
  u32 count = min_of(kTile, n - base);
  u32 first = warp_id() * (kWarp * Items) + lane_id();

  // Items are ordered by (warp, row, lane).
  K key[Items];
#pragma unroll
  for (u32 j = 0; j < Items; j++) {
    u32 at = first + j * kWarp;
    key[j] = at < count ? in[base + at] : (K)~(K)0;
  }
  for (u32 i = threadIdx.x; i < kWarps * kDigits; i += Threads) (&sh.counts[0][0])[i] = 0;
  __syncthreads();

  // Rank within the warp: votes find the keys of the same digit in the same row; the lowest lane
  // adds them to the warp's counter.
  u32 rank[Items];
  u32* mine = sh.counts[warp_id()];
#pragma unroll
  for (u32 j = 0; j < Items; j++) {
    // Items beyond the end have the highest digit, and are last among its keys.
    u32 d = digit_of(key[j], shift, mask);
    u32 same = warp_match<8>(d);
    u32 below = __popc(same & lanes_below());
    u32 before = mine[d];
    __syncwarp();
    if (below == 0) mine[d] = before + __popc(same);
    __syncwarp();
    rank[j] = before + below;
  }
  __syncthreads();

  // Per digit: the number of keys in each warp before, in the tile, and in the tiles before.
  u32 total = 0;
  if (threadIdx.x < kDigits) {
    u32 d = threadIdx.x;
#pragma unroll
    for (u32 w = 0; w < kWarps; w++) {
      u32 c = sh.counts[w][d];
      sh.counts[w][d] = total;
      total += c;
    }
    if (d == mask) total -= kTile - count;  // the items beyond the end
    *(volatile u32*)(states + (u64)tile * kDigits + d) = (tile == 0 ? kPrefix : kSum) | total;
    u32 upto = warp_inclusive(total);
    if (lane_id() == kWarp - 1) warp_sums[warp_id()] = upto;
    starts[d] = upto - total;
  }
  __syncthreads();
  if (threadIdx.x < kDigits) {
    u32 before = 0;
    for (u32 w = 0; w < warp_id(); w++) before += warp_sums[w];
    starts[threadIdx.x] += before;
  }
  __syncthreads();
#pragma unroll
  for (u32 j = 0; j < Items; j++) {
    u32 d = digit_of(key[j], shift, mask);
    rank[j] += starts[d] + mine[d];
  }
  __syncthreads();
#pragma unroll
  for (u32 j = 0; j < Items; j++) sh.keys[rank[j]] = key[j];
  V value[Pairs ? Items : 1];
  if constexpr (Pairs) {
#pragma unroll
    for (u32 j = 0; j < Items; j++) {
      u32 at = first + j * kWarp;
      if (at < count) value[j] = in_values[base + at];
    }
  }

  // Look back, one thread per digit, several tiles at a time: in the time of one access about a
  // dozen tiles start.
  if (threadIdx.x < kDigits) {
    u32 d = threadIdx.x;
    u32 before = 0;
    if (tile > 0) {
      bool whole = false;
      for (i32 t = (i32)tile - 1; !whole; t -= kWindow) {
        u32 word[kWindow];
#pragma unroll
        for (u32 j = 0; j < kWindow; j++)
          word[j] = t >= (i32)j ? *(volatile u32*)(states + (u64)(t - j) * kDigits + d) : kPrefix;
#pragma unroll
        for (u32 j = 0; j < kWindow; j++) {
          if (whole) continue;
          while (word[j] < kSum) word[j] = *(volatile u32*)(states + (u64)(t - j) * kDigits + d);
          before += word[j] & kCount;
          whole = word[j] >= kPrefix;
        }
      }
      *(volatile u32*)(states + (u64)tile * kDigits + d) = kPrefix | (before + total);
    }
    places[d] = offsets[d] + before - starts[d];
  }
  if constexpr (Pairs) {
#pragma unroll
    for (u32 j = 0; j < Items; j++)
      if (first + j * kWarp < count) values[rank[j]] = value[j];
  }
  __syncthreads();

#pragma unroll
  for (u32 j = 0; j < Items; j++) {
    u32 i = threadIdx.x + j * Threads;
    if (i < count) {
      K k = sh.keys[i];
      u32 place = places[digit_of(k, shift, mask)] + i;
      out[place] = k;
      if constexpr (Pairs) out_values[place] = values[i];
    }
  }
}

#define KEYS(K, THREADS, ITEMS)                                                                                   \
  KERNEL __launch_bounds__(THREADS) sort_##K(const K* in, K* out, const u32* offsets, u32* states, u32 n, u32 shift, u32 mask) { \
    onesweep<K, u32, THREADS, ITEMS, false>(in, out, nullptr, nullptr, offsets, states, n, shift, mask);           \
  }
#define PAIRS(K, V, THREADS, ITEMS, BLOCKS)                                                                            \
  KERNEL __launch_bounds__(THREADS, BLOCKS) sort_##K##_##V(const K* in, K* out, const V* in_values, V* out_values,         \
                                                   const u32* offsets, u32* states, u32 n, u32 shift, u32 mask) { \
    onesweep<K, V, THREADS, ITEMS, true>(in, out, in_values, out_values, offsets, states, n, shift, mask);         \
  }
