#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <limits>
#include <type_traits>

#include "engine/cpu/kernels.hpp"

namespace shardscope::engine {
namespace {

/// 2048 counters a digit stay in the first-level cache.
constexpr int kDigitBits = 11;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;
constexpr int kPasses = (63 + kDigitBits - 1) / kDigitBits;

/// A row below 2^32 and the position of its occurrence.
struct NarrowEntry {
  std::uint32_t position;
  std::uint32_t row;
};

struct WideEntry {
  std::uint64_t row;
  std::uint64_t position;
};

/// Cut of a row number into digits that are as short as the number of passes allows.
struct Digits {
  int passes = 0;
  int bits = 0;
  explicit Digits(std::int64_t row_limit) {
    const int width =
        std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(row_limit - 1, 0)));
    passes = (width + kDigitBits - 1) / kDigitBits;
    bits = passes == 0 ? 0 : (width + passes - 1) / passes;
  }
  template <class Row>
  [[nodiscard]] std::size_t of(Row row, int pass) const {
    return static_cast<std::size_t>(row >> (pass * bits)) & ((std::size_t{1} << bits) - 1);
  }
};

using Counters = std::array<std::uint32_t, kDigits>;

/// The occurrences in input order, seen as entries.
template <class Key, class Entry>
struct InputOrder {
  const Key* rows;
  Entry operator[](std::int64_t n) const {
    Entry entry;
    entry.row = static_cast<decltype(entry.row)>(rows[n]);
    entry.position = static_cast<decltype(entry.position)>(n);
    return entry;
  }
};

/// Counts of every digit in one reading of the input.
template <int kPassCount, class Key>
void count_digits(const Key* rows, std::int64_t count, const Digits& digits, Counters* counters) {
  using Unsigned = std::make_unsigned_t<Key>;
  for (int pass = 0; pass < kPassCount; ++pass) counters[pass].fill(0);
  for (std::int64_t n = 0; n < count; ++n) {
    const auto row = static_cast<Unsigned>(rows[n]);
    for (int pass = 0; pass < kPassCount; ++pass) ++counters[pass][digits.of(row, pass)];
  }
}

template <class Key>
void count_all_digits(const Key* rows, std::int64_t count, const Digits& digits,
                      Counters* counters) {
  switch (digits.passes) {
    case 0:
      return;
    case 1:
      return count_digits<1>(rows, count, digits, counters);
    case 2:
      return count_digits<2>(rows, count, digits, counters);
    case 3:
      return count_digits<3>(rows, count, digits, counters);
    default:
      break;
  }
  if constexpr (sizeof(Key) == 8) {
    switch (digits.passes) {
      case 4:
        return count_digits<4>(rows, count, digits, counters);
      case 5:
        return count_digits<5>(rows, count, digits, counters);
      default:
        return count_digits<6>(rows, count, digits, counters);
    }
  }
}

/// Moves every entry to its digit's bucket, in order.
template <class Source, class Entry>
void scatter(const Source& source, std::int64_t count, const Digits& digits, int pass,
             Counters& counters, Entry* target) {
  std::uint32_t first = 0;
  for (std::uint32_t& counter : counters) {
    const std::uint32_t size = counter;
    counter = first;
    first += size;
  }
  for (std::int64_t n = 0; n < count; ++n) {
    const Entry entry = source[n];
    target[counters[digits.of(entry.row, pass)]++] = entry;
  }
}

/// Writes the distinct rows from the sorted occurrences. Free of branches on the data: whether a
/// row begins is close to a coin toss.
template <class Sorted>
void emit_rows(const SortIndex& call, const Sorted& sorted) {
  const std::int64_t count = call.count;
  std::int64_t* rows = call.unique_rows - 1;
  std::uint32_t* offsets = call.offsets - 1;
  std::uint32_t begin = 0;
  auto previous = static_cast<decltype(sorted[0].row)>(sorted[0].row + 1);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto row = sorted[i].row;
    const std::uint32_t first = row != previous ? 1 : 0;
    previous = row;
    begin += first * (static_cast<std::uint32_t>(i) - begin);
    rows += first;
    offsets += first;
    *rows = static_cast<std::int64_t>(row);
    *offsets = begin;
  }
  offsets[1] = static_cast<std::uint32_t>(count);
  *call.unique_count = rows - call.unique_rows + 1;
}

/// to[i] = from of the i-th sorted occurrence's position.
template <class Sorted, class Value>
void emit_values(std::int64_t count, const Sorted& sorted, const Value* from, Value* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[sorted[i].position];
}

template <class Sorted>
void emit(const SortIndex& call, const Sorted& sorted) {
  emit_rows(call, sorted);
  if (call.weights != nullptr) emit_values(call.count, sorted, call.weights, call.sorted_weights);
  if (call.gradient_row != nullptr) {
    emit_values(call.count, sorted, call.gradient_row, call.sorted_gradient_row);
    return;
  }
  for (std::int64_t i = 0; i < call.count; ++i) {
    call.sorted_gradient_row[i] = static_cast<std::uint32_t>(sorted[i].position);
  }
}

template <class Key, class Entry>
void sort_rows(const SortIndex& call) {
  constexpr std::int64_t kLimit = std::is_same_v<Entry, NarrowEntry>
                                      ? std::int64_t{1} << 32
                                      : std::numeric_limits<std::int64_t>::max();
  const Digits digits(std::min(call.row_limit, kLimit));
  std::array<Counters, kPasses> counters;
  const InputOrder<Key, Entry> input{static_cast<const Key*>(call.rows)};
  count_all_digits(input.rows, call.count, digits, counters.data());

  auto* target = static_cast<Entry*>(call.scratch);
  Entry* other = target + call.count;
  const Entry* sorted = nullptr;
  for (int pass = 0; pass < digits.passes; ++pass) {
    Counters& counter = counters[static_cast<std::size_t>(pass)];
    // A digit that all rows share orders nothing.
    if (counter[digits.of(input[0].row, pass)] == call.count) continue;
    if (sorted == nullptr) {
      scatter(input, call.count, digits, pass, counter, target);
    } else {
      scatter(sorted, call.count, digits, pass, counter, target);
    }
    sorted = target;
    std::swap(target, other);
  }
  if (sorted == nullptr) {
    emit(call, input);
  } else {
    emit(call, sorted);
  }
}

}  // namespace

void sort_index(const SortIndex& call) {
  if (call.count == 0) {
    *call.unique_count = 0;
    call.offsets[0] = 0;
    return;
  }
  const bool narrow = call.row_limit <= (std::int64_t{1} << 32);
  if (call.key == KeyType::i32) {
    sort_rows<std::int32_t, NarrowEntry>(call);
  } else if (narrow) {
    sort_rows<std::int64_t, NarrowEntry>(call);
  } else {
    sort_rows<std::int64_t, WideEntry>(call);
  }
}

}  // namespace shardscope::engine
