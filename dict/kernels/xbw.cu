// Look-ups in tries in XBW form.
#include "xbw.cuh"

KERNEL __launch_bounds__(kThreads) dict_xbw_plain(XBW_PARAMS) {
  XBW_SHARED(kThreads)
  __syncthreads();
  PlainVectors v{Bits{records}, per};
  look_up(XBW(v), Text{text, bytes}, refs, ids, n, cache, buckets, stride);
}

KERNEL __launch_bounds__(kThreads) dict_xbw_rrr(XBW_PARAMS, const u32* offsets, u32 offset_words, const u16* table) {
  extern __shared__ uint4 decode[];
  XBW_SHARED(kThreads)
  for (u32 i = threadIdx.x; i < 32768 * 2 / 16; i += kThreads) decode[i] = ((const uint4*)table)[i];
  __syncthreads();
  RrrVectors<DecodeTable> v{records, offsets, DecodeTable{(const u16*)decode}, per, offset_words};
  look_up(XBW(v), Text{text, bytes}, refs, ids, n, cache, buckets, stride);
}
