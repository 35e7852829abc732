// Lists of document numbers of 4 bytes and frequencies of one, for thesis.cuh.
#pragma once
#include "thesisheads.cuh"

constexpr u32 kChunks = 4;  // of 32 postings: the most that a slice has of a list

struct Plain {
  const u32* docs;
  const u8* tfs;
  const u32* extra;
  const u32* lengths;

  // The document at position i of this lane's list, 0 if there is none.
  INLINE u32 doc_at(const Term* terms, u32 n, u32 i, u32 df) const { return lane_id() < n && i < df ? docs[terms[lane_id()].pos + i] : 0; }

  // Each list's first posting from `from` on whose document is at least x. Few lists are searched
  // by all lanes, one after the other.
  INLINE u32 advance(const Term* terms, u32 n, u32 from, u32 df, u32 x) const {
    if (n > 6) return lane_id() < n ? gallop(docs + terms[lane_id()].pos, from, df, x) : 0;
    u32 found = 0;
    for (u32 t = 0; t < n; t++) {
      u32 at = stride(docs + terms[t].pos, __shfl_sync(kFull, from, t), __shfl_sync(kFull, df, t), x);
      if (lane_id() == t) found = at;
    }
    return found;
  }

  // Loads documents of the postings [from, to) of all lists into a slice, as many as fit. Loads are
  // issued together where possible, because their latency dominates.
  template <bool Wide> INLINE void load_docs(const Term* terms, u32 n, const Slice& s, u32 from, u32 to) const {
    u32 warps = Wide ? blockDim.x / kWarp : 1;
    for (u32 j = 0; j < n; j++) {
      u32 begin = __shfl_sync(kFull, from, j), end = min_of(__shfl_sync(kFull, to, j), begin + s.room);
      const u32* list = docs + terms[j].pos;
      u32 doc[kChunks];
#pragma unroll
      for (u32 c = 0; c < kChunks; c++) {
        u32 i = begin + c * kWarp + lane_id();
        doc[c] = i < end && (!Wide || c % warps == warp_id()) ? list[i] : kDone;
      }
#pragma unroll
      for (u32 c = 0; c < kChunks; c++)
        if (c * kWarp < s.room && (!Wide || c % warps == warp_id())) s.docs[j * (s.room + 1) + c * kWarp + lane_id()] = doc[c];
    }
  }

  // Loads the scores of the documents in a slice, which has `have` of this lane's list.
  template <bool Wide> INLINE void load_scores(const Term* terms, u32 n, u32 model, const Slice& s, u8* tfs_here, u32 from, u32 have) const {
    u32 warps = Wide ? blockDim.x / kWarp : 1;
    for (u32 j = 0; j < n; j++) {
      u32 begin = __shfl_sync(kFull, from, j), end = __shfl_sync(kFull, have, j);
      const u8* tf_of = tfs + terms[j].pos + begin;
      const u32* list = s.docs_of(j);
      u32 tf[kChunks], length[kChunks];
#pragma unroll
      for (u32 c = 0; c < kChunks; c++) {
        u32 i = c * kWarp + lane_id();
        if (i < end && (!Wide || c % warps == warp_id())) tf[c] = tf_of[i], length[c] = lengths[list[i]];
      }
#pragma unroll
      for (u32 c = 0; c < kChunks; c++) {
        u32 i = c * kWarp + lane_id();
        if (i < end && (!Wide || c % warps == warp_id())) tfs_here[j * s.room + i] = tf[c], s.scores[j * s.room + i] = __uint_as_float(length[c]);
      }
    }
    // Convert lengths to scores, each in the lane that loaded it.
    for (u32 j = 0; j < n; j++) {
      u32 begin = __shfl_sync(kFull, from, j), end = __shfl_sync(kFull, have, j);
      const Term& term = terms[j];
      for (u32 i = (Wide ? warp_id() * kWarp : 0) + lane_id(); i < end; i += warps * kWarp) {
        u32 tf = tfs_here[j * s.room + i];
        if (tf == 255) tf = frequency(term, tfs, extra, begin + i);
        s.scores[j * s.room + i] = score_of(model, term, tf, __float_as_uint(s.scores[j * s.room + i]));
      }
    }
  }
};
