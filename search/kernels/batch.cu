// Many queries at once: see batch.cuh.
//
//   batch_plan   what is known of each query beforehand, and the order of all items
//   batch_score  scores that can win
//   batch_pick   the k best of them in order
#include "batch.cuh"

constexpr u32 kPlanThreads = 128;
constexpr u32 kChooseThreads = 128;

// A warp a query.
KERNEL __launch_bounds__(kPlanThreads)
batch_plan(const u8* __restrict__ plan, const u32* __restrict__ counts, State* states, u32* items) {
  ManyPlan p(plan);
  u32 qi = blockIdx.x * (kPlanThreads / kWarp) + warp_id();
  if (qi >= p.head->queries) return;
  const Many& q = p.queries[qi];
  // k documents have a word with at least this code, so their scores are at least that.
  u32 cut = 0;
  if (q.need == 0)
    for (u32 i = 0; i < q.terms; i++) {
      const Term& t = p.terms[q.first + i];
      if (t.row != kSparse && t.df >= q.k) cut = max_of(cut, reached(q.k, counts + (u64)t.row * 256) * t.mult);
    }
  cut = cut > q.slack ? cut - q.slack : 1;
  if (lane_id() == 0) states[qi].cut = cut, states[qi].live = cut;
  for (u32 i = lane_id(); i < 1u << q.level; i += kWarp) items[place_of(*p.head, q.rank, q.level, i)] = qi << kLevels | i;
}

// A warp an item.
KERNEL __launch_bounds__(kManyThreads, 8)
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
    u32 from = (u32)((u64)tiles * i >> q.level), to = (u32)((u64)tiles * (i + 1) >> q.level), scored = 0;
    for (u32 some = from; some < to; some += kWarp) {
      // First a look at all tiles of the run.
      u32 mine = some + lane_id(), bound = 0, have = 0, cut = cut_now(state);
      if (mine < to)
        for (u32 t = 0; t < q.terms; t++) {
          u32 row = terms[t].row, most = row == kSparse ? 255 : maxes[(u64)row * tiles + mine];
          if (most) bound += (most + most / 255) * terms[t].mult, have++;
        }
      u32 live = __ballot_sync(kFull, mine < to && bound >= cut && have >= max_of(q.need, 1u));
      while (live) {
        u32 tile = some + __ffs(live) - 1;
        live &= live - 1;
        Part part;
        part.pos = 0, part.n = 0, part.mult = 1, part.bound = 0, part.pass = 0, part.sure = 256, part.read = false;
        u32 most = 0, all = 0;
        if (lane_id() < q.terms) part = part_of(l, terms[lane_id()], tile, &most);
        cut = max_of(cut, cut_now(state));
        if (!settle(part, q, most, cut, &all)) continue;
        scored++;
        scan_tile(d, q, terms, l, part, all, tile, cut, state, hists + (u64)qi * kManyBins, keys + q.keys);
      }
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
    if (threadIdx.x == 0) out[0] = (u64)n << 32 | kFull;  // too many
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
      if (threadIdx.x == 0) out[0] = (u64)state->cands << 32 | k, out[1] = (u64)state->scored << 32 | n;
    } else {
      Query whole;
      whole.k = q.k, whole.out = q.out;
      __syncthreads();
      pick_best<kChooseThreads>(whole, sorted, state, mine, outs);
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) *state = State{};
  for (u32 i = threadIdx.x; i < kManyBins; i += kChooseThreads) hist[i] = 0;
}
