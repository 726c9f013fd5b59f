#pragma once
// Numbers of distinct rows by first appearance. Rows are equal where all codes are and no value
// escapes, or where all values have the same bits; whatever a hash proposes is compared. Which
// place a row takes in the table depends on the order of the warps; its first appearance does not.

#include "engine/cuda/codec_ops.hpp"
#include "engine/cuda/kernels/rows.cuh"

namespace shardscope::engine::cuda {

struct NumberRowsWork {
  NumberRowsCall call;
  std::uint32_t* table = nullptr;    ///< slots: row + 1, or 0
  std::uint32_t mask = 0;            ///< slots - 1; a power of two of at least twice the rows
  std::int64_t* is_first = nullptr;  ///< rows + 1: 1 for first appearances, 0 for the end
  std::int64_t* number = nullptr;    ///< rows + 1: first appearances before each row
};

SHARDSCOPE_DEVICE bool value_escapes(const NumberRowsCall& call, std::int64_t n) {
  return ((call.escapes[n / 32] >> (n % 32)) & 1U) != 0;
}

SHARDSCOPE_DEVICE std::uint32_t mixed(std::uint32_t word) {
  word ^= word >> 16;
  word *= 0x7feb352dU;
  word ^= word >> 15;
  word *= 0x846ca68bU;
  return word ^ (word >> 16);
}

/// Whether a value of the row escapes; the same on all lanes of the warp.
SHARDSCOPE_DEVICE bool row_escapes(const NumberRowsCall& call, std::int64_t row) {
  bool any = false;
  for (std::int64_t c = thread_x() % 32; c < call.dim; c += 32) {
    any = any || value_escapes(call, row * call.dim + c);
  }
  return ballot(any) != 0;
}

/// The word of a value that equal rows share: its code, or its bits where the row escapes.
SHARDSCOPE_DEVICE std::uint32_t row_word(const NumberRowsCall& call, bool by_bits, std::int64_t n) {
  return by_bits ? float_to_bits(call.values[n]) : static_cast<std::uint32_t>(call.codes[n]);
}

SHARDSCOPE_DEVICE std::uint32_t row_hash(const NumberRowsCall& call, bool by_bits,
                                         std::int64_t row) {
  std::uint32_t sum = 0;
  for (std::int64_t c = thread_x() % 32; c < call.dim; c += 32) {
    const auto place = static_cast<std::uint32_t>(c) * 0x9e3779b9U;
    sum += mixed(row_word(call, by_bits, row * call.dim + c) + place);
  }
  for (std::uint32_t by = 16; by > 0; by /= 2) sum += shuffle_down(sum, by);
  return mixed(shuffle(sum, 0));
}

SHARDSCOPE_DEVICE bool equal_rows(const NumberRowsCall& call, bool by_bits, std::int64_t a,
                                  std::int64_t b) {
  bool differ = false;
  for (std::int64_t c = thread_x() % 32; c < call.dim; c += 32) {
    const std::int64_t n = a * call.dim + c;
    const std::int64_t m = b * call.dim + c;
    differ = differ || row_word(call, by_bits, n) != row_word(call, by_bits, m);
  }
  return ballot(differ) == 0 && row_escapes(call, b) == by_bits;
}

/// The slot of the row's class: found, or taken if `insert`.
SHARDSCOPE_DEVICE std::uint32_t find_row(const NumberRowsWork& work, std::int64_t row,
                                         bool insert) {
  const NumberRowsCall& call = work.call;
  const bool by_bits = row_escapes(call, row);
  const auto entry = static_cast<std::uint32_t>(row) + 1;
  for (std::uint32_t at = row_hash(call, by_bits, row) & work.mask;; at = (at + 1) & work.mask) {
    std::uint32_t there = 0;
    if (thread_x() % 32 == 0) {
      there = atomic_load(work.table + at);
      if (there == 0 && insert) there = atomic_cas(work.table + at, 0U, entry);
    }
    there = shuffle(there, 0);
    if (there == 0 || there == entry) return at;
    if (equal_rows(call, by_bits, row, static_cast<std::int64_t>(there) - 1)) return at;
  }
}

/// A warp a row. An occupied slot only ever changes to an earlier row of the same class.
SHARDSCOPE_KERNEL void codec_insert_rows_kernel(const NumberRowsWork* works) {
  const NumberRowsWork& work = works[block_y()];
  for (std::int64_t r = thread_index() / 32; r < work.call.rows; r += thread_count() / 32) {
    const std::uint32_t at = find_row(work, r, true);
    if (thread_x() % 32 == 0) atomic_min(work.table + at, static_cast<std::uint32_t>(r) + 1);
  }
}

SHARDSCOPE_KERNEL void codec_first_rows_kernel(const NumberRowsWork* works) {
  const NumberRowsWork& work = works[block_y()];
  for (std::int64_t r = thread_index() / 32; r < work.call.rows; r += thread_count() / 32) {
    const std::uint32_t first = work.table[find_row(work, r, false)] - 1;
    if (thread_x() % 32 != 0) continue;
    work.call.index[r] = first;
    work.is_first[r] = first == static_cast<std::uint32_t>(r) ? 1 : 0;
  }
  if (thread_index() == 0) work.is_first[work.call.rows] = 0;
}

SHARDSCOPE_KERNEL void codec_number_rows_kernel(const NumberRowsWork* works) {
  const NumberRowsWork& work = works[block_y()];
  const NumberRowsCall& call = work.call;
  const std::int64_t base = work.number[0];
  for (std::int64_t r = thread_index(); r < call.rows; r += thread_count()) {
    const std::uint32_t first = call.index[r];
    const auto number = static_cast<std::uint32_t>(work.number[first] - base);
    if (first == static_cast<std::uint32_t>(r)) call.first[number] = first;
    call.index[r] = number;
  }
  if (thread_index() == 0) *call.distinct = work.number[call.rows] - base;
}

}  // namespace shardscope::engine::cuda
