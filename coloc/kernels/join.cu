// The neighbour join sorts points into cells, merges points at one position into a place, and
// counts, then lists, the places within the distance of every place. Cells are a little wider than
// the distance. The key of a cell is (plane, row, column), so the places around a cell are three
// ranges in the plane and nine on the sphere.
#include "warp.cuh"

constexpr u32 kThreads = 256;

// If a cell has more points than this, the host finds equal positions, by sorting.
constexpr u32 kCrowd = 4096;

INLINE u64 thread_number() { return (u64)blockIdx.x * kThreads + threadIdx.x; }

INLINE u64 cell_of(double at, double low, double scale) {
  return (u64)(i64)__dmul_rn(__dsub_rn(at, low), scale) + 1;
}

KERNEL __launch_bounds__(kThreads)
cell_keys(const double* x, const double* y, const double* z, u64 n, double low_x, double low_y, double low_z, double scale,
          u32 col_bits, u32 row_bits, u64* keys, u32* order) {
  u64 i = thread_number();
  if (i >= n) return;
  u64 plane = z ? cell_of(z[i], low_z, scale) : 0;
  keys[i] = (plane << row_bits | cell_of(y[i], low_y, scale)) << col_bits | cell_of(x[i], low_x, scale);
  order[i] = (u32)i;
}

// Copies the points in the order of their cells. Adding zero makes -0 and 0 one place.
KERNEL __launch_bounds__(kThreads)
cell_gather(const u32* order, const double* x, const double* y, const double* z, const u32* feature, u64 n, double* to_x,
            double* to_y, double* to_z, u32* to_feature) {
  u64 k = thread_number();
  if (k >= n) return;
  u32 i = order[k];
  to_x[k] = __dadd_rn(x[i], 0.0);
  to_y[k] = __dadd_rn(y[i], 0.0);
  if (z) to_z[k] = __dadd_rn(z[i], 0.0);
  to_feature[k] = feature[i];
}

// Finds the lead of every point: the first point of its cell at the same position. Counts the
// points of a feature at a position in weight, at the first of them. weight must be zero at first.
// marks has 1<<32 for the first point of a cell, plus 1 for the first point of a place.
KERNEL __launch_bounds__(kThreads)
cell_marks(const u64* keys, const double* x, const double* y, const double* z, const u32* feature, u64 n, u32* lead,
           u32* weight, u64* marks, u32* crowded) {
  u64 k = thread_number();
  if (k >= n) return;
  u64 key = keys[k];
  double at_x = x[k], at_y = y[k], at_z = z ? z[k] : 0;
  u32 f = feature[k];
  u64 first = k, same = k, j = k;
  for (; j > 0 && keys[j - 1] == key; j--) {
    if (k - j >= kCrowd) {
      *crowded = 1;
      break;
    }
    if (x[j - 1] == at_x && y[j - 1] == at_y && (!z || z[j - 1] == at_z)) {
      first = j - 1;
      if (feature[j - 1] == f) same = j - 1;
    }
  }
  lead[k] = (u32)first;
  atomicAdd(weight + same, 1u);
  marks[k] = (u64)(j == k) << 32 | (first == k);
}

// Makes places and cells from the marks and their prefix sums. counts has the number of cells, then
// that of places.
KERNEL __launch_bounds__(kThreads)
cell_places(const u64* keys, const double* x, const double* y, const double* z, const u32* lead, const u64* marks,
            const u64* sums, u64 n, double* place_x, double* place_y, double* place_z, u32* cell, u32* place_of,
            u64* cell_keys, u32* cell_start, u32* counts) {
  u64 k = thread_number();
  if (k >= n) return;
  u64 mark = marks[k], sum = sums[k];
  u32 c = (u32)((sum + mark) >> 32) - 1;
  u32 p = (u32)sums[lead[k]];
  place_of[k] = p;
  if (mark >> 32) {
    cell_keys[c] = keys[k];
    cell_start[c] = p;
  }
  if ((u32)mark) {
    place_x[p] = x[k];
    place_y[p] = y[k];
    if (z) place_z[p] = z[k];
    cell[p] = c;
  }
  if (k == n - 1) {
    u32 places = (u32)(sum + mark);
    cell_start[c + 1] = places;
    counts[0] = c + 1;
    counts[1] = places;
  }
}

// Finds the ranges of places around each cell, one for each row.
KERNEL __launch_bounds__(kThreads)
cell_spans(const u64* keys, const u32* start, const u32* counts, u32 col_bits, u32 row_bits, u32 rows, uint2* spans) {
  u64 i = thread_number();
  u32 cells = counts[0];
  if (i >= (u64)cells * rows) return;
  u32 c = (u32)(i / rows), r = (u32)(i % rows);
  u64 at = keys[c] + ((i64)(r % 3) - 1) * (1ll << col_bits);
  if (rows > 3) at += ((i64)(r / 3) - 1) * (1ll << (col_bits + row_bits));
  u32 lo = 0, hi = cells;
  while (lo < hi) {
    u32 mid = (lo + hi) / 2;
    if (keys[mid] < at - 1) {
      lo = mid + 1;
    } else {
      hi = mid;
    }
  }
  for (hi = lo; hi < cells && keys[hi] <= at + 1; hi++) {
  }
  spans[i] = make_uint2(start[lo], start[hi]);
}

// Sets the bits of the features at each place. bit[f] is above 63 for features that do not matter.
// masks must be zero at first.
KERNEL __launch_bounds__(kThreads)
place_masks(const u32* feature, const u32* place_of, u64 n, const u32* bit, u64* masks) {
  u64 k = thread_number();
  if (k >= n) return;
  u32 b = bit[feature[k]];
  if (b < 64) atomicOr(masks + place_of[k], 1ull << b);
}

// The squared distance that decides which places are neighbours. Each product is rounded
// separately, as on the CPU.
INLINE double distance2(double dx, double dy) { return __dadd_rn(__dmul_rn(dx, dx), __dmul_rn(dy, dy)); }

template <class Found>
INLINE void each_neighbour(u32 i, const double* x, const double* y, const double* z, const uint2* spans, const u32* cell,
                           u32 rows, double limit, Found found) {
  double at_x = x[i], at_y = y[i], at_z = z ? z[i] : 0;
  const uint2* mine = spans + (u64)cell[i] * rows;
  for (u32 r = 0; r < rows; r++) {
    uint2 s = mine[r];
    for (u32 j = s.x; j < s.y; j++) {
      double d = distance2(__dsub_rn(x[j], at_x), __dsub_rn(y[j], at_y));
      if (z) {
        double dz = __dsub_rn(z[j], at_z);
        d = __dadd_rn(d, __dmul_rn(dz, dz));
      }
      if (d <= limit && j != i) found(j);
    }
  }
}

// Counts the neighbours of each place and, with masks, finds the features near it, its own
// included. degree has n values; it is 0 after the last place.
KERNEL __launch_bounds__(kThreads)
neighbours_count(const double* x, const double* y, const double* z, const uint2* spans, const u32* cell, const u32* counts,
                 u32 rows, double limit, const u64* masks, u64 n, u32* degree, u64* near) {
  u64 i = thread_number();
  if (i >= n) return;
  u32 found = 0;
  if (i < counts[1]) {
    u64 features = masks ? masks[i] : 0;
    each_neighbour((u32)i, x, y, z, spans, cell, rows, limit, [&](u32 j) {
      found++;
      if (masks) features |= masks[j];
    });
    if (masks) near[i] = features;
  }
  degree[i] = found;
}

// Lists the neighbours of the places [lo, hi), one list after the other.
KERNEL __launch_bounds__(kThreads)
neighbours_fill(const double* x, const double* y, const double* z, const uint2* spans, const u32* cell, const u32* counts,
                u32 rows, double limit, const u64* offsets, u64 lo, u64 hi, u32* lists) {
  u64 i = lo + thread_number();
  if (i >= hi || i >= counts[1]) return;
  u32* to = lists + (offsets[i] - offsets[lo]);
  each_neighbour((u32)i, x, y, z, spans, cell, rows, limit, [&](u32 j) { *to++ = j; });
}

// Counts, for ordered pairs of features (f, g), the points of f that have g near them. A block
// counts in shared memory and adds its counts to the total at the end.
constexpr u32 kFeatures = 64;

KERNEL __launch_bounds__(kThreads)
pair_counts(const u32* feature, const u32* weight, const u32* place_of, u64 n, const u64* near, u32 features, u64* counts) {
  __shared__ u32 local[kFeatures * kFeatures];
  for (u32 i = threadIdx.x; i < features * features; i += kThreads) local[i] = 0;
  __syncthreads();
  for (u64 k = thread_number(); k < n; k += (u64)gridDim.x * kThreads) {
    u32 w = weight[k];
    if (w == 0) continue;
    u32 f = feature[k];
    for (u64 m = near[place_of[k]] & ~(1ull << f); m; m &= m - 1) atomicAdd(&local[f * features + __ffsll(m) - 1], w);
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < features * features; i += kThreads)
    if (local[i]) atomicAdd(counts + i, (u64)local[i]);
}
