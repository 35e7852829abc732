// Runs of equal keys: their keys, and the sum of their values or their length.
// One pass finds where runs begin and the sum of all values before each; the sum
// of a run is then a difference of two neighbours.
#include "lookback.cuh"

constexpr u32 kThreads = 256;
constexpr u32 kWarps = kThreads / kWarp;
constexpr u32 kRow = 4;  // items of a lane that lie side by side
constexpr u32 kRows = 2;
constexpr u32 kTile = kThreads * kRow * kRows;

template <class T> INLINE void load_row(const T* in, u64 at, u64 n, T* v) {
  if (at + kRow <= n) {
#pragma unroll
    for (u32 j = 0; j < kRow; j += Vec<T>::n) load_vec(in + at + j, v + j);
  } else {
#pragma unroll
    for (u32 j = 0; j < kRow; j++) v[j] = at + j < n ? in[at + j] : 0;
  }
}

// sums gets, for each run, the sum of all values before it, and behind the last
// run the sum of all. Without values (Values false) each counts one, so that is
// where the run begins.
template <class K, class V, bool Values>
INLINE void runs(const K* __restrict__ keys, const V* __restrict__ values, K* out_keys, u64* out_sums, u64* count,
                 u64* head_states, u64* sum_states, u64 n) {
  __shared__ K kept_keys[kTile];
  __shared__ u64 kept_sums[kTile];
  __shared__ u32 warp_heads[kWarps];
  __shared__ u64 warp_sums[kWarps];
  __shared__ u64 heads_before, sum_before;

  u64 first = (u64)blockIdx.x * kTile + warp_id() * (kWarp * kRow * kRows) + lane_id() * kRow;
  K key[kRows][kRow];
  V value[kRows][kRow];
  u32 head[kRows];  // a bit an item
  u32 packed = 0;   // heads of each row, 16 bits a row
#pragma unroll
  for (u32 r = 0; r < kRows; r++) {
    u64 at = first + r * (kWarp * kRow);
    load_row(keys, at, n, key[r]);
    if (Values) load_row(values, at, n, value[r]);
    K before = __shfl_up_sync(kFull, key[r][kRow - 1], 1);
    if (lane_id() == 0 && at > 0 && at < n) before = keys[at - 1];
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
  // Two warps look back, one for each of the two sums.
  if (warp_id() == 0) {
    u64 b = look_back(head_states, blockIdx.x, tile_heads);
    if (lane_id() == 0) heads_before = b;
  } else if (Values && warp_id() == 1) {
    u64 b = look_back(sum_states, blockIdx.x, tile_sum);
    if (lane_id() == 0) sum_before = b;
  }
  __syncthreads();
  if (Values) my_sum += sum_before;
#pragma unroll
  for (u32 r = 0; r < kRows; r++) {
    u64 at = first + r * (kWarp * kRow);
    u32 to = my_heads + local[r];
    u64 s = Values ? my_sum + before[r] : at;
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
  __syncthreads();
  for (u32 i = threadIdx.x; i < tile_heads; i += kThreads) {
    out_keys[heads_before + i] = kept_keys[i];
    out_sums[heads_before + i] = kept_sums[i];
  }
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) {
    u64 all = heads_before + tile_heads;
    *count = all;
    out_sums[all] = Values ? sum_before + tile_sum : n;
  }
}

#define RUNS(K)                                                                                                    \
  KERNEL __launch_bounds__(kThreads) runs_##K(const K* keys, K* out_keys, u64* out_sums, u64* count, u64* states, u64 n) { \
    runs<K, u32, false>(keys, nullptr, out_keys, out_sums, count, states, nullptr, n);                              \
  }
#define REDUCE(K, V)                                                                                               \
  KERNEL __launch_bounds__(kThreads) runs_##K##_##V(const K* keys, const V* values, K* out_keys, u64* out_sums,     \
                                                    u64* count, u64* states, u64 n) {                              \
    runs<K, V, true>(keys, values, out_keys, out_sums, count, states, states + gridDim.x, n);                       \
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
