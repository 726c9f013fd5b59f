#pragma once
// The session that an engine holds: questions about it, changes to its documents, records for it.

#include <cstdint>
#include <memory>
#include <string>

#include "app/run_setup.hpp"
#include "engine/service/message.hpp"
#include "layout/result.hpp"

namespace shardscope::app {

/// Results are JSON objects (docs/protocol.md). Everything but open() is an error until a session
/// is open.
class SessionDesk {
 public:
  [[nodiscard]] Result<std::string> open(const std::string& path);
  [[nodiscard]] Result<std::string> query(const service::Query& query) const;
  [[nodiscard]] Result<std::string> edit(const service::Edit& edit);

  [[nodiscard]] Status require_open() const;
  [[nodiscard]] bool is_open() const { return session_ != nullptr; }
  /// Only while is_open().
  [[nodiscard]] RecordSink& records() { return session_->records(); }
  [[nodiscard]] Status record(const service::RecordResult& result);
  /// The first record that could not be kept.
  [[nodiscard]] Status status() const { return session_ ? session_->status() : Status(); }

  /// Commits everything; the file is self-contained afterwards.
  [[nodiscard]] Status close();

 private:
  std::unique_ptr<OpenSession> session_;
};

}  // namespace shardscope::app
