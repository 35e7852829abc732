// The profile of a place is the list of the maximal feature sets of the cliques through it. A point
// takes part in a pattern if a set in the profile of its place contains the pattern, so cliques
// need not be searched again.
//
// A warp searches one place, by the algorithm of Bron and Kerbosch with a pivot, on feature sets
// instead of vertex sets. A candidate is dropped if the clique already has all its features. A
// branch is cut if a set found before contains all its features. Lane i has the candidates i, i+32
// and so on. Sets of candidates are bit sets, the same in all lanes.
#include "warp.cuh"

constexpr u32 kTooLong = ~0u;

INLINE u64 warp_or(u64 v) {
#pragma unroll
  for (u32 d = kWarp / 2; d > 0; d /= 2) v |= __shfl_xor_sync(kFull, v, d);
  return v;
}

INLINE u32 warp_max(u32 v) {
#pragma unroll
  for (u32 d = kWarp / 2; d > 0; d /= 2) v = max_of(v, __shfl_xor_sync(kFull, v, d));
  return v;
}

INLINE u64 warp_min(u64 v) {
#pragma unroll
  for (u32 d = kWarp / 2; d > 0; d /= 2) v = min_of(v, __shfl_xor_sync(kFull, v, d));
  return v;
}

// The squared distance that decides which places are neighbours. Each product is rounded
// separately, as on the CPU.
INLINE double distance2(double ax, double ay, double az, double bx, double by, double bz, bool sphere) {
  double dx = __dsub_rn(ax, bx), dy = __dsub_rn(ay, by);
  double d = __dadd_rn(__dmul_rn(dx, dx), __dmul_rn(dy, dy));
  if (!sphere) return d;
  double dz = __dsub_rn(az, bz);
  return __dadd_rn(d, __dmul_rn(dz, dz));
}

// A key that orders numbers by distance, to the precision of the upper half of a double.
INLINE u64 nearness(double d, u32 number) { return (u64)__double_as_longlong(d) >> 32 << 32 | number; }

// A list of up to 64 numbers, two per lane.
struct Nearest {
  u32 lower = 0, upper = 0, count = 0;

  INLINE void add(u32 number) {
    if (count == lane_id()) lower = number;
    if (count == lane_id() + kWarp) upper = number;
    count++;
  }

  // Whether holds is true for every two different numbers.
  template <class Holds> INLINE bool all(Holds holds) const {
    for (u32 a = 0; a < count; a++) {
      u32 i = __shfl_sync(kFull, a < kWarp ? lower : upper, a % kWarp);
      bool ok = true;
      if (lane_id() < a && lower != i) ok = holds(lower, i);
      if (lane_id() + kWarp < a && upper != i) ok &= holds(upper, i);
      if (!__all_sync(kFull, ok)) return false;
    }
    return true;
  }
};

// The memory of one warp: room for 32*Words candidates, for searches of up to Depth levels, and for
// Sets sets.
template <u32 Words, u32 Depth, u32 Sets> struct Search {
  static constexpr u32 kMost = 32 * Words;
  struct Frame {
    u64 own;
    u32 cand[Words];
    u32 branch[Words];
    u32 pivot;
  };
  struct Position {
    double x[kMost], y[kMost], z[kMost], reach[kMost];
  };
  u64 mask[kMost];
  u64 sets[Sets];
  u32 row[kMost][Words];
  union {
    Position at;          // used until the candidates are compared
    Frame frames[Depth];  // used after that
  };

  // Whether a set found before contains this set.
  INLINE bool known(u64 set, u32 found) const {
    bool in = false;
    for (u32 i = lane_id(); i < found; i += kWarp) in |= (set & ~sets[i]) == 0;
    return __any_sync(kFull, in);
  }

  // Adds a set unless another contains it, and drops those that it contains.
  INLINE u32 add(u64 set, u32 found) {
    if (known(set, found)) return found;
    u32 kept = 0;
    for (u32 base = 0; base < found; base += kWarp) {
      u32 i = base + lane_id();
      u64 s = i < found ? sets[i] : 0;
      bool keep = i < found && (s & ~set) != 0;
      u32 votes = __ballot_sync(kFull, keep);
      __syncwarp();
      if (keep) sets[kept + __popc(votes & lanes_below())] = s;
      kept += __popc(votes);
      __syncwarp();
    }
    if (kept == Sets) return kTooLong;
    __syncwarp();
    if (lane_id() == 0) sets[kept] = set;
    __syncwarp();
    return kept + 1;
  }

  // Whether two candidates are neighbours.
  INLINE bool near(u32 i, u32 j, bool sphere, bool reaches, double limit) const {
    double d = distance2(at.x[i], at.y[i], sphere ? at.z[i] : 0, at.x[j], at.y[j], sphere ? at.z[j] : 0, sphere);
    return d <= (reaches ? max_of(at.reach[i], at.reach[j]) : limit);
  }

  // Whether the candidates nearest to a position, one for each feature, form a clique. Then the
  // profile is a single set, of all features in reach.
  INLINE bool nearest(u32 n, u64 features, double x, double y, double z, bool sphere, bool reaches, double limit) const {
    Nearest chosen;
    for (u64 m = features; m; m &= m - 1) {
      u64 f = m & -m, best = ~0ull;
#pragma unroll
      for (u32 k = 0; k < Words; k++) {
        u32 i = k * kWarp + lane_id();
        if (i < n && (mask[i] & f)) best = min_of(best, nearness(distance2(at.x[i], at.y[i], sphere ? at.z[i] : 0, x, y, z, sphere), i));
      }
      chosen.add((u32)warp_min(best));
    }
    return chosen.all([&](u32 i, u32 j) { return near(i, j, sphere, reaches, limit); });
  }

  // Fills the adjacency matrix of the candidates.
  INLINE void compare(u32 n, bool sphere, bool reaches, double limit) {
    for (u32 i = 0; i < n; i++) {
#pragma unroll
      for (u32 k = 0; k < Words; k++) {
        u32 j = k * kWarp + lane_id();
        u32 votes = __ballot_sync(kFull, j < n && j != i && near(i, j, sphere, reaches, limit));
        if (lane_id() == k) row[i][k] = votes;
      }
    }
    __syncwarp();
  }

  // Drops redundant candidates. A candidate that has a single feature is redundant if another one
  // with just that feature has all its neighbours of other features. Of two with the same
  // neighbours, the first is kept.
  INLINE void thin(u32 n, u64 features, u32 (&cand)[Words]) {
    u32 covered = 0;  // bit k: candidate k*32+lane
    for (u64 m = features; m; m &= m - 1) {
      u64 f = m & -m;
      u32 with[Words], single[Words], count = 0;
#pragma unroll
      for (u32 k = 0; k < Words; k++) {
        u32 i = k * kWarp + lane_id();
        u64 mine = i < n ? mask[i] : 0;
        with[k] = __ballot_sync(kFull, (mine & f) != 0);
        single[k] = __ballot_sync(kFull, mine == f);
        count += __popc(single[k]);
      }
      if (count < 2) continue;
#pragma unroll 1
      for (u32 word = 0; word < Words; word++) {
        u32 rest = 0;
#pragma unroll
        for (u32 k = 0; k < Words; k++)
          if (k == word) rest = single[k];
#pragma unroll 1
        for (; rest; rest &= rest - 1) {
          u32 j = word * kWarp + __ffs(rest) - 1;
#pragma unroll
          for (u32 k = 0; k < Words; k++) {
            u32 i = k * kWarp + lane_id();
            if (!((single[k] >> lane_id()) & 1) || i == j) continue;
            bool within = true, equal = true;
#pragma unroll
            for (u32 w = 0; w < Words; w++) {
              u32 a = row[i][w] & ~with[w], b = row[j][w] & ~with[w];
              within &= (a & ~b) == 0;
              equal &= a == b;
            }
            if (within && (!equal || j < i)) covered |= 1u << k;
          }
        }
      }
    }
#pragma unroll
    for (u32 k = 0; k < Words; k++) cand[k] = __ballot_sync(kFull, k * kWarp + lane_id() < n && !((covered >> k) & 1));
  }

  // Extends the clique with features own by the candidates, which are neighbours of all its
  // members. Returns the number of sets, or kTooLong.
  INLINE u32 grow(u64 own, u32 (&cand)[Words], u32 steps) {
    u32 depth = 0, found = 0;
    for (;;) {
      if (steps-- == 0) return kTooLong;
      u64 reach = 0;
      u32 left = 0;
#pragma unroll
      for (u32 k = 0; k < Words; k++) {
        bool in = (cand[k] >> lane_id()) & 1;
        u64 m = in ? mask[k * kWarp + lane_id()] : 0;
        bool useful = (m & ~own) != 0;
        cand[k] = __ballot_sync(kFull, useful);
        if (useful) reach |= m;
        left += __popc(cand[k]);
      }
      bool down = false;
      if (left == 0 || !known(own | warp_or(reach), found)) {
        // Candidates that are neighbours of all others are in every maximal clique of this branch.
        u32 near[Words];
        u64 certain = 0;
#pragma unroll
        for (u32 k = 0; k < Words; k++) {
          u32 i = k * kWarp + lane_id();
          near[k] = 0;
          if ((cand[k] >> lane_id()) & 1) {
#pragma unroll
            for (u32 w = 0; w < Words; w++) near[k] += __popc(cand[w] & row[i][w]);
            if (near[k] == left - 1) certain |= mask[i];
          }
        }
        own |= warp_or(certain);
        u32 best = 0;  // neighbours << 16 | ~candidate
#pragma unroll
        for (u32 k = 0; k < Words; k++) {
          u32 i = k * kWarp + lane_id();
          bool useful = ((cand[k] >> lane_id()) & 1) && (mask[i] & ~own) != 0;
          cand[k] = __ballot_sync(kFull, useful);
          if (useful) best = max_of(best, near[k] << 16 | (0xffff - i));
        }
        best = warp_max(best);
        if (best == 0) {  // no candidate is left
          found = add(own, found);
          if (found == kTooLong) return kTooLong;
        } else {
          u32 pivot = 0xffff - (best & 0xffff);
          if (depth == Depth) return kTooLong;
          Frame& f = frames[depth++];
          if (lane_id() == 0) {
            f.own = own;
            f.pivot = pivot;
          }
#pragma unroll
          for (u32 k = 0; k < Words; k++) {
            u32 next = row[pivot][k];
            u32 self = k == pivot / kWarp ? 1u << (pivot % kWarp) : 0;
            if (lane_id() == k) {
              f.cand[k] = cand[k] & ~self;
              f.branch[k] = cand[k] & ~next & ~self;
            }
            cand[k] &= next;
          }
          own |= mask[pivot];
          __syncwarp();
          down = true;
        }
      }
      // Backtrack to the last frame with a branch that must be searched.
      while (!down) {
        if (depth == 0) return found;
        Frame& f = frames[depth - 1];
        u32 i = kTooLong;
#pragma unroll
        for (u32 k = 0; k < Words; k++) {
          u32 b = f.branch[k];
          if (i == kTooLong && b) i = k * kWarp + __ffs(b) - 1;
        }
        if (i == kTooLong) {
          depth--;
          continue;
        }
        u32 pivot = f.pivot;
        bool within = true;
#pragma unroll
        for (u32 k = 0; k < Words; k++) {
          cand[k] = f.cand[k] & row[i][k];
          within &= (cand[k] & ~row[pivot][k]) == 0;
        }
        // A candidate that the pivot can replace needs no branch.
        down = (mask[i] & ~mask[pivot]) != 0 || !within;
        own = f.own | mask[i];
        __syncwarp();
        if (lane_id() == i / kWarp) {
          f.cand[lane_id()] &= ~(1u << (i % kWarp));
          f.branch[lane_id()] &= ~(1u << (i % kWarp));
        }
        __syncwarp();
      }
    }
  }
};

// Profiles n places from lo on or, if there is a queue, the *queued places in it. The sets of a
// place are appended to the pool, if there is room; used counts the sets even if there is not.
// Places that need more memory or steps than this kernel has go to the next queue.
template <u32 Words, u32 Depth, u32 Sets, u32 Warps>
INLINE void profiles(Search<Words, Depth, Sets>* searches, const u32* queue, const u32* queued, u32 lo, u32 n, const double* x,
                     const double* y, const double* z, const double* reach, double limit, const u64* masks, const u64* pairs,
                     u64 root, const u64* offsets, const u32* lists, u32 steps, u64* pool, u64 room, u64* used, u64* set_start,
                     u32* set_count, u32* next, u32* next_count) {
  Search<Words, Depth, Sets>& s = searches[warp_id()];
  if (queue) n = *queued;
  u64 base = offsets[lo];
  for (u32 item = blockIdx.x * Warps + warp_id(); item < n; item += gridDim.x * Warps) {
    u32 place = queue ? queue[item] : lo + item;
    u64 own = masks[place];
    u64 relevant = own;
    for (u64 m = own; m; m &= m - 1) relevant |= pairs[__ffsll(m) - 1];
    u64 from = offsets[place] - base, to = offsets[place + 1] - base;
    u32 count = 0;
    u64 all = own;
    if (own) {
      for (u64 at = from; at < to; at += kWarp) {
        u32 j = at + lane_id() < to ? lists[at + lane_id()] : place;
        u64 m = masks[j] & relevant;
        bool brings = (m & ~own) != 0;
        u32 votes = __ballot_sync(kFull, brings);
        u32 slot = count + __popc(votes & lanes_below());
        count += __popc(votes);
        if (brings && slot < s.kMost) {
          s.mask[slot] = m;
          s.at.x[slot] = x[j];
          s.at.y[slot] = y[j];
          if (z) s.at.z[slot] = z[j];
          if (reach) s.at.reach[slot] = reach[j];
        }
        if (brings) all |= m;
      }
      __syncwarp();
      all = warp_or(all);
    }
    u32 found = 0;
    if (count > s.kMost) {
      found = kTooLong;
    } else if (own && (root == 0 || (all & root))) {
      // With few candidates, the search is cheaper than this test.
      if (Words > 1 && s.nearest(count, all & ~own, x[place], y[place], z ? z[place] : 0, z != nullptr, reach != nullptr, limit)) {
        __syncwarp();
        if (lane_id() == 0) s.sets[0] = all;
        __syncwarp();
        found = 1;
      } else {
        s.compare(count, z != nullptr, reach != nullptr, limit);
        u32 cand[Words];
        s.thin(count, all & ~own, cand);
        found = s.grow(own, cand, steps);
      }
    }
    if (found == kTooLong) {
      if (lane_id() == 0) next[atomicAdd(next_count, 1u)] = place;
    } else {
      u64 start = 0;
      if (lane_id() == 0 && found) start = atomicAdd(used, (u64)found);
      start = __shfl_sync(kFull, start, 0);
      if (start + found <= room)
        for (u32 i = lane_id(); i < found; i += kWarp) pool[start + i] = s.sets[i];
      if (lane_id() == 0) {
        set_start[place] = start;
        set_count[place] = found;
      }
    }
    __syncwarp();
  }
}

#define PROFILES(NAME, WORDS, DEPTH, SETS, WARPS)                                                                          \
  KERNEL __launch_bounds__(WARPS * 32)                                                                                     \
  NAME(const u32* queue, const u32* queued, u32 lo, u32 n, const double* x, const double* y, const double* z,              \
       const double* reach, double limit, const u64* masks, const u64* pairs, u64 root, const u64* offsets,                \
       const u32* lists, u32 steps, u64* pool, u64 room, u64* used, u64* set_start, u32* set_count, u32* next,             \
       u32* next_count) {                                                                                                  \
    __shared__ Search<WORDS, DEPTH, SETS> searches[WARPS];                                                                 \
    profiles<WORDS, DEPTH, SETS, WARPS>(searches, queue, queued, lo, n, x, y, z, reach, limit, masks, pairs, root,         \
                                        offsets, lists, steps, pool, room, used, set_start, set_count, next, next_count);  \
  }

// Most places have few candidates; the others need a warp with more memory.
PROFILES(profile_32, 1, 32, 32, 8)
PROFILES(profile_64, 2, 48, 64, 8)
PROFILES(profile_128, 4, 64, 256, 4)
PROFILES(profile_256, 8, 64, 1024, 1)

// Profiles places with any number of candidates. If the nearest candidates of all features form a
// clique, the profile is one set; otherwise the place goes to the next queue.
constexpr u32 kCrowdWarps = 4;

KERNEL __launch_bounds__(kCrowdWarps * 32)
profile_crowd(const u32* queue, const u32* queued, u32 lo, u32 n, const double* x, const double* y, const double* z,
              const double* reach, double limit, const u64* masks, const u64* pairs, u64 root, const u64* offsets,
              const u32* lists, u32 steps, u64* pool, u64 room, u64* used, u64* set_start, u32* set_count, u32* next,
              u32* next_count) {
  __shared__ u64 best[kCrowdWarps][64];
  u64* mine = best[warp_id()];
  u64 base = offsets[lo];
  n = *queued;
  for (u32 item = blockIdx.x * kCrowdWarps + warp_id(); item < n; item += gridDim.x * kCrowdWarps) {
    u32 place = queue[item];
    u64 own = masks[place], relevant = own, all = own;
    for (u64 m = own; m; m &= m - 1) relevant |= pairs[__ffsll(m) - 1];
    mine[lane_id()] = mine[lane_id() + kWarp] = ~0ull;
    __syncwarp();
    u64 to = offsets[place + 1] - base;
    for (u64 at = offsets[place] - base + lane_id(); at < to; at += kWarp) {
      u32 j = lists[at];
      u64 m = masks[j] & relevant & ~own;
      all |= m;
      if (!m) continue;
      u64 key = nearness(distance2(x[j], y[j], z ? z[j] : 0, x[place], y[place], z ? z[place] : 0, z != nullptr), j);
      for (; m; m &= m - 1) atomicMin(mine + __ffsll(m) - 1, key);
    }
    __syncwarp();
    all = warp_or(all);
    Nearest chosen;
    for (u64 m = all & ~own; m; m &= m - 1) chosen.add((u32)mine[__ffsll(m) - 1]);
    bool clique = chosen.all([&](u32 i, u32 j) {
      double d = distance2(x[i], y[i], z ? z[i] : 0, x[j], y[j], z ? z[j] : 0, z != nullptr);
      return d <= (reach ? max_of(reach[i], reach[j]) : limit);
    });
    if (lane_id() == 0) {
      if (clique) {
        u64 start = atomicAdd(used, 1ull);
        if (start < room) pool[start] = all;
        set_start[place] = start;
        set_count[place] = 1;
      } else {
        next[atomicAdd(next_count, 1u)] = place;
      }
    }
    __syncwarp();
  }
}
