// A query of one or two words in one launch. It begins with a cut that is proven, or guessed from
// the number of postings with each code. A guess is proven at the end, if k documents have at least
// that score. So the cut is known from the start. A posting can belong to a winner only if its code
// and the best code of the other list in the tile together reach the cut. Codes are compared four
// at a time, and of most postings nothing else is read.
//
// A warp processes a tile independently of others. Postings of the first list that pass set a bit
// in shared memory, which postings of the second list test. The few documents found are scored
// exactly, one per lane. The last block picks the best. The code is kept short: the kernel runs for
// a few microseconds, a part of which is spent loading its instructions.
#include "pick.cuh"

extern __shared__ uint4 memory[];

constexpr u32 kPairWarps = 24, kPairThreads = kPairWarps * kWarp;
constexpr u32 kBitWords = kTile / 32;
constexpr u32 kFound = 128;            // documents that a warp keeps before it scores them
// Postings that a warp keeps before it reads their documents.
constexpr u32 kPassed = 768;
constexpr u32 kRead = 16 * kWarp;      // postings that a warp reads together
constexpr u32 kPairKeys = 4096;        // documents to pick from
// Stored in place of a result if the guess was wrong, or too many documents could win.
constexpr u64 kUnfinished = ~0ull;

// Laid out as gpuPair in pair.go. The word of a one-word query is the second; the first list is
// empty.
struct Pair {
  Term terms[2];
  u32 lists, k, model, need;
  u32 low;        // sums below this cannot win
  u32 least;      // the guess, as bits of a score: the k best must not be below it
  u32 cap, most;  // space for keys; the largest possible score, as bits
  u32 alone[2];      // codes that win alone; 256 if none does
  float inverse[2];  // 1/mult, rounded down
};

#define PAIR_WORDS \
  u64 w0, u64 w1, u64 w2, u64 w3, u64 w4, u64 w5, u64 w6, u64 w7, u64 w8, u64 w9, u64 w10, u64 w11, \
  u64 w12, u64 w13, u64 w14, u64 w15, u64 w16, u64 w17, u64 w18, u64 w19, u64 w20, u64 w21, u64 w22, u64 w23, \
  u64 w24, u64 w25
#define PAIR_PUT(to) \
  to[0] = w0; to[1] = w1; to[2] = w2; to[3] = w3; to[4] = w4; to[5] = w5; to[6] = w6; to[7] = w7; \
  to[8] = w8; to[9] = w9; to[10] = w10; to[11] = w11; to[12] = w12; to[13] = w13; to[14] = w14; to[15] = w15; \
  to[16] = w16; to[17] = w17; to[18] = w18; to[19] = w19; to[20] = w20; to[21] = w21; to[22] = w22; to[23] = w23; \
  to[24] = w24; to[25] = w25;
static_assert(sizeof(Pair) == 26 * 8, "as gpuPair");

// Tests which codes are at least h.
struct Sieve {
  u32 add, any;
  INLINE Sieve(u32 h) : add(((h <= 128 ? 128 : 256) - h) * 0x01010101), any(h <= 128 ? ~0u : 0) {}
  // The top bit of each byte that passes.
  static INLINE u32 of(u32 x, u32 add, u32 any) {
    u32 s = (x & 0x7f7f7f7f) + add;
    return (s & x | any & (s | x)) & 0x80808080;
  }
};

// A code below which no posting reaches the cut, even with the best code of the other list: at most
// the largest c with c*mult + other < low.
INLINE u32 least_code(u32 low, u32 other, float inverse) { return other >= low ? 0 : min_of((u32)(__uint2float_rz(low - other - 1) * inverse), 256u); }

// A list in a tile.
struct Part {
  u64 base;           // a multiple of 16 at or before the list's first posting
  u32 from, skip, n;  // the list's first posting; postings between base and it; length
  u32 best;           // the score of its best code
};

// The arrays of the index.
struct Store {
  u32 tiles;
  const u8* __restrict__ maxes;
  const u16* __restrict__ offsets;
  const u8* __restrict__ codes;
  const u32* __restrict__ starts;
  const u8* __restrict__ tfs;
  const u32* __restrict__ extra;
  const u32* __restrict__ lengths;
};

INLINE Part part_of(const Term& t, u32 tile, const Store& st) {
  Part p;
  const u32* row = st.starts + (u64)t.row * (st.tiles * kSubs + 1) + tile * kSubs;
  p.from = row[0], p.n = row[kSubs] - p.from;
  u32 most = st.maxes[(u64)t.row * st.tiles + tile];
  p.best = (most + most / 255) * t.mult;
  u64 pos = t.pos + p.from;
  p.skip = (u32)pos & 15;
  p.base = pos - p.skip;
  return p;
}

// A document that was found: the posting's number in the tile's part of a list, whether that is the
// first list, and whether both have the document.
INLINE u16 found_of(u32 number, bool first, bool both) { return (u16)(number | (u32)first << 14 | (u32)both << 15); }

// Scores documents that were found, one per lane, and keeps those that can win.
INLINE void score_found(const Pair& pair, const Store& st, const Part& p0, const Part& p1, u32 tile, const u16* found, u32 count, State* state, u64* keys) {
#pragma unroll 1
  for (u32 i = lane_id(); i < count; i += kWarp) {
    u32 e = found[i];
    bool first = e >> 14 & 1, both = e >> 15;
    const Term* t = pair.terms + (first ? 0 : 1);
    u32 at = (first ? p0.from : p1.from) + (e & (kTile - 1)), at0 = 0, off = st.offsets[t->pos + at];
    u32 doc = tile << kTileBits | off, length = st.lengths[doc];
    u32 tf = frequency(*t, st.tfs, st.extra, at);
    if (both) {
      const Term& t0 = pair.terms[0];
      const u32* row = st.starts + (u64)t0.row * (st.tiles * kSubs + 1) + (doc >> kSubBits);
      at0 = lower_bound(st.offsets + t0.pos, row[0], row[1], off);
      if ((st.codes[t->pos + at] + 1) * t->mult + (st.codes[t0.pos + at0] + 1) * t0.mult < pair.low) continue;
    }
    float score = 0;
#pragma unroll 1
    for (;;) {
      score += score_of(pair.model, *t, tf, length);
      if (!both) break;
      both = false, t = pair.terms, tf = frequency(*t, st.tfs, st.extra, at0);
    }
    if (__float_as_uint(score) < pair.least) continue;
    u32 to = atomicAdd(&state->keys, 1u);
    if (to < pair.cap) keys[to] = (u64)__float_as_uint(score) << 32 | (u32)~doc;
    __threadfence();
  }
}

// The working memory of a warp: a bit per document of a tile, postings that passed, documents
// found.
struct Desk {
  u32* bits;
  u16* passed;
  u16* found;
};

// The best documents of a tile. Called by one warp; bits are all 0. Returns whether anything was
// read.
INLINE bool search_tile(const Pair& pair, const Store& st, u32 tile, const Desk& desk, State* state, u64* keys) {
  u32 low = pair.low;
  bool need = pair.need > 1;
  Part p1 = part_of(pair.terms[1], tile, st), p0 = p1;
  if (pair.lists > 1) p0 = part_of(pair.terms[0], tile, st); else p0.n = p0.skip = p0.best = 0;
  if (p0.best + p1.best < low || need && (p0.n == 0 || p1.n == 0)) return false;
  Sieve sieve0(least_code(low, p1.best, pair.inverse[0])), sieve1(least_code(low, p0.best, pair.inverse[1]));
  // The first list sets bits and the second tests them; documents of the first list alone are kept
  // if they can win.
  u32 rounds0 = (p0.skip + p0.n + kRead - 1) / kRead, upto1 = rounds0 + (p1.skip + p1.n + kRead - 1) / kRead;
  u32 items = upto1 + (!need && p0.best >= low ? rounds0 : 0), passed = 0, found = 0;
  uint4 next = make_uint4(0, 0, 0, 0);
  // While codes are tested, the next ones are loaded.
#pragma unroll 1
  for (u32 i = ~0u; i != items; i++) {
    uint4 now = next;
    u32 then = i + 1;
    if (then < items) {
      bool second = then >= rounds0 && then < upto1;
      u32 from = kRead * (then - (then < rounds0 ? 0 : second ? rounds0 : upto1)) + 16 * lane_id();
      if (from < (second ? p1.skip + p1.n : p0.skip + p0.n)) next = *(const uint4*)(st.codes + (second ? p1.base : p0.base) + from);
    }
    if (i == ~0u) continue;
    bool sets = i < rounds0, first = i >= upto1, second = !sets && !first;
    u32 from = kRead * (i - (sets ? 0 : first ? upto1 : rounds0)) + 16 * lane_id(), skip = second ? p1.skip : p0.skip, end = skip + (second ? p1.n : p0.n);
    u32 add = second ? sieve1.add : sieve0.add, any = second ? sieve1.any : sieve0.any;
    // Sixteen codes of a lane become as many bits; bytes outside the list are masked.
    u32 pass = 0;
    if (from < end) {
      u32 c[4] = {now.x, now.y, now.z, now.w};
#pragma unroll
      for (u32 w = 0; w < 4; w++) pass |= (Sieve::of(c[w], add, any) >> 7) * 0x10204080u >> 28 << 4 * w;
      if (end - from < 16) pass &= (1u << (end - from)) - 1;
      if (from < skip) pass &= 0xffffu << (skip - from);
    }
    u32 mine = __popc(pass), upto = warp_inclusive(mine), to = passed + upto - mine;
#pragma unroll 1
    while (pass) {
      desk.passed[to++] = (u16)(from - skip + __ffs(pass) - 1);
      pass &= pass - 1;
    }
    passed += __shfl_sync(kFull, upto, kWarp - 1);
    // There are enough, or the list ends: read their documents.
    if (passed <= kPassed - kRead && i + 1 != rounds0 && i + 1 != upto1 && i + 1 != items) continue;
    __syncwarp();
    const u16* offsets = st.offsets + (second ? p1.base + p1.skip : p0.base + p0.skip);
    const u8* codes = st.codes + (second ? p1.base + p1.skip : p0.base + p0.skip);
    u32 alone = pair.alone[second ? 1 : 0];
#pragma unroll 1
    for (u32 done = 0; done < passed || done == 0; done += kWarp) {
      bool good = false, hit = false;
      u32 number = 0;
      if (done + lane_id() < passed) {
        number = desk.passed[done + lane_id()];
        u32 off = offsets[number], bit = 1u << (off & 31);
        u32* word = desk.bits + (off >> 5);
        if (sets) {
          atomicOr(word, bit);
        } else {
          hit = atomicAnd(word, ~bit) & bit;
          good = first ? hit : true;
          if ((first || !hit) && good) good = alone < 256 && codes[number] >= alone;
        }
      }
      u32 votes = __ballot_sync(kFull, good);
      if (good) desk.found[found + __popc(votes & lanes_below())] = found_of(number, first, second && hit);
      found += __popc(votes);
      if (found > kFound - kWarp || found && i + 1 == items && done + kWarp >= passed) {
        __syncwarp();
        score_found(pair, st, p0, p1, tile, desk.found, found, state, keys);
        __syncwarp();
        found = 0;
      }
    }
    passed = 0;
    __syncwarp();
  }
  return true;
}

// The k best of at most kPairKeys keys, in order. A histogram of scores selects the keys that need
// sorting. A key's rank is the number of larger keys.
INLINE void pick_few(const Pair& pair, u32 n, u32 looked, const volatile u64* keys, u64* outs) {
  constexpr u32 kScoreBins = 512, kRanked = 1024;
  __shared__ u32 sums[kScoreBins / kWarp], edge, reach, found;
  u64* all = (u64*)memory;  // kPairKeys
  u32* bins = (u32*)(all + kPairKeys);
  u64* best = (u64*)(bins + kScoreBins);  // kRanked
  u32* places = (u32*)(best + kRanked);
  u32 k = min_of(pair.k, n), shift = 0, me = threadIdx.x;
  while ((pair.most - pair.least) >> shift >= kScoreBins) shift++;
  auto bin_of = [&](u64 x) { return min_of(((u32)(x >> 32) - pair.least) >> shift, kScoreBins - 1); };
  if (me < kScoreBins) bins[me] = 0;
#pragma unroll 1
  for (u32 i = me; i < kRanked; i += kPairThreads) places[i] = 0;
  if (me == 0) found = 0, edge = 0, reach = 0;
  __syncthreads();
#pragma unroll 1
  for (u32 i = me; i < n; i += kPairThreads) {
    u64 x = keys[i];
    all[i] = x;
    atomicAdd(&bins[bin_of(x)], 1u);
  }
  __syncthreads();
  u32 c = me < kScoreBins ? bins[kScoreBins - 1 - me] : 0, upto = warp_inclusive(c);
  if (me < kScoreBins && lane_id() == kWarp - 1) sums[warp_id()] = upto;
  __syncthreads();
  if (me < kScoreBins) {
    u32 before = lane_id() < warp_id() ? sums[lane_id()] : 0;
    upto += warp_sum(before);
    if (upto >= k && upto - c < k) edge = kScoreBins - 1 - me, reach = upto;
  }
  __syncthreads();
  if (reach <= kRanked) {
#pragma unroll 1
    for (u32 i = me; i < n; i += kPairThreads) {
      u64 x = all[i];
      if (bin_of(x) >= edge) best[atomicAdd(&found, 1u)] = x;
    }
    __syncthreads();
    // A lane holds a key, and warps share the keys it is compared with.
    u32 groups = (reach + kWarp - 1) / kWarp, shares = max_of(kPairWarps / groups, 1u);
#pragma unroll 1
    for (u32 g = warp_id(); g < groups * shares; g += kPairWarps) {
      u32 i = g / shares * kWarp + lane_id(), share = g % shares, place = 0;
      u64 x = i < reach ? best[i] : ~0ull;
#pragma unroll 4
      for (u32 j = share; j < reach; j += shares) place += best[j] > x;
      if (place) atomicAdd(&places[i], place);
    }
    __syncthreads();
    for (u32 i = me; i < reach; i += kPairThreads)
      if (places[i] < k) outs[2 + places[i]] = best[i];
  } else {
    u32 size = kWarp;
    while (size < n) size *= 2;
    for (u32 i = n + me; i < size; i += kPairThreads) all[i] = 0;
    __syncthreads();
    sort_keys<kPairThreads>(all, size);
    for (u32 i = me; i < k; i += kPairThreads) outs[2 + i] = all[i];
  }
  if (me == 0) outs[1] = (u64)looked << 32 | n, outs[0] = k;
}

KERNEL __launch_bounds__(kPairThreads, 1)
tiles_pair(PAIR_WORDS, u32 tiles, const u8* __restrict__ maxes, const u16* __restrict__ offsets, const u8* __restrict__ codes,
           const u32* __restrict__ starts, const u8* __restrict__ tfs, const u32* __restrict__ extra, const u32* __restrict__ lengths,
           State* state, u64* keys, u64* outs) {
  __shared__ Pair pair;
  __shared__ u32 looked, last;
  if (threadIdx.x == 0) {
    u64* to = (u64*)&pair;
    PAIR_PUT(to)
    looked = 0;
  }
  u32* bits = (u32*)memory + warp_id() * kBitWords;
  u16* passed = (u16*)((u32*)memory + kPairWarps * kBitWords) + warp_id() * (kPassed + kFound);
  Desk desk{bits, passed, passed + kPassed};
#pragma unroll
  for (u32 i = 0; i < kBitWords / 4; i += kWarp) ((uint4*)bits)[i + lane_id()] = make_uint4(0, 0, 0, 0);
  __syncthreads();
  Store st{tiles, maxes, offsets, codes, starts, tfs, extra, lengths};
  u32 mine = 0;
#pragma unroll 1
  for (u32 tile = blockIdx.x + warp_id() * gridDim.x; tile < tiles; tile += gridDim.x * kPairWarps) {
    mine += search_tile(pair, st, tile, desk, state, keys);
    if (tile + gridDim.x * kPairWarps < tiles) {
#pragma unroll 1
      for (u32 i = lane_id(); i < kBitWords; i += kWarp) bits[i] = 0;
      __syncwarp();
    }
  }
  if (lane_id() == 0 && mine) atomicAdd(&looked, mine);
  __syncthreads();
  if (threadIdx.x == 0) {
    // The number of blocks that are done and, in the bits above, of the tiles that they read.
    u32 was = atomicAdd(&state->picked, 1u + (looked << 12));
    last = (was & 4095) == gridDim.x - 1;
    looked += was >> 12;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  u32 n = volatile_load(&state->keys);
  if (n > pair.cap || pair.least != 0 && n < pair.k) {
    if (threadIdx.x == 0) outs[0] = kUnfinished;
  } else {
    pick_few(pair, n, looked, keys, outs);
  }
  __syncthreads();
  if (threadIdx.x == 0) *state = State{};
}
