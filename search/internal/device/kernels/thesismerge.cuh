// Sorted lists of answers, merged by warps in pairs. The key of an answer is (score, ~document), so
// a larger key is a better answer; 0 means none.
#pragma once
#include "warp.cuh"

// The power of two, at least 32, in which n keys are sorted.
INLINE u32 room_for(u32 n) {
  u32 room = kWarp;
  while (room < n) room *= 2;
  return room;
}

// Sorts keys in shared memory; size is a power of two. One warp.
template <bool Falling> INLINE void sort_keys(u64* keys, u32 size) {
#pragma unroll 1
  for (u32 run = 2; run <= size; run *= 2)
#pragma unroll 1
    for (u32 d = run / 2; d > 0; d /= 2) {
#pragma unroll 2
      for (u32 i = lane_id(); i < size / 2; i += kWarp) {
        u32 a = 2 * i - (i & (d - 1)), b = a + d;
        u64 x = keys[a], y = keys[b];
        if ((x < y) == ((a & run) == 0 == Falling)) keys[a] = y, keys[b] = x;
      }
      __syncwarp();
    }
}

// A warp's best answers in descending order: lane l has the (32 c + l)-th in key[c]. Loops over
// many keys are not unrolled, which puts the keys into local memory. That is slower, but a k of a
// thousand is rare.
template <u32 C> struct Merger {
  static constexpr u32 kRoom = C * kWarp;
  static constexpr u32 kUnroll = C <= 8 ? C : 1, kSteps = C <= 8 ? 5 : 1;
  u64 key[C];

  INLINE void clear() {
#pragma unroll kUnroll
    for (u32 c = 0; c < C; c++) key[c] = 0;
  }

  // Loads a list of n answers in reverse order.
  INLINE void load(const u64* from, u32 n) {
#pragma unroll kUnroll
    for (u32 c = 0; c < C; c++) {
      u32 i = kRoom - 1 - (c * kWarp + lane_id());
      key[c] = i < n ? from[i] : 0;
    }
  }

  INLINE void store(u64* to) const {
#pragma unroll kUnroll
    for (u32 c = 0; c < C; c++) to[c * kWarp + lane_id()] = key[c];
  }

  // Keeps the best of both lists; the other one is in reverse order. The larger of each key and its
  // counterpart are the best of both. They form a bitonic sequence, which is then sorted.
  INLINE void merge(const Merger& other) {
    bool changed = false;
#pragma unroll kUnroll
    for (u32 c = 0; c < C; c++)
      if (other.key[c] > key[c]) key[c] = other.key[c], changed = true;
    if (!__any_sync(kFull, changed)) return;
#pragma unroll kUnroll
    for (u32 d = C / 2; d > 0; d /= 2)
#pragma unroll kUnroll
      for (u32 c = 0; c < C; c++)
        if ((c & d) == 0 && key[c] < key[c + d]) {
          u64 x = key[c];
          key[c] = key[c + d], key[c + d] = x;
        }
#pragma unroll kSteps
    for (u32 d = kWarp / 2; d > 0; d /= 2)
#pragma unroll kUnroll
      for (u32 c = 0; c < C; c++) {
        u64 x = __shfl_xor_sync(kFull, key[c], d);
        if ((x > key[c]) == ((lane_id() & d) == 0)) key[c] = x;
      }
  }
};

constexpr u32 kMergeWarps = 8;

// Keeps the first of each document's answers in a descending list, and writes the first n that are
// left. Called by all threads of the block.
INLINE void unique(const u64* list, u32 room, u32* counts, u64* to, u32 n) {
  u32 written = 0;
  for (u32 base = 0; base < room; base += kMergeWarps * kWarp) {
    u32 i = base + threadIdx.x;
    u64 key = i < room ? list[i] : 0;
    bool keep = key != 0;
    for (u32 j = 0; j < i && keep; j++) keep = (u32)list[j] != (u32)key;
    u32 votes = __ballot_sync(kFull, keep);
    if (lane_id() == 0) counts[warp_id()] = __popc(votes);
    __syncthreads();
    u32 at = written + __popc(votes & lanes_below());
    for (u32 w = 0; w < kMergeWarps; w++) {
      if (w < warp_id()) at += counts[w];
      written += counts[w];
    }
    if (keep && at < n) to[at] = key;
    __syncthreads();
  }
  for (u32 i = written + threadIdx.x; i < n; i += kMergeWarps * kWarp) to[i] = 0;
}

// Merges `each` lists of `in` answers into one of `out`; all have at most C times 32. A warp merges
// every eighth list, then warps pair up. Shared memory: four lists.
template <u32 C> INLINE void merge_lists(const u64* __restrict__ from, u64* to, u32 lists, u32 each, u32 in, u32 out, bool distinct, u64* shared, u32* counts) {
  u32 first = blockIdx.x * each, last = min_of(first + each, lists);
  Merger<C> best, next;
  best.clear();
  u32 l = first + warp_id();
  if (l < last) next.load(from + (u64)l * in, in);
  while (l < last) {
    Merger<C> other = next;
    l += kMergeWarps;
    if (l < last) next.load(from + (u64)l * in, in);
    best.merge(other);
  }
  for (u32 half = kMergeWarps / 2; half > 0; half /= 2) {
    if (warp_id() >= half && warp_id() < 2 * half) best.store(shared + (warp_id() - half) * Merger<C>::kRoom);
    __syncthreads();
    if (warp_id() < half) {
      next.load(shared + warp_id() * Merger<C>::kRoom, Merger<C>::kRoom);
      best.merge(next);
    }
    __syncthreads();
  }
  to += (u64)blockIdx.x * out;
  if (!distinct) {
    if (warp_id() == 0)
#pragma unroll Merger<C>::kUnroll
      for (u32 c = 0; c < C; c++)
        if (c * kWarp + lane_id() < out) to[c * kWarp + lane_id()] = best.key[c];
    return;
  }
  if (warp_id() == 0) best.store(shared);
  __syncthreads();
  unique(shared, Merger<C>::kRoom, counts, to, out);
}
