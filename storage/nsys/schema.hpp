#pragma once
// Tables of Nsight Systems' SQLite export, schema 3.16.1 (nsys 2024.6): names, columns and
// enumerations as its users' scripts expect them. Times are ns since
// TARGET_INFO_SESSION_START_TIME.

#include <cstdint>
#include <span>
#include <string_view>

#include "layout/result.hpp"
#include "storage/sqlite/database.hpp"

namespace shardscope::storage::nsys {

inline constexpr std::string_view kSchemaVersion = "3.16.1";

struct TableText {
  const char* name;
  const char* columns;  ///< as CREATE TABLE takes them
};

/// Tables that every file with GPU activity has, empty or not.
[[nodiscard]] std::span<const TableText> common_tables();

/// Tables that appear with the first record of their kind.
[[nodiscard]] std::span<const TableText> activity_tables();

struct EnumValue {
  std::int64_t id;
  const char* name;
  const char* label;
};

struct EnumTable {
  const char* name;
  std::span<const EnumValue> values;
};

[[nodiscard]] std::span<const EnumTable> enum_tables();

/// Creates what is missing of the common tables and fills the enumerations and META_DATA_EXPORT.
[[nodiscard]] Status create_common_tables(Database& database);

/// Creates one of the activity tables where it is missing.
[[nodiscard]] Status create_activity_table(Database& database, std::string_view name);

}  // namespace shardscope::storage::nsys
