// Dot products of whole weights. A block adds up one tile of documents for one query in shared
// memory. The package's doc.go says which kernels a query takes.
#include "warp.cuh"

constexpr u32 kThreads = 256;
constexpr u32 kWarps = kThreads / kWarp;

// As in package index: a tile, its blocks, and from how many postings a part has another form.
constexpr u32 kTileBits = 12;
constexpr u32 kTile = 1 << kTileBits;
constexpr u32 kBlock = 32;
constexpr u32 kBlocks = kTile / kBlock;
constexpr u32 kMedium = 96;
constexpr u32 kLong = kTile / 8;

constexpr u32 kPickThreads = 1024;
constexpr u32 kBins = 2048;
constexpr u32 kSort = 4096;  // candidates that are sorted here; the host sorts more

// A list of the query. If it is in tiles, at has a head for each tile and then the parts: 32 bits
// of offset, 16 of postings, 8 of the highest weight. A plain list has the first posting of each
// group of tiles, and an end; then the documents, then the weights, 2 bytes each.
struct List {
  u64 at;
  i32 factor;
  u32 n;       // postings of a plain list
  u32 shift;   // its groups are of 1 << shift tiles
  u32 unused;
};

struct Query {
  u32 first;  // its plain lists, then those in tiles
  u32 plain, tiled;
  u32 k;
  u32 shift;  // sums of 1 << shift are a bin
  u32 rank;   // the cut is where a sample has this rank
};

struct State {
  u32 cut;      // answers reach it, if there are k of them
  u32 found;    // documents that do
  u32 tiles;    // with blocks that can win
  u32 blocks;   // that can
  u32 sampled;  // tiles of the sample; 0 before and after
  u32 unused[3];
};

constexpr u32 kLists = 512;  // in tiles, of a query

// The part of a list in the tile.
struct __align__(16) Part {
  const u8* at;
  i32 factor;
  u32 count;  // postings
};

struct Tile {
  i32 sums[kTile];
  i32 bounds[kBlocks];
  u32 live[kBlocks / 32];
  i32 most;
  u32 small, big;  // short parts, which are first, and others, which are last
  Part parts[kLists];
};

INLINE void clear(Tile& t) {
  for (u32 i = threadIdx.x; i < kTile / 4; i += kThreads) ((int4*)t.sums)[i] = make_int4(0, 0, 0, 0);
  constexpr u32 kOthers = kBlocks + kBlocks / 32 + 3;  // from bounds to big
  if (threadIdx.x < kOthers) t.bounds[threadIdx.x] = 0;
  __syncwarp();
}

// Adds up the plain lists, a warp for each, and bounds their sums.
INLINE void add_plain(Tile& t, const u8* base, const List* lists, u32 n, u32 tile, u32 tiles) {
  for (u32 i = warp_id(); i < n; i += kWarps) {
    const List& l = lists[i];
    const u32* groups = (const u32*)(base + l.at);
    u32 group = tile >> l.shift, all = ((tiles - 1) >> l.shift) + 1;
    const u32* docs = groups + all + 1;
    const u16* weights = (const u16*)(docs + l.n);
    i32 most = 0;
    for (u32 j = groups[group] + lane_id(); j < groups[group + 1]; j += kWarp) {
      u32 doc = docs[j];
      if (doc >> kTileBits != tile) continue;
      i32 score = l.factor * (i32)weights[j];
      atomicAdd(&t.sums[doc % kTile], score);
      most = max_of(most, score);
    }
    __syncwarp();
    for (u32 d = kWarp / 2; d > 0; d /= 2) most = max_of(most, __shfl_xor_sync(kFull, most, d));
    if (lane_id() == 0 && most > 0) atomicAdd(&t.most, most);
  }
}

// Finds the parts of the lists that are in tiles, and bounds their sums.
INLINE void find_parts(Tile& t, const u8* base, const List* lists, u32 n, u32 tile, u32 tiles) {
  i32 most = 0;
  for (u32 i = threadIdx.x; i < n; i += kThreads) {
    const u8* at = base + lists[i].at;
    u64 head = ((const u64*)at)[tile];
    u32 count = (u32)(head >> 32) & 0xffff;
    if (count == 0) continue;
    i32 factor = lists[i].factor;
    most += factor * (i32)(head >> 48);
    u32 to = count < kMedium ? atomicAdd(&t.small, 1u) : kLists - 1 - atomicAdd(&t.big, 1u);
    t.parts[to] = {at + 8ull * tiles + (u32)head, factor, count};
  }
  if (most > 0) atomicAdd(&t.most, most);
  __syncwarp();
}

INLINE void add_postings(Tile& t, const u8* part, u32 n, i32 factor) {
  const u16* places = (const u16*)part;
  const u8* weights = part + 2 * n;
  for (u32 i = lane_id(); i < n; i += kWarp) atomicAdd(&t.sums[places[i]], factor * (i32)weights[i]);
}

// Adds up the short parts, a warp for each. The first postings of four parts are loaded before any
// is added, since loads take most of the time.
INLINE void add_short(Tile& t) {
  constexpr u32 kParts = 4, kEach = 2;
  u32 n = t.small;
  for (u32 first = warp_id(); first < n; first += kParts * kWarps) {
    u32 place[kParts][kEach], weight[kParts][kEach];
#pragma unroll
    for (u32 p = 0; p < kParts; p++) {
      u32 i = first + p * kWarps;
      const Part& part = t.parts[i];
      u32 count = i < n ? part.count : 0;
#pragma unroll
      for (u32 j = 0; j < kEach; j++) {
        u32 at = j * kWarp + lane_id();
        place[p][j] = weight[p][j] = 0;
        if (at < count) place[p][j] = ((const u16*)part.at)[at], weight[p][j] = part.at[2 * count + at];
      }
    }
#pragma unroll
    for (u32 p = 0; p < kParts; p++) {
      u32 i = first + p * kWarps;
      if (i >= n) break;
      Part part = t.parts[i];
#pragma unroll
      for (u32 j = 0; j < kEach; j++)
        if (weight[p][j]) atomicAdd(&t.sums[place[p][j]], part.factor * (i32)weight[p][j]);
      u32 at = kEach * kWarp + lane_id();
      if (at < part.count)
        atomicAdd(&t.sums[((const u16*)part.at)[at]], part.factor * (i32)part.at[2 * part.count + at]);
    }
    __syncwarp();
  }
}

// Adds a part of any form up whole.
INLINE void add_part(Tile& t, const u8* part, u32 n, i32 factor) {
  if (n >= kMedium) part += kBlocks;
  if (n < kLong) {
    add_postings(t, part, n, factor);
    return;
  }
  for (u32 j = lane_id(); j < kTile; j += kWarp)
    if (i32 w = part[j]) atomicAdd(&t.sums[j], factor * w);
}

// The cut of a query: the lowest sum of the bin with the wanted rank. The bins are cleared.
INLINE void find_cut(const Query& query, u32* bins, State* state, u32* warps) {
  constexpr u32 kEach = kBins / kThreads;
  u32* from = bins + (kThreads - 1 - threadIdx.x) * kEach;
  u32 mine[kEach], sum = 0;
  for (u32 i = 0; i < kEach; i++) sum += mine[i] = atomicExch(&from[i], 0u);
  if (threadIdx.x == 0) *state = {1, 0, 0, 0, 0, {0, 0, 0}};
  u32 upto = warp_inclusive(sum);
  if (lane_id() == kWarp - 1) warps[warp_id()] = upto;
  __syncthreads();
  for (u32 w = 0; w < warp_id(); w++) upto += warps[w];
  u32 before = upto - sum;
  if (before >= query.rank || upto < query.rank) return;
  u32 i = kEach;
  while (before < query.rank) before += mine[--i];
  u32 bin = (kThreads - 1 - threadIdx.x) * kEach + i;
  state->cut = max_of(1u, bin << query.shift);
}

// Sums of a sample of the tiles, counted in bins. The last block of a query finds its cut. allowed
// has a bit for each document that may be an answer; null means all.
KERNEL __launch_bounds__(kThreads)
impacts_sample(const List* __restrict__ lists, const Query* __restrict__ queries, u32 n, u32 tiles, u32 sample,
               const u8* __restrict__ base, const u32* __restrict__ allowed, u32* bins, State* states) {
  __shared__ Tile t;
  __shared__ u32 counts[kBins];
  __shared__ bool last;
  u32 q = blockIdx.x % n, tile = (u32)((u64)(blockIdx.x / n) * tiles / sample);
  const Query& query = queries[q];
  const List* mine = lists + query.first;
  clear(t);
  for (u32 i = threadIdx.x; i < kBins; i += kThreads) counts[i] = 0;
  __syncthreads();
  find_parts(t, base, mine + query.plain, query.tiled, tile, tiles);
  add_plain(t, base, mine, query.plain, tile, tiles);
  __syncthreads();
  add_short(t);
  for (u32 i = warp_id(); i < t.big; i += kWarps) {
    Part p = t.parts[kLists - 1 - i];
    add_part(t, p.at, p.count, p.factor);
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < kTile; i += kThreads) {
    u32 sum = t.sums[i];
    if (sum && (!allowed || allowed[(tile * kTile + i) / 32] >> i % 32 & 1)) atomicAdd(&counts[sum >> query.shift], 1u);
  }
  __syncthreads();
  bins += (u64)q * kBins;
  for (u32 i = threadIdx.x; i < kBins; i += kThreads)
    if (counts[i]) atomicAdd(&bins[i], counts[i]);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&states[q].sampled, 1u) + 1 == sample;
  __syncthreads();
  if (last) find_cut(query, bins, &states[q], counts);
}

// Adds up a medium part in the blocks that can win.
INLINE void add_live(Tile& t, const u8* part, u32 n, i32 factor) {
  constexpr u32 kAhead = 4;
  const u16* places = (const u16*)part;
  const u8* weights = part + 2 * n;
  for (u32 from = 0; from < n; from += kAhead * kWarp) {
    u32 place[kAhead], weight[kAhead];
#pragma unroll
    for (u32 j = 0; j < kAhead; j++) {
      u32 i = from + j * kWarp + lane_id();
      place[j] = weight[j] = 0;
      if (i < n) place[j] = places[i], weight[j] = weights[i];
    }
#pragma unroll
    for (u32 j = 0; j < kAhead; j++)
      if (weight[j] && t.live[place[j] / (32 * kBlock)] >> place[j] / kBlock % 32 & 1)
        atomicAdd(&t.sums[place[j]], factor * (i32)weight[j]);
  }
  __syncwarp();
}

// Adds up a long part in the blocks that can win.
INLINE void add_long(Tile& t, const u8* part, i32 factor) {
#pragma unroll
  for (u32 w = 0; w < kBlocks / 32; w++)
    for (u32 live = t.live[w]; live; live &= live - 1) {
      u32 at = (w * 32 + __ffs(live) - 1) * kBlock + lane_id();
      if (i32 weight = part[at]) atomicAdd(&t.sums[at], factor * weight);
    }
}

// The documents of all tiles whose sums reach the cut.
KERNEL __launch_bounds__(kThreads)
impacts_score(const List* __restrict__ lists, const Query* __restrict__ queries, u32 n, u32 tiles,
              const u8* __restrict__ base, const u32* __restrict__ allowed, State* states, u64* found, u32 room) {
  __shared__ Tile t;
  u32 q = blockIdx.x % n, tile = blockIdx.x / n;
  const Query& query = queries[q];
  const List* mine = lists + query.first;
  i32 need = (i32)states[q].cut;
  clear(t);
  __syncthreads();
  find_parts(t, base, mine + query.plain, query.tiled, tile, tiles);
  add_plain(t, base, mine, query.plain, tile, tiles);
  __syncthreads();
  if (t.most < need) return;
  // Short parts are added up, of the others the highest weight in each block.
  add_short(t);
  i32 bounds[4] = {0, 0, 0, 0};
  for (u32 i = warp_id(); i < t.big; i += kWarps) {
    Part p = t.parts[kLists - 1 - i];
    u32 low = ((const u16*)p.at)[2 * lane_id()], high = ((const u16*)p.at)[2 * lane_id() + 1];
    bounds[0] += p.factor * (i32)(low & 255);
    bounds[1] += p.factor * (i32)(low >> 8);
    bounds[2] += p.factor * (i32)(high & 255);
    bounds[3] += p.factor * (i32)(high >> 8);
  }
  if (warp_id() < t.big) {
#pragma unroll
    for (u32 j = 0; j < 4; j++) atomicAdd(&t.bounds[4 * lane_id() + j], bounds[j]);
  }
  __syncthreads();
  // Eight lanes find the best sum of a block.
#pragma unroll
  for (u32 i = 0; i < kTile / 4 / kThreads; i++) {
    u32 at = i * kThreads + threadIdx.x;
    int4 four = ((const int4*)t.sums)[at];
    i32 best = max_of(max_of(four.x, four.y), max_of(four.z, four.w));
#pragma unroll
    for (u32 d = 4; d > 0; d /= 2) best = max_of(best, __shfl_xor_sync(kFull, best, d));
    bool live = t.bounds[at / 8] + best >= need;
    u32 lanes = __ballot_sync(kFull, live && lane_id() % 8 == 0);
    // A warp has the bits of four blocks, at its lanes 0, 8, 16 and 24.
    u32 bits = (lanes & 1) | (lanes >> 7 & 2) | (lanes >> 14 & 4) | (lanes >> 21 & 8);
    if (lane_id() == 0 && bits) atomicOr(&t.live[at / 8 / 32], bits << at / 8 % 32);
    __syncwarp();
  }
  __syncthreads();
  if (!(t.live[0] | t.live[1] | t.live[2] | t.live[3])) return;
  if (threadIdx.x == 0) {
    atomicAdd(&states[q].tiles, 1u);
    atomicAdd(&states[q].blocks, (u32)(__popc(t.live[0]) + __popc(t.live[1]) + __popc(t.live[2]) + __popc(t.live[3])));
  }
  // The other parts are added up in the blocks that can win.
  for (u32 i = warp_id(); i < t.big; i += kWarps) {
    Part p = t.parts[kLists - 1 - i];
    if (p.count >= kLong) {
      add_long(t, p.at + kBlocks, p.factor);
    } else {
      add_live(t, p.at + kBlocks, p.count, p.factor);
    }
  }
  __syncthreads();
  // A warp has a part of the blocks.
  constexpr u32 kEach = kBlocks / kWarps;
  u32 begin = warp_id() * kEach;
  for (u32 set = t.live[begin / 32] >> begin % 32 & ((1u << kEach) - 1); set; set &= set - 1) {
    u32 in_tile = (begin + __ffs(set) - 1) * kBlock + lane_id(), doc = tile * kTile + in_tile;
    i32 sum = t.sums[in_tile];
    bool in = sum >= need && (!allowed || allowed[doc / 32] >> doc % 32 & 1);
    u32 lanes = __ballot_sync(kFull, in);
    if (!lanes) continue;
    u32 at = 0;
    if (lane_id() == 0) at = atomicAdd(&states[q].found, (u32)__popc(lanes));
    at = __shfl_sync(kFull, at, 0) + __popc(lanes & lanes_below());
    if (in && at < room) found[(u64)q * room + at] = (u64)sum << 32 | (u32)~doc;
  }
  __syncwarp();
}

// The k best of the documents that were found, after the state in two words, of which the first is
// written last. More than kSort are left to the host.
KERNEL __launch_bounds__(kPickThreads)
impacts_pick(const Query* __restrict__ queries, const State* __restrict__ states, const u64* __restrict__ found, u32 room,
             u64* out, u32 stride) {
  __shared__ u64 keys[kSort];
  u32 q = blockIdx.x, n = states[q].found, k = queries[q].k;
  u64* to = out + (u64)q * stride;
  if (n <= kSort && n <= room) {
    u32 size = 32;
    while (size < n) size *= 2;
    for (u32 i = threadIdx.x; i < size; i += kPickThreads) keys[i] = i < n ? found[(u64)q * room + i] : 0;
    __syncthreads();
    if (n <= kPickThreads / 2) {  // ranks are counted, by two threads for each key
      u64 mine = keys[min_of(threadIdx.x / 2, size - 1)];
      u32 rank = 0;
      for (u32 i = threadIdx.x % 2; i < size; i += 2) rank += keys[i] > mine;
      rank += __shfl_xor_sync(kFull, rank, 1);
      if (threadIdx.x % 2 == 0 && threadIdx.x / 2 < n && rank < k) to[2 + rank] = mine;
    } else {
      for (u32 run = 2; run <= size; run *= 2)
        for (u32 step = run / 2; step > 0; step /= 2) {
          for (u32 i = threadIdx.x; i < size / 2; i += kPickThreads) {
            u32 a = 2 * i - i % step, b = a + step;
            u64 x = keys[a], y = keys[b];
            if ((x < y) == !(a & run)) keys[a] = y, keys[b] = x;
          }
          // Up to this distance, a warp goes on with what it has itself written.
          if (step > kWarp || step == 1 && run >= kWarp) {
            __syncthreads();
          } else {
            __syncwarp();
          }
        }
      __syncthreads();
      for (u32 i = threadIdx.x; i < min_of(n, k); i += kPickThreads) to[2 + i] = keys[i];
    }
  }
  if (threadIdx.x == 0) to[1] = (u64)states[q].tiles << 32 | states[q].blocks;
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) *(volatile u64*)to = (u64)states[q].cut << 32 | n;
}
