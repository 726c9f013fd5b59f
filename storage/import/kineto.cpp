#include "storage/import/kineto.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "storage/import/event_splitter.hpp"

namespace shardscope::storage {

std::uint32_t NameTable::id(std::string_view text) {
  constexpr std::size_t kMostNames = std::size_t{1} << 20;
  constexpr std::size_t kLongestName = 4096;
  std::string key(text.substr(0, kLongestName));
  const auto found = ids_.find(key);
  if (found != ids_.end()) return found->second;
  if (texts_.size() >= kMostNames) key = "(another name)";
  const auto [entry, fresh] = ids_.emplace(key, static_cast<std::uint32_t>(texts_.size()));
  if (fresh) texts_.push_back(std::move(key));
  return entry->second;
}

namespace {

namespace dom = simdjson::ondemand;

constexpr std::int64_t kLatestNs = std::int64_t{1} << 62;

/// Decimal microseconds as ns without a detour over a double: absolute times have 16 digits before
/// the point.
std::optional<std::int64_t> ns_of(std::string_view text) {
  while (!text.empty() && (text.front() == '"' || text.front() == ' ')) text.remove_prefix(1);
  std::int64_t whole = 0;
  const char* end = text.data() + text.size();
  auto [at, error] = std::from_chars(text.data(), end, whole);
  if (error != std::errc()) return std::nullopt;
  const bool exponent = text.find_first_of("eE") != std::string_view::npos;
  if (exponent || whole > kLatestNs / 1000 || whole < -kLatestNs / 1000) {
    double value = 0;
    const auto parsed = std::from_chars(text.data(), end, value);
    if (parsed.ec != std::errc() || !(std::abs(value) < static_cast<double>(kLatestNs / 1000))) {
      return std::nullopt;
    }
    return std::llround(value * 1000);
  }
  std::int64_t ns = whole * 1000;
  if (at != end && *at == '.') {
    std::int64_t unit = 100;
    for (++at; at != end && *at >= '0' && *at <= '9' && unit > 0; ++at, unit /= 10) {
      ns += (text.front() == '-' ? -1 : 1) * unit * (*at - '0');
    }
  }
  return ns;
}

std::int64_t whole_number(dom::value value) {
  std::int64_t number = 0;
  if (value.get(number) == simdjson::SUCCESS) return number;
  double real = 0;
  if (value.get(real) == simdjson::SUCCESS && std::abs(real) < 9e15) return std::llround(real);
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) {
    std::from_chars(text.data(), text.data() + text.size(), number);
  }
  return number;
}

/// More elements than any message or tensor has: a larger number is damage, and read as unknown.
constexpr std::int64_t kMostElements = std::int64_t{1} << 50;

/// A number of elements that may be multiplied by the bytes of one; -1 where it is none.
std::int64_t element_count(dom::value value) {
  const std::int64_t number = whole_number(value);
  return number >= 0 && number <= kMostElements ? number : -1;
}

std::int32_t narrow(std::int64_t value) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(value, -2147483647, 2147483647));
}

std::int64_t bytes_of_type(std::string_view type) {
  constexpr std::pair<std::string_view, std::int64_t> kTypes[] = {
      {"long", 8},          {"long int", 8},      {"Long", 8},        {"int64", 8}, {"double", 8},
      {"Double", 8},        {"float", 4},         {"Float", 4},       {"int", 4},   {"Int", 4},
      {"int32", 4},         {"half", 2},          {"c10::Half", 2},   {"Half", 2},  {"BFloat16", 2},
      {"c10::BFloat16", 2}, {"unsigned char", 1}, {"signed char", 1}, {"Byte", 1},  {"Char", 1},
      {"bool", 1},          {"Bool", 1},          {"uint8", 1},       {"int8", 1}};
  for (const auto& [name, bytes] : kTypes) {
    if (type == name) return bytes;
  }
  return 0;
}

bool is_whole_type(std::string_view type) {
  return type.starts_with("long") || type.starts_with("Long") || type.starts_with("int") ||
         type.starts_with("Int");
}

/// The parts of args that matter, filled while they are passed over once.
struct Args {
  std::int64_t stream = 0;
  std::int64_t device = 0;
  std::int64_t context = 0;
  std::int64_t correlation = 0;
  std::int64_t bytes = 0;
  std::int64_t registers = 0;
  std::int64_t shared = 0;
  std::int64_t in_elements = -1;  ///< -1 where unknown; at most kMostElements, as all below
  std::int64_t out_elements = -1;
  std::int64_t group_size = 0;
  std::string dtype;
  std::string collective;
  std::vector<std::int64_t> in_splits;
  std::array<std::int32_t, 3> grid{};
  std::array<std::int32_t, 3> block{};
  std::vector<std::vector<std::int64_t>> dims;
  std::vector<std::string> types;
};

void read_triple(dom::value value, std::array<std::int32_t, 3>& out) {
  dom::array items;
  if (value.get(items) != simdjson::SUCCESS) return;
  std::size_t i = 0;
  for (auto item : items) {
    dom::value one;
    if (i >= out.size() || item.get(one) != simdjson::SUCCESS) return;
    out[i++] = narrow(whole_number(one));
  }
}

/// A list of whole numbers, or a text of one ("[1, 2]").
std::vector<std::int64_t> read_numbers(dom::value value) {
  constexpr std::size_t kMost = 65536;
  std::vector<std::int64_t> numbers;
  dom::array items;
  if (value.get(items) == simdjson::SUCCESS) {
    for (auto item : items) {
      dom::value one;
      if (item.get(one) != simdjson::SUCCESS || numbers.size() >= kMost) break;
      numbers.push_back(whole_number(one));
    }
    return numbers;
  }
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) return numbers;
  std::size_t at = 0;
  while (at < text.size() && numbers.size() < kMost) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
    if (error == std::errc()) numbers.push_back(number);
    at = std::max(at + 1, static_cast<std::size_t>(end - text.data()));
  }
  return numbers;
}

void read_dims(dom::value value, std::vector<std::vector<std::int64_t>>& out) {
  constexpr std::size_t kMostDims = 64;
  dom::array items;
  if (value.get(items) != simdjson::SUCCESS) return;
  for (auto item : items) {
    dom::value one;
    if (item.get(one) != simdjson::SUCCESS || out.size() >= kMostDims) return;
    out.push_back(read_numbers(one));
  }
}

void read_types(dom::value value, std::vector<std::string>& out) {
  dom::array items;
  if (value.get(items) != simdjson::SUCCESS) return;
  for (auto item : items) {
    std::string_view text;
    if (item.get(text) != simdjson::SUCCESS || out.size() >= 2) return;
    out.emplace_back(text);
  }
}

void read_args(dom::object args, Args& out) {
  for (auto field : args) {
    std::string_view key;
    dom::value value;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return;
    if (field.value().get(value) != simdjson::SUCCESS) return;
    if (key == "stream")
      out.stream = whole_number(value);
    else if (key == "device")
      out.device = whole_number(value);
    else if (key == "context")
      out.context = whole_number(value);
    else if (key == "correlation")
      out.correlation = whole_number(value);
    else if (key == "bytes")
      out.bytes = whole_number(value);
    else if (key == "registers per thread")
      out.registers = whole_number(value);
    else if (key == "shared memory")
      out.shared = whole_number(value);
    else if (key == "In msg nelems")
      out.in_elements = element_count(value);
    else if (key == "Out msg nelems")
      out.out_elements = element_count(value);
    else if (key == "Group size")
      out.group_size = whole_number(value);
    else if (key == "In split size")
      out.in_splits = read_numbers(value);
    else if (key == "grid")
      read_triple(value, out.grid);
    else if (key == "block")
      read_triple(value, out.block);
    else if (key == "Input Dims")
      read_dims(value, out.dims);
    else if (key == "Input type")
      read_types(value, out.types);
    else if (key == "dtype" || key == "Collective name") {
      std::string_view text;
      if (value.get(text) == simdjson::SUCCESS)
        (key == "dtype" ? out.dtype : out.collective) = text;
    }
  }
}

/// Categories by their first letters, old capitals included.
enum class Category { other, kernel, memcpy, memset, call, range, op };

Category category_of(std::string_view cat) {
  if (cat == "kernel" || cat == "Kernel") return Category::kernel;
  if (cat == "gpu_memcpy" || cat == "Memcpy") return Category::memcpy;
  if (cat == "gpu_memset" || cat == "Memset") return Category::memset;
  if (cat == "cuda_runtime" || cat == "cuda_driver" || cat == "Runtime") return Category::call;
  if (cat == "user_annotation") return Category::range;
  if (cat == "cpu_op" || cat == "Operator") return Category::op;
  return Category::other;
}

bool contains(std::string_view text, std::string_view piece) {
  return text.find(piece) != std::string_view::npos;
}

/// CUPTI's direction of "Memcpy HtoD (Pinned -> Device)".
std::int32_t copy_direction(std::string_view name) {
  if (contains(name, "HtoD")) return 1;
  if (contains(name, "DtoH")) return 2;
  if (contains(name, "DtoD")) return 8;
  if (contains(name, "HtoH")) return 9;
  if (contains(name, "PtoP")) return 10;
  return 0;
}

MemoryKind memory_named(std::string_view text) {
  if (contains(text, "Pageable")) return MemoryKind::pageable;
  if (contains(text, "Pinned")) return MemoryKind::pinned;
  if (contains(text, "Managed")) return MemoryKind::managed;
  if (contains(text, "Device")) return MemoryKind::device;
  return MemoryKind::unknown;
}

/// The length of an input that is a plain list; -1 where it is none.
std::int64_t first_dim(const std::vector<std::vector<std::int64_t>>& dims, std::size_t index) {
  if (index >= dims.size() || dims[index].size() != 1) return -1;
  const std::int64_t length = dims[index].front();
  return length >= 0 && length <= kMostElements ? length : -1;
}

}  // namespace

struct KinetoReader::State {
  simdjson::ondemand::parser parser;
  RankTrace trace;
  std::int64_t base_ns = 0;
  std::int64_t damaged = 0;

  void add_work(Category category, std::string_view name, std::int64_t start, std::int64_t end,
                const Args& args);
  void add_collective(std::string_view name, std::int64_t start, std::int64_t end,
                      std::int32_t thread, const Args& args);
  void add_lookup(std::string_view name, std::int64_t start, const Args& args);
};

void KinetoReader::State::add_work(Category category, std::string_view name, std::int64_t start,
                                   std::int64_t end, const Args& args) {
  GpuWork work;
  work.start_ns = start;
  work.end_ns = end;
  work.name = trace.names.id(name);
  work.correlation = static_cast<std::uint32_t>(args.correlation);
  work.stream = narrow(args.stream);
  work.device = narrow(args.device);
  work.context = narrow(args.context);
  work.bytes = args.bytes;
  if (category == Category::kernel) {
    work.grid = args.grid;
    work.block = args.block;
    work.registers = narrow(args.registers);
    work.shared_bytes = narrow(args.shared);
  } else if (category == Category::memcpy) {
    work.kind = ActivityRecord::Kind::memcpy;
    work.detail = copy_direction(name);
    const std::size_t arrow = name.find("->");
    work.source = memory_named(name.substr(0, arrow));
    if (arrow != std::string_view::npos) work.destination = memory_named(name.substr(arrow));
  } else {
    work.kind = ActivityRecord::Kind::memset;
    work.destination = memory_named(name);
  }
  trace.work.push_back(work);
}

/// Sizes as newer traces state them beside the kernel or call, or as the operator's input dims.
void KinetoReader::State::add_collective(std::string_view name, std::int64_t start,
                                         std::int64_t end, std::int32_t thread, const Args& args) {
  CollectiveCall call;
  call.start_ns = start;
  call.end_ns = end;
  call.thread = thread;
  call.group_size = narrow(args.group_size);
  call.sent_splits = args.in_splits;
  call.correlation = static_cast<std::uint32_t>(args.correlation);
  if (args.in_elements >= 0) {
    const std::int64_t size = std::max<std::int64_t>(bytes_of_type(args.dtype), 1);
    call.sent_bytes = args.in_elements * size;
    call.received_bytes = args.out_elements >= 0 ? args.out_elements * size : -1;
    call.whole_ids = is_whole_type(args.dtype);
  } else if (!args.types.empty()) {
    const std::int64_t size = bytes_of_type(args.types.front());
    if (size == 0) return;
    // c10d's operator lists output, then input; the annotation the input alone.
    const bool both = contains(name, "alltoall_base") || contains(name, "allgather_base") ||
                      contains(name, "reduce_scatter_base");
    const std::int64_t sent = first_dim(args.dims, both ? 1 : 0);
    const std::int64_t received = both ? first_dim(args.dims, 0) : -1;
    if (sent < 0) return;
    call.sent_bytes = sent * size;
    call.received_bytes = received >= 0 ? received * size : -1;
    call.whole_ids = is_whole_type(args.types.front());
  } else {
    return;
  }
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;
  if (call.sent_bytes > kMostBytes || call.received_bytes > kMostBytes) return;
  trace.collectives.push_back(std::move(call));
}

/// FBGEMM's operators list their weights first; ids and offsets (tables x batch + 1) follow each
/// other.
void KinetoReader::State::add_lookup(std::string_view name, std::int64_t start, const Args& args) {
  LookupCall call;
  call.start_ns = start;
  call.replicated = contains(name, "dense_embedding");
  call.elements = std::max<std::int64_t>(first_dim(args.dims, call.replicated ? 0 : 1), 0);
  call.tables = std::max<std::int64_t>(first_dim(args.dims, call.replicated ? 1 : 4), 0);
  if (call.tables < 1) return;
  for (std::size_t i = 5; i + 1 < args.dims.size(); ++i) {
    const std::int64_t ids = first_dim(args.dims, i);
    const std::int64_t offsets = first_dim(args.dims, i + 1);
    if (ids < 0 || offsets < 2 || (offsets - 1) % call.tables != 0) continue;
    if (offsets - 1 <= call.tables && ids <= call.tables) continue;
    call.ids = ids;
    call.batch = (offsets - 1) / call.tables;
    trace.lookups.push_back(call);
    return;
  }
}

KinetoReader::KinetoReader(std::string file) : state_(std::make_unique<State>()) {
  state_->trace.file = std::move(file);
}

KinetoReader::~KinetoReader() = default;

void KinetoReader::event(std::string_view event, std::int64_t line, ImportNotes& notes) {
  State& state = *state_;
  ++state.trace.events;
  simdjson::padded_string_view padded(event.data(), event.size(), event.size() + kEventPadding);
  dom::document document;
  dom::object object;
  std::string_view phase;
  std::string_view cat;
  std::string name;
  std::optional<std::int64_t> start;
  std::int64_t duration = 0;
  std::int64_t thread = 0;
  Args args;
  bool sound = state.parser.iterate(padded).get(document) == simdjson::SUCCESS &&
               document.get_object().get(object) == simdjson::SUCCESS;
  std::string phase_text;
  std::string cat_text;
  if (sound) {
    for (auto field : object) {
      std::string_view key;
      dom::value value;
      if (field.unescaped_key().get(key) != simdjson::SUCCESS ||
          field.value().get(value) != simdjson::SUCCESS) {
        sound = false;
        break;
      }
      std::string_view text;
      if (key == "ph" && value.get(text) == simdjson::SUCCESS)
        phase_text = text;
      else if (key == "cat" && value.get(text) == simdjson::SUCCESS)
        cat_text = text;
      else if (key == "name" && value.get(text) == simdjson::SUCCESS)
        name = text;
      else if (key == "ts")
        start = ns_of(value.raw_json_token());
      else if (key == "dur")
        duration = ns_of(value.raw_json_token()).value_or(0);
      else if (key == "tid")
        thread = whole_number(value);
      else if (key == "args") {
        dom::object inner;
        const bool wanted = cat_text.empty() || category_of(cat_text) != Category::other;
        if (wanted && value.get(inner) == simdjson::SUCCESS) {
          read_args(inner, args);
        }
      }
    }
  }
  if (!sound) {
    ++state.damaged;
    return notes.warn(line, "an event is damaged and left out", "a JSON object");
  }
  phase = phase_text;
  cat = cat_text;
  const Category category = category_of(cat);
  if (phase != "X" || !start || category == Category::other || duration < 0) {
    ++state.trace.skipped;
    return;
  }
  const std::int64_t begin = *start;
  const std::int64_t end = begin + std::min<std::int64_t>(duration, kLatestNs / 4);
  const std::int32_t where = narrow(thread);
  switch (category) {
    case Category::kernel:
    case Category::memcpy:
    case Category::memset:
      state.add_work(category, name, begin, end, args);
      if (args.in_elements >= 0) state.add_collective(name, begin, end, where, args);
      return;
    case Category::call:
      if (args.correlation == 0) break;
      state.trace.calls.push_back({begin, end, state.trace.names.id(name),
                                   static_cast<std::uint32_t>(args.correlation), where});
      return;
    case Category::range:
      state.trace.ranges.push_back({begin, end, state.trace.names.id(name), 0, where});
      if (name.starts_with("nccl:")) state.add_collective(name, begin, end, where, args);
      return;
    case Category::op:
      args.correlation = 0;
      if (name == "record_param_comms" || name.starts_with("c10d::")) {
        return state.add_collective(name, begin, end, where, args);
      }
      if (name.starts_with("fbgemm::") && contains(name, "lookup")) {
        return state.add_lookup(name, begin, args);
      }
      break;
    case Category::other:
      break;
  }
  ++state.trace.skipped;
}

void KinetoReader::field(std::string_view name, std::string_view value) {
  State& state = *state_;
  const simdjson::padded_string text(value);
  dom::document document;
  if (state.parser.iterate(text).get(document) != simdjson::SUCCESS) return;
  if (name == "distributedInfo") {
    dom::object object;
    if (document.get_object().get(object) != simdjson::SUCCESS) return;
    for (auto field : object) {
      std::string_view key;
      dom::value inner;
      if (field.unescaped_key().get(key) != simdjson::SUCCESS ||
          field.value().get(inner) != simdjson::SUCCESS) {
        return;
      }
      if (key == "rank") state.trace.rank = narrow(whole_number(inner));
      if (key == "world_size") state.trace.world_size = narrow(whole_number(inner));
    }
  } else if (name == "deviceProperties") {
    dom::array devices;
    if (document.get_array().get(devices) != simdjson::SUCCESS) return;
    for (auto device : devices) {
      std::string_view text_name;
      if (device["name"].get(text_name) == simdjson::SUCCESS) {
        state.trace.device_name = text_name;
        return;
      }
    }
  } else if (name == "baseTimeNanoseconds") {
    std::int64_t base = 0;
    if (document.get_int64().get(base) == simdjson::SUCCESS && base > 0 && base < kLatestNs / 2) {
      state.base_ns = base;
    }
  }
}

/// Times count from the trace's base, which may stand behind the events.
RankTrace KinetoReader::take() {
  RankTrace& trace = state_->trace;
  const auto shift = [&](auto& list) {
    for (auto& one : list) {
      one.start_ns += state_->base_ns;
      if constexpr (requires { one.end_ns; }) one.end_ns += state_->base_ns;
    }
  };
  shift(trace.work);
  shift(trace.calls);
  shift(trace.ranges);
  shift(trace.collectives);
  shift(trace.lookups);
  return std::move(trace);
}

Result<RankTrace> read_kineto(ByteStream& bytes, const std::string& name, ImportNotes& notes) {
  KinetoReader reader(name);
  SplitVisitor visitor;
  visitor.event = [&](std::string_view event, std::int64_t line) {
    reader.event(event, line, notes);
  };
  visitor.field = [&](std::string_view field, std::string_view value) {
    reader.field(field, value);
  };
  const auto counts = split_events(bytes, name, visitor);
  if (!counts) return fail(counts.error());
  if (counts->truncated) {
    notes.warn_at(fmt::format("{}:{}", name, counts->lines + 1),
                  fmt::format("the file ends early; {} events are kept", counts->events),
                  "the end of traceEvents");
  }
  if (counts->oversized > 0) {
    notes.warn_at(
        name, fmt::format("{} events are too large or too deep and left out", counts->oversized),
        "events below 4 MiB and 64 levels");
  }
  return reader.take();
}

}  // namespace shardscope::storage
