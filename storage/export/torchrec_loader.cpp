#include "storage/export/torchrec_loader.hpp"

#include <fmt/format.h>

#include "layout/json_value.hpp"

namespace shardscope::storage {
namespace {

std::string number_list(const std::vector<double>& values) {
  JsonValue::Array items;
  for (const double value : values) items.emplace_back(value);
  return write_json_line(JsonValue(std::move(items)));
}

std::string quoted(const std::string& text) {
  return write_json_line(JsonValue(text));
}

std::string constraint_text(const TorchrecConstraint& one) {
  std::string text = fmt::format(
      "        {}: ParameterConstraints(\n"
      "            sharding_types=[{}],\n"
      "            compute_kernels=[{}],\n",
      quoted(one.table), quoted(one.form), quoted(one.kernel));
  if (one.min_partition > 0) {
    text += fmt::format("            min_partition={},\n", one.min_partition);
  }
  text += fmt::format("            pooling_factors={},\n", number_list(one.pooling_factors));
  text += fmt::format("            num_poolings={},\n", number_list(one.num_poolings));
  if (one.weighted) text += "            is_weighted=True,\n";
  return text + "        ),\n";
}

constexpr const char* kLoaderHead = R"(import json
import pathlib

from torch.distributed._shard.metadata import ShardMetadata
from torch.distributed._shard.sharding_spec import EnumerableShardingSpec
from torchrec.distributed.planner import ParameterConstraints, Topology
from torchrec.distributed.types import (
    EmbeddingModuleShardingPlan,
    ParameterSharding,
    ShardingPlan,
)

)";

constexpr const char* kLoaderPlan = R"(

def _parameter(entry, device):
    shards = [
        ShardMetadata(
            shard_offsets=shard["shard_offsets"],
            shard_sizes=shard["shard_sizes"],
            placement=_placement(shard["placement"], device),
        )
        for shard in entry.get("shards", [])
    ]
    return ParameterSharding(
        sharding_type=entry["sharding_type"],
        compute_kernel=entry["compute_kernel"],
        ranks=entry["ranks"],
        sharding_spec=EnumerableShardingSpec(shards) if shards else None,
    )


def _placement(text, device):
    rank, local = text.split("/")
    return f"{rank}/{device}:{local.split(':')[1]}" if device == "cuda" else f"{rank}/{device}"


def sharding_plan(device="cuda", path=PLAN_FILE):
    """For DistributedModelParallel(model, plan=sharding_plan()); device is "cuda" or "cpu"."""
    modules = json.loads(pathlib.Path(path).read_text())["plan"]
    return ShardingPlan(
        plan={
            module: EmbeddingModuleShardingPlan(
                {table: _parameter(entry, device) for table, entry in tables.items()}
            )
            for module, tables in modules.items()
        }
    )

)";

}  // namespace

std::string torchrec_loader(const Workload& workload, const Topology& topology,
                            const std::vector<TorchrecConstraint>& constraints,
                            const std::string& json_name) {
  std::string text = kLoaderHead;
  text += fmt::format("# Of {} on {}.\nPLAN_FILE = pathlib.Path(__file__).with_name({})\n",
                      quoted(workload.name), quoted(topology.name), quoted(json_name));
  text += kLoaderPlan;
  text +=
      "\ndef constraints():\n"
      "    \"\"\"The forms alone, for TorchRec's own planner, which chooses ranks itself.\"\"\"\n"
      "    return {\n";
  for (const TorchrecConstraint& one : constraints) text += constraint_text(one);
  text += "    }\n";
  text += fmt::format(
      "\n\ndef topology(device=\"cuda\"):\n"
      "    return Topology(\n"
      "        world_size={},\n        local_world_size={},\n        compute_device=device,\n"
      "        hbm_cap={:.0f},\n        hbm_mem_bw={:.0f} / 1000,  # bytes a millisecond\n"
      "        intra_host_bw={:.0f} / 1000,\n        inter_host_bw={:.0f} / 1000,\n    )\n",
      topology.ranks(), topology.gpus_per_host, topology.gpu.memory_bytes.value,
      topology.gpu.memory_bytes_per_s.value, topology.intra.bytes_per_s.value,
      topology.inter.bytes_per_s.value);
  return text;
}

}  // namespace shardscope::storage
