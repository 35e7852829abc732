// The lists of an excerpt: an index of some documents of one or several others, numbered anew. A
// list is cut into pieces, each for a warp. The postings of documents that are kept are counted;
// the host then gives every list its space, and every piece its place in it.
#include "scoring.cuh"

constexpr u32 kThreads = 256;

// Laid out as excerptPiece in excerpt_lists.go: n postings of a list.
struct Piece {
  u32 list, from, n, spare;
};

// Laid out as excerptTally: what is kept of a piece, how many of these postings have a frequency
// that does not fit a byte, and the document of the last one.
struct Tally {
  u32 kept, bigs, last, spare;
};

// Laid out as excerptPlace: where a piece goes.
struct Place {
  u64 pos, docs, bigs;  // the list's first posting, its documents if it is sparse, the next pair
  u32 row, at;          // of the list; the number of its postings before the piece
  u32 next, end;        // the first part of a tile without a start; after the last piece, their end
};

// Arrays of an index that lists are taken from. A cell has a bit for each of 32 documents, set if
// it is kept, and the number in the excerpt of the first of them.
struct Source {
  u32 tiles;
  const u16* offsets;
  const u8* tfs;
  const u32* extra;
  const u32* starts;
  const uint2* cells;
};

// Calls f(votes, keep, i, doc) for the postings of a piece, one per lane: which lanes have one that
// is kept, whether this one has, its index in the list, its document in the excerpt.
template <class F> INLINE void each_kept(const Source& s, const Term& t, const Piece& p, F f) {
  u32 tile = 0, end = p.from + p.n;
  const u32* row = s.starts;
  if (t.row != kSparse) {
    row += (u64)t.row * (s.tiles * kSubs + 1);
    for (u32 above = s.tiles; above - tile > 1;) {
      u32 mid = (tile + above) / 2;
      if (row[mid * kSubs] <= p.from) tile = mid; else above = mid;
    }
  }
  for (u32 base = p.from; base < end; base += kWarp) {
    u32 i = base + lane_id(), doc = 0;
    uint2 cell = make_uint2(0, 0);
    if (i < end) {
      if (t.row == kSparse) {
        doc = s.extra[t.extra + i];
      } else {
        while (row[(tile + 1) * kSubs] <= i) tile++;
        doc = tile << kTileBits | s.offsets[t.pos + i];
      }
      cell = s.cells[doc >> 5];
    }
    u32 bit = 1u << (doc & 31);
    bool keep = cell.x & bit;
    f(__ballot_sync(kFull, keep), keep, i, cell.y + __popc(cell.x & (bit - 1)));
  }
}

#define SOURCE u32 tiles, const u16* __restrict__ offsets, const u8* __restrict__ tfs, const u32* __restrict__ extra, const u32* __restrict__ starts, const uint2* __restrict__ cells

KERNEL __launch_bounds__(kThreads)
excerpt_count(const Term* __restrict__ terms, const Piece* __restrict__ pieces, u32 count, SOURCE, Tally* tallies) {
  Source s{tiles, offsets, tfs, extra, starts, cells};
  for (u32 w = blockIdx.x * (kThreads / kWarp) + warp_id(); w < count; w += gridDim.x * (kThreads / kWarp)) {
    const Piece p = pieces[w];
    const Term& t = terms[p.list];
    Tally sum{0, 0, 0, 0};
    each_kept(s, t, p, [&](u32 votes, bool keep, u32 i, u32 doc) {
      if (!votes) return;
      sum.kept += __popc(votes), sum.last = __shfl_sync(kFull, doc, 31 - __clz(votes));
      sum.bigs += __popc(__ballot_sync(kFull, keep && s.tfs[t.pos + i] == 255));
    });
    if (lane_id() == 0) tallies[w] = sum;
  }
}

KERNEL __launch_bounds__(kThreads)
excerpt_fill(const Term* __restrict__ terms, const Piece* __restrict__ pieces, u32 count, SOURCE, const Place* __restrict__ places, u32 parts,
             u16* to_offsets, u8* to_tfs, u32* to_extra, u32* to_starts) {
  Source s{tiles, offsets, tfs, extra, starts, cells};
  for (u32 w = blockIdx.x * (kThreads / kWarp) + warp_id(); w < count; w += gridDim.x * (kThreads / kWarp)) {
    const Piece p = pieces[w];
    const Term& t = terms[p.list];
    Place l = places[w];
    u32* row = to_starts + (l.row == kSparse ? 0 : (u64)l.row * parts);
    each_kept(s, t, p, [&](u32 votes, bool keep, u32 i, u32 doc) {
      if (!votes) return;
      u32 below = votes & lanes_below(), to = l.at + __popc(below), tf = keep ? s.tfs[t.pos + i] : 0;
      u32 before = __shfl_sync(kFull, doc, below ? 31 - __clz(below) : 0), big = __ballot_sync(kFull, tf == 255);
      if (keep) {
        to_offsets[l.pos + to] = (u16)(doc & (kTile - 1)), to_tfs[l.pos + to] = (u8)tf;
        if (l.row == kSparse) {
          to_extra[l.docs + to] = doc;
        } else {
          // The parts of tiles that begin with this posting.
          for (u32 sub = below ? (before >> kSubBits) + 1 : l.next; sub <= doc >> kSubBits; sub++) row[sub] = to;
        }
        if (tf == 255) {
          u64 pair = l.bigs + 2 * __popc(big & lanes_below());
          to_extra[pair] = to, to_extra[pair + 1] = frequency(t, s.tfs, s.extra, i);
        }
      }
      l.at += __popc(votes), l.bigs += 2 * __popc(big), l.next = (__shfl_sync(kFull, doc, 31 - __clz(votes)) >> kSubBits) + 1;
    });
    for (u32 sub = l.next + lane_id(); sub < l.end; sub += kWarp) row[sub] = l.at;
  }
}
