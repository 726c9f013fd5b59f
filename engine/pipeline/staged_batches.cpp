#include "engine/pipeline/staged_batches.hpp"

#include <cstring>

#include <fmt/format.h>

#include "layout/buffers.hpp"

namespace shardscope::engine {
namespace {

/// Puts a batch's parts side by side: copies them to `together` and turns their pointers to where
/// they will stand. Without memory it counts the bytes.
class BatchPacker {
 public:
  BatchPacker() = default;
  BatchPacker(std::byte* together, const std::byte* place) : together_(together), place_(place) {}

  void pack(BatchView& view, const RankBatch& batch) {
    for (FeatureView& feature : view.features) {
      const std::size_t f = static_cast<std::size_t>(&feature - view.features.data());
      add(feature.lengths, feature.bags, sizeof(std::int32_t));
      add(feature.ids, feature.count, bytes_of(batch.features[f].ids.type));
      add(feature.weights, feature.count, sizeof(float));
    }
    add(view.dense, static_cast<std::int64_t>(batch.dense.size()), sizeof(float));
    add(view.labels, static_cast<std::int64_t>(batch.labels.size()), sizeof(float));
  }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  template <class T>
  void add(const T*& part, std::int64_t count, std::int64_t element_bytes) {
    const std::int64_t size = count * element_bytes;
    if (part != nullptr && together_ != nullptr) {
      std::memcpy(together_ + bytes_, part, static_cast<std::size_t>(size));
      part = static_cast<const T*>(static_cast<const void*>(place_ + bytes_));
    }
    bytes_ += aligned_bytes(size);
  }

  std::byte* together_ = nullptr;
  const std::byte* place_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace

std::int64_t staged_bytes(const std::vector<const RankBatch*>& batches) {
  BatchPacker sizes;
  for (const RankBatch* batch : batches) {
    BatchView view = view_of(*batch);
    sizes.pack(view, *batch);
  }
  return sizes.bytes();
}

Result<StagedBatches> StagedBatches::create(Device* device, std::int32_t rank,
                                            const std::vector<const RankBatch*>& batches) {
  StagedBatches staged;
  for (const RankBatch* batch : batches) staged.views_.push_back(view_of(*batch));
  if (device == nullptr) return staged;
  const std::int64_t bytes = staged_bytes(batches);
  auto memory =
      device->allocate(rank, bytes, fmt::format("{} batches of rank {}", batches.size(), rank));
  if (!memory) return fail(memory.error());
  staged.memory_ = std::move(*memory);
  std::vector<std::byte> together(static_cast<std::size_t>(bytes));
  BatchPacker packer(together.data(), staged.memory_.get());
  for (std::size_t b = 0; b < batches.size(); ++b) packer.pack(staged.views_[b], *batches[b]);
  if (Status status = device->upload(rank, staged.memory_.get(), together.data(), bytes); !status) {
    return fail(status.error());
  }
  return staged;
}

}  // namespace shardscope::engine
