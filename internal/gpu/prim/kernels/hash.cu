// Hash tables from keys to sums. Additions that find the table full go to an overflow list, so that
// none is lost.
#include "hash.cuh"
#include "warp.cuh"

constexpr u32 kThreads = 256;

// The overflow list, and its length.
struct Overflow {
  u64* keys;
  u64* adds;
  u64* count;
  INLINE void put(u64 key, u64 add) const {
    u64 at = atomicAdd(count, 1ull);
    keys[at] = key;
    adds[at] = add;
  }
};

// Adds adds[i] to the sum of the key in[i], or 1 if adds is null.
KERNEL __launch_bounds__(kThreads)
hash_add(u64* keys, u64* sums, u64 slots, const u64* __restrict__ in, const u32* __restrict__ adds, u64 n,
         u64* over_keys, u64* over_adds, u64* over_count) {
  Overflow overflow{over_keys, over_adds, over_count};
  u64 step = (u64)gridDim.x * kThreads;
  for (u64 i = (u64)blockIdx.x * kThreads + threadIdx.x; i < n; i += step) {
    u64 key = in[i];
    u64 add = adds ? adds[i] : 1;
    if (!table_add(keys, sums, slots, key, add)) overflow.put(key, add);
  }
}

// The same, faster. Words and pairs of words are skewed: a few keys get most of the additions, and
// atomic operations on the same address in L2 run one after the other. So each block first adds in
// a small table in shared memory. A key whose slot there is taken by another key is added to the
// table in global memory at once. In the end the sums in shared memory are added to it.
constexpr u32 kCache = 2048;

KERNEL __launch_bounds__(kThreads)
hash_add_bucketed(u64* keys, u64* sums, u64 slots, const u64* __restrict__ in, const u32* __restrict__ adds, u64 n,
                  u64* over_keys, u64* over_adds, u64* over_count) {
  __shared__ u64 cached[kCache];
  __shared__ u32 sum[kCache];
  Overflow overflow{over_keys, over_adds, over_count};
  for (u32 i = threadIdx.x; i < kCache; i += kThreads) cached[i] = kEmpty, sum[i] = 0;
  __syncthreads();
  u64 step = (u64)gridDim.x * kThreads;
  for (u64 i = (u64)blockIdx.x * kThreads + threadIdx.x; i < n; i += step) {
    u64 key = in[i];
    u32 add = adds ? adds[i] : 1;
    u32 at = (u32)(mix(key) >> 40) & (kCache - 1);
    u64 there = atomicCAS(&cached[at], kEmpty, key);
    // An addition to a sum of 2^31 or more is undone. In between, the block's 256 threads may each
    // have added up to 2^16, so no sum reaches 2^32.
    if ((there == kEmpty || there == key) && add < 1u << 16) {
      if (atomicAdd(&sum[at], add) < 1u << 31) continue;
      atomicSub(&sum[at], add);
    }
    if (!bucket_add(keys, sums, slots, key, add)) overflow.put(key, add);
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < kCache; i += kThreads)
    if (sum[i] && !bucket_add(keys, sums, slots, cached[i], sum[i])) overflow.put(cached[i], sum[i]);
}

// Marks the slots in use, for compaction.
KERNEL __launch_bounds__(kThreads) hash_used(const u64* __restrict__ keys, u8* flags, u64 slots) {
  u64 i = (u64)blockIdx.x * kThreads + threadIdx.x;
  if (i < slots) flags[i] = keys[i] != kEmpty;
}
