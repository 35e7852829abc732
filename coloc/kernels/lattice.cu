// The lattice of feature sets is searched over bit columns.
//
// The points of one feature at one place are a class. Its weight is their number, and its sets are
// those of the place's profile. The classes of a feature are a group. In a group, every set has a
// bit position and every feature a column, with the bits of the sets that have the feature. The
// sets that contain a pattern are then the bitwise AND of its columns, 32 sets at a time.
//
// A class occupies 2^c positions, with the least c that has room for its sets, and is aligned to
// that size. Let `ends` be the highest position of each class in a word. Then the classes that have
// any bit of r set are ((r & ~ends) + ~ends | r) & ends: the addition carries into the highest
// position. A class of weight w occurs once for every 1 in the binary form of w, among classes of
// the same digit. So points are counted by a population count and a shift. Four consecutive words,
// a quad, have the same c and digit.
#include "warp.cuh"

constexpr u32 kThreads = 256;
constexpr u32 kWarps = kThreads / kWarp;
constexpr u32 kBits = 64;    // largest number of features
constexpr u32 kSizes = 11;   // number of values of c; classes of c > 5 fill words, of 7 a quad
constexpr u32 kDigits = 32;  // binary digits of a weight
constexpr u32 kBatch = 8;    // number of columns counted at a time

struct Kind;

// The columns of all groups.
struct Columns {
  const u32* bits;
  const u32* first;  // by group: number of words of a column in all groups before it
  const u32* words;  // by group: number of words of a column
  const Kind* kind;  // of each quad
  u32 width;         // number of features

  INLINE const uint4* column(u32 group, u32 feature) const {
    return (const uint4*)(bits + ((u64)first[group] * width + (u64)feature * words[group]));
  }
};

// The number of classes in a word that have a bit of r set.
INLINE u32 classes(u32 r, u32 ends) { return __popc((((r & ~ends) + ~ends) | r) & ends); }

// What a quad holds.
struct Kind {
  u32 ends;   // the highest position of each class, in a word or in a warp's votes
  u16 digit;  // of the weight
  u16 form;   // whether a class is part of a word, a whole quad, or the quads of several lanes
};
enum { kInWords, kInQuads, kInLanes };

// The number of points of the classes that have a bit of a quad set. Whole warps call it. If
// classes are larger than a quad, all quads of the warp have such classes.
INLINE u32 points(uint4 v, Kind kind) {
  if (kind.form == kInWords)
    return (classes(v.x, kind.ends) + classes(v.y, kind.ends) + classes(v.z, kind.ends) + classes(v.w, kind.ends)) << kind.digit;
  u32 any = (v.x | v.y | v.z | v.w) != 0;
  if (kind.form == kInQuads) return any << kind.digit;
  u32 votes = __ballot_sync(kFull, any);
  return lane_id() == 0 ? classes(votes, kind.ends) << kind.digit : 0;
}

INLINE uint4 operator&(uint4 a, uint4 b) { return make_uint4(a.x & b.x, a.y & b.y, a.z & b.z, a.w & b.w); }

// Quad q of the AND of the columns of set, which is not empty.
INLINE uint4 joined(const Columns& at, u32 group, u64 set, u32 q) {
  uint4 v = at.column(group, __ffsll(set) - 1)[q];
  for (set &= set - 1; set; set &= set - 1) v = v & at.column(group, __ffsll(set) - 1)[q];
  return v;
}

// The points of a feature that take part in a set of two or more features. Called by `threads`
// threads, of which this is number t; returns the sum over the warp's lanes.
INLINE u32 participating(const Columns& at, u32 f, u64 set, u32 t, u32 threads) {
  set &= ~(1ull << f);
  u32 quads = at.words[f] / 4, n = 0;
  const Kind* kind = at.kind + at.first[f] / 4;
  for (u32 q = t; q < quads; q += threads) n += points(joined(at, f, set, q), kind[q]);
  return warp_sum(n);
}

// Calls f with each set of a class. These are the sets of the place, restricted to `around`: the
// class's own feature and those with which it is a prevalent pair. Sets of one feature are dropped,
// as are sets without the root, if there is one, and sets that another contains.
template <class F> INLINE void class_sets(const u64* sets, u32 count, u64 around, u64 root, F f) {
  bool narrowed = false;
  for (u32 i = 0; i < count; i++) narrowed |= (sets[i] & ~around) != 0;
  for (u32 i = 0; i < count; i++) {
    u64 s = sets[i] & around;
    if ((s & (s - 1)) == 0 || (root && !(s & root))) continue;
    bool in = false;
    for (u32 j = 0; narrowed && j < count && !in; j++) {
      u64 o = sets[j] & around;
      in = j != i && (s & ~o) == 0 && (s != o || j < i);
    }
    if (!in) f(s);
  }
}

// The c of a class with n sets. There is no c = 6: classes larger than a word fill a quad.
INLINE u32 size_of(u32 n) {
  u32 c = n > 1 ? 32 - __clz(n - 1) : 0;
  return c == 6 ? 7 : c;
}

INLINE u32 bucket_of(u32 group, u32 c, u32 digit) { return (group * kSizes + c) * kDigits + digit; }

// Counts the classes of each bucket. overflow is set if a class has more sets than any bucket has
// room for.
KERNEL __launch_bounds__(kThreads)
class_count(const u32* feature, const u32* weight, const u32* place_of, u64 n, const u32* bit, const u64* pairs, u64 root,
            const u64* pool, const u64* set_start, const u32* set_count, u32* buckets, u32* overflow) {
  u64 k = (u64)blockIdx.x * kThreads + threadIdx.x;
  if (k >= n) return;
  u32 w = weight[k], b = bit[feature[k]];
  if (w == 0 || b >= kBits) return;
  u32 p = place_of[k], kept = 0;
  class_sets(pool + set_start[p], set_count[p], pairs[b] | 1ull << b, root, [&](u64) { kept++; });
  if (kept == 0) return;
  u32 c = size_of(kept);
  if (c >= kSizes) {
    *overflow = 1;
    return;
  }
  for (; w; w &= w - 1) atomicAdd(buckets + bucket_of(b, c, __ffs(w) - 1), 1u);
}

// Sets the bits of every class. start has the first word of each bucket. taken counts its classes;
// it must be zero at first, as must the columns.
KERNEL __launch_bounds__(kThreads)
class_fill(const u32* feature, const u32* weight, const u32* place_of, u64 n, const u32* bit, const u64* pairs, u64 root,
           const u64* pool, const u64* set_start, const u32* set_count, const u32* start, u32* taken, const u32* first,
           const u32* words, u32 width, u32* bits) {
  u64 k = (u64)blockIdx.x * kThreads + threadIdx.x;
  if (k >= n) return;
  u32 w = weight[k], b = bit[feature[k]];
  if (w == 0 || b >= kBits) return;
  u32 p = place_of[k], kept = 0, count = set_count[p];
  const u64* sets = pool + set_start[p];
  u64 around = pairs[b] | 1ull << b, all = 0;
  bool same = true;
  class_sets(sets, count, around, root, [&](u64 s) {
    same &= s == sets[kept];
    all |= s;
    kept++;
  });
  if (kept == 0) return;
  u32 c = size_of(kept);
  u32* columns = bits + (u64)first[b] * width;
  for (; w; w &= w - 1) {
    u32 bucket = bucket_of(b, c, __ffs(w) - 1);
    u32 slot = atomicAdd(taken + bucket, 1u);
    u32 word = start[bucket] - first[b] + (u32)(((u64)slot << c) >> 5);
    u32 shift = (slot << c) & 31;
    if (same && c <= 5) {
      // All sets of the place are kept unchanged and fit one word: one write per column.
      for (u64 m = all; m; m &= m - 1) {
        u32 f = __ffsll(m) - 1, v = 0;
        for (u32 t = 0; t < kept; t++) v |= (u32)((sets[t] >> f) & 1) << t;
        atomicOr(columns + (u64)f * words[b] + word, v << shift);
      }
      continue;
    }
    u32 t = shift;
    class_sets(sets, count, around, root, [&](u64 s) {
      for (u64 m = s; m; m &= m - 1)
        atomicOr(columns + (u64)(__ffsll(m) - 1) * words[b] + word + t / 32, 1u << (t % 32));
      t++;
    });
  }
}

// Counters that all blocks share: nodes on the stack, sets found, size of the largest set found.
enum { kTop, kFound, kLongest };

// Appends to a list with a counter, if there is room. The counter increases even if there is not.
INLINE void push(u64* list, u64* counter, u64 room, u64 v) {
  u64 at = atomicAdd(counter, 1ull);
  if (at < room) list[at] = v;
}

// A block evaluates a node: a set, head, and the features that may extend it, tail. It removes from
// tail the features that are not prevalent together with head. For this it counts the points of
// each feature of head, then those of the features of tail. If head and all remaining features
// together are prevalent, they are found, and the branch ends. Otherwise the children are pushed on
// the stack: head and each remaining feature, which those of a higher bit may extend. Sets that
// nothing can extend are found, too. A set that is found may be contained in another one.
KERNEL __launch_bounds__(kThreads)
judge(const u64* heads, const u64* tails, u32 n, const u32* bits, const u32* first, const u32* words, const Kind* kind,
      u32 width, const u64* need, const u64* pairs, u32 all, u64* stack_heads, u64* stack_tails, u64 stack_room, u64* found,
      u64 found_room, u64 found_before, u32 longest_before, u64* counters) {
  __shared__ u32 sums[kBatch];
  __shared__ u64 left;
  __shared__ u32 failed;
  Columns at = {bits, first, words, kind, width};
  u64 head = heads[blockIdx.x], tail = tails[blockIdx.x];
  if (threadIdx.x == 0) failed = 0;
  __syncthreads();
  // If a set found in an earlier round contains the whole branch, skip it.
  if (!all && __popcll(head | tail) <= longest_before) {
    for (u64 i = threadIdx.x; i < found_before; i += kThreads)
      if (((head | tail) & ~found[i]) == 0) atomicOr(&failed, 1u);
    __syncthreads();
    if (failed) return;
  }
  u64 ok = tail;
  for (u64 m = head; m && ok; m &= m - 1) {
    u32 f = __ffsll(m) - 1;
    u32 quads = words[f] / 4;
    const Kind* kinds = kind + first[f] / 4;
    u64 others = head & ~(1ull << f);
    u64 next = ok;
    for (u64 rest = ok; rest;) {
      const uint4* column[kBatch];
      u32 sum[kBatch];
      u64 batch = rest;
#pragma unroll
      for (u32 u = 0; u < kBatch; u++) {
        column[u] = rest ? at.column(f, __ffsll(rest) - 1) : nullptr;
        rest &= rest - 1;
        sum[u] = 0;
      }
      if (threadIdx.x < kBatch) sums[threadIdx.x] = 0;
      __syncthreads();
      for (u32 q = threadIdx.x; q < quads; q += kThreads) {
        uint4 v = joined(at, f, others, q);
        Kind k = kinds[q];
#pragma unroll
        for (u32 u = 0; u < kBatch; u++)
          if (column[u]) sum[u] += points(v & column[u][q], k);
      }
#pragma unroll
      for (u32 u = 0; u < kBatch; u++) {
        if (!column[u]) break;
        u32 s = warp_sum(sum[u]);
        if (lane_id() == 0 && s) atomicAdd(&sums[u], s);
      }
      __syncthreads();
      for (u32 u = 0; u < kBatch && batch; u++, batch &= batch - 1)
        if (sums[u] < need[f]) next &= ~(batch & -batch);
      __syncthreads();
    }
    ok = next;
  }
  // Count the points of the features of tail; each warp takes one feature at a time.
  if (threadIdx.x == 0) left = ok;
  __syncthreads();
  u32 turn = 0;
  for (u64 m = ok; m; m &= m - 1, turn++) {
    if (turn % kWarps != warp_id()) continue;
    u32 g = __ffsll(m) - 1;
    u32 s = participating(at, g, head | m & -m, lane_id(), kWarp);
    if (lane_id() == 0 && s < need[g]) atomicAnd(&left, ~(m & -m));
  }
  __syncthreads();
  ok = left;
  u64 whole = head | ok;
  bool together = !all && __popcll(ok) > 1;
  for (u64 m = whole; m && together; m &= m - 1) {
    u32 f = __ffsll(m) - 1;
    if (threadIdx.x == 0) sums[0] = 0;
    __syncthreads();
    u32 s = participating(at, f, whole, threadIdx.x, kThreads);
    if (lane_id() == 0 && s) atomicAdd(&sums[0], s);
    __syncthreads();
    together = sums[0] >= need[f];
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  u64 longest = 0;
  if (together || (!all && __popcll(ok) < 2)) {
    push(found, counters + kFound, found_room, whole);
    longest = __popcll(whole);
  } else {
    for (u64 m = ok; m; m &= m - 1) {
      u64 g = m & -m;
      u64 grow = ok & ~(g | (g - 1)) & pairs[__ffsll(m) - 1];
      if (all || !grow) {
        push(found, counters + kFound, found_room, head | g);
        longest = __popcll(head) + 1;
      }
      if (grow) {
        u64 to = atomicAdd(counters + kTop, 1ull);
        if (to < stack_room) {
          stack_heads[to] = head | g;
          stack_tails[to] = grow;
        }
      }
    }
  }
  if (longest) atomicMax(counters + kLongest, longest);
}

// Selects the sets that no other contains, and the first of equal ones.
KERNEL __launch_bounds__(kThreads) maximal_sets(const u64* found, u64 n, u8* keep) {
  __shared__ u64 tile[kThreads];
  u64 i = (u64)blockIdx.x * kThreads + threadIdx.x;
  u64 mine = i < n ? found[i] : 0;
  bool in = false;
  for (u64 base = 0; base < n; base += kThreads) {
    tile[threadIdx.x] = base + threadIdx.x < n ? found[base + threadIdx.x] : 0;
    __syncthreads();
    for (u32 t = 0; t < kThreads; t++) {
      u64 o = tile[t];
      if ((mine & ~o) == 0) in |= mine != o || base + t < i;
    }
    __syncthreads();
  }
  if (i < n) keep[i] = !in;
}

// Counts the participating points of each feature of each pattern, in the order of bits. Each
// pattern has room for stride counts. A warp takes one feature of a pattern.
KERNEL __launch_bounds__(kThreads)
participation(const u64* patterns, u64 n, u32 stride, const u32* bits, const u32* first, const u32* words, const Kind* kind,
              u32 width, u32* counts) {
  Columns at = {bits, first, words, kind, width};
  u64 item = (u64)blockIdx.x * kWarps + warp_id();
  u64 p = item / stride;
  if (p >= n) return;
  u64 set = patterns[p];
  u32 k = (u32)(item % stride);
  u64 m = set;
  for (u32 i = 0; i < k && m; i++) m &= m - 1;
  u32 s = 0;
  if (m) s = participating(at, __ffsll(m) - 1, set, lane_id(), kWarp);
  if (lane_id() == 0) counts[item] = s;
}
