#pragma once
// What a step of training means, on one rank, written to be read: the law that every layout is
// compared with. Values are computed in double; beside each stands how far a correct fp32 engine
// may be from it.

#include <cstdint>
#include <vector>

#include "engine/batches/batch.hpp"
#include "engine/pipeline/initial_weights.hpp"
#include "layout/workload.hpp"

namespace shardscope::engine {

/// A value and the error bound of an fp32 engine: 4 n eps sum|x_i| of its sum, roundings of the
/// wire, and what its inputs' own bounds make of it.
struct Near {
  double value = 0;
  double error = 0;
  double terms = 0;      ///< n
  double magnitude = 0;  ///< sum |x_i|
};

/// Gradients of the loss by feature: rows x dim, rows as in the forward output.
using Gradients = std::vector<std::vector<float>>;

struct ReferenceOptions {
  std::uint64_t seed = 0;
  InitialWeights initial = InitialWeights::uniform;
  double loss_scale = 1;
};

class Reference {
 public:
  Reference(const Workload& workload, const ReferenceOptions& options);

  /// One iteration (counted from 0) on a whole global batch.
  void step(std::int64_t iteration, const RankBatch& batch, const Gradients& gradients);

  /// Forward output of a feature before the last step's update: rows x dim.
  [[nodiscard]] const std::vector<Near>& output(std::size_t feature) const {
    return outputs_[feature];
  }
  /// rows x dim.
  [[nodiscard]] const std::vector<Near>& weights(std::size_t table) const {
    return weights_[table];
  }

 private:
  void forward(std::size_t feature, const FeatureBatch& input);
  void accumulate(std::size_t feature, const FeatureBatch& input,
                  const std::vector<float>& gradient, std::vector<Near>& sums,
                  std::vector<bool>& touched) const;
  void update_row(std::size_t table, std::int64_t row, const std::vector<Near>& sums,
                  std::int64_t step);
  [[nodiscard]] Near update_element(std::size_t table, std::size_t at, const Near& gradient,
                                    const Near& row_state, std::int64_t step);
  void store(std::size_t table, std::int64_t row, std::int32_t column, const Near& weight,
             std::int64_t step);
  void add_wire_error(Near& sum, double scale) const;

  Workload workload_;
  ReferenceOptions options_;
  std::vector<std::vector<Near>> outputs_;
  std::vector<std::vector<Near>> weights_;
  std::vector<std::vector<Near>> first_state_;   ///< adagrad: sum g^2; adam: m; by element
  std::vector<std::vector<Near>> second_state_;  ///< adam: v
  std::vector<std::vector<Near>> row_state_;     ///< rowwise adagrad
};

}  // namespace shardscope::engine
