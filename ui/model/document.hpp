#pragma once
// What is being tuned: a model, a machine, an executor and the tree of layouts, with everything
// that is known of the current one. Pure: no window, no file.

#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "layout/calibration.hpp"
#include "layout/layout.hpp"
#include "layout/topology.hpp"
#include "layout/workload.hpp"
#include "planner/cost_model.hpp"
#include "ui/model/edits.hpp"
#include "ui/model/evaluation.hpp"
#include "ui/model/history.hpp"

namespace shardscope::ui {

/// A hand's edit of one table, not yet applied.
struct Edit {
  std::int32_t table = 0;
  TablePlacement placement;
  std::string text;        ///< "Move (10, 0, 0) to GPU 5"
  double moved_bytes = 0;  ///< weights and state that change place
};

class Document {
 public:
  /// The layout becomes the history's root and its reference.
  Document(Workload workload, Topology topology, Layout layout, PredictOptions options);
  ~Document();
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  [[nodiscard]] const Workload& workload() const { return evaluator_->workload(); }
  [[nodiscard]] const Topology& topology() const { return evaluator_->topology(); }
  [[nodiscard]] Executor executor() const { return evaluator_->options().executor; }
  [[nodiscard]] const PredictOptions& options() const { return evaluator_->options(); }
  /// Who will train it, and in which order: everything is priced and checked anew. Layouts stay as
  /// they are.
  void set_executor(Executor executor, ScheduleKind schedule);
  /// The machine's constants as they were measured; priced and checked anew.
  void calibrate(const Calibration& calibration);
  [[nodiscard]] const ShardCosts& costs() const { return evaluator_->costs(); }
  [[nodiscard]] Evaluator& evaluator() { return *evaluator_; }
  [[nodiscard]] const Layout& layout() const { return history_.layout(); }
  [[nodiscard]] History& history() { return history_; }
  [[nodiscard]] const History& history() const { return history_; }

  /// Of the current layout, of the previewed one where there is a preview, of the reference.
  [[nodiscard]] const Evaluation& current() const { return current_; }
  [[nodiscard]] const Evaluation& shown() const { return preview_ ? *preview_ : current_; }
  [[nodiscard]] const Evaluation& reference() const { return reference_; }
  [[nodiscard]] bool previewing() const { return preview_.has_value(); }
  [[nodiscard]] const std::string& preview_text() const { return preview_text_; }
  /// Changes with every change of what shown() returns.
  [[nodiscard]] std::uint64_t version() const { return version_; }

  /// Shows what the edit would do, without making it. The same edit again costs nothing.
  void preview(const Edit& edit);
  void clear_preview();
  /// Makes the edit: one step of undo.
  void apply(const Edit& edit);
  /// Several tables in one step.
  void apply(Layout layout, std::string text);
  bool undo();
  bool redo();
  void go_to(int node);
  void set_reference(int node);
  /// A state after `parent`, priced but not entered; its index in the history.
  int add_branch(int parent, Layout layout, std::string text);

  void pin(const ShardId& shard, bool on);
  [[nodiscard]] bool pinned(const ShardId& shard) const { return pins_.contains(shard); }
  [[nodiscard]] bool pinned_table(std::int32_t table) const;

  /// Proven minimum of an iteration; nothing while it is being computed.
  [[nodiscard]] std::optional<double> bound() const;
  void wait_for_bound() const;

 private:
  void refresh();
  void evaluate_anew(Topology topology, PredictOptions options);
  void begin_bound();

  std::unique_ptr<Evaluator> evaluator_;
  History history_;
  Evaluation current_;
  Evaluation reference_;
  std::optional<Evaluation> preview_;
  std::optional<Edit> preview_edit_;
  std::string preview_text_;
  std::set<ShardId> pins_;
  std::uint64_t version_ = 0;
  std::shared_future<double> bound_;
  std::vector<std::shared_future<double>> retired_;  ///< bounds of other executors
};

/// Edits by hand, with their words and the bytes they move. Errors say why one is impossible.
[[nodiscard]] Result<Edit> edit_move(const Document& document, const ShardId& shard,
                                     std::int32_t to);
[[nodiscard]] Result<Edit> edit_split_rows(const Document& document, const ShardId& shard,
                                           std::int32_t parts, std::int32_t to);
[[nodiscard]] Result<Edit> edit_split_columns(const Document& document, const ShardId& shard,
                                              std::int32_t bound, std::int32_t to);
[[nodiscard]] Result<Edit> edit_cluster(const Document& document, std::int32_t table,
                                        ClusterType cluster, std::int32_t to);
[[nodiscard]] Result<Edit> edit_merge(const Document& document, const ShardId& shard,
                                      const ShardId& with);
[[nodiscard]] Edit edit_merge_all(const Document& document, std::int32_t table, std::int32_t to);

/// The GPU with the least load (or memory) other than `except`.
[[nodiscard]] std::int32_t lightest_gpu(const Evaluation& evaluation, bool by_memory,
                                        std::int32_t except);

}  // namespace shardscope::ui
