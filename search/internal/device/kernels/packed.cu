// The kernels of thesis.cuh for compressed lists.
#include "packed.cuh"
#include "thesis.cuh"

// The highest score of every 64 postings of a list. A warp decodes a block.
KERNEL __launch_bounds__(256)
packed_maxima(const Term* __restrict__ terms, u32 model, const u32* __restrict__ words, const u8* __restrict__, const u32* __restrict__,
              const u32* __restrict__ lengths, float* maxima) {
  __shared__ u32 docs[256 / kWarp][kBlock];
  __shared__ u32 scores[256 / kWarp][2];
  const Term& t = terms[0];
  PackedList l(words, t);
  u32 warps = gridDim.x * (256 / kWarp), *here = docs[warp_id()], *best = scores[warp_id()];
  for (u32 b = blockIdx.x * (256 / kWarp) + warp_id(); b < l.blocks; b += warps) {
    Block block = l.block(b);
    block.docs([&](u32 i, u32 doc) { here[i] = doc; });
    if (lane_id() < 2) best[lane_id()] = 0;
    __syncwarp();
    block.frequencies([&](u32 i, u32 tf) { atomicMax(&best[i / kBlockPostings], __float_as_uint(score_of(model, t, tf, lengths[here[i]]))); });
    __syncwarp();
    if (lane_id() * kBlockPostings < block.n && lane_id() < 2) maxima[t.table + 2 * b + lane_id()] = __uint_as_float(best[lane_id()]);
    __syncwarp();
  }
}

MATCH_KERNELS(packed, Packed)
