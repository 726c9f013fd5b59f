#include "engine/assembly.hpp"

#include <algorithm>
#include <cstring>

#include "engine/cpu/kernels.hpp"
#include "engine/cpu/row_shards.hpp"

namespace shardscope::engine {

namespace {

template <class Key, class Split>
void group_by_shard(const GroupIds& call, const Split& split) {
  const Key* ids = static_cast<const Key*>(call.ids);
  for (std::int32_t j = 0; j < call.row_shards; ++j) call.counts[j] = 0;
  for (std::int64_t n = 0; n < call.count; ++n) {
    const RowInShard at = split(static_cast<std::uint64_t>(ids[n]));
    const std::int64_t position = call.counts[at.shard]++;
    static_cast<Key*>(call.out[at.shard])[position] = static_cast<Key>(at.row);
    call.slot[n] = static_cast<std::uint32_t>(position);
  }
  if (call.row_shards == 1) return;
  // Once more, now that every shard's first position is known; the counts serve for it meanwhile.
  std::int64_t first = 0;
  for (std::int32_t j = 0; j < call.row_shards; ++j) {
    const std::int64_t count = call.counts[j];
    call.counts[j] = first;
    first += count;
  }
  for (std::int64_t n = 0; n < call.count; ++n) {
    const RowInShard at = split(static_cast<std::uint64_t>(ids[n]));
    call.slot[n] += static_cast<std::uint32_t>(call.counts[at.shard]);
  }
  for (std::int32_t j = 0; j < call.row_shards; ++j) {
    const std::int64_t next = j + 1 < call.row_shards ? call.counts[j + 1] : call.count;
    call.counts[j] = next - call.counts[j];
  }
}

/// Rows [first, first + rows) of a copy.
CopyColumns rows_of(CopyColumns call, std::int64_t first, std::int64_t rows, bool move_from,
                    bool move_to) {
  if (move_from) {
    call.from = static_cast<const std::byte*>(call.from) +
                first * call.from_stride * bytes_of(call.from_type);
  }
  if (move_to) {
    call.to = static_cast<std::byte*>(call.to) + first * call.to_stride * bytes_of(call.to_type);
  }
  if (call.scale != nullptr) call.scale += first;
  call.rows = rows;
  return call;
}

}  // namespace

void sum_columns(const SumColumns& call) {
  if (call.count == 0) return;
  constexpr std::int64_t kBlockBytes = 16 * 1024;  // half of a first-level cache
  const std::int64_t rows = call.terms[0].rows;
  const std::int64_t block =
      std::max<std::int64_t>(kBlockBytes / (4 * std::max<std::int64_t>(call.terms[0].width, 1)), 1);
  const bool scratch = call.store != nullptr;
  for (std::int64_t first = 0; first < rows; first += block) {
    const std::int64_t count = std::min(block, rows - first);
    for (std::int32_t i = 0; i < call.count; ++i) {
      copy_columns(rows_of(call.terms[i], first, count, true, !scratch));
    }
    if (scratch) copy_columns(rows_of(*call.store, first, count, false, true));
  }
}

void copy_bytes(const CopyBytes& call) {
  if (call.bytes > 0) std::memcpy(call.to, call.from, static_cast<std::size_t>(call.bytes));
}

void fill_zero(const FillZero& call) {
  if (call.bytes > 0) std::memset(call.to, 0, static_cast<std::size_t>(call.bytes));
}

void bag_scale(const BagScale& call) {
  for (std::int64_t b = 0; b < call.bags; ++b) {
    call.scale[b] = call.lengths[b] > 0 ? 1.0F / static_cast<float>(call.lengths[b]) : 0.0F;
  }
}

void scale_rows(const ScaleRows& call) {
  float* row = call.rows;
  for (std::int64_t r = 0; r < call.count; ++r, row += call.stride) {
    const float scale = call.scale[r];
    for (std::int32_t c = 0; c < call.width; ++c) row[c] *= scale;
  }
}

void mean_bags(const MeanBags& call) {
  const float* row = call.rows;
  for (std::int64_t b = 0; b < call.bags; ++b) {
    float* out =
        call.out + b / call.bags_a_sample * call.out_stride + b % call.bags_a_sample * call.width;
    const std::int32_t length = call.lengths[b];
    for (std::int32_t c = 0; c < call.width; ++c) {
      float sum = 0;
      for (std::int32_t n = 0; n < length; ++n) sum += row[n * call.width + c];
      out[c] = length > 0 ? sum / static_cast<float>(length) : 0.0F;
    }
    row += std::int64_t{length} * call.width;
  }
}

void spread_bags(const SpreadBags& call) {
  float* row = call.rows;
  for (std::int64_t b = 0; b < call.bags; ++b) {
    const float* from = call.gradients + b / call.bags_a_sample * call.gradient_stride +
                        b % call.bags_a_sample * call.width;
    for (std::int32_t n = 0; n < call.lengths[b]; ++n, row += call.width) {
      for (std::int32_t c = 0; c < call.width; ++c) {
        row[c] = from[c] / static_cast<float>(call.lengths[b]);
      }
    }
  }
}

void expand_bags(const ExpandBags& call) {
  std::int64_t n = 0;
  for (std::int64_t b = 0; b < call.bags; ++b) {
    const std::int64_t end = call.lengths == nullptr ? n + 1 : n + call.lengths[b];
    const float scale = call.scale == nullptr ? 1.0F : call.scale[b];
    for (; n < end; ++n) {
      call.gradient_row[n] = call.first_row + static_cast<std::uint32_t>(b);
      if (call.weights_out == nullptr) continue;
      call.weights_out[n] = call.weights == nullptr ? scale : call.weights[n] * scale;
    }
  }
}

void fill_offsets(const FillOffsets& call) {
  std::int64_t offset = call.first;
  for (std::int64_t n = 0; n < call.count; ++n, offset += call.step) call.offsets[n] = offset;
}

void group_ids(const GroupIds& call) {
  with_row_split(call.row_shards, call.row_cuts, [&](const auto& split) {
    if (call.key == KeyType::i32) {
      group_by_shard<std::int32_t>(call, split);
    } else {
      group_by_shard<std::int64_t>(call, split);
    }
  });
}

void scatter_rows(const ScatterRows& call) {
  for (std::int64_t u = 0; u < *call.unique_count; ++u) {
    const std::int64_t row = call.rows[u];
    std::copy_n(call.from + u * call.width, call.width, call.to + row * call.width);
    call.touched[row] = 1;
  }
}

void compact_rows(const CompactRows& call) {
  std::int64_t kept = 0;
  for (std::int64_t row = 0; row < call.row_count; ++row) {
    if (!(call.touched[row] > 0)) continue;
    if (kept != row) {
      std::copy_n(call.values + row * call.width, call.width, call.values + kept * call.width);
    }
    call.rows[kept++] = row;
  }
  *call.count = kept;
}

void add_sums(const AddSums& call) {
  for (std::int64_t u = 0; u < *call.unique_count; ++u) call.sum[u] += call.add[u];
}

void pack_sums(const PackSums& call) {
  float* to = call.message;
  for (std::int32_t i = 0; i < call.lists; ++i) {
    to = std::copy_n(call.sums[i], *call.unique_counts[i], to);
  }
  *call.bytes = (to - call.message) * static_cast<std::int64_t>(sizeof(float));
}

void unpack_sums(const UnpackSums& call) {
  const float* from = call.message;
  for (std::int32_t i = 0; i < call.lists; ++i) {
    float* sum = call.sums[i];
    const std::int64_t count = *call.unique_counts[i];
    for (std::int64_t u = 0; u < count; ++u) sum[u] = call.starts[i] ? from[u] : sum[u] + from[u];
    from += count;
  }
}

}  // namespace shardscope::engine
