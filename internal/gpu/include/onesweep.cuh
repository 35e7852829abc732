// Stable least-significant-digit radix sort, 8 bits a pass, in the way of
// Onesweep (Adinets and Merrill 2022): one kernel counts the digits of all
// passes in a single reading; then every pass reads and writes each key once.
// A tile ranks its keys by digit, learns by look-back how many keys with each
// digit lie in earlier tiles, brings its keys into digit order in shared memory
// and writes runs.
//
// Every type of keys and values has a module of its own, since a device driver
// needs a quarter of a second to compile one.
#pragma once
#include "warp.cuh"

constexpr u32 kDigits = 256;

// Look-back words of a tile, one per digit: two bits of state, 30 of count, so
// at most 2^30 - 1 keys are sorted at a time.
constexpr u32 kSum = 1u << 30;
constexpr u32 kPrefix = 2u << 30;
constexpr u32 kCount = kSum - 1;

// Tiles that a thread looks at together when it looks back.
constexpr u32 kWindow = 4;

template <class K> INLINE u32 digit_of(K key, u32 shift, u32 mask) { return (u32)(key >> shift) & mask; }

// One pass. states has a word per tile and digit, all zero at the start.
template <class K, class V, u32 Threads, u32 Items, bool Pairs>
INLINE void onesweep(const K* __restrict__ in, K* __restrict__ out, const V* __restrict__ in_values, V* __restrict__ out_values,
                     const u32* __restrict__ offsets, u32* states, u32 n, u32 shift, u32 mask) {
  constexpr u32 kWarps = Threads / kWarp;
  constexpr u32 kTile = Threads * Items;
  static_assert(Threads >= kDigits, "a thread a digit");
  // The counters of ranking and the keys in their new order are never needed at
  // the same time.
  union Shared {
    u32 counts[kWarps][kDigits];
    K keys[kTile];
  };
  __shared__ Shared sh;
  __shared__ V values[Pairs ? kTile : 1];
  __shared__ u32 starts[kDigits];  // of each digit in the tile
  __shared__ u32 places[kDigits];  // global place of a digit's first key, less its start
  __shared__ u32 warp_sums[kDigits / kWarp];

  u32 tile = blockIdx.x;
  u32 base = tile * kTile;
  u32 count = min_of(kTile, n - base);
  u32 first = warp_id() * (kWarp * Items) + lane_id();

  // Items lie warp by warp, row by row, so that their order is (warp, row, lane).
  K key[Items];
#pragma unroll
  for (u32 j = 0; j < Items; j++) {
    u32 at = first + j * kWarp;
    key[j] = at < count ? in[base + at] : (K)~(K)0;
  }
  for (u32 i = threadIdx.x; i < kWarps * kDigits; i += Threads) (&sh.counts[0][0])[i] = 0;
  __syncthreads();

  // Rank within the warp: keys of the same digit in the same row find each
  // other by votes; the lowest adds them to the warp's counter.
  u32 rank[Items];
  u32* mine = sh.counts[warp_id()];
#pragma unroll
  for (u32 j = 0; j < Items; j++) {
    // Places behind the end get the highest digit, and are last among its keys.
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

  // Per digit: how many in each warp before, in the tile, in the tiles before.
  u32 total = 0;
  if (threadIdx.x < kDigits) {
    u32 d = threadIdx.x;
#pragma unroll
    for (u32 w = 0; w < kWarps; w++) {
      u32 c = sh.counts[w][d];
      sh.counts[w][d] = total;
      total += c;
    }
    if (d == mask) total -= kTile - count;  // the places behind the end
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

  // Look back, a thread a digit, several tiles at a time: a look takes as long as
  // it takes for a dozen tiles to begin.
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
