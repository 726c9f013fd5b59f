#pragma once
// Predicted beside measured on this machine: random layouts of three models, stage by stage, by
// the ranks' thread CPU time.

#include <string>
#include <vector>

namespace shardscope::bench {

/// `validate cpu [--calibration FILE] [--layouts N] [--blocks N] [--seed N] [--detail]`. Without a
/// file the machine is measured first. Returns the exit code.
int validate_cpu(const std::vector<std::string>& arguments);

}  // namespace shardscope::bench
