#pragma once
// The questions that Nsight Systems' own reports ask of a file, each row as text.

#include <cstdint>
#include <string>
#include <vector>

namespace shardscope {

class NsysReports {
 public:
  explicit NsysReports(std::string path) : path_(std::move(path)) {}

  /// name | share of the time in percent | total ns | launches, longest first.
  [[nodiscard]] std::vector<std::string> top_kernels() const;
  /// direction | operations | total ns | total bytes.
  [[nodiscard]] std::vector<std::string> memory_by_direction() const;
  /// call | times | mean ns.
  [[nodiscard]] std::vector<std::string> calls() const;
  /// Names of the ranges that have time.
  [[nodiscard]] std::vector<std::string> ranges() const;

  [[nodiscard]] std::int64_t number(const std::string& sql) const;

 private:
  [[nodiscard]] std::vector<std::string> rows(const std::string& sql) const;

  std::string path_;
};

}  // namespace shardscope
