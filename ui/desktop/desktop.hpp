#pragma once
// The whole desktop as one value: what is open, what is shown, what every panel remembers. Drawn by
// frame(), fed by whoever owns a window (or a test).

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "storage/session.hpp"
#include "ui/desktop/autosave.hpp"
#include "ui/desktop/engine_link.hpp"
#include "ui/desktop/open_state.hpp"
#include "ui/desktop/overlay.hpp"
#include "ui/desktop/run_state.hpp"
#include "ui/desktop/save.hpp"
#include "ui/desktop/scale_state.hpp"
#include "ui/desktop/settings.hpp"
#include "ui/desktop/tune_state.hpp"
#include "ui/model/document.hpp"
#include "ui/model/import_job.hpp"
#include "ui/timeline/state.hpp"

namespace shardscope::ui {

enum class Workspace : std::uint8_t { start, tune, run, timeline, scale, history };
inline constexpr std::array<std::string_view, 5> kWorkspaceNames = {"Tune", "Run", "Timeline",
                                                                    "Scale", "History"};

enum class NoticeKind : std::uint8_t { note, warning, error };

/// Told in a bar, never in a box that stops everything.
struct Notice {
  NoticeKind kind = NoticeKind::error;
  std::string text;
  struct Action {
    std::string label;
    std::function<void()> run;
  };
  std::vector<Action> actions = {};  ///< buttons; any of them puts the notice away
};

/// Pixels of the frame that go to a file.
struct PictureRequest {
  Rect rect;  ///< logical pixels
  bool whole = false;
  std::string path;
};

struct Desktop {
  Settings settings;
  std::string settings_file;  ///< empty: habits are not kept
  Workspace workspace = Workspace::start;

  std::unique_ptr<Document> document;
  std::string workload_name;  ///< as it was asked for
  std::string topology_name;
  std::string layout_name;
  std::unique_ptr<storage::Session> session;
  std::uint64_t documents = 0;  ///< opened so far
  Autosave autosave;
  SaveJob saving;

  TuneState tune;
  TimelineState timeline;
  ScaleState scale;
  HistoryState history;
  RunState run;
  StartState start;
  ExportState export_state;
  OpenState opening;

  std::optional<Menu> menu;
  CommandPalette palette;
  bool keys_shown = false;
  bool exporting = false;  ///< the Export dialog is open
  bool settings_shown = false;
  std::optional<PictureRequest> picture;  ///< asked for, written once the frame is rendered
  std::string engine_state = "engine: idle, local";
  std::string engine_line;  ///< how it is started, as typed; empty: beside this program
  std::unique_ptr<EngineLink> engine;
  bool attended = false;  ///< a person sits before it: the engine is asked what its machine can do
  std::optional<std::string> machine_asked_of;  ///< the engine_line that was asked
  /// What was measured of this host's CPU, for the runs here that stand for other machines.
  std::optional<Calibration> host_calibration;
  std::function<void()> wake;  ///< asks the window for a frame, from any thread
  std::vector<Notice> notices;
  double frame_ms = 0;  ///< of building the last frame
  bool quit = false;
  bool busy = false;  ///< something goes on without input: draw again soon

  std::unique_ptr<ImportJob> importing;  ///< a file of another program, being read

  /// Shows a document that no session holds yet; `opened_as` is its model's name or file.
  void set_document(std::unique_ptr<Document> fresh, const std::string& opened_as);
  /// Opens a document from names or files; on an error the open one stays.
  [[nodiscard]] Status open_model(const std::string& workload, const std::string& topology,
                                  const std::string& layout);
  /// The same, its error told in a notice.
  void try_open_model(const std::string& workload, const std::string& topology,
                      const std::string& layout);
  /// Opens a session for reading: its last layout as the document, its last run as the timeline.
  [[nodiscard]] Status open_session(const std::string& path);
  /// Prices and checks everything anew for that executor and schedule.
  void set_executor(Executor executor, ScheduleKind schedule);
  /// The same with the constants that a calibration measured.
  void calibrate(const Calibration& calibration);
  /// Drops what panels computed from prices that hold no longer.
  void forget_prices();
  /// Shows a run of the open session in the timeline.
  void open_run(std::int64_t run);
  void tell(NoticeKind kind, std::string text, std::vector<Notice::Action> actions = {});
  void tell(const Error& error) { tell(NoticeKind::error, to_string(error)); }
  /// Applies what an edit gave, or tells why not.
  void apply(const Result<Edit>& edit);
  void choose(Workspace next);
};

/// Everything a person can do now.
[[nodiscard]] std::vector<Command> commands_of(Desktop& desktop, UiMemory& memory);

/// Draws one frame of the whole window.
void draw_desktop(Ui& ui, Desktop& desktop, const Rect& window);

}  // namespace shardscope::ui
