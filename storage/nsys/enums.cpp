#include <array>

#include "storage/nsys/schema.hpp"

namespace shardscope::storage::nsys {
namespace {

constexpr std::array kCopyKinds = {
    EnumValue{0, "CUDA_MEMCPY_KIND_UNKNOWN", "Unknown"},
    EnumValue{1, "CUDA_MEMCPY_KIND_HTOD", "Host-to-Device"},
    EnumValue{2, "CUDA_MEMCPY_KIND_DTOH", "Device-to-Host"},
    EnumValue{3, "CUDA_MEMCPY_KIND_HTOA", "Host-to-Array"},
    EnumValue{4, "CUDA_MEMCPY_KIND_ATOH", "Array-to-Host"},
    EnumValue{5, "CUDA_MEMCPY_KIND_ATOA", "Array-to-Array"},
    EnumValue{6, "CUDA_MEMCPY_KIND_ATOD", "Array-to-Device"},
    EnumValue{7, "CUDA_MEMCPY_KIND_DTOA", "Device-to-Array"},
    EnumValue{8, "CUDA_MEMCPY_KIND_DTOD", "Device-to-Device"},
    EnumValue{9, "CUDA_MEMCPY_KIND_HTOH", "Host-to-Host"},
    EnumValue{10, "CUDA_MEMCPY_KIND_PTOP", "Peer-to-Peer"},
    EnumValue{11, "CUDA_MEMCPY_KIND_UVM_HTOD", "Unified Host-to-Device"},
    EnumValue{12, "CUDA_MEMCPY_KIND_UVM_DTOH", "Unified Device-to-Host"},
    EnumValue{13, "CUDA_MEMCPY_KIND_UVM_DTOD", "Unified Device-to-Device"},
};

constexpr std::array kMemoryKinds = {
    EnumValue{0, "CUDA_MEMOPR_MEMORY_KIND_PAGEABLE", "Pageable"},
    EnumValue{1, "CUDA_MEMOPR_MEMORY_KIND_PINNED", "Pinned"},
    EnumValue{2, "CUDA_MEMOPR_MEMORY_KIND_DEVICE", "Device"},
    EnumValue{3, "CUDA_MEMOPR_MEMORY_KIND_ARRAY", "Array"},
    EnumValue{4, "CUDA_MEMOPR_MEMORY_KIND_MANAGED", "Managed"},
    EnumValue{5, "CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC", "Device Static"},
    EnumValue{6, "CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC", "Managed Static"},
    EnumValue{7, "CUDA_MEMOPR_MEMORY_KIND_UNKNOWN", "Unknown"},
};

constexpr std::array kSyncTypes = {
    EnumValue{0, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN", "Unknown"},
    EnumValue{1, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE", "Event sync"},
    EnumValue{2, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT", "Stream wait sync"},
    EnumValue{3, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE", "Stream sync"},
    EnumValue{4, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE", "Context sync"},
};

/// Only what is written here.
constexpr std::array kEventTypes = {
    EnumValue{34, "NvtxMark", "NvtxMark"},
    EnumValue{39, "NvtxThread", "NvtxThread"},
    EnumValue{59, "NvtxPushPopRange", "NvtxPushPopRange"},
    EnumValue{60, "NvtxStartEndRange", "NvtxStartEndRange"},
    EnumValue{75, "NvtxDomainCreate", "NvtxDomainCreate"},
};

constexpr std::array kEventClasses = {
    EnumValue{0, "TRACE_PROCESS_EVENT_CUDA_RUNTIME", "CUDA runtime"},
    EnumValue{1, "TRACE_PROCESS_EVENT_CUDA_DRIVER", "CUDA driver"},
};

constexpr std::array kLaunchTypes = {
    EnumValue{0, "CUDA_KERNEL_LAUNCH_TYPE_UNKNOWN", "Unknown"},
    EnumValue{1, "CUDA_KERNEL_LAUNCH_TYPE_REGULAR", "Regular"},
    EnumValue{2, "CUDA_KERNEL_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE", "Coop Single Device"},
    EnumValue{3, "CUDA_KERNEL_LAUNCH_TYPE_COOPERATIVE_MULTI_DEVICE", "Coop Multi Device"},
};

constexpr std::array kEnums = {
    EnumTable{"ENUM_CUDA_MEMCPY_OPER", kCopyKinds},
    EnumTable{"ENUM_CUDA_MEM_KIND", kMemoryKinds},
    EnumTable{"ENUM_CUPTI_SYNC_TYPE", kSyncTypes},
    EnumTable{"ENUM_NSYS_EVENT_TYPE", kEventTypes},
    EnumTable{"ENUM_NSYS_EVENT_CLASS", kEventClasses},
    EnumTable{"ENUM_CUDA_KERNEL_LAUNCH_TYPE", kLaunchTypes},
};

}  // namespace

std::span<const EnumTable> enum_tables() {
  return kEnums;
}

}  // namespace shardscope::storage::nsys
