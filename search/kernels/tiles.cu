// The tiled search. Documents are cut into tiles of 16,384; an item of work is a query with a tile, or with some
// neighbouring ones if its lists are thin there. Each posting has a code, a byte that bounds its score (encode.cu), so that
// a document's sum of codes bounds its score; sums are whole numbers, added in shared memory in any order. Scores that
// k documents are known to reach prove a cut: sums below it cannot win. What is not below is a candidate. In the end
// candidates are scored exactly, words in query order, and the best are picked.
//
//   tiles_plan   bounds of all items, and their order, highest first; a first cut
//   tiles_score  sums, better cuts, candidates
//   tiles_pick   exact scores, the k best in order
#include "tiles.cuh"

constexpr u32 kPlanThreads = 1024;
constexpr u32 kHold = 4;  // items that a thread keeps in registers while they are ordered

// Blocks of 1,024 tiles for each query; the last block of a query orders its items.
KERNEL __launch_bounds__(kPlanThreads)
tiles_plan(const u8* __restrict__ plan, u32 queries, u32 tiles, const u32* __restrict__ starts, const u8* __restrict__ maxes,
           const u32* __restrict__ counts, const u32* __restrict__ extra, u32* tables, u32* bounds, u32* order, State* states) {
  __shared__ u32 group_bounds[kPlanThreads];
  __shared__ u32 bins[256];
  __shared__ u32 last, cut;
  Plan p(plan, queries);
  u32 parts = gridDim.x / queries, qi = blockIdx.x / parts, part = blockIdx.x % parts;
  const Query& q = p.queries[qi];
  State* state = states + qi;
  u32* my_bounds = bounds + q.order;
  u32 tile = part * kPlanThreads + threadIdx.x;
  group_bounds[threadIdx.x] = 0;
  if (threadIdx.x == 0) cut = 0;
  __syncthreads();
  u32 bound = 0, have = 0;
  for (u32 i = 0; i < q.terms; i++) {
    const Term& t = p.terms[q.first + i];
    u32 begin = 0, end = 0, most = 255;
    if (t.row == kSparse) {
      // Each thread finds where its tile begins, and asks its neighbour where it ends.
      const u32* docs = extra + t.extra;
      u32 at = tile < tiles ? lower_bound(docs, 0, t.df, tile << kTileBits) : t.df;
      if (tile <= tiles) tables[t.table + tile] = at;
      u32 next = __shfl_down_sync(kFull, at, 1);
      if (lane_id() == kWarp - 1) next = tile + 1 < tiles ? lower_bound(docs, at, t.df, (tile + 1) << kTileBits) : t.df;
      begin = at, end = next;
    } else if (tile < tiles) {
      const u32* row = starts + (u64)t.row * (tiles + 1);
      begin = row[tile], end = row[tile + 1];
      most = maxes[(u64)t.row * tiles + tile];
    }
    if (tile < tiles && begin < end) {
      bound += (most + 1) * t.mult + q.one;
      have++;
    }
  }
  if (have >= max_of(q.need, 1u)) atomicMax(&group_bounds[threadIdx.x >> q.group], bound);
  // k postings of a word have at least this code: so good are the k best documents of mode or at least.
  if (part == 0 && q.need == 0)
    for (u32 i = warp_id(); i < q.terms; i += kPlanThreads / kWarp) {
      const Term& t = p.terms[q.first + i];
      if (t.row == kSparse || t.df < q.k) continue;
      u32 c[8], sum = 0, code = 0;
#pragma unroll
      for (u32 j = 0; j < 8; j++) sum += c[j] = counts[t.row * 256 + 255 - (lane_id() * 8 + j)];
      u32 upto = warp_inclusive(sum), above = upto - sum;
      if (upto >= q.k && above < q.k) {
#pragma unroll
        for (u32 j = 0; j < 8; j++) {
          if (above < q.k) code = 255 - (lane_id() * 8 + j);
          above += c[j];
        }
        u32 least = code * t.mult;
        atomicMax(&cut, least > q.slack ? least - q.slack : 0);
      }
    }
  __syncthreads();
  if (part == 0 && threadIdx.x == 0) state->cut = cut;
  u32 groups = kPlanThreads >> q.group, item = part * groups + threadIdx.x;
  if (threadIdx.x < groups && item < q.items) my_bounds[item] = group_bounds[threadIdx.x];
  if (threadIdx.x < 256) bins[threadIdx.x] = 0;
  if (parts > 1) {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&state->planned, 1u) == parts - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
  } else {
    __syncthreads();
  }
  // Counting sort by the high bits, falling. Most queries' items find room in registers.
  u32 held[kHold];
#pragma unroll
  for (u32 j = 0; j < kHold; j++) {
    u32 i = threadIdx.x + j * kPlanThreads;
    held[j] = i < q.items ? volatile_load(my_bounds + i) : 0;
    if (held[j]) atomicAdd(&bins[held[j] >> 24], 1u);
  }
  for (u32 i = threadIdx.x + kHold * kPlanThreads; i < q.items; i += kPlanThreads) {
    u32 b = volatile_load(my_bounds + i);
    if (b) atomicAdd(&bins[b >> 24], 1u);
  }
  __syncthreads();
  if (warp_id() == 0) {
    u32 c[8], sum = 0;
#pragma unroll
    for (u32 j = 0; j < 8; j++) c[j] = bins[255 - (lane_id() * 8 + j)], sum += c[j];
    u32 upto = warp_inclusive(sum), at = upto - sum;
#pragma unroll
    for (u32 j = 0; j < 8; j++) bins[255 - (lane_id() * 8 + j)] = at, at += c[j];
    if (lane_id() == kWarp - 1) state->live = upto;
  }
  __syncthreads();
#pragma unroll
  for (u32 j = 0; j < kHold; j++)
    if (held[j]) order[q.order + atomicAdd(&bins[held[j] >> 24], 1u)] = threadIdx.x + j * kPlanThreads;
  for (u32 i = threadIdx.x + kHold * kPlanThreads; i < q.items; i += kPlanThreads) {
    u32 b = volatile_load(my_bounds + i);
    if (b) order[q.order + atomicAdd(&bins[b >> 24], 1u)] = i;
  }
}

constexpr u32 kWorkers = 512;                    // threads that add
constexpr u32 kScoreThreads = kWorkers + kWarp;  // and a warp that looks ahead
constexpr u32 kSlots = kTile / 2;                // of the hash table, which takes as much memory as a tile
constexpr u32 kHashEach = 4;                     // postings of a thread there
constexpr u32 kHashMost = kHashEach * kWorkers;
constexpr u32 kPairs = 128;                      // lists of terms in tiles that go there
constexpr u32 kFew = 4;                          // words of a query whose tiles are added list by list
constexpr u32 kRounds = 2;                       // times four postings that a thread takes of each of these lists
constexpr u32 kKept = kBins / 2;                 // candidates that wait in the bins' memory

enum Kind { kEnd, kGeneral, kByList, kHash };

struct Item {
  u32 kind, query, tile, tiles, bound, low, total;
};

// Of all threads but those of the warp that looks ahead.
INLINE void sync_workers() {
  __syncwarp();
  asm volatile("bar.sync 1, 512;" ::: "memory");
}

// Adds four neighbouring postings of a tile's list, from and to being those of the list.
INLINE void add_four(u32* sums, u32 at, u32 from, u32 to, u32 mult, u32 one, const u16* __restrict__ offsets, const u8* __restrict__ codes) {
  ushort4 o = *(const ushort4*)(offsets + at);
  u32 c = *(const u32*)(codes + at);
  u32 off[4] = {o.x, o.y, o.z, o.w};
#pragma unroll
  for (u32 j = 0; j < 4; j++)
    if (at + j >= from && at + j < to) atomicAdd(&sums[off[j]], ((c >> (8 * j) & 255) + 1) * mult + one);
}

// Calls f(offset, code) for a thread's postings of a list.
template <class F> INLINE void each_posting(const ushort4* o, const u32* c, u32 from, u32 to, F f) {
#pragma unroll
  for (u32 r = 0; r < kRounds; r++) {
    u32 at = (from & ~3u) + 4 * (threadIdx.x + r * kWorkers);
    if (at >= to) continue;
    u32 off[4] = {o[r].x, o[r].y, o[r].z, o[r].w};
#pragma unroll
    for (u32 j = 0; j < 4; j++)
      if (at + j >= from && at + j < to) f(off[j], c[r] >> (8 * j) & 255);
  }
}

// Where in the hash table a document is, or is now.
INLINE u32 slot_of(u32* keys, u32 doc, bool* mine) {
  u32 at = (doc * 2654435761u) >> 19;
  for (;;) {
    u32 old = atomicCAS(&keys[at], 0u, doc + 1);
    *mine = old == 0;
    if (old == 0 || old == doc + 1) return at;
    at = (at + 1) & (kSlots - 1);
  }
}

KERNEL __launch_bounds__(kScoreThreads)
tiles_score(const u8* __restrict__ plan, u32 queries, u32 tiles, const u16* __restrict__ offsets, const u8* __restrict__ codes,
            const u32* __restrict__ starts, const u32* __restrict__ tables, const u32* __restrict__ bounds,
            const u32* __restrict__ order, State* states, u32* hists, u64* cands) {
  extern __shared__ uint4 memory[];
  u32* sums = (u32*)memory;        // kTile sums; or kSlots sums and kSlots documents
  u32* keys = sums + kSlots;
  u32* bins = sums + kTile;        // kBins; or kKept candidates
  u64* kept = (u64*)bins;
  u32* later = bins + kBins;       // queries + 1
  __shared__ Item items[2];
  __shared__ u32 seg_from[2][kPairs], seg_upto[2][kPairs];
  __shared__ u32 pushed[3];        // candidates of the item, in turn
  __shared__ u32 cut, base;
  Plan p(plan, queries);
  bool ahead = warp_id() == kWorkers / kWarp;
  for (u32 i = threadIdx.x; i < kTile / 4; i += kScoreThreads) memory[i] = make_uint4(0, 0, 0, 0);
  for (u32 i = threadIdx.x; i < kBins; i += kScoreThreads) bins[i] = 0;
  for (u32 i = threadIdx.x; i <= queries; i += kScoreThreads) later[i] = p.later[i];
  if (threadIdx.x < 3) pushed[threadIdx.x] = 0;
  __syncthreads();
  u32 early = queries > 1 ? kEarly : 0;
  u32 all = early * queries + later[queries];

  // The warp that looks ahead: items that its lanes have looked at, and which of them are to be done.
  u32 next = blockIdx.x, votes = 0;
  Item mine{};
  auto look = [&](u32 turn) {
    Item found{};
    for (;;) {
      if (votes == 0) {
        if (next >= all) break;
        u64 i = next + (u64)lane_id() * gridDim.x;
        next = (u32)min_of((u64)next + (u64)kWarp * gridDim.x, (u64)all);
        bool good = false;
        if (i < all) {
          u32 q, r;
          if (i < early * queries) {
            q = (u32)i % queries, r = (u32)i / queries;
          } else {
            u32 j = (u32)i - early * queries, lo = 0, hi = queries;  // later[lo] <= j < later[hi]
            while (lo + 1 < hi) {
              u32 mid = (lo + hi) / 2;
              if (later[mid] <= j) lo = mid; else hi = mid;
            }
            q = lo, r = early + j - later[lo];
          }
          if (r < states[q].live) {
            const Query& w = p.queries[q];
            u32 item = order[w.order + r];
            mine.query = q, mine.tile = item << w.group;
            mine.tiles = min_of(1u << w.group, tiles - mine.tile), mine.bound = bounds[w.order + item];
            good = true;
          }
        }
        votes = __ballot_sync(kFull, good);
        continue;
      }
      u32 first = __ffs(votes) - 1;
      votes &= votes - 1;
      found.query = __shfl_sync(kFull, mine.query, first);
      found.tile = __shfl_sync(kFull, mine.tile, first);
      found.tiles = __shfl_sync(kFull, mine.tiles, first);
      found.bound = __shfl_sync(kFull, mine.bound, first);
      const Query& q = p.queries[found.query];
      const Term* terms = p.terms + q.first;
      found.low = volatile_load(&states[found.query].cut);
      found.kind = kGeneral;
      // Where the lists begin and end in the item. In mode or, without a cut, nothing is known to skip.
      bool blind = found.low == 0 && q.need == 0;
      if (q.hash && !blind && q.terms * found.tiles <= kPairs) {
        u32 pairs = q.terms * found.tiles, before = 0;
        for (u32 w = lane_id(); w < kPairs; w += kWarp) {
          u32 from = 0, n = 0;
          if (w < pairs) {
            const u32* row = row_of(terms[w / found.tiles], tiles, starts, tables) + found.tile + w % found.tiles;
            from = row[0], n = row[1] - from;
          }
          u32 upto = before + warp_inclusive(n);
          seg_from[turn][w] = from, seg_upto[turn][w] = upto;
          before = __shfl_sync(kFull, upto, kWarp - 1);
        }
        found.total = before;
        if (before <= kHashMost) found.kind = kHash;
      } else if (!q.hash && !blind && q.terms <= kFew) {
        u32 from = 0, to = 0;
        if (lane_id() < q.terms) {
          const u32* row = row_of(terms[lane_id()], tiles, starts, tables) + found.tile;
          from = row[0], to = row[1];
          seg_from[turn][lane_id()] = from, seg_upto[turn][lane_id()] = to;
        }
        if (__all_sync(kFull, (to + 3) / 4 - from / 4 <= kRounds * kWorkers)) found.kind = kByList;
      }
      if (found.bound >= found.low) break;
      found = Item{};
    }
    if (lane_id() == 0) items[turn] = found;
  };

  if (ahead) look(0);
  __syncthreads();
  u32 dirty = kFull;  // query whose candidates may raise the cut
  for (u32 turn = 0, third = 0;; turn ^= 1, third = third == 2 ? 0 : third + 1) {
    Item item = items[turn];
    if (item.kind == kEnd) return;
    const Query& q = p.queries[item.query];
    const Term* terms = p.terms + q.first;
    State* state = states + item.query;
    u32* hist = hists + (u64)item.query * kBins;
    u64* out = cands + q.cand;
    u32 low = max_of(item.low, 1u), need = q.need, mask = q.mask, one = q.one;
    bool first = false;  // the bins hold the item's sums
    auto push = [&](u32 v, u32 doc) {
      if (need != 0 && (v & mask) != need) return;
      u64 cand = (u64)v << 32 | doc;
      u32 at = atomicAdd(&pushed[third], 1u);
      if (at < kKept) {
        kept[at] = cand;
      } else {
        at = atomicAdd(&state->cands, 1u);
        if (at < q.cap) out[at] = cand;
        if (!first) atomicAdd(&hist[v >> kBinShift], 1u);
      }
    };
    auto flush = [&]() {
      __syncthreads();
      u32 some = min_of(pushed[third], kKept);
      if (threadIdx.x == 0) pushed[third == 0 ? 2 : third - 1] = 0;
      if (some == 0) return;
      if (threadIdx.x == 0) base = atomicAdd(&state->cands, some);
      __syncthreads();
      for (u32 i = threadIdx.x; i < some; i += kScoreThreads) {
        u64 cand = kept[i];
        if (base + i < q.cap) out[base + i] = cand;
        if (!first) atomicAdd(&hist[cand >> (32 + kBinShift)], 1u);
        kept[i] = 0;
      }
      dirty = item.query;
      __syncthreads();
    };

    if (item.kind == kHash) {
      if (ahead) {
        if (lane_id() == 0) atomicAdd(&state->scored, 1u);
      } else {
        // A posting a thread, of all lists together; who brings a document first looks at its sum in the end.
        u32 doc[kHashEach], add[kHashEach], slot[kHashEach], pairs = q.terms * item.tiles;
        bool own[kHashEach];
#pragma unroll
        for (u32 j = 0; j < kHashEach; j++) {
          u32 i = threadIdx.x + j * kWorkers;
          own[j] = false;
          if (i >= item.total) continue;
          u32 lo = 0, hi = pairs;  // the first pair that reaches beyond i
          while (lo < hi) {
            u32 mid = (lo + hi) / 2;
            if (seg_upto[turn][mid] <= i) lo = mid + 1; else hi = mid;
          }
          const Term& t = terms[lo / item.tiles];
          u64 at = t.pos + seg_from[turn][lo] + (i - (lo ? seg_upto[turn][lo - 1] : 0));
          doc[j] = (item.tile + lo % item.tiles) << kTileBits | offsets[at];
          add[j] = (codes[at] + 1u) * t.mult + one;
        }
#pragma unroll
        for (u32 j = 0; j < kHashEach; j++)
          if (threadIdx.x + j * kWorkers < item.total) {
            slot[j] = slot_of(keys, doc[j], &own[j]);
            atomicAdd(&sums[slot[j]], add[j]);
          }
        sync_workers();
#pragma unroll
        for (u32 j = 0; j < kHashEach; j++)
          if (own[j]) {
            u32 v = sums[slot[j]];
            if (v >= low) push(v, doc[j]);
            sums[slot[j]] = 0, keys[slot[j]] = 0;
          }
      }
      if (ahead) look(turn ^ 1);
      flush();
    } else if (item.kind == kByList) {
      if (ahead) {
        if (lane_id() == 0) atomicAdd(&state->scored, 1u);
        look(turn ^ 1);
      } else {
        // List by list: in one list documents are different, so that no two threads meet. Sums are looked at by the last
        // list that has the document, which leaves 0.
        ushort4 o[kFew][kRounds];
        u32 c[kFew][kRounds], mult[kFew];
        u32 tile_doc = item.tile << kTileBits;
#pragma unroll
        for (u32 i = 0; i < kFew; i++) {
          if (i >= q.terms) break;
          const Term& t = terms[i];
          mult[i] = t.mult;
          u32 from = seg_from[turn][i], to = seg_upto[turn][i];
#pragma unroll
          for (u32 r = 0; r < kRounds; r++) {
            u32 at = (from & ~3u) + 4 * (threadIdx.x + r * kWorkers);
            if (at < to) o[i][r] = *(const ushort4*)(offsets + t.pos + at), c[i][r] = *(const u32*)(codes + t.pos + at);
          }
        }
#pragma unroll
        for (u32 i = 0; i + 1 < kFew; i++) {
          if (i + 1 >= q.terms) break;
          each_posting(o[i], c[i], seg_from[turn][i], seg_upto[turn][i],
                       [&](u32 off, u32 code) { sums[off] = (i ? sums[off] : 0) + (code + 1) * mult[i] + one; });
          sync_workers();
        }
#pragma unroll
        for (u32 i = 0; i < kFew; i++)
          if (i + 1 == q.terms)
            each_posting(o[i], c[i], seg_from[turn][i], seg_upto[turn][i], [&](u32 off, u32 code) {
              u32 v = (i ? sums[off] : 0) + (code + 1) * mult[i] + one;
              if (v >= low) push(v, tile_doc | off);
              if (i) sums[off] = 0;
            });
#pragma unroll
        for (u32 i = kFew - 1; i-- > 0;) {
          if (i + 1 >= q.terms) continue;
          sync_workers();
          each_posting(o[i], c[i], seg_from[turn][i], seg_upto[turn][i], [&](u32 off, u32) {
            u32 v = sums[off];
            if (v >= low) push(v, tile_doc | off);
            if (v) sums[off] = 0;
          });
        }
      }
      flush();
    } else {
      // Any number of words: all lists at once, and a look at all sums.
      if (ahead && lane_id() == 0) atomicAdd(&state->scored, 1u);
      for (u32 round = 0; round < item.tiles; round++) {
        u32 tile = item.tile + round;
        if (ahead) {
          if (round == 0) look(turn ^ 1);
          if (lane_id() == 0) cut = volatile_load(&state->cut);
        } else {
          for (u32 w0 = warp_id(); w0 < q.terms; w0 += kWorkers) {
            u32 w = w0 + lane_id() * (kWorkers / kWarp), begin = 0, end = 0;
            if (w < q.terms) {
              const u32* row = row_of(terms[w], tiles, starts, tables) + tile;
              begin = row[0], end = row[1];
            }
            u32 busy = __ballot_sync(kFull, begin < end);
            while (busy) {
              u32 l = __ffs(busy) - 1;
              busy &= busy - 1;
              const Term& t = terms[w0 + l * (kWorkers / kWarp)];
              u32 from = __shfl_sync(kFull, begin, l), to = __shfl_sync(kFull, end, l);
              for (u32 at = (from & ~3u) + 4 * lane_id(); at < to; at += 4 * kWarp)
                add_four(sums, at, from, to, t.mult, one, offsets + t.pos, codes + t.pos);
            }
          }
        }
        __syncthreads();
        first = cut == 0;
        if (first) {
          // No cut yet: this tile makes one, of its own best and of those of the tiles before.
          for (u32 i = threadIdx.x; i < kTile; i += kScoreThreads) {
            u32 v = sums[i];
            if (v != 0 && (need == 0 || (v & mask) == need)) atomicAdd(&bins[v >> kBinShift], 1u);
          }
          __syncthreads();
          if (warp_id() == 0) {
            u32 bin = bin_of(q.k, [&](u32 i) { return bins[i]; });
            if (lane_id() == 0) base = bin < kBins ? bin : 0, cut = bin < kBins ? cut_of(bin, q.gap) : 1;
          }
          __syncthreads();
          for (u32 i = threadIdx.x; i < kBins; i += kScoreThreads) {
            u32 n = bins[i];
            if (n != 0 && i >= base) atomicAdd(&hist[i], n);
          }
          __threadfence();
          __syncthreads();
          if (warp_id() == 0) {
            u32 bin = bin_of(q.k, [&](u32 i) { return volatile_load(hist + i); });
            if (lane_id() == 0 && bin < kBins) {
              u32 best = max_of(cut, cut_of(bin, q.gap));
              cut = max_of(best, atomicMax(&state->cut, best));
            }
          }
          __syncthreads();
        }
        low = max_of(cut, 1u);
        for (u32 i = threadIdx.x; i < kTile / 4; i += kScoreThreads) {
          uint4 v4 = memory[i];
          u32 v[4] = {v4.x, v4.y, v4.z, v4.w};
          if (v[0] >= low || v[1] >= low || v[2] >= low || v[3] >= low)
#pragma unroll
            for (u32 j = 0; j < 4; j++)
              if (v[j] >= low) push(v[j], tile << kTileBits | 4 * i + j);
          if (v[0] | v[1] | v[2] | v[3]) memory[i] = make_uint4(0, 0, 0, 0);
        }
        flush();
        if (first) {
          __syncthreads();
          for (u32 i = threadIdx.x; i < kBins; i += kScoreThreads) bins[i] = 0;
        }
        __syncthreads();
        if (round + 1 < item.tiles) third = third == 2 ? 0 : third + 1;
      }
    }
    if (ahead && dirty == item.query && !first) {
      // The sums of what was found raise the cut for others.
      __threadfence();
      u32 bin = bin_of(q.k, [&](u32 i) { return volatile_load(hist + i); });
      if (lane_id() == 0 && bin < kBins) atomicMax(&state->cut, cut_of(bin, q.gap));
    }
    dirty = kFull;
  }
}

constexpr u32 kPickThreads = 512;
constexpr u32 kPickBins = 2048;
constexpr u32 kSmall = 2048;

// The exact score of a document by a warp, in query order. Each term has its share of the lanes, which look for the
// document together.
INLINE bool rescore(const Query& q, const Term* terms, u32 share, u32 doc, u32 tiles, const u16* __restrict__ offsets,
                    const u8* __restrict__ tfs, const u32* __restrict__ extra, const u32* __restrict__ lengths,
                    const u32* __restrict__ starts, const u32* tables, float* score) {
  u32 in = lane_id() & (share - 1), leader = lane_id() - in, have = 0;
  u32 group = share == kWarp ? kFull : ((1u << share) - 1) << leader;
  float sum = 0;
  u32 length = lengths[doc], off = doc & (kTile - 1);
  for (u32 base = 0; base < q.terms; base += kWarp / share) {
    u32 i = base + lane_id() / share, lo = 0, hi = 0, end = 0;
    const Term* t = terms;
    const u16* list = offsets;
    if (i < q.terms) {
      t = terms + i;
      list = offsets + t->pos;
      const u32* row = row_of(*t, tiles, starts, tables) + (doc >> kTileBits);
      lo = row[0], hi = end = row[1];
    }
    // The first posting at or after the document: the lanes divide what is left.
    while (__any_sync(kFull, lo < hi)) {
      u32 step = (hi - lo + share) / (share + 1), probe = lo + (in + 1) * step - 1;
      bool less = lo < hi && probe < hi && list[probe] < off;
      u32 n = __popc(__ballot_sync(kFull, less) & group);
      if (lo < hi) {
        u32 stop = lo + (n + 1) * step - 1;
        lo = min_of(lo + n * step, hi);
        if (n < share) hi = min_of(hi, stop);
      }
    }
    bool hit = in == 0 && lo < end && list[lo] == off;
    float s = hit ? score_of(q.model, *t, frequency(*t, tfs, extra, lo), length) : 0.0f;
    u32 hits = __ballot_sync(kFull, hit);
    for (u32 l = 0; l < kWarp; l += share) {
      float x = __shfl_sync(kFull, s, l);
      if (hits >> l & 1) sum += x, have++;
    }
  }
  *score = sum;
  return have >= max_of(q.need, 1u);
}

// Sorts so many keys, a power of two, falling. One block; neighbours are left to single warps.
INLINE void sort_keys(u64* keys, u32 size) {
  for (u32 run = 2; run <= size; run *= 2)
    for (u32 d = run / 2; d > 0; d /= 2) {
      for (u32 i = threadIdx.x; i < size / 2; i += kPickThreads) {
        u32 a = 2 * i - (i & (d - 1)), b = a + d;
        u64 x = keys[a], y = keys[b];
        if ((x < y) == ((a & run) == 0)) keys[a] = y, keys[b] = x;
      }
      if (d > kWarp || d == 1 && run >= 2 * kWarp) __syncthreads(); else __syncwarp();
    }
  __syncthreads();
}

// Blocks of each query score the candidates; the last of them picks the best.
KERNEL __launch_bounds__(kPickThreads)
tiles_pick(const u8* __restrict__ plan, u32 queries, u32 tiles, const u16* __restrict__ offsets, const u8* __restrict__ tfs,
           const u32* __restrict__ extra, const u32* __restrict__ lengths, const u32* __restrict__ starts, const u32* tables,
           State* states, u32* hists, const u64* cands, u64* keys, u64* outs) {
  __shared__ u64 sorted[kSmall];
  __shared__ u32 found, last, digit, above;
  __shared__ u32 warp_sums[kPickThreads / kWarp];
  u32* docs = (u32*)sorted;
  u32* bins = (u32*)sorted;
  Plan p(plan, queries);
  u32 parts = gridDim.x / queries, qi = blockIdx.x / parts, part = blockIdx.x % parts;
  const Query& q = p.queries[qi];
  const Term* terms = p.terms + q.first;
  State* state = states + qi;
  u64* mine = keys + q.cand;
  u32 count = min_of(state->cands, q.cap), cut = state->cut;
  u32 share = kWarp;
  while (share > 1 && kWarp / share < q.terms) share /= 2;
  constexpr u32 kRound = 2 * kSmall;  // candidates that a block looks at together
  for (u32 from = 0; from * parts + part < count; from += kRound) {
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    for (u32 j = threadIdx.x; j < kRound; j += kPickThreads) {
      u64 i = (u64)(from + j) * parts + part;
      if (i >= count) break;
      u64 c = cands[q.cand + i];
      if ((u32)(c >> 32) >= cut) docs[atomicAdd(&found, 1u)] = (u32)c;
    }
    __syncthreads();
    u32 n = found;
    for (u32 i = warp_id(); i < n; i += kPickThreads / kWarp) {
      float score;
      u32 doc = docs[i];
      if (rescore(q, terms, share, doc, tiles, offsets, tfs, extra, lengths, starts, tables, &score) && lane_id() == 0)
        mine[atomicAdd(&state->keys, 1u)] = (u64)__float_as_uint(score) << 32 | (u32)~doc;
    }
    __syncthreads();
  }
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&state->picked, 1u) == parts - 1;
  __syncthreads();
  if (!last) return;
  __threadfence();

  const volatile u64* from = mine;
  u32 n = volatile_load(&state->keys), k = min_of(q.k, n);
  u64* out = outs + q.out;
  u64 least = 0;  // keys that are at least this are the k best
  if (n > kSmall && n > k) {
    // Digit by digit from the top, the k-th largest key.
    u32 want = k;
    u64 known = 0;
    for (i32 shift = 53; shift > -11; shift -= 11) {
      u32 low = shift < 0 ? 0 : shift, bits = shift < 0 ? 11 + shift : 11;
      for (u32 i = threadIdx.x; i < kPickBins; i += kPickThreads) bins[i] = 0;
      __syncthreads();
      for (u32 i = threadIdx.x; i < n; i += kPickThreads) {
        u64 x = from[i];
        if (((x ^ least) & known) == 0) atomicAdd(&bins[(x >> low) & ((1u << bits) - 1)], 1u);
      }
      __syncthreads();
      constexpr u32 kEach = kPickBins / kPickThreads;
      u32 c[kEach], sum = 0;
#pragma unroll
      for (u32 j = 0; j < kEach; j++) c[j] = bins[kPickBins - 1 - (threadIdx.x * kEach + j)], sum += c[j];
      u32 upto = warp_inclusive(sum);
      if (lane_id() == kWarp - 1) warp_sums[warp_id()] = upto;
      __syncthreads();
      for (u32 w = 0; w < warp_id(); w++) upto += warp_sums[w];
      u32 over = upto - sum;
      if (over < want && upto >= want) {
        for (u32 j = 0; j < kEach; j++) {
          if (over + c[j] >= want) {
            digit = kPickBins - 1 - (threadIdx.x * kEach + j), above = over;
            break;
          }
          over += c[j];
        }
      }
      __syncthreads();
      want -= above;
      least |= (u64)digit << low;
      known |= (u64)((1u << bits) - 1) << low;
      __syncthreads();
    }
  }
  // Gather them, and sort: in shared memory if they find room, else where the result goes.
  u64* to = n > kSmall && k > kSmall ? out + 2 : sorted;
  u32 most = n > kSmall ? k : n, size = kWarp;
  while (size < most) size *= 2;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  for (u32 i = threadIdx.x; i < n; i += kPickThreads) {
    u64 x = from[i];
    if (x >= least) to[atomicAdd(&found, 1u)] = x;
  }
  for (u32 i = most + threadIdx.x; i < size; i += kPickThreads) to[i] = 0;
  __syncthreads();
  sort_keys(to, size);
  if (to == sorted)
    for (u32 i = threadIdx.x; i < k; i += kPickThreads) out[2 + i] = sorted[i];
  if (threadIdx.x == 0) {
    out[0] = (u64)state->cands << 32 | k;
    out[1] = (u64)state->scored << 32 | n;
    *state = State{};
  }
  u32* hist = hists + (u64)qi * kBins;
  for (u32 i = threadIdx.x; i < kBins; i += kPickThreads) hist[i] = 0;
}
