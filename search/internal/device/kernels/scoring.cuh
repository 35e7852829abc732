// A word of a query on the device, and the models. Scores are computed by the same operations in
// the same order as on the CPU, without fused multiply-add, so that they have the same bits.
#pragma once
#include "warp.cuh"

constexpr u32 kTileBits = 14;
constexpr u32 kTile = 1u << kTileBits;
constexpr u32 kSubBits = 11;  // tables have the start of a list in every part of a tile
constexpr u32 kSub = 1u << kSubBits;
constexpr u32 kSubs = kTile / kSub;
constexpr u32 kSparse = 0xffffffffu;
constexpr u32 kMapBits = 5;  // bits of a document's number within its cell of a map

// Laid out as gpuTerm in codes.go.
struct Term {
  u64 pos;    // index of the first posting
  u64 extra;  // sparse: documents; then pairs (posting, frequency) for frequencies above 254
  u32 df, bigs;
  u32 row;    // in the tables of tiles; kSparse if the list has no row
  u32 mult;   // units per step of the code
  // Sparse: the query's own table; else 1 + the number of the list's map, 0 if it has none.
  u32 table;
  float a, b, weight, plus;
  float inverse;  // codes per score
  double x, y, z;
};

enum Model { kBM25, kBM25L, kCosine, kDirichlet, kDPH };

// The natural logarithm, with the same operations as bm25.Log.
INLINE double log_of(double v) {
  if (v == 0) return -__longlong_as_double(0x7ff0000000000000ll);
  u64 bits = __double_as_longlong(v);
  i32 exp = (i32)(bits >> 52) - 1022;
  if (bits >> 52 == 0) {
    bits = __double_as_longlong(v * 18014398509481984.0);
    exp = (i32)(bits >> 52) - 1022 - 54;
  }
  double frac = __longlong_as_double((bits & 0xfffffffffffffull) | 0x3fe0000000000000ull);
  if (frac < 0.70710678118654752440) {
    frac = frac * 2;
    exp--;
  }
  double f = frac - 1, k = (double)exp;
  double s = f / (2 + f), s2 = s * s, s4 = s2 * s2;
  double t1 = s4 * (1.818357216161805012e-01 + s4 * 1.479819860511658591e-01);
  t1 = s4 * (2.857142874366239149e-01 + t1);
  t1 = s2 * (6.666666666666735130e-01 + t1);
  double t2 = s4 * (2.222219843214978396e-01 + s4 * 1.531383769920937332e-01);
  t2 = s4 * (3.999999999940941908e-01 + t2);
  double r = t1 + t2, half = (0.5 * f) * f;
  double low = s * (half + r) + k * 1.90821492927058770002e-10;
  return k * 6.93147180369123816490e-01 - ((half - low) - f);
}

// BM25; inverse is 1 over the frequency.
INLINE float bm25_of(const Term& t, float inverse, u32 length) {
  float k = t.a + t.b * (float)length;
  float x = k * inverse;
  return t.weight / (1.0f + x) + t.plus;
}

INLINE float score_of(u32 model, const Term& t, u32 tf, u32 length) {
  if (model == kBM25) return bm25_of(t, 1.0f / (float)tf, length);
  if (model == kBM25L) {
    float c = (float)tf / (t.a + t.b * (float)length) + 0.5f;
    return t.weight / (1.0f + t.plus / c);
  }
  if (model == kCosine) return t.weight * __fsqrt_rn((float)tf / (float)max_of(length, 1u));
  if (model == kDirichlet) {  // x: 1/(mu p), y: mu
    float first = (float)log_of(1.0 + (double)tf * t.x);
    float second = (float)log_of(t.y / ((double)length + t.y));
    float sum = first + second;
    return t.weight * (sum > 0.0f ? sum : 0.0f);
  }
  // DPH; x: weight, y: ln(T/F), z: half of ln 2 pi
  if (tf == 0 || tf >= length) return 0;
  double f = (double)tf, l = (double)length;
  double logT = log_of(f), logL = log_of(l);
  double rest = (l - f) / l;
  double norm = rest * rest / (f + 1.0);
  double gain = f * ((logT - logL) + t.y);
  double half = t.z + 0.5 * (logT + (log_of((double)(length - tf)) - logL));
  double v = norm * (gain + half) * t.x;
  return (float)(v > 0 ? v : 0.0);
}

// The frequency of a posting: a byte or, if that is 255, from a list of pairs.
INLINE u32 frequency(const Term& t, const u8* __restrict__ tfs, const u32* __restrict__ extra, u32 at) {
  u32 tf = tfs[t.pos + at];
  if (tf < 255) return tf;
  const u32* pairs = extra + t.extra + (t.row == kSparse ? t.df : 0);
  u32 lo = 0, hi = t.bigs;
  while (lo < hi) {
    u32 mid = (lo + hi) / 2;
    if (pairs[2 * mid] < at) lo = mid + 1; else hi = mid;
  }
  return lo < t.bigs && pairs[2 * lo] == at ? pairs[2 * lo + 1] : tf;
}

// The index of the first number that is at least x, among ascending numbers [lo, hi).
template <class T> INLINE u32 lower_bound(const T* __restrict__ p, u32 lo, u32 hi, u32 x) {
  while (lo < hi) {
    u32 mid = (lo + hi) / 2;
    if (p[mid] < x) lo = mid + 1; else hi = mid;
  }
  return lo;
}
