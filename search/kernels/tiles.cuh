// What the kernels of the tiled search share. The plan of a batch is one piece of memory: the queries, then where
// each one's later items begin, then the terms.
#pragma once
#include "scoring.cuh"

constexpr u32 kBins = 1024;
constexpr u32 kBinShift = 22;
constexpr u32 kEarly = 8;       // items of each query that come before the others of a batch
constexpr u32 kMaxQueries = 1024;

// As gpuQuery in gpu_plan.go.
struct Query {
  u32 terms, first, k, model;
  u32 need, mask, one;  // words that a document must have; where they are counted; by how much
  u32 gap, slack;       // by how much a sum may be above the score; what of that is rounding
  u32 group, hash, items, cap;  // log2 of tiles in an item
  u32 order;
  u64 cand;             // room for candidates and keys
  u32 out, spare;
};

// What is known of a query. All zero between queries: the last block leaves it so.
struct State {
  u32 cut;    // sums below this cannot win; 0: not known yet
  u32 live;   // items that have postings
  u32 cands, keys;
  u32 planned, picked;  // blocks that are through
  u32 scored;           // items that were looked at
  u32 spare;
};

struct Plan {
  const Query* queries;
  const u32* later;
  const Term* terms;
  INLINE Plan(const u8* p, u32 n) {
    queries = (const Query*)p;
    later = (const u32*)(queries + n);
    terms = (const Term*)(later + (n + 4) / 4 * 4);
  }
};

// Where the postings of a term in tiles begin.
INLINE const u32* row_of(const Term& t, u32 tiles, const u32* starts, const u32* tables) {
  return t.row == kSparse ? tables + t.table : starts + (u64)t.row * (tiles + 1);
}

INLINE u32 volatile_load(const u32* p) { return *(const volatile u32*)p; }

// The lowest sum that can still win if the k-th best is in this bin. Sums are upper bounds: the document in
// that bin may be worth less, by up to the gap.
INLINE u32 cut_of(u32 bin, u32 gap) {
  u32 edge = bin << kBinShift;
  return edge > gap ? edge - gap : 1;
}

// The bin in which the sum of the counts from the top reaches k; kBins if it never does. One warp; lane l
// calls at(i) for the bins of its 32nd.
template <class F> INLINE u32 bin_of(u32 k, F at) {
  constexpr u32 kEach = kBins / kWarp;
  u32 top = kBins - 1 - lane_id() * kEach, c[kEach], sum = 0;
#pragma unroll
  for (u32 j = 0; j < kEach; j++) sum += c[j] = at(top - j);
  u32 upto = warp_inclusive(sum), bin = kBins;
  if (upto >= k && upto - sum < k) {
    u32 above = upto - sum;
#pragma unroll
    for (u32 j = 0; j < kEach; j++) {
      if (bin == kBins && above + c[j] >= k) bin = top - j;
      above += c[j];
    }
  }
  for (u32 d = kWarp / 2; d > 0; d /= 2) bin = min_of(bin, __shfl_xor_sync(kFull, bin, d));
  return bin;
}
