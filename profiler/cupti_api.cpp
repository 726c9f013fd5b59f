#include "profiler/cupti_api.hpp"

#include <dlfcn.h>

#include <string>

#include <fmt/format.h>

namespace shardscope::cupti {
namespace {

constexpr const char* kCure = "Install the CUPTI of CUDA 13 (it comes with the toolkit)";

template <class Function>
Status load(void* library, Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (function != nullptr) return {};
  return fail({ErrorKind::runtime, fmt::format("CUPTI has no {}", name), "libcupti",
               "CUPTI 12 or later", kCure});
}

Status fill(CuptiApi& api, void* library) {
  Status status;
  const auto add = [&](auto*& function, const char* name) {
    if (status) status = load(library, function, name);
  };
  add(api.get_version, "cuptiGetVersion");
  add(api.next_record, "cuptiActivityGetNextRecord");
  add(api.callback_name, "cuptiGetCallbackName");
  add(api.set_attribute, "cuptiActivitySetAttribute");
  add(api.set_thread_id_type, "cuptiSetThreadIdType");
  add(api.register_callbacks, "cuptiActivityRegisterCallbacks");
  add(api.register_timestamp, "cuptiActivityRegisterTimestampCallback");
  add(api.enable, "cuptiActivityEnable");
  add(api.disable, "cuptiActivityDisable");
  add(api.flush_all, "cuptiActivityFlushAll");
  add(api.dropped_records, "cuptiActivityGetNumDroppedRecords");
  add(api.push_correlation, "cuptiActivityPushExternalCorrelationId");
  add(api.pop_correlation, "cuptiActivityPopExternalCorrelationId");
  add(api.subscribe, "cuptiSubscribe");
  add(api.unsubscribe, "cuptiUnsubscribe");
  add(api.enable_callback, "cuptiEnableCallback");
  add(api.graph_node_id, "cuptiGetGraphNodeId");
  add(api.error_text, "cuptiGetResultString");
  return status;
}

Result<const CuptiApi*> open_cupti() {
  void* library = nullptr;
  for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so",
                           "/usr/local/cuda/lib64/libcupti.so.13"}) {
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library != nullptr) break;
  }
  if (library == nullptr) {
    return fail({ErrorKind::runtime, fmt::format("CUPTI is not installed: {}", dlerror()), "",
                 "libcupti.so.13", kCure});
  }
  static CuptiApi api;
  if (Status status = fill(api, library); !status) return fail(status.error());
  return &api;
}

}  // namespace

Result<const CuptiApi*> cupti_api() {
  static const Result<const CuptiApi*> api = open_cupti();
  return api;
}

}  // namespace shardscope::cupti
