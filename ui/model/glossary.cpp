#include "ui/model/glossary.hpp"

#include <utility>

namespace shardscope::ui {
namespace {

constexpr std::pair<std::string_view, std::string_view> kTerms[] = {
    // Stages.
    {"input_dist", "Ids travel from the rank that read them to the owners of their rows."},
    {"model_forward", "Owners look up rows; RB pools them, UB leaves them single."},
    {"network_forward", "Pooled sums (RB) or unique rows (UB) travel back to the samples' ranks."},
    {"dense_forward", "Bottom MLP, interaction and top MLP of the rank's own samples."},
    {"dense_backward", "Gradients of the MLPs, and those that the embeddings get."},
    {"network_backward", "Gradients of vectors travel to the owners of the rows."},
    {"index_calculation", "Ids are sorted so that gradients of one row stand together."},
    {"local_reduce", "Gradients of one row are summed up."},
    {"allreduce", "Gradients of replicated (DP) tables and of the MLPs are summed over all ranks."},
    {"update", "The optimizer changes weights and its own state."},
    {"launch, wait",
     "Along the path, time in which no step works: launches, latencies, and waiting\n"
     "for a step of the iteration before."},
    // Figures.
    {"iteration", "One step of the slowest rank in steady state."},
    {"throughput", "Global batch / iteration."},
    {"gap",
     "How far the iteration lies above a proven minimum of every layout\n"
     "under the same model: no layout can gain more than this."},
    {"load",
     "A GPU's own embedding work: lookup, wires both ways, reduce, update, 35 % of the sort;\n"
     "no launches, latencies or waiting."},
    {"load imbalance", "The largest load over the mean: 1 is perfect balance."},
    {"memory imbalance", "The fullest GPU over the mean. Uneven is harmless while all fit."},
    {"critical",
     "The GPU that waits least: the others wait for it. It need not have the largest load."},
    {"overlap", "Share of the range in which wires and kernels of a GPU work at the same time."},
    {"busy",
     "Share of the range in which a GPU works, waiting for peers left out; mean of all GPUs."},
    {"largest gap", "The longest time in which a GPU neither works nor waits inside a collective."},
    {"waiting",
     "Time inside a collective before the last peer arrives.\n"
     "Who waits least is the one that others wait for."},
    // Columns of the tables.
    {"rows", "Rows of the table."},
    {"hot", "Ids a sample, over all features that read the table."},
    {"uniq", "Distinct rows / ids of one batch: low where ids repeat, which UB and caches use."},
    {"GiB", "Weights and optimizer state of the whole table."},
    {"cost ms", "Sum of its shards' loads over all GPUs. Bars: square root."},
    {"shards", "Owners: the GPU, a list of GPUs, their count, or × replicas."},
};

}  // namespace

std::string_view explain_term(std::string_view term) {
  for (const auto& [name, words] : kTerms) {
    if (name == term) return words;
  }
  return {};
}

}  // namespace shardscope::ui
