#include "ui/desktop/options.hpp"

#include <charconv>

#include "layout/closest.hpp"

namespace shardscope::ui {
namespace {

constexpr int kSmallest = 1;
constexpr int kLargest = 16384;

const std::vector<std::string> kNames = {"--screenshot", "--session",   "--workload", "--topology",
                                         "--layout",     "--reference", "--size",     "--theme",
                                         "--scale",      "--help"};

tl::unexpected<Error> wrong(const std::string& name, const std::string& value,
                            const std::string& expected) {
  return fail(
      {ErrorKind::usage, "'" + value + "' is no value of " + name, "command line", expected, ""});
}

Status read_size(const std::string& text, GuiOptions& options) {
  const std::size_t by = text.find('x');
  const char* end = text.data() + text.size();
  if (by != std::string::npos) {
    const auto first = std::from_chars(text.data(), text.data() + by, options.width);
    const auto second = std::from_chars(text.data() + by + 1, end, options.height);
    const bool sound = first.ec == std::errc() && second.ec == std::errc() && second.ptr == end &&
                       first.ptr == text.data() + by && options.width >= kSmallest &&
                       options.height >= kSmallest && options.width <= kLargest &&
                       options.height <= kLargest;
    if (sound) return {};
  }
  return wrong("--size", text, "WxH, each 1 to 16384");
}

Status read_value(const std::string& name, const std::string& value, GuiOptions& options) {
  if (name == "--screenshot") options.screenshots = value;
  if (name == "--session") options.file = value;
  if (name == "--workload") options.workload = value;
  if (name == "--topology") options.topology = value;
  if (name == "--layout") options.layout = value;
  if (name == "--reference") options.reference = value;
  if (name == "--size") return read_size(value, options);
  if (name == "--theme") {
    if (value != "dark" && value != "light") return wrong(name, value, "dark | light");
    options.theme = value == "light" ? Theme::light : Theme::dark;
    options.theme_given = true;
  }
  if (name == "--scale") {
    const char* end = value.data() + value.size();
    const auto parsed = std::from_chars(value.data(), end, options.scale);
    if (parsed.ec != std::errc() || parsed.ptr != end || options.scale < 0.5F ||
        options.scale > 4) {
      return wrong(name, value, "0.5 to 4");
    }
  }
  return {};
}

}  // namespace

Result<GuiOptions> parse_gui_options(const std::vector<std::string>& arguments) {
  GuiOptions options;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    if (name == "--help" || name == "-h") {
      options.help = true;
      return options;
    }
    if (!name.starts_with("--")) {
      options.file = name;
      continue;
    }
    bool known = false;
    for (const std::string& one : kNames) known = known || one == name;
    if (!known) {
      const std::string meant = closest_name(name, kNames);
      return fail({ErrorKind::usage, "there is no option " + name, "command line",
                   meant.empty() ? join_names(kNames) : meant, "See --help"});
    }
    if (i + 1 == arguments.size()) {
      return fail({ErrorKind::usage, name + " needs a value", "command line", "", "See --help"});
    }
    if (Status read = read_value(name, arguments[++i], options); !read) return fail(read.error());
  }
  return options;
}

std::string gui_help() {
  return R"(usage: shardscope-gui [FILE] [options]

  FILE, --session FILE      open a file by its content: a session, model, topology or layout, an
                            Nsight Systems .sqlite, Kineto traces (also a folder or .tar.gz of
                            them), plans and reports of TorchRec and HugeCTR
  --workload NAME|FILE      start from a model: a name of 'shardscope models', or a JSON file
  --topology NAME|FILE      machine: NAME[:NODES[xGPUS]] (default dgx-h100)
  --layout NAME|FILE        first layout: a planner or baseline by name, or a JSON file
                            (default table_row_wise)
  --reference NAME|FILE     layout that others are compared with (default: the first)
  --theme dark|light        default: the last one used
  --scale S                 size of everything, 0.5 to 4; default: the display's
  --screenshot DIR          no window: draw every workspace into DIR/*.png and exit
  --size WxH                of the pictures or the window, pixels (default 1920x1080)

  shardscope-gui --workload dcnv2 --layout mlperf
  shardscope-gui report.sqlite
  shardscope-gui --screenshot pictures --workload t510 --topology dgx-h100:16

Exit codes: 0 done, 1 usage or input error, 3 no display or no OpenGL 3.
)";
}

}  // namespace shardscope::ui
