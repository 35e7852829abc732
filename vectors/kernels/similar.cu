// Cosines of all words with some queries: a warp a word, added up as dotPlain in dot.go does.
#include "warp.cuh"

constexpr u32 kQueries = 8;  // that share one reading of the words

// queries have `padded` numbers each, a multiple of 128, zeros behind the last. scores[q][word].
KERNEL __launch_bounds__(256) similar(const float* data, const float* scale, u32 words, u32 dim, const float* queries, u32 count, u32 padded, float* scores) {
  u32 word = blockIdx.x * (256 / kWarp) + warp_id();
  if (word >= words) return;
  u32 first = blockIdx.y * kQueries;
  const float* row = data + (u64)word * dim;
  float sums[kQueries][4] = {};
  for (u32 at = 4 * lane_id(); at < padded; at += 4 * kWarp) {
    float x[4] = {};
    if (dim % 4 == 0) {
      if (at < dim) {
        float4 v = *(const float4*)(row + at);
        x[0] = v.x, x[1] = v.y, x[2] = v.z, x[3] = v.w;
      }
    } else {
#pragma unroll
      for (u32 j = 0; j < 4; j++)
        if (at + j < dim) x[j] = row[at + j];
    }
#pragma unroll
    for (u32 q = 0; q < kQueries; q++) {
      if (first + q < count) {
        float4 y = *(const float4*)(queries + (u64)(first + q) * padded + at);
        sums[q][0] += y.x * x[0];
        sums[q][1] += y.y * x[1];
        sums[q][2] += y.z * x[2];
        sums[q][3] += y.w * x[3];
      }
    }
  }
#pragma unroll
  for (u32 q = 0; q < kQueries; q++) {
    float dot = warp_sum((sums[q][0] + sums[q][1]) + (sums[q][2] + sums[q][3]));
    if (lane_id() == 0 && first + q < count) scores[(u64)(first + q) * words + word] = dot * scale[word];
  }
}
