// Parallel WAND and MaxScore as the thesis has them: blocks of one warp, which take some partitions of the lists in a row and keep
// their k best and the score to beat over them; lists are brought to shared memory slice by slice, such that all postings of a
// document are there together. What blocks found is merged in pairs.
#include "heap.cuh"
#include "thesisheads.cuh"
#include "thesismerge.cuh"

enum Partition { kDocuments, kHeterogeneous, kHomogeneous, kAdjusted };
enum Policy { kEarlyPolicy, kLocal, kSharedFull, kSharedHalf };

extern __shared__ u64 nodes[];

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

// gallop by a warp: 32 places are looked at together, then every 32nd, and so on.
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

// What a block knows of a query and its lists; lane t knows list t.
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

  // Each list's first position from on whose document is at least x. Few lists are searched by all lanes, one after the other.
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

// One block's answers and score to beat. Until there are k answers they are only collected; then they become a heap.
struct Best {
  WarpHeap heap;
  u32* bar;      // of all blocks: a score
  u32 policy;
  double hair;
  float cut, theta;
  u32 worst;     // score of the answers

  INLINE bool full() const { return heap.size == heap.k; }
  INLINE bool half() const { return 2 * heap.size >= heap.k; }

  // What others reached; the same for all lanes, though it may change while they read.
  INLINE u32 ask() const {
    if (policy != kSharedFull && !(policy == kSharedHalf && half())) return 0;
    return __shfl_sync(kFull, *(volatile u32*)bar, 0);
  }

  // A score of others may belong to a higher document number, so that equal scores can still win.
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
    if (!full()) {
      heap.size++;
      if (lane_id() == 0) heap.nodes[heap.size] = key;
      worst = min_of(worst, __float_as_uint(score));
      if (full()) build();
    } else {
      if (key <= heap.root()) return;
      __syncwarp();
      heap.replace(key);
      worst = (u32)(heap.root() >> 32);
    }
    if ((policy == kSharedFull && full() || policy == kSharedHalf && half()) && lane_id() == 0) atomicMax(bar, worst);
    if (full()) raise(__uint_as_float(worst));
  }

  // Rising numbers are a heap.
  INLINE void build() {
    u32 room = room_for(heap.k);
    for (u32 i = heap.k + lane_id(); i < room; i += kWarp) heap.nodes[1 + i] = ~0ull;
    __syncwarp();
    sort_keys<false>(heap.nodes + 1, room);
  }
};

// The next document to score, with all lists that may have it there; kDone if no other can exceed cut.
template <bool Wand, class Heads> INLINE u32 next(Heads& l, bool all, float cut) {
  if (l.total <= cut) return kDone;
  if (all || l.rest <= cut) return l.common();
  for (;;) {
    u32 doc = Wand ? l.pivot(cut) : l.essential(cut);
    if (doc == kDone || !l.before(doc)) return doc;
    l.seek(doc);
    if (!Wand) return doc;
  }
}

// Goes through a slice.
template <bool Wand, class Heads> INLINE void walk(const Query& q, Heads heads, Best& best) {
  for (;;) {
    u32 doc = next<Wand>(heads, q.all, best.cut);
    if (doc == kDone) return;
    float score = heads.take(doc);
    best.add(doc, score);
  }
}

constexpr u32 kChunks = 4;  // of a warp's width: the most that a slice has of a list

// Brings the postings [from, to) of all lists to a slice, as many as have room and no document of which others have not; returns
// how many of this lane's list. Loads are issued together where they can: each takes longer than all the rest.
INLINE u32 fill(const Task& t, const Slice& s, u8* tfs_here, u32 from, u32 to, const u8* __restrict__ tfs, const u32* __restrict__ extra,
                const u32* __restrict__ lengths) {
  const Query& q = t.q;
  for (u32 j = 0; j < q.terms; j++) {
    u32 begin = __shfl_sync(kFull, from, j), end = min_of(__shfl_sync(kFull, to, j), begin + s.room);
    const u32* docs = t.docs + t.terms[j].pos;
    u32 doc[kChunks];
#pragma unroll
    for (u32 c = 0; c < kChunks; c++) {
      u32 i = begin + c * kWarp + lane_id();
      doc[c] = i < end ? docs[i] : kDone;
    }
#pragma unroll
    for (u32 c = 0; c < kChunks; c++)
      if (c * kWarp < s.room) s.docs[j * (s.room + 1) + c * kWarp + lane_id()] = doc[c];
  }
  __syncwarp();
  // A slice ends at the lowest document that some list has at the end of its room.
  const u32* mine = s.docs_of(t.mine ? lane_id() : 0);
  u32 have = t.mine ? min_of(to - from, s.room) : 0, limit = kDone;
  u32 last = t.mine && to - from > s.room ? mine[s.room - 1] : kDone;
  for (u32 j = 0; j < q.terms; j++) limit = min_of(limit, __shfl_sync(kFull, last, j));
  if (limit != kDone) have = lower_bound(mine, 0, have, limit + 1);
  __syncwarp();
  if (t.mine) s.docs[lane_id() * (s.room + 1) + have] = kDone;
  for (u32 j = 0; j < q.terms; j++) {
    u32 begin = __shfl_sync(kFull, from, j), n = __shfl_sync(kFull, have, j);
    const u8* tf_of = tfs + t.terms[j].pos + begin;
    const u32* docs = s.docs_of(j);
    u32 tf[kChunks], length[kChunks];
#pragma unroll
    for (u32 c = 0; c < kChunks; c++) {
      u32 i = c * kWarp + lane_id();
      if (i < n) tf[c] = tf_of[i], length[c] = lengths[docs[i]];
    }
#pragma unroll
    for (u32 c = 0; c < kChunks; c++) {
      u32 i = c * kWarp + lane_id();
      if (i < n) tfs_here[j * s.room + i] = tf[c], s.scores[j * s.room + i] = __uint_as_float(length[c]);
    }
  }
  // Lengths become scores, each by the lane that brought it.
  for (u32 j = 0; j < q.terms; j++) {
    u32 begin = __shfl_sync(kFull, from, j), n = __shfl_sync(kFull, have, j);
    const Term& term = t.terms[j];
    for (u32 i = lane_id(); i < n; i += kWarp) {
      u32 tf = tfs_here[j * s.room + i];
      if (tf == 255) tf = frequency(term, tfs, extra, begin + i);
      s.scores[j * s.room + i] = score_of(q.model, term, tf, __float_as_uint(s.scores[j * s.room + i]));
    }
  }
  __syncwarp();
  return have;
}

// One block's part of a query.
template <bool Wand> INLINE void answer(const Query& q, const Term* __restrict__ terms, u32 block, u32 documents, const u32* __restrict__ docs,
                                        const u8* __restrict__ tfs, const u32* __restrict__ extra, const u32* __restrict__ lengths, u32* bar, u64* out) {
  bool mine = lane_id() < q.terms;
  Task t{q, docs, terms, documents, mine, mine ? docs + terms[lane_id()].pos : docs, mine ? terms[lane_id()].df : 0};
  u32 room = room_for(q.k);
  Slice slice;
  slice.docs = (u32*)(nodes + room + 1), slice.room = q.slice;
  slice.scores = (float*)(slice.docs + q.terms * (q.slice + 1));
  u8* tfs_here = (u8*)(slice.scores + q.terms * q.slice);
  Best best{WarpHeap{nodes, q.k, 0}, bar, q.policy, q.hair, -1.0f, -1.0f, ~0u};
  float bound = mine ? terms[lane_id()].inverse : 0;
  u32 last = min_of((block + 1) * q.row, q.partitions);
  u32 from = 0, to = 0, begin = 0;
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
        u32 found = t.advance(from, start);
        if (n > 0) from = found, to = min_of(found + n, t.df);
      }
    }
    while (__any_sync(kFull, from < to)) {
      u32 told = best.ask();
      u32 have = fill(t, slice, tfs_here, from, to, tfs, extra, lengths);
      best.hear(told);
      if (q.terms == 2) {
        walk<Wand>(q, Pair(slice, have, bound), best);
      } else {
        walk<Wand>(q, Lanes(slice, have, bound, q.terms), best);
      }
      from += have;
      __syncwarp();
    }
  }
  // The answers, best first, then zeros.
  u32 size = best.heap.size, sorted = room_for(size);
  u64* keys = nodes + 1;
  for (u32 i = size + lane_id(); i < sorted; i += kWarp) keys[i] = 0;
  __syncwarp();
  sort_keys<true>(keys, sorted);
  for (u32 i = lane_id(); i < q.k; i += kWarp) out[i] = i < size ? keys[i] : 0;
}

template <bool Wand> INLINE void match(const Query* __restrict__ queries, u32 count, u32 first, const Term* __restrict__ terms, u32 documents,
                                       const u32* __restrict__ docs, const u8* __restrict__ tfs, const u32* __restrict__ extra,
                                       const u32* __restrict__ lengths, u32* bars, u64* outs) {
  u32 lo = 0, hi = count, number = first + blockIdx.x;  // the query of this block
  while (lo + 1 < hi) {
    u32 mid = (lo + hi) / 2;
    if (queries[mid].block <= number) lo = mid; else hi = mid;
  }
  const Query q = queries[lo];
  u32 block = number - q.block;
  answer<Wand>(q, terms + q.first, block, documents, docs, tfs, extra, lengths, bars + lo, outs + q.out + (u64)block * q.k);
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
