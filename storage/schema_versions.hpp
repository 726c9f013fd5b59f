#pragma once
// One text a schema version. A version that has shipped is never edited: changes are a new one.

#include <span>

namespace shardscope::storage {

/// Element i brings a database from version i to version i + 1.
[[nodiscard]] std::span<const char* const> schema_versions();

}  // namespace shardscope::storage
