#include "ui/panels/pane_tables.hpp"

#include <fmt/format.h>

#include <iterator>

#include "layout/layout.hpp"
#include "ui/panels/titles.hpp"

namespace shardscope::ui {

std::string shards_table(const Desktop& desktop) {
  const Document& document = *desktop.document;
  const Layout& layout = *document.shown().layout;
  std::string text = "GPU\ttable\ti\tj\tk\tcluster\tload ms\tbytes\n";
  for (const Shard& shard : shards_of(layout)) {
    const auto t = static_cast<std::size_t>(shard.table);
    const ShardId id{shard.table, shard.row, shard.column};
    const double load =
        document.current().priced ? load_seconds(document.costs().of(layout, id)) * 1e3 : 0;
    text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{:.6f}\t{:.0f}\n", shard.owner,
                        document.workload().tables[t].name, shard.table, shard.row, shard.column,
                        shardscope::to_string(layout.tables[t].cluster), load,
                        shard_bytes(document.workload(), layout, id));
  }
  return text;
}

std::string predicted_table(const Desktop& desktop) {
  const Evaluation& now = desktop.document->shown();
  const Evaluation& star = desktop.document->reference();
  std::string text = "stage\tthis layout ms\treference ms\tbusy ms, slowest rank\n";
  for (int s = 0; s < kStages; ++s) {
    const auto stage = static_cast<Stage>(s);
    text += fmt::format("{}\t{:.6f}\t{:.6f}\t{:.6f}\n", shardscope::to_string(stage),
                        now.path_seconds(stage) * 1e3, star.path_seconds(stage) * 1e3,
                        now.busy_seconds(stage) * 1e3);
  }
  text +=
      fmt::format("iteration\t{:.6f}\t{:.6f}\t\n", now.iteration_s * 1e3, star.iteration_s * 1e3);
  return text;
}

std::string edits_table(const Desktop& desktop) {
  std::string text = "edit\tgain ms\tmoved bytes\tcures\n";
  for (const Suggestion& one : desktop.tune.suggestions.best()) {
    text += fmt::format("{}\t{:.6f}\t{:.0f}\t{}\n", one.edit.text, one.gain_s * 1e3,
                        one.edit.moved_bytes, one.cure_text);
  }
  for (const Violation& violation : desktop.document->shown().violations) {
    text += fmt::format("{}\t\t\t{}\n", violation.message, violation.cure);
  }
  return text;
}

std::string events_table(const Desktop& desktop) {
  const TimelineState& timeline = desktop.timeline;
  std::string text =
      "start ns\tduration ns\tGPU\tstream\tstage\tcluster\twaiting\tbytes\trows\tkernel\tlaunched "
      "by\n";
  for (const Span& span : timeline.events) {
    const storage::DeviceWork* work =
        timeline.activities != nullptr ? timeline.activities->of(span) : nullptr;
    text += fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", span.start_ns,
                        span.end_ns - span.start_ns, span.rank, span.stream,
                        shardscope::to_string(span.stage), shardscope::to_string(span.work),
                        span.waiting ? 1 : 0, span.intra_bytes + span.inter_bytes, span.rows,
                        work != nullptr ? work->name : "", work != nullptr ? work->call.name : "");
  }
  return text;
}

std::string range_table(const Desktop& desktop) {
  const RangeStatistics& range = desktop.timeline.statistics;
  std::string text = "stage\tmean ms\tslowest rank ms\tshare %\n";
  for (const StageShare& stage : range.stages) {
    text += fmt::format("{}\t{:.6f}\t{:.6f}\t{:.2f}\n", shardscope::to_string(stage.stage),
                        stage.mean_ns / 1e6, stage.most_ns / 1e6,
                        range.length_ns > 0 ? stage.mean_ns / range.length_ns * 100 : 0);
  }
  text += "GPU\tbusy ms\twaiting ms\t\n";
  for (const RankShare& rank : range.ranks) {
    text +=
        fmt::format("{}\t{:.6f}\t{:.6f}\t\n", rank.rank, rank.busy_ns / 1e6, rank.waiting_ns / 1e6);
  }
  return text;
}

std::string blocks_table(const Desktop& desktop) {
  std::string text = "layout\tblock\tend s\tmean ms\tsamples/s\twarm-up\ttraced\n";
  if (!desktop.run.shown) return text;
  const RecordedRuns& runs = *desktop.run.shown;
  for (const RunSide* side : {&runs.a, runs.b ? &*runs.b : nullptr}) {
    if (side == nullptr) continue;
    for (const BlockPoint& block : side->series.blocks()) {
      text += fmt::format("{}\t{}\t{:.6f}\t{:.6f}\t{:.3f}\t{}\t{}\n", side->label, block.block,
                          block.end_s, block.mean_ms, block.throughput, block.warm_up ? 1 : 0,
                          block.traced ? 1 : 0);
    }
  }
  return text;
}

std::string run_stages_table(const Desktop& desktop) {
  std::string text =
      "layout\tstage\tmeasured ms, slowest rank\tpredicted ms\twaiting ms, mean\tbytes "
      "inside\tbytes "
      "between\n";
  if (!desktop.run.shown) return text;
  const RecordedRuns& runs = *desktop.run.shown;
  for (const RunSide* side : {&runs.a, runs.b ? &*runs.b : nullptr}) {
    if (side == nullptr) continue;
    for (const StageRow& row : side->stages) {
      const double predicted =
          side->predicted ? side->predicted->stage_ms[static_cast<std::size_t>(row.stage)] : 0;
      text += fmt::format("{}\t{}\t{:.6f}\t{}\t{:.6f}\t{:.0f}\t{:.0f}\n", side->label,
                          shardscope::to_string(row.stage), row.ms_max,
                          predicted > 0 ? fmt::format("{:.6f}", predicted) : "",
                          row.waiting_ms_mean, row.intra_bytes, row.inter_bytes);
    }
  }
  return text;
}

std::string run_ranks_table(const Desktop& desktop) {
  std::string text = "layout\trank\tat work ms\twaiting ms\n";
  if (!desktop.run.shown) return text;
  const RecordedRuns& runs = *desktop.run.shown;
  for (const RunSide* side : {&runs.a, runs.b ? &*runs.b : nullptr}) {
    if (side == nullptr) continue;
    for (const RankStages& rank : side->ranks) {
      double work = 0, waiting = 0;
      for (const double ms : rank.ms) work += ms;
      for (const double ms : rank.waiting_ms) waiting += ms;
      text += fmt::format("{}\t{}\t{:.6f}\t{:.6f}\n", side->label, rank.rank, work, waiting);
    }
  }
  return text;
}

std::string learning_table(const Desktop& desktop) {
  std::string text = "iteration\tsamples\ttraining loss\theld-out loss\theld-out AUC\n";
  if (!desktop.run.shown) return text;
  for (const LearningPoint& point : desktop.run.shown->curve.points()) {
    text += fmt::format("{}\t{}\t{:.6f}\t{:.6f}\t{:.6f}\n", point.iteration, point.samples,
                        point.train_loss, point.loss, point.auc);
  }
  return text;
}

std::string loads_table(const Desktop& desktop) {
  const Evaluation& now = desktop.document->current();
  const ScaleState& scale = desktop.scale;
  const Evaluation* after = scale.proposed_evaluation ? &*scale.proposed_evaluation : nullptr;
  std::string text = "GPU\tload ms\tmemory bytes\tproposed load ms\tproposed memory bytes\n";
  for (std::size_t r = 0; r < now.load_s.size(); ++r) {
    const bool there = after != nullptr && r < after->load_s.size();
    text += fmt::format("{}\t{:.6f}\t{:.0f}\t{}\t{}\n", r, now.load_s[r] * 1e3, now.memory_bytes[r],
                        there ? fmt::format("{:.6f}", after->load_s[r] * 1e3) : "",
                        there ? fmt::format("{:.0f}", after->memory_bytes[r]) : "");
  }
  return text;
}

std::string changes_table(const Desktop& desktop) {
  std::string text = "change\ttables\twas\tbecomes\tgain alone ms\tmoved bytes\tticked\n";
  if (!desktop.scale.diff) return text;
  for (const PlanGroup& group : desktop.scale.diff->groups) {
    text += fmt::format("{}\t{}\t{}\t{}\t{:.6f}\t{:.0f}\t{}\n", group.label, group.tables.size(),
                        group.was, group.becomes, group.gain_s * 1e3, group.moved_bytes,
                        group.ticked ? 1 : 0);
  }
  return text;
}

std::string history_table(const Desktop& desktop) {
  const History& history = desktop.document->history();
  std::string text = "layout\tedit\tnote\tpredicted ms\tmeasured ms\treference\n";
  for (const History::Line& line : history.lines()) {
    const HistoryNode& node = history.node(line.node);
    text += fmt::format("{}\t{}\t{}\t{:.6f}\t{}\t{}\n", layout_title(history, line.node), node.edit,
                        node.note, node.predicted_s * 1e3,
                        node.measured_s ? fmt::format("{:.6f}", *node.measured_s * 1e3) : "",
                        line.node == history.reference() ? "*" : "");
  }
  return text;
}

std::string csv_of(const std::string& tab_separated) {
  std::string csv;
  std::string field;
  const auto end_field = [&] {
    const bool quoted = field.find_first_of(",\"\r") != std::string::npos;
    if (!quoted) {
      csv += field;
    } else {
      csv += '"';
      for (const char letter : field)
        csv += letter == '"' ? std::string("\"\"") : std::string(1, letter);
      csv += '"';
    }
    field.clear();
  };
  for (const char letter : tab_separated) {
    if (letter == '\t') {
      end_field();
      csv += ',';
    } else if (letter == '\n') {
      end_field();
      csv += "\r\n";
    } else {
      field += letter;
    }
  }
  if (!field.empty()) end_field();
  return csv;
}

}  // namespace shardscope::ui
