// The tiled search. Documents are cut into tiles of 16,384; an item of work is a query with a tile. Each posting has a code, a byte that bounds its score (encode.cu), so that
// a document's sum of codes bounds its score; sums are whole numbers, added in shared memory in any order. Scores that
// k documents are known to reach prove a cut: sums below it cannot win. What is not below is a candidate. In the end
// candidates are scored exactly, words in query order, and the best are picked.
//
//   tiles_plan   bounds of all items, and their order, highest first; not needed where all of them run at the same time
//   tiles_few    sums, better cuts, candidates, of queries of few words
//   tiles_one    the same for one query, with its bounds
//   tiles_many   the same for any number of words
//   tiles_pick   exact scores, the k best in order
#include "tiles.cuh"

extern __shared__ uint4 memory[];

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

constexpr u32 kFewThreads = 256;
constexpr u32 kRounds = 2;     // times four postings of a list that a thread holds
constexpr u32 kKeep = 896;     // candidates that a block keeps before it tells them
constexpr u32 kMonitor = 64;   // times that a block without work looks at what the others found

// The lists of a query in a tile.
template <u32 N> struct Job {
  u64 pos[N];
  u32 n[N];
  u32 tile, bound;
  bool skip;
};

// Postings of a thread, in registers: those of the next tile are on their way while this one is added.
template <u32 N> struct Hold {
  ushort4 o[N][kRounds];
  u32 c[N][kRounds];
};

template <u32 N> INLINE void load(Hold<N>& h, const Job<N>& job, u32 terms, const u16* __restrict__ offsets, const u8* __restrict__ codes) {
#pragma unroll
  for (u32 t = 0; t < N; t++)
    if (t < terms && !job.skip) {
      u32 skip = (u32)job.pos[t] & 3;
      u64 base = job.pos[t] - skip;
#pragma unroll
      for (u32 r = 0; r < kRounds; r++) {
        u32 at = 4 * (threadIdx.x + r * kFewThreads);
        if (at < skip + job.n[t]) h.o[t][r] = *(const ushort4*)(offsets + base + at), h.c[t][r] = *(const u32*)(codes + base + at);
      }
    }
}

// Four postings from at on. Those that are not of the list get a place of the thread's own behind the sums, so that no branch is needed.
struct Four {
  u32 off[4];
  bool in[4];
  INLINE Four(ushort4 o, u32 at, u32 skip, u32 n) {
    u32 mine = kTile + threadIdx.x, offs[4] = {o.x, o.y, o.z, o.w};
#pragma unroll
    for (u32 j = 0; j < 4; j++) in[j] = at + j - skip < n, off[j] = in[j] ? offs[j] : mine;
  }
};

// Calls f(four, codes) for a thread's postings of a list: those that it holds, and what is beyond.
template <class F> INLINE void each_four(const ushort4* o, const u32* c, u64 pos, u32 n, const u16* __restrict__ offsets,
                                         const u8* __restrict__ codes, F f) {
  u32 skip = (u32)pos & 3;
#pragma unroll
  for (u32 r = 0; r < kRounds; r++) {
    u32 at = 4 * (threadIdx.x + r * kFewThreads);
    if (at < skip + n) f(Four(o[r], at, skip, n), c[r]);
  }
#pragma unroll 1
  for (u32 at = 4 * (threadIdx.x + kRounds * kFewThreads); at < skip + n; at += 4 * kFewThreads)
    f(Four(*(const ushort4*)(offsets + (pos - skip) + at), at, skip, n), *(const u32*)(codes + (pos - skip) + at));
}

// What a block of few words works with.
struct Bench {
  u32* sums;    // of a tile, and a place for each thread; all 0 between tiles
  u64* kept;    // candidates that were not told yet
  u32* pushed;  // how many
};

// A document whose sum can win.
INLINE void push(const Bench& b, const Query& q, State* state, u32* hist, u64* out, u32 v, u32 doc) {
  if (q.need != 0 && (v & q.mask) != q.need) return;
  u64 cand = (u64)v << 32 | doc;
  u32 at = atomicAdd(b.pushed, 1u);
  if (at < kKeep) {
    b.kept[at] = cand;
  } else {
    at = atomicAdd(&state->cands, 1u);
    if (at < q.cap) out[at] = cand;
  }
  atomicAdd(&hist[v >> kBinShift], 1u);
}

// Those of four that can win: few do, so that this is one piece of code.
INLINE void push_four(const Bench& b, const Query& q, State* state, u32* hist, u64* out, u32 low, u32 base, const u32* v, const Four& p) {
  if (v[0] < low && v[1] < low && v[2] < low && v[3] < low) return;
#pragma unroll 1
  for (u32 j = 0; j < 4; j++) {
    u32 w = j == 0 ? v[0] : j == 1 ? v[1] : j == 2 ? v[2] : v[3];
    u32 off = j == 0 ? p.off[0] : j == 1 ? p.off[1] : j == 2 ? p.off[2] : p.off[3];
    if (w >= low) push(b, q, state, hist, out, w, base | off);
  }
}

// Tells the candidates that can still win. All threads; barriers before and after.
INLINE void flush(const Bench& b, const Query& q, State* state, u64* out) {
  __shared__ u32 cut;
  if (threadIdx.x == 0) cut = max_of(volatile_load(&state->cut), q.cut);
  __syncthreads();
  u32 n = min_of(*b.pushed, kKeep);
  for (u32 from = 0; from < n; from += kFewThreads) {
    u32 i = from + threadIdx.x;
    u64 c = i < n ? b.kept[i] : 0;
    bool good = i < n && (u32)(c >> 32) >= cut;
    u32 votes = __ballot_sync(kFull, good), at = 0;
    if (lane_id() == 0 && votes) at = atomicAdd(&state->cands, (u32)__popc(votes));
    at = __shfl_sync(kFull, at, 0) + __popc(votes & lanes_below());
    if (good && at < q.cap) out[at] = c;
  }
  __syncthreads();
  if (threadIdx.x == 0) *b.pushed = 0;
  __syncthreads();
}

// Adds up a tile, list by list: in one list documents are different, so that no two threads meet. Sums are looked at by the last
// list that has the document, which leaves 0. Says whether many candidates wait; a barrier is at the end, and the first thread's
// better cut in bar behind it: if all threads asked for the cut, they would wait in line for one word of the cache.
template <u32 N> INLINE bool add_tile(const Bench& b, const Query& q, const u32* mult, const Job<N>& job, const Hold<N>& h, u32 low, u32 better, u32* bar,
                                      const u16* __restrict__ offsets, const u8* __restrict__ codes, State* state, u32* hist, u64* out) {
  u32 ends = q.terms - 1, one = q.one, base = job.tile << kTileBits;
  u32* sums = b.sums;
#pragma unroll
  for (u32 t = 0; t + 1 < N; t++)
    if (t < ends) {
      each_four(h.o[t], h.c[t], job.pos[t], job.n[t], offsets, codes, [&](const Four& p, u32 c) {
#pragma unroll
        for (u32 j = 0; j < 4; j++) sums[p.off[j]] = (t ? sums[p.off[j]] : 0) + ((c >> (8 * j) & 255) + 1) * mult[t] + one;
      });
      __syncthreads();
    }
#pragma unroll
  for (u32 t = 0; t < N; t++)
    if (t == ends)
      each_four(h.o[t], h.c[t], job.pos[t], job.n[t], offsets, codes, [&](const Four& p, u32 c) {
        u32 v[4];
#pragma unroll
        for (u32 j = 0; j < 4; j++) {
          v[j] = (t ? sums[p.off[j]] : 0) + ((c >> (8 * j) & 255) + 1) * mult[t] + one;
          v[j] = p.in[j] ? v[j] : 0;
          if (t) sums[p.off[j]] = 0;
        }
        push_four(b, q, state, hist, out, low, base, v, p);
      });
#pragma unroll
  for (u32 t = N - 1; t-- > 0;)
    if (t < ends) {
      __syncthreads();
      each_four(h.o[t], h.c[t], job.pos[t], job.n[t], offsets, codes, [&](const Four& p, u32) {
        u32 v[4];
#pragma unroll
        for (u32 j = 0; j < 4; j++) {
          v[j] = p.in[j] ? sums[p.off[j]] : 0;
          sums[p.off[j]] = 0;
        }
        push_four(b, q, state, hist, out, low, base, v, p);
      });
    }
  if (threadIdx.x == 0) *bar = better;
  return __syncthreads_or(threadIdx.x == 0 && atomicAdd(b.pushed, 0u) > kKeep / 2);
}

INLINE Bench bench_of(u32* pushed) {
  for (u32 i = threadIdx.x; i < (kTile + kFewThreads) / 4; i += kFewThreads) memory[i] = make_uint4(0, 0, 0, 0);
  if (threadIdx.x == 0) *pushed = 0;
  __syncthreads();
  return Bench{(u32*)memory, (u64*)((u32*)memory + kTile + kFewThreads), pushed};
}

// Raises the cut by what was found so far. One warp.
INLINE void raise(const Query& q, State* state, const u32* hist) {
  u32 bin = bin_of_global(q.k, hist);
  if (lane_id() == 0 && bin < kBins) atomicMax(&state->cut, cut_of(bin, q.gap));
}

// A single query that comes with the launch: no plan, and no order, since nearly all its tiles run at the same time.
struct One {
  Query q;
  Term terms[kFew];
};

// It comes as so many words: that is what all tools know.
#define ONE_WORDS \
  u64 w0, u64 w1, u64 w2, u64 w3, u64 w4, u64 w5, u64 w6, u64 w7, u64 w8, u64 w9, \
  u64 w10, u64 w11, u64 w12, u64 w13, u64 w14, u64 w15, u64 w16, u64 w17, u64 w18, u64 w19, \
  u64 w20, u64 w21, u64 w22, u64 w23, u64 w24, u64 w25, u64 w26, u64 w27, u64 w28, u64 w29, \
  u64 w30, u64 w31, u64 w32, u64 w33, u64 w34, u64 w35, u64 w36, u64 w37, u64 w38, u64 w39, \
  u64 w40, u64 w41, u64 w42, u64 w43, u64 w44, u64 w45, u64 w46, u64 w47, u64 w48
#define ONE_PUT(one) \
  u64* to = (u64*)&(one); \
  to[0] = w0; to[1] = w1; to[2] = w2; to[3] = w3; to[4] = w4; to[5] = w5; to[6] = w6; to[7] = w7; \
  to[8] = w8; to[9] = w9; to[10] = w10; to[11] = w11; to[12] = w12; to[13] = w13; to[14] = w14; to[15] = w15; \
  to[16] = w16; to[17] = w17; to[18] = w18; to[19] = w19; to[20] = w20; to[21] = w21; to[22] = w22; to[23] = w23; \
  to[24] = w24; to[25] = w25; to[26] = w26; to[27] = w27; to[28] = w28; to[29] = w29; to[30] = w30; to[31] = w31; \
  to[32] = w32; to[33] = w33; to[34] = w34; to[35] = w35; to[36] = w36; to[37] = w37; to[38] = w38; to[39] = w39; \
  to[40] = w40; to[41] = w41; to[42] = w42; to[43] = w43; to[44] = w44; to[45] = w45; to[46] = w46; to[47] = w47; \
  to[48] = w48;
static_assert(sizeof(One) == 49 * 8, "as gpuOne");

template <u32 N> INLINE Job<N> job_of(const One& one, u32 tile, u32 tiles, const u8* __restrict__ maxes, const u32* __restrict__ starts) {
  Job<N> job;
  u32 bound = 0, have = 0;
  job.tile = tile;
#pragma unroll
  for (u32 t = 0; t < N; t++) {
    job.pos[t] = 0, job.n[t] = 0;
    if (t < one.q.terms && tile < tiles) {
      const Term& term = one.terms[t];
      const u32* row = starts + (u64)term.row * (tiles * kSubs + 1) + tile * kSubs;
      u32 from = row[0], most = maxes[(u64)term.row * tiles + tile];
      job.pos[t] = term.pos + from, job.n[t] = row[kSubs] - from;
      if (most) bound += (most + most / 255) * term.mult + one.q.one, have++;
    }
  }
  job.skip = tile >= tiles || have < max_of(one.q.need, 1u) || bound < one.q.cut;
  return job;
}

template <u32 N> INLINE void add_one(const One& one, u32 tiles, const u8* __restrict__ maxes, const u16* __restrict__ offsets,
                                     const u8* __restrict__ codes, const u32* __restrict__ starts, State* state, u32* hist, u64* out) {
  __shared__ u32 pushed, bar[2];
  if (blockIdx.x == gridDim.x - 1) {
    // This block raises the cut for the others until they are through.
    if (warp_id() == 0)
      for (u32 turn = 0; turn < kMonitor; turn++) {
        raise(one.q, state, hist);
        if (volatile_load(&state->planned) + 1 >= gridDim.x) break;
      }
    return;
  }
  u32 step = gridDim.x - 1, terms = one.q.terms, mult[N];
#pragma unroll
  for (u32 t = 0; t < N; t++) mult[t] = one.terms[t].mult;
  Job<N> now = job_of<N>(one, blockIdx.x, tiles, maxes, starts), next = job_of<N>(one, blockIdx.x + step, tiles, maxes, starts);
  Hold<N> held, coming;
  load(held, now, terms, offsets, codes);
  Bench b = bench_of(&pushed);
  u32 low = max_of(one.q.cut, 1u), scored = 0;
  while (now.tile < tiles) {
    load(coming, next, terms, offsets, codes);
    Job<N> after = job_of<N>(one, next.tile + step, tiles, maxes, starts);
    if (!now.skip) {
      u32 better = threadIdx.x == 0 ? volatile_load(&state->cut) : 0;
      bool full = add_tile<N>(b, one.q, mult, now, held, low, better, &bar[scored & 1], offsets, codes, state, hist, out);
      low = max_of(low, bar[scored & 1]);
      scored++;
      if (full) flush(b, one.q, state, out);
    }
    now = next, next = after, held = coming;
  }
  flush(b, one.q, state, out);
  if (threadIdx.x == 0) atomicAdd(&state->scored, scored), atomicAdd(&state->planned, 1u);
}

#define TILES_ONE(name, N, blocks)                                                                                                  \
  KERNEL __launch_bounds__(kFewThreads, blocks)                                                                                     \
  name(ONE_WORDS, u32 tiles, const u8* __restrict__ maxes, const u16* __restrict__ offsets, const u8* __restrict__ codes,            \
       const u32* __restrict__ starts, State* state, u32* hist, u64* cands) {                                                       \
    One one;                                                                                                                        \
    ONE_PUT(one)                                                                                                                    \
    add_one<N>(one, tiles, maxes, offsets, codes, starts, state, hist, cands);                                                      \
  }
TILES_ONE(tiles_one2, 2, 3)
TILES_ONE(tiles_one4, 4, 2)

// Which tile of which query comes i-th; skip if none does.
template <u32 N> INLINE Job<N> job_at(u64 i, u64 all, const Plan& p, u32 queries, u32 early, const u32* later, u32 tiles,
                                      const u32* __restrict__ starts, const u32* __restrict__ tables, const u32* __restrict__ bounds,
                                      const u32* __restrict__ order, const State* states, u32* query) {
  Job<N> job;
  job.skip = true, job.tile = 0, job.bound = 0, *query = 0;
#pragma unroll
  for (u32 t = 0; t < N; t++) job.pos[t] = 0, job.n[t] = 0;
  if (i >= all) return job;
  u32 qi = 0, rank = (u32)i;
  if (queries > 1) find_item(i, queries, early, later, &qi, &rank);
  const Query& q = p.queries[qi];
  *query = qi;
  if (q.kind != (N > 2) || rank >= states[qi].live) return job;
  u32 tile = order[q.order + rank];
  job.tile = tile, job.bound = bounds[q.order + tile], job.skip = false;
  const Term* terms = p.terms + q.first;
#pragma unroll
  for (u32 t = 0; t < N; t++)
    if (t < q.terms) {
      Span s = span_of_tile(terms[t], tile, tiles, starts, tables);
      job.pos[t] = terms[t].pos + s.from, job.n[t] = s.to - s.from;
    }
  return job;
}

template <u32 N> INLINE void add_few(const u8* __restrict__ plan, u32 queries, u32 tiles, const u16* __restrict__ offsets,
                                     const u8* __restrict__ codes, const u32* __restrict__ starts, const u32* __restrict__ tables,
                                     const u32* __restrict__ bounds, const u32* __restrict__ order, State* states, u32* hists, u64* cands) {
  __shared__ u32 pushed, bar[2];
  Plan p(plan, queries);
  const u32* later = p.later[N > 2];
  u32 early = queries > 1 ? kEarly : 0;
  u64 all = (u64)early * queries + later[queries];
  u32 at, then, last;
  Job<N> now = job_at<N>(blockIdx.x, all, p, queries, early, later, tiles, starts, tables, bounds, order, states, &at);
  Job<N> next = job_at<N>(blockIdx.x + gridDim.x, all, p, queries, early, later, tiles, starts, tables, bounds, order, states, &then);
  Hold<N> held, coming;
  load(held, now, p.queries[at].terms, offsets, codes);
  if (threadIdx.x == 0) bar[1] = volatile_load(&states[at].cut);
  Bench b = bench_of(&pushed);
  u32 turn = 0;
  for (u64 i = blockIdx.x; i < all; i += gridDim.x, turn ^= 1) {
    load(coming, next, p.queries[then].terms, offsets, codes);
    Job<N> after = job_at<N>(i + 2 * gridDim.x, all, p, queries, early, later, tiles, starts, tables, bounds, order, states, &last);
    // One thread asks for the cut of the next item's query.
    u32 better = threadIdx.x == 0 ? volatile_load(&states[then].cut) : 0;
    const Query& q = p.queries[at];
    u32 low = max_of(max_of(bar[turn ^ 1], q.cut), 1u);
    if (!now.skip && now.bound >= low) {
      State* state = states + at;
      u32* hist = hists + (u64)at * kBins;
      u32 mult[N];
#pragma unroll
      for (u32 t = 0; t < N; t++) mult[t] = t < q.terms ? p.terms[q.first + t].mult : 0;
      if (threadIdx.x == 0) atomicAdd(&state->scored, 1u);
      add_tile<N>(b, q, mult, now, held, low, better, &bar[turn], offsets, codes, state, hist, cands + q.cand);
      if (pushed) {
        // They are told before the next query comes, and raise the cut.
        if (warp_id() == 0) raise(q, state, hist);
        flush(b, q, state, cands + q.cand);
      }
    }
    if (threadIdx.x == 0) bar[turn] = better;
    now = next, next = after, held = coming, at = then, then = last;
    __syncthreads();
  }
}

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

// The k best of all keys, in order. One block.
INLINE void pick_best(const Query& q, u64* sorted, State* state, u32* hist, const volatile u64* from, u64* outs) {
  __shared__ u32 found, digit, above;
  __shared__ u32 warp_sums[kPickThreads / kWarp];
  u32* bins = (u32*)sorted;
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
  for (u32 i = threadIdx.x; i < kBins; i += kPickThreads) hist[i] = 0;
}

// Blocks of each query score the candidates; the last of them picks the best.
INLINE void pick(const Query& q, const Term* terms, u32 part, u32 parts, u32 tiles, const u16* __restrict__ offsets, const u8* __restrict__ tfs,
                 const u32* __restrict__ extra, const u32* __restrict__ lengths, const u32* __restrict__ starts, const u32* tables,
                 State* state, u32* hist, const u64* cands, u64* keys, u64* outs) {
  __shared__ u64 sorted[kSmall];
  __shared__ u32 found, last, low;
  u32* docs = (u32*)sorted;
  u64* mine = keys + q.cand;
  // The last cut, of all that was found.
  if (warp_id() == 0) {
    u32 bin = bin_of_global(q.k, hist);
    if (lane_id() == 0) low = max_of(max_of(state->cut, q.cut), bin < kBins ? cut_of(bin, q.gap) : 0);
  }
  __syncthreads();
  u32 count = min_of(state->cands, q.cap), cut = low;
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
  if (last) {
    __threadfence();
    pick_best(q, sorted, state, hist, mine, outs);
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
  __shared__ One mine;  // lanes look at different terms
  if (threadIdx.x == 0) {
    ONE_PUT(mine)
  }
  __syncthreads();
  pick(mine.q, mine.terms, blockIdx.x, gridDim.x, tiles, offsets, tfs, extra, lengths, starts, starts, state, hist, cands, keys, outs);  // all lists have rows
}
