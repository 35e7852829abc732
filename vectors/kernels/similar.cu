// Cosines of all words with some queries: eight threads per word, summed in the order of dotPlain
// in dot.go.
#include "warp.cuh"

constexpr u32 kQueries = 8;  // queries that share one read of the words

// queries have `padded` numbers each, a multiple of 32, with zeros at the end. scores[q][word].
KERNEL __launch_bounds__(256) similar(const float* data, const float* scale, u32 words, u32 dim, const float* queries, u32 count, u32 padded, float* scores) {
  u32 word = blockIdx.x * 32 + threadIdx.x / 8, own = threadIdx.x % 8;
  u32 first = blockIdx.y * kQueries;
  const float* row = data + (u64)min_of(word, words - 1) * dim;
  float sums[kQueries] = {};
  for (u32 at = own; at < padded; at += 32) {
    float x[4];
#pragma unroll
    for (u32 j = 0; j < 4; j++) x[j] = at + 8 * j < dim ? row[at + 8 * j] : 0;
#pragma unroll
    for (u32 q = 0; q < kQueries; q++) {
      const float* y = queries + (u64)min_of(first + q, count - 1) * padded + at;
      sums[q] += (x[0] * y[0] + x[2] * y[16]) + (x[1] * y[8] + x[3] * y[24]);
    }
  }
#pragma unroll
  for (u32 q = 0; q < kQueries; q++) {
    float dot = sums[q];
    dot += __shfl_xor_sync(kFull, dot, 4);
    dot += __shfl_xor_sync(kFull, dot, 2);
    dot += __shfl_xor_sync(kFull, dot, 1);
    if (own == 0 && word < words && first + q < count) scores[(u64)(first + q) * words + word] = dot * scale[word];
  }
}
