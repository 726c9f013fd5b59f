#include "layout/codec_bytes.hpp"

#include <algorithm>
#include <bit>

#include "layout/buffers.hpp"
#include "layout/memory.hpp"
#include "layout/messages.hpp"

namespace shardscope {

namespace {

/// Adds up the messages of a rank and finds its largest chunk.
class CodecMemoryCounter {
 public:
  CodecMemoryCounter(const Workload& workload, const Topology& topology, const Layout& layout,
                     const Routes& routes, std::int32_t rank, const BatchCounts& capacity)
      : workload_(workload),
        topology_(topology),
        layout_(layout),
        routes_(routes),
        capacity_(capacity),
        messages_(workload, topology, layout, routes, capacity),
        rank_(rank) {}

  CodecMemory reduced() {
    const std::int32_t ranks = topology_.ranks();
    raise_messages(ranks, [&](std::int32_t p) {
      return coded(messages_.rb_flat(p, rank_), size_of(routes_.rb_flat, rank_));
    });
    raise_messages(ranks, [&](std::int32_t p) {
      return coded(messages_.rb_flat(rank_, p), size_of(routes_.rb_flat, p));
    });
    const std::int32_t domain = topology_.domain_of(rank_);
    raise_messages(topology_.domains(), [&](std::int32_t d) {
      const std::int32_t consumer = d * topology_.fast_domain + topology_.rail_of(rank_);
      return coded(messages_.rb_rail(consumer, domain), size_of(routes_.rb_domain, domain));
    });
    raise_messages(topology_.domains(), [&](std::int32_t d) {
      return coded(messages_.rb_rail(rank_, d), size_of(routes_.rb_domain, d));
    });
    for (const auto& list : routes_.rb_flat) raise_partials(list);
    for (const auto& list : routes_.rb_domain) raise_partials(list);
    return memory_;
  }

  CodecMemory unique() {
    raise_messages(topology_.ranks(), [&](std::int32_t p) {
      return coded(messages_.ub_rows(p, rank_), row_chunks(rank_));
    });
    raise_messages(topology_.ranks(), [&](std::int32_t p) {
      return coded(messages_.ub_rows(rank_, p), row_chunks(p));
    });
    for (std::size_t t = 0; t < layout_.tables.size(); ++t) {
      const TablePlacement& placement = layout_.tables[t];
      if (placement.cluster != ClusterType::UB) continue;
      std::int32_t width = 0;
      for (std::int32_t k = 0; k < placement.column_shards(); ++k) {
        width = std::max(width, placement.width(k));
      }
      for (const std::int64_t rows : capacity_.requests[t]) raise_chunk(rows, width);
    }
    return memory_;
  }

 private:
  static std::int64_t size_of(const auto& lists, std::int32_t at) {
    return static_cast<std::int64_t>(lists[static_cast<std::size_t>(at)].size());
  }
  static std::int64_t coded(std::int64_t bytes, std::int64_t chunks) {
    return saturating_add(bytes, chunks * kCodedChunkBytes);
  }
  template <class Size>
  void raise_messages(std::int32_t peers, Size size) {
    std::int64_t bytes = 0;
    for (std::int32_t p = 0; p < peers; ++p) bytes = saturating_add(bytes, aligned_bytes(size(p)));
    memory_.message_bytes = std::max(memory_.message_bytes, bytes);
  }
  void raise_chunk(std::int64_t rows, std::int64_t width) {
    memory_.max_rows = std::max(memory_.max_rows, rows);
    memory_.max_values = std::max(memory_.max_values, saturating_multiply(rows, width));
  }
  /// Rank 0 has the most samples.
  void raise_partials(const std::vector<PartialUnit>& partials) {
    for (const PartialUnit& unit : partials) {
      raise_chunk(
          bags_of_rank(workload_, static_cast<std::size_t>(unit.feature), 0, topology_.ranks()),
          layout_.tables[static_cast<std::size_t>(unit.table)].width(unit.column));
    }
  }
  [[nodiscard]] std::int64_t row_chunks(std::int32_t owner) const {
    std::int64_t chunks = 0;
    for (const RowUnit& unit : routes_.ub_rows[static_cast<std::size_t>(owner)]) {
      const TablePlacement& placement = layout_.tables[static_cast<std::size_t>(unit.table)];
      chunks += static_cast<std::int64_t>(columns_on(placement, unit.row, owner).size());
    }
    return chunks;
  }

  const Workload& workload_;
  const Topology& topology_;
  const Layout& layout_;
  const Routes& routes_;
  const BatchCounts& capacity_;
  Messages messages_;
  std::int32_t rank_;
  CodecMemory memory_;
};

}  // namespace

const CodecSlot& codec_slot(const CodecSlots& slots, Direction direction, LinkClass link) {
  if (direction == Direction::forward) {
    return link == LinkClass::inter ? slots.forward_inter : slots.forward_intra;
  }
  return link == LinkClass::inter ? slots.backward_inter : slots.backward_intra;
}

bool is_coded(const Topology& topology, const Layout& layout, ClusterType cluster,
              Direction direction) {
  const bool inter = topology.domains() > 1;
  const bool intra = topology.fast_domain > 1;
  for (std::size_t t = 0; t < layout.tables.size(); ++t) {
    if (layout.tables[t].cluster != cluster) continue;
    const CodecSlots& slots = layout.codecs_of(t);
    if (inter && codec_slot(slots, direction, LinkClass::inter).name != "raw") return true;
    if (intra && codec_slot(slots, direction, LinkClass::intra).name != "raw") return true;
  }
  return false;
}

bool has_error_feedback(const Topology& topology, const Layout& layout, std::size_t table) {
  if (layout.tables[table].cluster != ClusterType::UB) return false;
  const CodecSlots& slots = layout.codecs_of(table);
  return (topology.domains() > 1 && slots.backward_inter.name == kErrorFeedbackCodec) ||
         (topology.fast_domain > 1 && slots.backward_intra.name == kErrorFeedbackCodec);
}

std::int64_t codec_scratch_bytes(std::int64_t max_values, std::int64_t max_rows) {
  constexpr std::int64_t kGroup = 32;
  const std::int64_t groups = (max_values + kGroup - 1) / kGroup;
  const std::int64_t escapes = aligned_bytes(4 * (max_values / 16 + 16));
  const auto slots = static_cast<std::int64_t>(
      std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(2 * max_rows, 16))));
  const std::int64_t of_values = 4 * (groups + 1) * kGroup + aligned_bytes(4 * max_values) +
                                 aligned_bytes(groups) + 2 * escapes;
  const std::int64_t of_rows = 8 * slots + aligned_bytes(8 * max_rows) +
                               3 * aligned_bytes(4 * max_rows) + aligned_bytes(max_rows);
  return of_values + of_rows + kCompressorStateBytes;
}

CodecMemory codec_memory(const Workload& workload, const Topology& topology, const Layout& layout,
                         const Routes& routes, ClusterType cluster, std::int32_t rank,
                         const BatchCounts& capacity) {
  if (!is_coded(topology, layout, cluster, Direction::forward) &&
      !is_coded(topology, layout, cluster, Direction::backward)) {
    return {};
  }
  CodecMemoryCounter counter(workload, topology, layout, routes, rank, capacity);
  return cluster == ClusterType::UB ? counter.unique() : counter.reduced();
}

}  // namespace shardscope
