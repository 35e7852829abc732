// From candidates to the result: exact scores, and the best of them in order.
#pragma once
#include "tiles.cuh"

constexpr u32 kPickThreads = 512;
constexpr u32 kPickBins = 2048;
constexpr u32 kSmall = 2048;

// Computes the exact score of a document by a warp, in query order. Each term has a group of
// `share` lanes, which search for the document together.
INLINE bool rescore(const Query& q, const Term* terms, u32 share, u32 doc, u32 tiles, const u16* __restrict__ offsets,
                    const u8* __restrict__ tfs, const u32* __restrict__ extra, const u32* __restrict__ lengths,
                    const u32* __restrict__ starts, const u32* tables, float* score) {
  u32 in = lane_id() & (share - 1), leader = lane_id() - in, have = 0;
  u32 group = share == kWarp ? kFull : ((1u << share) - 1) << leader;
  float sum = 0;
  u32 length = lengths[doc], off = doc & (kTile - 1);
  for (u32 base = 0; base < q.terms; base += kWarp / share) {
    u32 i = base + lane_id() / share, lo = 0, hi = 0, end = 0;
    const Term* t = terms;
    const u16* list = offsets;
    if (i < q.terms) {
      t = terms + i;
      list = offsets + t->pos;
      Span s = span_of_doc(*t, doc, tiles, starts, tables);
      lo = s.from, hi = end = s.to;
    }
    // Finds the first posting at or after the document: each lane of a group tests one position.
    while (__any_sync(kFull, lo < hi)) {
      u32 step = (hi - lo + share) / (share + 1), probe = lo + (in + 1) * step - 1;
      bool less = lo < hi && probe < hi && list[probe] < off;
      u32 n = __popc(__ballot_sync(kFull, less) & group);
      if (lo < hi) {
        u32 stop = lo + (n + 1) * step - 1;
        lo = min_of(lo + n * step, hi);
        if (n < share) hi = min_of(hi, stop);
      }
    }
    bool hit = in == 0 && lo < end && list[lo] == off;
    float s = hit ? score_of(q.model, *t, frequency(*t, tfs, extra, lo), length) : 0.0f;
    u32 hits = __ballot_sync(kFull, hit);
    for (u32 l = 0; l < kWarp; l += share) {
      float x = __shfl_sync(kFull, s, l);
      if (hits >> l & 1) sum += x, have++;
    }
  }
  *score = sum;
  return have >= max_of(q.need, 1u);
}

// Sorts keys in descending order by one block; size is a power of two. Steps over short distances
// stay within warps and need no block barrier.
template <u32 Threads> INLINE void sort_keys(u64* keys, u32 size) {
  for (u32 run = 2; run <= size; run *= 2)
    for (u32 d = run / 2; d > 0; d /= 2) {
      for (u32 i = threadIdx.x; i < size / 2; i += Threads) {
        u32 a = 2 * i - (i & (d - 1)), b = a + d;
        u64 x = keys[a], y = keys[b];
        if ((x < y) == ((a & run) == 0)) keys[a] = y, keys[b] = x;
      }
      if (d > kWarp || d == 1 && run >= 2 * kWarp) __syncthreads(); else __syncwarp();
    }
  __syncthreads();
}

// The k best of all keys, in order. One block.
template <u32 Threads> INLINE void pick_best(const Query& q, u64* sorted, State* state, const volatile u64* from, u64* outs) {
  __shared__ u32 found, digit, above, same;
  __shared__ u32 warp_sums[Threads / kWarp];
  u32* bins = (u32*)sorted;
  u32 n = volatile_load(&state->keys), k = min_of(q.k, n);
  u64* out = outs + q.out;
  u64 least = 0;  // keys that are at least this are the best
  u32 most = n > kSmall ? k : n;  // the number of these keys
  if (n > kSmall && n > k) {
    // Finds the k-th largest key, digit by digit from the top, until the keys that may be at least
    // as large fit into shared memory.
    u32 want = k;
    u64 known = 0;
    for (i32 shift = 53; shift > -11; shift -= 11) {
      u32 low = shift < 0 ? 0 : shift, bits = shift < 0 ? 11 + shift : 11;
      for (u32 i = threadIdx.x; i < kPickBins; i += Threads) bins[i] = 0;
      __syncthreads();
      for (u32 i = threadIdx.x; i < n; i += Threads) {
        u64 x = from[i];
        if (((x ^ least) & known) == 0) atomicAdd(&bins[(x >> low) & ((1u << bits) - 1)], 1u);
      }
      __syncthreads();
      constexpr u32 kEach = kPickBins / Threads;
      u32 c[kEach], sum = 0;
#pragma unroll
      for (u32 j = 0; j < kEach; j++) c[j] = bins[kPickBins - 1 - (threadIdx.x * kEach + j)], sum += c[j];
      u32 upto = warp_inclusive(sum);
      if (lane_id() == kWarp - 1) warp_sums[warp_id()] = upto;
      __syncthreads();
      for (u32 w = 0; w < warp_id(); w++) upto += warp_sums[w];
      u32 over = upto - sum;
      if (over < want && upto >= want) {
        for (u32 j = 0; j < kEach; j++) {
          if (over + c[j] >= want) {
            digit = kPickBins - 1 - (threadIdx.x * kEach + j), above = over, same = c[j];
            break;
          }
          over += c[j];
        }
      }
      __syncthreads();
      want -= above;
      least |= (u64)digit << low;
      known |= (u64)((1u << bits) - 1) << low;
      most = k - want + same;
      __syncthreads();
      if (most <= kSmall) break;
    }
  }
  // Gathers and sorts them, in shared memory if they fit, otherwise in the output.
  u64* to = most > kSmall ? out + 2 : sorted;
  u32 size = kWarp;
  while (size < most) size *= 2;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  for (u32 i = threadIdx.x; i < n; i += Threads) {
    u64 x = from[i];
    if (x >= least) to[atomicAdd(&found, 1u)] = x;
  }
  for (u32 i = most + threadIdx.x; i < size; i += Threads) to[i] = 0;
  __syncthreads();
  sort_keys<Threads>(to, size);
  if (to == sorted)
    for (u32 i = threadIdx.x; i < k; i += Threads) out[2 + i] = sorted[i];
  if (threadIdx.x == 0) {
    out[0] = (u64)state->cands << 32 | k;
    out[1] = (u64)state->scored << 32 | n;
  }
}

// Clears everything for the next query.
template <u32 Threads> INLINE void clean(State* state, u32* hist) {
  __syncthreads();
  if (threadIdx.x == 0) *state = State{};
  for (u32 i = threadIdx.x; i < kBins; i += Threads) hist[i] = 0;
}
