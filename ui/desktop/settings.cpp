#include "ui/desktop/settings.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace shardscope::ui {
namespace {

constexpr std::size_t kMostRecent = 20;

constexpr std::array<std::pair<const char*, float Settings::*>, 11> kPaneSizes = {
    {{"scale", &Settings::scale},
     {"text_scale", &Settings::text_scale},
     {"idle", &Settings::idle},
     {"tables_width", &Settings::tables_width},
     {"inspector_width", &Settings::inspector_width},
     {"strip_height", &Settings::strip_height},
     {"advice_height", &Settings::advice_height},
     {"run_width", &Settings::run_width},
     {"range_width", &Settings::range_width},
     {"events_height", &Settings::events_height},
     {"planner_width", &Settings::planner_width}}};

}  // namespace

std::string settings_path() {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  const char* home = std::getenv("HOME");
  if (config != nullptr && *config != '\0') return std::string(config) + "/shardscope/desktop.json";
  if (home != nullptr && *home != '\0')
    return std::string(home) + "/.config/shardscope/desktop.json";
  return {};
}

Settings load_settings(const std::string& path) {
  Settings settings;
  std::ifstream in(path);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return settings;
  for (const auto& [name, member] : kPaneSizes) {
    const auto found = json.find(name);
    if (found == json.end() || !found->is_number()) continue;
    const auto value = found->get<double>();
    if (value >= 0 && value < 1e5) settings.*member = static_cast<float>(value);
  }
  if (const auto theme = json.find("theme"); theme != json.end() && *theme == "light") {
    settings.theme = Theme::light;
  }
  if (const auto strict = json.find("strict"); strict != json.end() && strict->is_boolean()) {
    settings.strict = strict->get<bool>();
  }
  // Sizes that nothing could be read at would lock a person out.
  if (settings.scale != 0) settings.scale = std::clamp(settings.scale, 0.5F, 4.0F);
  settings.text_scale = std::clamp(settings.text_scale, 0.8F, 1.5F);
  if (const auto frame = json.find("show_frame_ms"); frame != json.end() && frame->is_boolean()) {
    settings.show_frame_ms = frame->get<bool>();
  }
  if (const auto folder = json.find("folder"); folder != json.end() && folder->is_string()) {
    settings.folder = folder->get<std::string>();
  }
  if (const auto recent = json.find("recent"); recent != json.end() && recent->is_array()) {
    for (const auto& path_text : *recent) {
      if (path_text.is_string() && settings.recent.size() < kMostRecent) {
        settings.recent.push_back(path_text.get<std::string>());
      }
    }
  }
  return settings;
}

Status save_settings(const Settings& settings, const std::string& path) {
  nlohmann::ordered_json json;
  json["theme"] = settings.theme == Theme::light ? "light" : "dark";
  json["strict"] = settings.strict;
  for (const auto& [name, member] : kPaneSizes) json[name] = settings.*member;
  json["show_frame_ms"] = settings.show_frame_ms;
  json["folder"] = settings.folder;
  json["recent"] = settings.recent;
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  // Written beside and renamed: a full disk leaves the old file.
  const std::string beside = path + ".new";
  std::ofstream out(beside);
  out << json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(beside, path, error);
  if (out && !error) return {};
  return fail({ErrorKind::runtime, "the desktop's settings cannot be written", path, "",
               "They are kept in memory until the window closes"});
}

void remember_recent(Settings& settings, const std::string& session) {
  std::erase(settings.recent, session);
  settings.recent.insert(settings.recent.begin(), session);
  if (settings.recent.size() > kMostRecent) settings.recent.resize(kMostRecent);
}

}  // namespace shardscope::ui
