// Parallel WAND and MaxScore as in the thesis, over plain or compressed lists. Blocks, mostly of
// one warp, process some consecutive partitions of the lists, and keep their k best answers and the
// threshold across them. Lists are loaded into shared memory slice by slice, such that all postings
// of a document are in the same slice. The answers of the blocks are merged in pairs. In wider
// blocks, all warps load and score postings, and one of them traverses the lists and keeps the
// heap. Block-Max WAND has the maxima of every 64 postings, which give bounds within a slice.
#pragma once
#include "heap.cuh"
#include "thesisheads.cuh"
#include "thesismerge.cuh"

enum Partition { kDocuments, kHeterogeneous, kHomogeneous, kAdjusted };
enum Policy { kEarlyPolicy, kLocal, kSharedFull, kSharedHalf };
enum Way { kWand, kMaxScore, kBlockMax };
// Flags: mode AND; start threshold; heaps are built by insertion.
enum Flag { kAll = 1, kStart = 2, kInsert = 4 };
constexpr u32 kMostWarps = 4;                     // most warps of a block

extern __shared__ u64 nodes[];

// Laid out as paperQuery in paper_plan.go.
struct Query {
  u32 terms, first, k, model;
  u32 flags, partition, policy, size;
  // row: partitions per block; block: the first block; slice: postings per list in shared memory.
  u32 partitions, row, block, slice;
  u32 slack, unused;                  // documents by which adjusted lists may begin early
  double hair;
  u64 out;                            // index of the blocks' answers
};

// Counters of a query.
struct Done {
  u64 scored, entered;  // postings that were scored; documents that entered a heap
};

// A query and its lists, for a block. Lane t has list t.
template <class Lists> struct Task {
  const Query& q;
  Lists lists;
  const Term* terms;
  u32 documents;
  bool mine;
  u32 df;

  INLINE u32 highest(u32 v) const {
    u32 best = 0;
    for (u32 j = 0; j < q.terms; j++) best = max_of(best, __shfl_sync(kFull, v, j));
    return best;
  }

  // The first posting of partition i in this lane's list. Heterogeneous partitions begin after the
  // largest document before their positions, adjusted ones at the largest of the first documents.
  INLINE u32 begin_of(u32 i) const {
    u32 at = min_of(i * q.size, df);
    if (q.partition == kHomogeneous) return at;
    bool exact = q.partition == kHeterogeneous;
    if (exact && i == 0) return 0;
    if (exact && i >= q.partitions) return df;
    u32 doc = highest(lists.doc_at(terms, q.terms, exact ? at - 1 : at, df));
    return lists.advance(terms, q.terms, at, df, exact ? doc + 1 : max_of(doc, q.slack) - q.slack);
  }
};

// A block's answers and threshold. The first k answers are only collected, then sorted into a heap.
struct Best {
  WarpHeap heap;
  u32* bar;      // the threshold that blocks share: a score
  u32 policy;
  double hair;
  float cut, theta;
  u32 worst;     // lowest score of the answers
  bool inserts;  // uses the heap from the first answer on
  u32 entered;

  INLINE bool full() const { return heap.size == heap.k; }
  INLINE bool half() const { return 2 * heap.size >= heap.k; }

  // The score that other blocks reached. It is the same in all lanes even if it changes meanwhile.
  INLINE u32 ask() const {
    if (policy != kSharedFull && !(policy == kSharedHalf && half())) return 0;
    return __shfl_sync(kFull, *(volatile u32*)bar, 0);
  }

  // Another block's score may belong to a higher document, so that equal scores can still win.
  INLINE void hear(u32 score) {
    if (score > 1) raise(__uint_as_float(score - 1));
  }

  INLINE void raise(float score) {
    if (score <= theta) return;
    theta = score;
    cut = hair == 0 ? theta : (float)((double)theta * (1.0 - hair));
  }

  INLINE void add(u32 doc, float score) {
    if (score < theta || score == theta && !full()) return;
    u64 key = (u64)__float_as_uint(score) << 32 | (u32)~doc;
    entered++;
    if (!full() && inserts) {
      __syncwarp();
      heap.insert(key);
      worst = (u32)(heap.root() >> 32);
    } else if (!full()) {
      heap.size++;
      if (lane_id() == 0) heap.nodes[heap.size] = key;
      worst = min_of(worst, __float_as_uint(score));
      if (full()) build();
    } else {
      if (key <= heap.root()) {
        entered--;
        return;
      }
      __syncwarp();
      heap.replace(key);
      worst = (u32)(heap.root() >> 32);
    }
    if ((policy == kSharedFull && full() || policy == kSharedHalf && half()) && lane_id() == 0) atomicMax(bar, worst);
    if (full()) raise(__uint_as_float(worst));
  }

  // An ascending array is a heap.
  INLINE void build() {
    u32 room = room_for(heap.k);
    for (u32 i = heap.k + lane_id(); i < room; i += kWarp) heap.nodes[1 + i] = ~0ull;
    __syncwarp();
    sort_keys<false>(heap.nodes + 1, room);
  }
};

// The next document to score, with all lists that may have it positioned there; kDone if none can
// exceed cut.
template <Way way, class Heads> INLINE u32 next(Heads& l, u32 flags, float cut) {
  if (l.total <= cut) return kDone;
  // One float below the sum of all bounds, which only documents with all words can reach.
  if (flags & kStart && l.total > 0) {
    cut = __uint_as_float(__float_as_uint(l.total) - 1);
  } else if (flags & kAll || l.rest <= cut) {
    return l.common();
  }
  for (;;) {
    u32 doc = way != kMaxScore ? l.pivot(cut) : l.essential(cut);
    if (doc == kDone || !l.before(doc)) return doc;
    l.seek(doc);
    if (way == kMaxScore) return doc;
  }
}

// Traverses a slice.
template <Way way, class Heads> INLINE void walk(const Query& q, Heads heads, Best& best) {
  for (;;) {
    u32 doc = next<way>(heads, q.flags, best.cut);
    if (doc == kDone) return;
    float score = heads.take(doc);
    if (!(q.flags & kAll) || heads.complete) best.add(doc, score);
  }
}

// Loads the documents of the postings [from, to) of all lists into a slice: as many as fit, and no
// document for which another list has no space. Returns the number of postings of this lane's list,
// the same in all warps.
template <bool Wide, class Lists> INLINE u32 fill_docs(const Task<Lists>& t, const Slice& s, u32 from, u32 to) {
  const Query& q = t.q;
  t.lists.template load_docs<Wide>(t.terms, q.terms, s, from, to);
  sync_all<Wide>();
  // A slice ends at the lowest document at which the space of some list is full.
  const u32* mine = s.docs_of(t.mine ? lane_id() : 0);
  u32 have = t.mine ? min_of(to - from, s.room) : 0, limit = kDone;
  u32 last = t.mine && to - from > s.room ? mine[s.room - 1] : kDone;
  for (u32 j = 0; j < q.terms; j++) limit = min_of(limit, __shfl_sync(kFull, last, j));
  if (limit != kDone) have = lower_bound(mine, 0, have, limit + 1);
  sync_all<Wide>();
  if (t.mine && (!Wide || warp_id() == 0)) s.docs[lane_id() * (s.room + 1) + have] = kDone;
  return have;
}

// The highest score that any of the postings [from, from+n) of this lane's list can have.
INLINE float highest_of(const Term& t, const float* __restrict__ maxima, u32 from, u32 n) {
  float best = 0;
  if (n == 0) return best;
  for (u32 b = from / kBlockPostings; b <= (from + n - 1) / kBlockPostings; b++)
    if (maxima[t.table + b] > best) best = maxima[t.table + b];
  return best;
}

// Processes a block's part of a query.
template <Way way, bool Wide, class Lists> INLINE void answer(const Query& q, const Term* __restrict__ terms, u32 block, u32 documents, const Lists& lists,
                                                              const float* __restrict__ maxima, u32* bar, u64* out, Done* done) {
  bool mine = lane_id() < q.terms;
  Task<Lists> t{q, lists, terms, documents, mine, mine ? terms[lane_id()].df : 0};
  u32 room = room_for(q.k);
  Slice slice;
  slice.docs = (u32*)(nodes + room + 1), slice.room = q.slice;
  slice.scores = (float*)(slice.docs + q.terms * (q.slice + 1));
  u8* tfs_here = (u8*)(slice.scores + q.terms * q.slice);
  Best best{WarpHeap{nodes, q.k, 0}, bar, q.policy, q.hair, -1.0f, -1.0f, ~0u, (q.flags & kInsert) != 0, 0};
  float bound = mine ? terms[lane_id()].inverse : 0;
  bool exact = q.partition == kHeterogeneous;  // such partitions end where the next one begins
  u32 first = block * q.row, last = min_of(first + q.row, q.partitions), from = 0, to = 0, scored = 0;
#pragma unroll 1
  for (u32 part = first; part < last + exact; part++) {
    u32 begin = t.begin_of(part), n = min_of(q.size, t.df - min_of(part * q.size, t.df));
    from = exact ? to : begin, to = exact ? max_of(begin, from) : min_of(begin + n, t.df);
    if (exact && part == first) continue;
    while (__any_sync(kFull, from < to)) {
      u32 told = !Wide || warp_id() == 0 ? best.ask() : 0;
      u32 have = fill_docs<Wide>(t, slice, from, to);
      float here = bound;
      bool worth = true;
      if (way == kBlockMax) {
        here = mine ? min_of(bound, highest_of(terms[lane_id()], maxima, from, have)) : 0;
        float total = 0;
        for (u32 j = 0; j < q.terms; j++) total += __shfl_sync(kFull, here, j);
        if (!Wide || warp_id() == 0) best.hear(told);
        worth = total > best.cut;
        if (Wide) worth = __syncthreads_or(warp_id() == 0 && worth);
      }
      if (worth) {
        lists.template load_scores<Wide>(terms, q.terms, q.model, slice, tfs_here, from, have);
        scored += have;
      }
      sync_all<Wide>();
      if (way != kBlockMax && (!Wide || warp_id() == 0)) best.hear(told);
      if (worth && (!Wide || warp_id() == 0)) {
        if (q.terms == 2) {
          walk<way>(q, Pair(slice, have, here), best);
        } else {
          walk<way>(q, Lanes(slice, have, here, q.terms), best);
        }
      }
      from += have;
      sync_all<Wide>();
    }
  }
  if (Wide && warp_id() > 0) return;
  for (u32 d = kWarp / 2; d > 0; d /= 2) scored += __shfl_xor_sync(kFull, scored, d);
  if (lane_id() == 0) atomicAdd(&done->scored, (u64)scored), atomicAdd(&done->entered, (u64)best.entered);
  // Writes the answers, best first, then zeros.
  u32 size = best.heap.size, sorted = room_for(size);
  u64* keys = nodes + 1;
  for (u32 i = size + lane_id(); i < sorted; i += kWarp) keys[i] = 0;
  __syncwarp();
  sort_keys<true>(keys, sorted);
  for (u32 i = lane_id(); i < q.k; i += kWarp) out[i] = i < size ? keys[i] : 0;
}

// words: document numbers, or the words of compressed lists. tfs and extra: of plain lists.
#define MATCH_ARGUMENTS                                                                                                                       \
  const Query *__restrict__ queries, u32 count, u32 first, const Term *__restrict__ terms, u32 documents, const u32 *__restrict__ words,      \
      const u8 *__restrict__ tfs, const u32 *__restrict__ extra, const u32 *__restrict__ lengths, const float *__restrict__ maxima, u32 *bars, \
      u64 *outs, Done *done

template <Way way, bool Wide, class Lists> INLINE void match(MATCH_ARGUMENTS) {
  u32 lo = 0, hi = count, number = first + blockIdx.x;  // of this block's query
  while (lo + 1 < hi) {
    u32 mid = (lo + hi) / 2;
    if (queries[mid].block <= number) lo = mid; else hi = mid;
  }
  const Query q = queries[lo];
  u32 block = number - q.block;
  answer<way, Wide>(q, terms + q.first, block, documents, Lists{words, tfs, extra, lengths}, maxima, bars + lo, outs + q.out + (u64)block * q.k, done + lo);
}

#define MATCH_KERNEL(name, way, wide, Lists)                                                                              \
  KERNEL __launch_bounds__(wide ? kMostWarps * kWarp : kWarp) name(MATCH_ARGUMENTS) {                                     \
    match<way, wide, Lists>(queries, count, first, terms, documents, words, tfs, extra, lengths, maxima, bars, outs, done); \
  }

// The kernels for lists of one kind, which have the prefix in their names.
#define MATCH_KERNELS(prefix, Lists)                            \
  MATCH_KERNEL(prefix##_wand, kWand, false, Lists)               \
  MATCH_KERNEL(prefix##_maxscore, kMaxScore, false, Lists)       \
  MATCH_KERNEL(prefix##_bmw, kBlockMax, false, Lists)            \
  MATCH_KERNEL(prefix##_wand_wide, kWand, true, Lists)           \
  MATCH_KERNEL(prefix##_maxscore_wide, kMaxScore, true, Lists)   \
  MATCH_KERNEL(prefix##_bmw_wide, kBlockMax, true, Lists)
