// Parallel WAND and MaxScore as in the thesis. Blocks, mostly of one warp, process some consecutive
// partitions of the lists, and keep their k best answers and the threshold across them. Lists are
// loaded into shared memory slice by slice, such that all postings of a document are in the same
// slice. The answers of the blocks are merged in pairs. In wider blocks, all warps load and score
// postings, and one of them traverses the lists and keeps the heap. Block-Max WAND has the maxima
// of every 64 postings, which give bounds within a slice.
#include "heap.cuh"
#include "thesisheads.cuh"
#include "thesismerge.cuh"

enum Partition { kDocuments, kHeterogeneous, kHomogeneous, kAdjusted };
enum Policy { kEarlyPolicy, kLocal, kSharedFull, kSharedHalf };
enum Way { kWand, kMaxScore, kBlockMax };
// Flags: mode AND; start threshold; heaps are built by insertion.
enum Flag { kAll = 1, kStart = 2, kInsert = 4 };
constexpr u32 kBlockPostings = 64;                // postings that share a maximum
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

// Synchronises all warps of a block, or its only one.
template <bool Wide> INLINE void sync_all() {
  if (Wide) __syncthreads(); else __syncwarp();
}

// Whole document numbers for lists that store offsets within tiles.
KERNEL __launch_bounds__(256)
thesis_expand(const Term* __restrict__ terms, u32 tiles, const u16* __restrict__ offsets, const u32* __restrict__ extra,
              const u32* __restrict__ starts, u32* docs) {
  const Term& t = terms[0];
  u32 warps = gridDim.x * (blockDim.x / kWarp), w = blockIdx.x * (blockDim.x / kWarp) + warp_id();
  if (t.row == kSparse) {
    for (u32 i = w * kWarp + lane_id(); i < t.df; i += warps * kWarp) docs[t.pos + i] = extra[t.extra + i];
    return;
  }
  const u32* row = starts + (u64)t.row * (tiles * kSubs + 1);
  for (u32 tile = w; tile < tiles; tile += warps)
    for (u32 i = row[tile * kSubs] + lane_id(); i < row[(tile + 1) * kSubs]; i += kWarp) docs[t.pos + i] = tile << kTileBits | offsets[t.pos + i];
}

// The highest score of every 64 postings of a list.
KERNEL __launch_bounds__(256)
thesis_maxima(const Term* __restrict__ terms, u32 model, const u32* __restrict__ docs, const u8* __restrict__ tfs, const u32* __restrict__ extra,
              const u32* __restrict__ lengths, float* maxima) {
  const Term& t = terms[0];
  u32 warps = gridDim.x * (blockDim.x / kWarp), blocks = (t.df + kBlockPostings - 1) / kBlockPostings;
  for (u32 b = blockIdx.x * (blockDim.x / kWarp) + warp_id(); b < blocks; b += warps) {
    float best = 0;
    for (u32 i = b * kBlockPostings + lane_id(); i < min_of((b + 1) * kBlockPostings, t.df); i += kWarp) {
      float s = score_of(model, t, frequency(t, tfs, extra, i), lengths[docs[t.pos + i]]);
      if (s > best) best = s;
    }
    for (u32 d = kWarp / 2; d > 0; d /= 2) {
      float s = __shfl_xor_sync(kFull, best, d);
      if (s > best) best = s;
    }
    if (lane_id() == 0) maxima[t.table + b] = best;
  }
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

// A query and its lists, for a block. Lane t has list t.
struct Task {
  const Query& q;
  const u32* docs;
  const Term* terms;
  u32 documents;
  bool mine;
  const u32* list;
  u32 df;

  INLINE u32 highest(u32 v) const {
    u32 best = 0;
    for (u32 j = 0; j < q.terms; j++) best = max_of(best, __shfl_sync(kFull, v, j));
    return best;
  }

  // The first document of heterogeneous partition i.
  INLINE u32 first_of(u32 i) const {
    if (i == 0) return 0;
    if (i >= q.partitions) return documents;
    return highest(mine ? list[min_of(i * q.size, df) - 1] : 0) + 1;
  }

  // Each list's first posting from `from` on whose document is at least x. Few lists are searched
  // by all lanes, one after the other.
  INLINE u32 advance(u32 from, u32 x) const {
    if (q.terms > 6) return mine ? gallop(list, from, df, x) : 0;
    u32 found = 0;
    for (u32 t = 0; t < q.terms; t++) {
      u32 at = stride(docs + terms[t].pos, __shfl_sync(kFull, from, t), __shfl_sync(kFull, df, t), x);
      if (lane_id() == t) found = at;
    }
    return found;
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

constexpr u32 kChunks = 4;  // of 32 postings: the most that a slice has of a list

// Loads the documents of the postings [from, to) of all lists into a slice: as many as fit, and no
// document for which another list has no space. Returns the number of postings of this lane's list,
// the same in all warps. Loads are issued together where possible, because their latency dominates.
template <bool Wide> INLINE u32 fill_docs(const Task& t, const Slice& s, u32 from, u32 to) {
  const Query& q = t.q;
  u32 warps = Wide ? blockDim.x / kWarp : 1;
  for (u32 j = 0; j < q.terms; j++) {
    u32 begin = __shfl_sync(kFull, from, j), end = min_of(__shfl_sync(kFull, to, j), begin + s.room);
    const u32* docs = t.docs + t.terms[j].pos;
    u32 doc[kChunks];
#pragma unroll
    for (u32 c = 0; c < kChunks; c++) {
      u32 i = begin + c * kWarp + lane_id();
      doc[c] = i < end && (!Wide || c % warps == warp_id()) ? docs[i] : kDone;
    }
#pragma unroll
    for (u32 c = 0; c < kChunks; c++)
      if (c * kWarp < s.room && (!Wide || c % warps == warp_id())) s.docs[j * (s.room + 1) + c * kWarp + lane_id()] = doc[c];
  }
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

// Loads the scores of these documents.
template <bool Wide> INLINE void fill_scores(const Task& t, const Slice& s, u8* tfs_here, u32 from, u32 have, const u8* __restrict__ tfs,
                                             const u32* __restrict__ extra, const u32* __restrict__ lengths) {
  const Query& q = t.q;
  u32 warps = Wide ? blockDim.x / kWarp : 1;
  for (u32 j = 0; j < q.terms; j++) {
    u32 begin = __shfl_sync(kFull, from, j), n = __shfl_sync(kFull, have, j);
    const u8* tf_of = tfs + t.terms[j].pos + begin;
    const u32* docs = s.docs_of(j);
    u32 tf[kChunks], length[kChunks];
#pragma unroll
    for (u32 c = 0; c < kChunks; c++) {
      u32 i = c * kWarp + lane_id();
      if (i < n && (!Wide || c % warps == warp_id())) tf[c] = tf_of[i], length[c] = lengths[docs[i]];
    }
#pragma unroll
    for (u32 c = 0; c < kChunks; c++) {
      u32 i = c * kWarp + lane_id();
      if (i < n && (!Wide || c % warps == warp_id())) tfs_here[j * s.room + i] = tf[c], s.scores[j * s.room + i] = __uint_as_float(length[c]);
    }
  }
  // Convert lengths to scores, each in the lane that loaded it.
  for (u32 j = 0; j < q.terms; j++) {
    u32 begin = __shfl_sync(kFull, from, j), n = __shfl_sync(kFull, have, j);
    const Term& term = t.terms[j];
    for (u32 i = (Wide ? warp_id() * kWarp : 0) + lane_id(); i < n; i += warps * kWarp) {
      u32 tf = tfs_here[j * s.room + i];
      if (tf == 255) tf = frequency(term, tfs, extra, begin + i);
      s.scores[j * s.room + i] = score_of(q.model, term, tf, __float_as_uint(s.scores[j * s.room + i]));
    }
  }
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
template <Way way, bool Wide> INLINE void answer(const Query& q, const Term* __restrict__ terms, u32 block, u32 documents, const u32* __restrict__ docs,
                                                 const u8* __restrict__ tfs, const u32* __restrict__ extra, const u32* __restrict__ lengths,
                                                 const float* __restrict__ maxima, u32* bar, u64* out, Done* done) {
  bool mine = lane_id() < q.terms;
  Task t{q, docs, terms, documents, mine, mine ? docs + terms[lane_id()].pos : docs, mine ? terms[lane_id()].df : 0};
  u32 room = room_for(q.k);
  Slice slice;
  slice.docs = (u32*)(nodes + room + 1), slice.room = q.slice;
  slice.scores = (float*)(slice.docs + q.terms * (q.slice + 1));
  u8* tfs_here = (u8*)(slice.scores + q.terms * q.slice);
  Best best{WarpHeap{nodes, q.k, 0}, bar, q.policy, q.hair, -1.0f, -1.0f, ~0u, (q.flags & kInsert) != 0, 0};
  float bound = mine ? terms[lane_id()].inverse : 0;
  u32 last = min_of((block + 1) * q.row, q.partitions);
  u32 from = 0, to = 0, begin = 0, scored = 0;
  for (u32 part = block * q.row; part < last; part++) {
    u32 at = min_of(part * q.size, t.df);
    if (q.partition == kHeterogeneous) {
      if (part == block * q.row) {
        begin = t.first_of(part);
        to = begin == 0 ? 0 : t.advance(at, begin);
      }
      u32 end = t.first_of(part + 1);
      from = to;
      to = end >= documents ? t.df : max_of(t.advance(min_of((part + 1) * q.size, t.df), end), from);
    } else {
      from = at, to = min_of(at + q.size, t.df);
      if (q.partition == kAdjusted) {
        u32 start = t.highest(from < t.df ? t.list[from] : 0), n = to - from;
        u32 found = t.advance(from, start > q.slack ? start - q.slack : 0);
        if (n > 0) from = found, to = min_of(found + n, t.df);
      }
    }
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
        fill_scores<Wide>(t, slice, tfs_here, from, have, tfs, extra, lengths);
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

#define MATCH_ARGUMENTS                                                                                                                              \
  const Query *__restrict__ queries, u32 count, u32 first, const Term *__restrict__ terms, u32 documents, const u32 *__restrict__ docs,              \
      const u8 *__restrict__ tfs, const u32 *__restrict__ extra, const u32 *__restrict__ lengths, const float *__restrict__ maxima, u32 *bars,        \
      u64 *outs, Done *done

template <Way way, bool Wide> INLINE void match(MATCH_ARGUMENTS) {
  u32 lo = 0, hi = count, number = first + blockIdx.x;  // of this block's query
  while (lo + 1 < hi) {
    u32 mid = (lo + hi) / 2;
    if (queries[mid].block <= number) lo = mid; else hi = mid;
  }
  const Query q = queries[lo];
  u32 block = number - q.block;
  answer<way, Wide>(q, terms + q.first, block, documents, docs, tfs, extra, lengths, maxima, bars + lo, outs + q.out + (u64)block * q.k, done + lo);
}

#define MATCH_KERNEL(name, way, wide)                                                                             \
  KERNEL __launch_bounds__(wide ? kMostWarps * kWarp : kWarp) name(MATCH_ARGUMENTS) {                             \
    match<way, wide>(queries, count, first, terms, documents, docs, tfs, extra, lengths, maxima, bars, outs, done); \
  }

MATCH_KERNEL(thesis_wand, kWand, false)
MATCH_KERNEL(thesis_maxscore, kMaxScore, false)
MATCH_KERNEL(thesis_bmw, kBlockMax, false)
MATCH_KERNEL(thesis_wand_wide, kWand, true)
MATCH_KERNEL(thesis_maxscore_wide, kMaxScore, true)
MATCH_KERNEL(thesis_bmw_wide, kBlockMax, true)

KERNEL __launch_bounds__(kMergeWarps * kWarp)
thesis_merge4(const u64* __restrict__ from, u64* to, u32 lists, u32 each, u32 in, u32 out, u32 distinct) {
  __shared__ u64 room[4 * 4 * kWarp];
  __shared__ u32 counts[kMergeWarps];
  merge_lists<4>(from, to, lists, each, in, out, distinct, room, counts);
}

KERNEL __launch_bounds__(kMergeWarps * kWarp)
thesis_merge8(const u64* __restrict__ from, u64* to, u32 lists, u32 each, u32 in, u32 out, u32 distinct) {
  __shared__ u64 room[4 * 8 * kWarp];
  __shared__ u32 counts[kMergeWarps];
  merge_lists<8>(from, to, lists, each, in, out, distinct, room, counts);
}

KERNEL __launch_bounds__(kMergeWarps * kWarp)
thesis_merge32(const u64* __restrict__ from, u64* to, u32 lists, u32 each, u32 in, u32 out, u32 distinct) {
  __shared__ u64 room[4 * 32 * kWarp];
  __shared__ u32 counts[kMergeWarps];
  merge_lists<32>(from, to, lists, each, in, out, distinct, room, counts);
}
