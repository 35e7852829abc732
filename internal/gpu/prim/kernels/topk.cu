// The k largest scores; among equal scores, those with lower numbers. Of many scores, a sample
// gives a bound that slightly more than k of them should reach, and one pass gathers those. The
// k-th largest is found by its bits, 11 at a time from the top. Each round counts, among the scores
// that share the bits found so far, how often each value of the next bits occurs. The sample may
// mislead: too few scores reach the bound, or too many because they are equal. Then the rounds read
// all scores, with the same result.
#include "lookback.cuh"
#include "rows.cuh"

constexpr u32 kThreads = 256;
constexpr u32 kWarps = kThreads / kWarp;
constexpr u32 kBins = 2048;
constexpr u32 kRow = 4;
constexpr u32 kRows = 4;
constexpr u32 kTile = kThreads * kRow * kRows;

// Maps the bits of a float to an integer that compares as the float does, and back.
INLINE u32 ordered(u32 bits) { return bits & 0x80000000u ? ~bits : bits | 0x80000000u; }
INLINE u32 unordered(u32 o) { return o & 0x80000000u ? o & 0x7fffffffu : ~o; }

// A score and its number as a key; ascending keys are in the order of the result.
INLINE u64 key_of(u32 o, u64 number) { return (u64)~o << 32 | (u32)number; }

// The state of the search.
struct State {
  u32 bound;       // which the gathered scores reach
  u32 gathered;    // number of gathered scores
  u32 found;       // the high bits of the k-th score
  u32 wanted;      // how many scores with these high bits belong to the k
};

// The scores to search: the gathered ones if they are at least k and fit into their buffer, else
// all.
struct Source {
  const u32* scores;
  const u64* keys;
  u64 n;
  INLINE Source(const u32* all, u64 count, const u64* some, u32 room, const State* state, u32 k) {
    bool good = state->gathered >= k && state->gathered <= room;
    scores = all;
    keys = good ? some : nullptr;
    n = good ? state->gathered : count;
  }
  // Calls f(position, ordered score) for four neighbours. Beyond the end the score is 0, which is
  // below every score.
  template <class F> INLINE void four(u64 at, F f) const {
    u32 o[4];
    if (keys) {
#pragma unroll
      for (u32 j = 0; j < 4; j++) o[j] = at + j < n ? ~(u32)(keys[at + j] >> 32) : 0;
    } else if (at + 4 <= n && aligned(scores)) {
      load_vec(scores + at, o);
#pragma unroll
      for (u32 j = 0; j < 4; j++) o[j] = ordered(o[j]);
    } else {
#pragma unroll
      for (u32 j = 0; j < 4; j++) o[j] = at + j < n ? ordered(scores[at + j]) : 0;
    }
#pragma unroll
    for (u32 j = 0; j < 4; j++) f(at + j, o[j], j);
  }
  INLINE u64 key(u64 at, u32 o) const { return keys ? keys[at] : key_of(o, at); }
};

// Finds the bin at which the sum of the bins, from the top, reaches wanted. One thread calls
// found(bin, sum above it, its count). Each thread has kEach bins.
template <u32 Threads, class F> INLINE void pick_bin(const u32* bins, u32 wanted, u32* warp_sums, F found) {
  constexpr u32 kEach = kBins / Threads;
  u32 c[kEach];
  u32 sum = 0;
#pragma unroll
  for (u32 j = 0; j < kEach; j++) sum += c[j] = bins[kBins - 1 - (threadIdx.x * kEach + j)];
  u32 upto = warp_inclusive(sum);
  if (lane_id() == kWarp - 1) warp_sums[warp_id()] = upto;
  __syncthreads();
  u32 above = upto - sum;
  for (u32 w = 0; w < warp_id(); w++) above += warp_sums[w];
#pragma unroll
  for (u32 j = 0; j < kEach; j++) {
    if (above < wanted && above + c[j] >= wanted) found(kBins - 1 - (threadIdx.x * kEach + j), above, c[j]);
    above += c[j];
  }
}

constexpr u32 kSampleThreads = 1024;
constexpr u32 kSampleEach = 8;

// Sets the bound to the score of the given rank in a sample taken at even distances. One block.
KERNEL __launch_bounds__(kSampleThreads) topk_sample(const u32* __restrict__ scores, u64 n, State* state, u32 rank) {
  __shared__ u32 bins[kBins];
  __shared__ u32 warp_sums[kSampleThreads / kWarp];
  __shared__ u32 now_found, now_wanted, now_above;
  u32 o[kSampleEach];
#pragma unroll
  for (u32 j = 0; j < kSampleEach; j++)
    o[j] = ordered(scores[n / (kSampleThreads * kSampleEach) * (j * kSampleThreads + threadIdx.x)]);
  u32 found = 0, known = 0, wanted = rank, reach = 0;
#pragma unroll
  for (u32 round = 0; round < 3; round++) {
    u32 shift = round == 0 ? 21 : round == 1 ? 10 : 0;
    u32 mask = round == 2 ? 1023 : 2047;
    for (u32 i = threadIdx.x; i < kBins; i += kSampleThreads) bins[i] = 0;
    __syncthreads();
#pragma unroll
    for (u32 j = 0; j < kSampleEach; j++)
      if ((o[j] & known) == found) atomicAdd(&bins[(o[j] >> shift) & mask], 1u);
    __syncthreads();
    pick_bin<kSampleThreads>(bins, wanted, warp_sums, [&](u32 bin, u32 above, u32 count) {
      now_found = found | bin << shift;
      now_wanted = wanted - above;
      now_above = rank - wanted + above + count;  // sampled scores at or above the bin
    });
    __syncthreads();
    found = now_found, wanted = now_wanted, reach = now_above;
    known |= mask << shift;
    __syncthreads();
  }
  // If the bound is a score that many have, such as zero, take only higher scores.
  if (threadIdx.x == 0) state->bound = reach > 2 * rank ? found + 1 : found;
}

// Gathers the scores that reach the bound, in order. states has a word per tile.
constexpr u32 kFilterRows = 8;
constexpr u32 kFilterTile = kThreads * kRow * kFilterRows;

KERNEL __launch_bounds__(kThreads)
topk_filter(const u32* scores, u64 n, State* state, u64* out, u32 room, u64* states) {
  __shared__ u32 warp_sums[kWarps];
  __shared__ u64 prefix;
  u64 first = (u64)blockIdx.x * kFilterTile + warp_id() * (kWarp * kRow * kFilterRows) + lane_id() * kRow;
  bool whole = (u64)(blockIdx.x + 1) * kFilterTile <= n && aligned(scores);
  u32 v[kFilterRows][kRow];
  load_rows(scores, first, n, whole, v, ~0u);  // a NaN: below every bound
  u32 bound = state->bound;
  Marks<kFilterRows, kRow> marks;
  marks.clear();
#pragma unroll
  for (u32 r = 0; r < kFilterRows; r++) {
    u32 bits = 0;
#pragma unroll
    for (u32 j = 0; j < kRow; j++) {
      v[r][j] = ordered(v[r][j]);
      if (v[r][j] >= bound) bits |= 1u << j;
    }
    marks.set(r, bits);
  }
  // Few scores reach the bound: most warps have none.
  u32 local[kFilterRows];
  u32 sum = 0;
  bool some = __any_sync(kFull, marks.words[0]);
  if (some) sum = marks.count(local);
  if (lane_id() == 0) warp_sums[warp_id()] = sum;
  __syncthreads();
  u32 all;
  u32 mine = sum_before(warp_sums, all);
  if (warp_id() == 0) {
    u64 p = look_back(states, blockIdx.x, all);
    if (lane_id() == 0) prefix = p;
  }
  __syncthreads();
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0) state->gathered = (u32)(prefix + all);
  if (!some) return;
#pragma unroll
  for (u32 r = 0; r < kFilterRows; r++) {
    u64 to = prefix + mine + local[r];
#pragma unroll
    for (u32 j = 0; j < kRow; j++)
      if (marks.has(r, j)) {
        if (to < room) out[to] = key_of(v[r][j], first + r * (kWarp * kRow) + j);
        to++;
      }
  }
}

KERNEL __launch_bounds__(kThreads)
topk_count(const u32* __restrict__ scores, u64 n, const u64* __restrict__ some, u32 room, const State* state, u32 k, u32* bins,
           u32 shift, u32 bits, u32 known) {
  __shared__ u32 local[kBins];
  for (u32 i = threadIdx.x; i < kBins; i += kThreads) local[i] = 0;
  __syncthreads();
  Source source(scores, n, some, room, state, k);
  u32 found = state->found;
  constexpr u32 kBatch = kThreads * 16;
  for (u64 base = (u64)blockIdx.x * kBatch; base < source.n; base += (u64)gridDim.x * kBatch)
#pragma unroll
    for (u32 r = 0; r < 4; r++)
      source.four(base + (r * kThreads + threadIdx.x) * 4, [&](u64 at, u32 o, u32) {
        // known is the mask of the bits found in earlier rounds.
        bool in = at < source.n && (o & known) == found;
        u32 bin = (o >> shift) & ((1u << bits) - 1);
        u32 bin0 = __shfl_sync(kFull, bin, 0);
        if (__all_sync(kFull, in && bin == bin0)) {
          if (lane_id() == 0) atomicAdd(&local[bin], kWarp);
        } else if (in) {
          atomicAdd(&local[bin], 1u);
        }
      });
  __syncthreads();
  for (u32 i = threadIdx.x; i < kBins; i += kThreads)
    if (local[i]) atomicAdd(&bins[i], local[i]);
}

// Finds the bin that contains the k-th score, and clears the bins. One block.
KERNEL __launch_bounds__(kThreads) topk_pick(State* state, u32* bins, u32 shift, u32 k) {
  __shared__ u32 warp_sums[kWarps];
  // k is 0 after the first round.
  u32 wanted = k ? k : state->wanted, found = state->found;
  pick_bin<kThreads>(bins, wanted, warp_sums, [&](u32 bin, u32 above, u32) {
    state->found = found | bin << shift;
    state->wanted = wanted - above;
  });
  __syncthreads();
  for (u32 i = threadIdx.x; i < kBins; i += kThreads) bins[i] = 0;
}

// Gathers the k best scores, as keys. words holds the ticket, then a word per tile.
KERNEL __launch_bounds__(kThreads)
topk_gather(const u32* __restrict__ scores, u64 n, const u64* __restrict__ some, u32 room, const State* state, u32 k, u64* out,
            u64* words) {
  __shared__ u64 warp_sums[kWarps];
  __shared__ u64 prefix;
  __shared__ u32 ticket;
  u32* tickets = (u32*)words;
  u64* states = words + 1;
  Source source(scores, n, some, room, state, k);
  u32 found = state->found, wanted = state->wanted;
  u32 tiles = (u32)((source.n + kTile - 1) / kTile);
  for (;;) {
    if (threadIdx.x == 0) ticket = atomicAdd(tickets, 1u);
    __syncthreads();
    u32 tile = ticket;
    if (tile >= tiles) return;
    u64 first = (u64)tile * kTile + warp_id() * (kWarp * kRow * kRows) + lane_id() * kRow;
    u32 o[kRows][kRow];
    u64 before[kRows];
    u64 sum = 0;
    // Two counts in one word: scores above the k-th in the upper bits, scores equal to it in the
    // lower 31.
#pragma unroll
    for (u32 r = 0; r < kRows; r++) {
      u64 row = 0;
      source.four(first + r * (kWarp * kRow), [&](u64 at, u32 score, u32 j) {
        o[r][j] = score;
        if (at < source.n) row += score > found ? 1ull << 31 : score == found;
      });
      u64 u = warp_inclusive(row);
      before[r] = sum + u - row;
      sum += __shfl_sync(kFull, u, kWarp - 1);
    }
    if (lane_id() == 0) warp_sums[warp_id()] = sum;
    __syncthreads();
    u64 mine = 0, all = 0;
#pragma unroll
    for (u32 w = 0; w < kWarps; w++) {
      if (w < warp_id()) mine += warp_sums[w];
      all += warp_sums[w];
    }
    if (warp_id() == 0) {
      u64 p = look_back(states, tile, all);
      if (lane_id() == 0) prefix = p;
    }
    __syncthreads();
    mine += prefix;
#pragma unroll
    for (u32 r = 0; r < kRows; r++) {
      u64 at = first + r * (kWarp * kRow);
      u64 run = mine + before[r];
#pragma unroll
      for (u32 j = 0; j < kRow; j++) {
        if (at + j >= source.n) continue;
        if (o[r][j] > found) {
          out[run >> 31] = source.key(at + j, o[r][j]);
          run += 1ull << 31;
        } else if (o[r][j] == found) {
          u32 place = (u32)run & 0x7fffffffu;
          if (place < wanted) out[k - wanted + place] = source.key(at + j, o[r][j]);
          run++;
        }
      }
    }
  }
}

INLINE void split(u64 key, u32* score, u32* number) {
  *score = unordered(~(u32)(key >> 32));
  *number = (u32)key;
}

// Splits sorted keys into scores and numbers.
KERNEL __launch_bounds__(kThreads) topk_split(const u64* __restrict__ keys, u32* scores, u32* numbers, u32 k) {
  u32 i = blockIdx.x * kThreads + threadIdx.x;
  if (i < k) split(keys[i], scores + i, numbers + i);
}

constexpr u32 kSmall = 4096;

// Sorts up to 4,096 keys (bitonic sort) and splits them, in one block: the dozen launches of a
// radix sort would cost more than the rest of a query.
KERNEL __launch_bounds__(kSampleThreads) topk_finish(const u64* __restrict__ keys, u32* scores, u32* numbers, u32 k) {
  __shared__ u64 sorted[kSmall];
  u32 size = kWarp;
  while (size < k) size *= 2;
  for (u32 i = threadIdx.x; i < size; i += kSampleThreads) sorted[i] = i < k ? keys[i] : ~0ull;
  __syncthreads();
  for (u32 run = 2; run <= size; run *= 2)
    for (u32 d = run / 2; d > 0; d /= 2) {
      for (u32 i = threadIdx.x; i < size / 2; i += kSampleThreads) {
        u32 a = 2 * i - (i & (d - 1)), b = a + d;  // the pairs at distance d
        u64 x = sorted[a], y = sorted[b];
        if ((x > y) == ((a & run) == 0)) sorted[a] = y, sorted[b] = x;
      }
      __syncthreads();
    }
  for (u32 i = threadIdx.x; i < k; i += kSampleThreads) split(sorted[i], scores + i, numbers + i);
}
