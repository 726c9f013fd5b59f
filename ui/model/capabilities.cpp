#include "ui/model/capabilities.hpp"

#include <initializer_list>
#include <nlohmann/json.hpp>

namespace shardscope::ui {
namespace {

using Json = nlohmann::json;

std::string text_of(const Json& object, const char* name) {
  const auto at = object.find(name);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

/// The first of these that is not there, in the doctor's words.
std::string first_missing(const EngineMachine& machine,
                          std::initializer_list<std::string_view> needed) {
  if (!machine.known) return "The engine has not said yet what its machine can do.";
  for (const std::string_view name : needed) {
    const EngineCapability* found = nullptr;
    for (const EngineCapability& one : machine.capabilities) {
      if (one.name == name) found = &one;
    }
    if (found == nullptr) return std::string(name) + ": the engine says nothing of it.";
    if (found->available) continue;
    return found->name + ": " + found->finding + (found->help.empty() ? "" : "\n" + found->help);
  }
  return {};
}

}  // namespace

Result<EngineMachine> engine_machine(const std::string& text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto list = json.is_object() ? json.find("capabilities") : json.end();
  if (!json.is_object() || list == json.end() || !list->is_array()) {
    return fail({ErrorKind::runtime, "the engine's machine cannot be read", "query machine",
                 "what 'shardscope doctor --json' prints", ""});
  }
  EngineMachine machine;
  machine.known = true;
  if (const auto facts = json.find("machine"); facts != json.end() && facts->is_object()) {
    machine.host = text_of(*facts, "host");
    machine.cpu = text_of(*facts, "cpu");
    const auto cores = facts->find("cores");
    if (cores != facts->end() && cores->is_number_integer()) machine.cores = cores->get<int>();
  }
  for (const Json& one : *list) {
    if (!one.is_object()) continue;
    machine.capabilities.push_back({text_of(one, "name"), text_of(one, "available") != "no",
                                    text_of(one, "finding"), text_of(one, "help")});
  }
  return machine;
}

std::string backend_refusal(const EngineMachine& machine, std::string_view backend) {
  if (backend != "cuda") return {};
  return first_missing(machine, {"CUDA plugin", "GPU"});
}

std::string comm_refusal(const EngineMachine& machine, std::string_view backend,
                         std::string_view comm) {
  if (backend != "cuda") return comm == "nccl" ? "NCCL connects GPUs, not CPU ranks." : "";
  if (comm == "threads") return "threads connects CPU ranks, not GPUs.";
  if (comm == "nccl") return first_missing(machine, {"NCCL", "several GPUs"});
  return {};
}

std::string dense_math_refusal(const EngineMachine& machine, std::string_view dense_math) {
  if (dense_math == "host") return {};
  return first_missing(machine, {"cuBLAS"});
}

}  // namespace shardscope::ui
