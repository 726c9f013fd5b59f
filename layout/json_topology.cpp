#include "layout/json.hpp"
#include "layout/json_parts.hpp"

namespace shardscope {

namespace {

constexpr std::int64_t kMostHosts = 1 << 20;
constexpr std::int64_t kMostGpusPerHost = 1 << 10;

/// {"value", "origin", "source", "date"}, or a bare number: a prior without a source.
void read_quantity(JsonFields& fields, const char* name, Quantity& out) {
  const JsonValue* value = fields.take(name, Need::optional);
  if (value == nullptr) return;
  if (value->object() == nullptr) {
    const auto number = fields.number_of(*value, fields.path_of(name), 0, kMostDouble);
    if (number) out = {*number, Origin::prior, "", ""};
    return;
  }
  JsonFields quantity(fields.errors(), *value, fields.path_of(name));
  quantity.number("value", out.value, Need::required, 0, kMostDouble);
  quantity.choice("origin", out.origin, Need::required);
  quantity.text("source", out.source, Need::optional);
  quantity.text("date", out.date, Need::optional);
  quantity.finish();
}

struct NamedQuantity {
  const char* name;
  Quantity Gpu::*member;
};

constexpr NamedQuantity kGpuQuantities[] = {
    {"memory_bytes", &Gpu::memory_bytes},
    {"memory_bytes_per_s", &Gpu::memory_bytes_per_s},
    {"cache_bytes", &Gpu::cache_bytes},
    {"gemm_flops_per_s", &Gpu::gemm_flops_per_s},
    {"gemm_efficiency", &Gpu::gemm_efficiency},
    {"gather_efficiency", &Gpu::gather_efficiency},
    {"reduce_efficiency", &Gpu::reduce_efficiency},
    {"stream_efficiency", &Gpu::stream_efficiency},
    {"sort_bytes_per_key", &Gpu::sort_bytes_per_key},
    {"launch_s", &Gpu::launch_s},
    {"overlap_cost", &Gpu::overlap_cost},
    {"update_efficiency", &Gpu::update_efficiency},
    {"input_efficiency", &Gpu::input_efficiency},
};

struct NamedLinkQuantity {
  const char* name;
  Quantity LinkModel::*member;
};

constexpr NamedLinkQuantity kLinkQuantities[] = {
    {"latency_s", &LinkModel::latency_s},
    {"latency_per_doubling_s", &LinkModel::latency_per_doubling_s},
    {"bytes_per_s", &LinkModel::bytes_per_s},
    {"efficiency", &LinkModel::efficiency},
};

}  // namespace

void read_gpu(JsonFields& fields, Gpu& out) {
  const JsonValue* value = fields.take("gpu", Need::required);
  if (value == nullptr) return;
  JsonFields gpu(fields.errors(), *value, fields.path_of("gpu"));
  gpu.text("name", out.name, Need::required);
  for (const NamedQuantity& one : kGpuQuantities) read_quantity(gpu, one.name, out.*one.member);
  gpu.finish();
}

void read_link(JsonFields& fields, const char* name, LinkModel& out) {
  const JsonValue* value = fields.take(name, Need::required);
  if (value == nullptr) return;
  JsonFields link(fields.errors(), *value, fields.path_of(name));
  for (const NamedLinkQuantity& one : kLinkQuantities) {
    read_quantity(link, one.name, out.*one.member);
  }
  link.number("sender_share", out.sender_share, Need::optional, 0, 1);
  if (const JsonValue::Array* points = link.list("by_size", Need::optional)) {
    for (std::size_t i = 0; i < points->size() && !fields.errors().any(); ++i) {
      JsonFields point(fields.errors(), (*points)[i], link.item_path("by_size", i));
      BandwidthPoint one;
      point.number("message_bytes", one.message_bytes, Need::required, 0, kMostDouble);
      point.number("bytes_per_s", one.bytes_per_s, Need::required, 0, kMostDouble);
      point.finish();
      out.by_size.push_back(one);
    }
  }
  link.finish();
}

namespace {

JsonValue quantity_value(const Quantity& quantity) {
  JsonValue::Object object{{"value", quantity.value}, {"origin", name_of(quantity.origin)}};
  put_unless(object, "source", quantity.source, std::string());
  put_unless(object, "date", quantity.date, std::string());
  return object;
}

}  // namespace

JsonValue gpu_value(const Gpu& gpu) {
  JsonValue::Object object{{"name", gpu.name}};
  for (const NamedQuantity& one : kGpuQuantities) {
    const Quantity& quantity = gpu.*one.member;
    const bool may_be_absent =
        one.member == &Gpu::update_efficiency || one.member == &Gpu::input_efficiency;
    if (may_be_absent && quantity == Quantity{}) continue;
    object.emplace_back(one.name, quantity_value(quantity));
  }
  return object;
}

JsonValue link_value(const LinkModel& link) {
  JsonValue::Object object;
  for (const NamedLinkQuantity& one : kLinkQuantities) {
    object.emplace_back(one.name, quantity_value(link.*one.member));
  }
  JsonValue::Array points;
  for (const BandwidthPoint& point : link.by_size) {
    points.emplace_back(JsonValue::Object{{"message_bytes", point.message_bytes},
                                          {"bytes_per_s", point.bytes_per_s}});
  }
  if (!points.empty()) object.emplace_back("by_size", std::move(points));
  put_unless(object, "sender_share", link.sender_share, 1.0);
  return object;
}

Result<Topology> topology_from_json(std::string_view text, const std::string& place) {
  const Result<JsonValue> root = parse_json(text, place);
  if (!root) return fail(root.error());
  JsonErrors errors(place);
  JsonFields fields(errors, *root, "");
  Topology topology;
  read_format(fields, "topology", kTopologyVersion);
  fields.text("name", topology.name, Need::required);
  fields.whole("hosts", topology.hosts, Need::required, 1, kMostHosts);
  fields.whole("gpus_per_host", topology.gpus_per_host, Need::required, 1, kMostGpusPerHost);
  fields.whole("fast_domain", topology.fast_domain, Need::required, 1,
               kMostHosts * kMostGpusPerHost);
  read_gpu(fields, topology.gpu);
  read_link(fields, "intra", topology.intra);
  read_link(fields, "inter", topology.inter);
  read_quantity(fields, "host_memory_bytes", topology.host_memory_bytes);
  read_quantity(fields, "reader_bytes_per_s", topology.reader_bytes_per_s);
  fields.whole("reserve_bytes", topology.reserve_bytes, Need::optional, 0, kMostInt64);
  fields.finish();
  if (errors.any()) return fail(errors.first());
  return topology;
}

std::string to_json(const Topology& topology) {
  JsonValue::Object root{{"format", format_name("topology", kTopologyVersion)},
                         {"name", topology.name},
                         {"hosts", topology.hosts},
                         {"gpus_per_host", topology.gpus_per_host},
                         {"fast_domain", topology.fast_domain},
                         {"gpu", gpu_value(topology.gpu)},
                         {"intra", link_value(topology.intra)},
                         {"inter", link_value(topology.inter)},
                         {"host_memory_bytes", quantity_value(topology.host_memory_bytes)},
                         {"reader_bytes_per_s", quantity_value(topology.reader_bytes_per_s)},
                         {"reserve_bytes", topology.reserve_bytes}};
  return write_json(root);
}

}  // namespace shardscope
