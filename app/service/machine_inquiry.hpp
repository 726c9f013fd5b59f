#pragma once
// What this machine can do, asked of `shardscope doctor` in a process of its own: looking for GPUs
// opens CUDA, which an engine never does.

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "engine/service/child_process.hpp"
#include "layout/result.hpp"

namespace shardscope::app {

class MachineInquiry {
 public:
  /// `done` is called once, from another thread, with one JSON object; never after the destructor.
  [[nodiscard]] static Result<std::unique_ptr<MachineInquiry>> start(
      std::function<void(const Result<std::string>&)> done);
  /// Ends the process where it has not answered.
  ~MachineInquiry();
  MachineInquiry(const MachineInquiry&) = delete;
  MachineInquiry& operator=(const MachineInquiry&) = delete;

 private:
  explicit MachineInquiry(service::ChildProcess child) : child_(std::move(child)) {}
  [[nodiscard]] Result<std::string> read();

  service::ChildProcess child_;
  std::thread reader_;
};

}  // namespace shardscope::app
