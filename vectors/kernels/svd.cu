// The products of a decomposition. Each number is summed in the same order as on the cores: tall in
// svd.go and coreMatrix in ppmi.go have the definitions.
#include "device.cuh"

// y = M x: a block per row of M, a thread per column.
KERNEL __launch_bounds__(1024) svd_times(const u64* ends, const u32* other, const float* value, const double* x, double* y, u32 width) {
  u64 row = blockIdx.x;
  u64 from = row == 0 ? 0 : ends[row - 1], to = ends[row];
  for (u32 k = threadIdx.x; k < width; k += blockDim.x) {
    double sum = 0;
#pragma unroll 8
    for (u64 at = from; at < to; at++) sum += (double)value[at] * x[(u64)other[at] * width + k];
    y[row * width + k] = sum;
  }
}

constexpr u32 kTile = 64, kDeep = 16, kSide = 4;  // 16 x 16 threads, 4 x 4 numbers each

struct Tiles {
  double a[kDeep][kTile], b[kDeep][kTile];
};

// Adds kDeep products to each of a thread's numbers, one after the other.
INLINE void multiply(const Tiles& t, double (&sum)[kSide][kSide]) {
  u32 down = threadIdx.x / 16, right = threadIdx.x % 16;
#pragma unroll
  for (u32 d = 0; d < kDeep; d++) {
    double a[kSide], b[kSide];
#pragma unroll
    for (u32 i = 0; i < kSide; i++) a[i] = t.a[d][down + 16 * i], b[i] = t.b[d][right + 16 * i];
#pragma unroll
    for (u32 i = 0; i < kSide; i++)
#pragma unroll
      for (u32 j = 0; j < kSide; j++) sum[i][j] += a[i] * b[j];
  }
}

// parts[p] = X'X of the rows of part p: a block per tile; blockIdx.y is the part. Tiles below the
// diagonal are left out.
KERNEL __launch_bounds__(256) svd_gram(const double* x, u64 n, u32 width, u32 rows, double* parts) {
  __shared__ Tiles t;
  u32 tiles = (width + kTile - 1) / kTile;
  u32 top = blockIdx.x / tiles * kTile, left = blockIdx.x % tiles * kTile;
  if (left < top) return;
  u64 from = (u64)blockIdx.y * rows, to = min_of(from + rows, n);
  double sum[kSide][kSide] = {};
  for (u64 at = from; at < to; at += kDeep) {
    for (u32 i = threadIdx.x; i < kDeep * kTile; i += 256) {
      u64 row = at + i / kTile;
      u32 k = i % kTile;
      t.a[i / kTile][k] = row < to && top + k < width ? x[row * width + top + k] : 0;
      t.b[i / kTile][k] = row < to && left + k < width ? x[row * width + left + k] : 0;
    }
    __syncthreads();
    multiply(t, sum);
    __syncthreads();
  }
  double* part = parts + (u64)blockIdx.y * width * width;
  for (u32 i = 0; i < kSide; i++)
    for (u32 j = 0; j < kSide; j++) {
      u32 r = top + threadIdx.x / 16 + 16 * i, c = left + threadIdx.x % 16 + 16 * j;
      if (r < width && c < width) part[(u64)r * width + c] = sum[i][j];
    }
}

// The sum of all parts, and its mirror image.
KERNEL __launch_bounds__(256) svd_gram_sum(const double* parts, u32 count, u32 width, double* out) {
  u32 at = blockIdx.x * 256 + threadIdx.x;
  if (at >= width * width) return;
  u32 r = at / width, c = at % width;
  if (c < r) return;
  double sum = 0;
  for (u32 p = 0; p < count; p++) sum += parts[(u64)p * width * width + at];
  out[at] = sum;
  if (r != c) out[c * width + r] = sum;
}

// y = x t, where t is square and has as many rows as x has columns.
KERNEL __launch_bounds__(256) svd_turn(const double* x, u64 n, u32 width, const double* t, double* y) {
  __shared__ Tiles s;
  u64 top = (u64)blockIdx.x * kTile;
  u32 left = blockIdx.y * kTile;
  double sum[kSide][kSide] = {};
  for (u32 at = 0; at < width; at += kDeep) {
    for (u32 i = threadIdx.x; i < kDeep * kTile; i += 256) {
      u64 row = top + i / kDeep;
      u32 k = at + i % kDeep;
      s.a[i % kDeep][i / kDeep] = row < n && k < width ? x[row * width + k] : 0;
      u32 down = at + i / kTile, right = left + i % kTile;
      s.b[i / kTile][i % kTile] = down < width && right < width ? t[(u64)down * width + right] : 0;
    }
    __syncthreads();
    multiply(s, sum);
    __syncthreads();
  }
  for (u32 i = 0; i < kSide; i++)
    for (u32 j = 0; j < kSide; j++) {
      u64 r = top + threadIdx.x / 16 + 16 * i;
      u32 c = left + threadIdx.x % 16 + 16 * j;
      if (r < n && c < width) y[r * width + c] = sum[i][j];
    }
}
