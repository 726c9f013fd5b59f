#include "ui/model/import_job.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "storage/import/import_save.hpp"
#include "storage/session_writer.hpp"

namespace shardscope::ui {
namespace {

/// A session that holds the trace and what is known of its layout, complete or not there at all.
Status write_session(const storage::Imported& imported, const std::string& path) {
  auto session = storage::Session::create(path);
  if (!session) return fail(session.error());
  Status done = storage::save_plans(*session, imported);
  if (done) {
    storage::SessionWriter writer(*session);
    done = storage::save_trace(writer, imported);
    const Status flushed = writer.flush();
    if (done) done = flushed;
  }
  const Status closed = session->close();
  if (done) done = closed;
  std::error_code ignored;
  if (!done) std::filesystem::remove(path, ignored);
  return done;
}

}  // namespace

ImportJob::ImportJob(ImportRequest request, std::function<void()> wake)
    : request_(std::move(request)),
      future_(std::async(std::launch::async, [this, wake = std::move(wake)] {
        auto outcome = read();
        if (wake) wake();
        return outcome;
      })) {}

ImportJob::~ImportJob() {
  cancel();
  if (future_.valid()) future_.wait();
}

bool ImportJob::finished() const {
  return future_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

Result<ImportOutcome> ImportJob::read() {
  auto imported = storage::import_files(request_.kind, request_.paths, request_.context,
                                        storage::built_in_kernel_map(), [this](double share) {
                                          share_ = share;
                                          return !cancelled_;
                                        });
  if (!imported) return fail(imported.error());
  ImportOutcome outcome;
  const auto has_work = [](const storage::RankTrace& rank) { return !rank.work.empty(); };
  if (imported->trace &&
      std::none_of(imported->trace->ranks.begin(), imported->trace->ranks.end(), has_work)) {
    return fail({ErrorKind::usage, "the trace holds no GPU work", request_.paths.front(),
                 "kernels (activities=[CUDA])", "Trace the GPU too, or open another file"});
  }
  if (imported->trace) {
    if (Status written = write_session(*imported, request_.session); !written) {
      return fail(written.error());
    }
    outcome.session = request_.session;
  }
  outcome.plans = std::move(imported->plans);
  outcome.notes = std::move(imported->notes);
  return outcome;
}

}  // namespace shardscope::ui
