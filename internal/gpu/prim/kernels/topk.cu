// The k largest scores, ties by the lower number. The k-th largest is found by
// its bits, 11 at a time from the top: each round counts, among the scores that
// share the bits found so far, how often each value of the next bits occurs. One
// more reading gathers what is above it, and of what is equal the first.
#include "lookback.cuh"

constexpr u32 kThreads = 256;
constexpr u32 kWarps = kThreads / kWarp;
constexpr u32 kBins = 2048;
constexpr u32 kRow = 4;
constexpr u32 kRows = 4;
constexpr u32 kTile = kThreads * kRow * kRows;

// Bits of a float that compare as the float does.
INLINE u32 ordered(u32 bits) { return bits & 0x80000000u ? ~bits : bits | 0x80000000u; }
INLINE u32 unordered(u32 o) { return o & 0x80000000u ? o & 0x7fffffffu : ~o; }

// What is known so far: the high bits of the k-th score, and how many of the
// scores that share them are wanted.
struct State {
  u32 found;
  u32 wanted;
};

KERNEL __launch_bounds__(kThreads)
topk_count(const u32* __restrict__ scores, u64 n, const State* state, u32* bins, u32 shift, u32 bits, u32 known) {
  __shared__ u32 local[kBins];
  for (u32 i = threadIdx.x; i < kBins; i += kThreads) local[i] = 0;
  __syncthreads();
  u32 found = state->found;
  u64 step = (u64)gridDim.x * kThreads;
  for (u64 i = (u64)blockIdx.x * kThreads + threadIdx.x; i < n; i += step) {
    u32 o = ordered(scores[i]);
    // known is the mask of the bits found in earlier rounds.
    if ((o & known) == found) atomicAdd(&local[(o >> shift) & ((1u << bits) - 1)], 1u);
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < kBins; i += kThreads)
    if (local[i]) atomicAdd(&bins[i], local[i]);
}

// Finds the bin in which the k-th score lies. One block; clears the bins.
KERNEL __launch_bounds__(kThreads) topk_pick(State* state, u32* bins, u32 shift, u32 k) {
  constexpr u32 kEach = kBins / kThreads;
  __shared__ u32 warp_sums[kWarps];
  // k is given in the first round, and 0 later.
  u32 wanted = k ? k : state->wanted, found = state->found;
  // From the top: thread t has bins kBins-1-t*kEach and downwards.
  u32 c[kEach];
  u32 sum = 0;
#pragma unroll
  for (u32 j = 0; j < kEach; j++) {
    u32 b = kBins - 1 - (threadIdx.x * kEach + j);
    c[j] = bins[b];
    bins[b] = 0;
    sum += c[j];
  }
  u32 upto = warp_inclusive(sum);
  if (lane_id() == kWarp - 1) warp_sums[warp_id()] = upto;
  __syncthreads();
  u32 above = upto - sum;
  for (u32 w = 0; w < warp_id(); w++) above += warp_sums[w];
#pragma unroll
  for (u32 j = 0; j < kEach; j++) {
    if (above < wanted && above + c[j] >= wanted) {
      state->found = found | (kBins - 1 - (threadIdx.x * kEach + j)) << shift;
      state->wanted = wanted - above;
    }
    above += c[j];
  }
}

// Gathers the k, as keys that sort ascending to the order wanted: the score's
// complement above the number.
KERNEL __launch_bounds__(kThreads)
topk_gather(const u32* __restrict__ scores, u64 n, const State* state, u64* out, u64* states, u32 k) {
  __shared__ u64 warp_sums[kWarps];
  __shared__ u64 prefix;
  u32 found = state->found, wanted = state->wanted;
  u64 first = (u64)blockIdx.x * kTile + warp_id() * (kWarp * kRow * kRows) + lane_id() * kRow;
  u32 o[kRows][kRow];
  u64 before[kRows];
  u64 sum = 0;
  // Both counts in one word: above the score in the high half, equal in the low.
#pragma unroll
  for (u32 r = 0; r < kRows; r++) {
    u64 at = first + r * (kWarp * kRow);
    u64 row = 0;
#pragma unroll
    for (u32 j = 0; j < kRow; j++) {
      o[r][j] = at + j < n ? ordered(scores[at + j]) : 0;
      if (at + j < n) row += o[r][j] > found ? 1ull << 31 : o[r][j] == found;
    }
    u64 u = warp_inclusive(row);
    before[r] = sum + u - row;
    sum += __shfl_sync(kFull, u, kWarp - 1);
  }
  if (lane_id() == 0) warp_sums[warp_id()] = sum;
  __syncthreads();
  u64 mine = 0, all = 0;
#pragma unroll
  for (u32 w = 0; w < kWarps; w++) {
    if (w < warp_id()) mine += warp_sums[w];
    all += warp_sums[w];
  }
  if (warp_id() == 0) {
    u64 p = look_back(states, blockIdx.x, all);
    if (lane_id() == 0) prefix = p;
  }
  __syncthreads();
  mine += prefix;
#pragma unroll
  for (u32 r = 0; r < kRows; r++) {
    u64 at = first + r * (kWarp * kRow);
    u64 run = mine + before[r];
#pragma unroll
    for (u32 j = 0; j < kRow; j++) {
      if (at + j >= n) continue;
      u64 key = (u64)~o[r][j] << 32 | (u32)(at + j);
      if (o[r][j] > found) {
        out[run >> 31] = key;
        run += 1ull << 31;
      } else if (o[r][j] == found) {
        u32 place = (u32)run & 0x7fffffffu;
        if (place < wanted) out[k - wanted + place] = key;
        run++;
      }
    }
  }
}

// Takes the sorted keys apart again.
KERNEL __launch_bounds__(kThreads) topk_split(const u64* __restrict__ keys, u32* scores, u32* numbers, u32 k) {
  u32 i = blockIdx.x * kThreads + threadIdx.x;
  if (i >= k) return;
  scores[i] = unordered(~(u32)(keys[i] >> 32));
  numbers[i] = (u32)keys[i];
}
