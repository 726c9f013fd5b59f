#pragma once
// What is trained: tables, the features that read them, the batch and the dense part.
// Plain values. Units: rows, elements, samples; bytes where a name says so.

#include <cstdint>
#include <string>
#include <vector>

namespace shardscope {

/// Element type of weights and of wire payloads.
enum class DType : std::uint8_t { fp32, fp16, bf16 };

[[nodiscard]] constexpr std::int64_t bytes_of(DType type) { return type == DType::fp32 ? 4 : 2; }

/// Type of an id in a batch and on the wire.
enum class KeyType : std::uint8_t { i32, i64 };

[[nodiscard]] constexpr std::int64_t bytes_of(KeyType type) { return type == KeyType::i32 ? 4 : 8; }

enum class OptimizerKind : std::uint8_t {
  sgd,
  adagrad,
  rowwise_adagrad,
  adam,
  other,  ///< accounted by its state words, checked, refused by the engine
};

/// An optimizer and its state. One state word is 4 bytes.
struct Optimizer {
  OptimizerKind kind = OptimizerKind::sgd;
  std::int32_t words_per_element = 0;  ///< adagrad 1, adam 2
  std::int32_t words_per_row = 0;      ///< rowwise_adagrad 1
  double learning_rate = 0.01;
  double epsilon = 1e-8;
  double beta1 = 0.9;
  double beta2 = 0.999;
  /// Row-wise state kept per column shard (TorchRec's way) instead of per row. Outside the law of
  /// the engine: column cuts then change what is learned. Recorded with every run.
  bool per_shard = false;

  friend bool operator==(const Optimizer&, const Optimizer&) = default;
};

/// The optimizer of that kind with its usual state words and constants.
[[nodiscard]] Optimizer make_optimizer(OptimizerKind kind, double learning_rate = 0.01);

/// An embedding table of rows x dim.
struct Table {
  std::string name;
  std::int64_t rows = 0;
  std::int32_t dim = 0;
  DType dtype = DType::fp32;
  Optimizer optimizer;
  std::string module_path;  ///< the owning framework's module name; kept for exports, else empty

  friend bool operator==(const Table&, const Table&) = default;
};

/// What becomes of a bag's rows.
enum class Pooling : std::uint8_t {
  sum,
  mean,      ///< divides by the whole bag's length; an empty bag gives 0
  concat,    ///< fixed hotness, the rows side by side
  sequence,  ///< jagged, one output row an id
};

[[nodiscard]] constexpr bool is_pooled(Pooling pooling) {
  return pooling == Pooling::sum || pooling == Pooling::mean;
}

enum class HotnessKind : std::uint8_t { fixed, uniform, histogram };

/// Distribution of a bag's length (ids a bag).
struct Hotness {
  HotnessKind kind = HotnessKind::fixed;
  std::int32_t minimum = 1;  ///< fixed: the length; uniform: inclusive
  std::int32_t maximum = 1;  ///< fixed: the length; uniform: inclusive; histogram: last bin
  /// histogram only: weight[i] is the relative frequency of length minimum + i
  std::vector<double> weights;

  [[nodiscard]] static Hotness fixed(std::int32_t length) {
    return {HotnessKind::fixed, length, length, {}};
  }
  [[nodiscard]] static Hotness uniform(std::int32_t low, std::int32_t high) {
    return {HotnessKind::uniform, low, high, {}};
  }
  /// Expected length.
  [[nodiscard]] double mean() const;

  friend bool operator==(const Hotness&, const Hotness&) = default;
};

enum class IdDistributionKind : std::uint8_t {
  zipf,
  uniform,
  heavy_hitters,    ///< listed probabilities for the most popular rows, Zipf for the rest
  reuse_histogram,  ///< shares of distinct rows by how often a batch reads them
  recorded,         ///< a recorded stream's column
};

enum class IdOrder : std::uint8_t {
  permuted,    ///< popularity is unrelated to the row number (hashed ids)
  popularity,  ///< row 0 is the most popular
};

/// Share of distinct rows of a batch that are read (previous bound, reuse_at_most] times.
struct ReuseBin {
  double reuse_at_most = 1;  ///< infinity for the last bin
  double share_of_rows = 0;

  friend bool operator==(const ReuseBin&, const ReuseBin&) = default;
};

/// How ids of a feature are distributed over its table's rows.
struct IdDistribution {
  IdDistributionKind kind = IdDistributionKind::zipf;
  double alpha = 1.1;  ///< Zipf exponent >= 0 (p of popularity rank i ~ (i+1)^-alpha)
  IdOrder order = IdOrder::permuted;
  std::vector<double> heavy_hitters;  ///< probability of each of the most popular rows
  std::vector<ReuseBin> reuse;
  std::string stream;  ///< recorded: the file
  std::string column;  ///< recorded: the column or slot in it

  friend bool operator==(const IdDistribution&, const IdDistribution&) = default;
};

/// A categorical input. Several features may read one table.
struct Feature {
  std::string name;
  std::int32_t table = 0;  ///< index into Workload::tables
  Pooling pooling = Pooling::sum;
  Hotness hotness;
  bool weighted = false;          ///< each id carries an fp32 weight
  std::int32_t num_poolings = 1;  ///< bags a sample
  IdDistribution ids;

  friend bool operator==(const Feature&, const Feature&) = default;
};

enum class Interaction : std::uint8_t { none, concat, dot, dcnv2 };

/// The data-parallel part: bottom MLP over dense inputs, interaction, top MLP to one logit.
/// `none` means the workload has no dense part; gradients of the embeddings are then given.
struct DensePart {
  std::int32_t dense_features = 0;
  std::vector<std::int32_t> bottom_mlp;  ///< layer widths, input excluded
  Interaction interaction = Interaction::none;
  std::int32_t cross_layers = 0;         ///< dcnv2
  std::int32_t cross_rank = 0;           ///< dcnv2: width of the low-rank factors
  std::vector<std::int32_t> top_mlp;     ///< layer widths, input excluded; the last is 1
  Optimizer optimizer;

  friend bool operator==(const DensePart&, const DensePart&) = default;
};

/// One model with its batch and number formats.
struct Workload {
  std::string name;
  std::vector<Table> tables;
  std::vector<Feature> features;
  std::int64_t global_batch = 0;  ///< samples an iteration over all ranks
  KeyType key = KeyType::i32;
  DType wire = DType::fp32;  ///< vectors and gradients on the wire
  DensePart dense;
  std::int64_t rows_cap = 0;  ///< tables were shrunk to at most so many rows; 0: they were not
  std::string source;         ///< where the facts come from; shown, not interpreted

  friend bool operator==(const Workload&, const Workload&) = default;
};

/// Rows of every table limited to `cap` (ids are then taken modulo the rows). cap <= 0: unchanged.
[[nodiscard]] Workload with_rows_cap(Workload workload, std::int64_t cap);

/// Features that read each table, in feature order; indexed by table.
[[nodiscard]] std::vector<std::vector<std::int32_t>> features_by_table(const Workload& workload);

/// Samples of `rank` out of `ranks`: global_batch / ranks, the first remainder ranks take one more.
[[nodiscard]] std::int64_t samples_of_rank(std::int64_t global_batch, std::int32_t rank,
                                           std::int32_t ranks);

/// First sample of `rank` (the samples of rank 0, 1, ... follow each other in the global batch).
[[nodiscard]] std::int64_t first_sample_of_rank(std::int64_t global_batch, std::int32_t rank,
                                                std::int32_t ranks);

/// Elements a sample contributes to the dense part's input: pooled features num_poolings * dim,
/// concat features num_poolings * hotness * dim, sequences num_poolings * dim (their mean).
[[nodiscard]] std::int64_t interaction_width(const Workload& workload);

/// The name used in files and on screens. layout/names.hpp reads names back.
[[nodiscard]] const char* to_string(DType value);
[[nodiscard]] const char* to_string(KeyType value);
[[nodiscard]] const char* to_string(OptimizerKind value);
[[nodiscard]] const char* to_string(Pooling value);
[[nodiscard]] const char* to_string(Interaction value);

}  // namespace shardscope
