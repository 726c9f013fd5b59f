#pragma once
// From an event of a Kineto trace to what our trace model keeps of it.

#include <cstdint>
#include <optional>
#include <string_view>

#include "storage/import/kineto/kineto_args.hpp"
#include "storage/import/trace/trace_model.hpp"

namespace shardscope::storage {

/// What an event's category means, old capitals included.
enum class KinetoCategory : std::uint8_t { other, kernel, memcpy, memset, call, range, op };

[[nodiscard]] KinetoCategory kineto_category(std::string_view category);

/// A kernel, copy or memset; its name is the caller's.
[[nodiscard]] GpuWork kineto_work(KinetoCategory category, const KinetoEvent& event);

/// Sizes as newer traces state them beside the kernel or call, or as the operator's input dims.
/// Nothing where the event states none, or impossible ones.
[[nodiscard]] std::optional<CollectiveCall> kineto_collective(const KinetoEvent& event);

/// FBGEMM's table-batched operators list their weights first; ids and offsets (tables x batch + 1)
/// follow each other. Nothing where the dims fit no such operator.
[[nodiscard]] std::optional<LookupCall> kineto_lookup(const KinetoEvent& event);

}  // namespace shardscope::storage
