#include "ui/model/document.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "planner/bound.hpp"
#include "planner/plan_context.hpp"

namespace shardscope::ui {

Document::Document(Workload workload, Topology topology, Layout layout, PredictOptions options)
    : evaluator_(std::make_unique<Evaluator>(std::move(workload), std::move(topology),
                                             std::move(options))),
      history_(std::move(layout), "start") {
  begin_bound();
  refresh();
  reference_ = current_;
}

void Document::begin_bound() {
  // The destructor of a future that still works would wait for it.
  if (bound_.valid()) retired_.push_back(std::move(bound_));
  bound_ = std::async(std::launch::async, [w = workload(), t = topology(), o = options()] {
             const PlanContext context(w, t, o);
             return lower_bound(context).seconds;
           }).share();
}

void Document::set_executor(Executor executor, ScheduleKind schedule) {
  PredictOptions options = this->options();
  if (executor == options.executor && schedule == options.schedule) return;
  options.executor = executor;
  options.schedule = schedule;
  evaluate_anew(topology(), std::move(options));
}

void Document::calibrate(const Calibration& calibration) {
  PredictOptions options = this->options();
  if (!calibration.codecs.empty()) options.codecs = calibration.codecs;
  evaluate_anew(calibrated(topology(), calibration), std::move(options));
}

void Document::evaluate_anew(Topology topology, PredictOptions options) {
  evaluator_ = std::make_unique<Evaluator>(workload(), std::move(topology), std::move(options));
  begin_bound();
  refresh();
  reference_ = evaluator_->evaluate(history_.node(history_.reference()).layout);
}

Document::~Document() = default;

void Document::refresh() {
  preview_.reset();
  preview_edit_.reset();
  preview_text_.clear();
  current_ = evaluator_->evaluate(history_.shared());
  history_.node(history_.current()).predicted_s = current_.iteration_s;
  ++version_;
}

void Document::preview(const Edit& edit) {
  if (preview_edit_ && preview_edit_->table == edit.table &&
      preview_edit_->placement == edit.placement) {
    return;
  }
  auto layout = std::make_shared<Layout>(history_.layout());
  layout->tables[static_cast<std::size_t>(edit.table)] = edit.placement;
  preview_ = evaluator_->preview(std::move(layout));
  preview_edit_ = edit;
  preview_text_ = edit.text;
  ++version_;
}

void Document::clear_preview() {
  if (!preview_) return;
  preview_.reset();
  preview_edit_.reset();
  preview_text_.clear();
  ++version_;
}

void Document::apply(const Edit& edit) {
  Layout layout = history_.layout();
  layout.tables[static_cast<std::size_t>(edit.table)] = edit.placement;
  apply(std::move(layout), edit.text);
}

void Document::apply(Layout layout, std::string text) {
  history_.apply(std::move(layout), std::move(text));
  refresh();
}

bool Document::undo() {
  if (!history_.undo()) return false;
  refresh();
  return true;
}

bool Document::redo() {
  if (!history_.redo()) return false;
  refresh();
  return true;
}

void Document::go_to(int node) {
  history_.go_to(node);
  refresh();
}

void Document::set_reference(int node) {
  history_.set_reference(node);
  reference_ = evaluator_->evaluate(history_.node(node).layout);
  ++version_;
}

int Document::add_branch(int parent, Layout layout, std::string text) {
  const int before = history_.current();
  history_.go_to(parent);
  const int added = history_.keep_branch(std::move(layout), std::move(text));
  history_.go_to(before);
  history_.node(added).predicted_s = evaluator_->evaluate(history_.node(added).layout).iteration_s;
  return added;
}

void Document::pin(const ShardId& shard, bool on) {
  if (on) {
    pins_.insert(shard);
  } else {
    pins_.erase(shard);
  }
  ++version_;
}

bool Document::pinned_table(std::int32_t table) const {
  return std::any_of(pins_.begin(), pins_.end(),
                     [&](const ShardId& shard) { return shard.table == table; });
}

std::optional<double> Document::bound() const {
  if (bound_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return std::nullopt;
  return bound_.get();
}

void Document::wait_for_bound() const {
  bound_.wait();
}

std::int32_t lightest_gpu(const Evaluation& evaluation, bool by_memory, std::int32_t except) {
  const std::vector<double>& values = by_memory ? evaluation.memory_bytes : evaluation.load_s;
  std::int32_t best = -1;
  for (std::size_t rank = 0; rank < values.size(); ++rank) {
    const auto candidate = static_cast<std::int32_t>(rank);
    if (candidate == except) continue;
    if (best < 0 || values[rank] < values[static_cast<std::size_t>(best)]) best = candidate;
  }
  return std::max(best, 0);
}

}  // namespace shardscope::ui
