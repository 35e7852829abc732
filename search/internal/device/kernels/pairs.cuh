// Queries that read two long lists of which hardly anything can be skipped. All codes and offsets
// are needed, three bytes per posting, so memory bandwidth is the limit. This kernel does nothing
// else and uses few registers, so that many warps can have loads in flight. A warp processes a part
// of a tile. It stores each code of the first list as a byte in shared memory, by document;
// documents of one list are distinct, so these are plain stores. The codes of the second list are
// added to those. Documents that can win are few, and batch_score scores them later.
#pragma once
#include "batch.cuh"

constexpr u32 kPairThreads = 256;
constexpr u32 kPairSubs = 2, kPairDocs = kPairSubs * kSub;  // parts and documents per step of a warp
// The number of groups of eight postings that a lane loads at the same time.
constexpr u32 kPairUnroll = 3;
// A flag in State's picked, next to the level: the query is read by this kernel. State's spare then
// has its two lists.
constexpr u32 kPairs = 32;

// Documents that can win are stored in the second half of the space for keys.
INLINE u32 room_of(const Many& q, u32 picked) { return picked & kPairs ? q.cap / 2 : q.cap; }
INLINE u32* found_of(const Many& q, u64* keys) { return (u32*)(keys + q.cap / 2); }
INLINE u32 most_found(const Many& q) { return q.cap - q.cap / 2; }

// One of the two lists, the same in all lanes.
struct Long {
  u64 pos;
  u32 row, mult;
};

// Eight postings of a lane.
struct Eight {
  uint2 c;  // their codes
  uint4 o;  // their offsets

  INLINE u32 code(u32 j) const { return (j < 4 ? c.x : c.y) >> (8 * (j & 3)) & 0xff; }
  // The index of a document's byte. The bytes of the warp begin at base.
  INLINE u32 place(u32 j, u32 base) const {
    u32 pair = j < 2 ? o.x : j < 4 ? o.y : j < 6 ? o.z : o.w;
    return (j & 1 ? pair >> 16 : pair) & (kPairDocs - 1) | base;
  }
  // Whether any code is at least a given one, which `codes` holds four times.
  INLINE bool any(u32 codes) const { return at_least(c.x, codes) | at_least(c.y, codes); }
};

INLINE void push_found(u32 doc, const Many& q, State* state, u64* keys) {
  u32 to = atomicAdd(&state->cands, 1u);
  if (to < most_found(q)) found_of(q, keys)[to] = doc;
}

// Reads the postings [begin, end) of a list, and calls `what` for each group of eight, with a bit
// for each posting of the group that is in this range.
template <class F> INLINE void read_part(const Lists& l, u64 pos, u32 begin, u32 end, F what) {
  u32 skip = begin & 7;
  const u8* codes = l.codes + pos + (begin - skip) + 8 * lane_id();
  const u16* offsets = l.offsets + pos + (begin - skip) + 8 * lane_id();
  end -= begin - skip;
#pragma unroll 1
  for (u32 from = 8 * lane_id(); from < end; from += 8 * kWarp * kPairUnroll, codes += 8 * kWarp * kPairUnroll, offsets += 8 * kWarp * kPairUnroll) {
    Eight x[kPairUnroll];
#pragma unroll
    for (u32 u = 0; u < kPairUnroll; u++)
      if (from + 8 * kWarp * u < end) x[u].c = *(const uint2*)(codes + 8 * kWarp * u), x[u].o = *(const uint4*)(offsets + 8 * kWarp * u);
#pragma unroll
    for (u32 u = 0; u < kPairUnroll; u++) {
      u32 i = from + 8 * kWarp * u, in = 0xff;
      if (i >= end) break;
      if (i < skip) in = 0xff << (skip - i);
      if (i + 8 > end) in &= 0xff >> (i + 8 - end);
      what(x[u], in);
    }
  }
}

// Scans parts of tiles of a query. Called by one warp. Its bytes, all 0, begin at base.
INLINE void read_parts(u8* bytes, u32 base, const Many& q, const Long& a, const Long& b, const Lists& l, u32 cut, u32 part, u32 end, State* state, u64* keys) {
  // The codes with which a document can win by one list alone, and the sum that two codes must
  // reach. A score may be up to one step above its code, which is subtracted for both lists.
  u32 sure = min_of(code_for(cut, a.mult), 256u), sure_b = min_of(code_for(cut, b.mult), 256u);
  if (sure == 1) sure = 0;  // code 0 is stored as 1, see below
  u32 want = cut > a.mult + b.mult ? cut - a.mult - b.mult : 1, least = max_of(sure, 1u);
  u32 sures = min_of(sure, 255u) * 0x01010101u, sures_b = min_of(sure_b, 255u) * 0x01010101u;
  // Four lanes hold the starts and ends of both lists in a part, and load those of the next part.
  const u32* row = l.starts + (u64)(lane_id() & 2 ? b.row : a.row) * (l.tiles * kSubs + 1) + (lane_id() & 1) * kPairSubs;
  u32 next = row[part * kPairSubs];
#pragma unroll 1
  for (; part < end; part++) {
    u32 start = next, first = (part * kPairSubs << kSubBits) - base;  // document of byte 0
    if (part + 1 < end) next = row[(part + 1) * kPairSubs];
    read_part(l, a.pos, __shfl_sync(kFull, start, 0), __shfl_sync(kFull, start, 1), [&](Eight x, u32 in) {
      if (x.any(sures)) {
#pragma unroll 1
        for (u32 j = 0; j < 8; j++)
          if ((in >> j & 1) && x.code(j) >= sure) push_found(first + x.place(j, base), q, state, keys);
      }
      // Code 0 is stored as 1, because 0 means no posting.
      x.c.x |= ((x.c.x - 0x01010101u) & ~x.c.x & kHigh) >> 7, x.c.y |= ((x.c.y - 0x01010101u) & ~x.c.y & kHigh) >> 7;
#pragma unroll
      for (u32 j = 0; j < 8; j++)
        if (in >> j & 1) bytes[x.place(j, base)] = (u8)x.code(j);
    });
    __syncwarp();
    read_part(l, b.pos, __shfl_sync(kFull, start, 2), __shfl_sync(kFull, start, 3), [&](Eight x, u32 in) {
      u32 met = 0;
#pragma unroll
      for (u32 j = 0; j < 8; j++) met |= bytes[x.place(j, base)];
      if (met || x.any(sures_b)) {
#pragma unroll 1
        for (u32 j = 0; j < 8; j++) {
          u32 with = bytes[x.place(j, base)], code = x.code(j);
          // Documents that can win by the first list alone are kept already.
          if ((in >> j & 1) && (with ? with < least && with * a.mult + code * b.mult >= want : code >= sure_b)) push_found(first + x.place(j, base), q, state, keys);
        }
      }
    });
    __syncwarp();
    uint4* all = (uint4*)(bytes + base);
#pragma unroll
    for (u32 i = 0; i < kPairDocs / 16 / kWarp; i++) all[i * kWarp + lane_id()] = make_uint4(0, 0, 0, 0);
    __syncwarp();
  }
}

// Scores documents that were found, one per lane, words in query order.
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
