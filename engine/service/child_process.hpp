#pragma once
// A program started with pipes at its standard input, output and error.

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "engine/service/descriptor.hpp"
#include "layout/result.hpp"

namespace shardscope::service {

enum class ChildErrors : std::uint8_t {
  piped,      ///< ChildProcess::errors() reads them
  inherited,  ///< they go where this process's own go
};

/// One child. Killed and reaped when the owner goes away before it has ended.
class ChildProcess {
 public:
  /// `arguments`: the program (looked up in PATH) and its arguments. `dies_with_us`: the kernel
  /// kills it when the thread that started it ends. Errors: the program cannot be run.
  [[nodiscard]] static Result<ChildProcess> start(const std::vector<std::string>& arguments,
                                                  ChildErrors errors, bool dies_with_us);

  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();

  /// The ends of the pipes; take them out with std::move.
  [[nodiscard]] Descriptor& input() { return input_; }    ///< written by us
  [[nodiscard]] Descriptor& output() { return output_; }  ///< read by us
  [[nodiscard]] Descriptor& errors() { return errors_; }  ///< read by us; none where inherited

  [[nodiscard]] pid_t pid() const { return pid_; }

  /// How it ended ("exit code 3", "signal 9"); empty where it still runs after `wait`.
  [[nodiscard]] std::optional<std::string> ended(std::chrono::milliseconds wait);

  void kill(int signal);

 private:
  ChildProcess() = default;

  pid_t pid_ = -1;  ///< -1: reaped
  std::string end_;
  Descriptor input_;
  Descriptor output_;
  Descriptor errors_;
};

}  // namespace shardscope::service
