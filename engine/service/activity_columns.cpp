#include "engine/service/activity_columns.hpp"

#include <array>
#include <unordered_map>

#include "engine/service/column_codec.hpp"

namespace shardscope::service {
namespace {

constexpr int kActivityKinds = static_cast<int>(ActivityRecord::Kind::overhead) + 1;
constexpr int kMemoryKinds = static_cast<int>(MemoryKind::managed_static) + 1;

/// The columns of one width, in order, as members: one list that writes and reads.
constexpr std::array kWideColumns = {&ActivityRecord::start_ns, &ActivityRecord::end_ns,
                                     &ActivityRecord::bytes, &ActivityRecord::local_bytes,
                                     &ActivityRecord::grid_id};
constexpr std::array kColumns = {&ActivityRecord::rank,
                                 &ActivityRecord::device,
                                 &ActivityRecord::context,
                                 &ActivityRecord::stream,
                                 &ActivityRecord::detail,
                                 &ActivityRecord::iteration,
                                 &ActivityRecord::thread,
                                 &ActivityRecord::registers_per_thread,
                                 &ActivityRecord::static_shared_bytes,
                                 &ActivityRecord::dynamic_shared_bytes,
                                 &ActivityRecord::local_bytes_per_thread};
constexpr std::array kShapes = {&ActivityRecord::grid, &ActivityRecord::block};
constexpr std::array kNumbers = {&ActivityRecord::correlation, &ActivityRecord::event};
static_assert(kActivityBytes ==
              (kWideColumns.size() + 1) * 8 +
                  (kColumns.size() + 3 * kShapes.size() + kNumbers.size() + 1) * 4 + 6);

void append_small(std::string& bytes, std::span<const ActivityRecord> records) {
  append_column(bytes, records, [](const ActivityRecord& it) { return it.kind; });
  append_column(bytes, records, [](const ActivityRecord& it) { return it.stage; });
  append_column(bytes, records, [](const ActivityRecord& it) { return it.work; });
  append_column(bytes, records,
                [](const ActivityRecord& it) { return std::uint8_t{it.attributed}; });
  append_column(bytes, records, [](const ActivityRecord& it) { return it.source; });
  append_column(bytes, records, [](const ActivityRecord& it) { return it.destination; });
}

bool read_small(ColumnReader& reader, std::vector<ActivityRecord>& records) {
  using U8 = std::uint8_t;
  return reader.column<U8>(records, into_enum(&ActivityRecord::kind, kActivityKinds)) &&
         reader.column<U8>(records, into_enum(&ActivityRecord::stage, kStages)) &&
         reader.column<U8>(records, into_enum(&ActivityRecord::work, kWorks)) &&
         reader.column<U8>(records, into_flag(&ActivityRecord::attributed)) &&
         reader.column<U8>(records, into_enum(&ActivityRecord::source, kMemoryKinds)) &&
         reader.column<U8>(records, into_enum(&ActivityRecord::destination, kMemoryKinds));
}

bool read_all(ColumnReader& reader, std::vector<ActivityRecord>& records,
              const std::vector<std::string>& names) {
  bool valid = true;
  for (const auto member : kWideColumns) {
    valid = valid && reader.column<std::int64_t>(records, into(member));
  }
  valid = valid && reader.column<std::uint64_t>(records, into(&ActivityRecord::graph_node));
  for (const auto member : kColumns) {
    valid = valid && reader.column<std::int32_t>(records, into(member));
  }
  for (const auto member : kShapes) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      valid =
          valid && reader.column<std::int32_t>(records, [&](ActivityRecord& it, std::int32_t v) {
            (it.*member)[axis] = v;
            return true;
          });
    }
  }
  for (const auto member : kNumbers) {
    valid = valid && reader.column<std::uint32_t>(records, into(member));
  }
  valid = valid && reader.column<std::uint32_t>(records, [&](ActivityRecord& it, std::uint32_t at) {
    if (at < names.size()) it.name = names[at];
    return at < names.size();
  });
  return valid && read_small(reader, records);
}

}  // namespace

std::string columns_of(std::span<const ActivityRecord> records, std::vector<std::string>& names) {
  std::unordered_map<std::string, std::uint32_t> places;
  for (std::size_t i = 0; i < names.size(); ++i) {
    places.emplace(names[i], static_cast<std::uint32_t>(i));
  }
  std::string bytes;
  bytes.reserve(records.size() * kActivityBytes);
  for (const auto member : kWideColumns) {
    append_column(bytes, records, [member](const ActivityRecord& it) { return it.*member; });
  }
  append_column(bytes, records, [](const ActivityRecord& it) { return it.graph_node; });
  for (const auto member : kColumns) {
    append_column(bytes, records, [member](const ActivityRecord& it) { return it.*member; });
  }
  for (const auto member : kShapes) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      append_column(bytes, records, [&](const ActivityRecord& it) { return (it.*member)[axis]; });
    }
  }
  for (const auto member : kNumbers) {
    append_column(bytes, records, [member](const ActivityRecord& it) { return it.*member; });
  }
  append_column(bytes, records, [&](const ActivityRecord& it) {
    const auto [at, added] = places.try_emplace(it.name, static_cast<std::uint32_t>(names.size()));
    if (added) names.push_back(it.name);
    return at->second;
  });
  append_small(bytes, records);
  return bytes;
}

Result<std::vector<ActivityRecord>> activities_of(std::string_view columns, std::size_t count,
                                                  const std::vector<std::string>& names) {
  if (Status length = require_length("activities", columns, count, kActivityBytes); !length) {
    return fail(length.error());
  }
  std::vector<ActivityRecord> records(count);
  ColumnReader reader(columns);
  if (!read_all(reader, records, names)) {
    return fail(column_error("activities",
                             "a name, kind, stage, work, memory or flag does not exist",
                             "values this version knows"));
  }
  return records;
}

}  // namespace shardscope::service
