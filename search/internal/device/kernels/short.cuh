// BM25 queries that a rare word decides: each answer must contain it, since all words are required
// or it is the only one. All its postings are scored, one per thread. Their documents are looked up
// in the lists of the other words, and the answers are sorted at once. No cut is needed, and
// nothing is left for other kernels. A warp answers queries with up to 32 postings, a block those
// with more. In a collection of some hundred thousand documents, most web queries that require all
// words are of this kind.
#pragma once
#include "batch.cuh"

constexpr u32 kShortThreads = 256;
constexpr u32 kSome = 2048;       // maximum number of postings

// The working memory of a block: one query, or one per warp.
union ShortDesk {
  struct {
    Term terms[kWarp];
    u64 keys[kSome];
    u32 docs[kSome];
    u32 held;
  } some;
  struct {
    Term terms[kWarp];
    u64 keys[kWarp];
  } few[kShortThreads / kWarp];
};

// Converts a key to a Hit of the host. Keys hold the complement of the document, so that of equal
// scores the lower document wins.
INLINE u64 hit_of(u64 key) { return key ^ 0xffffffffull; }

// Fetches a query's words, all at the same time.
INLINE void fetch_terms(Term* to, const Term* __restrict__ known, const u32* __restrict__ words, u32 n, u32 me, u32 threads) {
  constexpr u32 kWords = sizeof(Term) / 8;
  for (u32 i = me; i < n * kWords; i += threads) ((u64*)to)[i] = ((const u64*)(known + id_of(words[i / kWords])))[i % kWords];
}

// Computes the score of a document, which has index `at` in the deciding word's list. Returns
// whether it has all words. Called by all lanes of a warp.
INLINE bool score_doc(const Term* terms, u32 n, u32 lead, bool busy, u32 at, u32 doc, const Lists& l, float* score) {
  u32 length = busy ? l.lengths[doc] : 0;
  float sum = 0;
  for (u32 i = 0; i < n; i++) {
    const Term& t = terms[i];
    u32 found = i == lead ? at : busy ? find_doc(l, t, doc, 0, t.df) : kFull;
    busy = busy && found != kFull;
    if (!__any_sync(kFull, busy)) return false;
    if (busy) sum += score_of(kBM25, t, frequency(t, l.tfs, l.extra, found), length);
  }
  *score = sum;
  return busy;
}

// Writes the counts of a query for the host.
INLINE void close_short(u64* out, u32 df, u32 held, u32 k) { out[0] = (u64)df << 32 | min_of(held, k), out[1] = 1ull << 32 | held; }

// Answers a query by one warp. Words this rare have no row; their documents are in extra.
INLINE void answer_few(const Term* terms, u64* keys, const Asked& q, const Lists& l, u64* out) {
  const Term& first = terms[q.kind];
  u32 at = lane_id(), df = first.df;
  bool busy = at < df;
  u32 doc = busy ? l.extra[first.extra + at] : 0;
  float score = 0;
  busy = score_doc(terms, q.terms, q.kind, busy, at, doc, l, &score);
  u32 votes = __ballot_sync(kFull, busy), held = __popc(votes), place = 0;
  u64 mine = key_of(score, doc);
  if (busy) keys[__popc(votes & lanes_below())] = mine;
  __syncwarp();
  // A key's rank is the number of larger keys.
  for (u32 j = 0; j < held; j++) place += keys[j] > mine;
  if (busy && place < q.k) out[2 + place] = hit_of(mine);
  if (lane_id() == 0) close_short(out, df, held, q.k);
}

// Answers a query by one block.
INLINE void answer_some(const Term* terms, u64* keys, u32* docs, u32* held, const Asked& q, const Lists& l, u64* out) {
  const Term& first = terms[q.kind];
  u32 df = first.df, me = threadIdx.x;
  if (first.row == kSparse) {
    for (u32 i = me; i < df; i += kShortThreads) docs[i] = l.extra[first.extra + i];
  } else {
    const u32* row = l.starts + (u64)first.row * (l.tiles * kSubs + 1);
    for (u32 sub = me; sub < l.tiles * kSubs; sub += kShortThreads)
      for (u32 i = row[sub], end = row[sub + 1]; i < end; i++) docs[i] = sub / kSubs << kTileBits | l.offsets[first.pos + i];
  }
  __syncthreads();
  for (u32 base = 0; base < df; base += kShortThreads) {
    u32 at = base + me;
    bool busy = at < df;
    u32 doc = busy ? docs[at] : 0;
    float score = 0;
    if (score_doc(terms, q.terms, q.kind, busy, at, doc, l, &score)) keys[atomicAdd(held, 1u)] = key_of(score, doc);
  }
  __syncthreads();
  u32 n = *held;
  if (n <= kShortThreads) {
    u64 mine = me < n ? keys[me] : 0;
    u32 place = 0;
    for (u32 j = 0; j < n; j++) place += keys[j] > mine;
    if (me < n && place < q.k) out[2 + place] = hit_of(mine);
  } else {
    u32 size = kWarp;
    while (size < n) size *= 2;
    for (u32 i = n + me; i < size; i += kShortThreads) keys[i] = 0;
    __syncthreads();
    sort_keys<kShortThreads>(keys, size);
    for (u32 i = me; i < min_of(n, (u32)q.k); i += kShortThreads) out[2 + i] = hit_of(keys[i]);
  }
  if (me == 0) close_short(out, df, n, q.k);
}
