// Look-ups in a state transition table.
#include "stt.cuh"

KERNEL __launch_bounds__(kThreads)
dict_stt(const u8* text, u64 bytes, const u64* refs, u32* ids, u64 n, Slot* cache, u32 buckets, u32 stride,
         const u16* codes, const i32* next, const i32* number, u32 chars, u32 nodes) {
  __shared__ u16 code[256];
  for (u32 i = threadIdx.x; i < 256; i += kThreads) code[i] = codes[i];
  __syncthreads();
  look_up(Stt{code, next, number, chars, nodes}, Text{text, bytes}, refs, ids, n, cache, buckets, stride);
}
