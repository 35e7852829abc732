// Training of GloVe: a block of threads takes the cells of a block of the matrix one after the other,
// a thread for each number of a vector and one for the biases. See schedule.go for why the blocks of a
// launch need not know of each other, and train in glove.go for the definition.
#include "warp.cuh"

// a/b, rounded as __fdiv_rn does, for b of 1 or more of which the inverse is known: an estimate and
// two corrections (Markstein 1990), which is short where __fdiv_rn has branches. What is so small that
// the corrections could vanish takes the long way.
INLINE float quotient(float a, float b, float inverse) {
  if (a != 0 && fabsf(a) < 1e-18f) return __fdiv_rn(a, b);
  float q = a * inverse;
  q = __fmaf_rn(__fmaf_rn(-b, q, a), inverse, q);
  return __fmaf_rn(__fmaf_rn(-b, q, a), inverse, q);
}

// A word's parameter and its sum of squares, of one thread.
struct Number {
  float x, sum;

  INLINE void load(const float* row, u32 at, u32 at_sum, bool mine) {
    x = mine ? row[at] : 0;
    sum = mine ? row[at_sum] : 1;
  }
  INLINE void store(float* row, u32 at, u32 at_sum, bool mine) const {
    if (mine) row[at] = x, row[at_sum] = sum;
  }
  // AdaGrad; root is that of the sum, inverse 1 by it.
  INLINE void move(float g, float root, float inverse) {
    x -= quotient(g, root, inverse);
    sum += g * g;
  }
};

// The cells of a block as they come: a ring in shared memory, filled by the first 32 threads in 32s,
// long before they are needed.
struct Cells {
  static constexpr u32 kRing = 128, kStep = 32;
  uint4 ring[kRing];

  INLINE const uint4& of(u32 i) const { return ring[i % kRing]; }
};

// Has a sector of 32 bytes brought nearer by every eighth thread.
INLINE void fetch(const float* row, u32 at, u32 at_sum, bool mine) {
  if (mine && threadIdx.x % 8 == 0) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(row + at));
    asm volatile("prefetch.global.L2 [%0];" ::"l"(row + at_sum));
  }
}

constexpr u32 kAhead = 6;  // cells whose vectors are on their way from memory

// A block for each group of rows; first is the stratum's first block of the matrix, dim the
// numbers of a vector, a multiple of 8. Blocks have more threads than that, and at least 64.
KERNEL __launch_bounds__(1024) glove(const uint4* cells, const u64* ends, u32 first, float* words, float* contexts, u32 dim, float rate, double* losses) {
  __shared__ Cells head;
  __shared__ float sums[2][32][8], rests[2];
  u32 block = first + blockIdx.x;
  u64 begin = block == 0 ? 0 : ends[block - 1];
  u32 count = (u32)(ends[block] - begin);
  if (count == 0) return;
  cells += begin;
  u64 stride = 2 * dim + 4;
  u32 k = threadIdx.x, warps = blockDim.x / kWarp;
  bool bias = k == dim, mine = k <= dim;
  u32 here = bias ? 2 * dim : k, here_sum = bias ? 2 * dim + 1 : dim + k;
  if (k < 2 * Cells::kStep) head.ring[k] = cells[min_of(k, count - 1)];
  uint4 pending = {};
  if (k < Cells::kStep) pending = cells[min_of(2 * Cells::kStep + k, count - 1)];
  __syncthreads();
  for (u32 i = 1; i < min_of(kAhead, count); i++) {
    fetch(words + head.of(i).x * stride, here, here_sum, mine);
    fetch(contexts + head.of(i).y * stride, here, here_sum, mine);
  }
  double loss = 0;
  uint4 c = head.of(0);
  Number w, v, w2 = {}, v2 = {};
  w.load(words + c.x * stride, here, here_sum, mine);
  v.load(contexts + c.y * stride, here, here_sum, mine);
  for (u32 i = 0;; i++) {
    u32 turn = i % 2;
    if (i % Cells::kStep == 0 && k < Cells::kStep) {
      head.ring[(i + 2 * Cells::kStep + k) % Cells::kRing] = pending;
      pending = cells[min_of(i + 3 * Cells::kStep + k, count - 1)];
    }
    // What the next cell needs is under way while this one is at work; what those behind it need comes
    // nearer. Theirs may still change.
    bool last = i + 1 == count;
    uint4 next = head.of(i + 1);
    bool turn_w = !last && next.x != c.x, turn_v = !last && next.y != c.y;
    if (turn_w) w2.load(words + next.x * stride, here, here_sum, mine);
    if (turn_v) v2.load(contexts + next.y * stride, here, here_sum, mine);
    if (i + kAhead < count) {
      u32 row = head.of(i + kAhead).x;
      fetch(contexts + head.of(i + kAhead).y * stride, here, here_sum, mine);
      if (row != head.of(i + kAhead - 1).x) fetch(words + row * stride, here, here_sum, mine);
    }

    float root_w = __fsqrt_rn(w.sum), root_v = __fsqrt_rn(v.sum);
    float inverse_w = __frcp_rn(root_w), inverse_v = __frcp_rn(root_v);
    float p = bias ? 0 : w.x * v.x;
    p += __shfl_xor_sync(kFull, p, 16);
    p += __shfl_xor_sync(kFull, p, 8);
    if (lane_id() < 8) sums[turn][warp_id()][lane_id()] = p;
    if (bias) rests[turn] = (w.x + v.x) - __uint_as_float(c.z);
    __syncthreads();
    float dot = 0;
#pragma unroll 10
    for (u32 s = 0; s < warps; s++) dot += sums[turn][s][lane_id() % 8];
    dot += __shfl_xor_sync(kFull, dot, 4);
    dot += __shfl_xor_sync(kFull, dot, 2);
    dot += __shfl_xor_sync(kFull, dot, 1);
    float diff = dot + rests[turn];
    float g = __uint_as_float(c.w) * diff;
    float by = (g > 100 ? 100 : g < -100 ? -100 : g) * rate;
    float gw = by * (bias ? 1 : v.x), gv = by * (bias ? 1 : w.x);
    w.move(gw, root_w, inverse_w);
    v.move(gv, root_v, inverse_v);

    if (turn_w || last) w.store(words + c.x * stride, here, here_sum, mine);
    if (turn_v || last) v.store(contexts + c.y * stride, here, here_sum, mine);
    if (k == 0) loss += 0.5 * (double)g * (double)diff;
    if (last) break;
    if (turn_w) w = w2;
    if (turn_v) v = v2;
    c = next;
  }
  if (k == 0) losses[blockIdx.x] += loss;
}
