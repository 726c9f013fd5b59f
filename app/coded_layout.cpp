#include "app/coded_layout.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "app/text_table.hpp"
#include "engine/codec/codec_kind.hpp"

namespace shardscope::app {
namespace {

Result<Layout> with_named_codec(const Layout& layout, const Inputs& inputs,
                                const CodecRequest& request) {
  CodecSlot forward{request.codec, request.bound, !request.absolute};
  const auto spec = engine::codec_spec(forward);
  if (!spec) return fail(spec.error());
  if (!engine::holds_bound(spec->kind)) forward.bound = 0;
  const CodecSlot backward{request.backward_codec};
  if (const auto known = engine::codec_spec(backward); !known) return fail(known.error());
  if (inputs.topology.domains() < 2) {
    return fail({ErrorKind::usage, "no vectors cross between fast domains on this machine",
                 "topology " + inputs.topology.name, "two fast domains or more",
                 "Choose a topology of several hosts, for example --topology host-cpu:2x1"});
  }
  return with_one_codec(layout, forward, backward);
}

/// Whether the topology has the hop at all.
bool has_hop(const Topology& topology, LinkClass hop) {
  return hop == LinkClass::inter ? topology.domains() > 1 : topology.fast_domain > 1;
}

/// Of hops that do not exist one is shown if there is no other, for its reason.
bool is_shown(const Topology& topology, LinkClass hop) {
  return has_hop(topology, hop) ||
         (hop == LinkClass::inter && !has_hop(topology, LinkClass::intra));
}

const char* hop_name(LinkClass hop) {
  return hop == LinkClass::inter ? "between domains" : "inside a domain";
}

}  // namespace

Result<CodedLayout> coded_layout(Layout layout, const Inputs& inputs, const CodecRequest& request,
                                 const RunOptions& run) {
  CodedLayout coded;
  coded.layout = std::move(layout);
  if (request.codec.empty()) return coded;
  if (request.codec != "auto") {
    auto named = with_named_codec(coded.layout, inputs, request);
    if (!named) return fail(named.error());
    coded.layout = std::move(*named);
    return coded;
  }
  auto topology = topology_at_wire(inputs.topology, run.wire);
  if (!topology) return fail(topology.error());
  CodecTuning tuning;
  tuning.seed = run.seed;
  tuning.range_policy = run.range_policy;
  auto tuned =
      tune_codecs({inputs.workload, std::move(*topology)}, coded.layout, std::move(tuning));
  if (!tuned) return fail(tuned.error());
  coded.layout = tuned->layout;
  coded.tuned = std::move(*tuned);
  return coded;
}

std::string tuned_codecs_text(const Inputs& inputs, const TunedCodecs& tuned,
                              const Console& console) {
  TextTable table({{"table", Align::left},
                   {"rows"},
                   {"class", Align::left},
                   {"bound"},
                   {"hop", Align::left},
                   {"codec", Align::left},
                   {"why", Align::left}});
  for (std::size_t t = 0; t < tuned.tables.size(); ++t) {
    for (const CodecChoice* choice : {&tuned.between[t], &tuned.inside[t]}) {
      if (!is_shown(inputs.topology, choice->hop)) continue;
      table.row({inputs.workload.tables[t].name, grouped(inputs.workload.tables[t].rows),
                 to_string(tuned.tables[t].bound_class),
                 fmt::format("{:g} %", 100 * tuned.tables[t].bound), hop_name(choice->hop),
                 choice->codec == "raw" ? choice->codec : console.green(choice->codec),
                 choice->reason});
    }
  }
  return table.text();
}

nlohmann::ordered_json choices_json(const Inputs& inputs, const CodedLayout& coded) {
  if (!coded.tuned) return nullptr;
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const auto* choices : {&coded.tuned->between, &coded.tuned->inside}) {
    for (const CodecChoice& choice : *choices) {
      const auto t = static_cast<std::size_t>(choice.table);
      if (!has_hop(inputs.topology, choice.hop)) continue;
      json.push_back({{"table", inputs.workload.tables[t].name},
                      {"hop", choice.hop == LinkClass::inter ? "inter" : "intra"},
                      {"codec", choice.codec},
                      {"bound", choice.codec == "raw" ? 0 : coded.tuned->tables[t].bound},
                      {"speedup", choice.speedup},
                      {"break_even_gb_s", choice.break_even_bytes_per_s / 1e9},
                      {"reason", choice.reason}});
    }
  }
  return json;
}

void print_choices(const Inputs& inputs, const CodedLayout& coded) {
  if (!coded.tuned) return;
  fmt::print("Codecs chosen for this machine's links (--codec auto):\n{}\n",
             tuned_codecs_text(inputs, *coded.tuned, Console::of_stdout()));
}

}  // namespace shardscope::app
