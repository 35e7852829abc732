// Definitions that the kernels of the tiled search share. The plan of a batch is one block of
// memory: the queries, then the start of each one's later items, then the terms.
#pragma once
#include "scoring.cuh"

constexpr u32 kBins = 1024;
constexpr u32 kBinShift = 22;
constexpr u32 kEarly = 8;       // items of each query that come before the others of a batch
constexpr u32 kMaxQueries = 1024;

// Laid out as gpuQuery in slot_plan.go.
struct Query {
  u32 terms, first, k, model;
  // For required words, sums also count the words of a document: `need` is the required count,
  // `mask` the bits of the count, `one` the value of one word.
  u32 need, mask, one;
  u32 gap, slack;       // the most by which a sum can exceed the score; the part due to rounding
  u32 items, cap, order;
  u32 kind, spare;      // kind: up to two words, up to four, more
  u64 cand;             // index of its space for candidates and keys
  u32 out, cut;         // cut: the cut that is known before any posting is added
};

// The state of a query. All zero between queries: the last block clears it.
struct State {
  u32 cut;    // sums below this cannot win; 0: not known yet
  u32 live;   // items that have postings
  u32 cands, keys;
  u32 planned, picked;  // blocks, or warps, that are done
  u32 scored;           // items that were read
  u32 spare;            // for a single query: 1 if it is done, 2 if candidates are left
};

// Each kind of query has its kernel and its items. later[k][q] is the number of items, of the
// queries before q, that are not early ones.
struct Plan {
  const Query* queries;
  const u32* later[3];
  const Term* terms;
  INLINE Plan(const u8* p, u32 n) {
    queries = (const Query*)p;
    later[0] = (const u32*)(queries + n);
    later[1] = later[0] + (n + 4) / 4 * 4;
    later[2] = later[1] + (n + 4) / 4 * 4;
    terms = (const Term*)(later[2] + (n + 4) / 4 * 4);
  }
};
constexpr u32 kFew = 4;

// The postings [from, to) of a term in a tile, or in a part of one.
struct Span {
  u32 from, to;
};
INLINE Span span_of_tile(const Term& t, u32 tile, u32 tiles, const u32* __restrict__ starts, const u32* tables) {
  if (t.row == kSparse) return Span{tables[t.table + tile], tables[t.table + tile + 1]};
  const u32* row = starts + (u64)t.row * (tiles * kSubs + 1) + tile * kSubs;
  return Span{row[0], row[kSubs]};
}
INLINE Span span_of_doc(const Term& t, u32 doc, u32 tiles, const u32* __restrict__ starts, const u32* tables) {
  if (t.row == kSparse) return span_of_tile(t, doc >> kTileBits, tiles, starts, tables);
  const u32* row = starts + (u64)t.row * (tiles * kSubs + 1) + (doc >> kSubBits);
  return Span{row[0], row[1]};
}

// Finds the query of a batch's item, and the item's rank in it. The early items of all queries come
// first, so that cuts are known when the others run.
INLINE void find_item(u64 i, u32 queries, u32 early, const u32* later, u32* query, u32* rank) {
  if (i < early * queries) {
    *query = (u32)i % queries, *rank = (u32)i / queries;
    return;
  }
  u32 j = (u32)i - early * queries, lo = 0, hi = queries;  // later[lo] <= j < later[hi]
  while (lo + 1 < hi) {
    u32 mid = (lo + hi) / 2;
    if (later[mid] <= j) lo = mid; else hi = mid;
  }
  *query = lo, *rank = early + j - later[lo];
}

INLINE u32 volatile_load(const u32* p) { return *(const volatile u32*)p; }

// The lowest sum that can still win if the k-th best is in this bin. Sums are upper bounds: the
// document in that bin may score less, by up to the gap.
INLINE u32 cut_of(u32 bin, u32 gap) {
  u32 edge = bin << kBinShift;
  return edge > gap ? edge - gap : 1;
}

// Finds the bin in which the count from the top reaches k; kBins if it never does. Called by one
// warp. c has the counts of this lane's 32 bins, from the top.
INLINE u32 find_bin(u32 k, const u32* c) {
  constexpr u32 kEach = kBins / kWarp;
  u32 sum = 0, bin = kBins;
#pragma unroll
  for (u32 j = 0; j < kEach; j++) sum += c[j];
  u32 upto = warp_inclusive(sum), above = upto - sum;
  if (upto >= k && above < k) {
#pragma unroll
    for (u32 j = 0; j < kEach; j++) {
      if (above < k) bin = kBins - 1 - lane_id() * kEach - j;
      above += c[j];
    }
  }
  for (u32 d = kWarp / 2; d > 0; d /= 2) bin = min_of(bin, __shfl_xor_sync(kFull, bin, d));
  return bin;
}

INLINE u32 bin_of_shared(u32 k, const u32* bins) {
  constexpr u32 kEach = kBins / kWarp;
  u32 c[kEach];
#pragma unroll
  for (u32 j = 0; j < kEach; j++) c[j] = bins[kBins - 1 - lane_id() * kEach - j];
  return find_bin(k, c);
}

// find_bin for bins to which other blocks add concurrently.
INLINE u32 bin_of_global(u32 k, const u32* bins) {
  constexpr u32 kEach = kBins / kWarp;
  const u32* from = bins + kBins - (lane_id() + 1) * kEach;
  u32 c[kEach];
#pragma unroll
  for (u32 j = 0; j < kEach; j += 4)
    asm volatile("ld.volatile.global.v4.u32 {%0,%1,%2,%3}, [%4];"
                 : "=r"(c[kEach - 1 - j]), "=r"(c[kEach - 2 - j]), "=r"(c[kEach - 3 - j]), "=r"(c[kEach - 4 - j])
                 : "l"(from + j));
  return find_bin(k, c);
}
