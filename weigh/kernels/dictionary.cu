// Additional kernels for the eight steps, if a dictionary converts words to numbers.
#include "dictionary.cuh"
#include "packing.cuh"

constexpr u32 kThreads = 256;

INLINE u64 thread_number() { return (u64)blockIdx.x * kThreads + threadIdx.x; }
INLINE u64 offset_of(u64 ref) { return ref >> 24; }

// Numbers the words that the given dictionary lacks, from `known` on, in a hash table.
// Counts the words for which the table has no room.
KERNEL __launch_bounds__(kThreads)
weigh_number_unknown(const u8* __restrict__ text, const u64* __restrict__ refs, u32* ids, u64 n, u32 known, u64* keys, u32 first, u32 tables,
                     u32 find, u32* used, u32 limit, u8* arena, u64 arena_size, u64* arena_used, u64* missed) {
  u64 i = thread_number();
  if (i >= n || ids[i] != kNone) return;
  Dictionary d{keys, first, tables, find, used, limit, arena, arena_size, arena_used};
  u32 length = (u32)refs[i] & ((1u << kRefLength) - 1);
  const u8* word = text + offset_of(refs[i]);
  u32 number;
  if (length <= kInline) {
    u64 k[2] = {0, (u64)length << 56};
    for (u32 j = 0; j < length; j++) k[j / 8] |= (u64)word[j] << (8 * (j % 8));
    number = number_of(d, k[0], k[1]);
  } else {
    number = number_of_long(d, [=](u32 j) { return word[j]; }, length);
  }
  if (number == kNone) {
    atomicAdd(missed, 1ull);
    number = 0;  // any number: the caller starts again with a larger table
  }
  ids[i] = known + number;
}

// Flags the items of a sequence that are words.
KERNEL __launch_bounds__(kThreads) weigh_is_word(const u32* __restrict__ items, u8* __restrict__ flags, u64 n) {
  u64 i = thread_number();
  if (i < n) flags[i] = items[i] != 0;
}

// Converts numbers that count from 1 to numbers that count from 0.
KERNEL __launch_bounds__(kThreads) weigh_from_zero(u32* numbers, u64 n) {
  u64 i = thread_number();
  if (i < n) numbers[i]--;
}

// Stores an occurrence of the word for each number in use. Any occurrence will do, since
// all have the same bytes.
KERNEL __launch_bounds__(kThreads) weigh_use(const u32* __restrict__ ids, const u64* __restrict__ refs, u64* used, u64 n) {
  u64 i = thread_number();
  if (i >= n) return;
  u32 id = ids[i];
  if (*(volatile u64*)(used + id) == ~0ull) used[id] = refs[i];
}

KERNEL __launch_bounds__(kThreads) weigh_is_used(const u64* __restrict__ used, u8* __restrict__ flags, u64 n) {
  u64 i = thread_number();
  if (i < n) flags[i] = used[i] != ~0ull;
}

// Lists the words in use, whose numbers are at[i], and stores each number at the index
// offset/2 of its word: two words never begin in the same two bytes of the text.
KERNEL __launch_bounds__(kThreads)
weigh_mark_used(const u64* __restrict__ used, const u32* __restrict__ at, u64* __restrict__ refs, u32* __restrict__ number_at, u64 n) {
  u64 i = thread_number();
  if (i >= n) return;
  u64 ref = used[at[i]];
  refs[i] = ref;
  number_at[offset_of(ref) / 2] = at[i];
}

// Finds the numbers of the words again after they were sorted.
KERNEL __launch_bounds__(kThreads)
weigh_numbers_of(const u64* __restrict__ refs, const u32* __restrict__ number_at, u32* __restrict__ numbers, u64 n) {
  u64 i = thread_number();
  if (i < n) numbers[i] = number_at[offset_of(refs[i]) / 2];
}

// Step 5: flags the first occurrence of each pair.
KERNEL __launch_bounds__(kThreads)
weigh_pair_keys(const u32* __restrict__ keys, const u32* __restrict__ docs, u8* __restrict__ flags, u64 n) {
  u64 i = thread_number();
  if (i < n) flags[i] = i == 0 || keys[i] != keys[i - 1] || docs[i] != docs[i - 1];
}

// Packs the pairs whose first occurrences are at[i]. `words` is the number of all
// occurrences. Documents are counted from 1 in the input and from 0 in the output.
KERNEL __launch_bounds__(kThreads)
weigh_pack(const u32* __restrict__ at, u64 n, const u32* __restrict__ keys, const u32* __restrict__ docs, u64 words, u64* __restrict__ pairs,
           u32 doc_shift, u32 term_shift) {
  u64 i = thread_number();
  if (i >= n) return;
  u32 from = at[i];
  u32 tf = (i + 1 < n ? at[i + 1] : (u32)words) - from;
  pairs[i] = Packing{doc_shift, term_shift}.pack(keys[from], docs[from] - 1, tf);
}
