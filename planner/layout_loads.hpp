#pragma once
// What a layout asks of every rank, as sums over shards: memory traffic, ids, bytes a sample on
// the wires. Sums are linear in the tables, so one table can be taken out and put back elsewhere
// without looking at the others.

#include <array>
#include <cstdint>
#include <vector>

#include "layout/calibration.hpp"
#include "layout/layout.hpp"
#include "layout/topology.hpp"
#include "planner/executor_model.hpp"
#include "planner/table_facts.hpp"

namespace shardscope {

/// The four codec slots, and the order of per-slot amounts.
enum WireSlot : std::size_t { kForwardIntra, kForwardInter, kBackwardIntra, kBackwardInter };
inline constexpr std::size_t kWireSlots = 4;

/// What one rank owns of a cluster (RB or UB). "a sample": per sample of the consuming rank.
struct OwnerLoad {
  double gather_bytes = 0;  ///< memory traffic of the lookups of one batch
  double keys = 0;          ///< ids (RB) or asked rows (UB) received a batch
  double reduce_bytes = 0;
  double update_bytes = 0;
  double pieces = 0;                            ///< shards
  double id_lists = 0;                          ///< row shards (per feature) it receives ids of
  double ids_bytes = 0;                         ///< input_dist, a sample
  double flat_elements = 0;                     ///< vectors of the flat exchange, a sample
  std::array<double, kWireSlots> flat_bytes{};  ///< a sample
  double domain_elements = 0;                   ///< vectors of the hierarchical exchange, a sample
  std::array<double, 2> domain_bytes{};         ///< a sample, forward and backward
  std::array<double, 2> codec_s{};         ///< flat: encode (forward), decode (backward), a sample
  std::array<double, 2> domain_codec_s{};  ///< hierarchical, likewise
  /// Of vectors without a codec, where others of their messages have one; by slot, a sample.
  std::array<double, kWireSlots> plain_codec_s{};
  double square_intra_bytes = 0;  ///< update: sums of g^2, a batch
  double square_inter_bytes = 0;
};

/// What the ranks of one fast domain hand on along their rails, a sample.
struct DomainLoad {
  double rail_elements = 0;
  std::array<double, 2> rail_bytes{};  ///< forward and backward
  std::array<double, 2> codec_s{};
  std::array<double, 2> plain_codec_s{};  ///< as the owners'
};

/// What every rank does for its own samples, whoever owns the tables of the cluster; a sample.
struct ConsumerLoad {
  double keys = 0;        ///< ids it buckets or deduplicates
  double outputs = 0;     ///< elements the dense part takes in
  double vectors = 0;     ///< UB: elements of rows it expands
  double lists = 0;       ///< id lists it writes
  double split_keys = 0;  ///< ids of tables cut by rows
  double dedup_keys = 0;  ///< ids it deduplicates
  std::array<double, 2> codec_s{};
  std::array<double, kWireSlots> plain_codec_s{};  ///< as the owners'
};

/// DP tables on any one rank.
struct ReplicatedLoad {
  double gather_bytes = 0;
  double keys = 0;
  double reduce_bytes = 0;
  double update_bytes = 0;
  double pieces = 0;
  double allreduce_elements = 0;
};

struct LayoutLoads {
  std::vector<OwnerLoad> rb, ub;  ///< by rank
  std::vector<DomainLoad> domains;
  ConsumerLoad rb_consumer, ub_consumer;
  ReplicatedLoad dp;
  std::array<double, kClusterTypes> tables{};  ///< tables in each cluster
  double flat_tables = 0;                      ///< RB tables by exchange
  double hierarchical_tables = 0;
  /// Tables with a codec for a hop that exists, {RB, UB} x slot.
  std::array<std::array<double, kWireSlots>, 2> coded_tables{};
  /// Whether messages of a cluster run through codecs in a slot's direction and hop.
  [[nodiscard]] bool is_coded(bool by_unique, WireSlot slot) const {
    return coded_tables[by_unique ? 1 : 0][slot] > 0.5;
  }
};

/// How a table is exchanged: the layout's choices resolved for it.
struct ExchangeChoice {
  Exchange exchange = Exchange::flat;
  bool dedup = true;
  const CodecSlots* codecs = nullptr;
};

[[nodiscard]] ExchangeChoice exchange_choice(const Layout& layout, std::size_t table);

/// Computes and adds the load of tables. Keeps references: the arguments must outlive it.
class LoadModel {
 public:
  LoadModel(const WorkloadFacts& facts, const Topology& topology, const ExecutorModel& executor,
            const std::vector<CodecProfile>& codecs);

  /// The same with a cache that holds every repeated row and codecs at their best throughput: loads
  /// that no cut of a table goes below.
  [[nodiscard]] LoadModel without_cut_losses() const;

  [[nodiscard]] LayoutLoads empty() const;
  /// Adds (sign 1) or takes out (sign -1) one table.
  void add(LayoutLoads& loads, std::size_t table, const TablePlacement& placement,
           const ExchangeChoice& choice, double sign) const;
  [[nodiscard]] LayoutLoads of(const Layout& layout) const;

  [[nodiscard]] const WorkloadFacts& facts() const { return facts_; }

  /// One shard by itself: share of the table's ids and of its distinct rows, and width.
  struct ShardShape {
    double key_share = 1;
    double row_share = 1;
    double width = 0;
  };
  [[nodiscard]] OwnerLoad rb_shard(const TableFacts& table, const ShardShape& shape) const;
  [[nodiscard]] OwnerLoad ub_shard(const TableFacts& table, const ShardShape& shape,
                                   bool dedup) const;
  [[nodiscard]] ReplicatedLoad replicated(const TableFacts& table) const;

  /// For bounds: a part of an RB table with a share e of its ids x columns on one rank, however cut
  /// and with whatever in the cache, has at least e times this lookup, reduction and update.
  /// `even_rows`: cuts give a part as many of the distinct rows as of the ids.
  [[nodiscard]] OwnerLoad least_rb_part(const TableFacts& table, bool even_rows) const;
  /// What a flat RB table asks of its owners together, beyond its uncut sums, for every further
  /// owner of all its columns (`wire`) and of all its ids (`keys`), plain wires.
  struct CutGrowth {
    OwnerLoad wire, keys;
  };
  [[nodiscard]] CutGrowth flat_cut_growth(const TableFacts& table) const;
  /// Share of ids and rows of row shard `row`; width left 0.
  [[nodiscard]] static ShardShape row_shape(const TableFacts& table,
                                            const TablePlacement& placement, std::int32_t row);
  /// Expected fp32 bytes of a table's vectors from one rank to another, in one message's chunk.
  [[nodiscard]] double chunk_bytes(std::size_t table, const TablePlacement& placement) const;
  /// What is known of a codec on the table's vectors in that cluster: the table's own profile
  /// before one of any table, the cluster's before one of either, the bound's before another's.
  /// Null: nothing.
  [[nodiscard]] const CodecProfile* profile_of(std::size_t table, ClusterType cluster,
                                               const CodecSlot& codec) const;

  /// Rows an owner is asked for by all ranks, before its share.
  [[nodiscard]] double requests(const TableFacts& table, bool dedup) const;

 private:
  struct WireCost {
    std::array<double, kWireSlots> bytes{};     ///< an element
    std::array<double, kWireSlots> encode_s{};  ///< an element
    std::array<double, kWireSlots> decode_s{};
    std::array<double, kWireSlots> plain_encode_s{};  ///< of a slot without a codec
    std::array<double, kWireSlots> plain_decode_s{};
  };
  [[nodiscard]] WireCost wire_cost(const CodecSlots* slots, std::size_t table,
                                   const TablePlacement& placement) const;
  void count_coded(LayoutLoads& loads, const ExchangeChoice& choice, ClusterType cluster,
                   double sign) const;
  [[nodiscard]] double update_bytes(const TableFacts& table, double rows, double width) const;
  void add_rb(LayoutLoads& loads, std::size_t table, const TablePlacement& placement,
              const ExchangeChoice& choice, double sign) const;
  void add_ub(LayoutLoads& loads, std::size_t table, const TablePlacement& placement,
              const ExchangeChoice& choice, double sign) const;
  void add_flat_codecs(OwnerLoad& owner, ConsumerLoad& consumer, const WireCost& wire,
                       double elements) const;
  void add_partials(LayoutLoads& loads, const TableFacts& table, const TablePlacement& placement,
                    Exchange exchange, const WireCost& wire, double sign) const;
  void add_square_sums(std::vector<OwnerLoad>& owners, const TableFacts& table,
                       const TablePlacement& placement, double sign) const;

  const WorkloadFacts& facts_;
  const Topology& topology_;
  const ExecutorModel& executor_;
  /// By table, then those of any table.
  std::vector<std::vector<const CodecProfile*>> profiles_;
  double cache_bytes_ = 0;  ///< of the last-level cache, for the hot rows of one shard
  bool best_throughput_ = false;
  /// Shares of a table's vectors that cross each hop: of the flat exchange, and along rails.
  double near_share_ = 0, far_share_ = 0, rail_share_ = 0;
};

/// Memory traffic of one random row of `bytes`.
[[nodiscard]] double row_traffic_bytes(double bytes);

}  // namespace shardscope
