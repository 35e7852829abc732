// The heads of a query's lists in a slice, for parallel WAND, MaxScore and intersection. The struct
// Lanes handles any number of lists, one per lane. The struct Pair handles two lists, with the same
// state in all lanes, so that no step waits for another lane's value.
#pragma once
#include "scoring.cuh"

constexpr u32 kDone = 0xffffffffu;
constexpr u32 kBlockPostings = 64;  // postings that share a maximum

// A slice: documents and scores of all lists in shared memory. A list's documents end with kDone.
struct Slice {
  u32* docs;
  float* scores;
  u32 room;  // space for postings of a list
  INLINE const u32* docs_of(u32 t) const { return docs + t * (room + 1); }
  INLINE const float* scores_of(u32 t) const { return scores + t * room; }
};

// Synchronises all warps of a block, or its only one.
template <bool Wide> INLINE void sync_all() {
  if (Wide) __syncthreads(); else __syncwarp();
}

// The first posting from `from` on whose document is at least x, by doubling steps, since it is
// often near.
INLINE u32 gallop(const u32* __restrict__ docs, u32 from, u32 count, u32 x) {
  u32 step = 1, lo = from, hi = from;
  while (hi < count && docs[hi] < x) lo = hi + 1, hi = min_of(hi + step, count), step *= 2;
  return lower_bound(docs, lo, hi, x);
}

// gallop by a warp: tests 32 postings together, then every 32nd, and so on.
INLINE u32 stride(const u32* __restrict__ docs, u32 from, u32 count, u32 x) {
  u32 step = 1, n;
  do {
    u32 at = from + (lane_id() + 1) * step - 1;
    n = __popc(__ballot_sync(kFull, at < count && docs[at] < x));
    from += n * step;
    if (n == kWarp) step *= kWarp;
  } while (n == kWarp);
  while (step > 1) {
    step /= kWarp;
    u32 at = from + (lane_id() + 1) * step - 1;
    from += step * __popc(__ballot_sync(kFull, at < count && docs[at] < x));
  }
  return from;
}

// A list per lane.
struct Lanes {
  u32 terms;
  float bound;  // of this lane's list
  float upto;   // sum of the bounds from the lowest up to this list's
  float total;
  float rest;   // without the lowest one: documents that are not in all lists cannot exceed this
  const u32* docs;
  const float* scores;
  u32 at, count, doc;
  bool complete;  // all lists had the last document

  // have: postings of this lane's list in the slice.
  INLINE Lanes(const Slice& s, u32 have, float bound, u32 terms) : terms(terms), bound(bound), upto(0), total(0), rest(0) {
    u32 t = lane_id() < terms ? lane_id() : 0;
    docs = s.docs_of(t), scores = s.scores_of(t), count = have;
    set(0);
    for (u32 j = 0; j < terms; j++) {
      float b = __shfl_sync(kFull, bound, j);
      total += b;
      if (b < bound || b == bound && j <= lane_id()) upto += b;
    }
    float low = total;
    for (u32 j = 0; j < terms; j++) low = min_of(low, __shfl_sync(kFull, bound, j));
    bool left = false;
    for (u32 j = 0; j < terms; j++) {
      float b = __shfl_sync(kFull, bound, j);
      if (!left && b == low) left = true; else rest += b;
    }
  }

  INLINE void set(u32 to) { at = to, doc = to < count ? docs[to] : kDone; }

  INLINE u32 lowest(u32 v) const {
    u32 best = kDone;
    for (u32 j = 0; j < terms; j++) best = min_of(best, __shfl_sync(kFull, v, j));
    return best;
  }

  // The first document at which the bounds of the lists up to there exceed cut.
  INLINE u32 pivot(float cut) const {
    float sum = 0;
    for (u32 j = 0; j < terms; j++) {
      u32 d = __shfl_sync(kFull, doc, j);
      float b = __shfl_sync(kFull, bound, j);
      if (d <= doc) sum += b;
    }
    return lowest(sum > cut ? doc : kDone);
  }

  // The first document of the essential lists, without which cut cannot be exceeded.
  INLINE u32 essential(float cut) const { return lowest(upto > cut ? doc : kDone); }

  // The next document that all lists have.
  INLINE u32 common() {
    for (;;) {
      u32 high = 0;
      for (u32 j = 0; j < terms; j++) high = max_of(high, __shfl_sync(kFull, doc, j));
      if (high == kDone || !before(high)) return high;
      seek(high);
    }
  }

  INLINE bool before(u32 x) const { return __any_sync(kFull, lane_id() < terms && doc < x); }
  INLINE void seek(u32 x) { if (doc < x) set(gallop(docs, at, count, x)); }

  // The sum over the lists positioned at x, in query order; moves these past it.
  INLINE float take(u32 x) {
    bool here = doc == x;
    float s = here ? scores[at] : 0, sum = 0;
    u32 votes = __ballot_sync(kFull, here);
    complete = __popc(votes) == terms;
    for (u32 j = 0; j < terms; j++) {
      float v = __shfl_sync(kFull, s, j);
      if (votes >> j & 1) sum += v;
    }
    if (here) set(at + 1);
    return sum;
  }
};

// Two lists, the same in all lanes.
struct Pair {
  float bound[2], total, rest;
  const u32* docs[2];
  const float* scores[2];
  u32 at[2], count[2], doc[2];
  bool complete;

  INLINE Pair(const Slice& s, u32 have, float mine) {
    for (u32 j = 0; j < 2; j++) {
      bound[j] = __shfl_sync(kFull, mine, j);
      docs[j] = s.docs_of(j), scores[j] = s.scores_of(j), count[j] = __shfl_sync(kFull, have, j);
      set(j, 0);
    }
    total = bound[0] + bound[1], rest = max_of(bound[0], bound[1]);
  }

  INLINE void set(u32 j, u32 to) { at[j] = to, doc[j] = docs[j][to]; }

  INLINE u32 pivot(float cut) const {
    u32 low = min_of(doc[0], doc[1]);
    if (doc[0] != doc[1] && (doc[0] < doc[1] ? bound[0] : bound[1]) > cut) return low;
    return total > cut ? max_of(doc[0], doc[1]) : kDone;
  }

  INLINE u32 essential(float cut) const {
    bool second = bound[1] < bound[0];  // whether the second bound is the lower one
    bool both = (second ? bound[1] : bound[0]) > cut;
    if (both) return min_of(doc[0], doc[1]);
    return total > cut ? (second ? doc[0] : doc[1]) : kDone;
  }

  // Each lane looks up one document of the first list in the second.
  INLINE u32 common() {
    while (doc[0] != kDone && doc[1] != kDone) {
      u32 i = at[0] + lane_id();
      u32 x = i < count[0] ? docs[0][i] : kDone;
      u32 there = lower_bound(docs[1], at[1], count[1], x);
      u32 votes = __ballot_sync(kFull, x != kDone && docs[1][there] == x);
      u32 lane = votes != 0 ? __ffs(votes) - 1 : kWarp - 1;
      set(0, min_of(at[0] + (votes != 0 ? lane : kWarp), count[0]));
      set(1, __shfl_sync(kFull, there, lane));
      if (votes != 0) return doc[0];
    }
    return kDone;
  }

  INLINE bool before(u32 x) const { return min_of(doc[0], doc[1]) < x; }

  INLINE void seek(u32 x) {
    for (u32 j = 0; j < 2; j++)
      if (doc[j] < x) set(j, gallop(docs[j], at[j] + 1, count[j], x));
  }

  INLINE float take(u32 x) {
    float sum = 0;
    complete = doc[0] == doc[1];
    for (u32 j = 0; j < 2; j++)
      if (doc[j] == x) {
        sum += scores[j][at[j]];
        set(j, at[j] + 1);
      }
    return sum;
  }
};
