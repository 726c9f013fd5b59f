#include "storage/import/kineto/kineto_json.hpp"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "storage/import/kineto/event_splitter.hpp"
#include "storage/import/kineto/kineto_records.hpp"

namespace shardscope::storage {
namespace {

namespace dom = simdjson::ondemand;

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

void read_triple(dom::value value, std::array<std::int32_t, 3>& out) {
  dom::array items;
  if (value.get(items) != simdjson::SUCCESS) return;
  std::size_t i = 0;
  for (auto item : items) {
    dom::value one;
    if (i >= out.size() || item.get(one) != simdjson::SUCCESS) return;
    out[i++] = narrowed(whole_number(one));
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

struct WholeField {
  std::string_view key;
  std::int64_t KinetoArgs::*value;
};

constexpr WholeField kWholeFields[] = {{"stream", &KinetoArgs::stream},
                                       {"device", &KinetoArgs::device},
                                       {"context", &KinetoArgs::context},
                                       {"correlation", &KinetoArgs::correlation},
                                       {"bytes", &KinetoArgs::bytes},
                                       {"registers per thread", &KinetoArgs::registers},
                                       {"shared memory", &KinetoArgs::shared},
                                       {"In msg nelems", &KinetoArgs::in_elements},
                                       {"Out msg nelems", &KinetoArgs::out_elements},
                                       {"Group size", &KinetoArgs::group_size}};

bool read_whole(std::string_view key, dom::value value, KinetoArgs& out) {
  for (const WholeField& field : kWholeFields) {
    if (key != field.key) continue;
    out.*field.value = whole_number(value);
    return true;
  }
  return false;
}

void read_args(dom::object args, KinetoArgs& out) {
  for (auto field : args) {
    std::string_view key;
    dom::value value;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return;
    if (field.value().get(value) != simdjson::SUCCESS) return;
    if (read_whole(key, value, out)) continue;
    if (key == "In split size")
      out.in_splits = read_numbers(value);
    else if (key == "Process Group Ranks")
      out.group_ranks = read_numbers(value);
    else if (key == "grid")
      read_triple(value, out.grid);
    else if (key == "block")
      read_triple(value, out.block);
    else if (key == "Input Dims")
      read_dims(value, out.dims);
    else if (key == "Input type")
      read_types(value, out.types);
    else if (key == "dtype") {
      std::string_view text;
      if (value.get(text) == simdjson::SUCCESS) out.dtype = text;
    }
  }
}

void read_distributed(dom::document& document, KinetoHead& out) {
  dom::object object;
  if (document.get_object().get(object) != simdjson::SUCCESS) return;
  for (auto field : object) {
    std::string_view key;
    dom::value inner;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS ||
        field.value().get(inner) != simdjson::SUCCESS) {
      return;
    }
    if (key == "rank") out.rank = narrowed(whole_number(inner));
    if (key == "world_size") out.world_size = narrowed(whole_number(inner));
  }
}

void read_devices(dom::document& document, KinetoHead& out) {
  constexpr std::int32_t kMostDevices = 4096;
  dom::array devices;
  if (document.get_array().get(devices) != simdjson::SUCCESS) return;
  for (auto device : devices) {
    std::string_view name;
    if (device["name"].get(name) != simdjson::SUCCESS) return;
    if (out.device_name.empty()) out.device_name = name;
    if (out.devices < kMostDevices) ++out.devices;
  }
}

}  // namespace

struct KinetoJson::Parser {
  simdjson::ondemand::parser json;
};

KinetoJson::KinetoJson() : parser_(std::make_unique<Parser>()) {}
KinetoJson::~KinetoJson() = default;

bool KinetoJson::event(std::string_view text, KinetoEvent& out) {
  simdjson::padded_string_view padded(text.data(), text.size(), text.size() + kEventPadding);
  dom::document document;
  dom::object object;
  if (parser_->json.iterate(padded).get(document) != simdjson::SUCCESS ||
      document.get_object().get(object) != simdjson::SUCCESS) {
    return false;
  }
  for (auto field : object) {
    std::string_view key;
    dom::value value;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS ||
        field.value().get(value) != simdjson::SUCCESS) {
      return false;
    }
    std::string_view word;
    if (key == "ph" && value.get(word) == simdjson::SUCCESS)
      out.phase = word;
    else if (key == "cat" && value.get(word) == simdjson::SUCCESS)
      out.category = word;
    else if (key == "name" && value.get(word) == simdjson::SUCCESS)
      out.name = word;
    else if (key == "ts")
      out.start_ns = kineto_ns(value.raw_json_token());
    else if (key == "dur")
      out.duration_ns = kineto_ns(value.raw_json_token()).value_or(0);
    else if (key == "tid")
      out.thread = whole_number(value);
    else if (key == "args") {
      dom::object inner;
      const bool wanted =
          out.category.empty() || kineto_category(out.category) != KinetoCategory::other;
      if (wanted && value.get(inner) == simdjson::SUCCESS) read_args(inner, out.args);
    }
  }
  return true;
}

void KinetoJson::field(std::string_view name, std::string_view value, KinetoHead& out) {
  const simdjson::padded_string text(value);
  dom::document document;
  if (parser_->json.iterate(text).get(document) != simdjson::SUCCESS) return;
  if (name == "distributedInfo") {
    read_distributed(document, out);
  } else if (name == "deviceProperties") {
    read_devices(document, out);
  } else if (name == "baseTimeNanoseconds") {
    std::int64_t base = 0;
    if (document.get_int64().get(base) == simdjson::SUCCESS && base > 0 && base < kLatestTraceNs) {
      out.base_ns = base;
    }
  }
}

}  // namespace shardscope::storage
