#include "planner/fit.hpp"

#include <algorithm>
#include <cmath>

namespace shardscope {

namespace {

constexpr double kDifference = 1e-4;  ///< of a logarithm, for derivatives
constexpr double kDamping = 1e-3;
constexpr double kSmallestStep = 1e-7;

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

/// Solves a symmetric positive definite system by Cholesky; returns the inverse's diagonal too.
struct Solution {
  Vector x;
  Vector inverse_diagonal;
};

Solution solve(Matrix a, const Vector& b) {
  const std::size_t n = b.size();
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t k = 0; k < j; ++k) a[j][j] -= a[j][k] * a[j][k];
    a[j][j] = std::sqrt(std::max(a[j][j], 1e-300));
    for (std::size_t i = j + 1; i < n; ++i) {
      for (std::size_t k = 0; k < j; ++k) a[i][j] -= a[i][k] * a[j][k];
      a[i][j] /= a[j][j];
    }
  }
  const auto back_substitute = [&](Vector v) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < i; ++k) v[i] -= a[i][k] * v[k];
      v[i] /= a[i][i];
    }
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t k = i + 1; k < n; ++k) v[i] -= a[k][i] * v[k];
      v[i] /= a[i][i];
    }
    return v;
  };
  Solution solution{back_substitute(b), Vector(n)};
  for (std::size_t i = 0; i < n; ++i) {
    Vector unit(n, 0.0);
    unit[i] = 1;
    solution.inverse_diagonal[i] = back_substitute(unit)[i];
  }
  return solution;
}

class MapFit {
 public:
  MapFit(const std::vector<FitParameter>& parameters, const std::vector<FitPoint>& points,
         const FitOptions& options)
      : parameters_(parameters), points_(points), options_(options) {}

  FitResult run() {
    Vector at(parameters_.size(), 0.0);  // ln(value / prior)
    limit(at);
    double cost = cost_at(at, residuals(at));
    double damping = kDamping;
    for (int iteration = 0; iteration < options_.iterations; ++iteration) {
      linearise(at);
      Matrix damped = normal_;
      for (std::size_t i = 0; i < at.size(); ++i) damped[i][i] *= 1 + damping;
      Vector next = at;
      const Vector step = solve(damped, gradient_).x;
      double longest = 0;
      for (std::size_t i = 0; i < at.size(); ++i) {
        next[i] -= step[i];
        longest = std::max(longest, std::abs(step[i]));
      }
      limit(next);
      const double next_cost = cost_at(next, residuals(next));
      if (next_cost <= cost) {
        at = next;
        cost = next_cost;
        damping /= 3;
        if (longest < kSmallestStep) break;
      } else {
        damping *= 5;
        if (damping > 1e8) break;
      }
    }
    return finish(at);
  }

 private:
  [[nodiscard]] Vector values(const Vector& at) const {
    Vector result(at.size());
    for (std::size_t i = 0; i < at.size(); ++i) result[i] = parameters_[i].prior * std::exp(at[i]);
    return result;
  }
  void limit(Vector& at) const {
    for (std::size_t i = 0; i < at.size(); ++i)
      if (parameters_[i].upper > 0)
        at[i] = std::min(at[i], std::log(parameters_[i].upper / parameters_[i].prior));
  }
  [[nodiscard]] Vector residuals(const Vector& at) const {
    const Vector now = values(at);
    Vector result(points_.size(), 0.0);
    for (std::size_t p = 0; p < points_.size(); ++p)
      if (points_[p].weight > 0)
        result[p] = std::log(points_[p].predicted(now) / points_[p].measured);
    return result;
  }
  /// Weight of a residual under Huber's loss, over the noise's variance.
  [[nodiscard]] double weight_of(std::size_t point, double residual) const {
    const double scaled = std::abs(residual) / options_.noise_log_sd;
    const double robust = scaled > options_.robust_limit ? options_.robust_limit / scaled : 1;
    return points_[point].weight * robust / (options_.noise_log_sd * options_.noise_log_sd);
  }
  [[nodiscard]] double cost_at(const Vector& at, const Vector& residual) const {
    double cost = 0;
    for (std::size_t p = 0; p < residual.size(); ++p) {
      const double scaled = std::abs(residual[p]) / options_.noise_log_sd;
      const double limit = options_.robust_limit;
      cost += points_[p].weight *
              (scaled <= limit ? scaled * scaled / 2 : limit * scaled - limit * limit / 2);
    }
    for (std::size_t i = 0; i < at.size(); ++i) {
      const double scaled = at[i] / parameters_[i].log_sd;
      cost += scaled * scaled / 2;
    }
    return cost;
  }
  void linearise(const Vector& at) {
    const std::size_t n = at.size();
    const Vector base = residuals(at);
    Matrix slopes(n);
    for (std::size_t i = 0; i < n; ++i) {
      Vector moved = at;
      moved[i] -= kDifference;  // downwards: an efficiency may stand at its bound
      slopes[i] = residuals(moved);
      for (std::size_t p = 0; p < base.size(); ++p)
        slopes[i][p] = (base[p] - slopes[i][p]) / kDifference;
    }
    normal_.assign(n, Vector(n, 0.0));
    gradient_.assign(n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      const double precision = 1 / (parameters_[i].log_sd * parameters_[i].log_sd);
      normal_[i][i] += precision;
      gradient_[i] += precision * at[i];
      for (std::size_t p = 0; p < base.size(); ++p) {
        const double weight = weight_of(p, base[p]);
        gradient_[i] += weight * slopes[i][p] * base[p];
        for (std::size_t k = 0; k < n; ++k) normal_[i][k] += weight * slopes[i][p] * slopes[k][p];
      }
    }
  }
  FitResult finish(const Vector& at) {
    linearise(at);
    const Solution solution = solve(normal_, gradient_);
    FitResult result;
    result.values = values(at);
    result.log_residuals = residuals(at);
    for (std::size_t i = 0; i < at.size(); ++i) {
      result.log_sd.push_back(std::sqrt(solution.inverse_diagonal[i]));
      const bool at_bound =
          parameters_[i].upper > 0 && result.values[i] >= parameters_[i].upper * (1 - 1e-12);
      result.limited.push_back(at_bound && gradient_[i] < 0);
    }
    return result;
  }

  const std::vector<FitParameter>& parameters_;
  const std::vector<FitPoint>& points_;
  const FitOptions& options_;
  Matrix normal_;
  Vector gradient_;
};

}  // namespace

FitResult fit(const std::vector<FitParameter>& parameters, const std::vector<FitPoint>& points,
              const FitOptions& options) {
  return MapFit(parameters, points, options).run();
}

}  // namespace shardscope
