// A batch of queries. Documents are cut into tiles of 16,384; an item of work is a query with a run
// of tiles, done by one warp. Each posting has a code, a byte that bounds its score (encode.cu).
// The cut is the least sum of bounds that can still win. Each tile has a bound for each list. From
// these follows the lowest code that a posting of a winner can have in a list, whatever the other
// lists add. Codes are compared four at a time, and only the documents of postings that pass are
// read. A bitmap of the tile finds the documents that pass in two lists. They are looked up in all
// lists and scored exactly, words in query order, and their scores raise the cut. If lists are
// sparse, several tiles are scanned together, as a window.
#pragma once
#include "guess.cuh"
#include "pick.cuh"

constexpr u32 kManyThreads = 128;
constexpr u32 kManyBins = 256;  // bins of the histogram of scores
constexpr u32 kRaise = 32;      // scores after which the cut is computed again
constexpr u32 kUnroll = 4;      // times four postings per lane that are loaded at the same time
// If more of a lane's postings pass than this, all are scanned.
constexpr u32 kCrowd = 5;
constexpr u32 kQueue = kWarp * 4 * kUnroll + kWarp;
constexpr u32 kIndexBits = 24;  // bits of a posting's number within a window

// Scores are binned by their distance from the first cut, which is stored in State's live, with
// sixteen bins per power of two. So small differences count even if rare words have a thousand
// times the score of frequent ones.
INLINE u32 bin_of(u32 above) {
  u32 e = kWarp - 1 - __clz(above | 1);
  return e < 16 ? 0 : (e - 16) * 16 + (above >> (e - 4) & 15);
}
INLINE u32 edge_of(u32 bin) { return bin ? (16 + bin % 16) << (bin / 16 + 12) : 0; }

// Raises the cut by the scores found so far. Called by one warp.
INLINE u32 raise_many(const Many& q, State* state, const u32* hist) {
  const u32* from = hist + kManyBins - 8 * (lane_id() + 1);
  u32 c[8], sum = 0, bin = 0;
  asm volatile("ld.volatile.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(c[7]), "=r"(c[6]), "=r"(c[5]), "=r"(c[4]) : "l"(from));
  asm volatile("ld.volatile.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(c[3]), "=r"(c[2]), "=r"(c[1]), "=r"(c[0]) : "l"(from + 4));
#pragma unroll
  for (u32 j = 0; j < 8; j++) sum += c[j];
  u32 upto = warp_inclusive(sum), above = upto - sum;
  if (upto >= q.k && above < q.k) {
#pragma unroll
    for (u32 j = 0; j < 8; j++) {
      if (above < q.k) bin = kManyBins - 1 - 8 * lane_id() - j;
      above += c[j];
    }
  }
  for (u32 d = kWarp / 2; d > 0; d /= 2) bin = max_of(bin, __shfl_xor_sync(kFull, bin, d));
  u32 edge = state->live + edge_of(bin);
  u32 cut = edge > q.slack ? edge - q.slack : 1;
  if (bin && lane_id() == 0) atomicMax(&state->cut, cut);
  return bin ? cut : 1;
}

// The current cut, the same in all lanes.
INLINE u32 cut_now(const State* state) { return __shfl_sync(kFull, volatile_load(&state->cut), 0); }

// The working memory of a warp.
struct Desk {
  // A bit for each document of a tile that passed in a list. All tiles of a window share the
  // bitmap. It is 0 between windows.
  u32 bits[kTile / 32];
  u32 queue[kQueue];     // postings whose documents are to be scored: list, number in the window
  u32 held;
  u32 spare[3];
};

// A list in a window, which is a range of parts of tiles. Lane i holds list i.
struct Part {
  u32 from, n;    // first posting in the window, and number of postings there
  u64 pos;        // index of the list's first posting
  u32 mult, bound;
  // pass: the lowest code with which a posting can belong to a winner. sure: the lowest code with
  // which it can do so without the other lists that are read.
  u32 pass, sure;
  bool read;      // otherwise documents are only looked up in it
};

// The arrays of the index, which all items share.
struct Lists {
  u32 tiles;
  const u16* offsets;
  const u8* codes;
  const u8* tfs;
  const u8* maxes;
  const u32* extra;
  const u32* lengths;
  const u32* starts;
  const uint2* maps;
};

// Sets the highest bit of each byte of x that is at least the corresponding byte of y.
constexpr u32 kHigh = 0x80808080u;
INLINE u32 at_least(u32 x, u32 y) {
  u32 d = (x | kHigh) - (y & ~kHigh);
  return ((x & ~y) | (~(x ^ y) & d)) & kHigh;
}

// The list's part in a window. A lane per list.
INLINE Part part_of(const Lists& l, const Term& t, u32 sub, u32 end) {
  Part p;
  u32 to;
  if (t.row == kSparse) {
    const u32* docs = l.extra + t.extra;
    p.from = sub == 0 ? 0 : lower_bound(docs, 0, t.df, sub << kSubBits);
    to = end == l.tiles * kSubs ? t.df : lower_bound(docs, p.from, t.df, end << kSubBits);
  } else {
    const u32* row = l.starts + (u64)t.row * (l.tiles * kSubs + 1);
    p.from = row[sub], to = row[end];
  }
  p.pos = t.pos, p.n = to - p.from, p.mult = t.mult, p.bound = 0, p.pass = 0, p.sure = 256, p.read = p.n > 0;
  return p;
}

// The highest code of each list in a window's tiles, plus 1, in the list's lane. At most 32 tiles.
INLINE u32 best_of(const Lists& l, const Many& q, const Term* terms, u32 tile, u32 end) {
  u32 best = 255;  // for a list without a row
  if (end - tile == 1) {
    if (lane_id() < q.terms && terms[lane_id()].row != kSparse) best = l.maxes[(u64)terms[lane_id()].row * l.tiles + tile];
  } else {
    for (u32 i = 0; i < q.terms; i++) {
      u32 row = terms[i].row, most = 255;
      if (row != kSparse) {
        most = tile + lane_id() < end ? l.maxes[(u64)row * l.tiles + tile + lane_id()] : 0;
        for (u32 d = kWarp / 2; d > 0; d /= 2) most = max_of(most, __shfl_xor_sync(kFull, most, d));
      }
      if (lane_id() == i) best = most;
    }
  }
  return best + best / 255;
}

// The least code such that (code+1)*mult is at least want.
INLINE u32 code_for(u32 want, u32 mult) { return want == 0 ? 0 : (want - 1) / mult; }

// The cost of reading a posting, and that of looking a document up: a constant, a part for each
// list, and a part for each pair of lists, since with more lists more are searched before a
// document is out.
constexpr float kReading = 0.25f, kLooking = 4.0f, kLookingUp = 0.7f, kLookingMore = 0.065f;

// Decides which lists of a window are read and which codes pass. best is the list's best code plus
// 1. Returns whether the window can contain a winner. The longest lists may stay unread as long as
// their bounds together do not reach the cut: then winners are found by other words and looked up
// in these lists. Fewer lists to read mean more documents to look up. The choice with the least
// expected cost is taken, assuming independent words and uniformly distributed codes. If whole is
// given, it gets that cost, the number of postings that pass, and the number that are read.
struct Whole {
  float cost, pass, read;
};
INLINE bool settle(Part& p, const Many& q, u32 best, u32 docs, u32 cut, u32* all, Whole* whole = nullptr) {
  bool mine = lane_id() < q.terms;
  u32 bound = mine && p.n ? best * p.mult : 0;
  if (q.need && __any_sync(kFull, mine && p.n == 0)) return false;
  u32 sum = warp_sum(bound);
  p.bound = bound, *all = sum;
  if (sum < cut || sum == 0) return false;
  u32 others = sum - bound;
  p.pass = mine && cut > others ? code_for(cut - others, p.mult) : 0;
  u32 open = __ballot_sync(kFull, mine && p.n), reads = open, unread = 0, known = 0;
  if (__popc(open) > 1 || whole) {
    float passing = mine ? (float)p.n * (float)(256 - p.pass) / 256.0f : 0, code = 256.0f * (float)p.mult, least = 0;
    float n = (float)warp_sum(mine ? p.n : 0), sums = passing, squares = passing * passing;
    for (u32 d = kWarp / 2; d > 0; d /= 2) sums += __shfl_xor_sync(kFull, sums, d), squares += __shfl_xor_sync(kFull, squares, d);
    float look = kLooking + (kLookingUp + kLookingMore * (float)q.terms) * (float)q.terms;
    for (bool first = true;; first = false) {
      // The expected numbers of documents that can win by one of the lists that are read (alone),
      // and of documents in two of them (pairs).
      bool still = open >> lane_id() & 1;
      float alone = 0, pairs = 0;
      if (__popc(open) == 1) {
        alone = sums;
      } else {
        pairs = (sums * sums - squares) / (2.0f * (float)docs);
        if (!q.need) {
          alone = still ? (float)p.n * max_of(0.0f, 1.0f - (float)(cut > known ? cut - known : 0) / code) : 0.0f;
          for (u32 d = kWarp / 2; d > 0; d /= 2) alone += __shfl_xor_sync(kFull, alone, d);
        }
      }
      float now = kReading * n + look * (alone + max_of(pairs, 0.0f));
      if (first || now < least) {
        least = now, reads = open, unread = known;
        if (whole) *whole = Whole{now, sums, n};
      }
      if (__popc(open) == 1) break;
      u32 len = still ? p.n : 0, longest = len;
      for (u32 d = kWarp / 2; d > 0; d /= 2) longest = max_of(longest, __shfl_xor_sync(kFull, longest, d));
      u32 who = __ffs(__ballot_sync(kFull, still && len == longest)) - 1, adds = __shfl_sync(kFull, bound, who);
      float gone = __shfl_sync(kFull, passing, who);
      if (!q.need && known + adds >= cut) break;
      known += adds, open &= ~(1u << who);
      n -= (float)longest, sums -= gone, squares -= gone * gone;
    }
  }
  p.read = reads >> lane_id() & 1;
  // If all words are required, two lists that are read must both have the document.
  if (mine) p.sure = q.need && __popc(reads) > 1 ? 256 : cut > unread ? code_for(cut - unread, p.mult) : 0;
  return true;
}

// The document of a list's posting in a window.
INLINE u32 doc_of(const Lists& l, const Term& t, u32 at, u32 sub, u32 end) {
  if (t.row == kSparse) return l.extra[t.extra + at];
  const u32* row = l.starts + (u64)t.row * (l.tiles * kSubs + 1);
  while (end - sub > 1) {
    u32 mid = (sub + end) / 2;
    if (row[mid] <= at) sub = mid; else end = mid;
  }
  return sub / kSubs << kTileBits | l.offsets[t.pos + at];
}

// The index of a document in a list; kFull if the list does not contain it.
INLINE u32 find_doc(const Lists& l, const Term& t, u32 doc, u32 from, u32 n) {
  if (t.row == kSparse) {
    const u32* docs = l.extra + t.extra;
    u32 at = lower_bound(docs, from, from + n, doc);
    return at < from + n && docs[at] == doc ? at : kFull;
  }
  if (t.table) {
    uint2 cell = l.maps[((u64)(t.table - 1) * l.tiles << (kTileBits - kMapBits)) + (doc >> kMapBits)];
    u32 bit = 1u << (doc & 31);
    return cell.x & bit ? cell.y + __popc(cell.x & (bit - 1)) : kFull;
  }
  // Interpolation search, eight postings at a time. It starts where the document would be if the
  // list were evenly distributed, then corrects by the distance to the document found there. After
  // two such steps it uses bisection.
  const u32* row = l.starts + (u64)t.row * (l.tiles * kSubs + 1) + (doc >> kSubBits);
  const u16* list = l.offsets + t.pos;
  u32 off = doc & (kTile - 1), lo = row[0], hi = row[1], number = hi - lo, at = lo + ((off & (kSub - 1)) * number >> kSubBits);
  for (u32 tries = 0; lo < hi; tries++) {
    u32 block = at & ~7u;
    uint4 x = *(const uint4*)(list + block);
    // A bit per posting that is not before the document. Offsets have 14 bits, so one subtraction
    // compares two.
    constexpr u32 kTops = 0x80008000u;
    u32 want = off * 0x10001u;
    u32 some = ((x.x | kTops) - want & kTops) >> 15 | ((x.y | kTops) - want & kTops) >> 13 | ((x.z | kTops) - want & kTops) >> 11 |
               ((x.w | kTops) - want & kTops) >> 9;
    u32 behind = (some | some >> 15) & 0xff;
    if (block < lo) behind &= 0xffu << (lo - block);
    if (hi - block < 8) behind |= 0xffu << (hi - block);
    u32 first = __ffs(behind | 0x100) - 1, is = block + first;
    if (first == 8 && is < hi) {
      lo = is;
      at = min_of(tries < 2 ? lo + ((off - (x.w >> 16)) * number >> kSubBits) : (lo + hi) / 2, hi - 1);
    } else if (first == 0 && block > lo && (x.x & 0xffff) != off) {
      hi = block;
      u32 back = ((x.x & 0xffff) - off) * number >> kSubBits;
      at = tries < 2 ? max_of(hi - 1, lo + back) - back : (lo + hi) / 2;
    } else {
      return is < hi && list[is] == off ? is : kFull;
    }
  }
  return kFull;
}

// Clears the bitmap.
INLINE void clear_bits(Desk& d) {
  uint4* bits = (uint4*)d.bits;
#pragma unroll
  for (u32 i = 0; i < kTile / 128 / kWarp; i++) bits[i * kWarp + lane_id()] = make_uint4(0, 0, 0, 0);
  __syncwarp();
}

// Keys sort by score; of equal scores the lower document comes first.
INLINE u64 key_of(float score, u32 doc) { return (u64)__float_as_uint(score) << 32 | (u32)~doc; }

// Keeps the scores of the lanes for which good is set, and raises the cut by them.
INLINE void keep(bool good, float score, u32 units, u32 doc, const Many& q, u32 cap, u32& cut, State* state, u32* hist, u64* keys) {
  u32 votes = __ballot_sync(kFull, good);
  if (!votes) return;
  u32 base = 0, n = __popc(votes);
  if (lane_id() == 0) base = atomicAdd(&state->keys, n);
  base = __shfl_sync(kFull, base, 0);
  u32 mine = base + __popc(votes & lanes_below());
  if (good) {
    if (mine < cap) keys[mine] = key_of(score, doc);
    atomicAdd(&hist[bin_of(units - state->live)], 1u);
  }
  if (base / kRaise != (base + n) / kRaise && base + n >= q.k) {
    __syncwarp();
    cut = max_of(cut, raise_many(q, state, hist));
  }
}

// Converts a score to the units of sums.
INLINE u32 units_of(float score, float scale) { return max_of((u32)min_of(score * scale, 4294967040.0f), 1u); }

// Scores the last `count` documents of the queue exactly, one per lane. Several postings may have
// queued the same document; it is kept only for the first list that can have queued it. If Usual is
// set, the model is BM25, and the code for others is left out.
template <bool Usual> INLINE void score_queue(Desk& d, u32 count, const Many& q, const Term* terms, const Lists& l, const Part& p, u32 all, u32 sub, u32 end, u32& cut,
                        State* state, u32* hist, u64* keys) {
  u32 at = d.held - count;  // the last ones
  bool busy = lane_id() < count;
  u32 e = busy ? d.queue[at + lane_id()] : 0;
  __syncwarp();
  if (lane_id() == 0) d.held = at, atomicAdd(&state->cands, count);
  __syncwarp();
  u32 by = e >> kIndexBits & (kWarp - 1);
  at = __shfl_sync(kFull, p.from, by) + (e & ((1u << kIndexBits) - 1));
  u32 doc = busy ? doc_of(l, terms[by], at, sub, end) : 0, length = busy ? l.lengths[doc] : 0;
  u32 reads = __ballot_sync(kFull, p.read), have = 0, brought = kWarp;
  // A bound on its score: first from the bounds of the lists, then, list by list, from the codes
  // found.
  u32 most = all;
  bool seen = false;
  float score = 0;
  for (u32 i = 0; i < q.terms; i++) {
    u32 from = __shfl_sync(kFull, p.from, i), n = __shfl_sync(kFull, p.n, i), bound = __shfl_sync(kFull, p.bound, i);
    u32 pass = __shfl_sync(kFull, p.pass, i), sure = __shfl_sync(kFull, p.sure, i);
    const Term& t = terms[i];
    most -= bound;
    u32 found = !busy || !n ? kFull : i == by ? at : find_doc(l, t, doc, from, n);
    if (found != kFull) {
      u32 code = l.codes[t.pos + found];
      score += score_of(Usual ? kBM25 : q.model, t, frequency(t, l.tfs, l.extra, found), length);
      most += (code + 1) * t.mult;
      have++;
      if ((reads >> i & 1) && code >= pass) {
        if ((seen || code >= sure) && brought == kWarp) brought = i;
        seen = true;
      }
    }
    busy = busy && most >= cut;
    if (!__any_sync(kFull, busy)) return;
  }
  u32 units = units_of(score, q.scale);
  bool good = busy && brought == by && units >= cut && have >= max_of(q.need, 1u);
  keep(good, score, units, doc, q, q.cap, cut, state, hist, keys);
}

// One window of a query.
template <bool Usual> INLINE void scan_window(Desk& d, const Many& q, const Term* terms, const Lists& l, Part& p, u32 all, u32 sub, u32 end, u32& cut, State* state,
                        u32* hist, u64* keys) {
  u32 todo = __ballot_sync(kFull, p.read), reads = __popc(todo), list = 0;
  bool first = true, meet = reads > 1;
  u64 base = 0;
  u32 skip = 0, total = 0, at = 0, pass = 0, sure = 0;
  for (;;) {
    if (at >= total && todo) {
      list = __ffs(todo) - 1;
      todo &= todo - 1;
      base = __shfl_sync(kFull, p.pos + p.from, list);
      total = __shfl_sync(kFull, p.n, list), pass = __shfl_sync(kFull, p.pass, list) * 0x01010101u, sure = __shfl_sync(kFull, p.sure, list);
      skip = (u32)base & 3, base -= skip, total += skip, at = 0;
      first = __popc(todo) + 1 == reads;
      __syncwarp();
    }
    if (at < total) {
      // Bit 8j+u: the j-th of the u-th four.
      u32 m[kUnroll], mine = 4 * lane_id(), some = 0, good = 0;
      bool last = todo == 0;
      {
        u32 c[kUnroll];
#pragma unroll
        for (u32 u = 0; u < kUnroll; u++) {
          u32 i = at + 4 * u * kWarp + mine;
          c[u] = i < total ? *(const u32*)(l.codes + base + i) : 0;
        }
#pragma unroll
        for (u32 u = 0; u < kUnroll; u++) m[u] = at_least(c[u], pass);
        if (at == 0 || at + 4 * kUnroll * kWarp > total) {
#pragma unroll
          for (u32 u = 0; u < kUnroll; u++) {
            u32 i = at + 4 * u * kWarp + mine;
            if (i < skip) m[u] &= kHigh << (8 * (skip - i));
            if (i + 4 > total) m[u] = i < total ? m[u] & kHigh >> (8 * (i + 4 - total)) : 0;
          }
        }
#pragma unroll
        for (u32 u = 0; u < kUnroll; u++) some |= m[u] >> (7 - u);
        if (sure < 256) {
#pragma unroll
          for (u32 u = 0; u < kUnroll; u++) good |= (at_least(c[u], sure * 0x01010101u) & m[u]) >> (7 - u);
        }
      }
      if (meet) {
        // Only now are the documents of the postings read.
        if (__any_sync(kFull, __popc(some) > kCrowd)) {
          ushort4 o[kUnroll];
#pragma unroll
          for (u32 u = 0; u < kUnroll; u++)
            if (m[u]) o[u] = *(const ushort4*)(l.offsets + base + (at + 4 * u * kWarp + mine));
#pragma unroll
          for (u32 u = 0; u < kUnroll; u++) {
            u32 offs[4] = {o[u].x, o[u].y, o[u].z, o[u].w};
            if (first) {
#pragma unroll
              for (u32 j = 0; j < 4; j++)
                if (m[u] >> (8 * j) & 0x80) atomicOr(&d.bits[offs[j] >> 5], 1u << (offs[j] & 31));
            } else if (last) {
#pragma unroll
              for (u32 j = 0; j < 4; j++)
                if (m[u] >> (8 * j) & 0x80) good |= (d.bits[offs[j] >> 5] >> (offs[j] & 31) & 1) << (8 * j + u);
            } else {
#pragma unroll
              for (u32 j = 0; j < 4; j++)
                if (m[u] >> (8 * j) & 0x80) good |= (atomicOr(&d.bits[offs[j] >> 5], 1u << (offs[j] & 31)) >> (offs[j] & 31) & 1) << (8 * j + u);
            }
          }
        } else {
          // If few passed, each lane processes two at a time.
          while (__any_sync(kFull, some != 0)) {
            u32 b[2], off[2];
#pragma unroll
            for (u32 x = 0; x < 2; x++) {
              b[x] = some ? __ffs(some) - 1 : kWarp, some &= some - 1;
              if (b[x] < kWarp) off[x] = l.offsets[base + (at + 4 * kWarp * (b[x] & 7) + mine + (b[x] >> 3))];
            }
#pragma unroll
            for (u32 x = 0; x < 2; x++)
              if (b[x] < kWarp) {
                u32 word = off[x] >> 5, bit = off[x] & 31;
                if (first) {
                  atomicOr(&d.bits[word], 1u << bit);
                } else {
                  u32 old = last ? d.bits[word] : atomicOr(&d.bits[word], 1u << bit);
                  good |= (old >> bit & 1) << b[x];
                }
              }
          }
        }
      }
      while (__any_sync(kFull, good != 0)) {
        u32 b = __ffs(good) - 1;
        if (good) d.queue[atomicAdd(&d.held, 1u)] = list << kIndexBits | at + 4 * kWarp * (b & 7) + mine + (b >> 3) - skip;
        good &= good - 1;
      }
      at += 4 * kWarp * kUnroll;
      __syncwarp();
    }
    u32 held = *(volatile u32*)&d.held;
    bool more = at < total || todo;
    __syncwarp();
    if (held >= kWarp || !more && held) {
      while (held >= kWarp || !more && held) {
        u32 some = min_of(held, kWarp);
        score_queue<Usual>(d, some, q, terms, l, p, all, sub, end, cut, state, hist, keys);
        held -= some;
      }
    }
    if (!more) break;
  }
  if (meet) {
    __syncwarp();
    clear_bits(d);
  }
}
