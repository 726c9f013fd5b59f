#include "engine/service/message.hpp"

#include <type_traits>
#include <utility>

#include "engine/service/activity_columns.hpp"
#include "engine/service/columns.hpp"
#include "layout/json_reader.hpp"
#include "layout/json_value.hpp"
#include "layout/names.hpp"

namespace shardscope {

template <>
struct Names<service::JobKind> {
  static constexpr std::array values = {"run", "compare", "train", "calibrate", "plan"};
};
template <>
struct Names<Mode> {
  static constexpr std::array values = {"measured", "emulated", "simulated"};
};
template <>
struct Names<ErrorKind> {
  static constexpr std::array values = {"usage", "infeasible", "runtime"};
};

}  // namespace shardscope

namespace shardscope::service {
namespace {

constexpr std::int64_t kMostRecords = kMaximumFrameBytes / kIterationBytes;

// The name and the fields of every message, in one list that serves writing and reading.

/// A message as the visitor takes it: the writer only looks, so that no record is copied.
template <class Visitor, class Value>
using As = typename Visitor::template Access<Value>;

template <class T>
inline constexpr const char* kTypeName = nullptr;
template <>
constexpr const char* kTypeName<Hello> = "hello";
template <>
constexpr const char* kTypeName<OpenSessionFile> = "open";
template <>
constexpr const char* kTypeName<StartJob> = "start";
template <>
constexpr const char* kTypeName<ApplyLayout> = "apply";
template <>
constexpr const char* kTypeName<CancelJob> = "cancel";
template <>
constexpr const char* kTypeName<PauseJob> = "pause";
template <>
constexpr const char* kTypeName<Query> = "query";
template <>
constexpr const char* kTypeName<Edit> = "edit";
template <>
constexpr const char* kTypeName<Reply> = "reply";
template <>
constexpr const char* kTypeName<Failure> = "error";
template <>
constexpr const char* kTypeName<JobProgress> = "progress";
template <>
constexpr const char* kTypeName<RunBegun> = "run_begun";
template <>
constexpr const char* kTypeName<Samples> = "samples";
template <>
constexpr const char* kTypeName<SamplesDropped> = "samples_dropped";
template <>
constexpr const char* kTypeName<CurveSample> = "curve_sample";
template <>
constexpr const char* kTypeName<BeginRun> = "begin_run";
template <>
constexpr const char* kTypeName<RecordSpans> = "spans";
template <>
constexpr const char* kTypeName<RecordIterations> = "iterations";
template <>
constexpr const char* kTypeName<RecordActivities> = "activities";
template <>
constexpr const char* kTypeName<RecordDropped> = "dropped";
template <>
constexpr const char* kTypeName<EndRun> = "end_run";
template <>
constexpr const char* kTypeName<RecordResult> = "result";

template <class Visitor>
void fields(Visitor& visit, As<Visitor, Hello>& message) {
  visit.whole("protocol", message.protocol, 0);
  visit.text("program", message.program);
}

template <class Visitor>
void fields(Visitor& visit, As<Visitor, OpenSessionFile>& message) {
  visit.text("path", message.path);
}

template <class Visitor>
void fields(Visitor& visit, As<Visitor, JobSettings>& settings) {
  visit.text("backend", settings.backend);
  visit.text("comm", settings.comm);
  visit.text("wire", settings.wire);
  visit.optional_text("dense_math", settings.dense_math);
  visit.option("graphs", settings.graphs);
  visit.text("schedule", settings.schedule);
  visit.text("range_policy", settings.range_policy);
  visit.seed("seed", settings.seed);
  visit.whole("iterations", settings.iterations, 0);
  visit.number("budget_s", settings.budget_s);
  visit.number("target", settings.target);
  visit.whole("evaluate_every", settings.evaluate_every, 0);
  visit.option("gpu_trace", settings.gpu_trace);
  visit.optional_text("parts", settings.parts);
  visit.optional_text("planner", settings.planner);
  visit.optional_text("executor", settings.executor);
  visit.optional_text("rules", settings.rules);
  visit.optional_text("pinned", settings.pinned);
}

template <class Visitor>
void fields(Visitor& visit, As<Visitor, StartJob>& message) {
  visit.choice("kind", message.kind);
  visit.text("workload", message.workload_json);
  visit.text("topology", message.topology_json);
  visit.texts("layouts", message.layout_jsons);
  visit.object("settings", message.settings);
}

template <class Visitor>
void fields(Visitor& visit, As<Visitor, ApplyLayout>& message) {
  visit.whole("job", message.job, 1);
  visit.text("layout", message.layout_json);
}

template <class Visitor>
void fields(Visitor& visit, As<Visitor, CancelJob>& message) {
  visit.whole("job", message.job, 1);
}

template <class Visitor>
void fields(Visitor& visit, As<Visitor, PauseJob>& message) {
  visit.whole("job", message.job, 1);
  visit.flag("paused", message.paused);
}

template <class Visitor>
void fields(Visitor& visit, As<Visitor, Query>& message) {
  visit.text("what", message.what);
  visit.whole("row", message.row, 0);
}

template <class Visitor>
void fields(Visitor& visit, As<Visitor, Edit>& message) {
  visit.text("what", message.what);
  visit.whole("row", message.row, 0);
  visit.text("workload", message.workload_json);
  visit.text("topology", message.topology_json);
  visit.text("layout", message.layout_json);
  visit.text("text", message.text);
}

template <class Visitor>
void fields(Visitor& visit, As<Visitor, Reply>& message) {
  visit.text("result", message.result_json);
}

template <class Visitor>
void fields(Visitor& visit, As<Visitor, Error>& error) {
  visit.choice("kind", error.kind);
  visit.text("what", error.what);
  visit.text("place", error.place);
  visit.text("expected", error.expected);
  visit.text("cure", error.cure);
}

template <class Visitor>
void fields(Visitor& visit, As<Visitor, Failure>& message) {
  visit.object("error", message.error);
}

template <class Visitor>
void fields(Visitor& visit, As<Visitor, JobProgress>& message) {
  visit.number("share", message.share);
  visit.text("detail", message.detail);
  visit.optional_number("best_s", message.best_s);
}

template <class Visitor>
void fields(Visitor& visit, As<Visitor, RunBegun>& message) {
  visit.whole("run", message.run, 1);
  visit.whole("side", message.side, 0);
  visit.text("mode", message.mode);
}

template <class Visitor>
void fields(Visitor& visit, As<Visitor, Samples>& message) {
  visit.whole("run", message.run, 1);
  visit.columns("count", message.iterations);
}

template <class Visitor>
void fields(Visitor& visit, As<Visitor, SamplesDropped>& message) {
  visit.whole("iterations", message.iterations, 0);
}

template <class Visitor>
void fields(Visitor& visit, As<Visitor, CurveSample>& message) {
  visit.whole("run", message.run, 1);
  visit.text("split", message.split);
  visit.whole("iteration", message.iteration, 0);
  visit.whole("samples", message.samples, 0);
  visit.number("loss", message.loss);
  visit.number("auc", message.auc);
}

template <class Visitor>
void fields(Visitor& visit, As<Visitor, GpuInfo>& gpu) {
  visit.whole("id", gpu.id, 0);
  visit.text("name", gpu.name);
  visit.text("uuid", gpu.uuid);
  visit.text("bus", gpu.bus);
  visit.whole("memory_bytes", gpu.memory_bytes, 0);
  visit.whole("memory_bytes_per_s", gpu.memory_bytes_per_s, 0);
  visit.whole("l2_bytes", gpu.l2_bytes, 0);
  visit.whole("clock_hz", gpu.clock_hz, 0);
  visit.whole("multiprocessors", gpu.multiprocessors, 0);
  visit.whole("compute_major", gpu.compute_major, 0);
  visit.whole("compute_minor", gpu.compute_minor, 0);
}

template <class Visitor>
void fields(Visitor& visit, As<Visitor, RunInfo>& info) {
  visit.text("label", info.label);
  visit.choice("mode", info.mode);
  visit.choice("executor", info.executor);
  visit.text("backend", info.backend);
  visit.text("comm", info.comm);
  visit.text("wire", info.wire);
  visit.text("schedule", info.schedule);
  visit.text("workload", info.workload_json);
  visit.text("topology", info.topology_json);
  visit.text("layout", info.layout_json);
  visit.text("environment", info.environment_json);
  visit.seed("seed", info.seed);
  visit.whole("global_batch", info.global_batch, 0);
  visit.whole("rows_cap", info.rows_cap, 0);
  visit.whole("ranks", info.ranks, 0);
  visit.whole("epoch_ns", info.epoch_ns, 0);
  visit.objects("gpus", info.gpus);
}

template <class Visitor>
void fields(Visitor& visit, As<Visitor, BeginRun>& message) {
  visit.object("info", message.info);
}

template <class Visitor>
void fields(Visitor& visit, As<Visitor, RecordSpans>& message) {
  visit.whole("run", message.run, 1);
  visit.columns("count", message.spans);
}

template <class Visitor>
void fields(Visitor& visit, As<Visitor, RecordIterations>& message) {
  visit.whole("run", message.run, 1);
  visit.columns("count", message.iterations);
}

template <class Visitor>
void fields(Visitor& visit, As<Visitor, RecordActivities>& message) {
  visit.whole("run", message.run, 1);
  visit.named_columns("count", "names", message.activities);
}

template <class Visitor>
void fields(Visitor& visit, As<Visitor, RecordDropped>& message) {
  visit.whole("run", message.run, 1);
  visit.whole("records", message.records, 0);
}

template <class Visitor>
void fields(Visitor& visit, As<Visitor, RunSummary>& summary) {
  visit.number("samples_per_s", summary.samples_per_s);
  visit.number("iteration_ms", summary.iteration_ms);
  visit.number("critical_path_ms", summary.critical_path_ms);
  visit.number("tracing_overhead", summary.tracing_overhead);
  visit.flag("complete", summary.complete);
  visit.text("message", summary.message);
}

template <class Visitor>
void fields(Visitor& visit, As<Visitor, EndRun>& message) {
  visit.whole("run", message.run, 1);
  visit.object("summary", message.summary);
}

template <class Visitor>
void fields(Visitor& visit, As<Visitor, RecordResult>& message) {
  visit.text("what", message.what);
  visit.text("json", message.json);
}

/// Writes the fields of one object.
class Writer {
 public:
  template <class Value>
  using Access = const Value;

  explicit Writer(std::string& tail) : tail_(tail) {}

  template <class Int>
  void whole(const char* name, const Int& value, std::int64_t) {
    object_.emplace_back(name, static_cast<std::int64_t>(value));
  }
  void number(const char* name, double value) { object_.emplace_back(name, value); }
  void text(const char* name, const std::string& value) { object_.emplace_back(name, value); }
  void flag(const char* name, bool value) { object_.emplace_back(name, value); }
  void option(const char* name, bool value) { object_.emplace_back(name, value); }
  void optional_text(const char* name, const std::string& value) { text(name, value); }
  void optional_number(const char* name, double value) { number(name, value); }
  void seed(const char* name, std::uint64_t value) {
    object_.emplace_back(name, std::to_string(value));
  }
  template <class E>
  void choice(const char* name, E value) {
    object_.emplace_back(name, name_of(value));
  }
  void texts(const char* name, const std::vector<std::string>& values) {
    object_.emplace_back(name, JsonValue::Array(values.begin(), values.end()));
  }
  template <class Object>
  void object(const char* name, const Object& value) {
    Writer inner(tail_);
    fields(inner, value);
    object_.emplace_back(name, inner.take());
  }
  template <class Record>
  void columns(const char* name, const std::vector<Record>& records) {
    object_.emplace_back(name, static_cast<std::int64_t>(records.size()));
    tail_ = columns_of(records);
  }
  void named_columns(const char* name, const char* names_field,
                     const std::vector<ActivityRecord>& records) {
    std::vector<std::string> names;
    tail_ = columns_of(records, names);
    object_.emplace_back(name, static_cast<std::int64_t>(records.size()));
    texts(names_field, names);
  }
  template <class Object>
  void objects(const char* name, const std::vector<Object>& values) {
    JsonValue::Array list;
    for (const Object& value : values) {
      Writer inner(tail_);
      fields(inner, value);
      list.emplace_back(inner.take());
    }
    object_.emplace_back(name, std::move(list));
  }

  [[nodiscard]] JsonValue::Object take() { return std::move(object_); }

 private:
  std::string& tail_;
  JsonValue::Object object_;
};

/// Reads the fields of one object; all are required but what says otherwise.
class Reader {
 public:
  template <class Value>
  using Access = Value;

  Reader(JsonFields& json, const std::string& tail, bool& tail_used)
      : json_(json), tail_(tail), tail_used_(tail_used) {}

  template <class Int>
  void whole(const char* name, Int& value, std::int64_t low) {
    json_.whole(name, value, Need::required, low,
                std::is_same_v<Int, std::int32_t> ? kMostInt32 : kMostInt64);
  }
  void number(const char* name, double& value) { json_.number_or_nan(name, value); }
  void text(const char* name, std::string& value) { json_.text(name, value, Need::required); }
  void flag(const char* name, bool& value) {
    if (!json_.has(name)) json_.errors().add(json_.path_of(name), "is missing", "true or false");
    json_.flag(name, value);
  }
  /// May be missing: then false.
  void option(const char* name, bool& value) { json_.flag(name, value); }
  /// May be missing: then as it was.
  void optional_text(const char* name, std::string& value) {
    json_.text(name, value, Need::optional);
  }
  void optional_number(const char* name, double& value) {
    if (json_.has(name)) json_.number_or_nan(name, value);
  }
  void seed(const char* name, std::uint64_t& value) {
    std::string digits;
    json_.text(name, digits, Need::required);
    if (json_.errors().any()) return;
    std::uint64_t number = 0;
    bool valid = !digits.empty() && digits.size() <= 20;
    for (const char digit : digits) {
      const std::uint64_t next = number * 10 + static_cast<std::uint64_t>(digit - '0');
      valid = valid && digit >= '0' && digit <= '9' && next / 10 == number;
      number = next;
    }
    if (!valid) {
      json_.errors().add(json_.path_of(name), "\"" + digits + "\" is no seed",
                         "a whole number from 0 to 18446744073709551615 as text");
    }
    value = number;
  }
  template <class E>
  void choice(const char* name, E& value) {
    json_.choice(name, value, Need::required);
  }
  void texts(const char* name, std::vector<std::string>& values) {
    const JsonValue::Array* items = json_.list(name, Need::required);
    if (items == nullptr) return;
    for (std::size_t i = 0; i < items->size(); ++i) {
      if (const std::string* item = (*items)[i].text()) {
        values.push_back(*item);
      } else {
        json_.errors().add(json_.item_path(name, i), std::string("is ") + (*items)[i].kind(),
                           "a text");
      }
    }
  }
  template <class Object>
  void object(const char* name, Object& value) {
    const JsonValue* inner = json_.take(name, Need::required);
    if (inner != nullptr) object_at(json_.path_of(name), *inner, value);
  }
  /// May be missing: then none.
  template <class Object>
  void objects(const char* name, std::vector<Object>& values) {
    const JsonValue::Array* items = json_.list(name, Need::optional);
    if (items == nullptr) return;
    for (std::size_t i = 0; i < items->size() && !json_.errors().any(); ++i) {
      object_at(json_.item_path(name, i), (*items)[i], values.emplace_back());
    }
  }
  void named_columns(const char* name, const char* names_field,
                     std::vector<ActivityRecord>& records) {
    std::vector<std::string> names;
    texts(names_field, names);
    columns_with(name, records, [&](const std::string& tail, std::size_t count) {
      return activities_of(tail, count, names);
    });
  }
  void columns(const char* name, std::vector<Span>& records) {
    columns_with(name, records, spans_of);
  }
  void columns(const char* name, std::vector<Iteration>& records) {
    columns_with(name, records, iterations_of);
  }

 private:
  template <class Object>
  void object_at(const std::string& path, const JsonValue& from, Object& value) {
    if (from.object() == nullptr) {
      json_.errors().add(path, std::string("is ") + from.kind(), "an object");
      return;
    }
    JsonFields inner_fields(json_.errors(), from, path);
    Reader reader(inner_fields, tail_, tail_used_);
    fields(reader, value);
    inner_fields.finish();
  }
  template <class Record, class Read>
  void columns_with(const char* name, std::vector<Record>& records, Read read) {
    tail_used_ = true;
    std::int64_t count = 0;
    json_.whole(name, count, Need::required, 0, kMostRecords);
    if (json_.errors().any()) return;
    auto result = read(tail_, static_cast<std::size_t>(count));
    if (result) {
      records = std::move(*result);
    } else {
      json_.errors().add(json_.path_of(name), result.error().what, result.error().expected);
    }
  }

  JsonFields& json_;
  const std::string& tail_;
  bool& tail_used_;
};

template <class T>
Result<Message> read_as(const JsonValue& root, const std::string& tail) {
  JsonErrors errors(std::string("message ") + kTypeName<T>);
  T message;
  JsonFields json(errors, root, "");
  json.ignore("type");
  json.whole("id", message.id, Need::required, 0, kMostInt64);
  bool tail_used = false;
  Reader reader(json, tail, tail_used);
  fields(reader, message);
  json.finish();
  if (!tail_used && !tail.empty()) {
    errors.add("", "has a binary tail of " + std::to_string(tail.size()) + " bytes", "none");
  }
  if (errors.any()) return fail(errors.first());
  return Message(std::move(message));
}

/// The alternative of the variant whose name is `type`.
template <std::size_t Index = 0>
Result<Message> read_type(const std::string& type, const JsonValue& root, const std::string& tail) {
  if constexpr (Index == std::variant_size_v<Message>) {
    return fail({ErrorKind::usage, "there is no message \"" + type + "\"", "protocol",
                 "a type that docs/protocol.md lists", ""});
  } else {
    using Alternative = std::variant_alternative_t<Index, Message>;
    if (type == kTypeName<Alternative>) return read_as<Alternative>(root, tail);
    return read_type<Index + 1>(type, root, tail);
  }
}

}  // namespace

std::int64_t id_of(const Message& message) {
  return std::visit([](const auto& one) { return one.id; }, message);
}

Frame frame_of(const Message& message) {
  Frame frame;
  std::visit(
      [&](const auto& one) {
        Writer writer(frame.tail);
        writer.text("type", kTypeName<std::decay_t<decltype(one)>>);
        writer.whole("id", one.id, 0);
        fields(writer, one);
        frame.json = write_json_line(JsonValue(writer.take()));
      },
      message);
  return frame;
}

Result<Message> message_of(const Frame& frame) {
  const Result<JsonValue> root = parse_json(frame.json, "protocol");
  if (!root) return fail(root.error());
  const JsonValue* type = root->find("type");
  if (type == nullptr || type->text() == nullptr) {
    return fail({ErrorKind::usage, "a message without a type", "protocol",
                 "an object with \"type\" and \"id\"", ""});
  }
  return read_type(*type->text(), *root, frame.tail);
}

std::int64_t id_of_refused(const Frame& frame) {
  const Result<JsonValue> root = parse_json(frame.json, "protocol");
  if (!root) return 0;
  const JsonValue* id = root->find("id");
  if (id == nullptr) return 0;
  const std::int64_t* number = std::get_if<std::int64_t>(&id->data);
  return number != nullptr && *number > 0 ? *number : 0;
}

}  // namespace shardscope::service
