// Functions of a whole warp: all lanes must take part.
#pragma once
#include "device.cuh"

INLINE u32 shuffle_up(u32 v, u32 by) { return __shfl_up_sync(kFull, v, by); }
INLINE u64 shuffle_up(u64 v, u32 by) { return __shfl_up_sync(kFull, v, by); }

// Sum of this lane's value and those of the lanes below it.
template <class T> INLINE T warp_inclusive(T v) {
#pragma unroll
  for (u32 d = 1; d < kWarp; d *= 2) {
    T below = shuffle_up(v, d);
    if (lane_id() >= d) v += below;
  }
  return v;
}

template <class T> INLINE T warp_sum(T v) {
#pragma unroll
  for (u32 d = kWarp / 2; d > 0; d /= 2) v += __shfl_xor_sync(kFull, v, d);
  return v;
}

// The lanes with the same low bits of v as this one. Voting bit by bit is faster than match.any for
// a few bits, on all GPUs so far.
template <u32 Bits> INLINE u32 warp_match(u32 v) {
  u32 same = kFull;
#pragma unroll
  for (u32 b = 0; b < Bits; b++) {
    bool set = (v >> b) & 1;
    u32 votes = __ballot_sync(kFull, set);
    same &= set ? votes : ~votes;
  }
  return same;
}
