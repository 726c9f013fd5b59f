#pragma once
// Ids of one column of a recorded stream, held compactly.

#include <cstdint>
#include <string>
#include <vector>

namespace shardscope::engine {

/// A bag of ids a sample. Ids take 4 bytes while all fit in [0, 2^32), else 8; bag bounds are
/// stored only once two samples differ in length.
class IdColumn {
 public:
  /// `samples_before`: samples that had no id of this column before it first appeared.
  IdColumn(std::string name, bool hashed, std::int64_t samples_before = 0);

  /// Appends an id to the sample being read.
  void add(std::int64_t id);
  void end_sample();

  [[nodiscard]] const std::string& name() const { return name_; }
  /// Ids are hashes of text (rows are taken modulo the table) rather than row numbers.
  [[nodiscard]] bool hashed() const { return hashed_; }
  [[nodiscard]] std::int64_t samples() const { return samples_; }
  [[nodiscard]] std::int64_t ids() const {
    return static_cast<std::int64_t>(wide_.empty() ? narrow_.size() : wide_.size());
  }
  /// Ids of `sample` are id(i) for i in [begin(sample), begin(sample + 1)).
  [[nodiscard]] std::int64_t begin(std::int64_t sample) const {
    return begins_.empty() ? sample * length_ : begins_[static_cast<std::size_t>(sample)];
  }
  [[nodiscard]] std::int64_t id(std::int64_t index) const {
    const auto at = static_cast<std::size_t>(index);
    return wide_.empty() ? static_cast<std::int64_t>(narrow_[at]) : wide_[at];
  }

 private:
  std::string name_;
  bool hashed_;
  std::int64_t samples_;
  std::int64_t open_ = 0;    ///< first id of the sample being read
  std::int64_t length_ = 0;  ///< of every bag so far, while begins_ is empty
  std::vector<std::int64_t> begins_;
  std::vector<std::uint32_t> narrow_;
  std::vector<std::int64_t> wide_;
};

}  // namespace shardscope::engine
