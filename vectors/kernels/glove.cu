// Training of GloVe: a warp takes the cells of a block one after the other. See schedule.go for why
// the warps of a launch need not know of each other, and train in glove.go for the definition.
#include "warp.cuh"

// A word's parameters, a lane's part: numbers 4*lane to 4*lane+3 of every 128, and the bias in
// lane 0. S is how many times 128 numbers there may be.
template <u32 S> struct Word {
  float4 x[S], sum[S];
  float2 bias;

  INLINE void load(const float* row, u32 quads) {
    const float4* p = (const float4*)row;
#pragma unroll
    for (u32 s = 0; s < S; s++) {
      u32 q = lane_id() + s * kWarp;
      if (q < quads) {
        x[s] = p[q];
        sum[s] = p[quads + q];
      } else {
        x[s] = make_float4(0, 0, 0, 0);
        sum[s] = make_float4(1, 1, 1, 1);
      }
    }
    bias = make_float2(0, 1);
    if (lane_id() == 0) bias = *(const float2*)(p + 2 * quads);
  }

  INLINE void store(float* row, u32 quads) const {
    float4* p = (float4*)row;
#pragma unroll
    for (u32 s = 0; s < S; s++) {
      u32 q = lane_id() + s * kWarp;
      if (q < quads) {
        p[q] = x[s];
        p[quads + q] = sum[s];
      }
    }
    if (lane_id() == 0) *(float2*)(p + 2 * quads) = bias;
  }
};

// One number of both words: AdaGrad.
INLINE void move(float& w, float& v, float& sw, float& sv, float g) {
  float gw = g * v, gv = g * w;
  w -= __fdiv_rn(gw, __fsqrt_rn(sw));
  v -= __fdiv_rn(gv, __fsqrt_rn(sv));
  sw += gw * gw;
  sv += gv * gv;
}

INLINE void move(float2& w, float2& v, float g) {
  w.x -= __fdiv_rn(g, __fsqrt_rn(w.y));
  v.x -= __fdiv_rn(g, __fsqrt_rn(v.y));
  w.y += g * g;
  v.y += g * g;
}

template <u32 S>
INLINE void train(const uint4* cells, const u64* ends, u32 first, float* words, float* contexts, u32 quads, float rate, double* losses) {
  u32 block = first + blockIdx.x;
  u64 at = block == 0 ? 0 : ends[block - 1], end = ends[block];
  if (at >= end) return;
  u64 stride = 8 * quads + 4;
  double loss = 0;
  uint4 c = cells[at], next = cells[min_of(at + 1, end - 1)];
  Word<S> w, v, w2, v2;
  w.load(words + c.x * stride, quads);
  v.load(contexts + c.y * stride, quads);
  for (;;) {
    // What the next cell needs is under way while this one is at work.
    bool last = at + 1 == end;
    bool turn_w = !last && next.x != c.x, turn_v = !last && next.y != c.y;
    uint4 later = cells[min_of(at + 2, end - 1)];
    if (turn_w) w2.load(words + next.x * stride, quads);
    if (turn_v) v2.load(contexts + next.y * stride, quads);

    float4 sums = make_float4(0, 0, 0, 0);
#pragma unroll
    for (u32 s = 0; s < S; s++) {
      sums.x += w.x[s].x * v.x[s].x;
      sums.y += w.x[s].y * v.x[s].y;
      sums.z += w.x[s].z * v.x[s].z;
      sums.w += w.x[s].w * v.x[s].w;
    }
    float rest = __shfl_sync(kFull, (w.bias.x + v.bias.x) - __uint_as_float(c.z), 0);
    float diff = warp_sum((sums.x + sums.y) + (sums.z + sums.w)) + rest;
    float g = __uint_as_float(c.w) * diff;
    loss += 0.5 * (double)g * (double)diff;
    g = (g > 100 ? 100 : g < -100 ? -100 : g) * rate;
#pragma unroll
    for (u32 s = 0; s < S; s++) {
      move(w.x[s].x, v.x[s].x, w.sum[s].x, v.sum[s].x, g);
      move(w.x[s].y, v.x[s].y, w.sum[s].y, v.sum[s].y, g);
      move(w.x[s].z, v.x[s].z, w.sum[s].z, v.sum[s].z, g);
      move(w.x[s].w, v.x[s].w, w.sum[s].w, v.sum[s].w, g);
    }
    move(w.bias, v.bias, g);

    if (turn_w || last) w.store(words + c.x * stride, quads);
    if (turn_v || last) v.store(contexts + c.y * stride, quads);
    if (last) break;
    if (turn_w) w = w2;
    if (turn_v) v = v2;
    c = next;
    next = later;
    at++;
  }
  if (lane_id() == 0) losses[blockIdx.x] += loss;
}

// A block of one warp for each group of rows; first is the stratum's first block, quads a quarter of
// the numbers in a vector.
#define GLOVE(S)                                                                                    \
  KERNEL __launch_bounds__(32) glove_##S(const uint4* cells, const u64* ends, u32 first,            \
                                         float* words, float* contexts, u32 quads, float rate,      \
                                         double* losses) {                                          \
    train<S>(cells, ends, first, words, contexts, quads, rate, losses);                             \
  }

GLOVE(1)
GLOVE(2)
GLOVE(3)
GLOVE(4)
