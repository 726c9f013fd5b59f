#pragma once
// Memory of the whole program where a GPU can reach it: from set_heap() on, `new` takes from a
// block of pinned memory, so that the tests' vectors can be read and written by kernels.

#include <cstddef>

namespace shardscope::engine::testing {

/// The block must last until the process ends.
void set_heap(std::byte* block, std::size_t bytes);

/// A part of the block for a thread's stack, null without a block or room.
[[nodiscard]] std::byte* take_stack(std::size_t bytes);

}  // namespace shardscope::engine::testing
