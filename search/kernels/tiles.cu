// The tiled search. Documents are cut into tiles of 16,384; an item of work is a query with a tile. Each posting has a code, a byte that bounds its score (encode.cu), so that
// a document's sum of codes bounds its score; sums are whole numbers, added in shared memory in any order. Scores that
// k documents are known to reach prove a cut: sums below it cannot win. What is not below is a candidate. In the end
// candidates are scored exactly, words in query order, and the best are picked.
//
//   tiles_plan   bounds of all items, and their order, highest first; not needed where all of them run at the same time
//   tiles_few    sums, better cuts, candidates, of queries of few words: a warp a tile
//   tiles_many   the same for any number of words: a block a tile
//   tiles_pick   exact scores, the k best in order
#include "tiles.cuh"

constexpr u32 kPlanThreads = 1024;
constexpr u32 kHold = 4;  // items that a thread keeps in registers while they are ordered

// The bound of a tile; 0 if it holds no answer. Sparse lists have no table of tiles: it is made here. All lanes of
// a warp have neighbouring tiles.
INLINE u32 bound_of(const Query& q, const Term* terms, u32 tile, u32 tiles, const u8* __restrict__ maxes,
                    const u32* __restrict__ extra, u32* tables) {
  u32 bound = 0, have = 0;
  for (u32 i = 0; i < q.terms; i++) {
    const Term& t = terms[i];
    u32 most = 0;
    if (t.row == kSparse) {
      // Each thread finds where its tile begins, and asks its neighbour where it ends.
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

// One block for each query, or, if there is much to do, one for every 1,024 tiles, of which the last one orders the items.
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
  // Counting sort by the high bits, falling. Most queries' items find room in registers.
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

constexpr u32 kFewWarps = 8;
constexpr u32 kFewThreads = kFewWarps * kWarp;
constexpr u32 kKeep = 64;  // candidates that a warp keeps
constexpr u32 kMonitor = 12;  // times that a warp without work looks at what the others found

// The bound of a tile in which all lists have tables.
INLINE u32 bound_of_tile(const Query& q, const Term* terms, u32 tile, u32 tiles, const u8* __restrict__ maxes) {
  u32 bound = 0, have = 0;
#pragma unroll
  for (u32 t = 0; t < kFew; t++)
    if (t < q.terms) {
      u32 most = maxes[(u64)terms[t].row * tiles + tile];
      if (most) bound += (most + most / 255) * terms[t].mult + q.one, have++;
    }
  return have >= max_of(q.need, 1u) ? bound : 0;
}

// Calls f(offset, code) for a lane's postings of a list, four at a time.
template <class F> INLINE void each_posting(u64 pos, u32 n, const u16* __restrict__ offsets, const u8* __restrict__ codes, F f) {
  u32 skip = (u32)pos & 3, to = skip + n;
  const u16* o = offsets + (pos - skip);
  const u8* c = codes + (pos - skip);
#pragma unroll 2
  for (u32 at = 4 * lane_id(); at < to; at += 4 * kWarp) {
    ushort4 o4 = *(const ushort4*)(o + at);
    u32 c4 = *(const u32*)(c + at);
    u32 off[4] = {o4.x, o4.y, o4.z, o4.w};
#pragma unroll
    for (u32 j = 0; j < 4; j++)
      if (at + j - skip < n) f(off[j], c4 >> (8 * j) & 255);
  }
}

// What a warp found and has not told yet.
struct Keep {
  u64* cands;  // kKeep
  u32 n;       // how many; the same in all lanes
  u32 counted; // since the cut was looked for

  // Candidates of the lanes that have one.
  INLINE void push(bool want, u32 v, u32 doc, const Query& q, State* state, u32* hist, u64* out) {
    if (want && q.need != 0 && (v & q.mask) != q.need) want = false;
    u32 votes = __ballot_sync(kFull, want);
    if (votes == 0) return;
    u32 more = __popc(votes);
    if (n + more > kKeep) flush(q, state, out);
    if (want) {
      cands[n + __popc(votes & lanes_below())] = (u64)v << 32 | doc;
      atomicAdd(&hist[v >> kBinShift], 1u);
    }
    n += more, counted += more;
  }

  // Tells those that can still win.
  INLINE void flush(const Query& q, State* state, u64* out) {
    __syncwarp();
    u32 cut = max_of(volatile_load(&state->cut), q.cut);
    for (u32 i = lane_id(); i < kKeep; i += kWarp) {
      u64 c = i < n ? cands[i] : 0;
      bool good = i < n && (u32)(c >> 32) >= cut;
      u32 votes = __ballot_sync(kFull, good), at = 0;
      if (votes == 0) continue;
      if (lane_id() == 0) at = atomicAdd(&state->cands, (u32)__popc(votes));
      at = __shfl_sync(kFull, at, 0) + __popc(votes & lanes_below());
      if (good && at < q.cap) out[at] = c;
    }
    n = 0;
    __syncwarp();
  }

  // Looks for a better cut if there is reason to hope for one.
  INLINE void raise(const Query& q, State* state, const u32* hist, u32 enough) {
    if (counted < enough) return;
    counted = 0;
    __threadfence();
    u32 bin = bin_of_global(q.k, hist);
    if (lane_id() == 0 && bin < kBins) atomicMax(&state->cut, cut_of(bin, q.gap));
  }
};

KERNEL __launch_bounds__(kFewThreads, 3)
tiles_few(const u8* __restrict__ plan, u32 queries, u32 tiles, u32 ordered, const u8* __restrict__ maxes, const u16* __restrict__ offsets, const u8* __restrict__ codes,
          const u32* __restrict__ starts, const u32* __restrict__ tables, const u32* __restrict__ bounds,
          const u32* __restrict__ order, State* states, u32* hists, u64* cands) {
  extern __shared__ uint4 memory[];
  Plan p(plan, queries);
  u32* sums = (u32*)memory + warp_id() * kSub;
  Keep keep{(u64*)((u32*)memory + kFewWarps * kSub) + warp_id() * kKeep, 0, 0};
  for (u32 i = lane_id(); i < kSub / 4; i += kWarp) ((uint4*)sums)[i] = make_uint4(0, 0, 0, 0);
  __syncwarp();
  const u32* later = p.later[0];
  u32 early = queries > 1 ? kEarly : 0;
  u64 all = (u64)early * queries + later[queries];
  for (u64 i = (u64)blockIdx.x * kFewWarps + warp_id(); i < all; i += (u64)gridDim.x * kFewWarps) {
    u32 qi = 0, rank = (u32)i;
    if (queries > 1) find_item(i, queries, early, later, &qi, &rank);
    const Query& q = p.queries[qi];
    State* state = states + qi;
    if (q.terms > kFew || rank >= (ordered ? state->live : q.items)) continue;
    const Term* terms = p.terms + q.first;
    u32 tile = ordered ? order[q.order + rank] : rank, low = max_of(volatile_load(&state->cut), max_of(q.cut, 1u));
    u32 bound = ordered ? bounds[q.order + tile] : bound_of_tile(q, terms, tile, tiles, maxes);
    if (bound < low) continue;
    u32* hist = hists + (u64)qi * kBins;
    u64* out = cands + q.cand;
    u32 ends = q.terms - 1, one = q.one, base = tile << kTileBits;
    // Lane s knows where the lists begin in part s.
    u64 pos[kFew];
    u32 mult[kFew], start[kFew];
#pragma unroll
    for (u32 t = 0; t < kFew; t++)
      if (t <= ends) {
        const Term& term = terms[t];
        pos[t] = term.pos, mult[t] = term.mult, start[t] = 0;
        if (term.row != kSparse) {
          if (lane_id() <= kSubs) start[t] = starts[(u64)term.row * (tiles * kSubs + 1) + tile * kSubs + lane_id()];
        } else {
          // Few postings, and no table: lanes look where the parts begin.
          u32 from = tables[term.table + tile], to = tables[term.table + tile + 1];
          if (lane_id() <= kSubs)
            start[t] = lane_id() == kSubs ? to : lower_bound(offsets + term.pos, from, to, lane_id() << kSubBits);
        }
      }
    if (lane_id() == 0) atomicAdd(&state->scored, 1u);
    for (u32 sub = 0; sub < kSubs; sub++) {
      u64 at[kFew];
      u32 n[kFew], any = 0;
#pragma unroll
      for (u32 t = 0; t < kFew; t++)
        if (t <= ends) {
          u32 from = __shfl_sync(kFull, start[t], sub);
          at[t] = pos[t] + from, n[t] = __shfl_sync(kFull, start[t], sub + 1) - from;
          any |= n[t];
        }
      if (any == 0) continue;
      u32 better = volatile_load(&state->cut);  // for the next part
      u32 first_doc = base + sub * kSub;
      // In one list documents are different, so that no two lanes meet. Sums are looked at by the last list that has
      // the document, which leaves 0.
#pragma unroll
      for (u32 t = 0; t + 1 < kFew; t++)
        if (t < ends) {
          u32 m = mult[t];
          each_posting(at[t], n[t], offsets, codes, [&](u32 off, u32 code) {
            u32* s = sums + (off & (kSub - 1));
            *s = (t ? *s : 0) + (code + 1) * m + one;
          });
          __syncwarp();
        }
      // All lanes must take part in pushing, so the rounds are even here.
#pragma unroll
      for (u32 t = kFew; t-- > 0;)
        if (t <= ends) {
          bool final = t == ends;
          u32 m = mult[t], skip = (u32)at[t] & 3, to = skip + n[t];
          const u16* o = offsets + (at[t] - skip);
          const u8* c = codes + (at[t] - skip);
          for (u32 from = 0; from < to; from += 4 * kWarp) {
            u32 here = from + 4 * lane_id(), v[4] = {0, 0, 0, 0}, off[4] = {0, 0, 0, 0};
            bool found = false;
            if (here < to) {
              ushort4 o4 = *(const ushort4*)(o + here);
              u32 c4 = final ? *(const u32*)(c + here) : 0;
              off[0] = o4.x & (kSub - 1), off[1] = o4.y & (kSub - 1), off[2] = o4.z & (kSub - 1), off[3] = o4.w & (kSub - 1);
#pragma unroll
              for (u32 j = 0; j < 4; j++)
                if (here + j - skip < n[t]) {
                  v[j] = final && t == 0 ? 0 : sums[off[j]];
                  if (v[j]) sums[off[j]] = 0;
                  if (final) v[j] += ((c4 >> (8 * j) & 255) + 1) * m + one;
                  found = found || v[j] >= low;
                }
            }
            if (__any_sync(kFull, found)) {
#pragma unroll
              for (u32 j = 0; j < 4; j++) keep.push(v[j] >= low, v[j], first_doc + off[j], q, state, hist, out);
            }
          }
          __syncwarp();
        }
      keep.raise(q, state, hist, kWarp);
      low = max_of(low, better);
    }
    keep.raise(q, state, hist, 1);
    keep.flush(q, state, out);
    if (queries == 1) {
      __syncwarp();
      if (lane_id() == 0) atomicAdd(&state->planned, 1u);
    }
  }
  // Whoever has nothing to do in a single query raises the cut for the others, as long as there are any.
  if (queries == 1 && (u64)blockIdx.x * kFewWarps + warp_id() >= all && warp_id() == kFewWarps - 1) {
    const Query& q = p.queries[0];
    if (q.terms > kFew) return;
    for (u32 turn = 0; turn < kMonitor; turn++) {
      u32 bin = bin_of_global(q.k, hists);
      if (lane_id() == 0 && bin < kBins) atomicMax(&states[0].cut, cut_of(bin, q.gap));
      if (volatile_load(&states[0].planned) >= q.items / 2) return;
    }
  }
}

constexpr u32 kManyThreads = 512;
constexpr u32 kManyWarps = kManyThreads / kWarp;
constexpr u32 kKept = kBins / 2;  // candidates that wait in the bins' memory

// Adds four neighbouring postings of a tile's list, from and to being those of the list.
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
  extern __shared__ uint4 memory[];
  u32* sums = (u32*)memory;  // of a tile
  u32* bins = sums + kTile;  // kBins; or kKept candidates
  u64* kept = (u64*)bins;
  __shared__ u32 cut, base, pushed;
  Plan p(plan, queries);
  const u32* later = p.later[1];
  for (u32 i = threadIdx.x; i < kTile / 4; i += kManyThreads) memory[i] = make_uint4(0, 0, 0, 0);
  for (u32 i = threadIdx.x; i < kBins; i += kManyThreads) bins[i] = 0;
  u32 early = queries > 1 ? kEarly : 0;
  u64 all = (u64)early * queries + later[queries];
  for (u64 i = blockIdx.x; i < all; i += gridDim.x) {
    u32 qi = 0, rank = (u32)i;
    if (queries > 1) find_item(i, queries, early, later, &qi, &rank);
    const Query& q = p.queries[qi];
    State* state = states + qi;
    if (q.terms <= kFew || rank >= state->live) continue;
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
    // Warps take lists.
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
      // No cut yet: this tile makes one, of its own best and of those of the tiles before.
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
      // The sums of what was found raise the cut for others.
      __threadfence();
      u32 bin = bin_of_global(q.k, hist);
      if (lane_id() == 0 && bin < kBins) atomicMax(&state->cut, cut_of(bin, q.gap));
    }
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
      Span s = span_of_doc(*t, doc, tiles, starts, tables);
      lo = s.from, hi = end = s.to;
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
  u32 count = min_of(state->cands, q.cap), cut = max_of(state->cut, q.cut);
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
