// Many queries at once: see batch.cuh.
//
//   batch_plan   what is known of each query beforehand, and the order of all items
//   batch_score  scores that can win
//   batch_pick   the k best of them in order
#include "batch.cuh"

constexpr u32 kPlanThreads = 128;
constexpr u32 kChooseThreads = 128;

// Instead of a number of answers: too many documents could win; the guessed cut was too high. As in gpu_many.go.
constexpr u32 kTooMany = 0xffffffffu;
constexpr u32 kWrong = 0xfffffffeu;

// A warp a query.
KERNEL __launch_bounds__(kPlanThreads)
batch_plan(const u8* __restrict__ plan, float docs, const u32* __restrict__ counts, const u8* __restrict__ codes, State* states, u32* items) {
  __shared__ Odds odds[kPlanThreads / kWarp];
  ManyPlan p(plan);
  u32 qi = blockIdx.x * (kPlanThreads / kWarp) + warp_id();
  if (qi >= p.head->queries) return;
  const Many& q = p.queries[qi];
  const Term* terms = p.terms + q.first;
  u32 cut, guessed = guess(odds[warp_id()], q, terms, counts, codes, docs, &cut);
  cut = cut > q.slack ? cut - q.slack : 1;
  guessed = guessed > q.slack ? guessed - q.slack : 0;
  if (lane_id() == 0) states[qi].planned = guessed > cut, states[qi].cut = states[qi].live = max_of(cut, guessed);
  for (u32 i = lane_id(); i < 1u << q.level; i += kWarp) items[place_of(*p.head, q.rank, q.level, i)] = qi << kLevels | i;
}

// A warp an item. More blocks to a multiprocessor leave too few registers: with 6 of them 500 queries take 2.0 ms, with 8 2.4, with 12 3.2.
KERNEL __launch_bounds__(kManyThreads, 6)
batch_score(const u8* __restrict__ plan, u32 count, u32 tiles, const u16* __restrict__ offsets, const u8* __restrict__ codes, const u8* __restrict__ tfs,
            const u8* __restrict__ maxes, const u32* __restrict__ extra, const u32* __restrict__ lengths, const u32* __restrict__ starts,
            const u32* __restrict__ items, State* states, u32* hists, u64* keys) {
  __shared__ Desk desks[kManyThreads / kWarp];
  Desk& d = desks[warp_id()];
  for (u32 i = lane_id(); i < kTile / 32; i += kWarp) d.bits[i] = 0;
  if (lane_id() == 0) d.held = 0;
  __syncwarp();
  ManyPlan p(plan);
  Lists l{tiles, offsets, codes, tfs, maxes, extra, lengths, starts};
  u32 warps = gridDim.x * (kManyThreads / kWarp);
  for (u32 at = blockIdx.x * (kManyThreads / kWarp) + warp_id(); at < count; at += warps) {
    u32 item = items[at], qi = item >> kLevels, i = item & ((1u << kLevels) - 1);
    const Many& q = p.queries[qi];
    const Term* terms = p.terms + q.first;
    State* state = states + qi;
    u32 subs = tiles * kSubs, to = (u32)((u64)subs * (i + 1) >> q.level), scored = 0;
    for (u32 sub = (u32)((u64)subs * i >> q.level); sub < to; sub += q.span) {
      u32 end = min_of(sub + q.span, to), cut = cut_now(state), all = 0;
      Part part{0, 0, 0, 1, 0, 0, 256, false};
      if (lane_id() < q.terms) part = part_of(l, terms[lane_id()], sub, end);
      u32 best = best_of(l, q, terms, sub / kSubs, (end - 1) / kSubs + 1);
      if (!settle(part, q, best, (end - sub) << kSubBits, cut, &all)) continue;
      scored++;
      scan_window(d, q, terms, l, part, all, sub, end, cut, state, hists + (u64)qi * kManyBins, keys + q.keys);
    }
    if (scored && lane_id() == 0) atomicAdd(&state->scored, scored);
  }
}

// A block a query. What can no longer win is left out first: then few are left to sort.
KERNEL __launch_bounds__(kChooseThreads)
batch_pick(const u8* __restrict__ plan, State* states, u32* hists, const u64* keys, u64* outs) {
  __shared__ u64 sorted[kSmall];
  __shared__ u32 found, low;
  ManyPlan p(plan);
  const Many& q = p.queries[blockIdx.x];
  State* state = states + blockIdx.x;
  u32* hist = hists + (u64)blockIdx.x * kManyBins;
  const u64* mine = keys + q.keys;
  u64* out = outs + q.out;
  u32 n = state->keys;
  if (n > q.cap) {
    if (threadIdx.x == 0) out[0] = (u64)n << 32 | kTooMany;
  } else {
    if (warp_id() == 0) {
      u32 cut = max_of(state->cut, raise_many(q, state, hist));
      if (lane_id() == 0) low = cut, found = 0;
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < n; i += kChooseThreads) {
      u64 x = mine[i];
      if (__uint_as_float((u32)(x >> 32)) * q.scale < (float)low && low > 1) continue;
      u32 to = atomicAdd(&found, 1u);
      if (to < kSmall) sorted[to] = x;
    }
    __syncthreads();
    u32 some = found;
    if (some <= kSmall) {
      u32 size = kWarp, k = min_of(some, q.k);
      while (size < some) size *= 2;
      for (u32 i = some + threadIdx.x; i < size; i += kChooseThreads) sorted[i] = 0;
      __syncthreads();
      sort_keys<kChooseThreads>(sorted, size);
      for (u32 i = threadIdx.x; i < k; i += kChooseThreads) out[2 + i] = sorted[i];
      // What was left out is below the cut that was guessed. So are some of these: then the guess was too high.
      bool proven = !state->planned || k == q.k && __uint_as_float((u32)(sorted[k - 1] >> 32)) * q.scale >= (float)state->live + 2.0f * (float)q.slack;
      if (threadIdx.x == 0) out[0] = (u64)state->cands << 32 | (proven ? k : kWrong), out[1] = (u64)state->scored << 32 | n;
    } else {
      Query whole;
      whole.k = q.k, whole.out = q.out;
      __syncthreads();
      pick_best<kChooseThreads>(whole, sorted, state, mine, outs);
      if (threadIdx.x == 0 && state->planned && low <= state->live) out[0] = kWrong;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) *state = State{};
  for (u32 i = threadIdx.x; i < kManyBins; i += kChooseThreads) hist[i] = 0;
}
