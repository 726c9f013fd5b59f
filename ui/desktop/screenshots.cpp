#include "ui/desktop/screenshots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "ui/desktop/driver.hpp"
#include "ui/desktop/open_file.hpp"
#include "ui/desktop/startup.hpp"
#include "ui/panels/tune_actions.hpp"
#include "ui/platform/offscreen.hpp"

namespace shardscope::ui {
namespace {

class Photographer {
 public:
  Photographer(const GuiOptions& options, Desktop& desktop, GuiContext& context,
               Offscreen& renderer)
      : options_(options),
        desktop_(desktop),
        renderer_(renderer),
        driver_(context, desktop, options.width, options.height) {}

  [[nodiscard]] Status picture(const std::string& name) {
    const Picture picture = renderer_.render(driver_.settle());
    return write_png(options_.screenshots + "/" + name + ".png", picture);
  }
  [[nodiscard]] Driver& driver() { return driver_; }

 private:
  const GuiOptions& options_;
  Desktop& desktop_;
  Offscreen& renderer_;
  Driver driver_;
};

/// The costliest shard of the most loaded GPU that fits elsewhere is picked up and held over the
/// least loaded one.
bool pick_up_a_shard(Desktop& desktop, Driver& driver) {
  const Evaluation& now = desktop.document->current();
  if (!now.priced || now.load_s.size() < 2) return false;
  const auto heaviest = std::max_element(now.load_s.begin(), now.load_s.end());
  const auto rank = static_cast<std::int32_t>(heaviest - now.load_s.begin());
  const std::int32_t to = lightest_gpu(now, false, rank);
  std::vector<MapBlock> blocks = desktop.tune.map.gpu(*desktop.document, rank).blocks;
  for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) {
    const std::string name = fmt::format("map/shard/{},{},{}", block->shard.table, block->shard.row,
                                         block->shard.column);
    const Rect from = driver.rect(name);
    if (from.width() < 64) continue;
    const Rect target = driver.rect(fmt::format("map/gpu/{}", to));
    if (target.empty()) return false;
    driver.drag({from.x0 + 40, from.center_y()},
                {std::min(from.x0 + 120, target.x1 - 260), target.y0 + target.height() * 0.35F});
    return true;
  }
  return false;
}

}  // namespace

Status take_screenshots(const GuiOptions& options) {
  std::error_code error;
  std::filesystem::create_directories(options.screenshots, error);
  if (error) {
    return fail({ErrorKind::runtime, "the folder cannot be made", options.screenshots, "",
                 "Choose a folder that you may write"});
  }
  GuiContext context(options.scale > 0 ? options.scale : 1.0F);
  Result<Offscreen> renderer = Offscreen::create(options.width, options.height);
  if (!renderer) return fail(renderer.error());
  Desktop desktop;
  desktop.settings.theme = options.theme;
  Photographer camera(options, desktop, context, *renderer);
  if (Status done = camera.picture("start"); !done) return done;
  if (Status opened = open_as_asked(desktop, options); !opened) return opened;
  if (Status imported = finish_import(desktop); !imported) return imported;
  if (desktop.document == nullptr) return {};

  for (const auto& [workspace, name] : {std::pair{Workspace::tune, "tune"},
                                        {Workspace::run, "run"},
                                        {Workspace::timeline, "timeline"},
                                        {Workspace::scale, "scale"},
                                        {Workspace::history, "history"}}) {
    desktop.choose(workspace);
    if (Status done = camera.picture(name); !done) return done;
  }
  desktop.choose(Workspace::tune);
  camera.driver().settle();
  if (pick_up_a_shard(desktop, camera.driver())) {
    if (Status done = camera.picture("tune-drag"); !done) return done;
    camera.driver().key(key::kEscape);
    camera.driver().release();
  }
  return {};
}

}  // namespace shardscope::ui
