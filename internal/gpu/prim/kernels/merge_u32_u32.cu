// A stable merge sort of 32-bit keys with 32-bit values, one of the papers' primitives. Tiles are
// sorted in shared memory, then pairs of runs are merged. Each block makes a tile of the result,
// whose ends it finds by binary search on the merge path. Radix sorts (onesweep.cuh) are faster for
// numbers.
#include "warp.cuh"

constexpr u32 kThreads = 256;
constexpr u32 kItems = 8;
constexpr u32 kTile = kThreads * kItems;

// How many of the first d items of two merged runs come from a; among equal keys those of a come
// first.
INLINE u32 merge_path(const u32* a, u32 na, const u32* b, u32 nb, u32 d) {
  u32 low = d > nb ? d - nb : 0, high = min_of(d, na);
  while (low < high) {
    u32 mid = (low + high) / 2;
    if (a[mid] <= b[d - 1 - mid]) low = mid + 1;
    else high = mid;
  }
  return low;
}

// Merges `count` items of a and b, from a[i] and b[j] on, into registers: the keys, and the
// position of each in the input.
INLINE void merge_few(const u32* keys, u32 i, u32 a_end, u32 j, u32 b_end, u32 count, u32* key, u32* from) {
#pragma unroll
  for (u32 t = 0; t < kItems; t++) {
    if (t >= count) break;
    bool take_a = j >= b_end || (i < a_end && keys[i] <= keys[j]);
    u32 at = take_a ? i++ : j++;
    key[t] = keys[at], from[t] = at;
  }
}

KERNEL __launch_bounds__(kThreads)
merge_tiles(const u32* __restrict__ keys, u32* __restrict__ out_keys, const u32* __restrict__ values, u32* __restrict__ out_values, u32 n) {
  __shared__ u32 k[kTile], v[kTile];
  u32 first = blockIdx.x * kTile, count = min_of(kTile, n - first);
  for (u32 i = threadIdx.x; i < count; i += kThreads) k[i] = keys[first + i], v[i] = values[first + i];
  __syncthreads();
  u32 mine = min_of(threadIdx.x * kItems, count), own = min_of(kItems, count - mine);
  // Each thread sorts its items by insertion.
  for (u32 i = 1; i < own; i++) {
    u32 key = k[mine + i], value = v[mine + i];
    u32 j = i;
    for (; j > 0 && k[mine + j - 1] > key; j--) k[mine + j] = k[mine + j - 1], v[mine + j] = v[mine + j - 1];
    k[mine + j] = key, v[mine + j] = value;
  }
  for (u32 width = kItems; width < kTile; width *= 2) {
    __syncthreads();
    u32 a = mine / (2 * width) * (2 * width), b = min_of(a + width, count), end = min_of(a + 2 * width, count);
    u32 key[kItems], from[kItems], value[kItems];
    u32 d = mine - a;
    u32 i = own ? merge_path(k + a, b - a, k + b, end - b, d) : 0;
    merge_few(k, a + i, b, b + d - i, end, own, key, from);
#pragma unroll
    for (u32 t = 0; t < kItems; t++)
      if (t < own) value[t] = v[from[t]];
    __syncthreads();
#pragma unroll
    for (u32 t = 0; t < kItems; t++)
      if (t < own) k[mine + t] = key[t], v[mine + t] = value[t];
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < count; i += kThreads) out_keys[first + i] = k[i], out_values[first + i] = v[i];
}

// Merges pairs of runs of `width` items.
KERNEL __launch_bounds__(kThreads)
merge_runs(const u32* __restrict__ keys, u32* __restrict__ out_keys, const u32* __restrict__ values, u32* __restrict__ out_values, u32 n, u32 width) {
  __shared__ u32 k[kTile], v[kTile];
  __shared__ u32 cut[2];
  u32 first = blockIdx.x * kTile, count = min_of(kTile, n - first);
  u32 a = (u32)(first / (2ull * width) * (2ull * width));
  u32 b = (u32)min_of((u64)a + width, (u64)n), end = (u32)min_of((u64)a + 2ull * width, (u64)n);
  if (threadIdx.x < 2) cut[threadIdx.x] = merge_path(keys + a, b - a, keys + b, end - b, first - a + threadIdx.x * count);
  __syncthreads();
  u32 a0 = a + cut[0], a1 = a + cut[1], b0 = b + (first - a - cut[0]), b1 = b + (first - a + count - cut[1]);
  u32 na = a1 - a0;
  for (u32 i = threadIdx.x; i < count; i += kThreads) {
    u32 at = i < na ? a0 + i : b0 + (i - na);
    k[i] = keys[at], v[i] = values[at];
  }
  __syncthreads();
  u32 mine = min_of(threadIdx.x * kItems, count), own = min_of(kItems, count - mine);
  u32 key[kItems], from[kItems], value[kItems];
  u32 i = own ? merge_path(k, na, k + na, b1 - b0, mine) : 0;
  merge_few(k, i, na, na + mine - i, count, own, key, from);
#pragma unroll
  for (u32 t = 0; t < kItems; t++)
    if (t < own) value[t] = v[from[t]];
  __syncthreads();
#pragma unroll
  for (u32 t = 0; t < kItems; t++)
    if (t < own) k[mine + t] = key[t], v[mine + t] = value[t];
  __syncthreads();
  for (u32 i = threadIdx.x; i < count; i += kThreads) out_keys[first + i] = k[i], out_values[first + i] = v[i];
}
