#include "tests/gpu_check/benchmarks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/cuda/cuda_stream.hpp"
#include "engine/cuda/device_memory.hpp"
#include "profiler/clock.hpp"

namespace shardscope::engine::testing {
namespace {

using cuda::CudaStream;
using cuda::DeviceMemory;

constexpr std::int32_t kDim = 128;
constexpr std::int64_t kBagIds = 20;
constexpr std::int64_t kBags = 65536;
constexpr int kRounds = 20;
constexpr int kInputSets = 4;
/// Rows of a table that is trained: their state stays small.
constexpr std::int64_t kMostRows = std::int64_t{8} << 20;
constexpr std::int64_t kMostTableBytes = std::int64_t{8} << 30;

/// What the figures share: a stream, a table and input sets.
class SpeedCheck {
 public:
  SpeedCheck(const cuda::PluginTable& plugin, std::unique_ptr<CudaStream> stream)
      : plugin_(plugin), ops_(plugin.make_ops()), stream_(std::move(stream)) {}

  [[nodiscard]] bool prepare() {
    std::size_t free_bytes = 0;
    std::size_t total = 0;
    plugin_.runtime.memory(&free_bytes, &total);
    table_bytes_ = std::min(kMostTableBytes, static_cast<std::int64_t>(free_bytes) / 2);
    table_bytes_ -= table_bytes_ % (kDim * 4);
    table_ = allocate(table_bytes_);
    out_ = allocate(kBags * kDim * 4);
    lengths_ = allocate(kBags * 4);
    if (table_ == nullptr || out_ == nullptr || lengths_ == nullptr) return false;
    std::fill_n(reinterpret_cast<std::int32_t*>(lengths_), kBags,
                static_cast<std::int32_t>(kBagIds));
    const FillZero zero{table_, table_bytes_};
    ops_->fill_zero(*stream_, {&zero, 1});
    return true;
  }

  /// Bytes a second of a copy within the device, both directions counted.
  [[nodiscard]] double copy_speed() {
    const std::int64_t half = table_bytes_ / 2;
    return speed(2.0 * static_cast<double>(half), [&](int) { copy(half); });
  }

  [[nodiscard]] double gather_speed(DType type, bool skewed) {
    const std::int64_t rows = table_bytes_ / (kDim * bytes_of(type));
    if (!draw_ids(rows, skewed)) return 0;
    const double ids = static_cast<double>(kBags * kBagIds);
    const double bytes = ids * (kDim * static_cast<double>(bytes_of(type)) + 4) +
                         static_cast<double>(kBags) * (kDim * 4 + 4);
    return speed(bytes, [&](int round) {
      pool_.rows = table_;
      pool_.row_type = type;
      pool_.row_stride = pool_.width = kDim;
      pool_.bags = kBags;
      pool_.lengths = reinterpret_cast<const std::int32_t*>(lengths_);
      pool_.ids = ids_[static_cast<std::size_t>(round % kInputSets)];
      pool_.out = out_;
      pool_.out_stride = kDim;
      ops_->gather_pool(*stream_, {&pool_, 1});
    });
  }

  /// Backward and row-wise adagrad of the same bags: gradient rows, sort, sums, update. Bytes: the
  /// bags' gradients, of each distinct row its reduced gradient (written, read twice), its weights
  /// and state (read, written), and the ids.
  [[nodiscard]] double backward_speed(bool skewed) {
    const std::int64_t ids = kBags * kBagIds;
    const std::int64_t rows = std::min(table_bytes_ / (kDim * 4), kMostRows);
    if (!draw_ids(rows, skewed) || !prepare_backward(ids, rows)) return 0;
    const double ms = milliseconds([&](int round) {
      sort_.rows = ids_[static_cast<std::size_t>(round % kInputSets)];
      ops_->expand_bags(*stream_, {&expand_, 1});
      ops_->sort_index(*stream_, {&sort_, 1});
      ops_->segment_reduce(*stream_, {&reduce_, 1});
      ops_->square_sum(*stream_, {&square_, 1});
      ops_->optimizer_update(*stream_, {&update_, 1}, round + 1);
    });
    const auto unique = static_cast<double>(*sort_.unique_count);
    return (static_cast<double>(ids) * (kDim * 4.0 + 4) + unique * (5 * kDim * 4.0 + 8)) /
           (ms * 1e-3);
  }

  /// Milliseconds of forward, backward and update of the same bags: what a framework's embedding
  /// bag is compared with.
  [[nodiscard]] double step_ms() {
    const std::int64_t rows = std::min(table_bytes_ / (kDim * 4), kMostRows);
    if (!draw_ids(rows, false) || !prepare_backward(kBags * kBagIds, rows)) return 0;
    return milliseconds([&](int round) {
      std::byte* const ids = ids_[static_cast<std::size_t>(round % kInputSets)];
      pool_.rows = table_;
      pool_.row_type = DType::fp32;
      pool_.ids = sort_.rows = ids;
      ops_->gather_pool(*stream_, {&pool_, 1});
      ops_->expand_bags(*stream_, {&expand_, 1});
      ops_->sort_index(*stream_, {&sort_, 1});
      ops_->segment_reduce(*stream_, {&reduce_, 1});
      ops_->square_sum(*stream_, {&square_, 1});
      ops_->optimizer_update(*stream_, {&update_, 1}, round + 1);
    });
  }

  /// Lookup, index calculation, reduction and update of 26 tables, a list a stage, batch 8,192, a
  /// single id a bag: an iteration when the host enqueues one behind the other, and what of it the
  /// GPU works.
  struct Launch {
    double iteration_ms = 0;
    double gpu_ms = 0;
    [[nodiscard]] double overhead() const {
      return iteration_ms > 0 ? std::max(0.0, 1 - gpu_ms / iteration_ms) : 1;
    }
  };
  [[nodiscard]] Launch many_tables() {
    const std::int64_t rows = std::min<std::int64_t>(table_bytes_ / (kDim * 4) / kTables, 1000000);
    ManyTables lists;
    if (!draw_ids(rows, true) || !prepare_tables(rows, lists)) return {};
    constexpr int kIterations = 100;
    for (int n = 0; n < 6; ++n) enqueue_tables(lists, n);
    finish();
    Launch launch;
    const std::int64_t begin_ns = steady_ns();
    for (int n = 0; n < kIterations; ++n) enqueue_tables(lists, n);
    finish();
    launch.iteration_ms = static_cast<double>(steady_ns() - begin_ns) * 1e-6 / kIterations;
    // Behind a copy that takes longer than the host needs to enqueue, the GPU never waits for it.
    const std::int64_t half = table_bytes_ / 2;
    const double copy_ms = milliseconds([&](int) { copy(half); });
    launch.gpu_ms = milliseconds([&](int round) {
                      copy(half);
                      enqueue_tables(lists, round);
                    }) -
                    copy_ms;
    return launch;
  }

  /// fp32 bytes a second of encoding (quantize, planes) and of decoding, at 64 MiB.
  [[nodiscard]] std::array<double, 2> codec_speed() {
    constexpr std::int64_t kValues = std::int64_t{16} << 20;
    constexpr std::int64_t kGroups = kValues / 32;
    auto* values = reinterpret_cast<float*>(allocate(4 * kValues));
    auto* codes = reinterpret_cast<std::int32_t*>(allocate(4 * kValues));
    auto* escapes = reinterpret_cast<std::uint32_t*>(allocate(4 * kGroups));
    auto* widths = reinterpret_cast<std::uint8_t*>(allocate(kGroups));
    auto* planes = reinterpret_cast<std::uint32_t*>(allocate(22 * 4 * kGroups));
    auto* words = reinterpret_cast<std::int64_t*>(allocate(8));
    if (words == nullptr || planes == nullptr || codes == nullptr) return {0, 0};
    std::mt19937_64 random(5);
    std::normal_distribution<float> normal;
    for (std::int64_t n = 0; n < kValues; ++n) values[n] = normal(random);
    const std::unique_ptr<cuda::CodecOps> codecs(plugin_.make_codec_ops());
    constexpr float kStep = 0.5F;
    const cuda::QuantizeCall quantize{values, kValues, 1 / kStep, kStep,
                                      kStep,  127,     codes,     escapes};
    const cuda::PackPlanesCall pack{codes,   kValues / kDim, kDim,   nullptr,
                                    nullptr, widths,         planes, words};
    const cuda::UnpackPlanesCall unpack{planes, widths, kValues, codes};
    const cuda::ExpandCodesCall expand{codes, nullptr, kValues / kDim, kDim, kStep, values};
    const double encode = speed(4.0 * kValues, [&](int) {
      codecs->quantize(*stream_, {&quantize, 1});
      codecs->pack_planes(*stream_, {&pack, 1});
    });
    const double decode = speed(4.0 * kValues, [&](int) {
      codecs->unpack_planes(*stream_, {&unpack, 1});
      codecs->expand(*stream_, {&expand, 1});
    });
    return {encode, decode};
  }

  [[nodiscard]] Status status() const { return stream_->status(); }

 private:
  static constexpr std::int64_t kTables = 26;
  static constexpr std::int64_t kBatch = 8192;

  /// The lists of the stages, by table.
  struct ManyTables {
    std::vector<GatherPool> lookups;
    std::vector<SortIndex> sorts;
    std::vector<SegmentReduce> reductions;
    std::vector<SquareSum> squares;
    std::vector<OptimizerUpdate> updates;
  };

  bool prepare_tables(std::int64_t rows, ManyTables& lists) {
    // Of each table: 16-byte aligned parts of one buffer.
    constexpr std::int64_t kPart = kBatch * kDim * 4;
    std::byte* ones = allocate(kBatch * 4);
    std::byte* outs = allocate(kTables * kPart);
    std::byte* wgrads = allocate(kTables * kPart);
    std::byte* indices = allocate(kTables * kBatch * 32);
    std::byte* states = allocate(kTables * rows * 4);
    for (const std::byte* part : {ones, outs, wgrads, indices, states}) {
      if (part == nullptr) return false;
    }
    std::fill_n(reinterpret_cast<std::int32_t*>(ones), kBatch, 1);
    const FillZero zero{states, kTables * rows * 4};
    ops_->fill_zero(*stream_, {&zero, 1});
    for (std::int64_t t = 0; t < kTables; ++t) {
      GatherPool look;
      look.rows = table_ + t * rows * kDim * 4;
      look.row_stride = look.width = look.out_stride = kDim;
      look.bags = kBatch;
      look.lengths = reinterpret_cast<const std::int32_t*>(ones);
      look.ids = ids_[0] + t * kBatch * 4;
      look.out = outs + t * kPart;
      std::byte* at = indices + t * kBatch * 32;
      SortIndex sort;
      sort.count = kBatch;
      sort.rows = look.ids;
      sort.row_limit = rows;
      sort.unique_rows = reinterpret_cast<std::int64_t*>(at);
      sort.unique_count = sort.unique_rows + kBatch;
      sort.offsets = reinterpret_cast<std::uint32_t*>(at + kBatch * 8 + 16);
      sort.sorted_gradient_row = sort.offsets + kBatch + 4;
      SegmentReduce reduce;
      reduce.unique_count = sort.unique_count;
      reduce.offsets = sort.offsets;
      reduce.gradient_row = sort.sorted_gradient_row;
      reduce.gradients = look.out;
      reduce.stride = reduce.width = kDim;
      reduce.out = reinterpret_cast<float*>(wgrads + t * kPart);
      const SquareSum square{sort.unique_count, reduce.out, kDim,
                             reinterpret_cast<float*>(sort.sorted_gradient_row + kBatch + 4)};
      OptimizerUpdate update;
      update.optimizer.kind = OptimizerKind::rowwise_adagrad;
      update.optimizer.words_per_row = 1;
      update.unique_count = sort.unique_count;
      update.unique_rows = sort.unique_rows;
      update.gradients = reduce.out;
      update.row_square_sum = square.out;
      update.rows = table_ + t * rows * kDim * 4;
      update.width = update.full_width = kDim;
      update.state = reinterpret_cast<float*>(states + t * rows * 4);
      update.row_count = rows;
      lists.lookups.push_back(look);
      lists.sorts.push_back(sort);
      lists.reductions.push_back(reduce);
      lists.squares.push_back(square);
      lists.updates.push_back(update);
    }
    return true;
  }

  /// A stage a graph, where the stream has graphs; two of each in turns, as batches have slots.
  void enqueue_tables(const ManyTables& lists, int step) {
    const auto stage = [&](std::size_t number, const auto& enqueue) {
      enqueue_as_graph(*stream_, 2 * number + static_cast<std::size_t>(step % 2), enqueue);
    };
    stage(0, [&] { ops_->gather_pool(*stream_, lists.lookups); });
    stage(1, [&] { ops_->sort_index(*stream_, lists.sorts); });
    stage(2, [&] { ops_->segment_reduce(*stream_, lists.reductions); });
    stage(3, [&] {
      ops_->square_sum(*stream_, lists.squares);
      ops_->optimizer_update(*stream_, lists.updates, step + 1);
    });
  }

  void copy(std::int64_t bytes) {
    stream_->check(plugin_.runtime.copy_async(table_ + bytes, table_,
                                              static_cast<std::size_t>(bytes), stream_->native()),
                   "cudaMemcpyAsync");
  }

  void finish() { stream_->synchronize(stream_->record()); }

  bool prepare_backward(std::int64_t ids, std::int64_t rows) {
    if (state_ == nullptr) {
      state_ = allocate(kMostRows * 4);
      gradient_row_ = allocate(ids * 4);
      sorted_ = allocate(ids * 4);
      offsets_ = allocate(ids * 4 + 4);
      unique_ = allocate(ids * 8 + 8);
      wgrad_ = allocate(ids * kDim * 4);
      sums_ = allocate(ids * 4);
    }
    for (const std::byte* part :
         {state_, gradient_row_, sorted_, offsets_, unique_, wgrad_, sums_}) {
      if (part == nullptr) return false;
    }
    expand_.bags = pool_.bags = kBags;
    expand_.lengths = pool_.lengths = reinterpret_cast<const std::int32_t*>(lengths_);
    expand_.gradient_row = reinterpret_cast<std::uint32_t*>(gradient_row_);
    pool_.row_stride = pool_.width = kDim;
    pool_.out = out_;
    pool_.out_stride = kDim;
    sort_.count = ids;
    sort_.row_limit = rows;
    sort_.gradient_row = expand_.gradient_row;
    sort_.unique_count = reinterpret_cast<std::int64_t*>(unique_);
    sort_.unique_rows = sort_.unique_count + 1;
    sort_.offsets = reinterpret_cast<std::uint32_t*>(offsets_);
    sort_.sorted_gradient_row = reinterpret_cast<std::uint32_t*>(sorted_);
    reduce_.unique_count = square_.unique_count = update_.unique_count = sort_.unique_count;
    reduce_.offsets = sort_.offsets;
    reduce_.gradient_row = sort_.sorted_gradient_row;
    reduce_.gradients = out_;
    reduce_.stride = reduce_.width = square_.width = kDim;
    reduce_.out = reinterpret_cast<float*>(wgrad_);
    square_.gradients = update_.gradients = reduce_.out;
    square_.out = reinterpret_cast<float*>(sums_);
    update_.optimizer.kind = OptimizerKind::rowwise_adagrad;
    update_.optimizer.words_per_row = 1;
    update_.unique_rows = sort_.unique_rows;
    update_.row_square_sum = square_.out;
    update_.rows = table_;
    update_.width = update_.full_width = kDim;
    update_.state = reinterpret_cast<float*>(state_);
    update_.row_count = rows;
    const FillZero zero{state_, kMostRows * 4};
    ops_->fill_zero(*stream_, {&zero, 1});
    return true;
  }

  std::byte* allocate(std::int64_t bytes) {
    auto memory = DeviceMemory::allocate(plugin_.runtime, 0, bytes, "benchmark");
    if (!memory) {
      fmt::print("  {}\n", to_string(memory.error()));
      return nullptr;
    }
    return memory_.emplace_back(std::move(*memory)).data();
  }

  bool draw_ids(std::int64_t rows, bool skewed) {
    constexpr double kAlpha = 1.1;
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> uniform(0, 1);
    for (std::byte*& set : ids_) {
      if (set == nullptr) set = allocate(kBags * kBagIds * 4);
      if (set == nullptr) return false;
      for (std::int64_t n = 0; n < kBags * kBagIds; ++n) {
        // Inverse of a Zipf law's continuous distribution.
        const double u = uniform(random);
        const double tail = std::pow(static_cast<double>(rows), 1 - kAlpha);
        const double rank =
            skewed ? std::pow(1 - u * (1 - tail), 1 / (1 - kAlpha)) : u * static_cast<double>(rows);
        reinterpret_cast<std::int32_t*>(set)[n] =
            static_cast<std::int32_t>(std::min(static_cast<std::int64_t>(rank), rows - 1));
      }
    }
    return true;
  }

  double speed(double bytes, const std::function<void(int round)>& work) {
    const double ms = milliseconds(work);
    return ms > 0 ? bytes / (ms * 1e-3) : 0;
  }

  /// Median of the rounds, timed by events; the first rounds warm up. 0 after a failure.
  double milliseconds(const std::function<void(int round)>& work) {
    const cuda::RuntimeApi& runtime = plugin_.runtime;
    cuda::NativeEvent begin = nullptr;
    cuda::NativeEvent end = nullptr;
    stream_->check(runtime.create_event(&begin), "cudaEventCreate");
    stream_->check(runtime.create_event(&end), "cudaEventCreate");
    if (!stream_->status()) return 0;
    std::vector<float> times;
    for (int round = 0; round < kRounds + kInputSets; ++round) {
      stream_->check(runtime.record_event(begin, stream_->native()), "cudaEventRecord");
      work(round);
      stream_->check(runtime.record_event(end, stream_->native()), "cudaEventRecord");
      stream_->check(runtime.synchronize_event(end), "cudaEventSynchronize");
      float ms = 0;
      stream_->check(runtime.elapsed_ms(&ms, begin, end), "cudaEventElapsedTime");
      if (round >= kInputSets) times.push_back(ms);
    }
    runtime.destroy_event(begin);
    runtime.destroy_event(end);
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }

  const cuda::PluginTable& plugin_;
  std::unique_ptr<Ops> ops_;
  std::vector<DeviceMemory> memory_;
  std::unique_ptr<CudaStream> stream_;  ///< goes before the memory it uses
  std::int64_t table_bytes_ = 0;
  std::byte* table_ = nullptr;
  std::byte* out_ = nullptr;
  std::byte* lengths_ = nullptr;
  std::byte* ids_[kInputSets] = {};
  GatherPool pool_;
  std::byte *state_ = nullptr, *gradient_row_ = nullptr, *sorted_ = nullptr, *offsets_ = nullptr,
            *unique_ = nullptr, *wgrad_ = nullptr, *sums_ = nullptr;
  ExpandBags expand_;
  SortIndex sort_;
  SegmentReduce reduce_;
  SquareSum square_;
  OptimizerUpdate update_;
};

bool print_backward(SpeedCheck& check, double copy) {
  constexpr double kBackwardTarget = 0.60;
  bool reached = true;
  for (const bool skewed : {false, true}) {
    const double speed = check.backward_speed(skewed);
    const bool ok = copy > 0 && speed >= kBackwardTarget * copy;
    fmt::print("  {:<28} {:8.1f} GB/s  {:.2f} of the copy{}\n",
               skewed ? "backward, adagrad Zipf 1.1" : "backward, adagrad uniform", speed * 1e-9,
               copy > 0 ? speed / copy : 0,
               skewed ? ""
               : ok   ? ", target 0.60  reached"
                      : ", target 0.60  not reached");
    std::fflush(stdout);
    if (!skewed) reached = ok;
  }
  return reached;
}

/// What launches cost an iteration of 26 tables, a stream with graphs and one without.
bool print_launches(const cuda::PluginTable& plugin) {
  constexpr double kMostOverhead = 0.05;
  bool reached = false;
  for (const bool graphs : {false, true}) {
    auto stream =
        CudaStream::create(plugin.runtime, 0, "benchmark", cuda::HostTasks::queued, graphs);
    if (!stream) {
      fmt::print("  {}\n", to_string(stream.error()));
      return false;
    }
    SpeedCheck check(plugin, std::move(*stream));
    if (!check.prepare()) return false;
    const SpeedCheck::Launch launch = check.many_tables();
    if (Status status = check.status(); !status) {
      fmt::print("  {}\n", to_string(status.error()));
      return false;
    }
    reached = launch.overhead() < kMostOverhead;
    fmt::print("  {:<28} {:8.3f} ms, {:.3f} ms on the GPU, launches cost {:.1f} %{}\n",
               graphs ? "26 tables, stages as graphs" : "26 tables, a list a stage",
               launch.iteration_ms, launch.gpu_ms, 100 * launch.overhead(),
               !graphs   ? ""
               : reached ? ", target below 5 %  reached"
                         : ", target below 5 %  not reached");
    std::fflush(stdout);
  }
  return reached;
}

void print_times(SpeedCheck& check) {
  fmt::print("  {:<28} {:8.3f} ms\n", "forward, backward, update", check.step_ms());
  std::fflush(stdout);
}

struct Target {
  const char* name;
  DType type;
  bool skewed;
  double ratio;
};

constexpr Target kTargets[] = {{"gather-pool fp32 uniform", DType::fp32, false, 0.85},
                               {"gather-pool bf16 uniform", DType::bf16, false, 0.75},
                               {"gather-pool fp32 Zipf 1.1", DType::fp32, true, 0.85}};

}  // namespace

double trained_step_ms(const cuda::PluginTable& plugin) {
  auto stream = CudaStream::create(plugin.runtime, 0, "benchmark", cuda::HostTasks::queued);
  if (!stream) {
    fmt::print("  {}\n", to_string(stream.error()));
    return 0;
  }
  SpeedCheck check(plugin, std::move(*stream));
  return check.prepare() ? check.step_ms() : 0;
}

bool run_benchmarks(const cuda::PluginTable& plugin) {
  auto stream = CudaStream::create(plugin.runtime, 0, "benchmark", cuda::HostTasks::queued);
  if (!stream) {
    fmt::print("  {}\n", to_string(stream.error()));
    return false;
  }
  SpeedCheck check(plugin, std::move(*stream));
  if (!check.prepare()) return false;
  const double copy = check.copy_speed();
  fmt::print("  {:<28} {:8.1f} GB/s\n", "copy within the device", copy * 1e-9);
  bool reached = true;
  for (const Target& target : kTargets) {
    const double speed = check.gather_speed(target.type, target.skewed);
    const bool ok = copy > 0 && speed >= target.ratio * copy;
    fmt::print("  {:<28} {:8.1f} GB/s  {:.2f} of the copy, target {:.2f}  {}\n", target.name,
               speed * 1e-9, copy > 0 ? speed / copy : 0, target.ratio,
               ok ? "reached" : "not reached");
    std::fflush(stdout);
    reached = reached && ok;
  }
  reached = print_backward(check, copy) && reached;
  reached = print_launches(plugin) && reached;
  print_times(check);
  const auto [encode, decode] = check.codec_speed();
  constexpr double kCodecTarget = 500e9;
  for (const auto& [name, speed] : {std::pair("codec fixed encode 64 MiB", encode),
                                    std::pair("codec fixed decode 64 MiB", decode)}) {
    fmt::print("  {:<28} {:8.1f} GB/s of values, target {:.0f}  {}\n", name, speed * 1e-9,
               kCodecTarget * 1e-9, speed >= kCodecTarget ? "reached" : "not reached");
    reached = reached && speed >= kCodecTarget;
  }
  if (Status status = check.status(); !status) {
    fmt::print("  {}\n", to_string(status.error()));
    return false;
  }
  return reached;
}

}  // namespace shardscope::engine::testing
