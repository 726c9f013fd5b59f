// Compares the record prefixes with CUPTI's header where a toolkit is installed.

#include "profiler/cupti_api.hpp"
#include "profiler/cupti_records.hpp"

#if __has_include(<cupti.h>)

#include <cupti.h>

namespace shardscope::cupti {
namespace {

// The newest forms, which are what CUPTI fills.
#if CUPTI_API_VERSION >= 130001
using Kernel = CUpti_ActivityKernel10;
#else
using Kernel = CUpti_ActivityKernel9;
#endif
using Memcpy = CUpti_ActivityMemcpy6;
using Peer = CUpti_ActivityMemcpyPtoP4;
using Memset = CUpti_ActivityMemset4;
using Sync = CUpti_ActivitySynchronization2;

#define SHARDSCOPE_SAME_PLACE(Ours, ours, Theirs, theirs)           \
  static_assert(offsetof(Ours, ours) == offsetof(Theirs, theirs) && \
                sizeof(Ours::ours) == sizeof(Theirs::theirs))

SHARDSCOPE_SAME_PLACE(KernelRecord, registers_per_thread, Kernel, registersPerThread);
SHARDSCOPE_SAME_PLACE(KernelRecord, start, Kernel, start);
SHARDSCOPE_SAME_PLACE(KernelRecord, end, Kernel, end);
SHARDSCOPE_SAME_PLACE(KernelRecord, device, Kernel, deviceId);
SHARDSCOPE_SAME_PLACE(KernelRecord, stream, Kernel, streamId);
SHARDSCOPE_SAME_PLACE(KernelRecord, dynamic_shared_bytes, Kernel, dynamicSharedMemory);
SHARDSCOPE_SAME_PLACE(KernelRecord, correlation, Kernel, correlationId);
SHARDSCOPE_SAME_PLACE(KernelRecord, grid_id, Kernel, gridId);
SHARDSCOPE_SAME_PLACE(KernelRecord, name, Kernel, name);
SHARDSCOPE_SAME_PLACE(KernelRecord, graph_node, Kernel, graphNodeId);
SHARDSCOPE_SAME_PLACE(MemcpyRecord, direction, Memcpy, copyKind);
SHARDSCOPE_SAME_PLACE(MemcpyRecord, bytes, Memcpy, bytes);
SHARDSCOPE_SAME_PLACE(MemcpyRecord, start, Memcpy, start);
SHARDSCOPE_SAME_PLACE(MemcpyRecord, correlation, Memcpy, correlationId);
SHARDSCOPE_SAME_PLACE(MemcpyRecord, graph_node, Memcpy, graphNodeId);
SHARDSCOPE_SAME_PLACE(PeerCopyRecord, bytes, Peer, bytes);
SHARDSCOPE_SAME_PLACE(PeerCopyRecord, destination_device, Peer, dstDeviceId);
SHARDSCOPE_SAME_PLACE(PeerCopyRecord, correlation, Peer, correlationId);
SHARDSCOPE_SAME_PLACE(PeerCopyRecord, graph_node, Peer, graphNodeId);
SHARDSCOPE_SAME_PLACE(MemsetRecord, value, Memset, value);
SHARDSCOPE_SAME_PLACE(MemsetRecord, correlation, Memset, correlationId);
SHARDSCOPE_SAME_PLACE(MemsetRecord, memory, Memset, memoryKind);
SHARDSCOPE_SAME_PLACE(MemsetRecord, graph_node, Memset, graphNodeId);
SHARDSCOPE_SAME_PLACE(CallRecord, function, CUpti_ActivityAPI, cbid);
SHARDSCOPE_SAME_PLACE(CallRecord, thread, CUpti_ActivityAPI, threadId);
SHARDSCOPE_SAME_PLACE(CallRecord, correlation, CUpti_ActivityAPI, correlationId);
SHARDSCOPE_SAME_PLACE(CallRecord, result, CUpti_ActivityAPI, returnValue);
SHARDSCOPE_SAME_PLACE(CorrelationRecord, external_id, CUpti_ActivityExternalCorrelation,
                      externalId);
SHARDSCOPE_SAME_PLACE(CorrelationRecord, correlation, CUpti_ActivityExternalCorrelation,
                      correlationId);
SHARDSCOPE_SAME_PLACE(SynchronizationRecord, start, Sync, start);
SHARDSCOPE_SAME_PLACE(SynchronizationRecord, correlation, Sync, correlationId);
SHARDSCOPE_SAME_PLACE(SynchronizationRecord, event, Sync, cudaEventId);
SHARDSCOPE_SAME_PLACE(OverheadRecord, start, CUpti_ActivityOverhead3, start);
SHARDSCOPE_SAME_PLACE(ResourceData, descriptor, CUpti_ResourceData, resourceDescriptor);
SHARDSCOPE_SAME_PLACE(GraphData, node, CUpti_GraphData, node);
SHARDSCOPE_SAME_PLACE(GraphData, original_node, CUpti_GraphData, originalNode);
SHARDSCOPE_SAME_PLACE(OverheadRecord, correlation, CUpti_ActivityOverhead3, correlationId);

#undef SHARDSCOPE_SAME_PLACE

#define SHARDSCOPE_SAME_KIND(ours, theirs) \
  static_assert(static_cast<int>(RecordKind::ours) == CUPTI_ACTIVITY_KIND_##theirs)

SHARDSCOPE_SAME_KIND(memcpy, MEMCPY);
SHARDSCOPE_SAME_KIND(memset, MEMSET);
SHARDSCOPE_SAME_KIND(driver, DRIVER);
SHARDSCOPE_SAME_KIND(runtime, RUNTIME);
SHARDSCOPE_SAME_KIND(concurrent_kernel, CONCURRENT_KERNEL);
SHARDSCOPE_SAME_KIND(overhead, OVERHEAD);
SHARDSCOPE_SAME_KIND(memcpy_peer, MEMCPY2);
SHARDSCOPE_SAME_KIND(synchronization, SYNCHRONIZATION);
SHARDSCOPE_SAME_KIND(external_correlation, EXTERNAL_CORRELATION);

#undef SHARDSCOPE_SAME_KIND

static_assert(kResourceDomain == CUPTI_CB_DOMAIN_RESOURCE);
static_assert(kGraphNodeCreated == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
static_assert(kGraphNodeCloned == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);

}  // namespace
}  // namespace shardscope::cupti

#endif
