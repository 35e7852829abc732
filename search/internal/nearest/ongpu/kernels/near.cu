// The steps around the products of a batch, and the whole pass for a single query.
#include "near.cuh"

constexpr double kMargin = 1.0 / (1 << 20);
constexpr double kTiny = 1.0 / (1u << 31) / (1u << 31) / (1u << 31) / (1u << 31) / 64;
constexpr u32 kLanes = 16;  // of a sum

// Writes an entry of the list of segments.
KERNEL near_segment(Segment* list, u32 at, const signed char* codes, const float* scales, const float* rests,
                    const float* norms, const u8* rows, u32 base, u32 docs) {
  if (threadIdx.x == 0) list[at] = {codes, scales, rests, norms, rows, base, docs};
}

INLINE double infinity() { return __longlong_as_double(0x7ff0000000000000); }
INLINE bool is_finite(double x) { return fabs(x) < infinity(); }

// The test for similarities of at least t; see test in bounds.go of package nearest.
INLINE Test test_of(const Query& q, double t) {
  double alpha = q.scale, beta = q.coded, gamma = q.rest, delta = 0, theta = t;
  double most_dot = q.metric == kEuclidean ? 2 * q.coded : q.coded;
  if (q.metric == kDot) {
    gamma += q.rounding * q.norm;
  } else if (q.metric == kCosine) {
    bool any = t == -infinity();
    gamma = any ? 0 : gamma + (q.rounding * q.norm - t * q.norm + kMargin * fabs(t) * q.norm);
    theta = any ? t : 0;
  } else {
    alpha *= 2, beta *= 2, gamma *= 2, delta = -1;
    theta = -infinity();
    if (t > 0) {
      double most = (1 / t) * (1 + kMargin) - 1;
      theta = q.norm * q.norm * (1 - kMargin) - most * (1 + 2 * q.rounding);
    }
  }
  gamma += kMargin * (fabs(gamma) + 2 * most_dot);
  beta += kMargin * (beta + 2 * most_dot);
  delta += 2 * kMargin * fabs(delta);
  if (is_finite(theta)) {
    double most = fabs(theta);
    if (q.metric == kEuclidean) most = max_of(most, q.norm * q.norm);
    theta -= 2 * kMargin * most + kTiny;
  }
  return {(float)alpha, (float)beta, (float)gamma, (float)delta, (float)theta};
}

// The similarity that wanted documents have at least, given the k-th best.
INLINE double bar_of(const Query& q, double kth) {
  if (q.gap > 0) kth -= q.gap + kMargin * fabs(kth);
  return max_of(q.least, kth);
}

// Begins: as many documents were found as the first pass has slots.
KERNEL near_start(const Query* queries, u32 n, Test* tests, double* bars, u32* counts, u32 slots, u32* results) {
  u32 q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= n) return;
  bars[q] = bar_of(queries[q], -infinity());
  tests[q] = test_of(queries[q], bars[q]);
  counts[q] = slots;
  results[q] = 0;
}

// The products of the codes of one query with those of a segment. Eight lanes share a document and
// a warp takes 32 of them.
KERNEL __launch_bounds__(256) near_one(const signed char* all_codes, const float* scales, const float* rests,
                                       const float* norms, u32 base, u32 count, u32 stride, const uint4* query, const Test* tests,
                                       u64* list, u32* counts, u32 room, const u32* admitted, u32 step, u32 all, u32 first_slot) {
  const Segment s = {all_codes, scales, rests, norms, nullptr, base, count};
  Found found = {list, counts, room};
  const Pass pass = {admitted, step, all, first_slot};
  constexpr u32 kAhead = 6;  // pieces that a lane loads before it multiplies: all of 768 codes
  __shared__ uint4 codes[512 + 8 * kAhead];
  u32 pieces = stride / 16;
  for (u32 i = threadIdx.x; i < pieces + 8 * kAhead; i += blockDim.x)
    codes[i] = i < pieces ? query[i] : make_uint4(0, 0, 0, 0);
  __syncthreads();
  constexpr u32 kGroups = kTile / kWarp;
  const Test test = *tests;
  u32 lane = lane_id(), part = lane % 8, warps = gridDim.x * (blockDim.x / kWarp);
  u32 tiles = (s.docs + kTile - 1) / kTile, groups = (tiles + step - 1) / step * kGroups;
  for (u32 g = blockIdx.x * (blockDim.x / kWarp) + warp_id(); g < groups; g += warps) {
    u64 begin = (u64)(g / kGroups) * pass.step * kTile + g % kGroups * kWarp;
    u32 first = (u32)begin, mask = 0;
    if (begin < s.docs) {
      mask = s.docs - first < kWarp ? (1u << (s.docs - first)) - 1 : kFull;
      if (pass.admitted != nullptr) mask &= pass.admitted[first / kWarp];
    }
    if (mask == 0 && !pass.all) continue;
    i32 mine = 0;
#pragma unroll 2
    for (u32 i = 0; i < 8; i++) {
      u32 at = i * 4 + lane / 8;
      bool in = mask >> at & 1;
      i32 dot = 0;
      const uint4* row = (const uint4*)(s.codes + (u64)(first + at) * stride);
      for (u32 k = part; k - part < pieces; k += 8 * kAhead) {  // as often for all lanes, which then add up
        uint4 x[kAhead];
#pragma unroll
        for (u32 j = 0; j < kAhead; j++) {
          x[j] = make_uint4(0, 0, 0, 0);
          if (in && k + 8 * j < pieces) x[j] = row[k + 8 * j];
        }
#pragma unroll
        for (u32 j = 0; j < kAhead; j++) {
          uint4 y = codes[k + 8 * j];
          asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(dot) : "r"(x[j].x), "r"(y.x));
          asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(dot) : "r"(x[j].y), "r"(y.y));
          asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(dot) : "r"(x[j].z), "r"(y.z));
          asm("dp4a.s32.s32 %0, %1, %2, %0;" : "+r"(dot) : "r"(x[j].w), "r"(y.w));
        }
      }
      dot += __shfl_xor_sync(kFull, dot, 4);
      dot += __shfl_xor_sync(kFull, dot, 2);
      dot += __shfl_xor_sync(kFull, dot, 1);
      if (part == i) mine = dot;
    }
    u32 at = part * 4 + lane / 8, doc = first + at;
    bool in = mask >> at & 1;
    if (pass.all) {
      found.put_in(0, pass.first + g * kWarp + at, in ? s.base + doc : kNoDoc, mine);
    } else if (in && reaches(test, s.scales[doc], s.rests[doc], s.norms[doc], mine)) {
      found.add(0, s.base + doc, mine);
    }
  }
}

// The segment of a document.
INLINE const Segment& segment_of(const Segment* list, u32 n, u32 doc) {
  u32 from = 0;
  while (n > 1) {
    u32 half = n / 2;
    if (list[from + half].base <= doc) from += half;
    n -= half;
  }
  return list[from];
}

// Numbers in an order that whole numbers have, too; 0 is below all.
INLINE u32 key_of(float x) {
  u32 b = __float_as_uint(x);
  return b >> 31 ? ~b : b | 0x80000000;
}
INLINE float of_key(u32 k) { return __uint_as_float(k >> 31 ? k ^ 0x80000000 : ~k); }

// The float32 that is next to a number, below or above.
INLINE float below(double x) {
  float f;
  asm("cvt.rm.f32.f64 %0, %1;" : "=f"(f) : "d"(x));
  return f;
}
INLINE float above(double x) {
  float f;
  asm("cvt.rp.f32.f64 %0, %1;" : "=f"(f) : "d"(x));
  return f;
}

// Bounds for the similarities of the documents that were found; see between in bounds.go of package
// nearest.
KERNEL near_bounds(const Segment* segments, u32 n, const Query* queries, u64* list, u32* counts, u32 room,
                        u32* lows, float* highs) {
  u32 query = blockIdx.y;
  Found found = {list, counts, room};
  const Query q = queries[query];
  u32 count = min_of(found.counts[query], found.room);
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    u64 at = (u64)query * found.room + i, x = found.list[at];
    u32 doc = (u32)x;
    if (doc == kNoDoc) {
      lows[at] = 0;
      highs[at] = -(float)infinity();
      continue;
    }
    const Segment& s = segment_of(segments, n, doc);
    doc -= s.base;
    double r = s.rests[doc], norm = s.norms[doc], low, high;
    double a = q.scale * (double)s.scales[doc] * (double)(i32)(x >> 32);
    double e = (q.coded * r + q.rest * norm) * (1 + kMargin);
    if (q.metric == kEuclidean) {
      double squares = q.norm * q.norm + norm * norm, slack = 2 * e + kMargin * squares + kTiny;
      double near = max_of(0.0, (squares - 2 * a - slack) * (1 - 2 * q.rounding));
      double far = max_of(0.0, (squares - 2 * a + slack) * (1 + 2 * q.rounding));
      low = (1 - kMargin) / (1 + far), high = (1 + kMargin) / (1 + near);
    } else {
      e += (q.rounding + kMargin) * q.norm * norm;
      if (q.metric == kCosine) {
        double by = q.norm * norm;
        low = (a - e) / by, high = (a + e) / by;
      } else {
        e += kTiny;
        low = a - e, high = a + e;
      }
    }
    lows[at] = low > -infinity() ? key_of(below(low)) : 0;
    highs[at] = above(high);
  }
}

constexpr u32 kSelect = 1024;  // threads of near_select, and its buckets

// The k-th best of the keys of each query, and from it the least similarity that is wanted and, if
// tests is not null, the next test. With reset nothing is found any more.
KERNEL __launch_bounds__(1024) near_select(const Query* queries, const u32* keys, u32* counts, u32 room, double* bars, Test* tests, u32 reset) {
  __shared__ u32 bins[kSelect], sums[kWarp], chosen, over, lowest, highest;
  u32 query = blockIdx.x, t = threadIdx.x;
  u32 count = min_of(counts[query], room), k = queries[query].k;
  keys += (u64)query * room;
  __syncthreads();
  if (t == 0) {
    lowest = ~0u, highest = 0;
    if (reset) counts[query] = 0;
  }
  __syncthreads();
  u32 least = ~0u, most = 0;
  for (u32 i = t; i < count; i += kSelect) least = min_of(least, keys[i]), most = max_of(most, keys[i]);
  atomicMin(&lowest, least);
  atomicMax(&highest, most);
  __syncthreads();
  u32 from = lowest, to = highest;
  bool enough = k > 0 && count >= k;
  __syncthreads();
  while (enough && from < to) {  // the k-th best is between, and all threads know the same
    u32 bits = 32 - __clz(to - from), shift = bits > 10 ? bits - 10 : 0;
    bins[t] = 0;
    __syncthreads();
    for (u32 i = t; i < count; i += kSelect) {
      u32 key = keys[i];
      if (key >= from && key <= to) atomicAdd(bins + ((key - from) >> shift), 1);
    }
    __syncthreads();
    u32 bin = kSelect - 1 - t, here = bins[bin], upto = warp_inclusive(here);
    if (lane_id() == kWarp - 1) sums[warp_id()] = upto;
    __syncthreads();
    if (warp_id() == 0) {
      u32 sum = sums[lane_id()];
      sums[lane_id()] = warp_inclusive(sum) - sum;
    }
    __syncthreads();
    upto += sums[warp_id()];
    if (upto >= k && upto - here < k) chosen = bin, over = upto - here;
    __syncthreads();
    k -= over;
    from += chosen << shift;
    to = min_of(to, from + (u32)((1ull << shift) - 1));
    __syncthreads();
  }
  if (t > 0) return;
  double kth = enough && from > 0 ? (double)of_key(from) : -infinity();
  double bar = bar_of(queries[query], kth);
  bars[query] = bar;
  if (tests != nullptr) tests[query] = test_of(queries[query], bar);
}

// A number of a document's vector. A float16 is a float32 with another bias, also if it is
// subnormal; infinities are refused before.
INLINE float number(const u8* row, u32 i, u32 precision) {
  if (precision == 0) return ((const float*)row)[i];
  if (precision == 2) return (float)((const signed char*)row)[i];
  u32 h = ((const u16*)row)[i];
  float x = __uint_as_float((h & 0x7fff) << 13) * 5.192296858534827628530496329220096e33f;  // 2^112
  return __uint_as_float(__float_as_uint(x) | (h & 0x8000) << 16);
}

// The similarity as package dense defines it, of a vector and a row, in the first of 16 lanes.
INLINE float similarity(const Query& q, const float* vector, const u8* row, u32 steps, u32 precision, float norm) {
  u32 lane = lane_id() % kLanes;
  float sum = 0;
#pragma unroll 4
  for (u32 i = 0; i < steps; i++) {
    float x = vector[i * kLanes + lane], y = number(row, i * kLanes + lane, precision);
    if (q.metric == kEuclidean) {
      float d = x - y;
      sum += d * d;
    } else {
      sum += x * y;
    }
  }
#pragma unroll
  for (u32 by = kLanes / 2; by > 0; by /= 2) sum += __shfl_xor_sync(kFull, sum, by);
  if (q.metric == kCosine) return (float)((double)sum / (q.norm * (double)norm));
  if (q.metric == kEuclidean) return (float)(1 / (1 + (double)sum));
  return sum;
}

// Sums what may be wanted: of each query the documents whose upper bound reaches its bar. The keys
// of the results replace the lower bounds.
KERNEL near_sums(const Segment* segments, u32 n, const Query* queries, const float* vectors, u32 steps, u32 precision, u32 width,
                      u64* list, u32* counts, u32 room, const float* highs, const double* bars, u64* results,
                      u32* result_counts, u32* keys) {
  Found found = {list, counts, room};
  u32 query = blockIdx.y, lane = lane_id(), warps = gridDim.x * (blockDim.x / kWarp);
  const Query q = queries[query];
  const float* vector = vectors + (u64)query * steps * kLanes;
  const double bar = bars[query];
  u32 count = min_of(found.counts[query], found.room);
  u64 begin = (u64)query * found.room;
  for (u32 i = (blockIdx.x * (blockDim.x / kWarp) + warp_id()) * kWarp; i < count; i += warps * kWarp) {
    u32 doc = kNoDoc;
    if (i + lane < count) {
      doc = (u32)found.list[begin + i + lane];
      if (highs[begin + i + lane] < bar) doc = kNoDoc;
    }
    for (u32 left = __ballot_sync(kFull, doc != kNoDoc); left != 0;) {
      u32 one = __ffs(left) - 1;  // for the lower 16 lanes, and another for the upper, if there is one
      left &= left - 1;
      u32 other = left != 0 ? __ffs(left) - 1 : one;
      left &= left - 1;
      bool upper = lane >= kLanes;
      u32 mine = __shfl_sync(kFull, doc, upper ? other : one);
      const Segment& s = segment_of(segments, n, mine);
      u32 local = mine - s.base;
      float score = similarity(q, vector, s.rows + (u64)local * width, steps, precision, s.norms[local]);
      if (lane % kLanes == 0 && !(upper && other == one) && (double)score >= bar) {
        u32 at = atomicAdd(result_counts + query, 1);
        results[begin + at] = (u64)__float_as_uint(score) << 32 | mine;
        keys[begin + at] = key_of(score);
      }
    }
  }
}

// Gathers the answers of all queries in one list: the results that reach the bar, or, if there are
// none because the cores sum, the documents whose upper bound does.
KERNEL near_gather(const u64* list, const float* highs, const u32* counts, u32 room, const double* bars, u32 sums, u64* answers,
                   u32* whose, u32* total) {
  u32 query = blockIdx.y;
  const double bar = bars[query];
  u32 count = min_of(counts[query], room);
  u64 begin = (u64)query * room;
  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    u64 x = list[begin + i];
    bool wanted = sums ? (double)__uint_as_float((u32)(x >> 32)) >= bar : (u32)x != kNoDoc && !(highs[begin + i] < bar);
    if (!wanted) continue;
    u32 at = atomicAdd(total, 1);
    answers[at] = x;
    whose[at] = query;
  }
}
