// Counting pairs of words. IDs are ranks by frequency, so the most frequent words have the lowest.
// Pairs of two of those are most of all pairs. They are added to a dense matrix, whose most used
// part stays in L2. All other pairs are listed and sorted later.
//
// If pairs are only counted, 32 bits suffice. Atomic adds for pairs of the kHot most frequent words
// would contend for a few addresses in L2, so persistent blocks count them in shared memory.
//
// The items of a block and its window are in shared memory. Windows too large for that are Far:
// items are read from global memory, and a block stops once every place has reached the start of
// its document.
#pragma once
#include "warp.cuh"

constexpr u32 kThreads = 256;
constexpr u32 kRows = 4;
constexpr u32 kPlaces = kThreads * kRows;  // per block
constexpr u32 kStep = 2;                   // distances at a time
constexpr u32 kHot = 64;                   // words whose pairs are counted in shared memory
constexpr u32 kMaxWindow = 1000;
constexpr u32 kStage = kPlaces * kStep;

enum Side { kBoth, kLeft, kRight };

// A place is that of the right word of a pair; the left word is up to window places before it.
// before has the window items that precede the first. An item is an ID + 1 or, if there is ids, a
// number of the dictionary + 1, for which ids has the ID + 1. An item 0 ends a document.
//
// kCounts adds 1 to a sum, kUnits adds the units of the distance, and kWide adds their low and high
// 31 bits to two matrices, the second after the first.
enum Sums { kCounts, kUnits, kWide };

struct Pairs {
  const u32* before;
  const u32* items;
  const u32* ids;  // of items; null if these are IDs + 1
  u64 from, to;    // places
  u32 window;
  u32 side;
  u32 head;        // number of words in the dense matrix
  u64* dense;      // head x head; for kCounts these are u32
  const u64* units;
  u32 col_bits, distance_bits;
  u64* keys;       // row, column, distance
  u64* count;
};

// Returns the item at a place, which may be before the first.
INLINE u32 item_at(const Pairs& p, i64 at) {
  u32 id = 0;
  if (at < 0)
    id = p.before[p.window + at];
  else if (at < (i64)p.to)
    id = p.items[at];
  if (p.ids && id) id = p.ids[id - 1];
  return id;
}

template <Sums Kind, bool Far> INLINE void count_pairs(const Pairs& p) {
  constexpr bool kCount = Kind == kCounts;
  __shared__ u32 near[Far ? 1 : kMaxWindow + kPlaces];
  __shared__ u64 stage[kStage];
  __shared__ u32 warps[kThreads / kWarp];
  __shared__ u64 base;
  __shared__ u32 hot[kCount ? kHot * kHot : 1];
  u32* counts = (u32*)p.dense;
  u32 hottest = min_of(kHot, p.head);
  u32 window = p.window;
  if (kCount)
    for (u32 i = threadIdx.x; i < kHot * kHot; i += kThreads) hot[i] = 0;
  for (u64 first = p.from + (u64)blockIdx.x * kPlaces; first < p.to; first += (u64)gridDim.x * kPlaces) {
    if (!Far) {
      for (u32 i = threadIdx.x; i < window + kPlaces; i += kThreads) near[i] = item_at(p, (i64)first - window + i);
      __syncthreads();
    }
    auto item = [&](u32 i) { return Far ? item_at(p, (i64)first - window + i) : near[i]; };
    u32 alive = 0;
#pragma unroll
    for (u32 r = 0; r < kRows; r++)
      if (item(window + r * kThreads + threadIdx.x) != 0) alive |= 1u << r;
    for (u32 from = 1; from <= window; from += kStep) {
      if (Far && !__syncthreads_or(alive)) break;
      u32 listed = 0;
#pragma unroll
      for (u32 r = 0; r < kRows; r++) {
        u32 at = window + r * kThreads + threadIdx.x;
        u32 right = item(at);
#pragma unroll
        for (u32 j = 0; j < kStep; j++) {
          u32 d = from + j;
          if (d > window || !(alive >> r & 1)) continue;
          u32 left = item(at - d);
          if (left == 0) {
            alive &= ~(1u << r);
            continue;
          }
          bool swap = p.side == kLeft || (p.side == kBoth && right < left);
          u32 row = swap ? right : left, col = swap ? left : right;
          u32 larger = max_of(row, col);
          if (kCount && larger <= hottest) {
            atomicAdd(hot + ((row - 1) * kHot + (col - 1)), 1u);
          } else if (larger <= p.head) {
            u64 cell = (u64)(row - 1) * p.head + (col - 1);
            if (kCount) {
              atomicAdd(counts + cell, 1u);
            } else if (Kind == kUnits) {
              atomicAdd(p.dense + cell, p.units[d]);
            } else {
              u64 u = p.units[d];
              atomicAdd(p.dense + cell, u & 0x7fffffff);
              atomicAdd(p.dense + (cell + (u64)p.head * p.head), u >> 31);
            }
          } else {
            listed |= 1u << (r * kStep + j);
          }
        }
      }
      u32 mine = __popc(listed);
      u32 upto = warp_inclusive(mine);
      if (lane_id() == kWarp - 1) warps[warp_id()] = upto;
      __syncthreads();
      u32 to = upto - mine, total = 0;
      for (u32 w = 0; w < kThreads / kWarp; w++) {
        u32 s = warps[w];
        if (w < warp_id()) to += s;
        total += s;
      }
      if (threadIdx.x == 0 && total) base = atomicAdd(p.count, (u64)total);
      while (listed) {
        u32 bit = __ffs(listed) - 1;
        listed &= listed - 1;
        u32 at = window + bit / kStep * kThreads + threadIdx.x, d = from + bit % kStep;
        u32 right = item(at), left = item(at - d);
        bool swap = p.side == kLeft || (p.side == kBoth && right < left);
        u64 row = (swap ? right : left) - 1, col = (swap ? left : right) - 1;
        u64 key = row << p.col_bits | col;
        if (!kCount) key = key << p.distance_bits | d;
        stage[to++] = key;
      }
      __syncthreads();
      for (u32 i = threadIdx.x; i < total; i += kThreads) p.keys[base + i] = stage[i];
      __syncthreads();
    }
  }
  if (!kCount) return;
  __syncthreads();
  for (u32 i = threadIdx.x; i < kHot * kHot; i += kThreads)
    if (hot[i]) atomicAdd(counts + ((u64)(i / kHot) * p.head + i % kHot), hot[i]);
}

#define PAIRS(NAME, KIND, FAR)                                                                                        \
  KERNEL __launch_bounds__(kThreads) NAME(const u32* __restrict__ before, const u32* __restrict__ items, const u32* __restrict__ ids, u64 from, u64 to, u32 window, u32 side, \
                                          u32 head, u64* dense, const u64* __restrict__ units, u32 col_bits,          \
                                          u32 distance_bits, u64* keys, u64* count) {                                 \
    count_pairs<KIND, FAR>(Pairs{before, items, ids, from, to, window, side, head, dense, units, col_bits, distance_bits, keys, count}); \
  }
