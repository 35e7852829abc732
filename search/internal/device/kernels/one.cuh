// One query of few words, from its bounds to its result, in one launch.
#pragma once
#include "few.cuh"

// A single query that comes with the launch. It has no plan and no order, since nearly all its
// tiles run at the same time.
struct One {
  Query q;
  Term terms[kFew];
};

// Passed as 64-bit parameters, which every driver and the interpreter take.
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

// The arrays for exact scores.
struct Exact {
  const u8* tfs;
  const u32* extra;
  const u32* lengths;
  u64* keys;
  u64* outs;
};

// Stored in place of a result if there were more candidates than blocks can keep.
constexpr u64 kUnfinished = ~0ull;

// Called by the block that picks the result and by the one that raises the cut. The second of them
// clears the state.
INLINE void leave(State* state, u32* hist) {
  __shared__ u32 second;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) second = atomicAdd(&state->planned, 1u) == 1;
  __syncthreads();
  if (second && volatile_load(&state->spare) != 2) clean<kFewThreads>(state, hist);
}

template <u32 N> INLINE void add_one(const One& one, u32 tiles, const u8* __restrict__ maxes, const u16* __restrict__ offsets,
                                     const u8* __restrict__ codes, const u32* __restrict__ starts, State* state, u32* hist, u64* out,
                                     const Exact& exact) {
  __shared__ u32 pushed, bar[2], cut, last;
  __shared__ One whole;  // lanes look at different terms
  u32 workers = gridDim.x - 1;
  if (blockIdx.x == workers) {
    // This block raises the cut for the others until they are done.
    if (warp_id() == 0)
      for (u32 turn = 0; turn < kMonitor; turn++) {
        raise(one.q, state, hist);
        // The same in all lanes.
        if (__shfl_sync(kFull, volatile_load(&state->picked), 0) >= workers) break;
      }
    leave(state, hist);
  } else {
    if (threadIdx.x == 0) {
#pragma unroll
      for (u32 i = 0; i < sizeof(One) / 8; i++) ((u64*)&whole)[i] = ((const u64*)&one)[i];
    }
    u32 terms = one.q.terms, mult[N];
#pragma unroll
    for (u32 t = 0; t < N; t++) mult[t] = one.terms[t].mult;
    Job<N> now = job_of<N>(one, blockIdx.x, tiles, maxes, starts), next = job_of<N>(one, blockIdx.x + workers, tiles, maxes, starts);
    Hold<N> held, coming;
    load(held, now, terms, offsets, codes);
    Bench b = bench_of(&pushed);
    u32 low = max_of(one.q.cut, 1u), scored = 0;
    while (now.tile < tiles) {
      load(coming, next, terms, offsets, codes);
      Job<N> after = job_of<N>(one, next.tile + workers, tiles, maxes, starts);
      if (!now.skip) {
        u32 better = threadIdx.x == 0 ? volatile_load(&state->cut) : 0;
        bool full = add_tile<N>(b, one.q, mult, now, held, low, better, &bar[scored & 1], offsets, codes, state, hist, out);
        low = max_of(low, bar[scored & 1]);
        scored++;
        if (full) flush(b, one.q, state, out);
      }
      now = next, next = after, held = coming;
    }
    // Candidates that can still win are scored exactly, by a warp per document.
    if (threadIdx.x == 0) cut = max_of(volatile_load(&state->cut), one.q.cut), atomicAdd(&state->scored, scored);
    __syncthreads();
    u32 n = min_of(pushed, kKeep), share = kWarp;
    while (share > 1 && kWarp / share < terms) share /= 2;
    for (u32 i = warp_id(); i < n; i += kFewThreads / kWarp) {
      u64 c = b.kept[i];
      if ((u32)(c >> 32) < cut) continue;
      float score;
      bool good = rescore(whole.q, whole.terms, share, (u32)c, tiles, offsets, exact.tfs, exact.extra, exact.lengths, starts, starts, &score);
      if (good && lane_id() == 0) exact.keys[atomicAdd(&state->keys, 1u)] = (u64)__float_as_uint(score) << 32 | (u32)~(u32)c;
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&state->picked, 1u) == workers - 1;
    __syncthreads();
    if (last) {
      __threadfence();
      bool whole_result = volatile_load(&state->cands) == 0;
      if (whole_result) {
        pick_best<kFewThreads>(whole.q, (u64*)memory, state, exact.keys, exact.outs);
      } else if (threadIdx.x == 0) {
        exact.outs[0] = kUnfinished;
        state->picked = 0;
      }
      if (threadIdx.x == 0) state->spare = whole_result ? 1 : 2;
      leave(state, hist);
    }
  }
}
