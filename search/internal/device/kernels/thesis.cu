// The kernels of thesis.cuh for plain lists, and those that merge answers.
#include "plain.cuh"
#include "thesis.cuh"
// Whole document numbers for lists that store offsets within tiles.
KERNEL __launch_bounds__(256)
thesis_expand(const Term* __restrict__ terms, u32 tiles, const u16* __restrict__ offsets, const u32* __restrict__ extra,
              const u32* __restrict__ starts, u32* docs) {
  const Term& t = terms[0];
  u32 warps = gridDim.x * (blockDim.x / kWarp), w = blockIdx.x * (blockDim.x / kWarp) + warp_id();
  if (t.row == kSparse) {
    for (u32 i = w * kWarp + lane_id(); i < t.df; i += warps * kWarp) docs[t.pos + i] = extra[t.extra + i];
    return;
  }
  const u32* row = starts + (u64)t.row * (tiles * kSubs + 1);
  for (u32 tile = w; tile < tiles; tile += warps)
    for (u32 i = row[tile * kSubs] + lane_id(); i < row[(tile + 1) * kSubs]; i += kWarp) docs[t.pos + i] = tile << kTileBits | offsets[t.pos + i];
}

// The highest score of every 64 postings of a list.
KERNEL __launch_bounds__(256)
thesis_maxima(const Term* __restrict__ terms, u32 model, const u32* __restrict__ docs, const u8* __restrict__ tfs, const u32* __restrict__ extra,
              const u32* __restrict__ lengths, float* maxima) {
  const Term& t = terms[0];
  u32 warps = gridDim.x * (blockDim.x / kWarp), blocks = (t.df + kBlockPostings - 1) / kBlockPostings;
  for (u32 b = blockIdx.x * (blockDim.x / kWarp) + warp_id(); b < blocks; b += warps) {
    float best = 0;
    for (u32 i = b * kBlockPostings + lane_id(); i < min_of((b + 1) * kBlockPostings, t.df); i += kWarp) {
      float s = score_of(model, t, frequency(t, tfs, extra, i), lengths[docs[t.pos + i]]);
      if (s > best) best = s;
    }
    for (u32 d = kWarp / 2; d > 0; d /= 2) {
      float s = __shfl_xor_sync(kFull, best, d);
      if (s > best) best = s;
    }
    if (lane_id() == 0) maxima[t.table + b] = best;
  }
}

MATCH_KERNELS(thesis, Plain)

KERNEL __launch_bounds__(kMergeWarps * kWarp)
thesis_merge4(const u64* __restrict__ from, u64* to, u32 lists, u32 each, u32 in, u32 out, u32 distinct) {
  __shared__ u64 room[4 * 4 * kWarp];
  __shared__ u32 counts[kMergeWarps];
  merge_lists<4>(from, to, lists, each, in, out, distinct, room, counts);
}

KERNEL __launch_bounds__(kMergeWarps * kWarp)
thesis_merge8(const u64* __restrict__ from, u64* to, u32 lists, u32 each, u32 in, u32 out, u32 distinct) {
  __shared__ u64 room[4 * 8 * kWarp];
  __shared__ u32 counts[kMergeWarps];
  merge_lists<8>(from, to, lists, each, in, out, distinct, room, counts);
}

KERNEL __launch_bounds__(kMergeWarps * kWarp)
thesis_merge32(const u64* __restrict__ from, u64* to, u32 lists, u32 each, u32 in, u32 out, u32 distinct) {
  __shared__ u64 room[4 * 32 * kWarp];
  __shared__ u32 counts[kMergeWarps];
  merge_lists<32>(from, to, lists, each, in, out, distinct, room, counts);
}
