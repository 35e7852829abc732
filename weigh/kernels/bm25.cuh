// The formula of package bm25: the same operations in the same order, without fused
// multiply-add, so that all bits are the same.
#pragma once
#include "device.cuh"

// The values of bm25.Variant.
constexpr u32 kLucene = 1, kLucene7 = 2, kPlus = 3, kL = 4;

// The constants of a collection.
struct Scorer {
  double docs, k1;
  float a, b;  // k = a + b * length
  u32 variant;
};

// The weight of a word, and the constant that bm25+ adds in each of its documents.
struct TermWeight {
  float weight, plus;
};

// bm25.Log for normal positive numbers.
INLINE double log_of(double x) {
  const double ln2_hi = 6.93147180369123816490e-01, ln2_lo = 1.90821492927058770002e-10;
  const double l1 = 6.666666666666735130e-01, l2 = 3.999999999940941908e-01, l3 = 2.857142874366239149e-01;
  const double l4 = 2.222219843214978396e-01, l5 = 1.818357216161805012e-01, l6 = 1.531383769920937332e-01;
  const double l7 = 1.479819860511658591e-01;
  u64 bits = (u64)__double_as_longlong(x);
  i32 exp = (i32)((bits >> 52) & 0x7ff) - 1022;
  double frac = __longlong_as_double((i64)((bits & 0x800fffffffffffffull) | 0x3fe0000000000000ull));
  if (frac < 0.70710678118654752440) {
    frac *= 2;
    exp--;
  }
  double f = frac - 1;
  double k = (double)exp;
  double s = f / (2 + f);
  double s2 = s * s;
  double s4 = s2 * s2;
  double t1 = s4 * (l5 + s4 * l7);
  t1 = s4 * (l3 + t1);
  t1 = s2 * (l1 + t1);
  double t2 = s4 * (l4 + s4 * l6);
  t2 = s4 * (l2 + t2);
  double r = t1 + t2;
  double half = (0.5 * f) * f;
  double low = s * (half + r) + k * ln2_lo;
  return k * ln2_hi - ((half - low) - f);
}

INLINE double idf_of(const Scorer& c, u64 df) {
  double n = c.docs, d = (double)df;
  if (df == 0 || d > n) return 0;
  switch (c.variant) {
    case kLucene:
    case kLucene7:
      return log_of(1 + (n - d + 0.5) / (d + 0.5));
    case kPlus:
      return log_of((n + 1) / d);
    case kL:
      return log_of((n + 1) / (d + 0.5));
  }
  return log_of(n / d);
}

INLINE TermWeight term_weight(const Scorer& c, u64 df) {
  double idf = idf_of(c, df);
  TermWeight t{(float)(idf * (c.k1 + 1)), 0};
  if (c.variant == kLucene) t.weight = (float)idf;
  if (c.variant == kPlus) t.plus = (float)(idf * 1.0);
  return t;
}

INLINE float score(const Scorer& c, const TermWeight& t, u32 tf, u32 length) {
  float k = c.a + c.b * (float)length;
  if (c.variant == kL) {
    float r = (float)tf / k + 0.5f;
    return t.weight / (1 + (float)c.k1 / r);
  }
  float x = k * (1 / (float)tf);
  return t.weight / (1 + x) + t.plus;
}
