// Queries for which most documents with a word could win: those of many words of little weight, or
// with a k so large that hardly anything is skipped. Looking up each document in all lists would
// take by far the longest. Instead, a block scores all postings of a part of a tile, list by list
// in query order, and adds the scores up by document. Documents of one list are distinct, so no two
// threads add to the same document.
#pragma once
#include "batch.cuh"

constexpr u32 kSumThreads = 128;
constexpr u32 kSumUnroll = 4;     // postings per thread that are loaded at the same time
constexpr u32 kByte = 255;        // frequencies from here on do not fit a byte

// The score of a document without any word. No sum of scores is -0, and adding to -0 gives the same
// result as adding to 0.
constexpr float kNoWord = -0.0f;
INLINE bool has_word(float score) { return __float_as_uint(score) != __float_as_uint(kNoWord); }

struct SumDesk {
  float scores[kSub];    // of documents; kNoWord between parts
  u32 bins[kManyBins];   // histogram of the scores; all 0 between parts
  float inverse[kByte];  // 1 over each frequency, which saves one of two divisions per posting
  u32 cut;
};

// Initialises the working memory before the first part.
INLINE void lay_out(SumDesk& d) {
  for (u32 i = threadIdx.x; i < kSub; i += kSumThreads) d.scores[i] = kNoWord;
  for (u32 i = threadIdx.x; i < kManyBins; i += kSumThreads) d.bins[i] = 0;
  for (u32 i = threadIdx.x; i < kByte; i += kSumThreads) d.inverse[i] = 1.0f / (float)i;
}

// The cost of starting a list in a part, and of scanning the documents of a part in the end, in
// postings added up.
constexpr float kBeginning = 100.0f, kEnding = 1000.0f;
INLINE float cost_of_sums(const ManyPlan& p, const Many& q, float postings, u32 tiles) {
  return (float)p.head->adding / 64.0f * (postings + (float)(tiles * kSubs) * (kBeginning * (float)q.terms + kEnding));
}

// Adds the scores of a list's postings in a part.
template <bool Usual> INLINE void add_list(SumDesk& d, u32 model, const Term& list, u32 from, u32 n, const Lists& l, u32 sub) {
  const Term t = list;  // a copy that stores to d cannot change
  u32 tile = sub / kSubs << kTileBits, first = sub << kSubBits, last = from + n - 1;
  for (u32 at = from + threadIdx.x; at <= last; at += kSumUnroll * kSumThreads) {
    u32 doc[kSumUnroll], tf[kSumUnroll], length[kSumUnroll];
    // Threads beyond the end load the last posting again.
#pragma unroll
    for (u32 u = 0; u < kSumUnroll; u++) {
      u32 i = min_of(at + u * kSumThreads, last);
      doc[u] = t.row == kSparse ? l.extra[t.extra + i] : tile | l.offsets[t.pos + i], tf[u] = l.tfs[t.pos + i];
    }
#pragma unroll
    for (u32 u = 0; u < kSumUnroll; u++) length[u] = l.lengths[doc[u]];
#pragma unroll
    for (u32 u = 0; u < kSumUnroll; u++) {
      u32 i = at + u * kSumThreads;
      if (i > last) break;
      float score;
      if (Usual && tf[u] < kByte) score = bm25_of(t, d.inverse[tf[u]], length[u]);
      else score = score_of(Usual ? kBM25 : model, t, frequency(t, l.tfs, l.extra, i), length[u]);
      d.scores[doc[u] - first] += score;
    }
  }
}

// Adds the scores that reach the cut to the histogram. Returns the number of the thread's documents
// that have a word.
INLINE u32 count_scores(SumDesk& d, const Many& q, u32 cut, const State* state, u32* hist) {
  u32 seen = 0, base = state->live;
  for (u32 i = threadIdx.x; i < kSub; i += kSumThreads) {
    float score = d.scores[i];
    if (!has_word(score)) continue;
    u32 units = units_of(score, q.scale);
    if (units >= cut) atomicAdd(&d.bins[bin_of(units - base)], 1u);
    seen++;
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < kManyBins; i += kSumThreads) {
    if (d.bins[i]) atomicAdd(&hist[i], d.bins[i]);
    d.bins[i] = 0;
  }
  return seen;
}

// Keeps the scores that reach the cut, and clears all scores.
INLINE void keep_scores(SumDesk& d, const Many& q, u32 cut, u32 sub, State* state, u64* keys) {
  for (u32 i = threadIdx.x; i < kSub; i += kSumThreads) {
    float score = d.scores[i];
    d.scores[i] = kNoWord;
    bool good = has_word(score) && units_of(score, q.scale) >= cut;
    u32 votes = __ballot_sync(kFull, good), to = 0;
    if (!votes) continue;
    if (lane_id() == 0) to = atomicAdd(&state->keys, (u32)__popc(votes));
    to = __shfl_sync(kFull, to, 0) + __popc(votes & lanes_below());
    if (good && to < q.cap) keys[to] = key_of(score, sub << kSubBits | i);
  }
}

// Processes one part of a tile.
template <bool Usual> INLINE void add_part(SumDesk& d, const Many& q, const Term* terms, const Lists& l, u32 sub, State* state, u32* hist, u64* keys) {
  if (threadIdx.x == 0) d.cut = volatile_load(&state->cut);
  __syncthreads();
  u32 cut = d.cut;
  Part part{0, 0, 0, 1, 0, 0, 256, false};
  if (lane_id() < q.terms) part = part_of(l, terms[lane_id()], sub, sub + 1);
  u32 best = best_of(l, q, terms, sub / kSubs, sub / kSubs + 1), most = warp_sum(part.n ? best * part.mult : 0);
  if (most >= cut && most > 0) {
    for (u32 i = 0; i < q.terms; i++) {
      u32 n = __shfl_sync(kFull, part.n, i), from = __shfl_sync(kFull, part.from, i);
      if (n == 0) continue;
      add_list<Usual>(d, q.model, terms[i], from, n, l, sub);
      __syncthreads();
    }
    // All parts of a query run at the same time: each first counts its scores, so that the cut is
    // known when scores are kept.
    u32 seen = warp_sum(count_scores(d, q, cut, state, hist));
    if (lane_id() == 0) atomicAdd(&state->cands, seen);
    __syncthreads();
    if (warp_id() == 0) {
      cut = max_of(cut_now(state), raise_many(q, state, hist));
      if (lane_id() == 0) d.cut = cut, atomicAdd(&state->scored, 1u);
    }
    __syncthreads();
    keep_scores(d, q, d.cut, sub, state, keys);
  }
  __syncthreads();
}
