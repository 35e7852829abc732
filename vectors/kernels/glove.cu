// Training of GloVe: a block of threads trains on the cells of a block of the matrix, one after the
// other. schedule.go says why the blocks of a launch are independent; train in glove.go is the
// definition.
//
// The most frequent word has a large share of all cells, each of which depends on the one before.
// So the latency from cell to cell decides the speed, not the bandwidth. Vectors are loaded some
// cells ahead, and only an inner product, one barrier and a step lie between two cells.
#include "warp.cuh"

// a*b+c, computed here and not where the compiler would move it: behind a barrier, or into a
// branch.
INLINE float fma_here(float a, float b, float c) {
  float r;
  asm volatile("fma.rn.f32 %0, %1, %2, %3;" : "=f"(r) : "f"(a), "f"(b), "f"(c));
  return r;
}

// A square root and its inverse, both correctly rounded: an estimate and corrections (Markstein
// 1990), which are short where __fsqrt_rn and __frcp_rn have branches. For arguments that are
// usual().
struct Root {
  float root, inverse;

  INLINE void of(float x) {
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    float s = x * y;
    root = fma_here(__fmaf_rn(-s, s, x), 0.5f * y, s);
    y = __fmaf_rn(y, __fmaf_rn(-root, y, 1), y);
    inverse = fma_here(y, __fmaf_rn(-root, y, 1), y);
  }
};

// Whether Root is exact: for sums far from the ends of the range of floats, and roots whose inverse
// is not next to the midpoint of two floats. Those are the roots with all mantissa bits set.
INLINE bool usual(float sum, float root) {
  return (sum > 1e-15f) & (sum < 1e15f) & ((__float_as_uint(root) | 0xff800000) != 0xffffffff);
}

// Whether a gradient is so small that the corrections of a quotient could underflow.
INLINE bool tiny(float g) { return g != 0 && fabsf(g) < 1e-18f; }

// a/r.root, rounded as __fdiv_rn does.
INLINE float quotient(float a, const Root& r) {
  float q = a * r.inverse;
  q = __fmaf_rn(__fmaf_rn(-r.root, q, a), r.inverse, q);
  return fma_here(__fmaf_rn(-r.root, q, a), r.inverse, q);
}

// The N parameters of a word that one thread holds, each 32 after the one before, with their sums
// of squares.
template <u32 N> struct Numbers {
  float x[N], sum[N];
};

// Where a thread's numbers are in the row of a word. A row has dim numbers and the bias; the sums
// of squares begin at half.
template <u32 N> struct Place {
  u32 first, half;
  bool mine[N], bias[N];

  INLINE Place(u32 dim) : first(warp_id() * N * kWarp + lane_id()), half(dim + 8) {
#pragma unroll
    for (u32 n = 0; n < N; n++) bias[n] = first + n * kWarp == dim, mine[n] = first + n * kWarp <= dim;
  }
  INLINE float* in(float* all, u32 row) const { return (float*)((u8*)all + (u64)row * (8 * half)) + first; }
  INLINE void load(Numbers<N>& to, float* all, u32 row) const {
    const float *x = in(all, row), *sum = x + half;
#pragma unroll
    for (u32 n = 0; n < N; n++) {
      to.x[n] = mine[n] ? x[n * kWarp] : 0;
      to.sum[n] = mine[n] ? sum[n * kWarp] : 1;
    }
  }
  INLINE void store(const Numbers<N>& from, float* all, u32 row) const {
    float *x = in(all, row), *sum = x + half;
#pragma unroll
    for (u32 n = 0; n < N; n++)
      if (mine[n]) x[n * kWarp] = from.x[n], sum[n * kWarp] = from.sum[n];
  }
};

constexpr u32 kRing = 128, kStep = 32;  // cells in shared memory, and how many are loaded at a time
constexpr u32 kChunks = 36;             // 32 chunks, and 4 unused to avoid bank conflicts

// Number of cells whose vectors are loaded into registers ahead of training; docs/experiments.md
// has the speed with others.
constexpr u32 kAhead = 4;

// N is the number of chunks of 32 numbers per warp.
template <u32 N>
INLINE void train(const uint4* cells, const u64* ends, u32 first, float* words, float* contexts, u32 dim, float rate, double* losses) {
  __shared__ uint4 ring[kRing];
  __shared__ __align__(16) float sums[2][8][kChunks];
  __shared__ float rests[2];
  u32 block = first + blockIdx.x;
  u64 begin = block == 0 ? 0 : ends[block - 1];
  u32 count = (u32)(ends[block] - begin);
  if (count == 0) return;
  cells += begin;
  u32 k = threadIdx.x, chunks = dim / kWarp + 1;
  const Place<N> place(dim);
  for (u32 i = k; i < 2 * 8 * kChunks; i += blockDim.x) (&sums[0][0][0])[i] = 0;
  for (u32 i = k; i < 2 * kStep; i += blockDim.x) ring[i] = cells[min_of(i, count - 1)];
  uint4 pending = {};
  if (k < kStep) pending = cells[min_of(2 * kStep + k, count - 1)];
  __syncthreads();

  // The next kAhead cells with their vectors. The vector of a word or context that the cell before
  // has, too, stays in w or v. A context that another cell ahead of this one will change is late:
  // it is loaded when the turn of its cell comes.
  u32 rows[kAhead], cols[kAhead];
  bool late[kAhead];
  Numbers<N> ws[kAhead], vs[kAhead], w, v;
#pragma unroll
  for (u32 d = 0; d < kAhead; d++) {
    rows[d] = ring[d].x, cols[d] = ring[d].y, late[d] = false;
    bool loads = d < count;
#pragma unroll
    for (u32 e = 0; e < d; e++) late[d] = late[d] || cols[e] == cols[d];
    if (loads) place.load(ws[d], words, rows[d]);
    if (loads && !late[d]) place.load(vs[d], contexts, cols[d]);
  }
  u32 row = ~0u, col = ~0u;
  double loss = 0;
  for (u32 i = 0;; i += kAhead) {
#pragma unroll
    for (u32 d = 0; d < kAhead; d++) {
      u32 now = i + d, turn = now % 2;
      if (now % kStep == 0) {
        if (k < kStep) {
          ring[(now + 2 * kStep + k) % kRing] = pending;
          pending = cells[min_of(now + 3 * kStep + k, count - 1)];
        }
      }
      if (rows[d] != row) w = ws[d];
      if (cols[d] != col) {
        v = vs[d];
        if (late[d]) place.load(v, contexts, cols[d]);
      }
      row = rows[d], col = cols[d];
      float log = __uint_as_float(ring[now % kRing].z), weight = __uint_as_float(ring[now % kRing].w);
#pragma unroll
      for (u32 n = 0; n < N; n++) {
        float p = place.bias[n] ? 0 : w.x[n] * v.x[n];
        p += __shfl_xor_sync(kFull, p, 16);
        p += __shfl_xor_sync(kFull, p, 8);
        if (lane_id() < 8) sums[turn][lane_id()][warp_id() * N + n] = p;
        if (place.bias[n]) rests[turn] = (w.x[n] + v.x[n]) - log;
      }
      if (now + kAhead < count) {
        uint4 next = ring[(now + kAhead) % kRing];
        late[d] = false;
#pragma unroll
        for (u32 e = 0; e < kAhead; e++) late[d] = late[d] || cols[e] == next.y;
        if (next.x != rows[(d + kAhead - 1) % kAhead]) place.load(ws[d], words, next.x);
        if (!late[d]) place.load(vs[d], contexts, next.y);
        rows[d] = next.x, cols[d] = next.y;
      }
      Root root_w[N], root_v[N];
      bool odd = false;
#pragma unroll
      for (u32 n = 0; n < N; n++) {
        root_w[n].of(w.sum[n]), root_v[n].of(v.sum[n]);
        odd |= !usual(w.sum[n], root_w[n].root) | !usual(v.sum[n], root_v[n].root);
      }
      __syncthreads();
      const float4* of = (const float4*)sums[turn][lane_id() % 8];
      float4 a = of[0], b = of[1], c = of[2];
      float rest = rests[turn];
      float dot = 0 + a.x + a.y + a.z + a.w;
      if (chunks > 4) dot = dot + b.x + b.y + b.z + b.w;
      if (chunks > 8) dot = dot + c.x + c.y + c.z + c.w;
#pragma unroll 1
      for (u32 s = 12; s < chunks; s++) dot += sums[turn][lane_id() % 8][s];
      dot += __shfl_xor_sync(kFull, dot, 4);
      dot += __shfl_xor_sync(kFull, dot, 2);
      dot += __shfl_xor_sync(kFull, dot, 1);
      float diff = dot + rest;
      float g = weight * diff;
      float by = (g > 100 ? 100 : g < -100 ? -100 : g) * rate;
      float gw[N], gv[N], qw[N], qv[N];
#pragma unroll
      for (u32 n = 0; n < N; n++) {
        gw[n] = by * (place.bias[n] ? 1 : v.x[n]), gv[n] = by * (place.bias[n] ? 1 : w.x[n]);
        qw[n] = quotient(gw[n], root_w[n]), qv[n] = quotient(gv[n], root_v[n]);
        odd |= tiny(gw[n]) | tiny(gv[n]);
      }
      if (odd) {
#pragma unroll
        for (u32 n = 0; n < N; n++) {
          qw[n] = __fdiv_rn(gw[n], __fsqrt_rn(w.sum[n]));
          qv[n] = __fdiv_rn(gv[n], __fsqrt_rn(v.sum[n]));
        }
      }
#pragma unroll
      for (u32 n = 0; n < N; n++) {
        w.x[n] -= qw[n], v.x[n] -= qv[n];
        w.sum[n] += gw[n] * gw[n], v.sum[n] += gv[n] * gv[n];
      }

      bool last = now + 1 == count;
      if (last || rows[(d + 1) % kAhead] != row) place.store(w, words, row);
      if (last || cols[(d + 1) % kAhead] != col) place.store(v, contexts, col);
      if (k == 0) loss += 0.5 * (double)g * (double)diff;
      if (last) {
        if (k == 0) losses[blockIdx.x] += loss;
        return;
      }
    }
  }
}

// A block per group of rows; first is the stratum's first block of the matrix, dim the length of a
// vector, a multiple of 8. There is a warp for each chunk of dim and the bias.
KERNEL __launch_bounds__(512) glove(const uint4* cells, const u64* ends, u32 first, float* words, float* contexts, u32 dim, float rate, double* losses) {
  train<1>(cells, ends, first, words, contexts, dim, rate, losses);
}

// The same for more than 511 dimensions: a warp for two chunks.
KERNEL __launch_bounds__(512) glove_wide(const uint4* cells, const u64* ends, u32 first, float* words, float* contexts, u32 dim, float rate, double* losses) {
  train<2>(cells, ends, first, words, contexts, dim, rate, losses);
}
