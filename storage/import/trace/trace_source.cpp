#include "storage/import/trace/trace_source.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

namespace shardscope::storage {
namespace {

namespace fs = std::filesystem;

template <std::size_t N>
bool has_ending(const std::string& path, const std::array<const char*, N>& endings) {
  return !is_hidden(path) && std::any_of(endings.begin(), endings.end(), [&](const char* ending) {
    return path.ends_with(ending);
  });
}

/// Of a trace, in an archive or directory.
constexpr std::array kTraceEndings = {".json", ".json.gz", ".json.zst"};
/// Of what a directory may hold besides.
constexpr std::array kPackedEndings = {".gz", ".tar", ".tgz", ".zip"};

struct TracePath {
  std::string path;
  std::uint64_t bytes = 0;
};

Result<std::vector<TracePath>> expanded(const std::vector<std::string>& paths) {
  std::vector<TracePath> files;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::exists(path, error)) {
      return fail({ErrorKind::usage, "there is no such file", path, "", "Check the path"});
    }
    if (!fs::is_directory(path, error)) {
      files.push_back({path, fs::file_size(path, error)});
      continue;
    }
    std::vector<std::string> names;
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
      const std::string name = it->path().string();
      if (!it->is_regular_file(error)) continue;
      if (has_ending(name, kTraceEndings) || has_ending(name, kPackedEndings)) {
        names.push_back(name);
      }
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) files.push_back({name, fs::file_size(name, error)});
  }
  if (!files.empty()) return files;
  return fail({ErrorKind::usage, "there are no traces", paths.empty() ? "" : paths.front(),
               "*.json, *.json.gz, *.tar.gz or *.zip", ""});
}

void warn_of_damage(const std::string& place, ImportNotes& notes) {
  notes.warn_at(place, "its packed data is damaged or breaks off; what came before is kept",
                "a whole file");
}

/// A member of an archive; what is compressed by itself is unpacked once more.
Status visit_member(Unpacker& archive, const std::string& place, UnpackBudget& budget,
                    ImportNotes& notes, const TraceVisit& visit) {
  Unpacker inner(archive, budget);
  const auto found = inner.next();
  if (!found) return fail(found.error());
  const Status done = visit({place, &inner});
  if (inner.damaged()) warn_of_damage(place, notes);
  return done;
}

Status visit_file(const std::string& path, ImportNotes& notes,
                  const std::function<bool(std::uint64_t)>& go_on, const TraceVisit& visit) {
  const auto file = FileBytes::open(path, go_on);
  if (!file) return fail(file.error());
  UnpackBudget budget(path, (*file)->size());
  Unpacker unpacked(**file, budget);
  int visited = 0;
  int passed_over = 0;
  Status done;
  while (done) {
    const auto found = unpacked.next();
    if (!found) return fail(found.error());
    if (!*found) break;
    if (unpacked.name().empty()) {
      done = visit({path, &unpacked});
    } else if (has_ending(unpacked.name(), kTraceEndings)) {
      done = visit_member(unpacked, path + ":" + unpacked.name(), budget, notes, visit);
    } else {
      ++passed_over;
      continue;
    }
    ++visited;
  }
  notes.skip(passed_over);
  if (unpacked.damaged()) warn_of_damage(path, notes);
  if (!done || visited > 0) return done;
  if (passed_over == 0) return visit({path, &unpacked});
  return fail({ErrorKind::usage, "there are no traces in the archive", path,
               "files named *.json or *.json.gz", ""});
}

}  // namespace

Status for_each_trace(const std::vector<std::string>& paths, ImportNotes& notes,
                      const std::function<bool(double)>& progress, const TraceVisit& visit) {
  const auto files = expanded(paths);
  if (!files) return fail(files.error());
  std::uint64_t all = 1;
  for (const TracePath& file : *files) all += file.bytes;
  std::uint64_t before = 0;
  for (const TracePath& file : *files) {
    const auto go_on = [&](std::uint64_t done) {
      return !progress || progress(static_cast<double>(before + done) / static_cast<double>(all));
    };
    if (Status done = visit_file(file.path, notes, go_on, visit); !done) return done;
    before += file.bytes;
  }
  return {};
}

}  // namespace shardscope::storage
