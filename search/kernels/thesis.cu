// Parallel WAND and MaxScore as the thesis has them: blocks of one warp, lane i at list i. A block takes some partitions
// of the lists in a row and keeps its k best and the score to beat over them; lists are brought to shared memory slice by
// slice, such that all postings of a document are there together. What blocks found is merged in pairs.
#include "heap.cuh"
#include "scoring.cuh"

constexpr u32 kDone = 0xffffffffu;
enum Partition { kDocuments, kHeterogeneous, kHomogeneous, kAdjusted };
enum Policy { kEarlyPolicy, kLocal, kSharedFull, kSharedHalf };

// As thesisQuery in gpu_thesis.go.
struct Query {
  u32 terms, first, k, model;
  u32 all, partition, policy, size;  // all: mode and
  u32 partitions, row, block, slice; // row: of a block; block: first one; slice: postings of a list in shared memory
  double hair;
  u64 out;                           // where the blocks' answers go
};

// Whole document numbers of lists that have only those within tiles.
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

INLINE u32 min_of_lanes(u32 v, u32 lanes) {
  u32 best = kDone;
  for (u32 j = 0; j < lanes; j++) best = min_of(best, __shfl_sync(kFull, v, j));
  return best;
}
INLINE u32 max_of_lanes(u32 v, u32 lanes) {
  u32 best = 0;
  for (u32 j = 0; j < lanes; j++) best = max_of(best, __shfl_sync(kFull, v, j));
  return best;
}

// First position from on whose document is at least x: by doubling steps, for it is often near.
INLINE u32 gallop(const u32* __restrict__ docs, u32 from, u32 df, u32 x) {
  u32 step = 1, lo = from, hi = from;
  while (hi < df && docs[hi] < x) lo = hi + 1, hi = min_of(hi + step, df), step *= 2;
  return lower_bound(docs, lo, hi, x);
}

// The first document of heterogeneous partition i; lane t knows list t.
INLINE u32 first_of(const Query& q, const u32* list, u32 df, u32 i, u32 documents) {
  if (i == 0) return 0;
  if (i >= q.partitions) return documents;
  u32 before = lane_id() < q.terms ? list[min_of(i * q.size, df) - 1] : 0;
  return max_of_lanes(before, q.terms) + 1;
}

// One block's answers and score to beat.
struct Best {
  WarpHeap heap;
  u32* bar;      // of all blocks: a score
  u32 policy;
  double hair, cut;
  float theta;

  INLINE bool half() const { return 2 * heap.size >= heap.k; }

  // A score of others may belong to a higher document number, so that equal scores can still win.
  INLINE void refresh() {
    theta = heap.size == heap.k ? __uint_as_float((u32)(heap.root() >> 32)) : -1.0f;
    if (policy == kSharedFull || policy == kSharedHalf && half()) {
      u32 score = *(volatile u32*)bar;
      if (score > 1) theta = theta > __uint_as_float(score - 1) ? theta : __uint_as_float(score - 1);
    }
    cut = (double)theta * (theta > 0 ? 1.0 - hair : 1.0);
  }

  INLINE void add(u32 doc, float score) {
    u64 key = (u64)__float_as_uint(score) << 32 | (u32)~doc;
    if (heap.size == heap.k && key <= heap.root()) return;
    heap.add(key);
    bool tell = policy == kSharedFull && heap.size == heap.k || policy == kSharedHalf && half();
    if (tell && lane_id() == 0) atomicMax(bar, (u32)(heap.root() >> 32));
    if (heap.size == heap.k) {
      theta = max_of(theta, __uint_as_float((u32)(heap.root() >> 32)));
      cut = (double)theta * (theta > 0 ? 1.0 - hair : 1.0);
    }
  }
};

// A lane's list in the slice.
struct Lane {
  const u32* docs;
  const float* scores;
  u32 at, count, doc;
  INLINE void set(u32 to) { at = to, doc = to < count ? docs[to] : kDone; }
  INLINE void seek(u32 x) { set(lower_bound(docs, at, count, x)); }
};

// The sum of the lists that stand on a document, in query order.
INLINE float sum_at(const Lane& l, u32 doc, u32 terms) {
  bool here = l.doc == doc;
  float s = here ? l.scores[l.at] : 0, sum = 0;
  u32 votes = __ballot_sync(kFull, here);
  for (u32 j = 0; j < terms; j++) {
    float x = __shfl_sync(kFull, s, j);
    if (votes >> j & 1) sum += x;
  }
  return sum;
}

INLINE void all_of(const Query& q, Lane& l, double bound, Best& best) {
  double total = 0;
  for (u32 j = 0; j < q.terms; j++) total += __shfl_sync(kFull, bound, j);
  for (;;) {
    u32 high = max_of_lanes(l.doc, q.terms);
    if (high == kDone || total <= best.cut) return;
    if (__any_sync(kFull, lane_id() < q.terms && l.doc < high)) {
      if (lane_id() < q.terms && l.doc < high) l.seek(high);
      continue;
    }
    best.add(high, sum_at(l, high, q.terms));
    if (lane_id() < q.terms) l.set(l.at + 1);
  }
}

INLINE void wand(const Query& q, Lane& l, double bound, Best& best) {
  for (;;) {
    double sum = 0;
    for (u32 j = 0; j < q.terms; j++) {
      u32 doc = __shfl_sync(kFull, l.doc, j);
      double b = __shfl_sync(kFull, bound, j);
      if (doc <= l.doc) sum += b;
    }
    u32 pivot = min_of_lanes(sum > best.cut ? l.doc : kDone, q.terms);
    if (pivot == kDone) return;
    if (__any_sync(kFull, l.doc < pivot)) {
      if (l.doc < pivot) l.seek(pivot);
      continue;
    }
    best.add(pivot, sum_at(l, pivot, q.terms));
    if (l.doc == pivot) l.set(l.at + 1);
  }
}

INLINE void max_score(const Query& q, Lane& l, double bound, Best& best) {
  // Bounds from the lowest up to this list's.
  double upto = 0;
  for (u32 j = 0; j < q.terms; j++) {
    double b = __shfl_sync(kFull, bound, j);
    if (b < bound || b == bound && j <= lane_id()) upto += b;
  }
  for (;;) {
    bool essential = upto > best.cut;
    u32 doc = min_of_lanes(essential ? l.doc : kDone, q.terms);
    if (doc == kDone) return;
    if (l.doc < doc) l.seek(doc);
    best.add(doc, sum_at(l, doc, q.terms));
    if (l.doc == doc) l.set(l.at + 1);
  }
}

// Sorts so many keys, a power of two, falling. One warp.
INLINE void sort_warp(u64* keys, u32 size) {
  for (u32 run = 2; run <= size; run *= 2)
    for (u32 d = run / 2; d > 0; d /= 2) {
      for (u32 i = lane_id(); i < size / 2; i += kWarp) {
        u32 a = 2 * i - (i & (d - 1)), b = a + d;
        u64 x = keys[a], y = keys[b];
        if ((x < y) == ((a & run) == 0)) keys[a] = y, keys[b] = x;
      }
      __syncwarp();
    }
}

template <bool Wand> INLINE void match(const Query* __restrict__ queries, u32 count, u32 first, const Term* __restrict__ all_terms, u32 documents,
                                       const u32* __restrict__ docs, const u8* __restrict__ tfs, const u32* __restrict__ extra,
                                       const u32* __restrict__ lengths, u32* bars, u64* outs) {
  extern __shared__ u64 nodes[];
  u32 lo = 0, hi = count, number = first + blockIdx.x;  // the query of this block
  while (lo + 1 < hi) {
    u32 mid = (lo + hi) / 2;
    if (queries[mid].block <= number) lo = mid; else hi = mid;
  }
  const Query& q = queries[lo];
  const Term* terms = all_terms + q.first;
  u32 room = kWarp;
  while (room < q.k + 1) room *= 2;
  u32* slice_docs = (u32*)(nodes + room);
  float* slice_scores = (float*)(slice_docs + q.terms * q.slice);
  Best best{WarpHeap{nodes, q.k, 0}, bars + lo, q.policy, q.hair, -1.0, -1.0f};
  bool mine = lane_id() < q.terms;
  const u32* list = mine ? docs + terms[lane_id()].pos : docs;
  u32 df = mine ? terms[lane_id()].df : 0;
  double bound = mine ? (double)terms[lane_id()].inverse : 0;
  u32 block = number - q.block, last = min_of((block + 1) * q.row, q.partitions);
  u32 from = 0, to = 0, next = 0;
  for (u32 part = block * q.row; part < last; part++) {
    if (q.partition == kHeterogeneous) {
      u32 begin = first_of(q, list, df, part, documents), end = first_of(q, list, df, part + 1, documents);
      if (mine) {
        from = part == block * q.row ? gallop(list, part == 0 ? 0 : min_of(part * q.size, df), df, begin) : next;
        to = next = end >= documents ? df : max_of(gallop(list, min_of((part + 1) * q.size, df), df, end), from);
      }
    } else if (mine) {
      from = min_of(part * q.size, df), to = min_of(from + q.size, df);
    }
    if (q.partition == kAdjusted) {
      u32 first = max_of_lanes(mine && from < df ? list[from] : 0, q.terms), n = to - from;
      if (mine && n > 0) from = gallop(list, from, df, first), to = min_of(from + n, df);
    }
    while (__any_sync(kFull, from < to)) {
      // A slice: up to the lowest document that some list has at the end of its room.
      u32 limit = min_of_lanes(to - from > q.slice ? list[from + q.slice - 1] : kDone, q.terms);
      u32 have = 0;
      for (u32 t = 0; t < q.terms; t++) {
        u32 begin = __shfl_sync(kFull, from, t), end = __shfl_sync(kFull, to, t), n = 0;
        const Term& term = terms[t];
        const u32* from_docs = docs + term.pos;
        for (u32 i = lane_id(); i < q.slice; i += kWarp) {
          u32 doc = begin + i < end ? from_docs[begin + i] : kDone;
          bool in = doc != kDone && doc <= limit;
          if (in) {
            slice_docs[t * q.slice + i] = doc;
            slice_scores[t * q.slice + i] = score_of(q.model, term, frequency(term, tfs, extra, begin + i), lengths[doc]);
          }
          u32 c = __popc(__ballot_sync(kFull, in));
          n += c;
          if (c < kWarp) break;
        }
        if (lane_id() == t) have = n;
      }
      __syncwarp();
      best.refresh();
      u32 lane = mine ? lane_id() : 0;
      Lane l{slice_docs + lane * q.slice, slice_scores + lane * q.slice, 0, have, kDone};
      l.set(0);
      if (q.all) {
        all_of(q, l, bound, best);
      } else if (Wand) {
        wand(q, l, bound, best);
      } else {
        max_score(q, l, bound, best);
      }
      from += have;
      __syncwarp();
    }
  }
  // The answers, best first, then zeros.
  u32 size = best.heap.size;
  for (u32 i = lane_id(); i < room; i += kWarp)
    if (i == 0 || i > size) nodes[i] = 0;
  __syncwarp();
  sort_warp(nodes, room);
  u64* out = outs + q.out + (u64)block * q.k;
  for (u32 i = lane_id(); i < q.k; i += kWarp) out[i] = nodes[i];
}

KERNEL __launch_bounds__(kWarp)
thesis_wand(const Query* __restrict__ queries, u32 count, u32 first, const Term* __restrict__ terms, u32 documents, const u32* __restrict__ docs,
            const u8* __restrict__ tfs, const u32* __restrict__ extra, const u32* __restrict__ lengths, u32* bars, u64* outs) {
  match<true>(queries, count, first, terms, documents, docs, tfs, extra, lengths, bars, outs);
}

KERNEL __launch_bounds__(kWarp)
thesis_maxscore(const Query* __restrict__ queries, u32 count, u32 first, const Term* __restrict__ terms, u32 documents, const u32* __restrict__ docs,
                const u8* __restrict__ tfs, const u32* __restrict__ extra, const u32* __restrict__ lengths, u32* bars, u64* outs) {
  match<false>(queries, count, first, terms, documents, docs, tfs, extra, lengths, bars, outs);
}

constexpr u32 kMergeThreads = 128;

// Merges lists 2b and 2b+1 to list b. Where documents were cut, the same one may be in several lists: its best answer counts.
KERNEL __launch_bounds__(kMergeThreads) thesis_merge(const u64* __restrict__ from, u64* to, u32 lists, u32 k, u32 distinct) {
  extern __shared__ u64 keys[];
  u32 room = kWarp;
  while (room < 2 * k) room *= 2;
  const u64* a = from + 2ull * blockIdx.x * k;
  bool two = 2 * blockIdx.x + 1 < lists;
  for (u32 i = threadIdx.x; i < room; i += kMergeThreads) keys[i] = i < k || i < 2 * k && two ? a[i] : 0;
  __syncthreads();
  for (u32 pass = 0; pass < (distinct ? 2u : 1u); pass++) {
    for (u32 run = 2; run <= room; run *= 2)
      for (u32 d = run / 2; d > 0; d /= 2) {
        for (u32 i = threadIdx.x; i < room / 2; i += kMergeThreads) {
          u32 x = 2 * i - (i & (d - 1)), y = x + d;
          u64 p = keys[x], q = keys[y];
          if ((p < q) == ((x & run) == 0)) keys[x] = q, keys[y] = p;
        }
        __syncthreads();
      }
    if (!distinct || pass > 0) break;
    // Of a document's answers, all but the first go.
    for (u32 base = 0; base < room; base += kMergeThreads) {
      u32 i = base + threadIdx.x;
      bool again = false;
      if (i < room && keys[i] != 0)
        for (u32 j = 0; j < i; j++) again = again || (u32)keys[j] == (u32)keys[i] && keys[j] != 0;
      __syncthreads();
      if (again) keys[i] = 0;
      __syncthreads();
    }
  }
  for (u32 i = threadIdx.x; i < k; i += kMergeThreads) to[(u64)blockIdx.x * k + i] = keys[i];
}
