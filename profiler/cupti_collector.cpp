#include "profiler/cupti_collector.hpp"

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "profiler/clock.hpp"

namespace shardscope::cupti {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{4} << 20;
constexpr std::size_t kBufferAlignment = 8;

// CUpti_ActivityAttribute and CUpti_ActivityThreadIdType.
constexpr int kHostPinnedDeviceBuffers = 8;
constexpr int kSystemThreadIds = 1;

constexpr std::array kKinds = {RecordKind::concurrent_kernel,
                               RecordKind::memcpy,
                               RecordKind::memset,
                               RecordKind::memcpy_peer,
                               RecordKind::runtime,
                               RecordKind::synchronization,
                               RecordKind::overhead,
                               RecordKind::external_correlation};

std::uint64_t timestamp() {
  return static_cast<std::uint64_t>(steady_ns());
}

/// Buffers between CUPTI's callbacks, which only put them here, and the thread that decodes.
/// Callbacks carry no pointer of ours, so there is one queue in a process. No lock of it is held
/// while CUPTI is called.
class BufferQueue {
 public:
  void put(const FilledBuffer& buffer) {
    const std::lock_guard lock(mutex_);
    filled_.push_back(buffer);
  }
  [[nodiscard]] std::vector<FilledBuffer> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(filled_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<FilledBuffer> filled_;
};

BufferQueue& queue() {
  static BufferQueue buffers;
  return buffers;
}

void request_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
  *bytes = *buffer == nullptr ? 0 : kBufferBytes;
  *max_records = 0;  // as many as fit
}

void complete_buffer(void* /*context*/, std::uint32_t /*stream*/, std::uint8_t* buffer,
                     std::size_t /*bytes*/, std::size_t valid_bytes) {
  queue().put({buffer, valid_bytes});
}

/// What the calling thread's calls belong to; 0: nothing.
thread_local std::uint64_t working_on = 0;

}  // namespace

/// Nodes of graphs, named as they are made: by whoever captures them, and in the executable graph,
/// whose nodes are copies with numbers of their own. No lock is held while CUPTI is called.
class GraphNodes {
 public:
  explicit GraphNodes(const CuptiApi& api) : api_(api) {}

  static void on_resource(void* user, std::uint32_t /*domain*/, std::uint32_t callback,
                          const void* data) {
    static_cast<GraphNodes*>(user)->hear(
        callback,
        *static_cast<const GraphData*>(static_cast<const ResourceData*>(data)->descriptor));
  }

  /// Named since the last call: number and external id.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(named_, {});
  }

 private:
  void hear(std::uint32_t callback, const GraphData& data) {
    std::uint64_t node = 0;
    std::uint64_t original = 0;
    const bool cloned = callback == kGraphNodeCloned;
    if (api_.graph_node_id(data.node, &node) != kSuccess) return;
    if (cloned && api_.graph_node_id(data.original_node, &original) != kSuccess) return;
    const std::lock_guard lock(mutex_);
    std::uint64_t id = working_on;
    if (cloned) {
      const auto known = ids_.find(original);
      id = known == ids_.end() ? 0 : known->second;
    }
    if (id == 0) return;
    ids_[node] = id;
    named_.emplace_back(node, id);
  }

  const CuptiApi& api_;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::uint64_t> ids_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> named_;
};

namespace {

Error refusal(const CuptiApi& api, int error, const std::string& call) {
  const char* text = nullptr;
  if (api.error_text(error, &text) != kSuccess || text == nullptr) text = "unknown";
  if (error == kSubscriberTaken) {
    return {ErrorKind::runtime, "another profiler is attached to this process", "CUPTI",
            "no other user of CUPTI", "Detach the other profiler to get a trace"};
  }
  return {ErrorKind::runtime, fmt::format("{} failed with {} ({})", call, text, error), "CUPTI", "",
          "See `shardscope doctor` for driver and CUPTI"};
}

}  // namespace

struct Collector::State {
  State(const CuptiApi& functions, RecordSink& records, const CollectorConfig& settings)
      : api(functions),
        sink(records),
        config(settings),
        decoder(functions, static_cast<std::uint64_t>(settings.epoch_ns), settings.rank_of_device),
        nodes(functions) {}

  [[nodiscard]] Status enable();
  [[nodiscard]] Status watch_graphs();
  void disable() {
    if (subscriber != nullptr) api.unsubscribe(subscriber);
    subscriber = nullptr;
    for (const RecordKind kind : enabled) api.disable(static_cast<std::uint32_t>(kind));
    enabled.clear();
  }
  void collect_until_stopped();
  void hand_on(bool last);

  const CuptiApi& api;
  RecordSink& sink;
  CollectorConfig config;
  Decoder decoder;
  GraphNodes nodes;
  void* subscriber = nullptr;
  std::vector<RecordKind> enabled;
  std::mutex mutex;  ///< of `stopping`
  std::condition_variable wake;
  bool stopping = false;
  std::thread thread;
};

Status Collector::State::enable() {
  std::uint32_t version = 0;
  if (const int error = api.get_version(&version); error != kSuccess) {
    return fail(refusal(api, error, "cuptiGetVersion"));
  }
  if (version < kOldestVersion) {
    return fail({ErrorKind::runtime, fmt::format("CUPTI has API version {}", version), "CUPTI",
                 fmt::format("{} or later", kOldestVersion),
                 "Install the CUPTI of CUDA 13 (it comes with the toolkit)"});
  }
  // The tables fill the GPU's memory: records wait in the host's. Not every driver can.
  std::uint8_t pinned = 1;
  std::size_t bytes = sizeof(pinned);
  api.set_attribute(kHostPinnedDeviceBuffers, &bytes, &pinned);
  api.set_thread_id_type(kSystemThreadIds);
  if (const int error = api.register_timestamp(timestamp); error != kSuccess) {
    return fail(refusal(api, error, "cuptiActivityRegisterTimestampCallback"));
  }
  if (const int error = api.register_callbacks(request_buffer, complete_buffer);
      error != kSuccess) {
    return fail(refusal(api, error, "cuptiActivityRegisterCallbacks"));
  }
  for (const RecordKind kind : kKinds) {
    const int error = api.enable(static_cast<std::uint32_t>(kind));
    if (error != kSuccess) {
      disable();
      return fail(refusal(api, error, "cuptiActivityEnable"));
    }
    enabled.push_back(kind);
  }
  if (config.graphs) return watch_graphs();
  return {};
}

Status Collector::State::watch_graphs() {
  const char* call = "cuptiSubscribe";
  int error = api.subscribe(&subscriber, GraphNodes::on_resource, &nodes);
  for (const std::uint32_t callback : {kGraphNodeCreated, kGraphNodeCloned}) {
    if (error != kSuccess) break;
    call = "cuptiEnableCallback";
    error = api.enable_callback(1, subscriber, kResourceDomain, callback);
  }
  if (error == kSuccess) return {};
  disable();
  return fail(refusal(api, error, call));
}

void Collector::State::hand_on(bool last) {
  const std::vector<FilledBuffer> buffers = queue().take();
  std::vector<ActivityRecord> records;
  {
    // Nodes that records of these buffers have were named before their launch.
    for (const auto& [node, id] : nodes.take()) decoder.set_graph_node(node, id);
    decoder.decode(buffers, records);
    if (last) decoder.finish(records);
  }
  for (const FilledBuffer& buffer : buffers) std::free(buffer.data);
  if (!records.empty()) sink.activities(config.run, records);
  std::size_t dropped = 0;
  api.dropped_records(nullptr, 0, &dropped);
  if (dropped > 0) sink.dropped(config.run, static_cast<std::int64_t>(dropped));
}

void Collector::State::collect_until_stopped() {
  std::unique_lock lock(mutex);
  while (!stopping) {
    wake.wait_for(lock, config.flush_period, [this] { return stopping; });
    if (stopping) break;
    lock.unlock();
    api.flush_all(0);
    hand_on(false);
    lock.lock();
  }
}

Collector::Collector(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<Collector>> Collector::start(const CuptiApi& api, RecordSink& sink,
                                                    const CollectorConfig& config) {
  auto state = std::make_unique<State>(api, sink, config);
  if (Status status = state->enable(); !status) return fail(status.error());
  State& running = *state;
  running.thread = std::thread([&running] { running.collect_until_stopped(); });
  return std::unique_ptr<Collector>(new Collector(std::move(state)));
}

Collector::~Collector() {
  stop();
}

void Collector::begin_work(const Attribution& at) {
  end_work();
  working_on = to_external_id(at);
  state_->api.push_correlation(kCustomCorrelation, working_on);
}

void Collector::end_work() {
  std::uint64_t last = 0;
  working_on = 0;
  // An empty stack is fine: the thread's first work.
  state_->api.pop_correlation(kCustomCorrelation, &last);
}

void Collector::stop() {
  if (!state_->thread.joinable()) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->wake.notify_one();
  state_->thread.join();
  state_->api.flush_all(kFlushForced);
  state_->disable();
  state_->hand_on(true);
}

const DecodeCounts& Collector::counts() const {
  return state_->decoder.counts();
}

}  // namespace shardscope::cupti
