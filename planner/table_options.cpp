#include "planner/table_options.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "planner/codec_options.hpp"
#include "planner/cost_constants.hpp"

namespace shardscope {

namespace {

/// Narrowest column shard worth its row overhead, in elements.
constexpr std::int32_t kNarrowestColumns = 16;
constexpr std::int32_t kMostColumnShards = 8;
constexpr std::int32_t kHugectrWidest = 256;

std::int32_t columns_at_least(const PlanContext& context, std::size_t table) {
  if (context.options.executor != Executor::hugectr) return 1;
  const std::int32_t dim = context.workload.tables[table].dim;
  std::int32_t columns = 1;
  while (dim / columns > kHugectrWidest || dim % columns != 0) ++columns;
  return columns;
}

/// Column shard counts that leave equal widths of a multiple of 4.
std::vector<std::int32_t> column_counts(const PlanContext& context, std::size_t table,
                                        std::int32_t most) {
  const std::int32_t dim = context.workload.tables[table].dim;
  const std::int32_t least = columns_at_least(context, table);
  std::vector<std::int32_t> counts = {least};
  for (std::int32_t c = 2 * least; c <= std::min(most, kMostColumnShards * least); c *= 2)
    if (dim % (4 * c) == 0 && dim / c >= kNarrowestColumns) counts.push_back(c);
  return counts;
}

/// 1, 2, 3, 4, 6, 8, 12, ... and the end itself. None below 1: the columns alone need more ranks.
std::vector<std::int32_t> shard_counts(std::int64_t most) {
  std::vector<std::int32_t> counts;
  if (most < 1) return counts;
  for (std::int64_t n = 1; n <= most; n *= 2) {
    counts.push_back(static_cast<std::int32_t>(n));
    if (n >= 2 && n * 3 / 2 <= most) counts.push_back(static_cast<std::int32_t>(n * 3 / 2));
  }
  if (counts.empty() || counts.back() != most) counts.push_back(static_cast<std::int32_t>(most));
  return counts;
}

/// True where every one of `shards` blocks of rows, rounded up, has rows.
bool blocks_fill(std::int64_t rows, std::int64_t shards) {
  const std::int64_t block = (rows + shards - 1) / shards;
  return block > 0 && (shards - 1) * block < rows;
}

class OptionMaker {
 public:
  OptionMaker(const PlanContext& context, const BoardScale& scale, std::size_t table,
              const LoadFields& prices, std::int32_t most_cells)
      : context_(context),
        scale_(scale),
        table_(table),
        prices_(prices),
        most_cells_(most_cells),
        facts_(context.facts.tables[table]) {}

  std::vector<TableOption> make(FormSet allowed) {
    const bool torchrec = context_.options.executor == Executor::torchrec;
    const auto has = [&](TableForm form) { return (allowed & form_bit(form)) != 0; };
    if (has(TableForm::flat)) torchrec ? torchrec_flat() : flat(TableForm::flat);
    if (has(TableForm::hierarchical)) torchrec ? torchrec_hosts() : hierarchical();
    if (has(TableForm::by_unique)) {
      torchrec ? torchrec_unpooled() : flat(TableForm::by_unique);
    }
    if (has(TableForm::replicated)) replicated();
    return std::move(options_);
  }

 private:
  [[nodiscard]] std::int64_t most_rows() const {
    return std::max<std::int64_t>(1, context_.workload.tables[table_].rows);
  }
  [[nodiscard]] std::int32_t ranks() const { return context_.topology.ranks(); }
  [[nodiscard]] std::int32_t domain_size() const { return context_.topology.fast_domain; }

  void flat(TableForm form) {
    for (const std::int32_t columns : column_counts(context_, table_, ranks())) {
      for (const std::int32_t rows :
           shard_counts(std::min<std::int64_t>(ranks() / columns, most_rows())))
        add(form, RowMapping::modulo, rows, columns, 0, false);
    }
  }

  void hierarchical() {
    const std::int32_t g = domain_size();
    for (const std::int32_t columns : column_counts(context_, table_, g)) {
      for (const std::int32_t rows : shard_counts(std::min<std::int64_t>(g / columns, most_rows())))
        add(TableForm::hierarchical, RowMapping::modulo, rows, columns, 1, false);
    }
    // Hotter than a whole domain can serve: several domains, each with its part of the rows.
    const std::int32_t columns = columns_at_least(context_, table_);
    const std::int32_t rows = g / columns;
    // HugeCTR numbers owners column by column: a block of rows with all its columns needs one.
    if (columns > 1 && context_.options.executor == Executor::hugectr) return;
    for (std::int32_t blocks = 2; rows > 0 && blocks <= context_.topology.domains(); blocks *= 2)
      if (static_cast<std::int64_t>(rows) * blocks <= most_rows())
        add(TableForm::hierarchical, RowMapping::modulo, rows * blocks, columns, blocks, false);
  }

  void torchrec_flat() {
    for (const std::int32_t columns : column_counts(context_, table_, ranks()))
      add(TableForm::flat, RowMapping::block, 1, columns, 0, false);
    if (ranks() > 1 && blocks_fill(most_rows(), ranks()))
      add(TableForm::flat, RowMapping::block, ranks(), 1, 0, true);
  }
  void torchrec_hosts() {
    if (domain_size() > 1 && context_.topology.domains() > 1 &&
        blocks_fill(most_rows(), domain_size()))
      add(TableForm::hierarchical, RowMapping::block, domain_size(), 1, 1, false);
  }
  void torchrec_unpooled() {
    for (const std::int32_t columns : column_counts(context_, table_, ranks()))
      add(TableForm::by_unique, RowMapping::block, 1, columns, 0, false);
    if (ranks() > 1 && blocks_fill(most_rows(), ranks()))
      add(TableForm::by_unique, RowMapping::block, ranks(), 1, 0, true);
  }

  void replicated() {
    TableOption option;
    option.form = TableForm::replicated;
    price_common(option, data_parallel(context_.workload.tables[table_]));
    option.everywhere_bytes = context_.memory.replicated_bytes(table_);
    options_.push_back(std::move(option));
  }

  void add(TableForm form, RowMapping mapping, std::int32_t rows, std::int32_t columns,
           std::int32_t blocks, bool everywhere) {
    const bool first = std::none_of(options_.begin(), options_.end(),
                                    [&](const TableOption& o) { return o.form == form; });
    if (rows * columns > most_cells_ && !first) return;
    TableOption option;
    option.form = form;
    option.mapping = mapping;
    option.rows = rows;
    option.columns = columns;
    option.blocks = blocks;
    option.everywhere = everywhere;
    option.codecs = codecs_in(form);
    if (option.codecs == CodecSlots{}) option.codecs.reset();
    std::vector<std::int32_t> owners(static_cast<std::size_t>(rows * columns));
    const std::int32_t per_block = option.cells_a_block();
    for (std::size_t i = 0; i < owners.size(); ++i) {
      const auto cell = static_cast<std::int32_t>(i);
      owners[i] = blocks > 0 ? cell / per_block * domain_size() + cell % per_block : cell;
    }
    const TablePlacement placement = placement_of(context_.workload.tables[table_], option, owners);
    const LayoutLoads loads = price_common(option, placement);
    price_cells(option, placement, loads);
    options_.push_back(std::move(option));
  }

  /// What the prices make of the codecs allowed.
  std::optional<CodecSlots> codecs_in(TableForm form) {
    if (!context_.options.allowed_codecs.any() || prices_.empty()) return std::nullopt;
    std::optional<CodecSlots>& slots = codecs_[static_cast<std::size_t>(form)];
    if (slots) return slots;
    const Exchange exchange =
        form == TableForm::hierarchical ? Exchange::hierarchical : Exchange::flat;
    const ClusterType cluster = form == TableForm::by_unique ? ClusterType::UB : ClusterType::RB;
    slots =
        cheapest_codecs(codec_options(context_.loads, context_.topology,
                                      context_.options.allowed_codecs, table_, cluster, exchange),
                        prices_);
    return slots;
  }

  /// The table alone: seconds of what all ranks do, and its loads.
  LayoutLoads price_common(TableOption& option, const TablePlacement& placement) const {
    std::int32_t most = 0;
    for (const std::int32_t owner : placement.owners) most = std::max(most, owner);
    const std::int32_t domains = most / domain_size() + 1;
    LayoutLoads loads;
    loads.rb.resize(static_cast<std::size_t>(domains * domain_size()));
    loads.ub.resize(loads.rb.size());
    loads.domains.resize(static_cast<std::size_t>(domains));
    const Exchange exchange =
        option.form == TableForm::hierarchical ? Exchange::hierarchical : Exchange::flat;
    context_.loads.add(loads, table_, placement,
                       {exchange, true, option.codecs ? &*option.codecs : nullptr}, 1);
    const LoadFields fields = to_fields(loads);
    for (std::size_t i = 0; i < fields.size(); ++i)
      if (load_field_scope(i) == FieldScope::all && !prices_.empty())
        option.everywhere_s += prices_[i] * fields[i];
    // Every consumer reads (and in the backward writes) each vector that reaches it.
    double vectors = 0;
    for (const OwnerLoad& owner : loads.rb) vectors += owner.flat_elements;
    for (const OwnerLoad& owner : loads.ub) vectors += owner.flat_elements;
    for (const DomainLoad& domain : loads.domains) vectors += domain.rail_elements;
    const Gpu& gpu = context_.topology.gpu;
    option.everywhere_s += 2 * context_.facts.rank_batch * vectors * context_.facts.wire_bytes /
                           (gpu.memory_bytes_per_s.value * gpu.stream_efficiency.value);
    return loads;
  }

  void price_cells(TableOption& option, const TablePlacement& placement,
                   const LayoutLoads& loads) const {
    const bool unique = option.form == TableForm::by_unique;
    const std::vector<OwnerLoad>& owners = unique ? loads.ub : loads.rb;
    const ClusterType cluster = unique ? ClusterType::UB : ClusterType::RB;
    for (std::int32_t j = 0; j < option.rows; ++j) {
      const double share = LoadModel::row_shape(facts_, placement, j).row_share;
      for (std::int32_t k = 0; k < option.columns; ++k) {
        BoardShard& cell = option.cells.emplace_back();
        cell.seconds = scale_.rank_seconds(owners[static_cast<std::size_t>(placement.owner(j, k))]);
        cell.bytes = context_.memory.shard_bytes(table_, cluster, share, placement.width(k));
      }
    }
    for (std::int32_t b = 0; b < option.blocks; ++b) {
      OwnerLoad inside;
      for (std::int32_t p = 0; p < domain_size(); ++p) {
        const OwnerLoad& owner = owners[static_cast<std::size_t>(b * domain_size() + p)];
        inside.domain_elements += owner.domain_elements;
        for (const std::size_t s : {0U, 1U}) inside.domain_bytes[s] += owner.domain_bytes[s];
      }
      option.block_seconds.push_back(
          scale_.domain_seconds(loads.domains[static_cast<std::size_t>(b)], inside));
    }
    const Exchange exchange =
        option.form == TableForm::hierarchical ? Exchange::hierarchical : Exchange::flat;
    const TableMemory memory = context_.memory.of(table_, placement, exchange, true);
    option.everywhere_bytes = memory.everywhere;
    for (const auto& [domain, bytes] : memory.domains)
      if (domain == 0) option.block_bytes += bytes;
  }

  const PlanContext& context_;
  const BoardScale& scale_;
  std::size_t table_;
  const LoadFields& prices_;
  std::int32_t most_cells_;
  const TableFacts& facts_;
  std::array<std::optional<CodecSlots>, kTableForms> codecs_;
  std::vector<TableOption> options_;
};

}  // namespace

void TableOption::join(const TableOption& other) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    for (std::size_t s = 0; s < kRankStages; ++s) cells[i].seconds[s] += other.cells[i].seconds[s];
    cells[i].bytes += other.cells[i].bytes;
  }
  for (std::size_t b = 0; b < block_seconds.size(); ++b)
    for (std::size_t s = 0; s < kDomainStages; ++s)
      block_seconds[b][s] += other.block_seconds[b][s];
  block_bytes += other.block_bytes;
  everywhere_s += other.everywhere_s;
  everywhere_bytes += other.everywhere_bytes;
}

std::vector<TableOption> table_options(const PlanContext& context, const BoardScale& scale,
                                       std::size_t table, FormSet allowed, const LoadFields& prices,
                                       std::int32_t most_cells) {
  return OptionMaker(context, scale, table, prices, most_cells).make(allowed);
}

TablePlacement placement_of(const Table& table, const TableOption& option,
                            const std::vector<std::int32_t>& owners) {
  if (option.form == TableForm::replicated) return data_parallel(table);
  TablePlacement placement;
  placement.cluster = option.form == TableForm::by_unique ? ClusterType::UB : ClusterType::RB;
  placement.mapping = option.mapping;
  placement.row_shards = option.rows;
  for (std::int32_t k = 0; k <= option.columns; ++k)
    placement.column_cuts.push_back(
        static_cast<std::int32_t>(static_cast<std::int64_t>(table.dim) * k / option.columns));
  if (option.mapping == RowMapping::block) {
    // Blocks of rows / shards rounded up, as TorchRec cuts them.
    const std::int64_t block = (table.rows + option.rows - 1) / option.rows;
    for (std::int32_t j = 0; j <= option.rows; ++j)
      placement.row_cuts.push_back(std::min(table.rows, block * j));
  }
  placement.owners = owners;
  placement.codecs = option.codecs;
  if (placement.cluster == ClusterType::RB)
    placement.exchange =
        option.form == TableForm::hierarchical ? Exchange::hierarchical : Exchange::flat;
  return placement;
}

}  // namespace shardscope
