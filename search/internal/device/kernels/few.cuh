// Adds up tiles for queries of few words: a block per tile, list by list, many queries in turn.
#pragma once
#include "pick.cuh"

extern __shared__ uint4 memory[];

constexpr u32 kFewThreads = 256;
constexpr u32 kRounds = 2;     // times four postings of a list that a thread holds
constexpr u32 kKeep = 896;     // candidates that a block keeps before it publishes them
constexpr u32 kMonitor = 64;   // times that an idle block raises the cut by the sums of the others

// The lists of a query in a tile.
template <u32 N> struct Job {
  u64 pos[N];
  u32 n[N];
  u32 tile, bound;
  bool skip;
};

// The postings of a thread, in registers. Those of the next tile are loaded while this one is added
// up.
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

// Four postings from `at` on. Those outside the list go to a slot of the thread's own after the
// sums, so that no branch is needed.
struct Four {
  u32 off[4];
  bool in[4];
  INLINE Four(ushort4 o, u32 at, u32 skip, u32 n) {
    u32 mine = kTile + threadIdx.x, offs[4] = {o.x, o.y, o.z, o.w};
#pragma unroll
    for (u32 j = 0; j < 4; j++) in[j] = at + j - skip < n, off[j] = in[j] ? offs[j] : mine;
  }
};

// Calls f(four, codes) for a thread's postings of a list: those in registers, then the others.
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

// The working memory of a block for few words.
struct Bench {
  u32* sums;    // sums of a tile, and a slot per thread; all 0 between tiles
  u64* kept;    // candidates that are not published yet
  u32* pushed;  // number of candidates
};

// Keeps a document whose sum can win.
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

// Keeps those of four documents that can win. Few can, so the loop is not unrolled.
INLINE void push_four(const Bench& b, const Query& q, State* state, u32* hist, u64* out, u32 low, u32 base, const u32* v, const Four& p) {
  if (v[0] < low && v[1] < low && v[2] < low && v[3] < low) return;
#pragma unroll 1
  for (u32 j = 0; j < 4; j++) {
    u32 w = j == 0 ? v[0] : j == 1 ? v[1] : j == 2 ? v[2] : v[3];
    u32 off = j == 0 ? p.off[0] : j == 1 ? p.off[1] : j == 2 ? p.off[2] : p.off[3];
    if (w >= low) push(b, q, state, hist, out, w, base | off);
  }
}

// Publishes the candidates that can still win. Called by all threads, with barriers before and
// after.
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

// Adds up a tile list by list. The documents of one list are distinct, so no two threads add to the
// same sum. The last list that has a document reads its sum and sets it to 0. Returns whether many
// candidates are waiting. After the barrier at the end, bar has the first thread's `better` cut: if
// all threads read the cut themselves, they would wait for each other at one word of the cache.
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

// Raises the cut by the sums found so far. Called by one warp.
INLINE void raise(const Query& q, State* state, const u32* hist) {
  u32 bin = bin_of_global(q.k, hist);
  if (lane_id() == 0 && bin < kBins) atomicMax(&state->cut, cut_of(bin, q.gap));
}

// Finds the query and the tile of the i-th item. Sets skip if there is none.
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
    // One thread reads the cut of the next item's query.
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
        // Publish them before the next query, which raises the cut.
        if (warp_id() == 0) raise(q, state, hist);
        flush(b, q, state, cands + q.cand);
      }
    }
    if (threadIdx.x == 0) bar[turn] = better;
    now = next, next = after, held = coming, at = then, then = last;
    __syncthreads();
  }
}
