// Queries of long lists. Where most postings pass and nearly all documents have two of the words, what passes says little. So all codes are read, and what
// each is worth is added up, a tile at a time and a byte a document, in parts of 255 of what a winner must have: who reaches 255 may win, and is
// scored exactly. In one list documents are distinct, so bytes are added to without atomics; a block has a tile, and waits between two lists.
// The lists that are worth next to nothing are left unread, as in batch.cuh.
#pragma once
#include "batch.cuh"

constexpr u32 kSumThreads = 256;
constexpr u32 kSumUnroll = 3;    // times four postings of a thread, on their way at the same time
constexpr u32 kSumQueue = 1024;  // documents of a tile that are scored together

// A list in a tile.
struct Added {
  u64 base;        // a posting at a multiple of four, before the list's own or the first of them
  u32 skip, end;   // where its own begin and end from there
  u32 pass;        // the least code that a winner's posting has, four times
  u32 worth;       // of a step of the code: 256 of these are one part of 255
};

// What a block works with.
struct Sums {
  u8 sums[kTile];
  Added lists[kWarp];
  u32 bounds[kWarp];     // of all lists, read or not
  u16 queue[kSumQueue];  // documents to be scored
  u32 held, reads, cut, all;
};

// Looks at a tile: which lists are there, and what a winner must have. One warp. There is none if reads is 0.
INLINE void open_tile(Sums& d, const Many& q, const Term* terms, const Lists& l, u32 reads, u32 tile, const State* state) {
  u32 cut = cut_now(state);
  bool mine = lane_id() < q.terms;
  const Term& t = terms[mine ? lane_id() : 0];
  Part p{0, 0, 0, 1, 0, 0, 256, false};
  if (mine) p = part_of(l, t, tile * kSubs, (tile + 1) * kSubs);
  u32 best = best_of(l, q, terms, tile, tile + 1), bound = mine && p.n ? best * p.mult : 0, all = warp_sum(bound);
  bool read = mine && p.n && (reads >> lane_id() & 1);
  u32 unread = warp_sum(read ? 0 : bound), votes = __ballot_sync(kFull, read);
  if (all < cut || unread >= cut) votes = 0;
  d.bounds[lane_id()] = bound;
  if (votes >> lane_id() & 1) {
    Added& a = d.lists[__popc(votes & lanes_below())];
    u64 pos = p.pos + p.from;
    u32 others = all - bound;
    a.skip = (u32)pos & 3, a.base = pos - a.skip, a.end = a.skip + p.n;
    a.pass = (cut > others ? code_for(cut - others, p.mult) : 0) * 0x01010101u;
    a.worth = (u32)min_of((u64)p.mult * (255 * 256) / (cut - unread) + 1, (u64)1 << 20);
  }
  if (lane_id() == 0) d.reads = __popc(votes), d.cut = cut, d.all = all;
}

// Adds a list.
INLINE void add_list(Sums& d, const Added& a, const Lists& l, bool first) {
  const u8* codes = l.codes + a.base;
  const u16* offsets = l.offsets + a.base;
  for (u32 from = 4 * threadIdx.x; from < a.end; from += 4 * kSumThreads * kSumUnroll) {
    u32 c[kSumUnroll];
    uint2 o[kSumUnroll];
#pragma unroll
    for (u32 u = 0; u < kSumUnroll; u++) {
      u32 i = from + 4 * kSumThreads * u;
      if (i < a.end) c[u] = *(const u32*)(codes + i), o[u] = *(const uint2*)(offsets + i);
    }
#pragma unroll
    for (u32 u = 0; u < kSumUnroll; u++) {
      u32 i = from + 4 * kSumThreads * u;
      if (i >= a.end) break;
      u32 m = at_least(c[u], a.pass);
      if (i < a.skip) m &= kHigh << (8 * (a.skip - i));
      if (i + 4 > a.end) m &= kHigh >> (8 * (i + 4 - a.end));
#pragma unroll
      for (u32 j = 0; j < 4; j++) {
        if ((m >> (8 * j) & 0x80) == 0) continue;
        u32 pair = j < 2 ? o[u].x : o[u].y;
        u8* to = d.sums + (j & 1 ? pair >> 16 : pair & 0xffff);
        u32 parts = ((c[u] >> (8 * j) & 0xff) * a.worth + a.worth + 255) >> 8;
        *to = (u8)min_of(parts + (first ? 0 : *to), 255u);
      }
    }
  }
}

// Finds the documents that may win, and leaves all sums 0. If there are more than find room, some are left for the next time.
INLINE void find_full(Sums& d) {
#pragma unroll 1
  for (u32 i = threadIdx.x; i < kTile / 16; i += kSumThreads) {
    uint4* at = (uint4*)d.sums + i;
    uint4 x = *at;
    // Bytes of 255 have all bits: those that one more makes 0.
    u32 w[4] = {x.x, x.y, x.z, x.w};
    uint4 left = make_uint4(0, 0, 0, 0);
    bool any = false;
#pragma unroll
    for (u32 j = 0; j < 4; j++) any = any || at_least(w[j], kFull);
    if (any) {
#pragma unroll
      for (u32 j = 0; j < 4; j++)
        for (u32 m = at_least(w[j], kFull); m; m &= m - 1) {
          u32 byte = (__ffs(m) - 1) / 8, to = atomicAdd(&d.held, 1u);
          if (to < kSumQueue) d.queue[to] = (u16)(16 * i + 4 * j + byte);
          else left.x = j == 0 ? left.x | 255u << (8 * byte) : left.x, left.y = j == 1 ? left.y | 255u << (8 * byte) : left.y,
               left.z = j == 2 ? left.z | 255u << (8 * byte) : left.z, left.w = j == 3 ? left.w | 255u << (8 * byte) : left.w;
        }
    }
    *at = left;
  }
}

// Scores a document a lane exactly, words in query order.
template <bool Usual> INLINE void score_found(Sums& d, bool busy, u32 doc, const Many& q, const Term* terms, const Lists& l, u32& cut, State* state, u32* hist, u64* keys) {
  u32 length = busy ? l.lengths[doc] : 0, most = d.all;
  float score = 0;
  for (u32 i = 0; i < q.terms; i++) {
    const Term& t = terms[i];
    most -= d.bounds[i];
    u32 found = busy && d.bounds[i] ? find_doc(l, t, doc, 0, t.df) : kFull;
    if (found != kFull) {
      score += score_of(Usual ? kBM25 : q.model, t, frequency(t, l.tfs, l.extra, found), length);
      most += (l.codes[t.pos + found] + 1) * t.mult;
    }
    busy = busy && most >= cut;
    if (!__any_sync(kFull, busy)) return;
  }
  u32 units = units_of(score, q.scale);
  keep(busy && units >= cut, score, units, doc, q, cut, state, hist, keys);
}

// The tiles of an item. One block.
template <bool Usual> INLINE void add_tiles(Sums& d, const Many& q, const Term* terms, const Lists& l, u32 reads, u32 tile, u32 end, State* state, u32* hist, u64* keys) {
  for (; tile < end; tile++) {
    if (warp_id() == 0) open_tile(d, q, terms, l, reads, tile, state);
    __syncthreads();
    u32 lists = d.reads;
    for (u32 i = 0; i < lists; i++) {
      add_list(d, d.lists[i], l, i == 0);
      __syncthreads();
    }
    bool more = lists > 0;
    if (more && threadIdx.x == 0) atomicAdd(&state->scored, 1u);
    while (more) {
      find_full(d);
      __syncthreads();
      u32 held = d.held, cut = d.cut;
      more = held > kSumQueue;
      for (u32 at = warp_id() * kWarp; at < min_of(held, kSumQueue); at += kSumThreads) {
        bool busy = at + lane_id() < min_of(held, kSumQueue);
        score_found<Usual>(d, busy, tile << kTileBits | (busy ? d.queue[at + lane_id()] : 0), q, terms, l, cut, state, hist, keys);
      }
      if (held) {
        if (threadIdx.x == 0) atomicAdd(&state->cands, min_of(held, kSumQueue));
        __syncthreads();
        if (threadIdx.x == 0) d.held = 0;
        __syncthreads();
      }
    }
  }
}
