// Names and small functions that all kernels share. Nothing here needs a CUDA header: threadIdx,
// __shfl_sync and the like are built into the run-time compiler.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;
typedef long long i64;

#define KERNEL extern "C" __global__ void
#define INLINE __device__ __forceinline__

constexpr u32 kWarp = 32;
constexpr u32 kFull = 0xffffffffu;

// Special registers. Their values do not change, so the compiler may read them once.
INLINE u32 lane_id() {
  u32 r;
  asm("mov.u32 %0, %%laneid;" : "=r"(r));
  return r;
}

// The lanes below this one, as a mask.
INLINE u32 lanes_below() {
  u32 r;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r));
  return r;
}

INLINE u32 warp_id() { return threadIdx.x / kWarp; }

template <class T> INLINE T min_of(T a, T b) { return b < a ? b : a; }
template <class T> INLINE T max_of(T a, T b) { return a < b ? b : a; }

// As many values of T as fill 16 bytes, loaded or stored by one instruction.
template <class T> struct Vec;
template <> struct Vec<u32> {
  typedef uint4 type;
  static constexpr u32 n = 4;
};
template <> struct Vec<u64> {
  typedef ulonglong2 type;
  static constexpr u32 n = 2;
};

INLINE void load_vec(const u32* p, u32* to) {
  uint4 v = *(const uint4*)p;
  to[0] = v.x, to[1] = v.y, to[2] = v.z, to[3] = v.w;
}
INLINE void load_vec(const u64* p, u64* to) {
  ulonglong2 v = *(const ulonglong2*)p;
  to[0] = v.x, to[1] = v.y;
}
INLINE void store_vec(u32* p, const u32* from) { *(uint4*)p = make_uint4(from[0], from[1], from[2], from[3]); }
INLINE void store_vec(u64* p, const u64* from) { *(ulonglong2*)p = make_ulonglong2(from[0], from[1]); }
