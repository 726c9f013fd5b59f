#pragma once
// Buffers of hand-made records and a CUPTI that walks them.

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "profiler/cupti_api.hpp"
#include "profiler/cupti_decoder.hpp"
#include "profiler/cupti_records.hpp"

namespace shardscope::cupti {

inline constexpr std::uint32_t kUnreadKind = 36;  // CUDA_EVENT

/// Bytes of a record as CUPTI 13.0 writes it: its newest form, of which we read a prefix.
[[nodiscard]] inline std::size_t written_bytes(std::uint32_t kind) {
  static const std::map<std::uint32_t, std::size_t> sizes = {
      {1, 96},  {2, 88},  {4, 40},  {5, 40},  {10, 216},
      {17, 56}, {22, 96}, {38, 56}, {39, 24}, {kUnreadKind, 56}};
  const auto found = sizes.find(kind);
  return found == sizes.end() ? 0 : found->second;
}

class RecordBuffer {
 public:
  template <class Record>
  RecordBuffer& add(const Record& record) {
    const std::size_t bytes = written_bytes(static_cast<std::uint32_t>(record.kind));
    const std::size_t at = bytes_.size();
    bytes_.resize(at + bytes, 0xAB);  // what we do not read
    std::memcpy(bytes_.data() + at, static_cast<const void*>(&record), sizeof(record));
    return *this;
  }
  /// A record of a kind that is not read.
  RecordBuffer& add_unread() {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + written_bytes(kUnreadKind), 0);
    std::memcpy(bytes_.data() + at, &kUnreadKind, sizeof(kUnreadKind));
    return *this;
  }
  /// Cuts the last bytes off.
  RecordBuffer& cut(std::size_t bytes) {
    bytes_.resize(bytes_.size() - bytes);
    return *this;
  }
  [[nodiscard]] FilledBuffer filled() { return {bytes_.data(), bytes_.size()}; }
  [[nodiscard]] const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

/// As cuptiActivityGetNextRecord: kMaxLimitReached at the end, another error in a broken record.
inline int walk_records(std::uint8_t* buffer, std::size_t valid_bytes, void** record) {
  constexpr int kBroken = 21;
  std::size_t at = 0;
  if (*record != nullptr) {
    auto* last = static_cast<std::uint8_t*>(*record);
    std::uint32_t kind = 0;
    std::memcpy(&kind, last, sizeof(kind));
    at = static_cast<std::size_t>(last - buffer) + written_bytes(kind);
  }
  if (at == valid_bytes) return kMaxLimitReached;
  if (at + sizeof(std::uint32_t) > valid_bytes) return kBroken;
  std::uint32_t kind = 0;
  std::memcpy(&kind, buffer + at, sizeof(kind));
  const std::size_t bytes = written_bytes(kind);
  if (kind != 0 && (bytes == 0 || at + bytes > valid_bytes)) return kBroken;
  *record = buffer + at;
  return kSuccess;
}

[[nodiscard]] inline CuptiApi walking_api() {
  CuptiApi api;
  api.next_record = walk_records;
  api.callback_name = [](std::uint32_t domain, std::uint32_t function, const char** name) {
    if (function == 211) *name = domain == kRuntimeDomain ? "cudaLaunchKernel_v7000" : "cuLaunch";
    return function == 211 ? kSuccess : 1;
  };
  return api;
}

[[nodiscard]] inline CorrelationRecord correlation_of(std::uint32_t correlation,
                                                      std::uint64_t external_id) {
  CorrelationRecord record;
  record.external_kind = kCustomCorrelation;
  record.external_id = external_id;
  record.correlation = correlation;
  return record;
}

[[nodiscard]] inline KernelRecord kernel_of(std::uint32_t correlation, std::uint64_t start,
                                            std::uint64_t end,
                                            const char* name = "_Z6gatherPKfPf") {
  KernelRecord record;
  record.correlation = correlation;
  record.start = start;
  record.end = end;
  record.name = name;
  return record;
}

}  // namespace shardscope::cupti
