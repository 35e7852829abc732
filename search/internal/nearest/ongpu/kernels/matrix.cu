// The products of the codes of a batch of queries with those of a segment, on tensor cores.
#include "near.cuh"

constexpr int kArchitecture = 80;  // of mma.sync for codes of 8 bits
static_assert(__CUDA_ARCH__ == kArchitecture * 10, "compiled for another architecture");

constexpr u32 kQueries = 128, kThreads = 512;
constexpr u32 kSpan = 4;                // pieces of 16 codes that are in shared memory at a time
constexpr u32 kRows = 64, kCols = 32;   // documents and queries of a warp
constexpr u32 kDown = kRows / 16, kAcross = kCols / 8;

INLINE void multiply(i32* c, u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// A block multiplies a tile of documents with 128 queries, in spans of 64 codes. mma wants of each
// thread codes that are 16 apart, but the order of codes does not matter, if it is the same for
// documents and queries: so a thread loads 16 that follow each other, for two products.
KERNEL __launch_bounds__(512, 1) near_matrix(const signed char* all_codes, const float* scales, const float* rests,
                                             const float* norms, u32 base, u32 count, u32 stride, const uint4* queries, u32 n,
                                             const Test* tests, u64* list, u32* counts, u32 room, const u32* admitted, u32 step,
                                             u32 all, u32 first_slot) {
  const Segment s = {all_codes, scales, rests, norms, nullptr, base, count};
  Found found = {list, counts, room};
  const Pass pass = {admitted, step, all, first_slot};
  __shared__ uint4 docs[2][kTile * kSpan];
  __shared__ uint4 asked[2][kQueries * kSpan];
  u32 wide = (n + kQueries - 1) / kQueries;
  u32 first_query = blockIdx.x % wide * kQueries, sampled = blockIdx.x / wide;
  u32 first = sampled * pass.step * kTile;
  u32 t = threadIdx.x, lane = lane_id(), row = lane / 4, part = lane % 4, pieces = stride / 16;
  u32 down = warp_id() % (kTile / kRows) * kRows, across = warp_id() / (kTile / kRows) * kCols;

  // What the thread brings into shared memory. Rows beyond the last are those of the last.
  const uint4* from[2];
#pragma unroll
  for (u32 i = 0; i < 2; i++) {
    u32 doc = min_of(first + t / kSpan + i * (kThreads / kSpan), s.docs - 1);
    from[i] = (const uint4*)s.codes + (u64)doc * pieces + t % kSpan;
  }
  const uint4* query = queries + (u64)(first_query + t / kSpan) * pieces + t % kSpan;

  i32 sums[kDown][kAcross][4];
#pragma unroll
  for (u32 i = 0; i < kDown; i++)
#pragma unroll
    for (u32 j = 0; j < kAcross; j++)
#pragma unroll
      for (u32 c = 0; c < 4; c++) sums[i][j][c] = 0;

  docs[0][t] = from[0][0], docs[0][t + kThreads] = from[1][0], asked[0][t] = query[0];
  __syncthreads();
  u32 spans = pieces / kSpan;
  for (u32 span = 0; span < spans; span++) {
    uint4 next[3];
    if (span + 1 < spans) {
      u32 at = (span + 1) * kSpan;
      next[0] = from[0][at], next[1] = from[1][at], next[2] = query[at];
    }
    const uint4* x = docs[span % 2] + (down + row) * kSpan + part;
    const uint4* y = asked[span % 2] + (across + row) * kSpan + part;
    uint4 b[kAcross];
#pragma unroll
    for (u32 j = 0; j < kAcross; j++) b[j] = y[j * 8 * kSpan];
#pragma unroll
    for (u32 i = 0; i < kDown; i++) {
      uint4 a = x[i * 16 * kSpan], d = x[(i * 16 + 8) * kSpan];
#pragma unroll
      for (u32 j = 0; j < kAcross; j++) {
        multiply(sums[i][j], a.x, d.x, a.y, d.y, b[j].x, b[j].y);
        multiply(sums[i][j], a.z, d.z, a.w, d.w, b[j].z, b[j].w);
      }
    }
    if (span + 1 < spans) {
      uint4 *to = docs[(span + 1) % 2], *to_asked = asked[(span + 1) % 2];
      to[t] = next[0], to[t + kThreads] = next[1], to_asked[t] = next[2];
    }
    __syncthreads();
  }

  // Of a thread's sums, two rows of each product belong to two documents, two columns to queries.
  const float none = __uint_as_float(0x7fc00000);  // passes no test
#pragma unroll
  for (u32 i = 0; i < kDown; i++) {
    float scale[2], rest[2], norm[2];
    u32 doc[2];
#pragma unroll
    for (u32 h = 0; h < 2; h++) {
      doc[h] = first + down + i * 16 + row + h * 8;
      u32 known = min_of(doc[h], s.docs - 1);
      bool in = doc[h] < s.docs && pass.admits(known);
      scale[h] = in ? s.scales[known] : none, rest[h] = s.rests[known], norm[h] = s.norms[known];
    }
#pragma unroll
    for (u32 j = 0; j < kAcross; j++) {
#pragma unroll
      for (u32 c = 0; c < 2; c++) {
        u32 q = first_query + across + j * 8 + part * 2 + c;
        if (q >= n) continue;
        if (pass.all) {
#pragma unroll
          for (u32 h = 0; h < 2; h++) {
            u32 slot = pass.first + sampled * kTile + (doc[h] - first);
            found.put_in(q, slot, scale[h] == scale[h] ? s.base + doc[h] : kNoDoc, sums[i][j][c + 2 * h]);
          }
          continue;
        }
        const Test test = tests[q];
#pragma unroll
        for (u32 h = 0; h < 2; h++)
          if (reaches(test, scale[h], rest[h], norm[h], sums[i][j][c + 2 * h])) found.add(q, s.base + doc[h], sums[i][j][c + 2 * h]);
      }
    }
  }
}
