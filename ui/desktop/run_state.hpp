#pragma once
// What the Run workspace and the start screen remember.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ui/model/layout_export.hpp"
#include "ui/model/recorded_runs.hpp"
#include "ui/model/session_summary.hpp"

namespace shardscope::ui {

struct RunState {
  std::optional<RecordedRuns> shown;
  bool read = false;  ///< from the session
  std::string error;

  // Set-up, as text fields.
  std::string backend = "cpu";  ///< cpu | cuda
  std::string comm = "threads";
  std::string dense_math = "tf32";  ///< cuda: tf32 | bf16 | host
  bool graphs = false;              ///< cuda
  std::string wire;
  std::string schedule = "serial";
  std::string batch = "512";
  std::string rows_cap = "20000";
  std::string budget = "20";
  std::string target = "1.0";
  bool no_dense = true;             ///< the dense part weighs far more on CPUs than on GPUs
  std::string iterations = "1000";  ///< of a training
  std::string evaluate_every = "50";
  std::string session_path;  ///< that the engine writes
  int ran_a = 0;             ///< history nodes of the last job
  int ran_b = 0;
  int moving_to = -1;  ///< history node that the running job was asked to move to; -1: none
};

struct StartState {
  std::vector<ModelCard> models;  ///< read on first show
  std::map<std::string, SessionSummary> sessions;
  std::string filter;
  std::string open_path;
  std::string topology = "dgx-h100";
  std::string engine_line;  ///< as typed; used once "Use it" is pressed
};

struct ExportState {
  int format = 0;
  std::string path;
  std::string written;  ///< where, or why not
  ExportText text;
  int made_for = -1;  ///< history node
  int made_format = -1;
  float scroll = 0;
};

}  // namespace shardscope::ui
