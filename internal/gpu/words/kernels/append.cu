// From text to word numbers in one pass: a block finds the words of a tile in shared memory, learns
// by look-back how many come before, and looks each up in the dictionary.
//
// A tile's items, words and ends of documents, are listed in shared memory first. Then they are
// distributed to the threads one by one, so that all have the same amount of work.
#include "dictionary.cuh"
#include "lookback.cuh"

constexpr u32 kThreads = 256;
constexpr u32 kSpan = 64;                  // bytes per thread, one bit each in a mask
constexpr u32 kTile = kThreads * kSpan;
constexpr u32 kHalo = kSpan;               // text after a tile, for its last word
constexpr u32 kPiece = 16;
constexpr u32 kPieces = (kTile + kHalo) / kPiece;
constexpr u32 kList = 4096;                // items listed at a time
constexpr u32 kCut = 999;                  // length at which words between blanks are cut

// What a word is; see words.go.
enum { kWhitespace, kASCII, kSeparated };

// The fields of a sequence's state; see sequence.go.
enum { kLength, kMissed, kDocuments, kHuge, kTicket, kDone, kAdded };

// Marks the bytes of a word that are equal to c by the top bits of those bytes.
INLINE u32 equal_bytes(u32 w, u32 c) {
  u32 x = w ^ (c * 0x01010101u);
  return ~(((x & 0x7f7f7f7fu) + 0x7f7f7f7fu) | x) & 0x80808080u;
}

// Marks the letters among four bytes that all have the lower-case bit (0x20) set.
INLINE u32 letter_bytes(u32 w) {
  u32 low = w & 0x7f7f7f7fu;
  u32 from_a = low + (0x80 - 'a') * 0x01010101u;
  u32 above_z = low + (0x7f - 'z') * 0x01010101u;
  return from_a & ~above_z & ~w & 0x80808080u;
}

// Moves the four top bits to the lowest four bits.
INLINE u32 gather4(u32 tops) { return ((tops >> 7) * 0x10204080u) >> 28; }

INLINE bool is_word(u8 c, u32 ascii) {
  if (ascii) return (u32)((c | 0x20) - 'a') < 26;
  return c != ' ' && c != '\n' && c != '\t';
}

struct Tile {
  u32 text[(kTile + kHalo) / 4 + 4];
  u64 words[kThreads + 1];  // one bit per byte: it belongs to a word
  u64 ends[kThreads + 1];   // one bit per byte: it is a newline
  u16 list[kList];
  u32 warps[kThreads / kWarp];
  u64 prefix;
  u32 tile;
  u32 documents, missed, huge;
};

// Eight bytes of the tile from any position on.
INLINE u64 bytes_at(const u32* text, u32 at) {
  u32 w = at / 4, shift = at % 4 * 8;
  u32 a = text[w], b = text[w + 1], c = text[w + 2];
  return (u64)__funnelshift_r(b, c, shift) << 32 | __funnelshift_r(a, b, shift);
}

// Loads a tile and computes its masks.
INLINE void load_tile(Tile& sh, const u8* text, u64 n, u64 base, u32 ascii) {
  bool aligned = (u64)text % kPiece == 0;
  for (u32 i = threadIdx.x; i < kPieces; i += kThreads) {
    u64 at = base + i * kPiece;
    u32 w[4];
    if (aligned && at + kPiece <= n) {
      load_vec((const u32*)(text + at), w);
    } else {
#pragma unroll
      for (u32 j = 0; j < 4; j++) {
        w[j] = 0;
        for (u32 k = 0; k < 4; k++) {
          u64 p = at + 4 * j + k;
          w[j] |= (u32)(p < n ? text[p] : ' ') << (8 * k);
        }
      }
    }
    u32 words = 0, ends = 0;
#pragma unroll
    for (u32 j = 0; j < 4; j++) {
      u32 newline = equal_bytes(w[j], '\n');
      u32 inside;
      if (ascii) {
        w[j] |= 0x20202020u;
        inside = letter_bytes(w[j]);
      } else {
        inside = ~(equal_bytes(w[j], ' ') | equal_bytes(w[j], '\t') | newline) & 0x80808080u;
      }
      words |= gather4(inside) << (4 * j);
      ends |= gather4(newline) << (4 * j);
    }
    store_vec(sh.text + 4 * i, w);
    ((u16*)sh.words)[i] = words;
    ((u16*)sh.ends)[i] = ends;
  }
}

// The length of the word that begins at a position of the tile.
INLINE u32 word_length(const Tile& sh, const u8* text, u64 n, u64 base, u32 at, u32 ascii) {
  u32 span = at / kSpan;
  u64 outside = ~sh.words[span] >> (at % kSpan);
  if (outside) return __ffsll(outside) - 1;
  for (span++; span <= kThreads; span++) {
    outside = ~sh.words[span];
    if (outside) return span * kSpan - at + __ffsll(outside) - 1;
  }
  u64 p = base + kTile + kHalo;
  while (p < n && is_word(text[p], ascii) && p - base - at < 1u << kRefLength) p++;
  return (u32)(p - base - at);
}

// Words between blanks are cut at 999 bytes, at a character boundary.
INLINE u32 cut_length(const u8* word, u32 n) {
  if (n < kCut) return n;
  u8 a = word[kCut - 1], b = word[kCut - 2], c = word[kCut - 3];
  if (a < 0x80) return kCut;
  if (a >= 0xc0) return kCut - 1;
  if ((b & 0xe0) == 0xe0) return kCut - 2;
  if ((c & 0xf8) == 0xf0) return kCut - 3;
  return kCut;
}

// The item at a position of the tile: a word's number + 1, or 0 for a newline.
INLINE u32 item_at(Tile& sh, const Dictionary& d, const u8* text, u64 n, u64 base, u32 at, u32 kind) {
  u32 ascii = kind == kASCII;
  if (sh.ends[at / kSpan] >> (at % kSpan) & 1) return 0;
  u32 length = word_length(sh, text, n, base, at, ascii);
  u32 number;
  if (length <= kInline) {
    u64 k0 = bytes_at(sh.text, at), k1 = 0;
    if (length < 8) {
      k0 &= (1ull << (8 * length)) - 1;
    } else {
      k1 = bytes_at(sh.text, at + 8) & ((1ull << (8 * (length - 8))) - 1);
    }
    number = number_of(d, k0, k1 | (u64)length << 56);
  } else {
    const u8* word = text + base + at;
    if (kind == kWhitespace) length = cut_length(word, length);
    u8 small = ascii ? 0x20 : 0;
    if (length >= 1u << kRefLength) {
      sh.huge = 1;
      return kNone;
    }
    number = number_of_long(d, [=](u32 i) { return (u8)(word[i] | small); }, length);
  }
  return number == kNone ? kNone : number + 1;
}

// Appends the items of a text to a sequence. Blocks take tile after tile. Unless every word fits,
// the sequence keeps its length, in this launch and in all later ones until the state is cleared. A
// word that is only looked up and not found becomes kNone.
KERNEL __launch_bounds__(kThreads)
words_append(const u8* __restrict__ text, u64 n, u32 kind, u64* keys, u32 first, u32 tables, u32 find, u32* used, u32 limit,
             u8* arena, u64 arena_size, u64* arena_used, u32* out, u64* state, u64* tiles) {
  __shared__ Tile sh;
  Dictionary d{keys, first, tables, find, used, limit, arena, arena_size, arena_used};
  // No block changes these before all have read them: see the end of the kernel.
  if (state[kMissed] || state[kHuge]) return;
  u64 length = state[kLength];
  u32 ascii = kind == kASCII;
  u32 count = (u32)((n + kTile - 1) / kTile);
  if (threadIdx.x == 0) sh.documents = 0, sh.missed = 0, sh.huge = 0;
  for (;;) {
    __syncthreads();
    if (threadIdx.x == 0) sh.tile = (u32)atomicAdd(state + kTicket, 1ull);
    __syncthreads();
    u32 tile = sh.tile;
    if (tile >= count) break;
    u64 base = (u64)tile * kTile;
    load_tile(sh, text, n, base, ascii);
    __syncthreads();

    u64 inside = sh.words[threadIdx.x];
    u64 before = threadIdx.x ? sh.words[threadIdx.x - 1] >> 63 : (base > 0 && is_word(text[base - 1], ascii));
    u64 items = (inside & ~(inside << 1 | before)) | sh.ends[threadIdx.x];
    u32 mine = __popcll(items);
    u32 upto = warp_inclusive(mine);
    if (lane_id() == kWarp - 1) sh.warps[warp_id()] = upto;
    __syncthreads();
    u32 total = 0, rank = upto - mine;
    for (u32 w = 0; w < kThreads / kWarp; w++) {
      u32 s = sh.warps[w];
      if (w < warp_id()) rank += s;
      total += s;
    }
    if (warp_id() == 0) {
      u64 p = look_back(tiles, tile, total);
      if (lane_id() == 0) sh.prefix = p;
    }
    u32 documents = 0, missed = 0;
    for (u32 from = 0; from < total; from += kList) {
      // Each thread lists those of its items that belong to this round.
      while (items && rank < from + kList) {
        u32 bit = __ffsll(items) - 1;
        items &= items - 1;
        sh.list[rank - from] = threadIdx.x * kSpan + bit;
        rank++;
      }
      __syncthreads();
      u64 to = length + sh.prefix + from;
      u32 some = min_of(kList, total - from);
      for (u32 i = threadIdx.x; i < some; i += kThreads) {
        u32 item = item_at(sh, d, text, n, base, sh.list[i], kind);
        documents += item == 0;
        missed += item == kNone;
        out[to + i] = item;
      }
      __syncthreads();
    }
    if (documents) atomicAdd(&sh.documents, documents);
    if (missed && !find) atomicAdd(&sh.missed, missed);
    if (tile == count - 1 && threadIdx.x == 0) state[kAdded] = sh.prefix + total;
  }
  // The last block to finish updates the state. Until then the blocks' counts are kept elsewhere,
  // so that blocks that start late see the old state.
  if (threadIdx.x == 0) {
    u64* counts = tiles + count;
    if (sh.documents) atomicAdd(counts, (u64)sh.documents);
    if (sh.missed) atomicAdd(counts + 1, (u64)sh.missed);
    if (sh.huge) atomicAdd(counts + 2, 1ull);
    __threadfence();
    if (atomicAdd(state + kDone, 1ull) == gridDim.x - 1) {
      __threadfence();
      volatile u64* c = counts;
      volatile u64* s = state;
      if (c[1] == 0 && c[2] == 0) {
        s[kLength] = length + s[kAdded];
        s[kDocuments] = s[kDocuments] + c[0];
      }
      s[kMissed] = c[1];
      s[kHuge] = c[2];
      s[kTicket] = 0;
      s[kDone] = 0;
    }
  }
}
