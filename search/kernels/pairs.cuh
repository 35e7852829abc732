// Queries that read two long lists of which hardly anything can be left out. All codes and offsets are needed, three bytes a posting, and what counts is how
// fast they are read: so this kernel does nothing else, has few registers, and there are many warps to wait for memory. A warp takes a part of a
// tile. Each code of the first list is put where its document is, a byte in shared memory: in one list documents are distinct, so these are plain stores. The second
// list's are added to what is there. Documents that can win are few and are scored later, by batch_score.
#pragma once
#include "batch.cuh"

constexpr u32 kPairThreads = 256;
constexpr u32 kPairSubs = 2, kPairDocs = kPairSubs * kSub;  // of a tile that a warp looks at together
constexpr u32 kPairUnroll = 3;                              // times four postings of a lane, on their way at the same time
constexpr u32 kPairs = 32;                                  // in State's picked, beside the level: the query is read here; in spare are its two lists

// Documents that can win are kept behind the room for keys, which then is half of what it was.
INLINE u32 room_of(const Many& q, u32 picked) { return picked & kPairs ? q.cap / 2 : q.cap; }
INLINE u32* found_of(const Many& q, u64* keys) { return (u32*)(keys + q.cap / 2); }
INLINE u32 most_found(const Many& q) { return q.cap - q.cap / 2; }

// A list of the two, the same for all lanes.
struct Long {
  u64 pos;
  u32 row, mult;
};

// The j-th of four offsets, within what a warp looks at.
INLINE u32 offset_of(uint2 o, u32 j) {
  u32 pair = j < 2 ? o.x : o.y;
  return (j & 1 ? pair >> 16 : pair) & (kPairDocs - 1);
}

// Keeps those of four documents whose bits are set. They are few.
INLINE void push_found(u32 good, u32 base, uint2 o, const Many& q, State* state, u64* keys) {
#pragma unroll 1
  for (; good; good &= good - 1) {
    u32 to = atomicAdd(&state->cands, 1u);
    if (to < most_found(q)) found_of(q, keys)[to] = base + offset_of(o, (__ffs(good) - 1) / 8);
  }
}

// Reads a list from one posting to another; what it does with four of them says what.
template <class F> INLINE void read_part(const Lists& l, u64 pos, u32 begin, u32 end, F what) {
  u32 skip = begin & 3;
  const u8* codes = l.codes + pos + (begin - skip);
  const u16* offsets = l.offsets + pos + (begin - skip);
  end -= begin - skip;
#pragma unroll 1
  for (u32 from = 4 * lane_id(); from < end; from += 4 * kWarp * kPairUnroll) {
    u32 c[kPairUnroll];
    uint2 o[kPairUnroll];
#pragma unroll
    for (u32 u = 0; u < kPairUnroll; u++) {
      u32 i = from + 4 * kWarp * u;
      if (i < end) c[u] = *(const u32*)(codes + i), o[u] = *(const uint2*)(offsets + i);
    }
#pragma unroll
    for (u32 u = 0; u < kPairUnroll; u++) {
      u32 i = from + 4 * kWarp * u, m = kHigh;
      if (i >= end) break;
      if (i < skip) m <<= 8 * (skip - i);
      if (i + 4 > end) m &= kHigh >> (8 * (i + 4 - end));
      what(c[u], o[u], m);
    }
  }
}

// Tiles of a query. One warp; bytes are all 0.
INLINE void read_tiles(u8* bytes, const Many& q, const Long& a, const Long& b, const Lists& l, u32 cut, u32 tile, u32 end, State* state, u64* keys) {
  // Codes with which a document of the first list wins alone; and what codes must be worth together, of which each may be a step more.
  u32 sure = min_of(code_for(cut, a.mult), 256u);
  if (sure == 1) sure = 0;  // of which 0 is not told
  u32 want = cut > a.mult + b.mult ? cut - a.mult - b.mult : 1, least = max_of(sure, 1u), sures = sure * 0x01010101u;
  for (; tile < end; tile++) {
    // Eight lanes have where the parts of a list begin.
    const u32* row = l.starts + (u64)(lane_id() < 8 ? a.row : b.row) * (l.tiles * kSubs + 1) + tile * kSubs;
    u32 start = row[min_of((lane_id() & 7) * kPairSubs, kSubs)];
#pragma unroll 1
    for (u32 part = 0; part < kSubs / kPairSubs; part++) {
      u32 base = (tile * kSubs + part * kPairSubs) << kSubBits;
      read_part(l, a.pos, __shfl_sync(kFull, start, part), __shfl_sync(kFull, start, part + 1), [&](u32 c, uint2 o, u32 m) {
        // A code of 0 is told from no posting by being a little more.
        u32 some = c | ((c - 0x01010101u) & ~c & kHigh) >> 7;
#pragma unroll
        for (u32 j = 0; j < 4; j++)
          if (m >> (8 * j) & 0x80) bytes[offset_of(o, j)] = (u8)(some >> (8 * j));
        u32 good = at_least(c, sures) & m;
        if (good && sure < 256) push_found(good, base, o, q, state, keys);
      });
      __syncwarp();
      read_part(l, b.pos, __shfl_sync(kFull, start, 8 + part), __shfl_sync(kFull, start, 9 + part), [&](u32 c, uint2 o, u32 m) {
        // Those that win by the first list alone are there already.
        u32 good = 0;
#pragma unroll
        for (u32 j = 0; j < 4; j++) {
          u32 x = bytes[offset_of(o, j)];
          if (x * a.mult + (c >> (8 * j) & 0xff) * b.mult >= want && x < least) good |= 0x80u << (8 * j);
        }
        good &= m;
        if (good) push_found(good, base, o, q, state, keys);
      });
      __syncwarp();
      uint4* all = (uint4*)bytes;
#pragma unroll
      for (u32 i = 0; i < kPairDocs / 16 / kWarp; i++) all[i * kWarp + lane_id()] = make_uint4(0, 0, 0, 0);
      __syncwarp();
    }
  }
}

// Scores documents that were found, one a lane, words in query order.
template <bool Usual> INLINE void score_found(const Many& q, const Term* terms, const Lists& l, u32 i, u32 level, u32 cut, State* state, u32* hist, u64* keys) {
  u32 n = min_of(state->cands, most_found(q)), bounds = warp_sum(lane_id() < q.terms ? terms[lane_id()].mult * 256 : 0);
  for (u32 at = i * kWarp; at < n; at += kWarp << level) {
    bool busy = at + lane_id() < n;
    u32 doc = busy ? found_of(q, keys)[at + lane_id()] : 0, length = busy ? l.lengths[doc] : 0, most = bounds;
    float score = 0;
    for (u32 w = 0; w < q.terms && __any_sync(kFull, busy); w++) {
      const Term& t = terms[w];
      most -= t.mult * 256;
      u32 found = busy ? find_doc(l, t, doc, 0, t.df) : kFull;
      if (found != kFull) {
        score += score_of(Usual ? kBM25 : q.model, t, frequency(t, l.tfs, l.extra, found), length);
        most += (l.codes[t.pos + found] + 1) * t.mult;
      }
      busy = busy && most >= cut;
    }
    u32 units = units_of(score, q.scale);
    keep(busy && units >= cut, score, units, doc, q, q.cap / 2, cut, state, hist, keys);
  }
}
