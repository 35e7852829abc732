// Computes what is known about a batch's queries before any posting is read: the weights of their
// words, and the expected scores.
#pragma once
#include "asked.cuh"

constexpr u32 kLevels = 16;  // a query has a power of two of items, below 2^kLevels
// The number of keys of a query per answer, in addition to its share; as in lane_plan.go.
constexpr u32 kRoomy = 4;

// A query as the kernels read it. Its words are consecutive.
struct Many {
  u32 terms, first, k, model;
  u32 need, slack, level, sober;  // level: at most 2^level items
  float scale;                    // units of sums per unit of score
  u32 cap, out, spare;
  u64 keys, spare2;
};

// Finds the words of a query, one per lane, and their weights. Called by one warp.
INLINE Many prepare(const ManyPlan& p, u32 qi, const Term* __restrict__ known, const Term* __restrict__ own, Term& t) {
  const Head& h = *p.head;
  Asked a = p.queries[qi];
  u32 n = a.terms, room = 2 + a.k;
  Many q{n, a.first, a.k, a.kind % kAll, a.kind / kAll * n, 0, 0, h.sober, 0.0f, h.share + kRoomy * room, a.out, 0, (u64)qi * h.share + (u64)kRoomy * a.out, 0};
  t = Term{};
  if (lane_id() < n) {
    u32 word = p.words[a.first + lane_id()], id = id_of(word);
    t = id < h.known ? known[id] : own[id - h.known];
    double_term(t, word);
  }
  // A step of a code is an integral number of units, such that all sums stay below 2^32.
  double sum = 0, most = (double)(0xffffffffu / 256) - (double)n - 1;
  for (u32 i = 0; i < n; i++) sum += (double)__shfl_sync(kFull, t.inverse, i);
  t.mult = 1;
  if (sum > 0) q.scale = (float)(256 * most / sum), t.mult = 1 + (u32)((double)t.inverse / sum * most);
  // The error of rounding steps to whole units, and that of scores and codes; for these a relative
  // error of 2^-21 per word is ample.
  q.slack = 256 * n + ((n + 16) << 11);
  // Items have a minimum number of postings, unless the query has few.
  constexpr u32 kFewest = 64, kSomeItems = 256;
  float postings = (float)t.df;
  for (u32 d = kWarp / 2; d > 0; d /= 2) postings += __shfl_xor_sync(kFull, postings, d);
  for (; q.level < h.level && (2u << q.level <= kSomeItems && postings > (float)kFewest || postings > (float)h.window); postings *= 0.5f) q.level++;
  return q;
}

// The number of postings of a list with each code. A lane holds the counts of eight neighbouring
// codes.
struct Counts {
  u32 c[8];
};

// Starts the loads of the counts of a list with a row, and does not wait for them. Called by one
// warp.
INLINE Counts counts_of(u32 row, const u32* __restrict__ counts) {
  const uint4* from = (const uint4*)(counts + (u64)row * 256 + 8 * lane_id());
  uint4 x = from[0], y = from[1];
  return Counts{x.x, x.y, x.z, x.w, y.x, y.y, y.z, y.w};
}

// Counts the few postings of a sparse list.
INLINE Counts count_codes(u32* bins, const u8* __restrict__ codes, u32 df) {
#pragma unroll
  for (u32 j = 0; j < 8; j++) bins[lane_id() + j * kWarp] = 0;
  __syncwarp();
  for (u32 i = lane_id(); i < df; i += kWarp) atomicAdd(&bins[codes[i]], 1u);
  __syncwarp();
  Counts x;
#pragma unroll
  for (u32 j = 0; j < 8; j++) x.c[j] = bins[8 * lane_id() + j];
  __syncwarp();
  return x;
}

// A code that k postings of a list reach; 0 if there are fewer. Called by one warp.
INLINE u32 reached(u32 k, const Counts& x) {
  u32 sum = 0, code = 0;
#pragma unroll
  for (u32 j = 0; j < 8; j++) sum += x.c[j];
  u32 upto = sum;
#pragma unroll
  for (u32 d = 1; d < kWarp; d *= 2) {
    u32 more = __shfl_down_sync(kFull, upto, d);
    if (lane_id() + d < kWarp) upto += more;
  }
  u32 above = upto - sum;
  if (upto >= k && above < k) {
#pragma unroll
    for (u32 j = 0; j < 8; j++) {
      if (above < k) code = 8 * lane_id() + 7 - j;
      above += x.c[7 - j];
    }
  }
  // Exactly one lane found it.
  u32 votes = __ballot_sync(kFull, upto >= k && above >= k && upto - sum < k);
  return votes ? __shfl_sync(kFull, code, __ffs(votes) - 1) : 0;
}

// The expected number of documents with each score, if words are independent. A bin is 2^24 units.
// A lane holds eight neighbouring bins, which start nine words apart to avoid bank conflicts. The
// array `below` before the first bin is all 0.
struct Odds {
  float below[9 * kWarp], sum[9 * kWarp];
  u32 word[264];  // postings of a word, by score
};

// The highest cut that about three times k documents are expected to reach; 0 if there are too few.
// The guess is proven when all documents are scored. sure gets a cut that k documents are known to
// reach by one word. Called by one warp.
INLINE u32 guess(Odds& o, const Many& q, const Term& t, const u32* __restrict__ counts, const u8* __restrict__ codes, float docs, u32* sure) {
  bool sober = q.sober || q.terms == 1;
  // The words, one per lane, and the loads for the first one.
  u32 row = t.row, mult = t.mult, df = t.df, now = __shfl_sync(kFull, row, 0);
  u64 pos = t.pos;
  Counts ahead;
  if (now != kSparse) ahead = counts_of(now, counts);
  float* mine = o.sum + 9 * lane_id();  // its bins
  float each = 1.0f / docs;
  float sum[8];
#pragma unroll
  for (u32 j = 0; j < 8; j++) sum[j] = lane_id() == 0 && j == 0 ? docs : 0.0f, o.below[lane_id() + j * kWarp] = 0, mine[j] = sum[j];
  o.below[lane_id() + 8 * kWarp] = 0;
  *sure = 0;
  for (u32 i = 0; i < q.terms; i++) {
    Counts have = ahead;
    u32 step = __shfl_sync(kFull, mult, i), n = __shfl_sync(kFull, df, i);
    if (now == kSparse) have = count_codes(o.word, codes + __shfl_sync(kFull, pos, i), n);
    now = __shfl_sync(kFull, row, min_of(i + 1, q.terms - 1));
    if (i + 1 < q.terms && now != kSparse) ahead = counts_of(now, counts);
    if (!q.need) *sure = max_of(*sure, reached(q.k, have) * step);
    if (sober) continue;
    for (u32 s = lane_id(); s < 264; s += kWarp) o.word[s] = 0;
    __syncwarp();
#pragma unroll
    for (u32 j = 0; j < 8; j++)
      if (have.c[j]) atomicAdd(&o.word[(u32)(((u64)(2 * (8 * lane_id() + j) + 1) * step) >> 25)], have.c[j]);
    __syncwarp();
    float none = q.need ? 0.0f : 1.0f - (float)n * each;
    u32 bins = min_of((step >> 16) + 1, 256u);
    // Eight bins of the word at a time. v holds the lane's own bins so far, behind the eight below
    // them.
    float v[16], next[8];
#pragma unroll
    for (u32 j = 0; j < 8; j++) v[8 + j] = sum[j], next[j] = sum[j] * none;
    for (u32 b = 0; b < bins; b += 8) {
      const float* from = mine - 9 * (b / 8 + 1);
      bool any = false;
      float w[8];
#pragma unroll
      for (u32 j = 0; j < 8; j++) {
        u32 x = o.word[b + j];
        any = any || x;
        w[j] = (float)x * each, v[j] = from[j];
      }
      if (any) {
#pragma unroll
        for (u32 x = 0; x < 8; x++)
#pragma unroll
          for (u32 j = 0; j < 8; j++) next[j] += v[8 + j - x] * w[x];
      }
#pragma unroll
      for (u32 j = 0; j < 8; j++) v[8 + j] = v[j];
    }
    __syncwarp();
#pragma unroll
    for (u32 j = 0; j < 8; j++) mine[j] = sum[j] = next[j];
    __syncwarp();
  }
  if (sober) return 0;
  // From the top, eight bins per lane.
  float have = 0, want = 3.0f * (float)q.k + 16.0f;
#pragma unroll
  for (u32 j = 0; j < 8; j++) have += sum[j];
  float upto = have;
  for (u32 d = 1; d < kWarp; d *= 2) {
    float more = __shfl_down_sync(kFull, upto, d);
    if (lane_id() + d < kWarp) upto += more;
  }
  float above = upto - have;
  u32 bin = 0;
#pragma unroll
  for (u32 j = 0; j < 8; j++) {
    above += sum[7 - j];
    if (above >= want && bin == 0) bin = 8 * lane_id() + 7 - j;
  }
  for (u32 d = kWarp / 2; d > 0; d /= 2) bin = max_of(bin, __shfl_xor_sync(kFull, bin, d));
  return bin << 24;
}
