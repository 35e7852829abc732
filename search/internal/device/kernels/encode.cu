// Codes: the score of every posting for one model, as a byte. If the scores of a list are at most
// b, code q means that the score is between q and q+1 times b/256. The largest code in a tile
// bounds the scores of the list there.
#include "scoring.cuh"

constexpr u32 kThreads = 256;

INLINE u32 code_of(u32 model, const Term& t, u32 tf, u32 length) {
  float x = score_of(model, t, tf, length) * t.inverse;
  return x >= 255.0f ? 255 : (u32)x;
}

// Lists with a row of tiles, a warp per tile. A tile's best code is stored plus one, up to 255; 0
// means that there is no posting.
KERNEL __launch_bounds__(kThreads)
encode_dense(const Term* __restrict__ terms, u32 count, u32 model, u32 tiles, const u16* __restrict__ offsets, const u8* __restrict__ tfs,
             const u32* __restrict__ extra, const u32* __restrict__ lengths, const u32* __restrict__ starts, u8* codes, u8* maxes) {
  u64 warps = (u64)gridDim.x * (kThreads / kWarp), all = (u64)count * tiles;
  for (u64 w = (u64)blockIdx.x * (kThreads / kWarp) + warp_id(); w < all; w += warps) {
    const Term& t = terms[w / tiles];
    u32 tile = (u32)(w % tiles);
    const u32* row = starts + (u64)t.row * (tiles * kSubs + 1);
    u32 most = 0;
    for (u32 i = row[tile * kSubs] + lane_id(); i < row[(tile + 1) * kSubs]; i += kWarp) {
      u32 doc = tile << kTileBits | offsets[t.pos + i];
      u32 q = code_of(model, t, frequency(t, tfs, extra, i), lengths[doc]);
      codes[t.pos + i] = (u8)q;
      most = max_of(most, min_of(q + 1, 255u));
    }
    for (u32 d = kWarp / 2; d > 0; d /= 2) most = max_of(most, __shfl_xor_sync(kFull, most, d));
    if (lane_id() == 0) maxes[(u64)t.row * tiles + tile] = (u8)most;
  }
}

// Short lists, which keep whole document numbers: a block per list.
KERNEL __launch_bounds__(kThreads)
encode_sparse(const Term* __restrict__ terms, u32 count, u32 model, const u8* __restrict__ tfs, const u32* __restrict__ extra,
              const u32* __restrict__ lengths, u8* codes) {
  for (u32 l = blockIdx.x; l < count; l += gridDim.x) {
    const Term& t = terms[l];
    for (u32 i = threadIdx.x; i < t.df; i += kThreads)
      codes[t.pos + i] = (u8)code_of(model, t, frequency(t, tfs, extra, i), lengths[extra[t.extra + i]]);
  }
}

// Maps of frequent lists: each cell has a bit per document, and the index of the first of these
// postings. A warp per tile.
KERNEL __launch_bounds__(kThreads)
encode_maps(const Term* __restrict__ terms, u32 count, u32 tiles, const u16* __restrict__ offsets, const u32* __restrict__ starts, uint2* maps) {
  u64 warps = (u64)gridDim.x * (kThreads / kWarp), all = (u64)count * tiles;
  for (u64 w = (u64)blockIdx.x * (kThreads / kWarp) + warp_id(); w < all; w += warps) {
    const Term& t = terms[w / tiles];
    u32 tile = (u32)(w % tiles);
    const u32* row = starts + (u64)t.row * (tiles * kSubs + 1) + tile * kSubs;
    const u16* list = offsets + t.pos;
    uint2* to = maps + (((u64)(t.table - 1) * tiles + tile) << (kTileBits - kMapBits));
    u32 begin = row[0], end = row[kSubs];
    // A lane fills a cell if it has the cell's first posting.
    for (u32 i = begin + lane_id(); i < end; i += kWarp) {
      u32 cell = list[i] >> kMapBits, bits = 0;
      if (i > begin && list[i - 1] >> kMapBits == cell) continue;
      for (u32 j = i; j < end && list[j] >> kMapBits == cell; j++) bits |= 1u << (list[j] & 31);
      to[cell] = make_uint2(bits, i);
    }
  }
}

// Counts the postings of a list with each code. A block counts a part of a list; counts has 256
// entries per row.
KERNEL __launch_bounds__(kThreads)
encode_count(const Term* __restrict__ terms, u32 parts, const u8* __restrict__ codes, u32* counts) {
  __shared__ u32 bins[256];
  const Term& t = terms[blockIdx.x / parts];
  u32 part = blockIdx.x % parts;
  u32 from = (u32)((u64)t.df * part / parts), to = (u32)((u64)t.df * (part + 1) / parts);
  bins[threadIdx.x] = 0;
  __syncthreads();
  for (u32 i = from + threadIdx.x; i < to; i += kThreads) atomicAdd(&bins[codes[t.pos + i]], 1u);
  __syncthreads();
  if (bins[threadIdx.x]) atomicAdd(&counts[t.row * 256 + threadIdx.x], bins[threadIdx.x]);
}
