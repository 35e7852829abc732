// Many queries at once: see batch.cuh.
//
//   batch_short  queries that a rare word decides
//   batch_plan   weights, cut and items of each other query
//   batch_items  the order of all items
//   batch_sums   scores that can win, for queries whose lists are all added up;
//                batch_sums_any for any model
//   batch_pairs  documents that can win, for queries that read two long lists
//   batch_score  scores that can win, for BM25; batch_score_any for any model
//   batch_pick   the k best of them in order; batch_pick_many if there are many
#include "pairs.cuh"
#include "short.cuh"
#include "sums.cuh"

constexpr u32 kPlanThreads = 128;
// The counters before those of the levels: items, items of batch_pairs, items taken, queries that
// are added up.
constexpr u32 kTotals = 4;
constexpr u32 kNoLevel = 63;
// A query of batch_pairs has at most 2^6 items.
constexpr u32 kFoundLevel = 6;
constexpr u32 kItemThreads = 512;
constexpr u32 kItemQueries = 32;   // queries of a block that orders items
constexpr u32 kMostSpan = 31 * kSubs;  // most parts of tiles in a window: a lane has a tile

// Stored in place of the number of answers, as in lane.go: too many documents could win; the
// guessed cut was too high.
constexpr u32 kTooMany = 0xffffffffu;
constexpr u32 kWrong = 0xfffffffeu;

// A block per query, then a warp per query.
KERNEL __launch_bounds__(kShortThreads)
batch_short(const u8* __restrict__ plan, const Term* __restrict__ known, u32 tiles, const u16* __restrict__ offsets, const u8* __restrict__ tfs,
            const u32* __restrict__ extra, const u32* __restrict__ lengths, const u32* __restrict__ starts, const uint2* __restrict__ maps, u64* outs) {
  __shared__ ShortDesk desk;
  ManyPlan p(plan);
  Lists l{tiles, offsets, nullptr, tfs, nullptr, extra, lengths, starts, maps};
  u32 some = p.head->some;
  if (blockIdx.x < some) {
    const Asked q = p.queries[2 * p.head->room - 1 - blockIdx.x];
    fetch_terms(desk.some.terms, known, p.words + q.first, q.terms, threadIdx.x, kShortThreads);
    if (threadIdx.x == 0) desk.some.held = 0;
    __syncthreads();
    if (threadIdx.x < q.terms) double_term(desk.some.terms[threadIdx.x], p.words[q.first + threadIdx.x]);
    __syncthreads();
    answer_some(desk.some.terms, desk.some.keys, desk.some.docs, &desk.some.held, q, l, outs + q.out);
    return;
  }
  u32 i = (blockIdx.x - some) * (kShortThreads / kWarp) + warp_id();
  if (i >= p.head->few) return;
  const Asked q = p.queries[p.head->room + i];
  auto& mine = desk.few[warp_id()];
  fetch_terms(mine.terms, known, p.words + q.first, q.terms, lane_id(), kWarp);
  __syncwarp();
  if (lane_id() < q.terms) double_term(mine.terms[lane_id()], p.words[q.first + lane_id()]);
  __syncwarp();
  answer_few(mine.terms, mine.keys, q, l, outs + q.out);
}

// A warp per query. The cut decides which lists are read, hence the number of items and the width
// of windows.
KERNEL __launch_bounds__(kPlanThreads)
batch_plan(const u8* __restrict__ plan, const Term* __restrict__ known, const Term* __restrict__ own, float docs, u32 tiles, const u32* __restrict__ counts,
           const u8* __restrict__ codes, Many* queries, Term* terms, State* states, u32* levels) {
  __shared__ Odds odds[kPlanThreads / kWarp];
  ManyPlan p(plan);
  u32 qi = blockIdx.x * (kPlanThreads / kWarp) + warp_id();
  if (qi >= p.head->longs) return;
  Term t;
  const Many q = prepare(p, qi, known, own, t);
  if (lane_id() == 0) queries[qi] = q;
  if (lane_id() < q.terms) terms[q.first + lane_id()] = t;
  u32 cut, guessed = guess(odds[warp_id()], q, t, counts, codes, docs, &cut);
  cut = cut > q.slack ? cut - q.slack : 1;
  guessed = guessed > q.slack ? guessed - q.slack : 0;
  u32 low = max_of(cut, guessed), all;
  Part part{0, 0, 0, 1, 0, 0, 256, false};
  if (lane_id() < q.terms) part.n = t.df, part.mult = t.mult;
  Whole whole{0, 0, 0};
  settle(part, q, 256, (u32)docs, low, &all, &whole);
  u32 level = 0, span = min_of(max_of((u32)((float)p.head->window * (float)(tiles * kSubs) / max_of(whole.read, 1.0f)), 1u), kMostSpan);
  float cost = whole.cost;
  while (level < q.level && whole.cost > (float)p.head->item) level++, whole.cost *= 0.5f;
  // Two long lists of which most postings are needed go to batch_pairs.
  u32 reads = __ballot_sync(kFull, part.read), pairs = 0;
  if (__popc(reads) == 2 && !q.need && low > 1 && whole.read >= (float)p.head->thick && whole.pass >= 0.5f * whole.read &&
      !__any_sync(kFull, part.read && t.row == kSparse))
    pairs = kPairs | min_of(31u - __clz(tiles), q.level), level = min_of(q.level, kFoundLevel);
  // Adding up all postings costs less if very many documents would be looked up.
  bool sums = q.terms > 1 && !q.need && !pairs && cost > cost_of_sums(p, q, (float)warp_sum(part.n), tiles);
  if (lane_id() == 0) {
    State& s = states[qi];
    s.planned = guessed > cut, s.cut = s.live = low, s.picked = level | pairs & kPairs, s.spare = pairs ? reads : span;
    levels[kTotals + qi] = sums ? kNoLevel : level | pairs << 8;
    if (sums) levels[kTotals + p.head->longs + atomicAdd(&levels[kTotals - 1], 1u)] = qi;
  }
}

// Orders the items so that queries advance evenly: when a share of one query's items is done, so is
// the same share of the others, and their cuts are known. There are as many rounds as the query
// with most items has. In each round, queries with more items come first. The blocks of a column
// share the items of their queries.
KERNEL __launch_bounds__(kItemThreads)
batch_items(const u8* __restrict__ plan, u32* levels, u32* items) {
  // The number of queries of each level: of all, and of those before the block's. The second half
  // counts those of batch_pairs.
  __shared__ u32 having[2 * kLevels], before[2 * kLevels];
  u32 n = ((const Head*)plan)->longs, first = blockIdx.x * kItemQueries;
  if (threadIdx.x < 2 * kLevels) having[threadIdx.x] = before[threadIdx.x] = 0;
  __syncthreads();
  for (u32 i = threadIdx.x; i < (n + kWarp - 1) / kWarp * kWarp; i += kItemThreads) {
    u32 level = i < n ? levels[kTotals + i] : kNoLevel, same = warp_match<6>(level & 63), pairs = level >> 8;
    if ((level & 63) != kNoLevel && (same & lanes_below()) == 0) {
      atomicAdd(&having[level & 63], (u32)__popc(same));
      if (i < first) atomicAdd(&before[level & 63], (u32)__popc(same));
    }
    if (pairs) {
      atomicAdd(&having[kLevels + pairs % kPairs], 1u);
      if (i < first) atomicAdd(&before[kLevels + pairs % kPairs], 1u);
    }
  }
  __syncthreads();
  u32 known = first + lane_id() < n ? levels[kTotals + first + lane_id()] : kNoLevel, mine = known & 63, pairs = known >> 8, total = 0, more = 0;
  u32 rank = __popc(warp_match<6>(mine) & lanes_below()), at_pairs = 0, same = warp_match<6>(pairs);
  if (mine != kNoLevel) rank += before[mine];
  if (pairs) at_pairs = (__popc(same & lanes_below()) + before[kLevels + pairs % kPairs]) << pairs % kPairs;
  for (u32 l = 0; l < kLevels; l++) {
    if (l > mine) rank += having[l];
    if (l > pairs % kPairs) at_pairs += having[kLevels + l] << l;
    total += having[l] << l, more += having[kLevels + l] << l;
  }
  if (blockIdx.x + blockIdx.y == 0 && threadIdx.x == 0) levels[0] = total, levels[1] = more, levels[2] = 0;
  // Warps per query.
  u32 warps = kItemThreads / kWarp, share = max_of(warps * gridDim.y / kItemQueries, 1u);
  for (u32 x = warp_id() + warps * blockIdx.y; x < kItemQueries * share; x += warps * gridDim.y) {
    u32 who = x % kItemQueries, level = __shfl_sync(kFull, mine, who), base = __shfl_sync(kFull, rank, who), each = 0;
    u32 as_pairs = __shfl_sync(kFull, pairs, who), base_pairs = total + __shfl_sync(kFull, at_pairs, who);
    if (first + who >= n || level == kNoLevel) continue;
    // The number of items that queries with at least as many items have before each of these.
    for (u32 l = level; l < kLevels; l++) each += having[l] << (l - level);
    for (u32 i = lane_id() + x / kItemQueries * kWarp; i < 1u << level; i += kWarp * share) {
      u32 at = base + i * each;
      for (u32 l = 0; l < level; l++) at += having[l] * ((i + (1u << (level - l)) - 1) >> (level - l));
      items[at] = (first + who) << kLevels | i;
    }
    if (as_pairs)
      for (u32 i = lane_id() + x / kItemQueries * kWarp; i < 1u << as_pairs % kPairs; i += kWarp * share) items[base_pairs + i] = (first + who) << kLevels | i;
  }
}

// A block per part of a tile. Queries advance evenly.
#define SUMS(name, usual) \
  KERNEL __launch_bounds__(kSumThreads, 12) \
  name(const Many* __restrict__ queries, const Term* __restrict__ words, u32 tiles, const u16* __restrict__ offsets, const u8* __restrict__ codes, \
       const u8* __restrict__ tfs, const u8* __restrict__ maxes, const u32* __restrict__ extra, const u32* __restrict__ lengths, const u32* __restrict__ starts, const uint2* __restrict__ maps, \
       const u32* __restrict__ levels, u32 longs, State* states, u32* hists, u64* keys) { \
    __shared__ SumDesk d; \
    u32 n = levels[kTotals - 1]; \
    u64 count = (u64)n * tiles * kSubs; \
    if (blockIdx.x >= count) return; \
    lay_out(d); \
    Lists l{tiles, offsets, codes, tfs, maxes, extra, lengths, starts, maps}; \
    for (u64 at = blockIdx.x; at < count; at += gridDim.x) { \
      u32 qi = levels[kTotals + longs + (u32)(at % n)]; \
      const Many& q = queries[qi]; \
      add_part<usual>(d, q, words + q.first, l, (u32)(at / n), states + qi, hists + (u64)qi * kManyBins, keys + q.keys); \
    } \
  }
SUMS(batch_sums, true)
SUMS(batch_sums_any, false)

template <bool Usual>
INLINE void score_items(Desk& d, const Many* __restrict__ queries, const Term* __restrict__ words, const Lists& l, u32* levels, const u32* items, State* states, u32* hists, u64* keys) {
  for (u32 i = lane_id(); i < kTile / 32; i += kWarp) d.bits[i] = 0;
  if (lane_id() == 0) d.held = 0;
  if (blockIdx.x + threadIdx.x == 0) levels[kTotals - 1] = 0;  // for the next batch
  __syncwarp();
  u32 count = levels[0], warps = gridDim.x * (kManyThreads / kWarp), next = 0;
  for (u32 at = blockIdx.x * (kManyThreads / kWarp) + warp_id(); at < count; at = __shfl_sync(kFull, next, 0)) {
    u32 item = items[at], qi = item >> kLevels, i = item & ((1u << kLevels) - 1);
    const Many& q = queries[qi];
    const Term* terms = words + q.first;
    State* state = states + qi;
    u32 level = state->picked, span = state->spare;
    if (level & kPairs) {
      score_found<Usual>(q, terms, l, i, level & kPairs - 1, cut_now(state), state, hists + (u64)qi * kManyBins, keys + q.keys);
    } else {
      u32 subs = l.tiles * kSubs, to = (u32)((u64)subs * (i + 1) >> level), scored = 0;
      for (u32 sub = (u32)((u64)subs * i >> level); sub < to; sub += span) {
        u32 end = min_of(sub + span, to), cut = cut_now(state), all = 0;
        Part part{0, 0, 0, 1, 0, 0, 256, false};
        if (lane_id() < q.terms) part = part_of(l, terms[lane_id()], sub, end);
        u32 best = best_of(l, q, terms, sub / kSubs, (end - 1) / kSubs + 1);
        if (!settle(part, q, best, (end - sub) << kSubBits, cut, &all)) continue;
        scored++;
        u32* hist = hists + (u64)qi * kManyBins;
        scan_window<Usual>(d, q, terms, l, part, all, sub, end, cut, state, hist, keys + q.keys);
      }
      if (scored && lane_id() == 0) atomicAdd(&state->scored, scored);
    }
    // The next item is the first that no warp has taken. It is not taken earlier, because it would
    // then wait for an item that may take ten times as long as others: the last item of a batch of
    // 4,096 queries waited 0.2 ms.
    if (lane_id() == 0) next = warps + atomicAdd(&levels[2], 1u);
  }
}

// A warp per item. More blocks per multiprocessor leave too few registers: 500 queries take 2.0 ms
// with 6 blocks, 2.4 ms with 8 and 3.2 ms with 12.
#define SCORE(name, usual) \
  KERNEL __launch_bounds__(kManyThreads, 6) \
  name(const Many* __restrict__ queries, const Term* __restrict__ words, u32 tiles, const u16* __restrict__ offsets, const u8* __restrict__ codes, \
       const u8* __restrict__ tfs, const u8* __restrict__ maxes, const u32* __restrict__ extra, const u32* __restrict__ lengths, const u32* __restrict__ starts, const uint2* __restrict__ maps, \
       u32* levels, const u32* __restrict__ items, State* states, u32* hists, u64* keys) { \
    __shared__ Desk desks[kManyThreads / kWarp]; \
    Lists l{tiles, offsets, codes, tfs, maxes, extra, lengths, starts, maps}; \
    score_items<usual>(desks[warp_id()], queries, words, l, levels, items, states, hists, keys); \
  }
SCORE(batch_score, true)
SCORE(batch_score_any, false)

// All warps read the same share of the postings; a quarter of an item is not divided further.
KERNEL __launch_bounds__(kPairThreads, 4)
batch_pairs(const Many* __restrict__ queries, const Term* __restrict__ words, u32 tiles, const u16* __restrict__ offsets, const u8* __restrict__ codes,
            const u8* __restrict__ tfs, const u8* __restrict__ maxes, const u32* __restrict__ extra, const u32* __restrict__ lengths, const u32* __restrict__ starts, const uint2* __restrict__ maps,
            u32* levels, const u32* __restrict__ items, State* states, u32* hists, u64* keys) {
  __shared__ __align__(16) u8 bytes[kPairThreads / kWarp * kPairDocs];
  u32 count = 4 * levels[1], warps = gridDim.x * (kPairThreads / kWarp), me = blockIdx.x * (kPairThreads / kWarp) + warp_id(), base = warp_id() * kPairDocs;
  u32 at = (u32)((u64)count * me / warps), end = (u32)((u64)count * (me + 1) / warps);
  if (at == end) return;
  items += levels[0];
#pragma unroll
  for (u32 i = 0; i < kPairDocs / 16 / kWarp; i++) ((uint4*)(bytes + base))[i * kWarp + lane_id()] = make_uint4(0, 0, 0, 0);
  __syncwarp();
  Lists l{tiles, offsets, codes, tfs, maxes, extra, lengths, starts, maps};
  while (at < end) {
    u32 item = items[at / 4], qi = item >> kLevels, i = 4 * (item & ((1u << kLevels) - 1)) + at % 4;
    const Many& q = queries[qi];
    const Term* terms = words + q.first;
    State* state = states + qi;
    u32 reads = state->spare, level = (levels[kTotals + qi] >> 8 & kPairs - 1) + 2, n = min_of(end - at, (1u << level) - i);
    const Term &s = terms[__ffs(reads) - 1], &t = terms[31 - __clz(reads)];
    Long a{s.pos, s.row, s.mult}, b{t.pos, t.row, t.mult};
    u32 unread = warp_sum(lane_id() < q.terms && !(reads >> lane_id() & 1) ? terms[lane_id()].mult * 256 : 0), parts = tiles * (kSubs / kPairSubs);
    u32 from = (u32)((u64)parts * i >> level), to = (u32)((u64)parts * (i + n) >> level);
    if (from < to) read_parts(bytes, base, q, a, b, l, cut_now(state) - unread, from, to, state, keys + q.keys);
    if (lane_id() == 0) atomicAdd(&state->scored, n);
    at += n;
  }
}

// A block per query. Keys that can no longer win are dropped first, which leaves few to sort.
template <u32 Threads> INLINE void choose(u64* sorted, const Many* __restrict__ queries, State* states, u32* hists, const u64* keys, u64* outs) {
  __shared__ u32 found, low;
  const Many& q = queries[blockIdx.x];
  State* state = states + blockIdx.x;
  u32* hist = hists + (u64)blockIdx.x * kManyBins;
  const u64* mine = keys + q.keys;
  u64* out = outs + q.out;
  u32 n = state->keys;
  bool pairs = state->picked & kPairs;
  if (n > room_of(q, state->picked) || pairs && state->cands > most_found(q)) {
    if (threadIdx.x == 0) out[0] = (u64)n << 32 | kTooMany;
  } else {
    if (warp_id() == 0) {
      u32 cut = max_of(state->cut, raise_many(q, state, hist));
      if (lane_id() == 0) low = cut, found = 0;
    }
    __syncthreads();
    for (u32 i = threadIdx.x; i < n; i += Threads) {
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
      for (u32 i = some + threadIdx.x; i < size; i += Threads) sorted[i] = 0;
      __syncthreads();
      sort_keys<Threads>(sorted, size);
      for (u32 i = threadIdx.x; i < k; i += Threads) out[2 + i] = hit_of(sorted[i]);
      // Documents below the guessed cut were left out. If some of these answers are below it, too,
      // the guess was too high.
      bool proven = !state->planned || k == q.k && __uint_as_float((u32)(sorted[k - 1] >> 32)) * q.scale >= (float)state->live + 2.0f * (float)q.slack;
      if (threadIdx.x == 0) out[0] = (u64)state->cands << 32 | (proven ? k : kWrong), out[1] = (u64)state->scored << 32 | n;
    } else {
      Query whole;
      whole.k = q.k, whole.out = q.out;
      __syncthreads();
      pick_best<Threads>(whole, sorted, state, mine, outs);
      for (u32 i = threadIdx.x; i < q.k; i += Threads) out[2 + i] = hit_of(sorted[i]);
      if (threadIdx.x == 0 && state->planned && low <= state->live) out[0] = kWrong;
    }
  }
  __syncthreads();
  if (threadIdx.x == 0) *state = State{};
  for (u32 i = threadIdx.x; i < kManyBins; i += Threads) hist[i] = 0;
}

#define PICK(name, threads) \
  KERNEL __launch_bounds__(threads) \
  name(const Many* __restrict__ queries, State* states, u32* hists, const u64* keys, u64* outs) { \
    __shared__ u64 sorted[kSmall]; \
    choose<threads>(sorted, queries, states, hists, keys, outs); \
  }
PICK(batch_pick, 128)
PICK(batch_pick_many, 512)
