// The sparse-graph and condensed-tree algorithm (SGCT) as the thesis describes it. A sweep along x
// finds the instances of size 2. Each is packed into one word, and they are sorted by (type, type,
// instance, instance). A type is a feature. One hash map (ITMPack) maps a pair of types to its
// range. Another (ITNMPack) maps an instance and a type to the instance's neighbours of that type.
// Instance trees grow level by level.
#include "hash.cuh"
#include "warp.cuh"

constexpr u32 kThreads = 256;
constexpr u32 kWarps = kThreads / kWarp;

INLINE u64 thread_number() { return (u64)blockIdx.x * kThreads + threadIdx.x; }

// A pair of instances in one word, the one of the lower type first.
struct Packing {
  u32 type_bits, bits;  // of a type, of an instance's number within its type

  INLINE u64 types(u32 a, u32 b) const { return (u64)a << type_bits | b; }
  INLINE u64 neighbours(u32 a, u32 b, u32 instance) const { return types(a, b) << bits | instance; }
  INLINE u64 pair(u32 a, u32 b, u32 i, u32 j) const { return neighbours(a, b, i) << bits | j; }
  INLINE u32 second(u64 pair) const { return (u32)(pair & ((1ull << bits) - 1)); }
  INLINE u32 first(u64 pair) const { return second(pair >> bits); }
};

// Converts x to words in the same order.
KERNEL __launch_bounds__(kThreads) sweep_keys(const double* x, u64 n, u64* keys, u32* order) {
  u64 i = thread_number();
  if (i >= n) return;
  u64 bits = (u64)__double_as_longlong(__dadd_rn(x[i], 0.0));
  keys[i] = bits >> 63 ? ~bits : bits | 1ull << 63;
  order[i] = (u32)i;
}

KERNEL __launch_bounds__(kThreads)
sweep_gather(const u32* order, const double* x, const double* y, const double* z, const u32* type, const u32* number, u64 n,
             double* to_x, double* to_y, double* to_z, u32* to_type, u32* to_number) {
  u64 k = thread_number();
  if (k >= n) return;
  u32 i = order[k];
  to_x[k] = x[i];
  to_y[k] = y[i];
  if (z) to_z[k] = z[i];
  to_type[k] = type[i];
  to_number[k] = number[i];
}

// A warp compares one point with those before it along x, 32 at a time, until one is too far away
// in x alone.
template <class Found>
INLINE void sweep(u64 i, const double* x, const double* y, const double* z, const u32* type, double limit, Found found) {
  for (u64 base = i; base > 0; base -= min_of(base, (u64)kWarp)) {
    bool far = false, near = false;
    u64 j = base - 1 - lane_id();
    if (lane_id() < base) {
      double dx = __dsub_rn(x[i], x[j]);
      double d = __dmul_rn(dx, dx);
      far = d > limit;
      double dy = __dsub_rn(y[i], y[j]);
      d = __dadd_rn(d, __dmul_rn(dy, dy));
      if (z) {
        double dz = __dsub_rn(z[i], z[j]);
        d = __dadd_rn(d, __dmul_rn(dz, dz));
      }
      near = !far && d <= limit && type[i] != type[j];
    }
    __syncwarp();
    found(near, j);
    if (__any_sync(kFull, far)) break;
  }
}

KERNEL __launch_bounds__(kThreads)
count_neighbours(const double* x, const double* y, const double* z, const u32* type, u64 n, double limit, u32* counts) {
  u64 i = (u64)blockIdx.x * kWarps + warp_id();
  if (i >= n) return;
  u32 count = 0;
  sweep(i, x, y, z, type, limit, [&](bool near, u64) { count += near; });
  count = warp_sum(count);
  if (lane_id() == 0) counts[i] = count;
}

KERNEL __launch_bounds__(kThreads)
find_neighbours(const double* x, const double* y, const double* z, const u32* type, const u32* number, u64 n, double limit,
                const u64* begins, u32 type_bits, u32 bits, u64* pairs) {
  u64 i = (u64)blockIdx.x * kWarps + warp_id();
  if (i >= n) return;
  Packing p = {type_bits, bits};
  u64 to = begins[i];
  sweep(i, x, y, z, type, limit, [&](bool near, u64 j) {
    u32 votes = __ballot_sync(kFull, near);
    if (near) {
      bool lower = type[i] < type[j];
      u64 a = lower ? i : j, b = lower ? j : i;
      pairs[to + __popc(votes & lanes_below())] = p.pair(type[a], type[b], number[a], number[b]);
    }
    to += __popc(votes);
  });
}

KERNEL __launch_bounds__(kThreads) shift_keys(const u64* keys, u64 n, u32 shift, u64* out) {
  u64 k = thread_number();
  if (k < n) out[k] = keys[k] >> shift;
}

// Computes (type, type, second instance) of every pair.
KERNEL __launch_bounds__(kThreads) second_keys(const u64* keys, u64 n, u32 bits, u64* out) {
  u64 k = thread_number();
  if (k < n) out[k] = keys[k] >> (2 * bits) << bits | (keys[k] & ((1ull << bits) - 1));
}

// Fills a map from each key to its number, from 1.
KERNEL __launch_bounds__(kThreads) map_fill(const u64* keys, u64 n, u64* map_keys, u64* map_values, u64 slots) {
  u64 k = thread_number();
  if (k < n) table_add(map_keys, map_values, slots, keys[k], k + 1);
}

struct Map {
  const u64* keys;
  const u64* values;
  u64 slots;
  const u64* begins;  // starts of the numbered ranges, and the end of the last

  // The range of a key; empty if there is none.
  INLINE void range(u64 key, u64& from, u64& to) const {
    u64 at = table_find(keys, slots, key);
    from = to = 0;
    if (at == slots) return;
    u64 k = values[at];
    from = begins[k - 1];
    to = begins[k];
  }
};

// Counts the distinct keys (types, instance), which are sorted, by the number of their types.
KERNEL __launch_bounds__(kThreads)
unique_counts(const u64* keys, u64 n, u32 bits, const u64* map_keys, const u64* map_values, u64 slots, u32* counts) {
  u64 k = thread_number();
  if (k >= n || (k > 0 && keys[k - 1] == keys[k])) return;
  u64 at = table_find(map_keys, slots, keys[k] >> bits);
  if (at < slots) atomicAdd(counts + (map_values[at] - 1), 1u);
}

// Marks the pairs of types whose participation index reaches the threshold.
KERNEL __launch_bounds__(kThreads)
prevalence_mask(const u64* types, u64 n, u32 type_bits, const u32* counts_a, const u32* counts_b, const u64* total, double least,
                u8* mask) {
  u64 k = thread_number();
  if (k >= n) return;
  u64 a = total[types[k] >> type_bits], b = total[types[k] & ((1ull << type_bits) - 1)];
  mask[k] = __ddiv_rn((double)counts_a[k], (double)a) >= least && __ddiv_rn((double)counts_b[k], (double)b) >= least;
}

// Finds the pairs of instances of each candidate's first two types: at most limit of them, after
// the first skip.
KERNEL __launch_bounds__(kThreads)
tree_roots(const u32* candidates, u64 n, u32 length, u32 type_bits, u32 bits, const u64* map_keys, const u64* map_values,
           u64 slots, const u64* begins, u64 skip, u64 limit, u64* first, u32* counts) {
  u64 c = thread_number();
  if (c >= n) return;
  Packing p = {type_bits, bits};
  Map itm = {map_keys, map_values, slots, begins};
  u64 from, to;
  itm.range(p.types(candidates[c * length], candidates[c * length + 1]), from, to);
  from = min_of(from + skip, to);
  to = min_of(to, from + limit);
  first[c] = from;
  counts[c] = (u32)(to - from);
}

// Makes levels 0 and 1 from the pairs. Nodes of all levels are in one list: first those of level 0,
// then as many of level 1.
KERNEL __launch_bounds__(kThreads)
tree_first(const u32* owner, const u64* offsets, const u64* first, u64 n, u32 bits, const u64* pairs, u32* instance, u32* parent,
           u32* candidate, u8* mask) {
  u64 t = thread_number();
  if (t >= n) return;
  u32 c = owner[t];
  u64 pair = pairs[first[c] + (t - offsets[c])];
  Packing p = {0, bits};
  instance[t] = p.first(pair);
  instance[n + t] = p.second(pair);
  parent[t] = 0;
  parent[n + t] = (u32)t;
  candidate[t] = candidate[n + t] = c;
  mask[t] = mask[n + t] = 1;
}

// Counts the neighbours of the next type of each node of a level. Nodes that failed the test have
// none.
KERNEL __launch_bounds__(kThreads)
tree_count(const u32* candidates, u32 length, u32 level, u64 start, u64 n, const u32* instance, const u32* candidate,
           const u8* mask, u32 type_bits, u32 bits, const u64* map_keys, const u64* map_values, u64 slots, const u64* begins,
           u64* first, u32* counts) {
  u64 k = thread_number();
  if (k >= n) return;
  Packing p = {type_bits, bits};
  Map itnm = {map_keys, map_values, slots, begins};
  u64 from = 0, to = 0;
  if (mask[start + k]) {
    const u32* types = candidates + (u64)candidate[start + k] * length;
    itnm.range(p.neighbours(types[level], types[level + 1], instance[start + k]), from, to);
  }
  first[k] = from;
  counts[k] = (u32)(to - from);
}

// Makes the next level, with one node for each neighbour.
KERNEL __launch_bounds__(kThreads)
tree_fill(const u32* owner, const u64* offsets, const u64* first, u64 n, u64 start, u64 next, u32 bits, const u64* pairs,
          u32* instance, u32* parent, u32* candidate) {
  u64 t = thread_number();
  if (t >= n) return;
  u32 k = owner[t];
  Packing p = {0, bits};
  instance[next + t] = p.second(pairs[first[k] + (t - offsets[k])]);
  parent[next + t] = (u32)(start + k);
  candidate[next + t] = candidate[start + k];
}

// Tests that a new node is a neighbour of all its ancestors. It is one of its parent; the others
// are tested from the parent's parent to the root.
KERNEL __launch_bounds__(kThreads)
tree_test(const u32* candidates, u32 length, u32 level, u64 start, u64 n, const u32* instance, const u32* parent,
          const u32* candidate, u32 type_bits, u32 bits, const u64* map_keys, const u64* map_values, u64 slots,
          const u64* begins, const u64* pairs, u8* mask) {
  u64 k = thread_number();
  if (k >= n) return;
  Packing p = {type_bits, bits};
  Map itnm = {map_keys, map_values, slots, begins};
  const u32* types = candidates + (u64)candidate[start + k] * length;
  u32 mine = instance[start + k];
  u32 at = parent[parent[start + k]];
  bool ok = true;
  for (i32 up = (i32)level - 2; up >= 0 && ok; up--) {
    u64 from, to;
    itnm.range(p.neighbours(types[up], types[level], instance[at]), from, to);
    u64 want = p.pair(types[up], types[level], instance[at], mine);
    u64 end = to;
    while (from < to) {
      u64 mid = (from + to) / 2;
      if (pairs[mid] < want) {
        from = mid + 1;
      } else {
        to = mid;
      }
    }
    ok = from < end && pairs[from] == want;
    at = parent[at];
  }
  mask[start + k] = ok;
}

// Marks the instances on every path of full length, and counts those marked for the first time.
// Each feature of each candidate has a bitmap of the given number of words.
KERNEL __launch_bounds__(kThreads)
tree_unique(u32 length, u64 start, u64 n, const u32* instance, const u32* parent, const u32* candidate, const u8* mask,
            u32 words, u32* marks, u32* counts) {
  u64 k = thread_number();
  if (k >= n || !mask[start + k]) return;
  u32 at = (u32)(start + k);
  u64 row = (u64)candidate[at] * length + length;
  for (u32 level = length; level-- > 0; at = parent[at]) {
    row--;
    u32 i = instance[at];
    u32 bit = 1u << (i % 32);
    u32* word = marks + row * words + i / 32;
    if (!(*(volatile u32*)word & bit) && !(atomicOr(word, bit) & bit)) atomicAdd(counts + row, 1u);
  }
}
