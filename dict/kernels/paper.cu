// Look-ups as in the papers: thread i of N looks up the words i, i + N, i + 2N, ..., without a
// cache, in blocks of any size. Blocks of bits are decoded by a table or computed.
#include "stt.cuh"
#include "xbw.cuh"

// Decoding without a table: see computeBlock in rrr.go.
struct DecodeCompute {
  const u16* binomials;  // in shared memory: n over k at 16n + k

  INLINE u32 block(u32 k, u32 offset) const {
    u32 b = 0;
    for (i32 p = kBlockBits - 1; p >= 0 && k > 0; p--) {
      u32 n = binomials[16 * p + k];
      if (offset >= n) {
        offset -= n;
        b |= 1u << p;
        k--;
      }
    }
    return b;
  }
};

template <class Dict> INLINE void look_up_each(const Dict& d, const Text& text, const u64* __restrict__ refs, u32* __restrict__ ids, u64 n) {
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (u64)gridDim.x * blockDim.x) {
    Word w(text, refs[i]);
    ids[i] = d.find(w);
  }
}

KERNEL __launch_bounds__(1024)
dict_paper_stt(const u8* text, u64 bytes, const u64* refs, u32* ids, u64 n, Slot* cache, u32 buckets, u32 stride,
               const u16* codes, const i32* next, const i32* number, u32 chars, u32 nodes) {
  __shared__ u16 code[256];
  for (u32 i = threadIdx.x; i < 256; i += blockDim.x) code[i] = codes[i];
  __syncthreads();
  look_up_each(Stt{code, next, number, chars, nodes}, Text{text, bytes}, refs, ids, n);
}

KERNEL __launch_bounds__(1024) dict_paper_table(XBW_PARAMS, const u32* offsets, u32 offset_words, const u16* table) {
  extern __shared__ uint4 decode[];
  XBW_SHARED(blockDim.x)
  for (u32 i = threadIdx.x; i < 32768 * 2 / 16; i += blockDim.x) decode[i] = ((const uint4*)table)[i];
  __syncthreads();
  RrrVectors<DecodeTable> v{records, offsets, DecodeTable{(const u16*)decode}, per, offset_words};
  look_up_each(XBW(v), Text{text, bytes}, refs, ids, n);
}

KERNEL __launch_bounds__(1024) dict_paper_compute(XBW_PARAMS, const u32* offsets, u32 offset_words, const u16* table) {
  __shared__ u16 binomials[16 * kBlockBits];
  XBW_SHARED(blockDim.x)
  for (u32 i = threadIdx.x; i < 16 * kBlockBits; i += blockDim.x) {
    u32 c = 1;
    for (u32 j = 0; j < i % 16; j++) c = j < i / 16 ? c * (i / 16 - j) / (j + 1) : 0;
    binomials[i] = (u16)c;
  }
  __syncthreads();
  RrrVectors<DecodeCompute> v{records, offsets, DecodeCompute{binomials}, per, offset_words};
  look_up_each(XBW(v), Text{text, bytes}, refs, ids, n);
}
