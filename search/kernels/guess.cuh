// What is known of a batch's queries before anything is read: the plan as the host wrote it, the order of items, and scores that may be expected.
#pragma once
#include "scoring.cuh"

constexpr u32 kLevels = 16;  // items of a query are a power of two, below this one

// As gpuMany in gpu_many.go.
struct Many {
  u32 terms, first, k, model;
  u32 need, slack, level, rank;  // level: there are 2^level items; rank: place among the queries, most items first
  float scale;                   // units of a sum in a score
  u32 cap, out, span;            // span: parts of tiles that are looked at together
  u64 keys;
  u32 sober, spare;              // sober: nothing is guessed
};

// How many queries have each number of items; as gpuMany's head.
struct Head {
  u32 queries, top;  // top: the highest level
  u32 level[kLevels];
  u32 spare[6];
};

// The plan of a batch is one piece of memory.
struct ManyPlan {
  const Head* head;
  const Many* queries;
  const Term* terms;
  INLINE ManyPlan(const u8* p) {
    head = (const Head*)p;
    queries = (const Many*)(head + 1);
    terms = (const Term*)(queries + head->queries);
  }
};

// Where the item of a query is among all items. Queries advance evenly: when a share of one's items is done, so is that of the others, and
// their cuts are known. Items are in rounds, as many as the query with most has items.
INLINE u32 place_of(const Head& h, u32 rank, u32 level, u32 i) {
  u32 round = i << (h.top - level), at = rank;
  for (u32 l = 0; l <= h.top; l++) {
    u32 step = h.top - l;
    at += h.level[l] * ((round + (1u << step) - 1) >> step);
  }
  return at;
}

// How many postings of a list have each code. One warp. The few of a sparse list are counted here.
INLINE void count_codes(u32* to, const Term& t, const u32* __restrict__ counts, const u8* __restrict__ codes) {
  __syncwarp();
  for (u32 c = lane_id(); c < 256; c += kWarp) to[c] = t.row == kSparse ? 0 : counts[(u64)t.row * 256 + c];
  __syncwarp();
  if (t.row == kSparse)
    for (u32 i = lane_id(); i < t.df; i += kWarp) atomicAdd(&to[codes[t.pos + i]], 1u);
  __syncwarp();
}

// A code that k postings of a list reach; 0 if there are not so many. One warp.
INLINE u32 reached(u32 k, const u32* counts) {
  u32 c[8], sum = 0, code = 0;
#pragma unroll
  for (u32 j = 0; j < 8; j++) c[j] = counts[255 - 8 * lane_id() - j], sum += c[j];
  u32 upto = warp_inclusive(sum), above = upto - sum;
  if (upto >= k && above < k) {
#pragma unroll
    for (u32 j = 0; j < 8; j++) {
      if (above < k) code = 255 - 8 * lane_id() - j;
      above += c[j];
    }
  }
  for (u32 d = kWarp / 2; d > 0; d /= 2) code = max_of(code, __shfl_xor_sync(kFull, code, d));
  return code;
}

// How many documents may be expected to have which score, if words know nothing of each other: a bin is 2^24 units.
struct Odds {
  float sum[256];
  u32 codes[256], word[257];
};

// The highest cut that some three times k documents may be expected to reach; 0 if they are too few. One warp. What is guessed is proven when all is scored.
// In sure is a cut that k documents do reach by one word.
INLINE u32 guess(Odds& o, const Many& q, const Term* terms, const u32* __restrict__ counts, const u8* __restrict__ codes, float docs, u32* sure) {
  for (u32 s = lane_id(); s < 256; s += kWarp) o.sum[s] = s == 0 ? docs : 0.0f;
  *sure = 0;
  for (u32 i = 0; i < q.terms; i++) {
    const Term& t = terms[i];
    count_codes(o.codes, t, counts, codes);
    if (!q.need) *sure = max_of(*sure, reached(q.k, o.codes) * t.mult);
    if (q.sober || q.terms == 1) continue;
    for (u32 s = lane_id(); s < 257; s += kWarp) o.word[s] = 0;
    __syncwarp();
    for (u32 c = lane_id(); c < 256; c += kWarp) atomicAdd(&o.word[(u32)(((u64)(2 * c + 1) * t.mult) >> 25)], o.codes[c]);
    __syncwarp();
    float none = q.need ? 0.0f : 1.0f - (float)t.df / docs;
    u32 bins = min_of((t.mult >> 16) + 1, 256u);
    float next[8];
#pragma unroll
    for (u32 j = 0; j < 8; j++) next[j] = o.sum[lane_id() + j * kWarp] * none;
    for (u32 b = 0; b < bins; b++) {
      float w = (float)o.word[b] / docs;
      if (w == 0) continue;
#pragma unroll
      for (u32 j = 0; j < 8; j++) {
        u32 s = lane_id() + j * kWarp;
        if (s >= b) next[j] += o.sum[s - b] * w;
      }
    }
    __syncwarp();
#pragma unroll
    for (u32 j = 0; j < 8; j++) o.sum[lane_id() + j * kWarp] = next[j];
    __syncwarp();
  }
  if (q.sober || q.terms == 1) return 0;
  // From the top, a lane eight bins.
  float mine = 0, want = 3.0f * (float)q.k + 16.0f;
  u32 top = 255 - 8 * lane_id(), bin = 0;
#pragma unroll
  for (u32 j = 0; j < 8; j++) mine += o.sum[top - j];
  float upto = mine;
  for (u32 d = 1; d < kWarp; d *= 2) {
    float below = __shfl_up_sync(kFull, upto, d);
    if (lane_id() >= d) upto += below;
  }
  float above = upto - mine;
  for (u32 j = 0; j < 8; j++) {
    above += o.sum[top - j];
    if (above >= want && bin == 0) bin = top - j;
  }
  for (u32 d = kWarp / 2; d > 0; d /= 2) bin = max_of(bin, __shfl_xor_sync(kFull, bin, d));
  return bin << 24;
}
