// Runs of equal keys: their keys, and the sum of their values or their length.
// One pass finds where runs begin and the sum of all values before each; the sum
// of a run is then a difference of two neighbours. As in scan.cu, blocks stay, and
// the next tile is read while a tile's place is awaited.
#include "lookback.cuh"

constexpr u32 kThreads = 256;
constexpr u32 kWarps = kThreads / kWarp;
constexpr u32 kRow = 4;  // items of a lane that lie side by side
constexpr u32 kRows = 2;
constexpr u32 kTile = kThreads * kRow * kRows;

template <class T> INLINE void load_rows(const T* in, u64 first, u64 n, bool whole, T (&v)[kRows][kRow]) {
#pragma unroll
  for (u32 r = 0; r < kRows; r++) {
    u64 at = first + r * (kWarp * kRow);
#pragma unroll
    for (u32 j = 0; j < kRow; j += Vec<T>::n)
      if (whole) load_ahead(in + at + j, v[r] + j);
    if (!whole)
#pragma unroll
      for (u32 j = 0; j < kRow; j++) v[r][j] = at + j < n ? in[at + j] : 0;
  }
}

// What is kept of a run's head besides its key, relative to the tile: the sum of
// the values before it, or without values its place.
template <bool Values> struct Kept { typedef u64 type; };
template <> struct Kept<false> { typedef u32 type; };

// sums gets, for each run, the sum of all values before it, and behind the last
// run the sum of all. Without values each counts one, so that is where the run
// begins. words holds the ticket, then for each tile a word to count heads, then
// for each tile a word to sum values.
template <class K, class V, bool Values>
INLINE void runs(const K* keys, const V* values, K* out_keys, u64* out_sums, u64* count, u64* words, u64 n) {
  __shared__ K kept_keys[kTile];
  __shared__ typename Kept<Values>::type kept_sums[kTile];
  __shared__ u32 warp_heads[kWarps];
  __shared__ u64 warp_sums[kWarps];
  __shared__ u64 heads_before, sum_before;
  __shared__ u32 ticket;

  u32* tickets = (u32*)words;
  u32 tiles = (u32)((n + kTile - 1) / kTile);
  u64* head_states = words + 1;
  u64* sum_states = head_states + tiles;
  u32 lane_first = warp_id() * (kWarp * kRow * kRows) + lane_id() * kRow;
  K key[kRows][kRow];
  K edge = 0;  // the key before the warp's first, in lane 0
  V value[kRows][kRow];
  auto load = [&](u32 t) {
    u64 first = (u64)t * kTile + lane_first;
    bool whole = (u64)(t + 1) * kTile <= n;
    load_rows(keys, first, n, whole, key);
    if (Values) load_rows(values, first, n, whole, value);
    if (lane_id() == 0 && first > 0 && first < n) edge = keys[first - 1];
  };

  if (threadIdx.x == 0) ticket = atomicAdd(tickets, 1u);
  __syncthreads();
  u32 tile = ticket;
  __syncthreads();
  if (tile < tiles) load(tile);
  while (tile < tiles) {
    if (threadIdx.x == 0) ticket = atomicAdd(tickets, 1u);
    u64 first = (u64)tile * kTile + lane_first;
    u32 head[kRows];  // a bit an item
    u32 packed = 0;   // heads of each row, 16 bits a row
#pragma unroll
    for (u32 r = 0; r < kRows; r++) {
      u64 at = first + r * (kWarp * kRow);
      K before = __shfl_up_sync(kFull, key[r][kRow - 1], 1);
      K end = __shfl_sync(kFull, key[r ? r - 1 : 0][kRow - 1], kWarp - 1);
      if (lane_id() == 0) before = r ? end : edge;
      head[r] = 0;
#pragma unroll
      for (u32 j = 0; j < kRow; j++) {
        K prev = j ? key[r][j - 1] : before;
        if (at + j < n && (at + j == 0 || key[r][j] != prev)) head[r] |= 1u << j;
      }
      packed |= __popc(head[r]) << (16 * r);
    }
    u32 upto = warp_inclusive(packed);
    u32 totals = __shfl_sync(kFull, upto, kWarp - 1);
    u32 local[kRows];
    local[0] = (upto - packed) & 0xffff;
    local[1] = (totals & 0xffff) + ((upto - packed) >> 16);
    u64 before[kRows];
    u64 sum = 0;
    if (Values) {
#pragma unroll
      for (u32 r = 0; r < kRows; r++) {
        u64 row = 0;
#pragma unroll
        for (u32 j = 0; j < kRow; j++) row += value[r][j];
        u64 u = warp_inclusive(row);
        before[r] = sum + u - row;
        sum += __shfl_sync(kFull, u, kWarp - 1);
      }
    }
    if (lane_id() == 0) {
      warp_heads[warp_id()] = (totals & 0xffff) + (totals >> 16);
      warp_sums[warp_id()] = sum;
    }
    __syncthreads();
    u32 my_heads = 0, tile_heads = 0;
    u64 my_sum = 0, tile_sum = 0;
#pragma unroll
    for (u32 w = 0; w < kWarps; w++) {
      if (w < warp_id()) my_heads += warp_heads[w], my_sum += warp_sums[w];
      tile_heads += warp_heads[w], tile_sum += warp_sums[w];
    }
    if (threadIdx.x == 0) announce(head_states, tile, tile_heads);
    if (Values && threadIdx.x == kWarp) announce(sum_states, tile, tile_sum);
#pragma unroll
    for (u32 r = 0; r < kRows; r++) {
      u32 to = my_heads + local[r];
      u64 s = Values ? my_sum + before[r] : lane_first + r * (kWarp * kRow);
#pragma unroll
      for (u32 j = 0; j < kRow; j++) {
        if ((head[r] >> j) & 1) {
          kept_keys[to] = key[r][j];
          kept_sums[to] = s;
          to++;
        }
        s += Values ? (u64)value[r][j] : 1;
      }
    }
    u32 following = ticket;
    if (following < tiles) load(following);
    // Two warps look back, one for each of the two sums.
    if (warp_id() == 0) {
      u64 b = resolve(head_states, tile, tile_heads);
      if (lane_id() == 0) heads_before = b;
    } else if (Values && warp_id() == 1) {
      u64 b = resolve(sum_states, tile, tile_sum);
      if (lane_id() == 0) sum_before = b;
    }
    __syncthreads();
    u64 base = Values ? sum_before : (u64)tile * kTile;
    for (u32 i = threadIdx.x; i < tile_heads; i += kThreads) {
      out_keys[heads_before + i] = kept_keys[i];
      out_sums[heads_before + i] = base + kept_sums[i];
    }
    if (tile == tiles - 1 && threadIdx.x == 0) {
      u64 all = heads_before + tile_heads;
      *count = all;
      out_sums[all] = Values ? sum_before + tile_sum : n;
    }
    tile = following;
  }
}

#define RUNS(K)                                                                                                    \
  KERNEL __launch_bounds__(kThreads) runs_##K(const K* keys, K* out_keys, u64* out_sums, u64* count, u64* words, u64 n) { \
    runs<K, u32, false>(keys, nullptr, out_keys, out_sums, count, words, n);                                        \
  }
#define REDUCE(K, V)                                                                                               \
  KERNEL __launch_bounds__(kThreads) runs_##K##_##V(const K* keys, const V* values, K* out_keys, u64* out_sums,     \
                                                    u64* count, u64* words, u64 n) {                               \
    runs<K, V, true>(keys, values, out_keys, out_sums, count, words, n);                                            \
  }
RUNS(u32)
RUNS(u64)
REDUCE(u32, u32)
REDUCE(u32, u64)
REDUCE(u64, u32)
REDUCE(u64, u64)

// The sum of each run.
KERNEL __launch_bounds__(kThreads) runs_difference(const u64* __restrict__ sums, u64* out, const u64* count) {
  u64 n = *count;
  u64 step = (u64)gridDim.x * kThreads;
  for (u64 i = (u64)blockIdx.x * kThreads + threadIdx.x; i < n; i += step) out[i] = sums[i + 1] - sums[i];
}
