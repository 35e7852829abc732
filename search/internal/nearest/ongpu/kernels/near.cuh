// What the kernels of nearest vectors share. doc.go has the method, and package nearest the proof
// of the bounds.
#pragma once
#include "warp.cuh"

constexpr u32 kTile = 256;  // documents that are sampled, or multiplied, together

// The vectors of one segment.
struct Segment {
  const signed char* codes;
  const float *scales, *rests, *norms;
  const u8* rows;  // null if the cores sum
  u32 base, docs;
};

// A query, as nearest.Numbers has it, and what is wanted.
struct Query {
  double scale, coded, rest, norm, rounding, least, gap;
  u32 metric, k;
};

constexpr u32 kCosine = 0, kDot = 1, kEuclidean = 2;

// The test of package nearest.
struct Test {
  float alpha, beta, gamma, delta, theta, unused[3];
};

// Whether a document passes the test. There are six roundings, fewer than the margin allows.
INLINE bool reaches(const Test& t, float scale, float rest, float norm, i32 dot) {
  float rests = __fmaf_rn(t.beta, rest, __fmaf_rn(t.delta, norm, t.gamma) * norm);
  return __fmaf_rn(t.alpha, scale * (float)dot, rests) >= t.theta;
}

// Documents that passed, for each query: the number of those that passed, of which as many are kept
// as there is room for.
struct Found {
  u64* list;
  u32* counts;
  u32 room;

  INLINE void add(u32 query, u32 doc, i32 dot) {
    u32 at = atomicAdd(counts + query, 1);
    put_in(query, at, doc, dot);
  }
  INLINE void put_in(u32 query, u32 slot, u32 doc, i32 dot) {
    if (slot < room) list[(u64)query * room + slot] = (u64)(u32)dot << 32 | doc;
  }
};

constexpr u32 kNoDoc = ~0u;  // in a slot of the sample

// What a pass goes through: of each step tiles one. If all is set, there are no tests yet, and each
// admitted document of these tiles is kept in a slot of its own, from first on.
struct Pass {
  const u32* admitted;  // bits of the documents; null means all
  u32 step, all, first;

  INLINE bool admits(u32 doc) const { return admitted == nullptr || (admitted[doc / 32] >> (doc % 32) & 1); }
};
