// A session file with any bytes changed: opening and asking it never crashes, hangs or overflows.
// The input is a list of edits of a small valid file: byte 0 odd: cut to byte 1 / 256 of its
// length; then four bytes each: position (24 bits, modulo the length) and new value.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "storage/comparisons.hpp"
#include "storage/curves.hpp"
#include "storage/documents.hpp"
#include "storage/nsys/export.hpp"
#include "storage/queries/runs.hpp"
#include "storage/queries/stages.hpp"
#include "storage/queries/timeline.hpp"
#include "storage/session_state.hpp"
#include "storage/session_writer.hpp"
#include "storage/statistics.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/storage/samples.hpp"
#include "tests/temp_directory.hpp"

namespace shardscope::storage {
namespace {

/// A session with something in every table, in small pages so that edits hit structure often.
std::string make_valid_file(const std::string& path) {
  {
    Session session = Session::create(path).value();
    SessionWriter writer(session);
    const std::int64_t run = writer.begin_run(test::sample_run()).value();
    writer.spans(run, test::sample_spans(30));
    writer.iterations(run, test::sample_iterations(30));
    const std::vector<ActivityRecord> kernels(3, ActivityRecord{.name = "void gather<float>()"});
    writer.activities(run, kernels);
    writer.dropped(run, 1);
    static_cast<void>(writer.end_run(run, {}));
    static_cast<void>(writer.begin_run(test::sample_run("interrupted")));
    static_cast<void>(save_comparison(session, {.run_a = run, .label_a = "A"}));
    const std::vector<CurvePoint> curve(1);
    static_cast<void>(save_curve(session, run, curve));
  }
  {
    Database database = Database::open(path, Database::Open::read_write).value();
    static_cast<void>(database.execute("PRAGMA page_size = 512; VACUUM"));
  }
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string edited(std::string bytes, std::span<const std::uint8_t> input) {
  if (input.size() < 2) return bytes;
  for (std::size_t i = 2; i + 4 <= input.size() && i < 400; i += 4) {
    const std::size_t position =
        (std::size_t{input[i]} << 16 | std::size_t{input[i + 1]} << 8 | input[i + 2]) %
        bytes.size();
    bytes[position] = static_cast<char>(input[i + 3]);
  }
  if (input[0] % 2 == 1) bytes.resize(bytes.size() * input[1] / 256);
  return bytes;
}

void ask_run(const Session& session, std::int64_t run, const std::string& export_path) {
  static_cast<void>(iterations_of(session, run));
  static_cast<void>(load_curve(session, run));
  if (const auto stages = run_stages(session, run)) {
    static_cast<void>(stages->table());
    static_cast<void>(stages->ranks());
  }
  const auto tracks = run_tracks(session, run);
  for (const Track& track : tracks.value_or(std::vector<Track>{})) {
    static_cast<void>(visible_items(session, track.id, 0, 1'000'000'000, 50));
    static_cast<void>(visible_items(session, track.id, INT64_MIN, INT64_MAX, 1));
    static_cast<void>(spans_in(session, track, 0, INT64_MAX, 100));
  }
  static_cast<void>(nsys::export_run(session, run, export_path));
  std::filesystem::remove(export_path);
}

void ask_everything(const Session& session, const std::string& export_path) {
  static_cast<void>(list_layouts(session));
  static_cast<void>(list_comparisons(session));
  static_cast<void>(load_workload(session, 1));
  static_cast<void>(load_topology(session, 1));
  static_cast<void>(load_layout(session, 1));
  static_cast<void>(list_table_stats(session));
  if (const auto runs = list_runs(session)) {
    for (const RunRecord& run : *runs) ask_run(session, run.id, export_path);
  }
}

}  // namespace

SHARDSCOPE_FUZZ_TARGET(session_file) {
  static const test::TempDirectory directory(test::TempDirectory::fast_parent());
  static const std::string valid = make_valid_file(directory.file("valid.shardscope"));
  const std::string path = directory.file("edited.shardscope");
  std::ofstream(path, std::ios::binary) << edited(valid, input);
  for (const auto access : {Session::Access::read_only, Session::Access::read_write}) {
    const Result<Session> session = Session::open(path, access);
    if (session) ask_everything(*session, directory.file("export.sqlite"));
  }
  for (const char* companion : {"-wal", "-shm", "-journal", ".lock"}) {
    std::filesystem::remove(path + companion);
  }
}

}  // namespace shardscope::storage
