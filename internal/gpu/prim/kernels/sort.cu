// The histograms of a radix sort (onesweep.cuh): how often each digit occurs, for all passes.
#include "onesweep.cuh"

constexpr u32 kMaxPasses = 8;
constexpr u32 kHistThreads = 512;
constexpr u32 kHistItems = 8;

// Counts the digits of all passes. In the high digits of small numbers, most lanes of a warp
// usually have the same digit. Then one lane adds for all that have it, since 32 atomics on one
// address would run one after the other. The first keys of the lanes decide.
template <class K> INLINE void histogram(const K* __restrict__ keys, u32* counts, u32 n, u32 low, u32 high) {
  __shared__ u32 local[kMaxPasses * kDigits];
  u32 passes = (high - low + 7) / 8;
  for (u32 i = threadIdx.x; i < passes * kDigits; i += kHistThreads) local[i] = 0;
  __syncthreads();
  u32 step = gridDim.x * kHistThreads;
  for (u32 base = blockIdx.x * kHistThreads; base < n; base += kHistItems * step) {
    K key[kHistItems];
#pragma unroll
    for (u32 j = 0; j < kHistItems; j++) {
      u64 at = base + (u64)j * step + threadIdx.x;
      key[j] = at < n ? keys[at] : 0;
    }
    bool all = base + (u64)(kHistItems - 1) * step + kHistThreads <= n;
    for (u32 p = 0; p < passes; p++) {
      u32 shift = low + 8 * p;
      u32 mask = (1u << min_of(8u, high - shift)) - 1;
      u32* mine = local + p * kDigits;
      u32 d0 = __shfl_sync(kFull, digit_of(key[0], shift, mask), 0);
      if (__all_sync(kFull, all && digit_of(key[0], shift, mask) == d0)) {
#pragma unroll
        for (u32 j = 0; j < kHistItems; j++) {
          u32 d = digit_of(key[j], shift, mask);
          u32 same = __ballot_sync(kFull, d == d0);
          if (d != d0) atomicAdd(mine + d, 1u);
          else if ((same & lanes_below()) == 0) atomicAdd(mine + d, (u32)__popc(same));
        }
      } else {
#pragma unroll
        for (u32 j = 0; j < kHistItems; j++)
          if (all || base + (u64)j * step + threadIdx.x < n) atomicAdd(mine + digit_of(key[j], shift, mask), 1u);
      }
    }
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < passes * kDigits; i += kHistThreads)
    if (local[i]) atomicAdd(&counts[i], local[i]);
}

// Turns the counts of each pass into the first position of each digit. One block per pass.
KERNEL __launch_bounds__(kDigits) sort_offsets(u32* counts) {
  __shared__ u32 warp_sums[kDigits / kWarp];
  u32* mine = counts + blockIdx.x * kDigits + threadIdx.x;
  u32 c = *mine;
  u32 upto = warp_inclusive(c);
  if (lane_id() == kWarp - 1) warp_sums[warp_id()] = upto;
  __syncthreads();
  u32 before = upto - c;
  for (u32 w = 0; w < warp_id(); w++) before += warp_sums[w];
  *mine = before;
}

#define HISTOGRAM(K)                                                                            \
  KERNEL __launch_bounds__(kHistThreads) sort_count_##K(const K* keys, u32* counts, u32 n, u32 low, u32 high) { \
    histogram<K>(keys, counts, n, low, high);                                                   \
  }
HISTOGRAM(u32)
HISTOGRAM(u64)
