#pragma once
// A file of another program being read beside the desktop: plans become values, traces a session.

#include <atomic>
#include <functional>
#include <future>
#include <string>
#include <vector>

#include "layout/result.hpp"
#include "storage/import/import_files.hpp"

namespace shardscope::ui {

struct ImportRequest {
  storage::ImportKind kind = storage::ImportKind::hugectr;
  std::vector<std::string> paths;
  storage::ImportContext context;  ///< model and machine for files that do not name them
  std::string session;             ///< new file that a trace is written to
};

struct ImportOutcome {
  std::vector<storage::ImportedPlan> plans;
  storage::ImportNotes notes;
  std::string session;  ///< written; empty where the file held no trace
};

class ImportJob {
 public:
  /// `wake` is called from the job's thread when it has ended.
  ImportJob(ImportRequest request, std::function<void()> wake);
  /// Cancels and waits.
  ~ImportJob();
  ImportJob(const ImportJob&) = delete;
  ImportJob& operator=(const ImportJob&) = delete;

  void cancel() { cancelled_ = true; }
  [[nodiscard]] bool cancelled() const { return cancelled_; }
  [[nodiscard]] bool finished() const;
  void wait() const { future_.wait(); }
  /// Once finished, and once.
  [[nodiscard]] Result<ImportOutcome> take() { return future_.get(); }
  [[nodiscard]] double share() const { return share_; }
  [[nodiscard]] const ImportRequest& request() const { return request_; }

 private:
  [[nodiscard]] Result<ImportOutcome> read();

  ImportRequest request_;
  std::atomic<bool> cancelled_{false};
  std::atomic<double> share_{0};
  mutable std::future<Result<ImportOutcome>> future_;
};

}  // namespace shardscope::ui
