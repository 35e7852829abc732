// The tiled search. Documents are cut into tiles of 16,384; an item of work is a query with a tile.
// Each posting has a code, a byte that bounds its score (encode.cu), so that a document's sum of
// codes bounds its score. Sums are integers, added in shared memory in any order. A score that k
// documents are known to reach gives a cut: documents with lower sums cannot win, and the others
// are candidates. At the end, candidates are scored exactly, words in query order, and the best are
// picked.
//
//   tiles_plan   bounds of all items, and their order, highest first; not needed if all of
//                them run at the same time
//   tiles_few    sums, better cuts and candidates of queries of few words
//   tiles_one    one query of few words, from bounds to the result
//   tiles_many   the same for any number of words
//   tiles_pick   exact scores, the k best in order
#include "one.cuh"

constexpr u32 kPlanThreads = 1024;
constexpr u32 kHold = 4;  // items that a thread keeps in registers while they are ordered

// The bound of a tile; 0 if it contains no answer. Sparse lists have no table of tiles, so it is
// computed here. The lanes of a warp have neighbouring tiles.
INLINE u32 bound_of(const Query& q, const Term* terms, u32 tile, u32 tiles, const u8* __restrict__ maxes,
                    const u32* __restrict__ extra, u32* tables) {
  u32 bound = 0, have = 0;
  for (u32 i = 0; i < q.terms; i++) {
    const Term& t = terms[i];
    u32 most = 0;
    if (t.row == kSparse) {
      // Each thread finds the start of its tile, and gets the end from its neighbour.
      const u32* docs = extra + t.extra;
      u32 at = tile < tiles ? lower_bound(docs, 0, t.df, tile << kTileBits) : t.df;
      if (tile <= tiles) tables[t.table + tile] = at;
      u32 next = __shfl_down_sync(kFull, at, 1);
      if (lane_id() == kWarp - 1) next = tile + 1 < tiles ? lower_bound(docs, at, t.df, (tile + 1) << kTileBits) : t.df;
      most = at < next ? 255 : 0;
    } else if (tile < tiles) {
      most = maxes[(u64)t.row * tiles + tile];
    }
    if (tile < tiles && most != 0) {
      bound += (most + most / 255) * t.mult + q.one;
      have++;
    }
  }
  return have >= max_of(q.need, 1u) ? bound : 0;
}

// A block per query or, if there are many tiles, per 1,024 tiles of a query. The last block of a
// query orders its items.
KERNEL __launch_bounds__(kPlanThreads)
tiles_plan(const u8* __restrict__ plan, u32 queries, u32 tiles, const u8* __restrict__ maxes, const u32* __restrict__ extra,
           u32* tables, u32* bounds, u32* order, State* states) {
  __shared__ u32 bins[256];
  __shared__ u32 last;
  Plan p(plan, queries);
  u32 parts = gridDim.x / queries, qi = blockIdx.x / parts, part = blockIdx.x % parts;
  const Query& q = p.queries[qi];
  const Term* terms = p.terms + q.first;
  State* state = states + qi;
  u32* my_bounds = bounds + q.order;
  bool alone = parts == 1;
  u32 turns = alone ? tiles / kPlanThreads + 1 : 1;  // at most kHold
  if (threadIdx.x < 256) bins[threadIdx.x] = 0;
  u32 held[kHold];
#pragma unroll
  for (u32 j = 0; j < kHold; j++) {
    held[j] = 0;
    u32 tile = (part + j) * kPlanThreads + threadIdx.x;
    if (j < turns) held[j] = bound_of(q, terms, tile, tiles, maxes, extra, tables);
    if (j < turns && tile < q.items) my_bounds[tile] = held[j];
  }
  __syncthreads();
  if (!alone) {
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&state->planned, 1u) == parts - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
#pragma unroll
    for (u32 j = 0; j < kHold; j++) {
      u32 i = threadIdx.x + j * kPlanThreads;
      held[j] = i < q.items ? volatile_load(my_bounds + i) : 0;
    }
  }
  // Counting sort by the high bits, descending. Most queries' items fit in registers.
#pragma unroll
  for (u32 j = 0; j < kHold; j++)
    if (held[j]) atomicAdd(&bins[held[j] >> 24], 1u);
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

#define TILES_ONE(name, N, blocks)                                                                                                  \
  KERNEL __launch_bounds__(kFewThreads, blocks)                                                                                     \
  name(ONE_WORDS, u32 tiles, const u8* __restrict__ maxes, const u16* __restrict__ offsets, const u8* __restrict__ codes,            \
       const u32* __restrict__ starts, State* state, u32* hist, u64* cands, const u8* __restrict__ tfs,                             \
       const u32* __restrict__ extra, const u32* __restrict__ lengths, u64* keys, u64* outs) {                                      \
    One one;                                                                                                                        \
    ONE_PUT(one)                                                                                                                    \
    add_one<N>(one, tiles, maxes, offsets, codes, starts, state, hist, cands, Exact{tfs, extra, lengths, keys, outs});              \
  }
TILES_ONE(tiles_one2, 2, 3)
TILES_ONE(tiles_one4, 4, 2)

#define TILES_FEW(name, N, blocks)                                                                                                  \
  KERNEL __launch_bounds__(kFewThreads, blocks)                                                                                     \
  name(const u8* __restrict__ plan, u32 queries, u32 tiles, const u16* __restrict__ offsets, const u8* __restrict__ codes,           \
       const u32* __restrict__ starts, const u32* __restrict__ tables, const u32* __restrict__ bounds,                              \
       const u32* __restrict__ order, State* states, u32* hists, u64* cands) {                                                      \
    add_few<N>(plan, queries, tiles, offsets, codes, starts, tables, bounds, order, states, hists, cands);                          \
  }
TILES_FEW(tiles_few2, 2, 3)
TILES_FEW(tiles_few4, 4, 2)

constexpr u32 kManyThreads = 512;
constexpr u32 kManyWarps = kManyThreads / kWarp;
constexpr u32 kKept = kBins / 2;  // candidates that fit the memory of the bins

// Adds four neighbouring postings of a tile's list, which has the postings [from, to).
INLINE void add_four(u32* sums, u32 at, u32 from, u32 to, u32 mult, u32 one, const u16* __restrict__ offsets, const u8* __restrict__ codes) {
  ushort4 o = *(const ushort4*)(offsets + at);
  u32 c = *(const u32*)(codes + at);
  u32 off[4] = {o.x, o.y, o.z, o.w};
#pragma unroll
  for (u32 j = 0; j < 4; j++)
    if (at + j >= from && at + j < to) atomicAdd(&sums[off[j]], ((c >> (8 * j) & 255) + 1) * mult + one);
}

KERNEL __launch_bounds__(kManyThreads)
tiles_many(const u8* __restrict__ plan, u32 queries, u32 tiles, const u16* __restrict__ offsets, const u8* __restrict__ codes,
           const u32* __restrict__ starts, const u32* __restrict__ tables, const u32* __restrict__ bounds,
           const u32* __restrict__ order, State* states, u32* hists, u64* cands) {
  u32* sums = (u32*)memory;  // of a tile
  u32* bins = sums + kTile;  // kBins; or kKept candidates
  u64* kept = (u64*)bins;
  __shared__ u32 cut, base, pushed;
  Plan p(plan, queries);
  const u32* later = p.later[2];
  for (u32 i = threadIdx.x; i < kTile / 4; i += kManyThreads) memory[i] = make_uint4(0, 0, 0, 0);
  for (u32 i = threadIdx.x; i < kBins; i += kManyThreads) bins[i] = 0;
  u32 early = queries > 1 ? kEarly : 0;
  u64 all = (u64)early * queries + later[queries];
  for (u64 i = blockIdx.x; i < all; i += gridDim.x) {
    u32 qi = 0, rank = (u32)i;
    if (queries > 1) find_item(i, queries, early, later, &qi, &rank);
    const Query& q = p.queries[qi];
    State* state = states + qi;
    if (q.kind != 2 || rank >= state->live) continue;
    u32 tile = order[q.order + rank];
    __syncthreads();
    if (threadIdx.x == 0) cut = max_of(volatile_load(&state->cut), q.cut), pushed = 0;
    __syncthreads();
    if (bounds[q.order + tile] < cut) continue;
    const Term* terms = p.terms + q.first;
    u32* hist = hists + (u64)qi * kBins;
    u64* out = cands + q.cand;
    u32 need = q.need, mask = q.mask, one = q.one;
    if (threadIdx.x == 0) atomicAdd(&state->scored, 1u);
    // A warp per list.
    for (u32 w0 = warp_id(); w0 < q.terms; w0 += kManyThreads) {
      u32 w = w0 + lane_id() * kManyWarps;
      Span s{0, 0};
      if (w < q.terms) s = span_of_tile(terms[w], tile, tiles, starts, tables);
      u32 busy = __ballot_sync(kFull, s.from < s.to);
      while (busy) {
        u32 l = __ffs(busy) - 1;
        busy &= busy - 1;
        const Term& t = terms[w0 + l * kManyWarps];
        u32 from = __shfl_sync(kFull, s.from, l), to = __shfl_sync(kFull, s.to, l);
        for (u32 at = (from & ~3u) + 4 * lane_id(); at < to; at += 4 * kWarp)
          add_four(sums, at, from, to, t.mult, one, offsets + t.pos, codes + t.pos);
      }
    }
    __syncthreads();
    bool first = cut == 0;
    if (first) {
      // There is no cut yet: compute one from the best sums of this tile and of earlier ones.
      for (u32 j = threadIdx.x; j < kTile; j += kManyThreads) {
        u32 v = sums[j];
        if (v != 0 && (need == 0 || (v & mask) == need)) atomicAdd(&bins[v >> kBinShift], 1u);
      }
      __syncthreads();
      if (warp_id() == 0) {
        u32 bin = bin_of_shared(q.k, bins);
        if (lane_id() == 0) base = bin < kBins ? bin : 0, cut = bin < kBins ? cut_of(bin, q.gap) : 1;
      }
      __syncthreads();
      for (u32 j = threadIdx.x; j < kBins; j += kManyThreads) {
        u32 n = bins[j];
        if (n != 0 && j >= base) atomicAdd(&hist[j], n);
      }
      __threadfence();
      __syncthreads();
      if (warp_id() == 0) {
        u32 bin = bin_of_global(q.k, hist);
        if (lane_id() == 0 && bin < kBins) {
          u32 best = max_of(cut, cut_of(bin, q.gap));
          cut = max_of(best, atomicMax(&state->cut, best));
        }
      }
      __syncthreads();
    }
    u32 low = max_of(cut, 1u);
    for (u32 j = threadIdx.x; j < kTile / 4; j += kManyThreads) {
      uint4 v4 = memory[j];
      u32 v[4] = {v4.x, v4.y, v4.z, v4.w};
      if (v[0] >= low || v[1] >= low || v[2] >= low || v[3] >= low)
#pragma unroll
        for (u32 l = 0; l < 4; l++)
          if (v[l] >= low && (need == 0 || (v[l] & mask) == need)) {
            u64 cand = (u64)v[l] << 32 | (tile << kTileBits | 4 * j + l);
            u32 at = atomicAdd(&pushed, 1u);
            if (at < kKept) {
              kept[at] = cand;
            } else {
              at = atomicAdd(&state->cands, 1u);
              if (at < q.cap) out[at] = cand;
            }
            if (!first) atomicAdd(&hist[v[l] >> kBinShift], 1u);
          }
      if (v[0] | v[1] | v[2] | v[3]) memory[j] = make_uint4(0, 0, 0, 0);
    }
    __syncthreads();
    u32 some = min_of(pushed, kKept);
    if (some) {
      if (threadIdx.x == 0) base = atomicAdd(&state->cands, some);
      __syncthreads();
      for (u32 j = threadIdx.x; j < some; j += kManyThreads)
        if (base + j < q.cap) out[base + j] = kept[j];
      __syncthreads();
    }
    if (some || first)
      for (u32 j = threadIdx.x; j < kBins; j += kManyThreads) bins[j] = 0;
    if (warp_id() == 0 && some && !first) {
      // Raise the cut for other blocks by the sums found.
      __threadfence();
      u32 bin = bin_of_global(q.k, hist);
      if (lane_id() == 0 && bin < kBins) atomicMax(&state->cut, cut_of(bin, q.gap));
    }
  }
}

// Blocks of each query score its candidates; the last of them picks the best.
INLINE void pick(const Query& q, const Term* terms, u32 part, u32 parts, u32 tiles, const u16* __restrict__ offsets, const u8* __restrict__ tfs,
                 const u32* __restrict__ extra, const u32* __restrict__ lengths, const u32* __restrict__ starts, const u32* tables,
                 State* state, u32* hist, const u64* cands, u64* keys, u64* outs) {
  __shared__ u64 sorted[kSmall];
  __shared__ u32 found, last, low;
  u32* docs = (u32*)sorted;
  u64* mine = keys + q.cand;
  // The final cut, from all sums.
  if (warp_id() == 0) {
    u32 bin = bin_of_global(q.k, hist);
    if (lane_id() == 0) low = max_of(max_of(state->cut, q.cut), bin < kBins ? cut_of(bin, q.gap) : 0);
  }
  __syncthreads();
  u32 count = min_of(state->cands, q.cap), cut = low;
  u32 share = kWarp;
  while (share > 1 && kWarp / share < q.terms) share /= 2;
  constexpr u32 kRound = 2 * kSmall;  // candidates that a block tests together
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
  if (last) {
    __threadfence();
    pick_best<kPickThreads>(q, sorted, state, mine, outs);
    clean<kPickThreads>(state, hist);
  }
}

KERNEL __launch_bounds__(kPickThreads)
tiles_pick(const u8* __restrict__ plan, u32 queries, u32 tiles, const u16* __restrict__ offsets, const u8* __restrict__ tfs,
           const u32* __restrict__ extra, const u32* __restrict__ lengths, const u32* __restrict__ starts, const u32* tables,
           State* states, u32* hists, const u64* cands, u64* keys, u64* outs) {
  Plan p(plan, queries);
  u32 parts = gridDim.x / queries, qi = blockIdx.x / parts;
  const Query& q = p.queries[qi];
  pick(q, p.terms + q.first, blockIdx.x % parts, parts, tiles, offsets, tfs, extra, lengths, starts, tables, states + qi,
       hists + (u64)qi * kBins, cands, keys, outs);
}

KERNEL __launch_bounds__(kPickThreads)
tiles_pick_one(ONE_WORDS, u32 tiles, const u16* __restrict__ offsets, const u8* __restrict__ tfs, const u32* __restrict__ extra,
               const u32* __restrict__ lengths, const u32* __restrict__ starts, State* state, u32* hist, const u64* cands, u64* keys, u64* outs) {
  __shared__ One mine;  // in shared memory, since lanes index different terms
  if (threadIdx.x == 0) {
    ONE_PUT(mine)
  }
  __syncthreads();
  // All lists have rows.
  pick(mine.q, mine.terms, blockIdx.x, gridDim.x, tiles, offsets, tfs, extra, lengths, starts, starts, state, hist, cands, keys, outs);
}
