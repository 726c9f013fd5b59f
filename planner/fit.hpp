#pragma once
// Fits constants of the cost model to measured times: logarithms of constants, log-normal priors,
// a robust loss on logarithms of times. Used by calibration and by the validation against
// published systems.

#include <functional>
#include <string>
#include <vector>

namespace shardscope {

struct FitParameter {
  std::string name;
  double prior = 1;     ///< > 0
  double log_sd = 0.3;  ///< of the prior
  double upper = 0;     ///< largest physical value (1 for an efficiency); 0: none
};

/// Predicted seconds of one measurement for given parameter values (in the parameters' order).
using FitModel = std::function<double(const std::vector<double>&)>;

struct FitPoint {
  double measured = 0;
  double weight = 1;  ///< of repeated measurements of one configuration; 0: left out
  FitModel predicted;
};

struct FitOptions {
  double noise_log_sd = 0.05;  ///< of a measurement around the model
  double robust_limit = 2;     ///< residuals beyond so many noise_log_sd count linearly
  int iterations = 30;
};

struct FitResult {
  std::vector<double> values;
  std::vector<double> log_sd;         ///< posterior, linearised
  std::vector<bool> limited;          ///< the data ask for more than the upper bound
  std::vector<double> log_residuals;  ///< ln(predicted / measured) by point
};

/// Maximum a posteriori. Parameters never leave (0, upper].
[[nodiscard]] FitResult fit(const std::vector<FitParameter>& parameters,
                            const std::vector<FitPoint>& points, const FitOptions& options);

}  // namespace shardscope
