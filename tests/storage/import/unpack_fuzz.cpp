#include "storage/import/unpack.hpp"

#include <array>

#include "layout/invariant.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/storage/import/text_stream.hpp"

// Any bytes as a packed file: it ends, and within its budget.
SHARDSCOPE_FUZZ_TARGET(unpack) {
  const std::string text(shardscope::fuzz::text_of(input));
  shardscope::test::TextStream stream(text, 100);
  shardscope::storage::UnpackBudget budget("input", text.size());
  shardscope::storage::Unpacker unpacker(stream, budget);
  std::array<char, 4096> piece{};
  while (unpacker.next().value_or(false)) {
    while (unpacker.read(piece.data(), piece.size()).value_or(0) > 0) {
    }
  }
}
