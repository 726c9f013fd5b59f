#pragma once
// Batches of one rank where the device reads them: copied ahead of the timed path.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/batches/batch_view.hpp"
#include "engine/device.hpp"
#include "layout/result.hpp"

namespace shardscope::engine {

/// Bytes that stage_batches takes of the device.
[[nodiscard]] std::int64_t staged_bytes(const std::vector<const RankBatch*>& batches);

class StagedBatches {
 public:
  StagedBatches() = default;

  /// Without a device the views lead to the batches themselves, which then outlive this.
  [[nodiscard]] static Result<StagedBatches> create(Device* device, std::int32_t rank,
                                                    const std::vector<const RankBatch*>& batches);

  [[nodiscard]] const BatchView& at(std::size_t batch) const { return views_[batch]; }
  [[nodiscard]] std::size_t size() const { return views_.size(); }

 private:
  std::vector<BatchView> views_;
  std::shared_ptr<std::byte> memory_;
};

}  // namespace shardscope::engine
