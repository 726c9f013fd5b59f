#pragma once
// Workloads, topologies and the tree of layouts of a session. Equal documents are stored once.
// Ids are row numbers and start at 1; 0 stands for none.

#include <cstdint>
#include <string>
#include <vector>

#include "layout/layout.hpp"
#include "layout/result.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"
#include "storage/session.hpp"

namespace shardscope::storage {

/// A layout without its text.
struct LayoutRecord {
  std::int64_t id = 0;
  std::string name;
  std::int64_t workload = 0;
  std::int64_t topology = 0;
  std::int64_t parent = 0;
  std::string note;
  bool reference = false;       ///< the star: what others are compared with; at most one
  std::string prediction_json;  ///< what was predicted for it, or empty
  std::int64_t created_utc_ns = 0;

  friend bool operator==(const LayoutRecord&, const LayoutRecord&) = default;
};

[[nodiscard]] Result<std::int64_t> save_workload(const Session& session, const Workload& workload);
[[nodiscard]] Result<Workload> load_workload(const Session& session, std::int64_t id);

[[nodiscard]] Result<std::int64_t> save_topology(const Session& session, const Topology& topology);
[[nodiscard]] Result<Topology> load_topology(const Session& session, std::int64_t id);

/// `workload` and `topology` are ids (topology may be 0). The parent is the latest layout of that
/// workload with the name that layout.parent gives.
[[nodiscard]] Result<std::int64_t> save_layout(const Session& session, const Layout& layout,
                                               std::int64_t workload, std::int64_t topology);
[[nodiscard]] Result<Layout> load_layout(const Session& session, std::int64_t id);
/// In the order of their creation: a parent stands before its children.
[[nodiscard]] Result<std::vector<LayoutRecord>> list_layouts(const Session& session);

[[nodiscard]] Status set_layout_note(const Session& session, std::int64_t id,
                                     const std::string& note);
[[nodiscard]] Status set_layout_prediction(const Session& session, std::int64_t id,
                                           const std::string& prediction_json);
/// Moves the star to that layout; 0 takes it away.
[[nodiscard]] Status set_reference_layout(const Session& session, std::int64_t id);

}  // namespace shardscope::storage
