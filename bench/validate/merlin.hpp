#pragma once
// NVIDIA's synthetic models tiny and small, as TensorFlow with distributed-embeddings trains them.

#include <filesystem>

namespace shardscope::bench {

/// Predicted beside published times on 1 to 32 A100, the framework's own cost fitted to the other
/// model. `specs`: the folder of merlin_de_*.json.
void print_merlin(const std::filesystem::path& specs);

}  // namespace shardscope::bench
