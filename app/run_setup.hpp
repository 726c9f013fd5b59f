#pragma once
// What every command that runs an engine does first: inputs, layout, device, session, batches.

#include <memory>
#include <string>

#include "app/inputs.hpp"
#include "app/jobs/job.hpp"
#include "app/options.hpp"
#include "engine/engine.hpp"
#include "layout/memory.hpp"
#include "layout/result.hpp"
#include "profiler/record_sink.hpp"
#include "storage/session.hpp"
#include "storage/session_writer.hpp"

namespace shardscope::app {

/// "./COMMAND-YYYYMMDD-HHMMSS.shardscope", local time.
[[nodiscard]] std::string default_session_path(const std::string& command);

/// An open session with its writer. A new file that no run was written to is removed again.
class OpenSession : public JobOutput {
 public:
  /// `path` empty: the default for `command`.
  [[nodiscard]] static Result<std::unique_ptr<OpenSession>> open(const std::string& path,
                                                                 const std::string& command);
  ~OpenSession() override;
  OpenSession(const OpenSession&) = delete;
  OpenSession& operator=(const OpenSession&) = delete;

  [[nodiscard]] const storage::Session& session() const { return session_; }
  /// The file stays even if nothing follows.
  void keep() { used_ = true; }
  /// As keep().
  [[nodiscard]] storage::SessionWriter& records() override;
  [[nodiscard]] Status save_comparison(const storage::ComparisonRecord& comparison) override;
  [[nodiscard]] Status save_curve(std::int64_t run,
                                  std::span<const storage::CurvePoint> points) override;
  [[nodiscard]] Status status() const override { return writer_->status(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Commits everything and makes the file self-contained.
  [[nodiscard]] Status close();

 private:
  OpenSession(storage::Session session, std::string path, bool created)
      : session_(std::move(session)), path_(std::move(path)), created_(created) {}

  storage::Session session_;
  std::unique_ptr<storage::SessionWriter> writer_;
  std::string path_;
  bool created_;
  bool used_ = false;
  bool closed_ = false;
};

/// The engine's configuration for a checked layout, with its device: refuses what cannot run here.
[[nodiscard]] Result<engine::EngineConfig> engine_config(const RunOptions& options,
                                                         const Inputs& inputs,
                                                         const Layout& layout);

/// Bytes that all ranks of the layout take in this process.
[[nodiscard]] std::int64_t process_bytes(const Inputs& inputs, const Layout& layout);

/// Error where `bytes` do not fit the available memory: of the device, or of this machine.
[[nodiscard]] Status require_memory(std::int64_t bytes, engine::Device* device);

/// A checked layout on its own engine, ready to run: memory is there, batches and tables are made.
/// `tracer`, if any, hears of every step.
[[nodiscard]] Result<std::unique_ptr<engine::Engine>> make_engine(
    const RunOptions& options, const Inputs& inputs, const Layout& layout,
    std::shared_ptr<WorkTracer> tracer = nullptr);

/// The run as the session stores it, labelled with the layout's name.
[[nodiscard]] RunInfo run_info(const RunOptions& options, const Inputs& inputs,
                               const Layout& layout);
/// The same of a run on an engine: with its mode, device, wires and clock.
[[nodiscard]] RunInfo run_info(const RunOptions& options, const Inputs& inputs,
                               const Layout& layout, const engine::Engine& engine);

/// Says on stderr what takes a while before the first iteration; nothing for small models.
void announce_preparation(std::int64_t bytes);

/// "MEASURED": the word of the mode as every output leads with.
[[nodiscard]] std::string mode_word(Mode mode);

/// One line that says what ran: model, machine, device, schedule, batch, rows cap, seed.
[[nodiscard]] std::string run_line(const RunOptions& options, const Inputs& inputs);

}  // namespace shardscope::app
