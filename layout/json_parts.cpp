#include "layout/json_parts.hpp"

#include <fmt/core.h>

#include "layout/closest.hpp"

namespace shardscope {

namespace {

constexpr std::int64_t kMostStateWords = 1024;

/// "adagrad", or "adagrad (what a person added)".
void read_optimizer_name(JsonFields& fields, const char* name, const std::string& text,
                         Optimizer& out) {
  const std::string word = text.substr(0, text.find_first_of(" ("));
  if (const auto kind = parse_name<OptimizerKind>(word)) {
    out = make_optimizer(*kind);
  } else {
    const auto& kinds = Names<OptimizerKind>::values;
    fields.errors().add(fields.path_of(name), "\"" + text + "\" is unknown",
                        choices_of<OptimizerKind>(),
                        did_you_mean(word, {kinds.begin(), kinds.end()}));
  }
}

}  // namespace

std::string format_name(const char* name, int version) {
  return fmt::format("shardscope.{}/{}", name, version);
}

JsonValue::Array number_array(const std::vector<double>& values) {
  JsonValue::Array array;
  array.reserve(values.size());
  for (const double value : values) array.emplace_back(value);
  return array;
}

void read_optimizer(JsonFields& fields, const char* name, Optimizer& out) {
  const JsonValue* value = fields.take(name, Need::optional);
  if (value == nullptr) return;
  if (const std::string* text = value->text()) return read_optimizer_name(fields, name, *text, out);
  JsonFields optimizer(fields.errors(), *value, fields.path_of(name));
  OptimizerKind kind = OptimizerKind::sgd;
  optimizer.choice("kind", kind, Need::required);
  out = make_optimizer(kind);
  optimizer.whole("words_per_element", out.words_per_element, Need::optional, 0, kMostStateWords);
  optimizer.whole("words_per_row", out.words_per_row, Need::optional, 0, kMostStateWords);
  optimizer.number("learning_rate", out.learning_rate, Need::optional, 0, kMostDouble);
  optimizer.number("epsilon", out.epsilon, Need::optional, 0, kMostDouble);
  optimizer.number("beta1", out.beta1, Need::optional, 0, 1);
  optimizer.number("beta2", out.beta2, Need::optional, 0, 1);
  optimizer.flag("per_shard", out.per_shard);
  optimizer.finish();
}

JsonValue optimizer_value(const Optimizer& optimizer) {
  const Optimizer usual = make_optimizer(optimizer.kind);
  JsonValue::Object object{{"kind", name_of(optimizer.kind)}};
  put_unless(object, "words_per_element", optimizer.words_per_element, usual.words_per_element);
  put_unless(object, "words_per_row", optimizer.words_per_row, usual.words_per_row);
  put_unless(object, "learning_rate", optimizer.learning_rate, usual.learning_rate);
  put_unless(object, "epsilon", optimizer.epsilon, usual.epsilon);
  put_unless(object, "beta1", optimizer.beta1, usual.beta1);
  put_unless(object, "beta2", optimizer.beta2, usual.beta2);
  put_unless(object, "per_shard", optimizer.per_shard, false);
  if (object.size() == 1) return name_of(optimizer.kind);
  return object;
}

}  // namespace shardscope
