// Runs of equal keys: their keys, and the sum of their values or their length. One pass finds where
// runs begin and the sum of all values before each. The sum of a run is then a difference of two
// neighbours.
#pragma once
#include "lookback.cuh"
#include "rows.cuh"

constexpr u32 kRow = 4;  // adjacent items of a lane

// What is kept of a run besides its key, relative to the tile: the sum of the values before it, or
// without values the position where it begins.
template <bool Values> struct Kept { typedef u64 type; };
template <> struct Kept<false> { typedef u16 type; };

// out_sums gets, for each run, the sum of all values before it, and after the last run the sum of
// all values. Without values each item counts as one, so the sum is where the run begins. states
// has one word per tile to count runs, then, with values, one word per tile to sum them.
template <class K, class V, bool Values, u32 Threads, u32 Items>
INLINE void runs(const K* keys, const V* values, K* out_keys, u64* out_sums, u64* count, u64* states, u64 n) {
  constexpr u32 kRows = Items / kRow;
  constexpr u32 kTile = Threads * Items;
  __shared__ K kept_keys[kTile];
  __shared__ typename Kept<Values>::type kept_sums[kTile];
  __shared__ u32 warp_heads[Threads / kWarp];
  __shared__ u64 warp_sums[Threads / kWarp];
  __shared__ u64 heads_before, values_before;

  u64 tile = (u64)blockIdx.x * kTile;
  u32 place = warp_id() * (kWarp * Items) + lane_id() * kRow;  // in the tile
  u64 first = tile + place;
  bool whole = tile + kTile <= n && aligned(keys) && (!Values || aligned(values));
  K key[kRows][kRow];
  V value[kRows][kRow];
  load_rows(keys, first, n, whole, key);
  if (Values) load_rows(values, first, n, whole, value);
  K edge = 0;  // the key before the warp's first key, in lane 0
  if (lane_id() == 0 && first > 0 && first < n) edge = keys[first - 1];

  Marks<kRows, kRow> heads;
  heads.clear();
#pragma unroll
  for (u32 r = 0; r < kRows; r++) {
    u64 at = first + r * (kWarp * kRow);
    K before = __shfl_up_sync(kFull, key[r][kRow - 1], 1);
    K end = __shfl_sync(kFull, key[r ? r - 1 : 0][kRow - 1], kWarp - 1);
    if (lane_id() == 0) before = r ? end : edge;
    u32 bits = 0;
#pragma unroll
    for (u32 j = 0; j < kRow; j++) {
      K prev = j ? key[r][j - 1] : before;
      if (at + j < n && (at + j == 0 || key[r][j] != prev)) bits |= 1u << j;
    }
    heads.set(r, bits);
  }
  u32 local[kRows];
  u32 warp_count = heads.count(local);
  u64 before[kRows];
  u64 sum = 0;
  if (Values) {
#pragma unroll
    for (u32 r = 0; r < kRows; r++) {
      u64 row = 0;
#pragma unroll
      for (u32 j = 0; j < kRow; j++) row += value[r][j];
      u64 upto = warp_inclusive(row);
      before[r] = sum + upto - row;
      sum += __shfl_sync(kFull, upto, kWarp - 1);
    }
  }
  if (lane_id() == 0) {
    warp_heads[warp_id()] = warp_count;
    warp_sums[warp_id()] = sum;
  }
  __syncthreads();
  u32 tile_heads;
  u64 tile_sum = 0, my_sum = 0;
  u32 my_heads = sum_before(warp_heads, tile_heads);
  if (Values) my_sum = sum_before(warp_sums, tile_sum);
  u64* sum_states = states + gridDim.x;
  if (threadIdx.x == 0) announce(states, blockIdx.x, tile_heads);
  if (Values && threadIdx.x == kWarp) announce(sum_states, blockIdx.x, tile_sum);
#pragma unroll
  for (u32 r = 0; r < kRows; r++) {
    u32 to = my_heads + local[r];
    u64 s = Values ? my_sum + before[r] : place + r * (kWarp * kRow);
#pragma unroll
    for (u32 j = 0; j < kRow; j++) {
      if (heads.has(r, j)) {
        kept_keys[to] = key[r][j];
        kept_sums[to] = s;
        to++;
      }
      s += Values ? (u64)value[r][j] : 1;
    }
  }
  // Two warps look back, one for each of the two sums.
  if (warp_id() == 0) {
    u64 b = resolve(states, blockIdx.x, tile_heads);
    if (lane_id() == 0) heads_before = b;
  } else if (Values && warp_id() == 1) {
    u64 b = resolve(sum_states, blockIdx.x, tile_sum);
    if (lane_id() == 0) values_before = b;
  }
  __syncthreads();
  u64 base = Values ? values_before : tile;
  for (u32 i = threadIdx.x; i < tile_heads; i += Threads) {
    out_keys[heads_before + i] = kept_keys[i];
    out_sums[heads_before + i] = base + kept_sums[i];
  }
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) {
    u64 all = heads_before + tile_heads;
    *count = all;
    out_sums[all] = Values ? values_before + tile_sum : n;
  }
}

#define RUNS(K, THREADS, ITEMS)                                                                                   \
  KERNEL __launch_bounds__(THREADS) runs_##K(const K* keys, K* out_keys, u64* out_sums, u64* count, u64* states, u64 n) { \
    runs<K, u32, false, THREADS, ITEMS>(keys, nullptr, out_keys, out_sums, count, states, n);                      \
  }
#define REDUCE(K, V, THREADS, ITEMS)                                                                              \
  KERNEL __launch_bounds__(THREADS) runs_##K##_##V(const K* keys, const V* values, K* out_keys, u64* out_sums,     \
                                                   u64* count, u64* states, u64 n) {                              \
    runs<K, V, true, THREADS, ITEMS>(keys, values, out_keys, out_sums, count, states, n);                          \
  }
