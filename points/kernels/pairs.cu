// Sums over all pairs of points up to a distance, of many rounds at once. Sums are by the two
// features and the ring, the range of distances. They count the pairs, or they add the weights
// of the pairs and count the points whose nearest point is in the ring. Distances, rings and
// weights are computed as on the CPU, with each operation rounded on its own, and all sums are of
// integers. The results are therefore those of the CPU, in whatever order pairs are added.
//
// The points of a round are sorted into cells at least as wide as the distance, one round after
// the other. blockIdx.y is the round.
#include "warp.cuh"

constexpr u32 kThreads = 256;

INLINE u32 cell_at(double v, double low, double scale, u32 last) {
  double c = __dmul_rn(__dsub_rn(v, low), scale);
  return 1 + (u32)(c > 0 ? (c < last ? c : last) : 0);
}

// A coordinate shifted on a torus: v is in [low, low+size], by is in [0, size).
INLINE double moved(double v, double low, double by, double size) {
  double w = __dadd_rn(__dsub_rn(v, low), by);
  while (w >= size) w = __dsub_rn(w, size);
  return __dadd_rn(low, w);
}

// The points of a round. Positions and features are its own, or the same for all rounds (stride 0).
// moves has the shift of each feature, or is null.
struct Drawn {
  const double* x;
  const double* y;
  const u32* feature;
  const double* moves;
  double min_x, min_y, width, depth;

  INLINE void at(u64 i, double& px, double& py, u32& f) const {
    px = x[i], py = y[i], f = feature[i];
    if (moves) {
      px = moved(px, min_x, moves[2 * f], width);
      py = moved(py, min_y, moves[2 * f + 1], depth);
    }
  }
};

// Counts the points of each cell and notes the place of each point in its cell. counts must be zero
// at first.
KERNEL __launch_bounds__(kThreads)
cell_count(const double* x, const double* y, const u32* feature, const double* moves, u64 n, u64 stride, u64 feature_stride,
           u32 features, double min_x, double min_y, double width, double depth, double low_x, double low_y, double scale,
           u32 cols, u32 rows, u32* counts, u32* place) {
  u64 i = (u64)blockIdx.x * kThreads + threadIdx.x, round = blockIdx.y;
  if (i >= n) return;
  Drawn d = {x + round * stride, y + round * stride, feature + round * feature_stride,
             moves ? moves + round * features * 2 : nullptr, min_x, min_y, width, depth};
  double px, py;
  u32 f;
  d.at(i, px, py, f);
  u32 cell = cell_at(py, low_y, scale, rows - 3) * cols + cell_at(px, low_x, scale, cols - 3);
  place[round * n + i] = atomicAdd(counts + round * cols * rows + cell, 1u);
}

// Copies the points to their cells. start has the exclusive prefix sums of the counts over all
// rounds.
KERNEL __launch_bounds__(kThreads)
cell_fill(const double* x, const double* y, const u32* feature, const double* moves, u64 n, u64 stride, u64 feature_stride,
          u32 features, double min_x, double min_y, double width, double depth, double low_x, double low_y, double scale,
          u32 cols, u32 rows, const u32* start, const u32* place, double* to_x, double* to_y, u32* to_feature) {
  u64 i = (u64)blockIdx.x * kThreads + threadIdx.x, round = blockIdx.y;
  if (i >= n) return;
  Drawn d = {x + round * stride, y + round * stride, feature + round * feature_stride,
             moves ? moves + round * features * 2 : nullptr, min_x, min_y, width, depth};
  double px, py;
  u32 f;
  d.at(i, px, py, f);
  u32 cell = cell_at(py, low_y, scale, rows - 3) * cols + cell_at(px, low_x, scale, cols - 3);
  u64 to = start[round * cols * rows + cell] + place[round * n + i];
  to_x[to] = px;
  to_y[to] = py;
  to_feature[to] = f;
}

// An entry of the queue is a pair of points that is yet to be added. Its upper five bits are the
// lane that holds the first point, and the others the second point, so a round has at most 2^27.
constexpr u32 kPointBits = 27;
constexpr u32 kQueue = 2 * kWarp;

// The sums of one block. With Curves, they are weights and nearest points, otherwise counts. With
// Wide, all of them are in global memory, for lack of room in shared memory.
template <bool Curves, bool Wide> struct Sums {
  const double* x;  // of the round, sorted by cell
  const double* y;
  const u32* feature;
  u32 features, bins;
  double per_step, width, depth, area;
  u32* sum;      // of the block, modulo 2^32: unordered pairs of features by ring
  u64* whole;    // of the round; carries of sum are added at once
  u32* nearest;  // of the block: ordered pairs of features by ring, if there is room for them
  u64* all;      // of the round
  u32* near;     // the nearest ring of each thread's point, by feature
  u32* queue;    // of the warp
  u32 waiting;   // number of entries in the queue
  double px, py;  // the lane's point
  u32 pf, point;

  INLINE u32 ring(double d2) const {
    i32 r = (i32)ceil(__dmul_rn(__dsqrt_rn(d2), per_step)) - 1;
    return r < 0 ? 0 : min_of((u32)r, bins - 1);
  }

  INLINE void add(u32 at, u32 weight) {
    if (Wide) {
      atomicAdd(whole + at, (u64)weight);
    } else {
      u32 old = atomicAdd(sum + at, weight);
      if (old + weight < old) atomicAdd(whole + at, 1ull << 32);
    }
  }

  // Adds the last pairs of the queue, one per lane.
  INLINE void take(u32 count) {
    __syncwarp();
    bool on = lane_id() < count;
    u32 entry = on ? queue[waiting - count + lane_id()] : 0;
    waiting -= count;
    u32 from = entry >> kPointBits, j = entry & ((1u << kPointBits) - 1);
    double ax = __shfl_sync(kFull, px, from), ay = __shfl_sync(kFull, py, from);
    u32 a = __shfl_sync(kFull, pf, from), i = __shfl_sync(kFull, point, from);
    if (on) {
      double dx = __dsub_rn(x[j], ax), dy = __dsub_rn(y[j], ay);
      u32 b = feature[j], r = ring(__dadd_rn(__dmul_rn(dx, dx), __dmul_rn(dy, dy)));
      if (Curves) atomicMin(near + b * blockDim.x + warp_id() * kWarp + from, r);
      if (!Curves || j > i) {
        u32 low = min_of(a, b), high = max_of(a, b), weight = 1;
        if (Curves) {
          double overlap = __dmul_rn(__dsub_rn(width, fabs(dx)), __dsub_rn(depth, fabs(dy)));
          weight = (u32)__dadd_rn(__ddiv_rn(area, overlap), 0.5);
        }
        add((high * (high + 1) / 2 + low) * bins + r, weight);
      }
    }
    __syncwarp();
  }

  // Queues the neighbours among the points of a range. Each lane has a range of its own.
  INLINE void look(u32 lo, u32 hi, bool active, double limit) {
    u32 steps = active && lo < hi ? hi - lo : 0;
#pragma unroll
    for (u32 d = kWarp / 2; d > 0; d /= 2) steps = max_of(steps, __shfl_xor_sync(kFull, steps, d));
    for (u32 s = 0; s < steps; s++) {
      u32 j = lo + s;
      bool hit = active && j < hi && j != point;
      if (hit) {
        double dx = __dsub_rn(x[j], px), dy = __dsub_rn(y[j], py);
        hit = __dadd_rn(__dmul_rn(dx, dx), __dmul_rn(dy, dy)) <= limit;
      }
      u32 votes = __ballot_sync(kFull, hit);
      if (hit) queue[waiting + __popc(votes & lanes_below())] = lane_id() << kPointBits | j;
      waiting += __popc(votes);
      if (waiting >= kWarp) take(kWarp);
    }
  }
};

extern __shared__ u32 memory[];

template <bool Curves, bool Wide>
INLINE void pairs(const double* x, const double* y, const u32* feature, const u32* start, u64 n, u32 features, u32 bins,
                  double limit, double per_step, double width, double depth, double area, double low_x, double low_y,
                  double scale, u32 cols, u32 rows, u32 nearest_shared, u32* scratch, u64* sums, u64* nearest) {
  u64 round = blockIdx.y;
  u32 ranges = features * (features + 1) / 2 * bins, ordered = features * features * bins;
  Sums<Curves, Wide> s = {x + round * n, y + round * n, feature + round * n, features, bins, per_step, width, depth, area};
  u32 clear = Wide ? 0 : ranges + (nearest_shared ? ordered : 0);
  u32* own = memory + clear;
  s.sum = memory;
  s.nearest = memory + ranges;
  s.near = Wide ? scratch + (round * gridDim.x + blockIdx.x) * features * blockDim.x : own;
  if (Curves && !Wide) own += features * blockDim.x;
  s.queue = own + warp_id() * kQueue;
  s.whole = sums + round * ranges;
  s.all = nearest + round * ordered;
  s.waiting = 0;
  for (u32 i = threadIdx.x; i < clear; i += blockDim.x) memory[i] = 0;
  __syncthreads();
  start += round * cols * rows;
  u32 base = (u32)(round * n);
  u32 warps = blockDim.x / kWarp;
  for (u64 first = ((u64)blockIdx.x * warps + warp_id()) * kWarp; first < n; first += (u64)gridDim.x * warps * kWarp) {
    bool active = first + lane_id() < n;
    s.point = (u32)first + lane_id();
    u32 cell = cols + 1;
    s.px = 0, s.py = 0, s.pf = 0;
    if (active) {
      s.px = s.x[s.point], s.py = s.y[s.point], s.pf = s.feature[s.point];
      cell = cell_at(s.py, low_y, scale, rows - 3) * cols + cell_at(s.px, low_x, scale, cols - 3);
    }
    if (Curves)
      for (u32 f = 0; f < features; f++) s.near[f * blockDim.x + threadIdx.x] = bins;
#pragma unroll 1
    for (u32 row = Curves ? 0 : 1; row < 3; row++) {
      const u32* from = start + cell + (u64)row * cols - cols;
      u32 lo = Curves || row == 2 ? from[-1] - base : s.point + 1;  // counts take each pair once
      s.look(lo, from[2] - base, active, limit);
    }
    if (s.waiting) s.take(s.waiting);
    if (Curves) {
      __syncwarp();
      for (u32 f = 0; f < features && active; f++) {
        u32* ring = s.near + f * blockDim.x + threadIdx.x;
        // Bypass the L1 cache, which atomics do not update.
        u32 r = Wide ? __ldcg(ring) : *ring;
        if (r >= bins) continue;
        u32 at = (s.pf * features + f) * bins + r;
        if (!Wide && nearest_shared) {
          atomicAdd(s.nearest + at, 1u);
        } else {
          atomicAdd(s.all + at, 1ull);
        }
      }
      __syncwarp();
    }
  }
  __syncthreads();
  for (u32 i = threadIdx.x; i < clear; i += blockDim.x) {
    u64 sum = memory[i];
    if (sum) atomicAdd(i < ranges ? s.whole + i : s.all + (i - ranges), sum);
  }
}

// sums and nearest must be zero at first.
#define PAIRS(NAME, CURVES, WIDE)                                                                                      \
  KERNEL __launch_bounds__(1024)                                                                                       \
  NAME(const double* x, const double* y, const u32* feature, const u32* start, u64 n, u32 features, u32 bins,          \
       double limit, double per_step, double width, double depth, double area, double low_x, double low_y,             \
       double scale, u32 cols, u32 rows, u32 nearest_shared, u32* scratch, u64* sums, u64* nearest) {                  \
    pairs<CURVES, WIDE>(x, y, feature, start, n, features, bins, limit, per_step, width, depth, area, low_x, low_y,    \
                        scale, cols, rows, nearest_shared, scratch, sums, nearest);                                    \
  }

PAIRS(pair_counts, false, false)
PAIRS(pair_counts_wide, false, true)
PAIRS(pair_curves, true, false)
PAIRS(pair_curves_wide, true, true)

// Counts the edges between features for many labellings. to[start[i]..start[i+1]) are the
// neighbours of point i. counts has features*features values per round and must be zero at first.
// shared says whether there is room for those of a round in shared memory.
KERNEL __launch_bounds__(kThreads)
edge_counts(const u64* start, const u32* to, const u32* labels, u64 n, u32 features, u32 shared, u64* counts) {
  u32 cells = features * features;
  const u32* label = labels + (u64)blockIdx.y * n;
  u64* all = counts + (u64)blockIdx.y * cells;
  if (shared)
    for (u32 i = threadIdx.x; i < cells; i += kThreads) memory[i] = 0;
  __syncthreads();
  for (u64 i = (u64)blockIdx.x * kThreads + threadIdx.x; i < n; i += (u64)gridDim.x * kThreads) {
    u32 row = label[i] * features;
    for (u64 e = start[i]; e < start[i + 1]; e++) {
      u32 at = row + label[to[e]];
      if (shared) {
        u32 old = atomicAdd(memory + at, 1u);
        if (old == ~0u) atomicAdd(all + at, 1ull << 32);
      } else {
        atomicAdd(all + at, 1ull);
      }
    }
  }
  __syncthreads();
  if (!shared) return;
  for (u32 i = threadIdx.x; i < cells; i += kThreads)
    if (memory[i]) atomicAdd(all + i, (u64)memory[i]);
}
