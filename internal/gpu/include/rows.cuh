// How warps read memory: a warp takes a contiguous part of a tile in rows, and each lane has N
// adjacent items of every row. So all accesses are whole cache lines, without a transposition.
#pragma once
#include "warp.cuh"

// Whether 16 bytes may be moved at once from or to an address. Slices of buffers may begin
// anywhere; unaligned ones are read value by value.
INLINE bool aligned(const void* p) { return (u64)p % 16 == 0; }

// Loads of at least 16 bytes per lane, all issued before the first is used: volatile, so that the
// compiler does not move them behind a wait. Not through the read-only path, as some kernels work
// in place.
INLINE void load_ahead(const u32* p, u32* to) {
  asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3]) : "l"(p));
}
INLINE void load_ahead(const u64* p, u64* to) {
  asm volatile("ld.global.v2.u64 {%0,%1}, [%2];" : "=l"(to[0]), "=l"(to[1]) : "l"(p));
}

// Reads a lane's part of all rows. whole: all items exist and are aligned; otherwise items from n
// on become `none`.
template <u32 Rows, u32 N, class T>
INLINE void load_rows(const T* in, u64 first, u64 n, bool whole, T (&v)[Rows][N], T none = 0) {
  if (whole) {
#pragma unroll
    for (u32 r = 0; r < Rows; r++)
#pragma unroll
      for (u32 j = 0; j < N; j += Vec<T>::n) load_ahead(in + first + r * (kWarp * N) + j, v[r] + j);
  } else {
#pragma unroll
    for (u32 r = 0; r < Rows; r++)
#pragma unroll
      for (u32 j = 0; j < N; j++) {
        u64 at = first + r * (kWarp * N) + j;
        v[r][j] = at < n ? in[at] : none;
      }
  }
}

// One bit per item of a lane, N items to a row, packed into words.
template <u32 Rows, u32 N> struct Marks {
  static constexpr u32 kWords = (Rows * N + 31) / 32;
  u32 words[kWords];

  INLINE void clear() {
#pragma unroll
    for (u32 k = 0; k < kWords; k++) words[k] = 0;
  }
  INLINE void set(u32 r, u32 bits) { words[r * N / 32] |= bits << (r * N % 32); }
  INLINE u32 row(u32 r) const { return (words[r * N / 32] >> (r * N % 32)) & ((1u << N) - 1); }
  INLINE bool has(u32 r, u32 j) const { return (words[r * N / 32] >> (r * N % 32 + j)) & 1; }

  // Returns the number of marks in the warp; before[r] gets the number of those before the lane's
  // part of row r. The counts of several rows share a word, in fields that the sum over all lanes
  // cannot overflow.
  INLINE u32 count(u32 (&before)[Rows]) const {
    constexpr u32 kField = N * kWarp < 256 ? 8 : 16;
    constexpr u32 kFields = 32 / kField;
    constexpr u32 kMask = (1u << kField) - 1;
    u32 sum = 0;
#pragma unroll
    for (u32 g = 0; g < Rows; g += kFields) {
      u32 packed = 0;
#pragma unroll
      for (u32 r = g; r < g + kFields && r < Rows; r++) packed |= __popc(row(r)) << (kField * (r - g));
      u32 upto = warp_inclusive(packed);
      u32 totals = __shfl_sync(kFull, upto, kWarp - 1);
#pragma unroll
      for (u32 r = g; r < g + kFields && r < Rows; r++) {
        before[r] = sum + (((upto - packed) >> (kField * (r - g))) & kMask);
        sum += (totals >> (kField * (r - g))) & kMask;
      }
    }
    return sum;
  }
};

// Given one value per warp in shared memory, returns the sum over the warps before this one; all
// gets the sum over all warps. Call it after a barrier.
template <u32 Warps, class T> INLINE T sum_before(const T (&of_warp)[Warps], T& all) {
  T mine = 0;
  all = 0;
#pragma unroll
  for (u32 w = 0; w < Warps; w++) {
    T s = of_warp[w];
    if (w < warp_id()) mine += s;
    all += s;
  }
  return mine;
}
