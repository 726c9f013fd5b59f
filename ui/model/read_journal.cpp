#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "layout/json.hpp"
#include "layout/names.hpp"
#include "ui/model/edit_journal.hpp"

namespace shardscope::ui {
namespace {

using JournalJson = nlohmann::json;

tl::unexpected<Error> damaged(const std::string& path, const std::string& what) {
  return fail({ErrorKind::usage, what, path, "a journal of edits", "Discard it"});
}

std::string text_of(const JournalJson& line, const char* name) {
  const auto found = line.find(name);
  return found != line.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// A whole number within [low, high]; nothing where it is absent or anything else.
std::optional<std::int64_t> whole_of(const JournalJson& line, const char* name, std::int64_t low,
                                     std::int64_t high) {
  const auto found = line.find(name);
  if (found == line.end() || !found->is_number_integer()) return std::nullopt;
  if (found->is_number_unsigned() &&
      found->get<std::uint64_t>() > static_cast<std::uint64_t>(high)) {
    return std::nullopt;
  }
  const auto value = found->get<std::int64_t>();
  return value >= low && value <= high ? std::optional(value) : std::nullopt;
}

Result<JournalHead> head_of(const JournalJson& line, const std::string& path) {
  if (!line.is_object() || text_of(line, "format") != "shardscope.edits/1") {
    return damaged(path, "the file holds no edits of this version");
  }
  JournalHead head;
  head.session = text_of(line, "session");
  head.opened_as = text_of(line, "opened_as");
  head.executor = parse_name<Executor>(text_of(line, "executor")).value_or(Executor::engine);
  head.schedule = parse_name<ScheduleKind>(text_of(line, "schedule")).value_or(ScheduleKind::inter);
  auto workload = workload_from_json(text_of(line, "workload"), path);
  if (!workload) return fail(workload.error());
  auto topology = topology_from_json(text_of(line, "topology"), path);
  if (!topology) return fail(topology.error());
  head.workload = std::move(*workload);
  head.topology = std::move(*topology);
  return head;
}

/// The parent with the tables that the line names placed anew.
std::optional<Layout> patched(const Layout& parent, Layout changed) {
  std::unordered_map<std::string, std::size_t> index;
  for (std::size_t t = 0; t < parent.table_names.size(); ++t) index[parent.table_names[t]] = t;
  Layout layout = parent;
  layout.name = changed.name;
  layout.parent = changed.parent;
  layout.note = changed.note;
  layout.clusters = changed.clusters;
  for (std::size_t t = 0; t < changed.tables.size(); ++t) {
    const auto at = index.find(changed.table_names[t]);
    if (at == index.end()) return std::nullopt;
    layout.tables[at->second] = std::move(changed.tables[t]);
  }
  return layout;
}

std::optional<JournalState> state_of(const JournalJson& line, const Journal& journal,
                                     const std::string& path) {
  const auto last = static_cast<std::int64_t>(journal.states.size()) - 1;
  const auto parent = whole_of(line, "parent", -1, last);
  if (!parent) return std::nullopt;
  const std::string whole = text_of(line, "layout");
  auto read = layout_from_json(whole.empty() ? text_of(line, "changed") : whole, path);
  if (!read) return std::nullopt;
  JournalState state;
  state.parent = static_cast<int>(*parent);
  state.edit = text_of(line, "edit");
  state.note = text_of(line, "note");
  state.session_layout =
      whole_of(line, "session_layout", 0, std::numeric_limits<std::int64_t>::max()).value_or(0);
  if (!whole.empty()) {
    state.layout = std::make_shared<const Layout>(std::move(*read));
    return state;
  }
  if (*parent < 0) return std::nullopt;
  auto layout =
      patched(*journal.states[static_cast<std::size_t>(*parent)].layout, std::move(*read));
  if (!layout) return std::nullopt;
  state.layout = std::make_shared<const Layout>(std::move(*layout));
  return state;
}

/// False where the line is none that this version wrote.
bool take_line(const JournalJson& line, Journal& journal, const std::string& path) {
  if (!line.is_object()) return false;
  const auto last = static_cast<std::int64_t>(journal.states.size()) - 1;
  if (const auto noted = whole_of(line, "noted", 0, last)) {
    journal.states[static_cast<std::size_t>(*noted)].note = text_of(line, "note");
    return true;
  }
  const auto current = whole_of(line, "current", 0, last);
  const auto reference = whole_of(line, "reference", 0, last);
  if (current && reference) {
    journal.current = static_cast<int>(*current);
    journal.reference = static_cast<int>(*reference);
    return true;
  }
  auto state = state_of(line, journal, path);
  if (!state) return false;
  journal.states.push_back(std::move(*state));
  return true;
}

}  // namespace

Result<Journal> read_journal(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text;
  if (!in || !std::getline(in, text)) return damaged(path, "the journal is empty");
  auto head = head_of(JournalJson::parse(text, nullptr, false), path);
  if (!head) return fail(head.error());
  Journal journal;
  journal.head = std::move(*head);
  while (std::getline(in, text)) {
    if (in.eof()) break;  // without its line feed: cut while it was written
    if (!take_line(JournalJson::parse(text, nullptr, false), journal, path)) break;
  }
  if (journal.states.empty()) return damaged(path, "the journal holds no state");
  std::error_code error;
  const auto time = std::filesystem::last_write_time(path, error);
  if (!error) {
    journal.written_utc_s = std::chrono::duration_cast<std::chrono::seconds>(
                                std::chrono::file_clock::to_sys(time).time_since_epoch())
                                .count();
  }
  return journal;
}

}  // namespace shardscope::ui
