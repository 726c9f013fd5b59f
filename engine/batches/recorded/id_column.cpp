#include "engine/batches/recorded/id_column.hpp"

#include <limits>
#include <utility>

namespace shardscope::engine {

IdColumn::IdColumn(std::string name, bool hashed, std::int64_t samples_before)
    : name_(std::move(name)), hashed_(hashed), samples_(samples_before) {}

void IdColumn::add(std::int64_t id) {
  const bool fits = id >= 0 && id <= std::numeric_limits<std::uint32_t>::max();
  if (wide_.empty() && fits) {
    narrow_.push_back(static_cast<std::uint32_t>(id));
    return;
  }
  if (wide_.empty()) {
    wide_.assign(narrow_.begin(), narrow_.end());
    narrow_ = {};
  }
  wide_.push_back(id);
}

void IdColumn::end_sample() {
  const std::int64_t length = ids() - open_;
  if (samples_ == 0) length_ = length;
  if (begins_.empty() && length != length_) {
    for (std::int64_t sample = 0; sample <= samples_; ++sample) {
      begins_.push_back(sample * length_);
    }
  }
  ++samples_;
  if (!begins_.empty()) begins_.push_back(ids());
  open_ = ids();
}

}  // namespace shardscope::engine
