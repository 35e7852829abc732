// Names and small steps that all kernels share. Nothing here needs a CUDA
// header: the run-time compiler knows threadIdx, __shfl_sync and their kin.
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

INLINE u32 lane_id() {
  u32 r;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(r));
  return r;
}

// Lanes below this one, as a mask.
INLINE u32 lanes_below() {
  u32 r;
  asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(r));
  return r;
}

INLINE u32 warp_id() { return threadIdx.x / kWarp; }

template <class T> INLINE T min_of(T a, T b) { return b < a ? b : a; }
template <class T> INLINE T max_of(T a, T b) { return a < b ? b : a; }
INLINE u64 div_up(u64 a, u64 b) { return (a + b - 1) / b; }
