#pragma once
// A small model on emulated GPUs, as the commands with --backend cuda run it.

#include <memory>
#include <string>
#include <vector>

#include "app/gpu_access.hpp"
#include "app/inputs.hpp"
#include "app/jobs/job.hpp"
#include "app/options.hpp"
#include "layout/layout.hpp"

namespace shardscope::app {

/// Three tables read by pooled features and a sequence, with a dense part, on one host of
/// `ranks` GPUs.
[[nodiscard]] Inputs small_inputs(std::int32_t ranks);

/// A table a cluster: DP, RB in two column shards, UB in two row shards.
[[nodiscard]] Layout mixed_layout(const Inputs& inputs);

/// Emulated GPUs with the fake NCCL and the fake CUPTI.
[[nodiscard]] std::shared_ptr<const GpuAccess> emulated_access();

/// --backend cuda --comm `comm`, 6 iterations on emulated GPUs.
[[nodiscard]] RunOptions cuda_options(const std::string& comm);

/// Never stops.
class PatientWatch final : public JobWatch {
 public:
  void progress(double /*share*/, const std::string& detail) override { last_ = detail; }
  [[nodiscard]] bool stop_requested() const override { return false; }
  void when_late(std::function<void()> /*action*/) override {}
  [[nodiscard]] const std::string& last() const { return last_; }

 private:
  std::string last_;
};

}  // namespace shardscope::app
