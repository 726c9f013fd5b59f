#include "app/command_line_parts.hpp"

#include "app/values.hpp"

namespace shardscope::app {

void add_json(CLI::App& command, bool& json) {
  command.add_flag("--json", json, "Print JSON on stdout and nothing else there");
}

void add_inputs(CLI::App& command, InputOptions& options) {
  command
      .add_option(
          "--workload", options.workload,
          "Model: a name of 'shardscope models', a JSON file, or a recorded stream (Criteo, "
          "headed CSV, slot:id lines, sequences)")
      ->type_name("NAME|FILE")
      ->required();
  command
      .add_option("--topology", options.topology,
                  "Machine: NAME[:NODES[xGPUS]] of 'shardscope topologies' (dgx-h100:16, "
                  "h100-pcie:1x4) or a JSON file; default host-cpu, one host")
      ->type_name("NAME|FILE");
  command
      .add_option("--ranks", options.ranks,
                  "Ranks of the topology, as a check; without --topology: ranks on this host")
      ->check(positive())
      ->type_name("N");
  command.add_option("--batch", options.batch, "Global batch, samples; default the model's")
      ->check(positive())
      ->type_name("N");
  command
      .add_option("--rows-cap", options.rows_cap,
                  "Shrink every table to at most N rows (ids modulo rows); shown beside results")
      ->check(positive())
      ->type_name("N");
  command
      .add_option(
          "--reuse", options.reuse,
          "Draw ids so that rows repeat as in this file of reuse histograms (dlrm_datasets); "
          "#BATCH: number from 1 or name of its batch")
      ->type_name("FILE[#BATCH]");
}

void add_no_dense(CLI::App& command, bool& no_dense) {
  command.add_flag("--no-dense", no_dense,
                   "Embeddings alone: leave out the dense part, which weighs far more on CPUs than "
                   "on GPUs");
}

void add_layout(CLI::App& command, std::string& layout) {
  command
      .add_option("--layout", layout,
                  "A planner's name ('shardscope plan --help' lists them: table_row_wise, uniform, "
                  "optimize, ...) or a JSON file")
      ->type_name("NAME|FILE")
      ->capture_default_str();
}

void add_seed(CLI::App& command, std::uint64_t& seed, const char* of) {
  command.add_option("--seed", into(seed, parse_seed), std::string("Seed of ") + of)
      ->type_name("N")
      ->default_str("1");
}

void add_range_policy(CLI::App& command, engine::RangePolicy& policy) {
  command
      .add_option("--range-policy", into(policy, parse_range_policy),
                  "Ids outside their table: wrap (modulo rows, counted) or error")
      ->type_name("error|wrap")
      ->default_str("wrap");
}

}  // namespace shardscope::app
